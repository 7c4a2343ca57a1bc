//! Translations as a table: foreign command lines, the native ones, and the plans they come to.

use super::*;
use crate::args::{Args, Command};
use clap::Parser;
use plan::LoadJob;
use schema::experiment::LoadModel;
use units::Nanos;

const URL: &str = "http://127.0.0.1:9/x";

fn words(line: &str) -> Vec<String> {
    line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn translated(line: &str) -> Result<Translation> {
    translate(&words(&format!("--compat {line}"))).expect("--compat is there")
}

fn native(line: &str) -> String {
    let translation = translated(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    translation.line().replacen(&format!("prony load {URL} "), "", 1)
}

/// The plan that a foreign command line comes to, through the native parser.
fn plan(line: &str) -> LoadJob {
    let translation = translated(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    let all = ["prony", "load"].map(str::to_owned).into_iter().chain(translation.arguments);
    let Command::Load(args) =
        Args::try_parse_from(all).unwrap_or_else(|error| panic!("{line}: {error}")).command
    else {
        panic!("{line}: not a load")
    };
    super::super::resolve::resolve(&args).unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn foreign_command_lines_become_native_ones() {
    for (foreign, expected) in [
        ("wrk URL", "-c 10 -t 2 -d 10s --timeout 2s"),
        (
            "wrk -t4 -c 10 -d 2m --latency -H Accept:a --timeout 500ms URL",
            "-c 8 -t 4 -d 2m -H Accept:a --timeout 500ms --latency",
        ),
        ("wrk -t 1 -c 1 -d 30 URL", "-c 1 -t 1 -d 30s --timeout 2s"),
        ("wrk2 -t 2 -c 100 -d 30s -R 2k -L URL", "-c 100 -t 2 -d 30s -R 2000 --timeout 2s --latency"),
        (
            "hey URL",
            "-c 50 -n 200 -H 'Content-Type: text/html' -H 'Accept-Encoding: gzip' --timeout 20s --follow=9",
        ),
        // -q is for each worker; a count at a rate ends by the clock.
        (
            "hey -z 10s -q 100 -c 50 -disable-compression URL",
            "-c 50 -d 10s -R 5000 -H 'Content-Type: text/html' --timeout 20s --follow=9",
        ),
        (
            "hey -n 100 -c 10 -o csv -disable-compression URL",
            "-c 10 -n 100 -H 'Content-Type: text/html' --timeout 20s --follow=9 --each hey.csv",
        ),
        (
            "hey -n 100 -c 10 -o csv --each r.csv -disable-compression URL",
            "-c 10 -n 100 -H 'Content-Type: text/html' --timeout 20s --follow=9 --each r.csv",
        ),
        (
            "hey -n 201 -c 50 -q 1 -disable-compression -T a/b URL",
            "-c 50 -R 50 -d 4s -H 'Content-Type: a/b' --timeout 20s --follow=9",
        ),
        (
            "hey -n 100 -c 10 -m POST -d {} -T application/json -host h -a u:p -t 0 -disable-compression URL",
            "-c 10 -n 100 -m POST -H 'Host: h' -H 'Content-Type: application/json' \
             -H 'Authorization: Basic dTpw' -b '{}' --timeout 1h --follow=9",
        ),
        (
            "hey -disable-keepalive -disable-compression -cpus=2 URL",
            "-c 50 -n 200 -t 2 -H 'Content-Type: text/html' --timeout 20s --disable-keepalive --follow=9",
        ),
        (
            "oha -z 1m30s -q 100 -c 5 --disable-compression URL",
            "-c 5 -d 90s -R 100 -H 'Accept: */*' --timeout 1h --connect-timeout 5s --follow=10",
        ),
        (
            "oha -n 1000 -q 100 -c 5 --disable-compression -t 2s --no-tui URL",
            "-c 5 -R 100 -d 10s -H 'Accept: */*' --timeout 2s --connect-timeout 5s --follow=10 --no-tui",
        ),
        (
            "oha -n 10k --insecure --disable-compression -m PUT -D f URL",
            "-c 50 -n 10000 -m PUT -H 'Accept: */*' -b @f --timeout 1h --connect-timeout 5s --insecure --follow=10",
        ),
        (
            "hey -x 127.0.0.1:1 -disable-redirects -disable-compression URL",
            "-c 50 -n 200 -H 'Content-Type: text/html' --timeout 20s --proxy http://127.0.0.1:1",
        ),
        ("ab -n 1000 -c 10 -k URL", "-c 10 -t 1 -n 1000 -H 'Accept: */*' --timeout 30s"),
        ("ab -n 1000 -c 10 URL", "-c 10 -t 1 -n 1000 -H 'Accept: */*' --timeout 30s --disable-keepalive"),
        ("ab -t 5 -c 2 -k URL", "-c 2 -t 1 -n 50000 -d 5s -H 'Accept: */*' --timeout 30s"),
        ("ab -n 10 -t 5 -c 2 -k URL", "-c 2 -t 1 -n 50000 -d 5s -H 'Accept: */*' --timeout 30s"),
        ("ab -t 5 -n 10 -c 2 -k URL", "-c 2 -t 1 -n 10 -d 5s -H 'Accept: */*' --timeout 30s"),
        (
            "ab -n 9 -k -p f -C a=1 -C b=2 -w -q URL",
            "-c 1 -t 1 -n 9 -m POST -H 'Accept: */*' -H 'Cookie: a=1; b=2' -H 'Content-Type: text/plain' -b @f \
             --timeout 30s --format html --quiet",
        ),
        ("h2load --h1 -n 100 -c 10 -t 2 URL", "-c 10 -t 2 -n 100 --timeout 1h"),
        ("h2load -n 100 -c 10 URL", "-c 10 -t 1 -n 100 --http 2 --timeout 1h"),
        ("h2load -w 16 -W20 URL", "-c 1 -t 1 -n 1 --http 2 -w 16 -W 20 --timeout 1h"),
        ("h2load -p http/1.1 -D 10 -c 10 -m 4 URL", "-c 10 -t 1 -d 10s --pipeline 4 --timeout 1h"),
        (
            "h2load --h1 -D 10 --warm-up-time 2s --rps 50 -c 10 URL",
            "-c 10 -t 1 -d 10s -R 500 --warmup 2s --timeout 1h",
        ),
        (
            "wrk -c1 -t1 -d1s --fail p99>5ms --format json --output r.json URL",
            "-c 1 -t 1 -d 1s --timeout 2s --format json -o r.json --fail 'p99>5ms'",
        ),
    ] {
        assert_eq!(native(&foreign.replace("URL", URL)), expected, "{foreign}");
    }
}

#[test]
fn what_is_translated_resolves_to_the_load_that_the_other_tool_makes() {
    // Tool, model, connections, total rate, total requests, measured seconds.
    type Row = (&'static str, LoadModel, u32, Option<f64>, Option<u64>, Option<u64>);
    let rows: [Row; 7] = [
        ("wrk -t 2 -c 5 -d 3s", LoadModel::Closed, 4, None, None, Some(3)),
        ("wrk2 -R 1k -c 10 -d 3s", LoadModel::Open, 10, Some(1000.0), None, Some(3)),
        ("hey -n 205 -c 10", LoadModel::Closed, 10, None, Some(200), None),
        ("hey -z 2s -q 7 -c 10", LoadModel::Open, 10, Some(70.0), None, Some(2)),
        ("oha -z 2s -q 7 -c 10", LoadModel::Open, 10, Some(7.0), None, Some(2)),
        ("ab -t 2 -c 10 -k", LoadModel::Closed, 10, None, Some(50_000), Some(2)),
        ("h2load --h1 -n 99 -c 3 --rps 11", LoadModel::Open, 3, Some(33.0), None, Some(3)),
    ];
    for (line, model, connections, rate, requests, seconds) in rows {
        let job = plan(&format!("{line} {URL}"));
        let load = &job.load;
        assert_eq!((load.model, load.connections, load.rate_per_s), (model, connections, rate), "{line}");
        assert_eq!(job.requests_max, requests, "{line}");
        let sample_ns = seconds.map_or(u64::MAX, |seconds| Nanos::from_secs(seconds).0);
        assert_eq!(job.phases.sample_ns, sample_ns, "{line}");
    }
}

#[test]
fn ghz_becomes_calls() {
    let native = |line: &str| {
        let translation = translated(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        translation.line().replacen("prony load ", "", 1)
    };
    for (foreign, expected) in [
        (
            "ghz --insecure --call p.S/M --proto s.proto -d {} h:1",
            "http://h:1 --grpc p.S/M --proto s.proto --data '{}' -c 1 --streams 50 -n 200 --call-deadline 20s",
        ),
        (
            "ghz --call p.S/M --proto s.proto -r 0 --cacert a --cert b --key c h:1",
            "https://h:1 --grpc p.S/M --proto s.proto -c 1 --streams 50 -n 200 --call-deadline 20s --cacert a --cert b --key c",
        ),
        (
            "ghz --call p.S.M --protoset s.set -c 100 --connections 4 -z 1m30s -r 500 -t 0 --skipTLS --cname n h:1",
            "https://h:1 --grpc p.S.M --protoset s.set -c 4 --streams 25 -d 90s -R 500 -k --sni n",
        ),
        (
            "ghz --insecure --call p.S/M --proto s.proto -n 50 --stream-call-count 9 --stream-interval 20ms \
             --stream-call-duration 3s h:1",
            "http://h:1 --grpc p.S/M --proto s.proto --messages 9 --message-rate 50/s --stream-for 3s -c 1 \
             --streams 50 -n 50 --call-deadline 20s",
        ),
        (
            "ghz --insecure --call p.S/M --proto s.proto -n 50 --stream-call-count 0 --stream-interval 0 \
             --stream-call-duration 0s h:1",
            "http://h:1 --grpc p.S/M --proto s.proto -c 1 --streams 50 -n 50 --call-deadline 20s",
        ),
        (
            "ghz --insecure --call p.S/M --proto s.proto -i a,b -D m.json -m {\"X\":\"7\"} -n 100 -r 50 -t 500ms -e h:1",
            "http://h:1 --grpc p.S/M --proto s.proto --import-path a --import-path b --data-file m.json \
             --metadata x=7 -c 1 --streams 50 -R 50 -d 2s --call-deadline 500ms --compress gzip",
        ),
    ] {
        assert_eq!(native(foreign), expected, "{foreign}");
    }
    let wrong = |line: &str| translated(line).map(|_| ()).unwrap_err().to_string();
    let call = "ghz --insecure --call p.S/M --proto s.proto";
    for (flags, part) in [
        ("-d {{.RequestNumber}} h:1", "a template of Go"),
        ("-d @ h:1", "standard input"),
        ("-d [{},{}] h:1", "a list of messages"),
        ("-m 7 h:1", "metadata is a JSON object"),
        ("-n 10 h:1", "no fewer calls"),
        ("--connections 60 h:1", "cannot be shared"),
        ("--stream-dynamic-messages h:1", "`--stream-dynamic-messages` cannot be translated"),
    ] {
        let error = wrong(&format!("{call} {flags}"));
        assert!(error.contains(part), "{flags}: no `{part}` in {error}");
    }
    assert!(translated(&format!("{call} -c 51 --connections 2 h:1")).unwrap().notes[0].contains("50 of 51"));
}

#[test]
fn differences_are_told() {
    let notes = |line: &str| translated(&format!("{line} {URL}")).unwrap().notes.join("\n");
    assert!(notes("hey -q 1 -z 1s").contains("whatever the answers do"));
    assert!(notes("hey -n 205 -c 10").contains("200 of 205"));
    assert!(notes("hey").contains("redirects") && !notes("hey -disable-redirects").contains("redirects"));
    assert!(notes("wrk -t 3 -c 10").contains("9 of 10"));
    assert!(notes("ab -k").contains("HTTP/1.0"));
    assert_eq!(notes("wrk -t 1 -c 1"), "");
}

#[test]
fn what_cannot_be_kept_is_an_error() {
    for (line, part) in [
        ("wrj URL", "did you mean `wrk`"),
        ("wrk -s script.lua URL", "`-s` cannot be translated"),
        ("wrk -t 4 -c 2 URL", "2 connections cannot be shared by 4 threads"),
        ("wrk2 URL", "needs a rate"),
        ("hey -n 5 -c 10 URL", "5 requests cannot be shared by 10 workers"),
        ("hey -z soon URL", "`soon` is no duration"),
        ("oha --burst-delay 1s URL", "cannot be translated"),
        ("oha -q 0 URL", "sends nothing"),
        ("ab -n 1 -c 2 URL", "no more connections"),
        ("ab -X proxy URL", "`-X` cannot be translated"),
        ("h2load -t 2 -c 1 URL", "no more threads"),
        ("h2load -n 1 -c 2 URL", "no fewer requests"),
        ("h2load --h1 -m 0 URL", "-m 0"),
        ("hey", "URL"),
    ] {
        let error = translated(&line.replace("URL", URL)).map(|_| line).unwrap_err().to_string();
        assert!(error.contains(part), "{line}: no `{part}` in {error}");
    }
    assert!(translate(&words("-c 1 URL")).is_none(), "without --compat there is nothing to translate");
}

#[test]
fn an_option_that_this_build_lacks_is_named() {
    let translation = Translation { arguments: words(&format!("{URL} --no-such-option")), notes: Vec::new() };
    let all = ["prony", "load"].map(str::to_owned).into_iter().chain(translation.arguments.clone());
    let told = told(&translation, Args::try_parse_from(all).unwrap_err()).to_string();
    assert!(told.contains("needs --no-such-option") && told.contains("prony load http"), "{told}");
}
