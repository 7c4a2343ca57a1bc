//! A load and a run as monitoring sees them: scraped while they last, pushed at their end, by real components where the
//! host has them.

use crate::command::{Server, done, good, is_there, prony, root};
use crate::dashboards::check_panels;
use crate::load::{check_report, wait_until};
use crate::program::Program;
use crate::prometheus::Prometheus;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0";

/// A load that goes on until it is ended, and where it answers monitoring.
pub(crate) struct Watched {
    load: Child,
    pub(crate) addr: SocketAddr,
}

impl Watched {
    fn begin(server: &Server) -> Self {
        let url = server.url("/ping");
        Self::of(&["load", &url, "-c", "4", "-R", "400", "-d", "10m", "--format", "json"])
    }

    /// A command that makes load.
    pub(crate) fn of(words: &[&str]) -> Self {
        let mut load = prony(&[words, &["--metrics-listen", "127.0.0.1:0"]].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(load.stderr.take().unwrap()).lines().map_while(Result::ok);
        let told = lines.find_map(|line| {
            Some(line.strip_prefix("metrics: http://")?.strip_suffix("/metrics")?.to_owned())
        });
        // The rest of what it says must go somewhere.
        std::thread::spawn(move || lines.count());
        Self { load, addr: told.expect("it says where").parse().expect("an address") }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.load)
    }

    fn scrape(&self, accept: &str) -> String {
        String::from_utf8(get(self.addr, "/metrics", accept)).expect("text")
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.load.kill();
        let _ = self.load.wait();
    }
}

/// An answer, head and body; empty where nobody listens.
fn answer(addr: SocketAddr, path: &str, accept: &str) -> Vec<u8> {
    let Ok(mut stream) = TcpStream::connect(addr) else { return Vec::new() };
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {addr}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

/// The body of an answer with status 200.
fn get(addr: SocketAddr, path: &str, accept: &str) -> Vec<u8> {
    let mut answer = answer(addr, path, accept);
    assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer));
    let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head") + 4;
    answer.split_off(head)
}

/// Sum of a metric over its series that have all of `labels`.
fn sum(text: &str, metric: &str, labels: &[&str]) -> f64 {
    let of = |line: &&str| {
        line.starts_with(&format!("{metric}{{")) && labels.iter().all(|label| line.contains(label))
    };
    text.lines().filter(of).map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

#[test]
fn a_load_is_seen_while_it_lasts_and_nobody_answers_after_it() {
    let server = Server::start(&[]);
    let mut watched = Watched::begin(&server);
    wait_until("answers are counted", || {
        sum(&watched.scrape(OPENMETRICS), "prony_response_seconds_count", &[]) > 0.0
    });
    let text = watched.scrape(OPENMETRICS);
    assert!(
        text.ends_with("# EOF\n") && text.contains("# TYPE prony_requests_completed counter\n"),
        "{text}"
    );
    let completed = sum(&text, "prony_requests_completed_total", &["cell=\"load\"", "phase=\"sample\""]);
    assert_eq!(sum(&text, "prony_response_seconds_count", &[]), completed, "{text}");
    assert_eq!(sum(&text, "prony_run_in_progress", &[]), 1.0, "{text}");
    let older = watched.scrape("text/plain");
    assert!(
        older.contains("# TYPE prony_requests_completed_total counter\n") && !older.contains("# EOF"),
        "{older}"
    );
    kill_process(watched.pid(), Signal::INT).unwrap();
    let mut out = String::new();
    watched.load.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let report: Value = serde_json::from_str(&out).unwrap();
    check_report(&report);
    assert_eq!(watched.load.wait().unwrap().code(), Some(130));
    assert!(TcpStream::connect(watched.addr).is_err(), "the process that answered went with the load");
}

#[test]
fn who_answers_goes_with_a_load_that_is_killed() {
    let server = Server::start(&[]);
    let mut watched = Watched::begin(&server);
    watched.load.kill().unwrap();
    watched.load.wait().unwrap();
    let addr = watched.addr;
    wait_until("nobody answers", || TcpStream::connect(addr).is_err());
}

#[test]
fn what_cannot_be_had_is_told_before_the_load() {
    let server = Server::start(&[]);
    let url = server.url("/ping");
    let before = crate::load::stats(&server);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (flags, cause) in [
        (["--metrics-listen", &taken], "choose another address for --metrics-listen"),
        (["--metrics-listen", "0.0.0.0:0"], "no token is set"),
        (["--metrics-push", "https://127.0.0.1:9091"], "speaks TLS, which this does not"),
        (["--metrics-push", "http://192.0.2.1:9091"], "neither loopback nor private"),
        (["--metrics-otlp", "http://192.0.2.1:4318"], "neither loopback nor private"),
        (["--metrics-remote-write", "http://192.0.2.1:9090"], "neither loopback nor private"),
    ] {
        let done = done(&[&["load", &url, "-n", "10"][..], &flags].concat());
        assert!(done.code == 1 && done.err.contains(cause), "{flags:?}: {} {}", done.code, done.err);
    }
    assert_eq!(crate::load::stats(&server), before, "no request was sent");
}

/// Takes one push, answers it with `status` and `said`, and gives its head and body.
fn taken(listener: &TcpListener, status: &str, said: &[u8]) -> (String, Vec<u8>) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.expect("a length")];
    reader.read_exact(&mut body).unwrap();
    let length = said.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n").unwrap();
    stream.write_all(said).unwrap();
    (head, body)
}

#[test]
fn final_values_are_pushed_and_a_refused_push_costs_no_result() {
    let server = Server::start(&[]);
    let url = server.url("/ping");
    for (status, note) in
        [("200 OK", None), ("503 Service Unavailable", Some("refused the values (status 503): busy"))]
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let gateway = format!("http://{}", listener.local_addr().unwrap());
        let load = ["load", &url, "-n", "2000", "-c", "2", "--format", "json", "--metrics-push", &gateway];
        let (head, body, ended) = std::thread::scope(|scope| {
            let push = scope.spawn(|| taken(&listener, status, b"busy"));
            let ended = good(&load);
            let (head, body) = push.join().unwrap();
            (head, String::from_utf8(body).unwrap(), ended)
        });
        assert!(head.starts_with("PUT /metrics/job/prony/run/") && head.contains("-load HTTP/1.1"), "{head}");
        let report: Value = serde_json::from_str(&ended.out).unwrap();
        check_report(&report);
        let completed = report["requests"]["completed"].as_f64().unwrap();
        assert_eq!(sum(&body, "prony_requests_completed_total", &[]), completed, "{body}");
        assert_eq!(sum(&body, "prony_response_seconds_count", &[]), completed, "{body}");
        let p99_s = report["latency_ns"]["response"]["p99"].as_f64().map(|ns| ns / 1e9);
        if let Some(p99_s) = p99_s {
            let exported = sum(&body, "prony_response_quantile_seconds", &["quantile=\"0.99\""]);
            assert!((exported / p99_s - 1.0).abs() <= 0.005, "{exported} for {p99_s}");
        }
        assert_eq!(note.is_some(), ended.err.contains("the Pushgateway"), "{}", ended.err);
        assert!(note.is_none_or(|note| ended.err.contains(note)), "{}", ended.err);
    }
}

/// A run folder with one whole load, as `--metrics-push` reads it, is not kept: a run of one trial is made.
fn whole_run(folder: &Path) -> String {
    let experiment = folder.join("one.toml");
    let text = "[experiment]\nname = \"one\"\nblocks = 1\n[[target]]\nname = \"one\"\n\
        reference = { law = \"constant\", mean = \"1ms\" }\n[scenario]\nrequest = { path = \"/ping\" }\n\
        [load]\nmodel = \"closed\"\nconnections = 2\n[phases]\nwarmup = { at_least = \"100ms\", at_most = \"100ms\" }\n\
        sample = \"1s\"\nsamples = 1\n";
    std::fs::write(&experiment, text).unwrap();
    let runs = folder.join("runs");
    // Too few blocks for a verdict, and on a busy host a void trial: its values are there all the same.
    done(&["run", experiment.to_str().unwrap(), "--runs", runs.to_str().unwrap()]);
    let run = std::fs::read_dir(&runs).unwrap().next().expect("a run").unwrap().path();
    run.to_str().unwrap().to_owned()
}

#[test]
fn a_collector_gets_a_request_of_otlp_and_what_it_refuses_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let run = whole_run(folder.path());
    // PartialSuccess { rejected_data_points: 5, error_message: "full" } as protobuf.
    let partly: &[u8] = b"\x0a\x08\x08\x05\x12\x04full";
    for (status, said, code, note) in [
        ("200 OK", &b""[..], 0, ""),
        ("200 OK", partly, 2, "refused 5 values: full"),
        ("429 Too Many Requests", b"later", 2, "refused the values (status 429): later"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let collector = format!("http://{}/base/", listener.local_addr().unwrap());
        let (head, body, ended) = std::thread::scope(|scope| {
            let push = scope.spawn(|| taken(&listener, status, said));
            let ended = done(&["metrics", &run, "--otlp", &collector]);
            let (head, body) = push.join().unwrap();
            (head, body, ended)
        });
        assert!(head.starts_with("POST /base/v1/metrics HTTP/1.1"), "{head}");
        assert!(head.contains("Content-Type: application/x-protobuf"), "{head}");
        let holds = |name: &[u8]| body.windows(name.len()).any(|part| part == name);
        assert!(holds(b"prony_requests_completed") && holds(b"prony_response_seconds"));
        assert!(ended.code == code && ended.err.contains(note), "{} {}", ended.code, ended.err);
    }
}

#[test]
fn a_collector_is_sent_values_while_a_load_lasts_and_at_its_end() {
    let server = Server::start(&[]);
    let url = server.url("/ping");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let collector = format!("http://{}", listener.local_addr().unwrap());
    let load = ["load", &url, "-c", "2", "-R", "400", "-d", "10m", "--format", "json"];
    let mut child = prony(&[&load[..], &["--metrics-otlp", &collector]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (_, first) = taken(&listener, "200 OK", b"");
    let is_running = child.try_wait().unwrap().is_none();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let waiting = std::thread::spawn(move || child.wait_with_output().unwrap());
    let (_, last) = taken(&listener, "200 OK", b"");
    let ended = waiting.join().unwrap();
    assert!(is_running, "{}", String::from_utf8_lossy(&ended.stderr));
    let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
    check_report(&report);
    let holds = |body: &[u8], name: &[u8]| body.windows(name.len()).any(|part| part == name);
    assert!(holds(&first, b"prony_run_info") && holds(&last, b"prony_run_info"));
    assert!(holds(&last, b"prony_requests_completed"), "the last values have what was counted");
}

/// A collector of OpenTelemetry that prints what it takes.
pub(crate) struct Collector {
    program: Program,
    printed: std::path::PathBuf,
}

impl Collector {
    /// The program of a real collector, if there is one.
    pub(crate) fn program() -> Option<&'static str> {
        ["otelcol", "otelcorecol", "otelcol-contrib"].into_iter().find(|name| is_there(name))
    }

    pub(crate) fn start(name: &str, folder: &Path) -> Self {
        let printed = folder.join("printed");
        let errors = std::fs::File::create(&printed).unwrap();
        let program = Program::start(errors.into(), |addr| {
            let config = folder.join("collector.yaml");
            let text = format!(
                "receivers: {{ otlp: {{ protocols: {{ http: {{ endpoint: '{addr}' }} }} }} }}\n\
                 exporters: {{ debug: {{ verbosity: detailed }} }}\n\
                 service:\n  telemetry: {{ metrics: {{ level: none }} }}\n  pipelines:\n    metrics: {{ receivers: [otlp], exporters: [debug] }}\n    traces: {{ receivers: [otlp], exporters: [debug] }}\n"
            );
            std::fs::write(&config, text).unwrap();
            let mut command = Command::new(name);
            command.arg(format!("--config={}", config.display()));
            command
        });
        wait_until("the collector listens", || TcpStream::connect(program.addr).is_ok());
        Self { program, printed }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.program.addr)
    }

    pub(crate) fn printed(&self) -> String {
        std::fs::read_to_string(&self.printed).unwrap_or_default()
    }
}

#[test]
fn a_real_collector_takes_every_family_with_its_values() {
    let Some(program) = Collector::program() else {
        println!(
            "skipped: a real collector of OpenTelemetry, because otelcol is missing (see opentelemetry.io)"
        );
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let run = whole_run(folder.path());
    let collector = Collector::start(program, folder.path());
    good(&["metrics", &run, "--otlp", &collector.url()]);
    let text = good(&["metrics", &run]).out;
    let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let names: Vec<&str> = families.map(|name| name.trim_end_matches("_total")).collect();
    let last = names.last().expect("families");
    wait_until("it has printed the last", || collector.printed().contains(&format!("Name: {last}")));
    let printed = collector.printed();
    for name in &names {
        assert!(printed.contains(&format!("-> Name: {name}\n")), "{name}: {printed}");
    }
    let (counts, completed) =
        (values(&text, "prony_response_seconds_count"), values(&text, "prony_requests_completed_total"));
    assert!(!counts.is_empty() && !completed.is_empty(), "{text}");
    for line in counts.iter().map(|count| format!("Count: {count}\n")) {
        assert!(printed.contains(&line), "{line}: {printed}");
    }
    for line in completed.iter().map(|completed| format!("Value: {completed:.6}\n")) {
        assert!(printed.contains(&line), "{line}: {printed}");
    }
}

/// The values of a metric's series, each trial by itself.
fn values(text: &str, name: &str) -> Vec<f64> {
    let lines = text.lines().filter(|line| line.starts_with(&format!("{name}{{")));
    lines.filter_map(|line| line.rsplit_once(' ')?.1.parse().ok()).collect()
}

#[test]
fn a_store_gets_classic_and_native_histograms_and_one_that_refuses_the_latter_the_former() {
    let folder = tempfile::tempdir().unwrap();
    let run = whole_run(folder.path());
    for (answers, code, note) in [
        (&["204 No Content", "204 No Content"][..], 0, None),
        (&["204 No Content", "400 Bad Request"], 0, Some("by their classic buckets alone")),
        (&["429 Too Many Requests"], 2, Some("the store at http://127.0.0.1:")),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let store = format!("http://{}/push?tenant=a", listener.local_addr().unwrap());
        let (requests, ended) = std::thread::scope(|scope| {
            let taking =
                scope.spawn(|| answers.iter().map(|status| taken(&listener, status, b"no")).collect());
            let ended = done(&["metrics", &run, "--remote-write", &store]);
            let requests: Vec<(String, Vec<u8>)> = taking.join().unwrap();
            (requests, ended)
        });
        for (head, _) in &requests {
            for part in [
                "POST /push?tenant=a HTTP/1.1",
                "Content-Type: application/x-protobuf",
                "Content-Encoding: snappy",
                "X-Prometheus-Remote-Write-Version: 0.1.0",
            ] {
                assert!(head.contains(part), "{part}: {head}");
            }
        }
        assert_eq!(ended.code, code, "{}", ended.err);
        assert!(note.map_or(ended.err.is_empty(), |note| ended.err.contains(note)), "{}", ended.err);
    }
}

#[test]
fn a_real_prometheus_takes_remote_write_with_native_histograms() {
    if !is_there("prometheus") {
        println!("skipped: remote write to a real Prometheus, which is missing (apt-get install prometheus)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = whole_run(folder.path());
    let prometheus = Prometheus::start(folder.path(), &[], "1s");
    let ended = good(&["metrics", &run, "--remote-write", &format!("http://{}", prometheus.addr)]);
    assert_eq!(ended.err, "", "native histograms are taken");
    let text = good(&["metrics", &run]).out;
    for name in ["prony_requests_completed_total", "prony_response_seconds_count", "prony_run_info"] {
        let mut stored = prometheus.asked(name);
        let mut own = values(&text, name);
        stored.sort_by(f64::total_cmp);
        own.sort_by(f64::total_cmp);
        assert!(!own.is_empty() && stored == own, "{name}: {stored:?} for {own:?}");
    }
    let own = prometheus.asked("prony_response_quantile_seconds{quantile=\"0.5\"}");
    let native = prometheus.asked("histogram_quantile(0.5, prony_response_seconds)");
    assert!((native[0] / own[0] - 1.0).abs() <= 0.005, "{native:?} for {own:?}");
    // Again and again: every value goes on in the same series.
    good(&["metrics", &run, "--remote-write", &format!("http://{}/api/v1/write", prometheus.addr)]);
    assert_eq!(prometheus.asked("count_over_time(prony_run_info[1m])"), [2.0]);
}

#[test]
fn a_real_victoriametrics_takes_remote_write() {
    if !is_there("victoria-metrics") {
        println!(
            "skipped: remote write to VictoriaMetrics, which is missing (apt-get install victoria-metrics)"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = whole_run(folder.path());
    let store = Program::start(Stdio::null(), |addr| {
        let mut command = Command::new("victoria-metrics");
        command.arg(format!("-httpListenAddr={addr}"));
        command.arg(format!("-storageDataPath={}", folder.path().join("data").display()));
        command
    });
    wait_until("VictoriaMetrics is ready", || store.get("/health").contains(" 200 OK"));
    good(&["metrics", &run, "--remote-write", &format!("http://{}", store.addr)]);
    let text = good(&["metrics", &run]).out;
    for name in ["prony_requests_completed_total", "prony_response_seconds_count"] {
        wait_until("it has what was written", || {
            let body = store.body(&format!("/api/v1/export?match[]={name}"));
            let rows = body.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let mut stored: Vec<f64> = rows.filter_map(|row| row["values"][0].as_f64()).collect();
            let mut own = values(&text, name);
            stored.sort_by(f64::total_cmp);
            own.sort_by(f64::total_cmp);
            !own.is_empty() && stored == own
        });
    }
}

#[test]
fn alerts_fire_on_their_faults_and_on_nothing_else() {
    if !is_there("promtool") {
        println!("skipped: the alert rules, because promtool is missing (apt-get install prometheus)");
        return;
    }
    let folder = root().join("deploy/prometheus");
    for words in [["check", "config", "prometheus.yml"], ["test", "rules", "prony.rules.test.yml"]] {
        let ended = Command::new("promtool").args(words).current_dir(&folder).output().unwrap();
        let text = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{text}");
    }
}

#[test]
fn a_real_prometheus_has_the_quantiles_and_an_answer_for_every_panel() {
    if !is_there("prometheus") {
        println!("skipped: the scrape by a real Prometheus, which is missing (apt-get install prometheus)");
        return;
    }
    let server = Server::start(&[]);
    let watched = Watched::begin(&server);
    let folder = tempfile::tempdir().unwrap();
    let prometheus = Prometheus::start(folder.path(), &[watched.addr], "1s");
    let count =
        || prometheus.asked("histogram_count(prony_response_seconds)").first().copied().unwrap_or_default();
    wait_until("it has a native histogram", || count() > 2_000.0);
    // A rate is of two scrapes at least.
    wait_until("it has a rate", || !prometheus.asked("rate(prony_requests_completed_total[10s])").is_empty());
    // The counts go on while the two are asked for; both of one scrape, by its time.
    let both = |quantile: f64| {
        let native = prometheus.asked(&format!("histogram_quantile({quantile}, prony_response_seconds)"));
        let own = prometheus.asked(&format!("prony_response_quantile_seconds{{quantile=\"{quantile}\"}}"));
        native[0] / own[0] - 1.0
    };
    for quantile in [0.5, 0.9, 0.99] {
        // A scrape may come in between: one of three is not parted by it.
        let off = (0..3).map(|_| both(quantile).abs()).fold(f64::INFINITY, f64::min);
        assert!(off <= 0.005, "{quantile}: off by {off}");
    }
    // A load without failures has no series of them, and its only trial has not ended.
    check_panels(&prometheus, "--dashboard", &["_failed_", "prony_trial_valid"]);
}
