//! bombardier (<https://github.com/codesenberg/bombardier>), on fasthttp. Written against its template for JSON.
//!
//! Debian's `bombardier` is another program (a GNU one); its output has no braces, so that it is found out.

use super::{Done, Peer, ReadError, VersionFrom, count, float, json};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "bombardier",
    version: VersionFrom::Option("--version"),
    install: "go install github.com/codesenberg/bombardier@latest",
    arguments,
    read,
    ..Peer::PLAIN
};

fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let (connections, time) = (job.case.connections.to_string(), format!("{}s", job.seconds));
    let fixed = ["-c", &connections, "-d", &time, "--print=result", "--format=json"];
    let mut words = fixed.map(str::to_owned).to_vec();
    words.extend(job.case.rate_per_s.iter().flat_map(|rate| ["-r".to_owned(), rate.to_string()]));
    words.extend(job.case.tls.then(|| "-k".to_owned()));
    words.extend((!job.case.keep_alive).then(|| "--disableKeepAlives".to_owned()));
    words.push(job.url.to_owned());
    Some(words)
}

fn read(output: &str) -> Result<Done, ReadError> {
    const CLASSES: [&str; 5] =
        ["/result/req1xx", "/result/req3xx", "/result/req4xx", "/result/req5xx", "/result/others"];
    let value = json(output)?;
    let requests = count(&value, "/result/req2xx")?;
    let mut faults = Vec::new();
    for class in CLASSES {
        let number = count(&value, class)?;
        if number > 0 {
            faults.push(format!("{} {number}", class.trim_start_matches("/result/")));
        }
    }
    let seconds = float(&value, "/result/timeTakenSeconds")?;
    let requests_per_s = Some(requests as f64 / seconds);
    Ok(Done { requests, requests_per_s, service_p50_ns: None, faults })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    /// Written after the JSON template in bombardier's source, shortened; not recorded.
    const CLEAN: &str = r#"{"spec":{"numberOfConnections":64,"testType":"timed","testDurationSeconds":4},
"result":{"bytesRead":9,"bytesWritten":9,"timeTakenSeconds":4.0,"req1xx":0,"req2xx":100000,"req3xx":0,"req4xx":0,
"req5xx":0,"others":0,"latency":{"mean":600.1,"stddev":1.0,"max":9},"rps":{"mean":25000.2,"stddev":1.0,"max":9.0}}}"#;

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((100_000, 25_000.0, &[])));
        let faulty = CLEAN.replace("\"req4xx\":0", "\"req4xx\":2").replace("\"others\":0", "\"others\":1");
        check(&PEER, &faulty, Ok((100_000, 25_000.0, &["req4xx 2", "others 1"])));
        check(&PEER, "GNU bombardier\n", Err("has no `{`"));
    }

    #[test]
    fn the_command_lines() {
        let wanted = [
            "-c 64 -d 4s --print=result --format=json http://127.0.0.1:1/ping",
            "-c 64 -d 4s --print=result --format=json -k --disableKeepAlives https://127.0.0.1:1/close",
            "-c 64 -d 4s --print=result --format=json -k https://127.0.0.1:1/ping",
            "-c 16 -d 4s --print=result --format=json -r 10000 http://127.0.0.1:1/stamp",
        ];
        assert_eq!(command_lines(&PEER), wanted);
    }
}
