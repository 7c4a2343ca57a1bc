//! One run: start a peer on its CPU, let it load the server, and write down what it did and what that took.
//!
//! Invariant: a run with any error, any answer other than 2xx, no answer at all, a bad end, more than 5 % stolen
//! time, or more than 5 % of the host's CPU time used by others is void, and says why.

use crate::case::Job;
use crate::cpus::Cpus;
use crate::error::BenchError;
use crate::host::{HostShares, HostTimes};
use crate::peer::Done;
use crate::programs::Program;
use crate::row::Row;
use crate::server::Server;
use crate::usage::{Used, watch};
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::process::{Command, Stdio};
use std::time::Duration;

/// More stolen CPU time than this share makes a run void (METHOD §9).
const STEAL_SHARE_MAX: f64 = 0.05;
/// More of the host's CPU time than this used by others makes a run void: they share its core and caches. Runs on a
/// quiet machine show less than 0.01.
const OTHERS_SHARE_MAX: f64 = 0.05;
/// A peer may take this much longer than asked before it is killed.
const PATIENCE: Duration = Duration::from_secs(20);
/// No more of an output than this is read.
const OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// Runs `program` for `job` against `server`; `repeat` and `position` are left at 0.
///
/// # Errors
/// Only what makes all further runs pointless: the program cannot be started, the server is gone.
pub(crate) fn run(
    program: &Program,
    job: &Job<'_>,
    cpus: &Cpus,
    server: &mut Server,
) -> Result<Row, BenchError> {
    // Files, not pipes: a peer is never held up by a reader.
    let scratch = || tempfile::tempfile().map_err(|error| BenchError::write(&std::env::temp_dir(), error));
    let (mut output, mut words) = (scratch()?, scratch()?);
    let share =
        |file: &File| file.try_clone().map_err(|error| BenchError::write(&std::env::temp_dir(), error));
    let mut command = Command::new(&program.path);
    command
        .args((program.peer.arguments)(job))
        .stdin(Stdio::null())
        .stdout(share(&output)?)
        .stderr(share(&words)?);
    let (host, server_ns) = (HostTimes::now(), server.cpu_ns());
    let mut child = cpus.start_on(cpus.generator, &mut command)?;
    let used = watch(&mut child, Duration::from_secs(job.seconds) + PATIENCE)?;
    let server_ns = server.cpu_ns().zip(server_ns).and_then(|(after, before)| after.checked_sub(before));
    let own_ns = (used.user_us + used.system_us) * 1_000 + server_ns.unwrap_or(0);
    let shares = host.shares(&HostTimes::now(), own_ns);
    server.check_alive()?;

    let done = (program.peer.read)(&text_of(&mut output));
    let cpu_us = (used.user_us + used.system_us) as f64;
    let wall_s = used.wall.as_secs_f64().max(f64::MIN_POSITIVE);
    let requests = done.as_ref().ok().map(|done| done.requests);
    Ok(Row {
        peer: program.peer.name.to_owned(),
        connections: job.case.connections,
        asked_s: job.seconds,
        wall_ms: u64::try_from(used.wall.as_millis()).unwrap_or(u64::MAX),
        requests,
        requests_per_s: done.as_ref().ok().map(|done| done.requests_per_s).filter(|rate| rate.is_finite()),
        user_us: used.user_us,
        system_us: used.system_us,
        cpu_us_per_request: requests
            .filter(|requests| *requests > 0)
            .map(|requests| cpu_us / requests as f64),
        peak_rss_bytes: used.peak_rss_bytes,
        generator_busy_share: cpu_us / 1e6 / wall_s,
        server_busy_share: server_ns.map(|ns| ns as f64 / 1e9 / wall_s),
        others_busy_share: shares.others,
        steal_share: shares.steal,
        void: void_reasons(&used, done, shares, &text_of(&mut words)).join("; "),
        ..Row::default()
    })
}

/// What a file holds from its beginning, as text; what cannot be read is left out and the reader will miss it.
fn text_of(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let _ = file.rewind().and_then(|()| file.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn void_reasons(
    used: &Used,
    done: Result<Done, crate::peer::ReadError>,
    shares: HostShares,
    words: &str,
) -> Vec<String> {
    let mut reasons = Vec::new();
    match used.exit {
        None => reasons.push("it did not end in time and was killed".to_owned()),
        Some(exit) if !exit.success() => {
            let last = words.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no words");
            reasons.push(format!("{exit}: {last:.120}"));
        }
        Some(_) => {}
    }
    match done {
        Err(error) => reasons.push(error.to_string()),
        Ok(done) => {
            if done.requests == 0 || !(done.requests_per_s.is_finite() && done.requests_per_s > 0.0) {
                reasons.push("no answers".to_owned());
            }
            reasons.extend(done.faults);
        }
    }
    for (share, share_max, what) in [
        (shares.steal, STEAL_SHARE_MAX, "was stolen"),
        (shares.others, OTHERS_SHARE_MAX, "was used by other processes"),
    ] {
        if let Some(share) = share.filter(|share| *share > share_max) {
            let (share, allowed) = (share * 100.0, share_max * 100.0);
            reasons.push(format!("{share:.1} % of CPU time {what}, {allowed:.0} % allowed"));
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::ReadError;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    fn used(exit: Option<i32>) -> Used {
        let exit = exit.map(|code| ExitStatus::from_raw(code << 8));
        Used { exit, user_us: 1, system_us: 1, wall: Duration::from_secs(1), peak_rss_bytes: None }
    }

    fn done(requests: u64, faults: &[&str]) -> Result<Done, ReadError> {
        let faults = faults.iter().map(|&fault| fault.to_owned()).collect();
        Ok(Done { requests, requests_per_s: requests as f64, faults })
    }

    #[test]
    fn each_fault_makes_a_run_void_and_a_good_one_has_none() {
        let check = |used: &Used, done, steal, wanted: &[&str]| {
            let shares = HostShares { steal, others: Some(0.05) };
            assert_eq!(void_reasons(used, done, shares, "first\nlast words\n"), wanted);
        };
        let good = used(Some(0));
        check(&good, done(9, &[]), Some(0.04), &[]);
        check(&good, done(9, &[]), None, &[]);
        check(&good, done(9, &[]), Some(0.06), &["6.0 % of CPU time was stolen, 5 % allowed"]);
        let busy = HostShares { steal: None, others: Some(0.478) };
        let reasons = void_reasons(&good, done(9, &[]), busy, "");
        assert_eq!(reasons, ["47.8 % of CPU time was used by other processes, 5 % allowed"]);
        check(&good, done(0, &[]), None, &["no answers"]);
        check(&good, done(9, &["reset 2", "status 404: 1"]), None, &["reset 2", "status 404: 1"]);
        check(&used(Some(3)), done(9, &[]), None, &["exit status: 3: last words"]);
        check(&used(None), done(9, &[]), None, &["it did not end in time and was killed"]);
        let format = Err(ReadError::Format("x".to_owned()));
        check(&good, format, None, &["its output is not the format expected: x"]);
    }
}
