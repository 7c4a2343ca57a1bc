//! Java Flight Recorder of the busiest JVM among the target's processes: `jcmd PID JFR.start` with settings of our own,
//! `JFR.stop`, and a program of one file that reads the recording.

use super::child::{Child, Tool};
use super::{No, Request, SLACK, Taken, View, busiest, unreadable, unwritable, wait};
use crate::{BYTES_MAX, jfr};
use schema::profile::ProfileKind;
use schema::said;
use schema::said::Said;
use std::path::{Path, PathBuf};

const JCMD: Tool = Tool {
    program: "jcmd",
    remedy: || {
        said!(
            "profile.remedy_jdk",
            "apt-get install a JDK of the target's version (openjdk-17-jdk-headless); run as the target's user"
        )
    },
};
/// From JDK 11 on it runs a source file.
const JAVA: Tool = Tool { program: "java", ..JCMD };
/// Name of the recording in the JVM.
const RECORDING: &str = "name=prony";
/// What is recorded; nothing else is.
const SETTINGS: &str = include_str!("prony.jfc");
/// Reads a recording.
const FOLDED: &str = include_str!("JfrFolded.java");

pub(super) fn take(request: &Request) -> Result<Taken, No> {
    let pid = busiest(request, &["java"], said!("profile.a_jvm", "a JVM"))?.pid.to_string();
    let settings = format!("settings={}", put(request, "prony.jfc", SETTINGS)?.display());
    let file = request.scratch.join("target.jfr");
    let filename = format!("filename={}", file.display());
    let start = [pid.as_str(), "JFR.start", RECORDING, settings.as_str()];
    let started = Child::run(request, JCMD, &start, SLACK)?;
    let answer = String::from_utf8_lossy(&started.output(64 << 10)?).into_owned();
    if !answer.contains("Started recording") {
        return Err(started.failed(said!("profile.not_recording", "the recording did not start")));
    }
    let waited = wait(request);
    // Also after an interrupt: no recording is left in the JVM.
    Child::run(request, JCMD, &[pid.as_str(), "JFR.stop", RECORDING, &filename], SLACK)?;
    waited?;
    let raw = std::fs::read(&file).map_err(|error| unreadable(&file, &error))?;
    let recorded = jfr::read(&folded(request, &file)?)?;
    Ok(Taken { kind: ProfileKind::Jfr, views: views(recorded), raw, raw_ending: "jfr", notes: notes(&pid) })
}

/// The stacks of a recording, as text.
fn folded(request: &Request, recording: &Path) -> Result<Vec<u8>, No> {
    let program = put(request, "JfrFolded.java", FOLDED)?;
    let arguments =
        ["-Xmx512m".as_ref(), "-XX:TieredStopAtLevel=1".as_ref(), program.as_os_str(), recording.as_os_str()];
    Child::run(request, JAVA, &arguments, 4 * SLACK)?.output(BYTES_MAX)
}

fn put(request: &Request, name: &str, text: &str) -> Result<PathBuf, No> {
    let path = request.scratch.join(name);
    std::fs::write(&path, text).map_err(|error| unwritable(&path, &error))?;
    Ok(path)
}

/// Where threads ran first; what has no stack is left out.
fn views(recorded: jfr::Recorded) -> Vec<View> {
    let all = [("", recorded.samples), ("-allocations", recorded.allocated), ("-waits", recorded.waits)];
    let some = all.into_iter().filter(|(_, folded)| !folded.is_empty());
    some.map(|(suffix, folded)| View { suffix, folded, table: None }).collect()
}

fn notes(pid: &str) -> Vec<Said> {
    vec![said!(
        "profile.note_jfr",
        "process {pid}; a sample is a thread in Java code, not CPU time; allocations are sampled (JDK 16 or later); waits are for monitors and locks, of 0.1 ms or more",
        pid
    )]
}
