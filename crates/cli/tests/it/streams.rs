//! Streams of messages from end to end: both ledgers balance and say what the server counted, on both drivers, also where it
//! does not keep to the rules; experiments have them, and claims about them.

use crate::command::{Done, bad, done, good, measured};
use crate::load::check_report;
use crate::run::{Lab, read};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use tempfile::TempDir;
use testkit::http2::{Act, Raw, Talk};

const SHOP: &str = "syntax = \"proto3\";
package shop;
message Item { int64 id = 1; string name = 2; }
service Cart {
  rpc Add(Item) returns (Item);
  rpc Watch(Item) returns (stream Item);
  rpc Fill(stream Item) returns (Item);
  rpc Chat(stream Item) returns (stream Item);
}
";
const DRIVERS: [&str; 2] = ["epoll", "auto"];

fn talking(talk: Talk) -> Raw {
    Raw::start(vec![vec![Act::Settings(vec![(3, 100)]), Act::Talk(talk)]])
}

/// Messages of streams that the server read and sent.
fn counted(peer: &Raw) -> [u64; 2] {
    [&peer.seen().messages, &peer.seen().said].map(|count| count.load(SeqCst))
}

/// A folder with the file that says what is called.
struct Shop {
    folder: TempDir,
}

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("shop.proto"), SHOP).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn load(&self, peer: &Raw, method: &str, args: &[&str]) -> Done {
        let (url, method) = (format!("http://{}", peer.addr()), format!("shop.Cart/{method}"));
        let proto = self.path("shop.proto");
        let call = ["load", &url, "--grpc", &method, "--proto", proto.to_str().unwrap()];
        done(&[&call[..], args].concat())
    }

    /// The report of a load that may fail requests, with its ledgers checked.
    fn report(&self, peer: &Raw, method: &str, args: &[&str]) -> Value {
        let done = self.load(peer, method, &[args, &["--format", "json", "--errors-ok"]].concat());
        let report = serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"));
        check_report(&report);
        report
    }
}

fn ledger(report: &Value) -> [u64; 4] {
    ["scheduled", "completed", "failed", "censored"].map(|key| report["messages"][key].as_u64().unwrap())
}

#[test]
fn both_ledgers_say_what_the_server_counted() {
    let shop = Shop::new();
    for driver in DRIVERS {
        for (method, talk, args, messages, counts) in [
            ("Watch", Talk::Sends(7), &[][..], 40, [40, 280]),
            ("Fill", Talk::Collects, &["--messages", "9"], 360, [360, 40]),
            ("Chat", Talk::Echo, &["--messages", "9", "--in-flight", "3"], 360, [360, 360]),
        ] {
            let peer = talking(talk);
            let shape =
                ["--data", "{\"id\": 7}", "-c", "2", "--streams", "4", "-n", "40", "--driver", driver];
            let report = shop.report(&peer, method, &[&shape[..], args].concat());
            assert_eq!(
                report["requests"]["completed"], 40,
                "{driver} {method}: {}",
                report["error_examples"]
            );
            assert_eq!(ledger(&report), [messages, messages, 0, 0], "{driver} {method}");
            assert_eq!(counted(&peer), counts, "{driver} {method}");
            assert_eq!(report["messages"]["received"], counts[1], "{driver} {method}");
            assert_eq!(report["messages"]["first_message"]["count"], 40, "{driver} {method}");
            assert_eq!(report["messages"]["gap"]["count"], counts[1] - 40, "{driver} {method}");
            let sent = if method == "Watch" { 7 } else { 9 };
            let length =
                json!({ "streams": 40, "mean": f64::from(sent), "min": sent, "p50": sent, "max": sent });
            assert_eq!(report["messages"]["per_stream"], length, "{driver} {method}");
        }
    }
}

#[test]
fn calls_without_streams_have_no_second_ledger() {
    let peer = talking(Talk::Collects);
    let report = Shop::new().report(&peer, "Add", &["-c", "1", "-n", "3"]);
    assert_eq!((&report["requests"]["completed"], &report["messages"]), (&3.into(), &Value::Null));
}

/// Messages have a schedule of their own: what is due when the load ends is censored, and nothing is dropped.
#[test]
fn messages_of_an_open_load_are_scheduled_apart() {
    let shop = Shop::new();
    for driver in DRIVERS {
        let peer = talking(Talk::Echo);
        let series = shop.path("series.ndjson");
        let args = ["-R", "40", "-d", "1s", "-c", "2", "--streams", "40", "--message-rate", "100"];
        let more = ["--messages", "10", "--driver", driver, "--timeseries", series.to_str().unwrap()];
        let report = shop.report(&peer, "Chat", &[&args[..], &more].concat());
        let [scheduled, completed, failed, censored] = ledger(&report);
        assert_eq!((&report["requests"]["scheduled"], failed), (&40.into(), 0), "{driver}");
        assert!(scheduled <= 400 && completed > 0, "{driver}: {}", report["messages"]);
        let lines = std::fs::read_to_string(&series).unwrap();
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let over = ["scheduled", "completed", "failed", "censored"]
            .map(|key| lines.iter().map(|line| line["messages"][key].as_u64().unwrap()).sum::<u64>());
        assert_eq!(over, [scheduled, completed, failed, censored], "{driver}: intervals add up to the whole");
    }
}

#[test]
fn generator_processes_share_streams_and_their_ledger() {
    let shop = Shop::new();
    let peer = talking(Talk::Echo);
    let args = ["--processes", "2", "-t", "2", "-c", "2", "-n", "20", "--messages", "6"];
    let report = shop.report(&peer, "Chat", &args);
    assert_eq!((&report["requests"]["completed"], ledger(&report)), (&20.into(), [120, 120, 0, 0]));
    assert_eq!((counted(&peer), &report["messages"]["response"]["count"]), ([120, 120], &120.into()));
}

#[test]
fn a_server_that_breaks_the_rules_ends_in_a_class_and_loses_nothing() {
    let shop = Shop::new();
    let second = Duration::from_secs(1);
    for driver in DRIVERS {
        for (talk, class, words, messages) in [
            (Talk::Silent, "timeout", "nothing came on the stream in time", [6, 0, 6, 0]),
            (Talk::Drips(second), "timeout", "nothing came on the stream in time", [6, 0, 6, 0]),
            (Talk::ResetsAfter(2), "stream_reset", "INTERNAL_ERROR", [18, 12, 6, 0]),
            (Talk::TooLong, "protocol", "4194305 bytes", [6, 0, 6, 0]),
            (Talk::NoTrailers, "protocol", "status", [30, 30, 0, 0]),
        ] {
            let peer = talking(talk);
            let args = ["-c", "1", "--streams", "2", "-n", "6", "--messages", "5", "--timeout", "300ms"];
            let report = shop.report(&peer, "Chat", &[&args[..], &["--driver", driver]].concat());
            let errors = &report["errors"];
            assert_eq!(errors, &json!({ (class): 6 }), "{driver} {talk:?}: {}", report["error_examples"]);
            let example = report["error_examples"][class][0].as_str().unwrap();
            assert!(example.contains(words), "{driver} {talk:?}: {example}");
            assert_eq!(ledger(&report), messages, "{driver} {talk:?}");
        }
    }
}

/// Silence is no answer, however long: its messages count above every time.
#[test]
fn messages_that_are_never_answered_lie_above_every_percentile() {
    let peer = talking(Talk::Silent);
    let args = ["-c", "1", "--streams", "1", "-n", "2", "--messages", "5", "--timeout", "100ms"];
    let report = Shop::new().report(&peer, "Fill", &args);
    assert_eq!(report["errors"], json!({ "timeout": 2 }));
    assert_eq!((ledger(&report), counted(&peer)), ([10, 0, 10, 0], [10, 0]));
    assert_eq!(report["messages"]["first_message"]["count"], 0);
}

#[test]
fn people_and_spreadsheets_see_the_ledger() {
    let shop = Shop::new();
    let args = ["-c", "1", "--streams", "2", "-n", "10", "--messages", "50", "--in-flight", "5"];
    let text = shop.load(&talking(Talk::Echo), "Chat", &[&args[..], &["--format", "text"]].concat());
    for part in [
        "messages     500 scheduled = 500 completed + 0 failed + 0 censored",
        "received     500 messages",
        "50.0 on each stream",
        "message response",
        "first message",
        "message gap",
    ] {
        assert!(text.out.contains(part), "no `{part}` in\n{}", text.out);
    }
    let csv = shop.load(&talking(Talk::Echo), "Chat", &[&args[..], &["--format", "csv"]].concat()).out;
    let (names, values) = csv.trim_end().split_once('\n').unwrap();
    let value =
        |name: &str| names.rsplit(',').zip(values.rsplit(',')).find(|(found, _)| *found == name).unwrap().1;
    assert_eq!(
        ["scheduled_messages", "completed_messages", "failed_messages"].map(value),
        ["500", "500", "0"]
    );
    assert_eq!((value("messages_per_stream"), value("received_messages")), ("50", "500"));
    assert!(value("message_gap_p99_ns").parse::<u64>().is_ok(), "{csv}");
    let page = shop.path("page.html");
    let output = ["-o", page.to_str().unwrap()];
    shop.load(&talking(Talk::Echo), "Chat", &[&args[..], &output].concat());
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("500 scheduled = 500 completed + 0 failed + 0 censored"), "{page}");
}

#[test]
fn settings_that_a_method_leaves_no_room_for_are_refused_before_a_connection() {
    let shop = Shop::new();
    let peer = talking(Talk::Echo);
    let (url, proto) = (format!("http://{}", peer.addr()), shop.path("shop.proto"));
    for (method, args, cause) in [
        ("Add", &["--messages", "3"][..], "--messages: `shop.Cart/Add` takes one message"),
        ("Add", &["--message-rate", "3"], "--message-rate: `shop.Cart/Add` takes one message"),
        ("Watch", &["--stream-for", "1s"], "--stream-for: `shop.Cart/Watch` takes one message"),
        ("Watch", &["--in-flight", "2"], "--in-flight: `shop.Cart/Watch` takes one message"),
        ("Fill", &["--in-flight", "2"], "--in-flight: `shop.Cart/Fill` answers with one message"),
        ("Chat", &["--messages", "0"], "--messages: a stream without messages"),
        ("Chat", &["--in-flight", "0"], "--in-flight: so many messages cannot be in flight"),
        ("Chat", &["--message-rate", "20M"], "--message-rate: not a rate of messages"),
        ("Chat", &["--stream-for", "0s"], "--stream-for"),
    ] {
        let method = format!("shop.Cart/{method}");
        let call = ["load", &url, "--grpc", &method, "--proto", proto.to_str().unwrap()];
        bad(&[&call[..], args].concat(), 1, &[cause]);
    }
    assert_eq!(peer.seen().connections.load(SeqCst), 0);
}

#[test]
fn every_message_of_a_stream_is_checked() {
    let shop = Shop::new();
    let file = shop.path("checked.toml");
    for driver in DRIVERS {
        for (id, completed, failed) in [(1, 20, 0), (2, 0, 20)] {
            let peer = talking(Talk::Sends(7));
            let text = format!(
                "schema = \"prony.scenario/1\"\nname = \"s\"\n[request]\n\
                 grpc = {{ method = \"shop.Cart/Watch\", proto = [\"shop.proto\"] }}\n\
                 [expect]\nmessage_equals = {{ \"/id\" = {id} }}\n"
            );
            std::fs::write(&file, text).unwrap();
            let (url, file) = (format!("http://{}", peer.addr()), file.to_str().unwrap());
            let args = ["load", &url, "--scenario", file, "-n", "20", "-c", "2", "--driver", driver];
            let done = done(&[&args[..], &["--format", "json", "--errors-ok"]].concat());
            let report: Value =
                serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"));
            check_report(&report);
            assert_eq!(report["requests"]["completed"], completed, "{done:?}");
            assert_eq!(report["errors"]["check"].as_u64().unwrap_or(0), failed, "{done:?}");
            assert_eq!(report["messages"]["received"], 140, "{}", report["messages"]);
        }
    }
}

/// An experiment whose target is this server, and whose scenario is this stream.
fn lab(peer: &Raw, claims: &str) -> Lab {
    let target = format!("[[target]]\nname = \"cart\"\nurl = \"http://{}\"", peer.addr());
    let lab = Lab::new(&target, claims, "blocks = 5\nseed = 1");
    let proto = lab.folder.path().join("shop.proto");
    std::fs::write(&proto, SHOP).unwrap();
    let text = std::fs::read_to_string(&lab.file).unwrap();
    let (before, rest) = text.split_once("[scenario]\n").unwrap();
    let (_, after) = rest.split_once("[load]\n").unwrap();
    let scenario = format!(
        "[scenario]\n[scenario.request.grpc]\nmethod = \"shop.Cart/Chat\"\nproto = [{:?}]\n\
         message = {{ id = 7 }}\nmessages = 20\nin_flight = 4\n",
        proto.to_str().unwrap()
    );
    std::fs::write(&lab.file, format!("{before}{scenario}[load]\n{after}")).unwrap();
    lab
}

/// The ledger of each trial, and whether the trial counts: the host may have made it void, and it was run again.
fn ledgers_of_trials(run: &Path) -> Vec<(bool, Value)> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(run.join("trials")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let trials = folders.iter().map(|folder| read(&folder.join("trial.json")));
    trials.map(|trial| (trial["outcome"] == "valid", trial["load"]["messages"].clone())).collect()
}

/// Messages by the lines of the intervals of all trials.
fn by_intervals(run: &Path, key: &str) -> u64 {
    let trials = std::fs::read_dir(run.join("trials")).unwrap();
    let lines = trials.flat_map(|trial| {
        let text = std::fs::read_to_string(trial.unwrap().path().join("intervals.ndjson")).unwrap();
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
    });
    lines.map(|line| line["messages"][key].as_u64().unwrap_or(0)).sum()
}

/// The same as a Prometheus would read them.
fn by_metrics(page: &str, key: &str) -> u64 {
    let name = format!("prony_messages_{key}_total{{");
    let samples = page.lines().filter(|line| line.starts_with(&name));
    samples.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() as u64).sum()
}

#[test]
fn an_experiment_has_the_ledger_and_claims_about_messages() {
    let claims = [
        ("messages_completed", ">= 1"),
        ("messages_received", ">= 1"),
        ("first_message_p50", "< 10s"),
        ("stream_length", "19.9 to 20.1"),
    ];
    let claims: String = claims
        .iter()
        .map(|(metric, is)| {
            format!("[[claim]]\ntext = \"{metric}\"\nmetric = \"{metric}\"\nof = \"cart\"\nis = \"{is}\"\n")
        })
        .collect();
    let peer = talking(Talk::Echo);
    let lab = lab(&peer, &claims);
    let done = measured(&lab.args());
    let run = lab.run();
    let ledgers = ledgers_of_trials(&run);
    assert!(ledgers.len() >= 5, "{}", ledgers.len());
    for (_, ledger) in &ledgers {
        let count = |key: &str| ledger[key].as_u64().unwrap();
        assert!(count("scheduled") > 0, "{ledger}");
        assert_eq!(count("scheduled"), count("completed") + count("failed") + count("censored"), "{ledger}");
    }
    let page = good(&["metrics", run.to_str().unwrap()]).out;
    for key in ["scheduled", "completed", "failed", "received"] {
        assert_eq!(by_metrics(&page, key), by_intervals(&run, key), "{key}: {page}");
    }
    assert!(by_metrics(&page, "received") > 0, "{page}");
    if done.code != 0 {
        return; // Void for what else the host did; what was counted stands above.
    }
    let analysis = read(&run.join("analysis.json"));
    if ledgers.iter().filter(|(is_valid, _)| *is_valid).count() < 5 {
        return println!("skipped: claims about messages, because this host made too many trials void");
    }
    let verdicts: Vec<&Value> =
        analysis["claims"].as_array().unwrap().iter().map(|claim| &claim["verdict"]).collect();
    assert_eq!(verdicts[..3], ["holds"; 3], "{}", analysis["claims"]);
    // Five equal values are too few for a joint verdict of four claims.
    assert_eq!(analysis["claims"][3]["value"], 20.0, "{}", analysis["claims"]);
    let cell = &analysis["cells"][0]["messages"];
    let counted = ledgers.iter().filter(|(is_valid, _)| *is_valid);
    let sum: u64 = counted.map(|(_, ledger)| ledger["scheduled"].as_u64().unwrap()).sum();
    assert_eq!((&cell["scheduled"], &cell["per_stream"]), (&sum.into(), &20.0.into()));
    let folder = run.to_str().unwrap();
    for format in ["markdown", "html-plain"] {
        let page = good(&["report", folder, "--format", format]).out;
        assert!(page.contains("Messages on streams"), "{format}: {page}");
    }
}
