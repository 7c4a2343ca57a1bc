//! From a service's manifest to a copy of its data: a build, and a template of seeded, checked data.

use super::place::{Copy, Lock};
use super::up::{Up, launch};
use super::workshop::Workshop;
use super::{Host, ServiceError};
use std::collections::BTreeMap;
use std::path::Path;

impl Workshop<'_> {
    /// Builds what has to be built, makes the template unless it is there, and copies it.
    pub(super) fn data(&self, host: &Host<'_>) -> Result<Copy, ServiceError> {
        let lock = self.place.lock(host.cancelled)?;
        if let Some(build) = &self.manifest.build {
            let log = self.place.build.join("build.log");
            self.step("build", build, &self.names(None), log, None).run(host)?;
        }
        let hash = self.hash()?;
        let has_template = self.manifest.prepare.is_some() || self.manifest.seed.is_some();
        if has_template && !self.place.template(&hash).is_dir() {
            self.make_template(&hash, &lock, host)?;
        }
        let template = has_template.then(|| self.place.template(&hash));
        self.place.copy(template.as_deref(), self.user.as_ref(), &lock)
    }

    fn make_template(&self, hash: &str, lock: &Lock, host: &Host<'_>) -> Result<(), ServiceError> {
        let new = self.place.begin(self.user.as_ref(), lock)?;
        let data = new.join("data");
        if let Some(prepare) = &self.manifest.prepare {
            let log = self.place.build.join("prepare.log");
            self.step("prepare", prepare, &self.names(Some(&data)), log, self.user.as_ref()).run(host)?;
        }
        if let Some(seed) = &self.manifest.seed {
            // Accounts that may seed are often known on loopback only.
            let host = &Host { isolated: false, ..*host };
            let up = launch(self, &data, &self.place.build.join("seed-service.log"), host)?;
            let command = up.names.fill_all(&seed.command);
            let seed = self.command("seed", command, BTreeMap::new(), self.place.build.join("seed.log"));
            let filled =
                seed.run(host).and_then(|()| self.check(&up, &self.place.build.join("check.log"), host));
            let stopped = up.running.stop().map_err(ServiceError::process(&self.manifest.name));
            filled.and(stopped)?;
        }
        self.place.finish(&new, hash, lock)
    }

    /// Runs every check of the manifest against a running service.
    pub(super) fn check(&self, up: &Up, log: &Path, host: &Host<'_>) -> Result<(), ServiceError> {
        for check in &self.manifest.check {
            let filled = up.names.fill_all(&check.command);
            let command = self.command("check", filled, BTreeMap::new(), log.to_owned());
            command.run(host)?;
            let got = command.first_line()?;
            if got != check.expect {
                let (service, check, expected) =
                    (self.manifest.name.clone(), check.name.clone(), check.expect.clone());
                return Err(ServiceError::Check { service, check, expected, got });
            }
        }
        Ok(())
    }
}
