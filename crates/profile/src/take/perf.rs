//! `perf record` on the clock of the CPU, which needs no hardware counters, then `perf script`.
//!
//! 199 Hz, so as not to beat with what happens 100 or 1000 times a second. Stacks by frame pointers: programs built
//! without them show short stacks.

use super::child::{Child, Tool};
use super::{No, Request, SLACK, Taken, processes};
use crate::{BYTES_MAX, perf_script};
use schema::profile::ProfileKind;
use schema::said;

const FREQUENCY_HZ: u32 = 199;
const PERF: Tool = Tool {
    program: "perf",
    remedy: || {
        said!(
            "profile.remedy_perf",
            "apt-get install linux-perf; run as root, or sysctl kernel.perf_event_paranoid=1"
        )
    },
};

pub(super) fn take(request: &Request) -> Result<Taken, No> {
    let pids: Vec<String> = processes(request)?.iter().map(|process| process.pid.to_string()).collect();
    let data = request.scratch.join("perf.data");
    let data_text = data.display().to_string();
    let (frequency, pids, seconds) =
        (FREQUENCY_HZ.to_string(), pids.join(","), request.window.as_secs().max(1).to_string());
    let record = [
        "record",
        "-q",
        "-F",
        &frequency,
        "-e",
        "cpu-clock",
        "-g",
        "-o",
        &data_text,
        "-p",
        &pids,
        "--",
        "sleep",
        &seconds,
    ];
    Child::run(request, PERF, &record, request.window + SLACK)?;
    let script = ["script", "-i", &data_text, "--force"];
    let script = Child::run(request, PERF, &script, 2 * SLACK)?;
    let raw = script.output(BYTES_MAX)?;
    let folded = perf_script::read(&raw)?;
    let mut taken = Taken::one(ProfileKind::Perf, folded, raw, "script.txt");
    taken.notes.push(said!(
        "profile.note_perf",
        "sampled at {hertz} Hz; stacks by frame pointers, so code built without them shows short ones",
        hertz = FREQUENCY_HZ
    ));
    Ok(taken)
}
