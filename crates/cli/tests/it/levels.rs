//! Levels of a run: a slow machine among the trials is found, and a build can be repeated with every trial.

use crate::command::{bad, prony};
use crate::run::{Lab, read};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A control group of the test's own with a CPU quota that can be set and lifted; removed when dropped.
pub(crate) struct Quota {
    pub(crate) folder: PathBuf,
    is_v2: bool,
}

impl Quota {
    /// `Err` says why this host has none.
    pub(crate) fn new() -> Result<Self, String> {
        let name = format!("pronytest-{}", std::process::id());
        let v1 = Path::new("/sys/fs/cgroup/cpu");
        let is_v2 = !v1.is_dir();
        let folder = if is_v2 { Path::new("/sys/fs/cgroup") } else { v1 }.join(name);
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let quota = Self { folder, is_v2 };
        quota.lift().map_err(|error| format!("{}: no CPU quota ({error})", quota.folder.display()))?;
        Ok(quota)
    }

    /// A tenth of a CPU, in periods that are shorter than one reading of the canary.
    pub(crate) fn set(&self) -> std::io::Result<()> {
        if self.is_v2 {
            return fs::write(self.folder.join("cpu.max"), "1000 10000");
        }
        fs::write(self.folder.join("cpu.cfs_period_us"), "10000")?;
        fs::write(self.folder.join("cpu.cfs_quota_us"), "1000")
    }

    fn lift(&self) -> std::io::Result<()> {
        match self.is_v2 {
            true => fs::write(self.folder.join("cpu.max"), "max"),
            false => fs::write(self.folder.join("cpu.cfs_quota_us"), "-1"),
        }
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // A group goes when its last process has been reaped, which may be a moment after its end.
        let give_up = Instant::now() + Duration::from_secs(10);
        while fs::remove_dir(&self.folder).is_err() && Instant::now() < give_up {
            std::thread::yield_now();
        }
    }
}

/// Waits for a file, as long as the process runs.
fn await_file(child: &mut std::process::Child, path: impl Fn() -> Option<PathBuf>) {
    while path().is_none_or(|path| !path.exists()) {
        assert!(child.try_wait().unwrap().is_none(), "prony ended before the file was there");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Study D's puzzle in small: all that the third trial needs, canary, generator and target, has a tenth of a CPU.
#[test]
fn a_slow_trial_is_laid_to_the_machine() {
    let quota = match Quota::new() {
        Ok(quota) => quota,
        Err(reason) => return println!("skipped: no control group can be made here ({reason})"),
    };
    let lab = Lab::new("[[target]]\nname = \"one\"\nreference = {}", "", "blocks = 6");
    let run = || {
        let found = fs::read_dir(lab.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        found.into_iter().find(|path| path.join("trials").is_dir())
    };
    let trial = |file: &'static str| move |run: PathBuf| run.join("trials/0003").join(file);
    let mut child = prony(&lab.args()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    fs::write(quota.folder.join("cgroup.procs"), child.id().to_string()).unwrap();
    await_file(&mut child, || run().map(trial("")));
    quota.set().unwrap();
    await_file(&mut child, || run().map(trial("trial.json")));
    quota.lift().unwrap();
    child.wait().unwrap();

    let run = run().unwrap();
    let file = |id: u32| read(&run.join(format!("trials/{id:04}/trial.json")));
    // Where the machine is unsteady by itself or busy with other work, no trial stands out.
    let unsteady = |id: &u32| {
        let reasons = file(*id)["load"]["validity"]["reasons"].clone();
        let is_of_the_host = |reason: &serde_json::Value| {
            ["canary", "competing_cpu", "steal"].iter().any(|gate| reason["gate"] == **gate)
        };
        reasons.as_array().is_some_and(|reasons| reasons.iter().any(is_of_the_host))
    };
    if let Some(id) = [1, 2, 4, 5, 6].iter().find(|id| unsteady(id)) {
        return println!(
            "skipped: this host changed its speed or had other work in trial {id}, in which nothing was planted"
        );
    }
    let canary = |id: u32| {
        let file = file(id);
        let of = |when: &str| file["canary"][when]["mean_ns"].as_f64().unwrap();
        (of("before") * of("after")).sqrt()
    };
    let others = [1, 2, 4, 5, 6].map(canary).into_iter().fold(f64::INFINITY, f64::min);
    assert!(canary(3) > 2.0 * others, "the fault was not planted: {} against {others} ns", canary(3));
    let analysis = read(&run.join("analysis.json"));
    let notes = analysis["belief"]["notes"].as_array().unwrap();
    let found: Vec<&str> = notes.iter().filter_map(|note| note["text"]["text"].as_str()).collect();
    let said = found.iter().find(|text| text.contains("ran on a slower machine"));
    assert!(said.is_some_and(|text| text.contains('3') && text.contains("not the target")), "{found:#?}");
}

#[test]
fn only_what_prony_builds_can_be_built_anew() {
    let lab = Lab::new("[[target]]\nname = \"one\"\nreference = {}", "", "replicas = \"rebuild\"");
    bad(&lab.args(), 1, &["lab.toml:3:", "prony does not build one", "replicas = \"restart\""]);
}
