//! Traces of a load: ids that follow from seed and number, however many processes make the load; lists that agree with the
//! intervals; refusals.

use crate::command::{Server, bad, done, good};
use crate::load::{check_report, check_schema, wait_until};
use crate::monitoring::Collector;
use schema::load::LoadReport;
use schema::spans::SpansFile;
use schema::traced::{NotableRequest, TraceIds};
use schema::trial::{IntervalLine, Phase, TrialFile};
use serde_json::{Value, json};
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use units::{TraceContext, Tracing};

/// A load of the built-in target, and its intervals.
fn load(server: &Server, folder: &Path, more: &[&str]) -> (LoadReport, Vec<IntervalLine>) {
    let (url, series) = (server.url("/ping"), folder.join("series.ndjson"));
    let own =
        ["load", &url, "-c", "8", "-n", "4k", "--format", "json", "--timeseries", series.to_str().unwrap()];
    let ended = done(&[&own[..], more].concat());
    let report: Value =
        serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.err));
    check_report(&report);
    let lines = std::fs::read_to_string(series).unwrap();
    let line = |line: &str| {
        check_schema("interval", &serde_json::from_str(line).unwrap());
        serde_json::from_str(line).unwrap()
    };
    (serde_json::from_value(report).unwrap(), lines.lines().map(line).collect())
}

/// The list of a whole load is what its intervals have of it.
fn check_lists(report: &LoadReport, lines: &[IntervalLine]) {
    let of = &report.notable;
    let merged = |list: fn(&IntervalLine) -> &Vec<NotableRequest>| {
        let mut all: Vec<NotableRequest> = lines.iter().flat_map(list).cloned().collect();
        all.sort_by_key(|one| (u64::MAX - one.response_ns, one.request));
        all.truncate(8);
        all
    };
    assert_eq!(of.slowest, merged(|line| &line.notable.slowest));
    assert_eq!(of.slowest_sampled, merged(|line| &line.notable.slowest_sampled));
    let longest = report.latency_ns.response.max.unwrap();
    assert!(longest.abs_diff(of.slowest[0].response_ns) * 500 <= longest, "{longest}: {of:?}");
}

#[test]
fn ids_follow_from_seed_and_number_whatever_makes_the_load() {
    let folder = tempfile::tempdir().unwrap();
    for more in [&["-t", "1"][..], &["-t", "4", "--driver", "epoll"], &["--processes", "2", "--http", "2"]] {
        let server = Server::start(&[]);
        let traced = [more, &["--trace-sample", "10%", "--seed", "7"]].concat();
        let (report, lines) = load(&server, folder.path(), &traced);
        let plan = report.plan.load.trace.expect("the plan says it");
        assert_eq!((plan.share, plan.seed), (0.1, 7));
        let of = &report.notable;
        assert_eq!((of.slowest.len(), of.slowest_sampled.len()), (8, 8), "{more:?}");
        for one in of.slowest.iter().chain(&of.slowest_sampled) {
            assert_eq!(one.trace, Some(TraceIds::of(Tracing::new(7, 0.1), one.request)));
            assert!(one.request < 4_000 && one.wait_ns.is_some() && one.status == Some(200), "{one:?}");
        }
        assert!(of.slowest_sampled.iter().all(|one| one.trace.as_ref().unwrap().sampled));
        assert!(lines.iter().all(|line| line.origin_unix_ns == lines[0].origin_unix_ns));
        assert!(lines[0].origin_unix_ns.is_some());
        check_lists(&report, &lines);
    }
}

#[test]
fn without_traces_the_lists_have_numbers_alone() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&[]);
    let (report, lines) = load(&server, folder.path(), &["-t", "2"]);
    assert!(report.plan.load.trace.is_none() && lines[0].origin_unix_ns.is_none());
    assert!(report.notable.slowest.iter().all(|one| one.trace.is_none()));
    assert!(report.notable.slowest_sampled.is_empty());
    check_lists(&report, &lines);
}

#[test]
fn the_text_lists_the_slowest_with_traces_only() {
    let server = Server::start(&[]);
    let url = server.url("/ping");
    let load = ["load", &url, "-c", "2", "-n", "200"];
    let traced = good(&[&load[..], &["--trace-sample", "1"]].concat()).out;
    assert!(traced.contains("slowest requests") && traced.contains("trace id"), "{traced}");
    assert!(!traced.contains("slowest sampled requests"), "all are sampled: {traced}");
    assert!(!good(&load).out.contains("slowest requests"));
}

#[test]
fn a_header_of_the_users_own_a_script_and_shares_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("get.lua");
    std::fs::write(&script, "wrk.method = 'GET'").unwrap();
    let experiment = folder.path().join("own.toml");
    let text = "[experiment]\nname = \"own\"\n[[target]]\nname = \"r\"\nreference = { law = \"constant\", mean = \"1ms\" }\n\
        [scenario]\nrequest = { path = \"/ping\", headers = { TraceParent = \"x\" } }\n[load]\nmodel = \"closed\"\ntrace = \"1%\"\n";
    std::fs::write(&experiment, text).unwrap();
    let url = "http://127.0.0.1:9/";
    let own = "a header traceparent, and the load would add its own";
    bad(
        &["load", url, "--trace-sample", "1%", "-H", "Traceparent: 00-x"],
        1,
        &["--trace-sample", own, "remedy:"],
    );
    bad(
        &["load", url, "--trace-sample", "1%", "-s", script.to_str().unwrap()],
        1,
        &["a script writes its own requests"],
    );
    bad(&["load", url, "--trace-sample", "101%"], 1, &["--trace-sample", "from 0 to 100%"]);
    bad(&["load", url, "--trace-sample", "few"], 1, &["is no share"]);
    bad(&["plan", experiment.to_str().unwrap()], 1, &["load.trace", own, "remedy:"]);
}

#[test]
fn trials_of_a_run_have_ids_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let run = traced_run(folder.path());
    let trials: Vec<TrialFile> = (1..=2)
        .map(|id| {
            let trial = Path::new(&run).join(format!("trials/{id:04}"));
            let lines = std::fs::read_to_string(trial.join("intervals.ndjson")).unwrap();
            let lines = lines.lines().map(|line| serde_json::from_str::<IntervalLine>(line).unwrap());
            let file: TrialFile =
                serde_json::from_str(&std::fs::read_to_string(trial.join("trial.json")).unwrap()).unwrap();
            let measured: Vec<_> = lines.filter(|line| line.phase != Some(Phase::Warmup)).collect();
            check_lists(file.load.as_ref().unwrap(), &measured);
            file
        })
        .collect();
    let seeds = trials.iter().map(|trial| trial.load.as_ref().unwrap().plan.load.trace.unwrap().seed);
    let seeds: Vec<u64> = seeds.collect();
    assert_ne!(seeds[0], seeds[1]);
    for (trial, seed) in trials.iter().zip(seeds) {
        let slowest = &trial.load.as_ref().unwrap().notable.slowest_sampled;
        assert!(!slowest.is_empty());
        let tracing = Tracing::new(seed, 0.5);
        assert!(slowest.iter().all(|one| one.trace == Some(TraceIds::of(tracing, one.request))));
    }
}

/// A run of two trials whose requests have traces.
pub(crate) fn traced_run(folder: &Path) -> String {
    run_with(folder, "0.5", "")
}

/// A run of two blocks with these levels of `trace`.
fn run_with(folder: &Path, trace: &str, more: &str) -> String {
    let experiment = folder.join("traced.toml");
    let text = format!(
        "[experiment]\nname = \"traced\"\nblocks = 2\n[[target]]\nname = \"one\"\n\
        reference = {{ law = \"constant\", mean = \"1ms\" }}\n[scenario]\nrequest = {{ path = \"/ping\" }}\n\
        [load]\nmodel = \"closed\"\nconnections = 2\ntrace = {trace}\n\
        [phases]\nwarmup = {{ at_least = \"100ms\", at_most = \"100ms\" }}\nsample = \"1s\"\nsamples = 1\n{more}"
    );
    std::fs::write(&experiment, text).unwrap();
    let runs = folder.join("runs");
    // Too few blocks for a verdict, and on a busy host a void trial: its requests are there all the same.
    done(&["run", experiment.to_str().unwrap(), "--runs", runs.to_str().unwrap()]);
    let run = std::fs::read_dir(&runs).unwrap().next().expect("a run").unwrap().path();
    run.to_str().unwrap().to_owned()
}

/// The fewest and the most bytes that a request of a trial can have: some were written and not answered.
fn request_bytes(run: &str, id: u32) -> (f64, f64) {
    let file = Path::new(run).join(format!("trials/{id:04}/intervals.ndjson"));
    let lines = std::fs::read_to_string(file).unwrap();
    let lines: Vec<IntervalLine> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sent = lines.iter().map(|line| line.written_bytes).sum::<u64>() as f64;
    let answered = lines.iter().map(|line| line.completed).sum::<u64>() as f64;
    (sent / (answered + 2.0), sent / answered)
}

#[test]
fn one_run_holds_requests_with_a_trace_against_those_without() {
    let folder = tempfile::tempdir().unwrap();
    let claim = "[[claim]]\ntext = \"A header costs little\"\nmetric = \"cpu_per_request\"\nratio = \"<= 1.5\"\n\
        better = \"one\"\nat = { trace = \"50%\" }\nthan = \"one\"\nthan_at = { trace = \"off\" }\n";
    let run = run_with(folder.path(), "[\"off\", \"50%\"]", claim);
    let file = read(&Path::new(&run).join("run.json"));
    let plan = &file["plan"];
    let labels: Vec<_> =
        plan["cells"].as_array().unwrap().iter().map(|cell| cell["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["one, 2 connections, trace off", "one, 2 connections, trace 50%"]);
    let mut bytes = [(0.0, 0.0); 2];
    for id in 1..=4 {
        let file: TrialFile =
            serde_json::from_value(read(&Path::new(&run).join(format!("trials/{id:04}/trial.json"))))
                .unwrap();
        let load = file.load.as_ref().unwrap();
        let is_on = file.cell == "c2";
        assert_eq!(load.plan.load.trace.map(|trace| trace.share), is_on.then_some(0.5), "{id}");
        assert!(load.notable.slowest.iter().all(|one| one.trace.is_some() == is_on));
        assert_eq!(load.notable.slowest_sampled.is_empty(), !is_on);
        bytes[usize::from(is_on)] = request_bytes(&run, id);
    }
    // Name, colon, blank and end of line beside the value; ports of targets may differ by a digit.
    let header = (TraceContext::HEADER.len() + TraceContext::BYTES + 4) as f64;
    let [off, on] = bytes;
    assert!(on.0 - off.1 <= header + 1.0 && header - 1.0 <= on.1 - off.0, "{bytes:?}");
    let report = std::fs::read_to_string(Path::new(&run).join("report.md")).unwrap();
    for text in ["2 connections, trace off", "2 connections, trace 50%", "A header costs little"] {
        assert!(report.contains(text), "{text}: {report}");
    }
}

/// How often a collector has printed a span with these ids: once each, or it was sent twice.
fn spans_of(printed: &str, of: &NotableRequest) -> usize {
    let trace = of.trace.as_ref().expect("it has a trace");
    let begin = format!("Trace ID       : {}\n", trace.trace_id);
    let parts = printed.match_indices(&begin).map(|(at, _)| &printed[at..printed.len().min(at + 400)]);
    parts.filter(|part| part.contains(&trace.span_id)).count()
}

fn listed(report: &LoadReport) -> impl Iterator<Item = &NotableRequest> {
    report.notable.slowest_sampled.iter().chain(&report.notable.failures_sampled)
}

#[test]
fn every_listed_sampled_request_is_found_once_in_a_real_collector() {
    let Some(program) = Collector::program() else {
        println!("skipped: spans in a real collector, because otelcol is missing (see opentelemetry.io)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start(program, folder.path());
    let server = Server::start(&["--error-rate", "0.05"]);
    // Longer than the time between two pushes: spans come while the load lasts, and the rest at its end.
    let (url, to) = (server.url("/ping"), collector.url());
    let load = ["load", &url, "-c", "4", "-R", "300", "-d", "12s", "--format", "json", "--errors-ok"];
    let ended = done(&[&load[..], &["--trace-sample", "10%", "--metrics-otlp", &to]].concat());
    let report: LoadReport = serde_json::from_str(&ended.out).unwrap();
    assert!(listed(&report).count() > 12, "{:?}", report.notable);
    let is_whole = || listed(&report).all(|one| spans_of(&collector.printed(), one) > 0);
    wait_until("every listed request is printed", is_whole);
    let printed = collector.printed();
    for one in listed(&report) {
        assert_eq!(spans_of(&printed, one), 1, "{one:?}");
    }
    assert!(
        printed.contains("prony.request: Int(") && printed.contains("error.type: Str(unexpected_status)")
    );
    let slowest = &report.notable.slowest_sampled[0].trace.as_ref().unwrap().trace_id;
    assert!(printed.contains(&format!("-> Trace ID: {slowest}")), "an exemplar of the histogram: {printed}");
    assert!(!ended.err.contains("note: the collector"), "{}", ended.err);
}

/// A load whose collector is no good is whole, and a note says why the collector has nothing.
fn check_without_collector(collector: SocketAddr, why: &str) {
    let server = Server::start(&[]);
    let to = format!("http://{collector}");
    let url = server.url("/ping");
    let load = ["load", &url, "-c", "8", "-n", "4k", "--trace-sample", "10%", "--format", "json"];
    let ended = done(&[&load[..], &["--metrics-otlp", &to]].concat());
    let report: LoadReport = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((report.requests.completed, report.notable.slowest_sampled.len()), (4_000, 8));
    assert!(
        ended.err.contains(&format!("note: the collector at {to} did not take the values: {why}")),
        "{}",
        ended.err
    );
    // 2 where this host was too busy for a valid load.
    assert_eq!(ended.code, if report.validity.ok { 0 } else { 2 });
}

#[test]
fn a_dead_collector_changes_no_result_and_is_a_note() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    check_without_collector(free, "");
}

/// A collector that begins every answer so, and then goes on with the same part until nobody reads; without a part it
/// says nothing more and keeps the connection.
fn hanging(begin: &'static [u8], part: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let _ = connection.write_all(begin);
            while !part.is_empty() && connection.write_all(part).is_ok() {}
            kept.push(connection);
        }
    });
    address
}

#[test]
fn a_collector_that_never_answers_changes_no_result_and_is_a_note() {
    check_without_collector(hanging(b"", b""), "no ");
    check_without_collector(hanging(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", b""), "");
}

#[test]
fn a_collector_whose_answer_has_no_end_changes_no_result_and_is_a_note() {
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check_without_collector(hanging(head, b"4\r\nmore\r\n"), "");
    check_without_collector(hanging(b"HTTP/1.1 200 OK\r\n", b"X-More: more\r\n"), "");
}

/// A line of a collector's file exporter: spans of a trace as (id, parent, name, begin, end).
fn otlp_line(service: &str, trace: &str, spans: &[(u64, &str, &str, u64, u64)]) -> String {
    let span = |(id, parent, name, start, end): &(u64, &str, &str, u64, u64)| {
        json!({
            "traceId": trace, "spanId": format!("{id:016x}"), "parentSpanId": parent, "name": name, "kind": 2,
            "startTimeUnixNano": start.to_string(), "endTimeUnixNano": end.to_string(),
        })
    };
    let attributes = json!([{ "key": "service.name", "value": { "stringValue": service } }]);
    let spans: Vec<Value> = spans.iter().map(span).collect();
    let resource = json!({ "resource": { "attributes": attributes }, "scopeSpans": [{ "spans": spans }] });
    json!({ "resourceSpans": [resource] }).to_string() + "\n"
}

#[test]
fn why_shows_where_the_time_of_slow_requests_went_and_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = traced_run(folder.path());
    let trial: Value = read(&Path::new(&run).join("trials/0001/trial.json"));
    let slowest: NotableRequest =
        serde_json::from_value(trial["load"]["notable"]["slowest_sampled"][0].clone()).unwrap();
    let ids = slowest.trace.clone().unwrap();
    // On a host whose clock is an hour off: half of the response in the handler, of that half in the database.
    let (begin, half) = (3_600_000_000_000, slowest.response_ns / 2);
    let own = u64::from_str_radix(&ids.span_id, 16).unwrap();
    let handler = (1, ids.span_id.as_str(), "GET /ping", begin, begin + half);
    let query = (2, "0000000000000001", "SELECT\u{1b}[31m", begin + 10, begin + 10 + half / 2);
    let text = otlp_line("shop", &ids.trace_id, &[handler])
        + "nonsense\n"
        + &otlp_line("database", &ids.trace_id, &[query])
        + &otlp_line("prony", &ids.trace_id, &[(own, "", "inline", begin, begin + 9)])
        + &otlp_line("shop", "000000000000000000000000000000ff", &[handler]);
    let file = folder.path().join("traces.jsonl");
    std::fs::write(&file, text).unwrap();
    let found: Value = serde_json::from_str(
        &good(&["why", &run, "--spans", file.to_str().unwrap(), "--format", "json"]).out,
    )
    .unwrap();
    check_schema("why", &found);
    let kept = read(&Path::new(&run).join("spans.json"));
    check_schema("spans", &kept);
    assert_eq!(found["spans"], kept);
    let spans: SpansFile = serde_json::from_value(kept).unwrap();
    assert_eq!((spans.lines, spans.lines_skipped, spans.requests.len()), (5, 1, 1));
    assert!(spans.requests_missing >= 7, "{spans:?}");
    let one = &spans.requests[0];
    assert_eq!((one.request.request, one.outside_ns), (slowest.request, slowest.response_ns - half));
    let rows: Vec<_> =
        one.spans.iter().map(|span| (span.service.as_str(), span.depth, span.self_ns)).collect();
    assert_eq!(rows, [("shop", 0, half - half / 2), ("database", 1, half / 2)]);
    // The file of the run is enough from now on, and no target moves the cursor.
    let text = good(&["why", &run]).out;
    assert!(text.contains("GET /ping") && text.contains("database") && !text.contains('\u{1b}'), "{text}");
    check_report_shows(&run, &slowest);
    std::fs::write(&file, "no traces\n").unwrap();
    bad(&["why", &run, "--spans", file.to_str().unwrap()], 1, &["no traces of OpenTelemetry", "remedy:"]);
}

/// Its report lists the request and its spans, also when it is made again; where spans cannot be read, without them.
fn check_report_shows(run: &str, slowest: &NotableRequest) {
    let trace = &slowest.trace.as_ref().unwrap().trace_id;
    let kept = std::fs::read_to_string(Path::new(run).join("report.md")).unwrap();
    let trial: Value = read(&Path::new(run).join("trials/0001/trial.json"));
    // On a busy host a trial may be void, and void trials are in no list.
    let is_valid = trial["outcome"] == "valid";
    for format in ["markdown", "html-plain", "page"] {
        let text = done(&["report", run, "--format", format]).out;
        assert_eq!(text.contains(trace.as_str()), is_valid, "{format}: {text}");
        assert_eq!(text.contains("SELECT"), is_valid, "{format}: {text}");
        assert!(!text.contains('\u{1b}') && !text.contains("\\u001b"), "{format}");
        assert!(format != "markdown" || text == kept);
    }
    let spans = Path::new(run).join("spans.json");
    let whole = std::fs::read(&spans).unwrap();
    std::fs::write(&spans, "{").unwrap();
    let text = done(&["report", run, "--format", "markdown"]).out;
    assert!(text.contains(trace.as_str()) == is_valid && !text.contains("SELECT"), "{text}");
    std::fs::write(&spans, whole).unwrap();
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}
