//! ab (<https://httpd.apache.org/docs/2.4/programs/ab.html>), by HTTP/1.0 with keep-alive, as it knows no other.

use super::{Done, Peer, ReadError, VersionFrom, between, number};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "ab",
    version: VersionFrom::Option("-V"),
    install: "apt-get install apache2-utils",
    arguments,
    read,
    ..Peer::PLAIN
};

/// It stops at this number or at the time, whichever is first, and takes memory for each of them.
const REQUESTS_MAX: u64 = 5_000_000;

/// `-n` must stand behind `-t`, which sets it too. ab has no rate.
fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    if job.case.rate_per_s.is_some() {
        return None;
    }
    let (connections, time) = (job.case.connections.to_string(), job.seconds.to_string());
    let requests = REQUESTS_MAX.to_string();
    let mut words = ["-q", "-c", &connections, "-t", &time, "-n", &requests].map(str::to_owned).to_vec();
    words.extend(job.case.keep_alive.then(|| "-k".to_owned()));
    words.push(job.url.to_owned());
    Some(words)
}

fn read(output: &str) -> Result<Done, ReadError> {
    let requests = number("Complete requests:", between(output, "Complete requests:", "\n")?)?;
    let rate = between(output, "Requests per second:", "[")?;
    let mut faults = Vec::new();
    let failed: u64 = number("Failed requests:", between(output, "Failed requests:", "\n")?)?;
    if failed > 0 {
        faults.push(format!("failed {failed}"));
    }
    // Printed only where there are some.
    if let Ok(other) = between(output, "Non-2xx responses:", "\n") {
        faults.push(format!("other than 2xx: {other}"));
    }
    if requests >= REQUESTS_MAX {
        faults.push(format!("it stopped at {REQUESTS_MAX} requests: use fewer --seconds"));
    }
    let requests_per_s = Some(number("Requests per second:", rate)?);
    Ok(Done { requests, requests_per_s, service_p50_ns: None, faults })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    /// Recorded from ab 2.3 of apache2-utils 2.4 at bench-server.
    const CLEAN: &str = include_str!("../../fixtures/ab.txt");

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((51_874, 51_871.72, &[])));
        let faulty = CLEAN.replace(
            "Failed requests:        0\n",
            "Failed requests:        3\n   (Connect: 0, Receive: 0, Length: 3, Exceptions: 0)\nNon-2xx responses:      2\n",
        );
        check(&PEER, &faulty, Ok((51_874, 51_871.72, &["failed 3", "other than 2xx: 2"])));
        check(&PEER, "apr_socket_recv: Connection refused (111)\n", Err("Complete requests:"));
    }

    #[test]
    fn the_command_lines() {
        let wanted = [
            "-q -c 64 -t 4 -n 5000000 -k http://127.0.0.1:1/ping",
            "-q -c 64 -t 4 -n 5000000 https://127.0.0.1:1/close",
            "-q -c 64 -t 4 -n 5000000 -k https://127.0.0.1:1/ping",
            "-",
        ];
        assert_eq!(command_lines(&PEER), wanted);
    }
}
