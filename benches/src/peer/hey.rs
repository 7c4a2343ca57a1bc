//! hey (<https://github.com/rakyll/hey>), on Go's net/http.

use super::{Done, Peer, ReadError, VersionFrom, between, number};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "hey",
    // It has no option for it.
    version: VersionFrom::Package("hey"),
    install: "apt-get install hey",
    arguments,
    read,
    ..Peer::PLAIN
};

/// hey keeps no more results than this (`maxRes` in its requester), so its counts end here.
const RESULTS_MAX: u64 = 1_000_000;

/// Its rate is per connection. It trusts every certificate.
fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let (connections, time) = (job.case.connections.to_string(), format!("{}s", job.seconds));
    let mut words = ["-cpus", "1", "-c", &connections, "-z", &time].map(str::to_owned).to_vec();
    if let Some(rate) = job.case.rate_per_s {
        let each = f64::from(rate) / f64::from(job.case.connections);
        words.extend(["-q".to_owned(), each.to_string()]);
    }
    words.extend((!job.case.keep_alive).then(|| "-disable-keepalive".to_owned()));
    // It would ask for a certificate of `127.0.0.1:PORT`, which is no name and which rustls refuses.
    words.extend(job.case.tls.then_some(["-host", "localhost"]).into_iter().flatten().map(str::to_owned));
    words.push(job.url.to_owned());
    Some(words)
}

fn read(output: &str) -> Result<Done, ReadError> {
    let requests_per_s = number("Requests/sec:", between(output, "Requests/sec:", "\n")?)?;
    let (_, codes) = output
        .split_once("Status code distribution:")
        .ok_or(ReadError::Missing("Status code distribution:"))?;
    let (codes, errors) = codes.split_once("Error distribution:").unwrap_or((codes, ""));
    let (mut requests, mut faults) = (0, Vec::new());
    for (code, said) in bracketed(codes) {
        let count: u64 = number("responses", said.trim_end_matches("responses").trim())?;
        requests += count;
        if !code.starts_with('2') {
            faults.push(format!("status {code}: {count}"));
        }
    }
    faults.extend(bracketed(errors).map(|(count, cause)| format!("{count} times {cause}")));
    if requests >= RESULTS_MAX {
        faults.push(format!("hey counts no more than {RESULTS_MAX} answers: use fewer --seconds"));
    }
    Ok(Done { requests, requests_per_s: Some(requests_per_s), service_p50_ns: None, faults })
}

/// Lines such as `[200] 15303 responses`: what is in the brackets and what comes after.
fn bracketed(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let (key, said) = line.trim().strip_prefix('[')?.split_once(']')?;
        Some((key, said.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    const CLEAN: &str = "
Summary:
  Total:	1.0018 secs
  Requests/sec:	15275.7945
  
Response time histogram:
  0.000 [1]	|
  0.001 [8056]	|■■■■■■■■■■■■

Status code distribution:
  [200]	15303 responses

";
    const REFUSED: &str = "
  Requests/sec:	13886.4301

Status code distribution:

Error distribution:
  [13898]	Get \"http://127.0.0.1:1/ping\": dial tcp 127.0.0.1:1: connect: connection refused
";

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((15_303, 15_275.794_5, &[])));
        let faulty = CLEAN.replace("15303 responses", "15300 responses\n  [503]\t3 responses");
        check(&PEER, &faulty, Ok((15_303, 15_275.794_5, &["status 503: 3"])));
        let cause = "Get \"http://127.0.0.1:1/ping\": dial tcp 127.0.0.1:1: connect: connection refused";
        check(&PEER, REFUSED, Ok((0, 13_886.430_1, &[&format!("13898 times {cause}")])));
        let capped = CLEAN.replace("15303", "1000000");
        check(
            &PEER,
            &capped,
            Ok((1_000_000, 15_275.794_5, &["hey counts no more than 1000000 answers: use fewer --seconds"])),
        );
        check(&PEER, "Usage: hey [options...] <url>\n", Err("Requests/sec:"));
    }

    #[test]
    fn the_command_lines() {
        let wanted = [
            "-cpus 1 -c 64 -z 4s http://127.0.0.1:1/ping",
            "-cpus 1 -c 64 -z 4s -disable-keepalive -host localhost https://127.0.0.1:1/close",
            "-cpus 1 -c 64 -z 4s -host localhost https://127.0.0.1:1/ping",
            "-cpus 1 -c 16 -z 4s -q 625 http://127.0.0.1:1/stamp",
        ];
        assert_eq!(command_lines(&PEER), wanted);
    }
}
