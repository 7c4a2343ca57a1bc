//! zrk (<https://github.com/zoxy-io/zrk>), a successor of wrk2. Written against its `docs/output.md`.

use super::{Done, Peer, ReadError, VersionFrom, count, counts_but, float, json, sum};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "zrk",
    version: VersionFrom::Option("--version"),
    install: "a release of https://github.com/zoxy-io/zrk",
    arguments,
    read,
    ..Peer::PLAIN
};

fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let (connections, time) = (job.case.connections.to_string(), format!("{}s", job.seconds));
    let fixed = ["-t", "1", "-c", &connections, "-d", &time, "--format", "json"];
    let mut words = fixed.map(str::to_owned).to_vec();
    match job.case.rate_per_s {
        Some(rate) => words.extend(["-R".to_owned(), rate.to_string()]),
        None => words.push("--closed".to_owned()),
    }
    words.extend(job.case.tls.then(|| "-k".to_owned()));
    words.extend((!job.case.keep_alive).then(|| "--disable-keepalive".to_owned()));
    words.push(job.url.to_owned());
    Some(words)
}

fn read(output: &str) -> Result<Done, ReadError> {
    let value = json(output)?;
    let requests = sum(&value, "/status_codes", |class| class == "2xx")?;
    count(&value, "/requests")?;
    let mut faults = counts_but(&value, "/errors", |_| false)?;
    faults.extend(counts_but(&value, "/status_codes", |class| class == "2xx")?);
    let requests_per_s = Some(float(&value, "/achieved_rate")?);
    Ok(Done { requests, requests_per_s, service_p50_ns: None, faults })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    /// Shortened from `docs/output.md` of zrk, not recorded.
    const CLEAN: &str = r#"{
  "zrk_version": "0.1.0", "duration_s": 20.002, "requests": 19998, "bytes": 1239876, "achieved_rate": 999.80,
  "target_rate": 1000, "rate_ratio": 0.9998, "error_rate": 0.000000, "max_schedule_lag_us": 84,
  "status_codes": { "1xx": 0, "2xx": 19998, "3xx": 0, "4xx": 0, "5xx": 0 },
  "errors": { "connect": 0, "read": 0, "write": 0, "timeout": 0, "deadline": 0, "non_2xx_3xx": 0 }
}"#;

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((19_998, 999.8, &[])));
        let faulty = CLEAN.replace("\"timeout\": 0", "\"timeout\": 4").replace("\"5xx\": 0", "\"5xx\": 1");
        check(&PEER, &faulty, Ok((19_998, 999.8, &["timeout 4", "5xx 1"])));
        check(&PEER, "{}", Err("/status_codes"));
    }

    #[test]
    fn the_command_lines() {
        let wanted = [
            "-t 1 -c 64 -d 4s --format json --closed http://127.0.0.1:1/ping",
            "-t 1 -c 64 -d 4s --format json --closed -k --disable-keepalive https://127.0.0.1:1/close",
            "-t 1 -c 64 -d 4s --format json --closed -k https://127.0.0.1:1/ping",
            "-t 1 -c 16 -d 4s --format json -R 10000 http://127.0.0.1:1/stamp",
        ];
        assert_eq!(command_lines(&PEER), wanted);
    }
}
