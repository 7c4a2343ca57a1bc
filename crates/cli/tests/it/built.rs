//! Targets that a test builds and starts as their manifests say, each in a folder and on a port of its own.

use crate::command::{is_there, root};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A target: what it needs, how it is built in its folder and started. `{build}` is the folder of the build.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) needs: &'static [&'static str],
    pub(crate) build: &'static str,
    pub(crate) start: &'static str,
}

/// A target that serves; killed by its pid when dropped.
pub(crate) struct Running {
    child: Child,
    pub(crate) addr: String,
}

impl Target {
    /// Whether all that it needs is here; else it is said what is not.
    pub(crate) fn is_possible(&self) -> bool {
        let missing = self.needs.iter().find(|program| !is_there(program));
        if let Some(program) = missing {
            println!("skipped: {}: {program} is missing (`prony targets` says how to get it)", self.name);
        }
        missing.is_none()
    }

    /// Builds it below `folder` and starts it with these variables.
    pub(crate) fn start(&self, folder: &Path, env: &[(&str, &str)]) -> Running {
        let build = folder.join(self.name.replace('/', "-"));
        std::fs::create_dir_all(&build).unwrap();
        let home = root().join("targets").join(self.name);
        let script = |text: &str| text.replace("{build}", build.to_str().unwrap());
        let built =
            Command::new("sh").args(["-ec", &script(self.build)]).current_dir(&home).output().unwrap();
        assert!(built.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&built.stderr));
        let mut command = Command::new("sh");
        command.args(["-ec", &script(self.start)]).current_dir(&home);
        command.env("LISTEN", "127.0.0.1:0").envs(env.iter().copied());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let addr = lines.find_map(|line| Some(line.ok()?.trim().strip_prefix("listening on ")?.to_owned()));
        Running { child, addr: addr.unwrap_or_else(|| panic!("{} does not listen", self.name)) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
