//! wrk2 (<https://github.com/giltene/wrk2>), the generator that the targets for constant rates are written against.
//!
//! Its repository calls the program `wrk`; on PATH it must be named `wrk2` to be distinguished.

use super::{Peer, VersionFrom, wrk};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "wrk2",
    version: VersionFrom::Option("--version"),
    install: "git clone https://github.com/giltene/wrk2, make, and install `wrk` as `wrk2`",
    arguments,
    read: wrk::read,
    ..Peer::PLAIN
};

/// It knows nothing but rates.
fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let rate = job.case.rate_per_s?;
    let mut words = vec![format!("-R{rate}")];
    words.extend(wrk::words(job));
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    /// From the README of wrk2, not recorded.
    const CLEAN: &str = "\
Running 30s test @ http://127.0.0.1:80/index.html
  2 threads and 100 connections
  Thread calibration: mean lat.: 9747 usec, rate sampling interval: 21 msec
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.46ms    1.93ms  12.34ms   67.66%
    Req/Sec     1.05k     1.12k    2.50k    64.84%
  60018 requests in 30.01s, 19.81MB read
Requests/sec:   2000.15
Transfer/sec:    676.14KB
";

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((60_018, 2_000.15, &[])));
        let faulty = CLEAN.replace("Requests/sec", "  Non-2xx or 3xx responses: 7\nRequests/sec");
        check(&PEER, &faulty, Ok((60_018, 2_000.15, &["Non-2xx or 3xx responses: 7"])));
    }

    #[test]
    fn the_command_lines() {
        let wanted = ["-", "-", "-", "-R10000 -t1 -c16 -d4s http://127.0.0.1:1/stamp"];
        assert_eq!(command_lines(&PEER), wanted);
    }
}
