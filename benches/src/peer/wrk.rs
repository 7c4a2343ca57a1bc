//! wrk 4 (<https://github.com/wg/wrk>), the generator that the targets are written against.

use super::{Done, Peer, ReadError, VersionFrom, between, number};
use crate::case::{Job, SCRIPT, Work};

pub(super) const PEER: Peer = Peer {
    name: "wrk",
    version: VersionFrom::Option("--version"),
    install: "apt-get install wrk",
    arguments,
    read,
    ..Peer::PLAIN
};

fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    if job.case.rate_per_s.is_some() {
        return None;
    }
    Some(words(job))
}

/// What wrk and wrk2 both take. They trust every certificate.
pub(super) fn words(job: &Job<'_>) -> Vec<String> {
    let connections = format!("-c{}", job.case.connections);
    let mut words = vec!["-t1".to_owned(), connections, format!("-d{}s", job.seconds)];
    if !job.case.keep_alive {
        words.extend(["-H", "Connection: close"].map(str::to_owned));
    }
    if job.case.work == Work::Script {
        words.extend(["-s", SCRIPT].map(str::to_owned));
    }
    words.push(job.url.to_owned());
    words
}

pub(super) fn read(output: &str) -> Result<Done, ReadError> {
    let line = output.lines().find_map(|line| line.split_once(" requests in "));
    let requests = number("requests in", line.ok_or(ReadError::Missing("requests in"))?.0.trim())?;
    // Both lines are printed only where there is something to tell.
    let faults = ["Socket errors:", "Non-2xx or 3xx responses:"];
    let faults = faults.into_iter().filter_map(|fault| {
        let said = between(output, fault, "\n").ok()?;
        Some(format!("{fault} {said}"))
    });
    let rate = number("Requests/sec:", between(output, "Requests/sec:", "\n")?)?;
    Ok(Done { requests, requests_per_s: Some(rate), service_p50_ns: None, faults: faults.collect() })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    const CLEAN: &str = "\
Running 1s test @ http://127.0.0.1:39161/ping
  1 threads and 16 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   429.50us  773.81us   8.41ms   93.04%
    Req/Sec    40.92k     3.30k   47.09k    70.00%
  40723 requests in 1.00s, 3.96MB read
Requests/sec:  40674.64
Transfer/sec:      3.96MB
";

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((40_723, 40_674.64, &[])));
        let faulty = CLEAN.replace(
            "Requests/sec",
            "  Socket errors: connect 0, read 5, write 0, timeout 2\n  Non-2xx or 3xx responses: 7\nRequests/sec",
        );
        let faults = ["Socket errors: connect 0, read 5, write 0, timeout 2", "Non-2xx or 3xx responses: 7"];
        check(&PEER, &faulty, Ok((40_723, 40_674.64, &faults)));
        check(&PEER, "unable to connect to 127.0.0.1:1 Connection refused\n", Err("requests in"));
        check(&PEER, &CLEAN.replace("40723", "40k"), Err("no number"));
        check(&PEER, "", Err("requests in"));
    }

    #[test]
    fn the_command_lines() {
        let wanted = [
            "-t1 -c64 -d4s http://127.0.0.1:1/ping",
            "-t1 -c64 -d4s -H Connection: close https://127.0.0.1:1/close",
            "-t1 -c64 -d4s https://127.0.0.1:1/ping",
            "-",
        ];
        assert_eq!(command_lines(&PEER), wanted);
    }
}
