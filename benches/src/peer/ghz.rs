//! ghz (<https://ghz.sh>). It keeps each result, the first million at most.

use super::{Done, Peer, ReadError, VersionFrom, counts_but, float, json, sum};
use crate::case::{Job, METHOD, PROTO, Work};

pub(super) const PEER: Peer = Peer {
    name: "ghz",
    version: VersionFrom::Option("--version"),
    install: "go install github.com/bojand/ghz/cmd/ghz@v0.121.0",
    arguments,
    read,
    http2: true,
    ..Peer::PLAIN
};

/// Its `-c` is the number of calls in flight over all connections. Calls that are under way at the end are waited for:
/// else it counts them as errors.
fn arguments(job: &Job<'_>) -> Option<Vec<String>> {
    let message = match job.case.work {
        Work::Call => r#"{"name":"pear"}"#,
        Work::CallMix => r#"{"name":"pear-{{.RequestNumber}}"}"#,
        _ => return None,
    };
    let (_, address) = job.url.split_once("://")?;
    let address = address.strip_suffix(job.case.path).unwrap_or(address);
    let (calls, connections) = (job.case.in_flight_max().to_string(), job.case.connections.to_string());
    let time = format!("{}s", job.seconds);
    let how = ["--insecure", "--call", METHOD, "--proto", PROTO, "-d", message];
    let amount = ["-c", &calls, "--connections", &connections, "-z", &time, "--duration-stop", "wait"];
    let words = how.into_iter().chain(amount).chain(["-O", "json", address]);
    Some(words.map(str::to_owned).collect())
}

fn read(output: &str) -> Result<Done, ReadError> {
    let value = json(output)?;
    Ok(Done {
        requests: sum(&value, "/statusCodeDistribution", |code| code == "OK")?,
        requests_per_s: Some(float(&value, "/rps")?),
        service_p50_ns: None,
        faults: counts_but(&value, "/statusCodeDistribution", |code| code == "OK")?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::{Job, PEER, PROTO, arguments};

    const CLEAN: &str =
        r#"{"count": 900, "rps": 300.5, "errorDistribution": {}, "statusCodeDistribution": {"OK": 900}}"#;

    #[test]
    fn outputs() {
        check(&PEER, CLEAN, Ok((900, 300.5, &[])));
        let faulty = CLEAN.replace(r#""OK": 900"#, r#""OK": 898, "Unavailable": 2"#);
        check(&PEER, &faulty, Ok((898, 300.5, &["Unavailable 2"])));
        check(&PEER, "{}", Err("statusCodeDistribution"));
        check(&PEER, "no connection", Err("has no `{`"));
    }

    #[test]
    fn the_command_lines() {
        for (case, message) in
            [("grpc-1x50", r#"{"name":"pear"}"#), ("grpc-mix-1x50", r#"{"name":"pear-{{.RequestNumber}}"}"#)]
        {
            let case = crate::case::find(case)[0];
            let words = arguments(&Job { url: "http://127.0.0.1:1/", case, seconds: 4 }).unwrap();
            let wanted = format!(
                "--insecure --call bench.Greeter/Greet --proto {PROTO} -d {message} -c 50 --connections 1 -z 4s \
                 --duration-stop wait -O json 127.0.0.1:1"
            );
            assert_eq!(words.join(" "), wanted);
        }
        let case = crate::case::find("h2-1x10")[0];
        assert_eq!(arguments(&Job { url: "http://127.0.0.1:1/ping", case, seconds: 4 }), None);
    }
}
