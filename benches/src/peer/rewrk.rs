//! rewrk (<https://github.com/lnx-search/rewrk>), on hyper. Written against the source of version 0.3
//! (`src/results.rs`).

use super::{Done, Peer, ReadError, VersionFrom, count, float, json};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "rewrk",
    version: VersionFrom::Option("--version"),
    install: "cargo install --git https://github.com/lnx-search/rewrk",
    arguments,
    read,
    ..Peer::PLAIN
};

/// It has no rate, no choice of certificates, and no way to reopen connections.
fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let case = job.case;
    if case.rate_per_s.is_some() || case.tls || !case.keep_alive {
        return None;
    }
    let (connections, time) = (case.connections.to_string(), format!("{}s", job.seconds));
    let words = ["-t", "1", "-c", &connections, "-d", &time, "--json", "-h", job.url];
    Some(words.map(str::to_owned).to_vec())
}

/// Its JSON reports no errors; the server's count finds them.
fn read(output: &str) -> Result<Done, ReadError> {
    let value = json(output)?;
    let requests = count(&value, "/requests_total")?;
    let requests_per_s = Some(float(&value, "/requests_avg")?);
    Ok(Done { requests, requests_per_s, service_p50_ns: None, faults: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    /// Written after `display_json` in the source, not recorded.
    const CLEAN: &str = r#"{"latency_avg":0.5,"latency_max":9.0,"latency_min":0.1,"latency_std_deviation":0.2,
"requests_avg":30010.5,"requests_total":30000,"transfer_rate":3.0e6,"transfer_total":3.0e6}"#;

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((30_000, 30_010.5, &[])));
        check(&PEER, "{}", Err("/requests_total"));
    }

    #[test]
    fn the_command_lines() {
        let wanted = ["-t 1 -c 64 -d 4s --json -h http://127.0.0.1:1/ping", "-", "-", "-"];
        assert_eq!(command_lines(&PEER), wanted);
    }
}
