//! Java Flight Recorder of the busiest JVM among the target's processes: `jcmd PID JFR.start`, `JFR.stop`, `jfr print`.

use super::child::{Child, Tool};
use super::{No, Request, SLACK, Taken, busiest, wait};
use crate::jfr;
use schema::profile::ProfileKind;

const JCMD: Tool = Tool {
    program: "jcmd",
    remedy: "apt-get install a JDK of the target's version (openjdk-17-jdk-headless); run as the target's user",
};
const JFR: Tool = Tool { program: "jfr", ..JCMD };
/// Name of the recording in the JVM.
const RECORDING: &str = "name=prony";

pub(super) fn take(request: &Request) -> Result<Taken, No> {
    let pid = busiest(request, &["java"], "a JVM")?.pid.to_string();
    let file = request.scratch.join("target.jfr");
    let filename = format!("filename={}", file.display());
    let start = [pid.as_str(), "JFR.start", RECORDING, "settings=profile"];
    let started = Child::run(request, JCMD, &start, SLACK)?;
    let said = String::from_utf8_lossy(&started.output(64 << 10)?).into_owned();
    if !said.contains("Started recording") {
        return Err(started.failed("the recording did not start"));
    }
    let waited = wait(request);
    // Also after an interrupt: no recording is left in the JVM.
    Child::run(request, JCMD, &[pid.as_str(), "JFR.stop", RECORDING, &filename], SLACK)?;
    waited?;
    let print = [
        "print".to_owned(),
        "--json".to_owned(),
        "--events".to_owned(),
        "jdk.ExecutionSample".to_owned(),
        file.display().to_string(),
    ];
    let text = Child::run(request, JFR, &print, 4 * SLACK)?.output(jfr::TEXT_BYTES_MAX)?;
    let folded = jfr::read(&text)?;
    let raw = std::fs::read(&file)
        .map_err(|error| No::new(format!("cannot read {}: {error}", file.display()), "take it again"))?;
    let mut taken = Taken::one(ProfileKind::Jfr, folded, raw, "jfr");
    taken.notes.push(format!(
        "process {pid}; settings=profile; a sample is one thread that ran Java code, not CPU time"
    ));
    Ok(taken)
}
