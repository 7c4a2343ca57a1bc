//! vegeta (<https://github.com/tsenart/vegeta>), on Go's net/http. Written against its README.
//!
//! `vegeta attack` writes results in its own form; `vegeta report`, run afterwards and not measured, counts them.

use super::{Done, Peer, ReadError, VersionFrom, counts_but, float, json, sum};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "vegeta",
    version: VersionFrom::Option("-version"),
    install: "go install github.com/tsenart/vegeta/v12@latest",
    arguments,
    read,
    report: Some(&["report", "-type=json"]),
    stdin: Some(|job| format!("GET {}\n", job.url)),
    ..Peer::PLAIN
};

/// It reads what to ask for from its standard input; a closed loop is a rate of 0 with as many workers as connections.
fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let case = job.case;
    let (connections, rate) = (case.connections, case.rate_per_s.unwrap_or(0));
    let mut words = vec![
        "attack".to_owned(),
        format!("-duration={}s", job.seconds),
        format!("-rate={rate}"),
        format!("-connections={connections}"),
        format!("-workers={connections}"),
        format!("-max-workers={connections}"),
        format!("-keepalive={}", case.keep_alive),
    ];
    words.extend(case.tls.then(|| "-insecure".to_owned()));
    Some(words)
}

fn read(output: &str) -> Result<Done, ReadError> {
    let value = json(output)?;
    let is_good = |code: &str| code.starts_with('2');
    let requests = sum(&value, "/status_codes", is_good)?;
    let faults = counts_but(&value, "/status_codes", is_good)?;
    let requests_per_s = Some(float(&value, "/throughput")?);
    Ok(Done { requests, requests_per_s, service_p50_ns: None, faults })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    /// Shortened from the README of vegeta, not recorded.
    const CLEAN: &str = r#"{"latencies":{"total":237119463,"mean":2371194},"duration":990000000,"wait":2322146,
"requests":100,"rate":101.01010101010101,"throughput":100.77373448888095,"success":1,
"status_codes":{"200":100},"errors":[]}"#;

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((100, 100.773_734_488_880_95, &[])));
        let faulty = CLEAN.replace("\"200\":100", "\"200\":97,\"0\":3");
        check(&PEER, &faulty, Ok((97, 100.773_734_488_880_95, &["0 3"])));
    }

    #[test]
    fn the_command_lines() {
        let fixed = "-connections=64 -workers=64 -max-workers=64";
        let wanted = [
            format!("attack -duration=4s -rate=0 {fixed} -keepalive=true"),
            format!("attack -duration=4s -rate=0 {fixed} -keepalive=false -insecure"),
            format!("attack -duration=4s -rate=0 {fixed} -keepalive=true -insecure"),
            format!("attack -duration=4s -rate=10000 {} -keepalive=true", fixed.replace("64", "16")),
        ];
        assert_eq!(command_lines(&PEER), wanted);
    }
}
