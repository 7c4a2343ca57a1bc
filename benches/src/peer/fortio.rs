//! fortio (<https://fortio.org>), on its own fast HTTP client, which knows no TLS; with TLS on Go's net/http.

use super::{Done, Peer, ReadError, VersionFrom, count, counts_but, float, json, sum};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "fortio",
    version: VersionFrom::Option("version"),
    install: "go install fortio.org/fortio@v1.63.0",
    arguments,
    read,
    ..Peer::PLAIN
};

/// A rate of 0 is as fast as it can. `-uniform` spreads the connections over the gap, so that they do not all send at
/// once; `-nocatchup` is not given, so that the rate is held.
fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let (connections, time) = (job.case.connections.to_string(), format!("{}s", job.seconds));
    let rate = job.case.rate_per_s.unwrap_or(0).to_string();
    let fixed = ["load", "-quiet", "-json", "-", "-qps", &rate, "-c", &connections, "-t", &time];
    let mut words = fixed.map(str::to_owned).to_vec();
    words.extend(job.case.rate_per_s.map(|_| "-uniform".to_owned()));
    words.extend(job.case.tls.then(|| "-k".to_owned()));
    words.extend((!job.case.keep_alive).then(|| "-keepalive=false".to_owned()));
    words.push(job.url.to_owned());
    Some(words)
}

fn read(output: &str) -> Result<Done, ReadError> {
    let value = json(output)?;
    let is_good = |code: &str| code.starts_with('2');
    let requests = sum(&value, "/RetCodes", is_good)?;
    count(&value, "/DurationHistogram/Count")?;
    let faults = counts_but(&value, "/RetCodes", is_good)?;
    Ok(Done { requests, requests_per_s: Some(float(&value, "/ActualQPS")?), service_p50_ns: None, faults })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    /// Recorded from fortio 1.63.0 at bench-server, shortened.
    const CLEAN: &str = include_str!("../../fixtures/fortio.json");

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((28_611, 28_609.127_503_995_736, &[])));
        let faulty = CLEAN.replace("\"RetCodes\": {", "\"RetCodes\": { \"-1\": 2, \"503\": 1,");
        check(&PEER, &faulty, Ok((28_611, 28_609.127_503_995_736, &["-1 2", "503 1"])));
        check(&PEER, "Aborting because of dial\n", Err("has no `{`"));
        check(&PEER, "{}", Err("/RetCodes"));
    }

    #[test]
    fn the_command_lines() {
        let wanted = [
            "load -quiet -json - -qps 0 -c 64 -t 4s http://127.0.0.1:1/ping",
            "load -quiet -json - -qps 0 -c 64 -t 4s -k -keepalive=false https://127.0.0.1:1/close",
            "load -quiet -json - -qps 0 -c 64 -t 4s -k https://127.0.0.1:1/ping",
            "load -quiet -json - -qps 10000 -c 16 -t 4s -uniform http://127.0.0.1:1/stamp",
        ];
        assert_eq!(command_lines(&PEER), wanted);
    }
}
