//! One command of a manifest, run to its end under the guard: build, preparation, seed, check, question of readiness.
//!
//! Invariant: no process of it is left when the function returns, also when it is called off or takes too long.

use super::{Host, ServiceError};
use crate::guard::{Ending, Exit, Finish, Guard, Spec};
use crate::program;
use crate::tail::{clean, tail};
use nix::unistd::User;
use schema::target::StopSignal;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often it is looked whether the work was called off.
const CANCEL_PAUSE: Duration = Duration::from_millis(50);
/// A command that is called off has this long to end itself.
const ENDING: Ending = Ending { signal: StopSignal::Term, timeout_ms: 2000 };
/// Bytes read of a check's output.
const OUTPUT_BYTES: u64 = 4096;

/// One command with its names filled in.
#[derive(Debug)]
pub(super) struct Command<'a> {
    pub(super) service: &'a str,
    /// The table of the manifest, for messages.
    pub(super) step: &'a str,
    pub(super) command: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) folder: &'a Path,
    /// Takes its output; emptied first.
    pub(super) log: PathBuf,
    pub(super) timeout: Duration,
}

impl Command<'_> {
    /// Runs it and demands success.
    pub(super) fn run(&self, host: &Host<'_>) -> Result<(), ServiceError> {
        match self.end(host)? {
            Some(Exit::Code(0)) => Ok(()),
            Some(exit) => Err(self.failed(exit.to_string())),
            None => Err(self.failed(format!("did not end within {} s", self.timeout.as_secs()))),
        }
    }

    /// Runs it; how it ended, nothing where its time was over.
    pub(super) fn end(&self, host: &Host<'_>) -> Result<Option<Exit>, ServiceError> {
        File::create(&self.log)
            .map_err(ServiceError::io(self.service, format!("write {}", self.log.display())))?;
        self.require_program()?;
        let lost = ServiceError::process(self.service);
        let mut guard = match Guard::launch(host.launcher, &self.spec()) {
            Ok(guard) => guard,
            Err(error) => return Err(lost(error)),
        };
        let deadline = Instant::now() + self.timeout;
        let mut called_off = false;
        while !called_off && !guard.wait_for_end(CANCEL_PAUSE) && Instant::now() < deadline {
            called_off = host.cancelled.load(Ordering::Relaxed);
        }
        let ended = guard.exit();
        match guard.end() {
            Finish::Gone if called_off => Err(ServiceError::Cancelled(self.service.to_owned())),
            Finish::Gone => Ok(ended),
            Finish::Left(pids) => Err(lost(crate::TargetError::Survivors { pids })),
            Finish::Lost(cause) => Err(lost(guard.lost(cause))),
        }
    }

    /// The first line that it wrote.
    pub(super) fn first_line(&self) -> Result<String, ServiceError> {
        let mut bytes = Vec::new();
        File::open(&self.log)
            .and_then(|file| file.take(OUTPUT_BYTES).read_to_end(&mut bytes))
            .map_err(ServiceError::io(self.service, format!("read {}", self.log.display())))?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(clean(text.lines().next().unwrap_or_default(), 200))
    }

    fn require_program(&self) -> Result<(), ServiceError> {
        let path = self.env.get("PATH").map(String::as_str);
        let program = &self.command[0];
        match program::find(program, Some(self.folder), path) {
            Some(_) => Ok(()),
            None => Err(ServiceError::ProgramNotFound {
                service: self.service.to_owned(),
                program: program.clone(),
                remedy: format!("install it, or correct {}.command", self.step),
            }),
        }
    }

    fn spec(&self) -> Spec {
        Spec {
            command: self.command.clone(),
            env: self.env.clone(),
            folder: Some(self.folder.to_owned()),
            cpus: None,
            log: self.log.clone(),
            ending: ENDING,
            confine: None,
            join: None,
        }
    }

    fn failed(&self, end: String) -> ServiceError {
        ServiceError::Step {
            service: self.service.to_owned(),
            step: self.step.to_owned(),
            command: clean(&self.command.join(" "), 200),
            end: end + &tail(&self.log),
        }
    }
}

/// The user that a service runs as; `None` where prony is not root or the manifest names none.
pub(super) fn user(service: &str, wanted: Option<&str>) -> Result<Option<User>, ServiceError> {
    let Some(name) = wanted.filter(|_| rustix::process::geteuid().is_root()) else { return Ok(None) };
    match User::from_name(name) {
        Ok(Some(user)) => Ok(Some(user)),
        _ => Err(ServiceError::User {
            service: service.to_owned(),
            cause: format!("there is no user `{name}`, as whom it should run"),
            remedy:
                "install the service's package, which makes the user, or run prony as another user than root"
                    .to_owned(),
        }),
    }
}

/// `command` as `user`. The kernel drops the parent-death signal when the user changes, so setpriv sets it again.
pub(super) fn as_user(user: Option<&User>, command: Vec<String>) -> Vec<String> {
    let Some(user) = user else { return command };
    let (uid, gid) = (format!("--reuid={}", user.uid), format!("--regid={}", user.gid));
    let setpriv = ["setpriv", &uid, &gid, "--clear-groups", "--pdeathsig=KILL", "--"];
    setpriv.into_iter().map(str::to_owned).chain(command).collect()
}
