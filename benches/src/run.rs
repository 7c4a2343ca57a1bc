//! One run: start a peer on its CPU, let it load the server, and write down what it did and what that took.
//!
//! Invariant: a run with any error, any answer other than 2xx, no answer at all, counts of peer and server that
//! differ, a bad end, more than 5 % stolen time, or more than 5 % of the host's CPU time used by others is void, and says why.

use crate::case::Job;
use crate::cpus::Cpus;
use crate::error::BenchError;
use crate::host::{HostShares, HostTimes};
use crate::pacing;
use crate::peer::Done;
use crate::programs::Program;
use crate::row::Row;
use crate::server::Server;
use crate::usage::{Used, watch};
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::process::Command;
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

/// The counts of peer and server may differ by this share and by the requests in flight at the end.
const COUNT_SHARE_MAX: f64 = 0.005;

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
    let arguments = (program.peer.arguments)(job).unwrap_or_default();
    let mut files = Files::new(program, job)?;
    let mut command = Command::new(&program.path);
    command
        .args(&arguments)
        // One thread for what is written in Go, as for all others.
        .env("GOMAXPROCS", "1")
        .stdin(shared(&files.input)?)
        .stdout(shared(&files.output)?)
        .stderr(shared(&files.words)?);
    if job.case.rate_per_s.is_some() {
        server.stamps_begin()?;
    }
    let (host, server_ns, before) = (HostTimes::now(), server.cpu_ns(), server.requests()?);
    let mut child = cpus.start_on(cpus.generator, &mut command)?;
    let used = watch(&mut child, Duration::from_secs(job.seconds) + PATIENCE)?;
    server.check_alive()?;
    let server_ns = server.cpu_ns().zip(server_ns).and_then(|(after, before)| after.checked_sub(before));
    let own_ns = (used.user_us + used.system_us) * 1_000 + server_ns.unwrap_or(0);
    let shares = host.shares(&HostTimes::now(), own_ns);
    let served = server.requests()?.saturating_sub(before);
    let pacing = match job.case.rate_per_s {
        Some(rate) => Some(pacing::read(&server.stamps_end()?, rate)),
        None => None,
    };
    let said = files.said(program);
    let done = (program.peer.read)(&said);
    let mut void = void_reasons(program.peer.doubt, &used, &done, shares, &text_of(&mut files.words));
    void.extend(done.as_ref().ok().and_then(|done| miscount(done.requests, served, job, program)));
    void.extend(pacing.as_ref().and_then(|pacing| pacing.as_ref().err().cloned()));
    let pacing = pacing.and_then(Result::ok);
    let cpu_us = (used.user_us + used.system_us) as f64;
    let wall_s = used.wall.as_secs_f64().max(f64::MIN_POSITIVE);
    let done = done.ok();
    let rate = |done: &Done| done.requests_per_s.unwrap_or(done.requests as f64 / job.seconds as f64);
    Ok(Row {
        peer: program.peer.name.to_owned(),
        case: job.case.name.to_owned(),
        connections: job.case.connections,
        arguments: arguments.join(" "),
        asked_s: job.seconds,
        wall_ms: u64::try_from(used.wall.as_millis()).unwrap_or(u64::MAX),
        requests: done.as_ref().map(|done| done.requests),
        server_requests: Some(served),
        requests_per_s: done.as_ref().map(rate).filter(|rate| rate.is_finite()),
        user_us: used.user_us,
        system_us: used.system_us,
        cpu_us_per_request: (served > 0).then(|| cpu_us / served as f64),
        peak_rss_bytes: used.peak_rss_bytes,
        generator_busy_share: cpu_us / 1e6 / wall_s,
        // A server that stamps does not sleep, and its time says nothing.
        server_busy_share: server_ns.filter(|_| pacing.is_none()).map(|ns| ns as f64 / 1e9 / wall_s),
        arrivals_per_s: pacing.map(|pacing| pacing.arrivals_per_s),
        gap_error_p50_ns: pacing.map(|pacing| pacing.gap_error_p50_ns),
        gap_error_p99_ns: pacing.map(|pacing| pacing.gap_error_p99_ns),
        residence_p50_ns: pacing.map(|pacing| pacing.residence_p50_ns),
        service_p50_ns: done.as_ref().and_then(|done| done.service_p50_ns),
        others_busy_share: shares.others,
        steal_share: shares.steal,
        void: void.join("; "),
        ..Row::default()
    })
}

/// The streams of a peer. Files, not pipes: a peer is never held up by a reader.
struct Files {
    input: File,
    output: File,
    words: File,
}

impl Files {
    fn new(program: &Program, job: &Job<'_>) -> Result<Self, BenchError> {
        let (mut input, output, words) = (scratch()?, scratch()?, scratch()?);
        if let Some(text) = program.peer.stdin {
            let written = input.write_all(text(job).as_bytes()).and_then(|()| input.rewind());
            written.map_err(|error| BenchError::write(&std::env::temp_dir(), error))?;
        }
        Ok(Self { input, output, words })
    }

    /// What the peer said, after its own report where it needs one.
    fn said(&mut self, program: &Program) -> String {
        let Some(report) = program.peer.report else { return text_of(&mut self.output) };
        let rewound = self.output.rewind().and_then(|()| self.output.try_clone());
        let output = rewound
            .and_then(|results| Command::new(&program.path).args(report).stdin(results).output())
            .map(|output| output.stdout);
        // Without a report the reader misses what it looks for and says so.
        String::from_utf8_lossy(&output.unwrap_or_default()).into_owned()
    }
}

fn scratch() -> Result<File, BenchError> {
    tempfile::tempfile().map_err(|error| BenchError::write(&std::env::temp_dir(), error))
}

fn shared(file: &File) -> Result<File, BenchError> {
    file.try_clone().map_err(|error| BenchError::write(&std::env::temp_dir(), error))
}

/// Why the counts of peer and server cannot both be right.
fn miscount(requests: u64, served: u64, job: &Job<'_>, program: &Program) -> Option<String> {
    let uncounted = program.peer.uncounted_s / job.seconds as f64;
    let allowed = (COUNT_SHARE_MAX + uncounted) * served as f64 + f64::from(job.case.in_flight_max());
    (requests.abs_diff(served) as f64 > allowed).then(|| {
        format!("it counted {requests} answers and the server {served}: its output is not read rightly, or it lost some")
    })
}

/// What a file holds from its beginning, as text; what cannot be read is left out and the reader will miss it.
fn text_of(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let _ = file.rewind().and_then(|()| file.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn void_reasons(
    doubt: Option<i32>,
    used: &Used,
    done: &Result<Done, crate::peer::ReadError>,
    shares: HostShares,
    words: &str,
) -> Vec<String> {
    let mut reasons = Vec::new();
    match used.exit {
        None => reasons.push("it did not end in time and was killed".to_owned()),
        Some(exit) if !exit.success() && (exit.code() != doubt || done.is_err()) => {
            let last = words.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no words");
            reasons.push(format!("{exit}: {last:.120}"));
        }
        Some(_) => {}
    }
    match done {
        Err(error) => reasons.push(error.to_string()),
        Ok(done) => {
            let is_rate = |rate: f64| rate.is_finite() && rate > 0.0;
            if done.requests == 0 || !done.requests_per_s.is_none_or(is_rate) {
                reasons.push("no answers".to_owned());
            }
            reasons.extend(done.faults.iter().cloned());
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
        Ok(Done { requests, requests_per_s: Some(requests as f64), service_p50_ns: None, faults })
    }

    #[test]
    fn each_fault_makes_a_run_void_and_a_good_one_has_none() {
        let check = |used: &Used, done, steal, wanted: &[&str]| {
            let shares = HostShares { steal, others: Some(0.05) };
            assert_eq!(void_reasons(Some(2), used, &done, shares, "first\nlast words\n"), wanted);
        };
        let good = used(Some(0));
        check(&good, done(9, &[]), Some(0.04), &[]);
        check(&good, done(9, &[]), None, &[]);
        check(&good, done(9, &[]), Some(0.06), &["6.0 % of CPU time was stolen, 5 % allowed"]);
        let busy = HostShares { steal: None, others: Some(0.478) };
        let reasons = void_reasons(None, &good, &done(9, &[]), busy, "");
        assert_eq!(reasons, ["47.8 % of CPU time was used by other processes, 5 % allowed"]);
        check(&good, done(0, &[]), None, &["no answers"]);
        check(&good, done(9, &["reset 2", "status 404: 1"]), None, &["reset 2", "status 404: 1"]);
        check(&used(Some(3)), done(9, &[]), None, &["exit status: 3: last words"]);
        check(&used(Some(2)), done(9, &[]), None, &[]);
        let format = || Err(ReadError::Format("x".to_owned()));
        let both = ["exit status: 2: last words", "its output is not the format expected: x"];
        check(&used(Some(2)), format(), None, &both);
        check(&used(None), done(9, &[]), None, &["it did not end in time and was killed"]);
        check(&good, format(), None, &["its output is not the format expected: x"]);
    }

    #[test]
    fn counts_of_peer_and_server_must_agree() {
        let program = Program { peer: crate::peer::BASE, path: "wrk".into() };
        let case = crate::case::find("closed-64")[0];
        let job = Job { url: "", case, seconds: 4 };
        for (requests, served, is_void) in [
            (100_000, 100_000, false),
            (99_936, 100_500, false),
            (99_000, 100_000, true),
            (101_000, 100_000, true),
        ] {
            assert_eq!(miscount(requests, served, &job, &program).is_some(), is_void, "{requests}");
        }
    }
}
