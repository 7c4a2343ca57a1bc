//! The bare io_uring loop of this package (`src/bin/limit`): what no honest generator can undercut by much.

use super::{Done, Peer, ReadError, VersionFrom, between, number};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "limit",
    version: VersionFrom::Commit,
    install: "cargo build --profile dist -p bench",
    arguments,
    read,
    ..Peer::PLAIN
};

fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let case = job.case;
    if case.rate_per_s.is_some() || case.tls || !case.keep_alive {
        return None;
    }
    let (connections, time) = (case.connections.to_string(), job.seconds.to_string());
    Some(["-c", &connections, "-d", &time, job.url].map(str::to_owned).to_vec())
}

fn read(output: &str) -> Result<Done, ReadError> {
    let line = output.lines().find_map(|line| line.split_once(" requests in "));
    let requests = number("requests in", line.ok_or(ReadError::Missing("requests in"))?.0)?;
    let errors: u64 = number("errors", between(output, "errors ", "\n")?)?;
    let faults = if errors > 0 { vec![format!("errors {errors}")] } else { Vec::new() };
    let requests_per_s = Some(number("requests/s", between(output, "requests/s ", "\n")?)?);
    Ok(Done { requests, requests_per_s, service_p50_ns: None, faults })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    const CLEAN: &str = "600000 requests in 4.000 s\nrequests/s 150000.00\nerrors 0\n";

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((600_000, 150_000.0, &[])));
        check(&PEER, &CLEAN.replace("errors 0", "errors 2"), Ok((600_000, 150_000.0, &["errors 2"])));
        check(&PEER, "", Err("requests in"));
    }

    #[test]
    fn the_command_lines() {
        assert_eq!(command_lines(&PEER), ["-c 64 -d 4 http://127.0.0.1:1/ping", "-", "-", "-"]);
    }
}
