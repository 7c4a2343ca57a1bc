//! prony itself, by `prony load`, with everything on that it has on by default.

use super::{Done, Peer, ReadError, VersionFrom};
use crate::case::{Job, METHOD, PROTO, SCENARIO, SCRIPT, Work};
use schema::load::LoadReport;

pub(super) const PEER: Peer = Peer {
    name: "prony",
    version: VersionFrom::Option("--version"),
    install: "cargo build --profile dist -p prony",
    arguments,
    read,
    http2: true,
    // A gate such as `generator_cpu`: here the generator is meant to be the limit.
    doubt: Some(2),
    ..Peer::PLAIN
};
/// An earlier build of it, by `--before FILE`: what a change costs or saves.
pub(super) const BEFORE: Peer = Peer { name: "prony-before", install: "give --before FILE", ..PEER };

fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let (connections, time) = (job.case.connections.to_string(), format!("{}s", job.seconds));
    // A scenario and a call have paths of their own.
    let origin = job.url.strip_suffix(job.case.path).unwrap_or(job.url);
    let names_paths = matches!(job.case.work, Work::Mix | Work::Call | Work::CallMix);
    let url = if names_paths { origin } else { job.url };
    let fixed = ["load", url, "-c", &connections, "-t", "1", "-d", &time];
    let mut words = fixed.map(str::to_owned).to_vec();
    words.extend(job.case.rate_per_s.iter().flat_map(|rate| ["-R".to_owned(), rate.to_string()]));
    words.extend(job.case.tls.then(|| "-k".to_owned()));
    words.extend((!job.case.keep_alive).then(|| "--disable-keepalive".to_owned()));
    if let Some(streams) = job.case.streams {
        words.extend(["--http", "2", "--streams", &streams.to_string()].map(str::to_owned));
    }
    match job.case.work {
        Work::Url => {}
        Work::Script => words.extend(["-s", SCRIPT].map(str::to_owned)),
        Work::Mix => words.extend(["--scenario", SCENARIO].map(str::to_owned)),
        Work::Call => words.extend(call(r#"{"name":"pear"}"#)),
        Work::CallMix => words.extend(call(r#"{"name":"pear-${counter()}"}"#)),
    }
    words.extend(["--pin", "0", "--format", "json", "--no-tui"].map(str::to_owned));
    Some(words)
}

fn call(message: &str) -> [String; 6] {
    ["--grpc", METHOD, "--proto", PROTO, "--data", message].map(str::to_owned)
}

/// Failed gates are not looked at; what could not be measured at all is no report.
fn read(output: &str) -> Result<Done, ReadError> {
    let report: LoadReport =
        serde_json::from_str(output).map_err(|error| ReadError::Format(error.to_string()))?;
    let errors = report.errors.iter().filter(|(_, count)| **count > 0);
    let mut faults: Vec<String> = errors.map(|(class, count)| format!("{} {count}", class.key())).collect();
    let other = report.status.iter().filter(|(code, count)| !(200..300).contains(*code) && **count > 0);
    faults.extend(other.map(|(code, count)| format!("status {code}: {count}")));
    let requests = report.requests;
    if requests.scheduled != requests.completed + requests.failed + requests.censored {
        faults.push("the account of requests does not balance".to_owned());
    }
    Ok(Done {
        requests: requests.completed,
        requests_per_s: Some(report.throughput_per_s),
        service_p50_ns: report.latency_ns.service.p50,
        faults,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{check, command_lines};
    use super::{Job, PEER, arguments};

    const CLEAN: &str = include_str!("../../fixtures/prony-load.json");

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((115_900, 115_884.0, &[])));
        let faulty = CLEAN
            .replace("\"errors\": {}", "\"errors\": {\"reset\": 2}")
            .replace("\"200\": 115900", "\"200\": 115899, \"404\": 1");
        let faults = ["reset 2", "status 404: 1", "the account of requests does not balance"];
        check(&PEER, &faulty.replace("\"failed\": 0", "\"failed\": 2"), Ok((115_900, 115_884.0, &faults)));
        check(&PEER, &CLEAN.replace("prony.load/1", "prony.load/9"), Err("not the format"));
        check(&PEER, "", Err("not the format"));
    }

    #[test]
    fn the_command_lines() {
        let wanted = [
            "load http://127.0.0.1:1/ping -c 64 -t 1 -d 4s --pin 0 --format json --no-tui",
            "load https://127.0.0.1:1/close -c 64 -t 1 -d 4s -k --disable-keepalive --pin 0 --format json --no-tui",
            "load https://127.0.0.1:1/ping -c 64 -t 1 -d 4s -k --pin 0 --format json --no-tui",
            "load http://127.0.0.1:1/stamp -c 16 -t 1 -d 4s -R 10000 --pin 0 --format json --no-tui",
        ];
        assert_eq!(command_lines(&PEER), wanted);
        let case = crate::case::find("h2-16x10")[0];
        let words = arguments(&Job { url: "http://127.0.0.1:1/ping", case, seconds: 4 }).unwrap();
        assert!(words.join(" ").contains("-c 16 -t 1 -d 4s --http 2 --streams 10 "), "{words:?}");
        let case = crate::case::find("grpc-1x50")[0];
        let words = arguments(&Job { url: "http://127.0.0.1:1/", case, seconds: 4 }).unwrap().join(" ");
        assert!(
            words.starts_with("load http://127.0.0.1:1 -c 1 -t 1 -d 4s --http 2 --streams 50 "),
            "{words}"
        );
        assert!(words.contains(" --grpc bench.Greeter/Greet --proto "), "{words}");
    }
}
