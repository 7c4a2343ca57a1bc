//! h2load of nghttp2 (<https://nghttp2.org>), held to HTTP/1.1 where a case names no streams.

use super::{Done, Peer, ReadError, VersionFrom, between, number};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "h2load",
    version: VersionFrom::Option("--version"),
    install: "apt-get install nghttp2-client",
    arguments,
    read,
    http2: true,
    ..Peer::PLAIN
};

/// Counts that must be zero: what stands before the count, and its name.
const FAULTS: [(&str, &str); 6] = [
    (" succeeded, ", "failed"),
    (" failed, ", "errored"),
    (" errored, ", "timeout"),
    (" 2xx, ", "3xx"),
    (" 3xx, ", "4xx"),
    (" 4xx, ", "5xx"),
];

/// It takes rates only per connection and in whole numbers, and it does not reopen connections.
fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    if job.case.rate_per_s.is_some() || !job.case.keep_alive {
        return None;
    }
    let protocol = job.case.streams.map_or("--h1".to_owned(), |streams| format!("-m{streams}"));
    let connections = format!("-c{}", job.case.connections);
    let seconds = format!("-D{}", job.seconds);
    Some(vec![protocol, "-t1".to_owned(), connections, seconds, job.url.to_owned()])
}

fn read(output: &str) -> Result<Done, ReadError> {
    let requests = number("done", between(output, " started, ", " done")?)?;
    let rate = between(output, "finished in ", " req/s")?;
    let rate = rate.rsplit_once(' ').ok_or(ReadError::Missing("req/s"))?.1;
    let mut faults = Vec::new();
    for (before, what) in FAULTS {
        let count: u64 = number(what, between(output, before, " ")?)?;
        if count > 0 {
            faults.push(format!("{what} {count}"));
        }
    }
    Ok(Done { requests, requests_per_s: Some(number("req/s", rate)?), service_p50_ns: None, faults })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::{Job, PEER, arguments};

    const CLEAN: &str = "\
progress: 100% of clients started
Warm-up phase is over for thread #0.
Application protocol: http/1.1

finished in 1.00s, 47078.00 req/s, 4.58MB/s
requests: 47078 total, 47094 started, 47078 done, 47078 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 47078 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 4.58MB (4801956) total, 1.98MB (2072136) headers (space savings 0.00%), 1.39MB (1459914) data
";

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((47_078, 47_078.0, &[])));
        let faulty = CLEAN
            .replace("0 failed, 0 errored, 0 timeout", "3 failed, 2 errored, 1 timeout")
            .replace("0 3xx, 0 4xx, 0 5xx", "4 3xx, 5 4xx, 6 5xx");
        let faults = ["failed 3", "errored 2", "timeout 1", "3xx 4", "4xx 5", "5xx 6"];
        check(&PEER, &faulty, Ok((47_078, 47_078.0, &faults)));
        check(&PEER, &CLEAN.replace("47078 done", "many done"), Err("no number"));
        check(&PEER, "starting benchmark...\n", Err("started"));
    }

    #[test]
    fn the_command_lines() {
        let wanted = [
            "--h1 -t1 -c64 -D4 http://127.0.0.1:1/ping",
            "-",
            "--h1 -t1 -c64 -D4 https://127.0.0.1:1/ping",
            "-",
        ];
        assert_eq!(command_lines(&PEER), wanted);
        let case = crate::case::find("h2-16x10")[0];
        let words = arguments(&Job { url: "http://127.0.0.1:1/ping", case, seconds: 4 }).unwrap();
        assert_eq!(words.join(" "), "-m10 -t1 -c16 -D4 http://127.0.0.1:1/ping");
    }
}
