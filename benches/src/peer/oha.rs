//! oha (<https://github.com/hatoo/oha>), on hyper. Written against the source of version 1.16.

use super::{Done, Peer, ReadError, VersionFrom, counts_but, float, json, sum};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "oha",
    version: VersionFrom::Option("--version"),
    install: "cargo install --locked oha",
    arguments,
    read,
    ..Peer::PLAIN
};

/// What it calls requests that were in flight when the time was over.
const IN_FLIGHT: &str = "aborted due to deadline";

fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let (connections, time) = (job.case.connections.to_string(), format!("{}s", job.seconds));
    let fixed = ["--no-tui", "--output-format", "json", "-c", &connections, "-z", &time];
    let mut words = fixed.map(str::to_owned).to_vec();
    words.extend(job.case.rate_per_s.iter().flat_map(|rate| ["-q".to_owned(), rate.to_string()]));
    words.extend(job.case.tls.then(|| "--insecure".to_owned()));
    words.extend((!job.case.keep_alive).then(|| "--disable-keepalive".to_owned()));
    words.push(job.url.to_owned());
    Some(words)
}

fn read(output: &str) -> Result<Done, ReadError> {
    let value = json(output)?;
    let is_good = |code: &str| code.starts_with('2');
    let requests = sum(&value, "/statusCodeDistribution", is_good)?;
    let mut faults = counts_but(&value, "/statusCodeDistribution", is_good)?;
    faults.extend(counts_but(&value, "/errorDistribution", |key| key == IN_FLIGHT)?);
    let requests_per_s = Some(float(&value, "/summary/requestsPerSec")?);
    Ok(Done { requests, requests_per_s, service_p50_ns: None, faults })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    /// Written after the structure in `src/printer.rs` of oha 1.16.0, not recorded.
    const CLEAN: &str = r#"{
  "summary": {"successRate": 1.0, "total": 1.0, "slowest": 0.01, "fastest": 0.0001, "average": 0.0005,
    "requestsPerSec": 30064.5, "totalData": 930000, "sizePerRequest": 31, "sizePerSec": 930000.0},
  "responseTimeHistogram": {"0.001": 30000},
  "statusCodeDistribution": {"200": 30000},
  "errorDistribution": {"aborted due to deadline": 64}
}"#;

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((30_000, 30_064.5, &[])));
        let faulty = CLEAN
            .replace("\"200\": 30000", "\"200\": 29999, \"500\": 1")
            .replace("deadline\": 64", "deadline\": 64, \"connection refused\": 2");
        check(&PEER, &faulty, Ok((29_999, 30_064.5, &["500 1", "connection refused 2"])));
        check(&PEER, "{}", Err("/statusCodeDistribution"));
    }

    #[test]
    fn the_command_lines() {
        let wanted = [
            "--no-tui --output-format json -c 64 -z 4s http://127.0.0.1:1/ping",
            "--no-tui --output-format json -c 64 -z 4s --insecure --disable-keepalive https://127.0.0.1:1/close",
            "--no-tui --output-format json -c 64 -z 4s --insecure https://127.0.0.1:1/ping",
            "--no-tui --output-format json -c 16 -z 4s -q 10000 http://127.0.0.1:1/stamp",
        ];
        assert_eq!(command_lines(&PEER), wanted);
    }
}
