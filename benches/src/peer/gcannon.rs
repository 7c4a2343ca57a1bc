//! gcannon (<https://github.com/MDA2AV/gcannon>), on io_uring. Written against its README.

use super::{Done, Peer, ReadError, VersionFrom, count, counts_but, float, json};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "gcannon",
    version: VersionFrom::Option("--version"),
    install: "git clone https://github.com/MDA2AV/gcannon, make, and install",
    arguments,
    read,
    // "100ms warmup, reset stats" (README, How It Works).
    uncounted_s: 0.1,
    ..Peer::PLAIN
};

/// It knows neither TLS nor rates. One request a connection (`-r 1`) is left out with TLS.
fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let case = job.case;
    if case.rate_per_s.is_some() || case.tls || !case.keep_alive {
        return None;
    }
    let (connections, time) = (case.connections.to_string(), format!("{}s", job.seconds));
    let words = [job.url, "-c", &connections, "-t", "1", "-d", &time, "-p", "1", "--json"];
    Some(words.map(str::to_owned).to_vec())
}

fn read(output: &str) -> Result<Done, ReadError> {
    let value = json(output)?;
    let requests = count(&value, "/responses")?;
    let mut faults = counts_but(&value, "/errors", |_| false)?;
    faults.extend(counts_but(&value, "/status", |class| class == "2xx")?);
    Ok(Done { requests, requests_per_s: Some(float(&value, "/rps")?), service_p50_ns: None, faults })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    /// Shortened from the README of gcannon, not recorded.
    const CLEAN: &str = r#"{
  "target": "localhost:8080/", "mode": "http", "connections": 512, "threads": 8, "pipeline_depth": 1,
  "elapsed_sec": 10.001, "requests": 9647800, "responses": 9647800, "rps": 964702.93,
  "status": { "2xx": 9647800, "3xx": 0, "4xx": 0, "5xx": 0, "other": 0 },
  "errors": { "connect": 0, "read": 0, "timeout": 0 }, "reconnects": 0
}"#;

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((9_647_800, 964_702.93, &[])));
        let faulty = CLEAN.replace("\"read\": 0", "\"read\": 3").replace("\"4xx\": 0", "\"4xx\": 5");
        check(&PEER, &faulty, Ok((9_647_800, 964_702.93, &["read 3", "4xx 5"])));
        check(&PEER, "{}", Err("/responses"));
    }

    #[test]
    fn the_command_lines() {
        let wanted = ["http://127.0.0.1:1/ping -c 64 -t 1 -d 4s -p 1 --json", "-", "-", "-"];
        assert_eq!(command_lines(&PEER), wanted);
    }
}
