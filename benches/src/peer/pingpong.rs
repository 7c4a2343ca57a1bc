//! The bare blocking client of this package (`src/bin/pingpong.rs`): what the wire allows at a rate.

use super::{Done, Peer, ReadError, VersionFrom, between, number};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "pingpong",
    version: VersionFrom::Commit,
    install: "cargo build --profile dist -p bench",
    arguments,
    read,
    ..Peer::PLAIN
};

/// One connection can make no more than this.
const RATE_MAX: u32 = 10_000;

fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let rate = job.case.rate_per_s.filter(|rate| *rate <= RATE_MAX)?.to_string();
    let time = job.seconds.to_string();
    Some(["-R", &rate, "-d", &time, job.url].map(str::to_owned).to_vec())
}

fn read(output: &str) -> Result<Done, ReadError> {
    let requests = number("requests", output.split(" requests").next().unwrap_or_default())?;
    let p50 = number("p50_ns", between(output, "p50_ns ", "\n")?)?;
    Ok(Done { requests, requests_per_s: None, service_p50_ns: Some(p50), faults: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    #[test]
    fn outputs() {
        let output = "40000 requests\np50_ns 21500\n";
        check(&PEER, output, Ok((40_000, 0.0, &[])));
        assert_eq!((PEER.read)(output).unwrap().service_p50_ns, Some(21_500));
        check(&PEER, "x requests\n", Err("no number"));
        check(&PEER, "4 requests\n", Err("p50_ns"));
    }

    #[test]
    fn the_command_lines() {
        let wanted = ["-", "-", "-", "-R 10000 -d 4 http://127.0.0.1:1/stamp"];
        assert_eq!(command_lines(&PEER), wanted);
    }
}
