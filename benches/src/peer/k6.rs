//! k6 (<https://k6.io>), by a script of our own, `benches/src/peer/k6.js`. Written against its documents.

use super::{Done, Peer, ReadError, VersionFrom, count, float, json};
use crate::case::Job;

pub(super) const PEER: Peer = Peer {
    name: "k6",
    version: VersionFrom::Option("version"),
    install: "a release of https://github.com/grafana/k6",
    arguments,
    read,
    ..Peer::PLAIN
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/peer/k6.js");

fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let set = |name: &str, value: String| ["-e".to_owned(), format!("{name}={value}")];
    let mut words = ["run", "--quiet", "--no-usage-report", "--no-thresholds"].map(str::to_owned).to_vec();
    words.extend(set("URL", job.url.to_owned()));
    words.extend(set("CONNECTIONS", job.case.connections.to_string()));
    words.extend(set("SECONDS", job.seconds.to_string()));
    words.extend(set("RATE", job.case.rate_per_s.unwrap_or(0).to_string()));
    words.extend(set("FRESH", u8::from(!job.case.keep_alive).to_string()));
    words.push(SCRIPT.to_owned());
    Some(words)
}

/// The script prints what it counted as one object.
fn read(output: &str) -> Result<Done, ReadError> {
    let value = json(output)?;
    let (all, failed) = (count(&value, "/requests")?, count(&value, "/failed")?);
    let faults = if failed > 0 { vec![format!("failed {failed}")] } else { Vec::new() };
    let requests_per_s = Some(float(&value, "/rate")?);
    Ok(Done { requests: all.saturating_sub(failed), requests_per_s, service_p50_ns: None, faults })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::PEER;

    /// What the script prints by k6's documents of `handleSummary`, not recorded.
    const CLEAN: &str = "{\"requests\":12000,\"rate\":3000.5,\"failed\":0}\n";

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((12_000, 3_000.5, &[])));
        check(&PEER, &CLEAN.replace("failed\":0", "failed\":2"), Ok((11_998, 3_000.5, &["failed 2"])));
        check(&PEER, "ERRO[0000] no script\n", Err("has no `{`"));
    }

    #[test]
    fn the_command_line() {
        let line = &command_lines(&PEER)[3];
        let wanted =
            "-e URL=http://127.0.0.1:1/stamp -e CONNECTIONS=16 -e SECONDS=4 -e RATE=10000 -e FRESH=0 ";
        assert!(line.contains(wanted) && line.ends_with("k6.js"), "{line}");
    }
}
