//! What has to be known to judge or repeat a benchmark: machine, programs, code, settings. Stored as `machine.json`.

use crate::args::Settings;
use crate::cpus::Cpus;
use crate::programs::{Identity, Program};
use crate::record;
use schema::doctor::DoctorReport;
use serde::Serialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// Content of `machine.json`.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    schema: &'static str,
    started: String,
    command_line: Vec<String>,
    /// Whether the numbers may be quoted.
    pub(crate) evidence: bool,
    /// Why not, or what weakens them.
    pub(crate) weaknesses: Vec<String>,
    settings: Settings,
    code: Option<Code>,
    host: Host,
    cpus: Cpus,
    server: String,
    /// All peers that were run.
    pub(crate) programs: Vec<Identity>,
    /// `prony doctor --format json`; absent where it failed.
    doctor: Option<DoctorReport>,
}

/// The state of the repository; the binary is identified by its fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Code {
    commit: String,
    dirty: bool,
    /// Changed or unknown files, up to 100.
    changed: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Host {
    name: String,
    system: String,
    architecture: String,
    cpu_model: Option<String>,
}

impl Machine {
    /// Looks at everything; what cannot be had is absent.
    pub(crate) fn look(
        settings: &Settings,
        cpus: &Cpus,
        (prony, server): (&Path, &Path),
        programs: Vec<Identity>,
        newer_source: Option<&Path>,
    ) -> Self {
        let code = code();
        let judged = judge(settings, cpus, newer_source, code.as_ref());
        Self {
            schema: "prony.bench/2",
            started: jiff::Timestamp::now().to_string(),
            command_line: std::env::args().collect(),
            evidence: judged.0,
            weaknesses: judged.1,
            settings: settings.clone(),
            code,
            host: host(),
            cpus: cpus.clone(),
            server: server.display().to_string(),
            programs,
            doctor: output(Command::new(prony).args(["doctor", "--format", "json"]))
                .and_then(|text| serde_json::from_str(&text).ok()),
        }
    }
}

impl Machine {
    /// Looks at the programs again: one that was rebuilt in the middle makes the numbers worthless.
    pub(crate) fn check_unchanged(&mut self, programs: &[Program]) {
        for (before, program) in self.programs.iter().zip(programs) {
            if !before.is_still(program) {
                self.evidence = false;
                self.weaknesses.push(format!(
                    "{} was replaced during the benchmark: build nothing beside it and start again",
                    program.path.display()
                ));
            }
        }
    }
}

/// Whether the numbers will be evidence, and all that weakens them.
fn judge(
    settings: &Settings,
    cpus: &Cpus,
    newer_source: Option<&Path>,
    code: Option<&Code>,
) -> (bool, Vec<String>) {
    let mut spoils = Vec::new();
    if settings.quick {
        spoils.push("--quick: a trial of the harness, not evidence".to_owned());
    }
    if (settings.repeats as usize) < crate::summary::PAIRS_MIN {
        spoils.push(format!("{} repeats: no interval below 5", settings.repeats));
    }
    if cpus.shared() {
        spoils.push("one CPU for generator and server: each takes time from the other".to_owned());
    }
    if let Some(source) = newer_source {
        spoils.push(format!("prony is older than {}: run with --build", source.display()));
    }
    let evidence = spoils.is_empty();
    match code {
        None => spoils.push("no commit: the code cannot be found again".to_owned()),
        Some(code) if code.dirty => {
            spoils.push(format!("the tree has changes that are in no commit ({} files)", code.changed.len()));
        }
        Some(_) => {}
    }
    (evidence, spoils)
}

fn host() -> Host {
    let name = rustix::system::uname();
    let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    Host {
        name: text(name.nodename()),
        system: format!("{} {} {}", text(name.sysname()), text(name.release()), text(name.version())),
        architecture: text(name.machine()),
        cpu_model: model.map(|(_, model)| model.trim().to_owned()),
    }
}

/// The name of this machine.
pub(crate) fn name() -> String {
    host().name
}

fn code() -> Option<Code> {
    let git =
        |arguments: &[&str]| output(Command::new("git").arg("-C").arg(record::workspace()).args(arguments));
    let commit = git(&["rev-parse", "HEAD"])?.trim().to_owned();
    Some(code_of(commit, &git(&["status", "--porcelain"])?))
}

fn code_of(commit: String, status: &str) -> Code {
    let changed: Vec<String> = status.lines().take(100).map(str::to_owned).collect();
    Code { commit, dirty: !changed.is_empty(), changed }
}

/// Standard output of a command that succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: &str = "";

    fn settings(quick: bool, repeats: u32) -> Settings {
        Settings {
            quick,
            repeats,
            other_repeats: None,
            seconds: 4,
            cases: Vec::new(),
            peers: Vec::new(),
            seed: 1,
        }
    }

    #[test]
    fn what_spoils_a_benchmark_makes_it_no_evidence_and_a_dirty_tree_is_told() {
        let two: Cpus = crate::cpus::tests::cpus(&[0, 1]);
        let one: Cpus = crate::cpus::tests::cpus(&[0]);
        let check =
            |settings: Settings, cpus: &Cpus, newer: Option<&str>, status: &str, wanted: (bool, &[&str])| {
                let code = code_of("c0ffee".to_owned(), status);
                let (evidence, words) = judge(&settings, cpus, newer.map(Path::new), Some(&code));
                assert_eq!(evidence, wanted.0, "{words:?}");
                assert_eq!(words.len(), wanted.1.len(), "{words:?}");
                assert!(words.iter().zip(wanted.1).all(|(word, wanted)| word.contains(wanted)), "{words:?}");
            };
        check(settings(false, 7), &two, None, CLEAN, (true, &[]));
        check(settings(false, 7), &two, None, " M a.rs\n?? b\n", (true, &["in no commit (2 files)"]));
        check(settings(true, 3), &two, None, CLEAN, (false, &["not evidence", "3 repeats"]));
        check(settings(false, 7), &one, None, CLEAN, (false, &["one CPU"]));
        check(settings(false, 7), &two, Some("/x/a.rs"), CLEAN, (false, &["older than /x/a.rs"]));
        assert_eq!(judge(&settings(false, 7), &two, None, None).1.len(), 1);
    }
}
