//! `prony load --each`: one row a request. Rows are held against the result of the same load, which shares no code with
//! them behind the worker.

use crate::command::{Done, Server, bad, done, prony};
use crate::load::{check_report, check_schema, pid, stats, wait_until};
use engine::new_histogram;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Signal, kill_process};
use schema::each::{EachHead, EachOutcome, EachPhase, EachRow};
use schema::load::LoadReport;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

const COLUMNS: &str = "request,phase,worker,connection,name,intended_ns,pacer_lag_ns,connection_wait_ns,service_ns,\
    response_ns,first_byte_ns,status,body_bytes,outcome,error,intended_unix_ns";

/// The rows of a file of JSON lines, and its head.
fn json_rows(text: &str) -> (EachHead, Vec<EachRow>) {
    assert!(text.ends_with('\n'), "the last row is whole");
    let mut lines = text.lines();
    let head = lines.next().expect("a head");
    check_schema("each-head", &serde_json::from_str(head).unwrap());
    let rows: Vec<EachRow> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let first = text.lines().nth(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    first.iter().for_each(|row| check_schema("each", row));
    (serde_json::from_str(head).unwrap(), rows)
}

/// The rows of a CSV file without quotes, and the origins that its wall clocks say.
fn csv_rows(text: &str) -> (Vec<u64>, Vec<EachRow>) {
    assert!(text.ends_with('\n'), "the last row is whole");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(COLUMNS));
    let parse = |line: &str| {
        let cells: BTreeMap<&str, &str> = COLUMNS.split(',').zip(line.split(',')).collect();
        assert_eq!(line.split(',').count(), cells.len(), "{line}");
        let number = |key: &str| (!cells[key].is_empty()).then(|| cells[key].parse::<u64>().unwrap());
        let word = |key: &str| Value::String(cells[key].to_owned());
        let error = (!cells["error"].is_empty()).then(|| word("error"));
        let row = EachRow {
            request: number("request").unwrap(),
            phase: serde_json::from_value(word("phase")).unwrap(),
            worker: number("worker").unwrap() as u32,
            connection: number("connection").map(|number| number as u32),
            name: cells["name"].to_owned(),
            intended_ns: number("intended_ns").unwrap(),
            pacer_lag_ns: number("pacer_lag_ns"),
            connection_wait_ns: number("connection_wait_ns"),
            service_ns: number("service_ns"),
            response_ns: number("response_ns"),
            first_byte_ns: number("first_byte_ns"),
            status: number("status").map(|number| number as u16),
            body_bytes: number("body_bytes"),
            outcome: serde_json::from_value(word("outcome")).unwrap(),
            error: error.map(|error| serde_json::from_value(error).unwrap()),
        };
        (number("intended_unix_ns").unwrap() - row.intended_ns, row)
    };
    lines.map(parse).unzip()
}

/// Holds rows of all requests against the result of their load.
fn check(what: &str, report: &LoadReport, rows: &[EachRow]) {
    let each = report.each.as_ref().expect("the result has its rows");
    assert_eq!((each.written, each.dropped), (rows.len() as u64, 0), "{what}");
    let measured = || rows.iter().filter(|row| row.phase == EachPhase::Measured);
    let count = |outcome| measured().filter(|row| row.outcome == outcome).count() as u64;
    let requests = report.requests;
    assert_eq!(count(EachOutcome::Completed), requests.completed, "{what}");
    assert_eq!(count(EachOutcome::Failed), requests.failed, "{what}");
    assert_eq!(count(EachOutcome::Censored), requests.censored, "{what}");
    let mut errors = BTreeMap::new();
    measured().filter_map(|row| row.error).for_each(|class| *errors.entry(class).or_insert(0) += 1);
    assert_eq!(errors, report.errors, "{what}");
    for (name, summary, of) in [
        ("response", &report.latency_ns.response, (|row| row.response_ns) as fn(&EachRow) -> Option<u64>),
        ("service", &report.latency_ns.service, |row| row.service_ns),
        ("pacer lag", &report.latency_ns.pacer_lag, |row| row.pacer_lag_ns),
        ("first byte", &report.latency_ns.first_byte, |row| row.first_byte_ns),
    ] {
        let mut times = new_histogram();
        for row in measured().filter(|row| row.outcome == EachOutcome::Completed) {
            times.record(of(row).expect("a completed request has all its times")).unwrap();
        }
        assert_eq!(
            &analyze::latency(&times, summary.censored, analyze::Of::Requests),
            summary,
            "{what}: {name}"
        );
    }
    for part in &report.by_request {
        let named = measured().filter(|row| row.name == part.name).count() as u64;
        assert_eq!(named, part.requests.scheduled, "{what}: {}", part.name);
    }
}

/// `1,234,567`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap()).collect();
    groups.join(",")
}

/// Runs a load with `--each` in a folder of its own; what it printed, its result, and the file's text.
fn load(file: &str, args: &[&str]) -> (Done, LoadReport, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    let each = ["--each", path.to_str().unwrap(), "--format", "json", "--errors-ok"];
    let done = done(&[&["load"], args, &each].concat());
    // Whether the numbers may be believed is no matter of rows; a busy host is no fault of them.
    assert!([0, 2].contains(&done.code), "{done:?}");
    let value: Value = serde_json::from_str(&done.out).unwrap();
    check_report(&value);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, [file], "nothing else is left");
    (done, serde_json::from_value(value).unwrap(), std::fs::read(path).unwrap())
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("rows are UTF-8")
}

#[test]
fn every_request_has_a_row_in_both_formats_and_the_rows_are_the_result() {
    let server = Server::start(&["--error-rate", "0.05", "--reset-rate", "0.02"]);
    let url = server.url("/");
    for driver in ["epoll", "auto"] {
        let closed = ["-n", "3000", "-c", "8", "-t", "2", "--driver", driver];
        let (_, report, bytes) = load("r.csv", &[&[&*url], &closed[..]].concat());
        let (origins, rows) = csv_rows(&text(bytes));
        check("closed", &report, &rows);
        let origin = report.each.as_ref().unwrap().origin_unix_ns;
        assert!(origins.iter().all(|found| *found == origin), "every row says the same origin");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        assert!((now - 3_600_000_000_000..now).contains(&origin), "{origin}");

        let open = ["-R", "2000", "-d", "1s", "--warmup", "1s", "-c", "8", "--driver", driver];
        let (_, report, bytes) = load("r.jsonl", &[&[&*url], &open[..]].concat());
        let (head, rows) = json_rows(&text(bytes));
        check("open", &report, &rows);
        assert_eq!(head.origin_unix_ns, report.each.as_ref().unwrap().origin_unix_ns);
        let warm = rows.iter().filter(|row| row.phase == EachPhase::Warmup).count();
        assert!(warm.abs_diff(2000) < 10, "{warm} requests of warm-up");
    }
    let (_, report, bytes) = load("r.ndjson", &[&url, "-n", "1000", "-c", "4", "--pipeline", "8"]);
    check("pipelined", &report, &json_rows(&text(bytes)).1);
}

#[test]
fn rows_have_the_names_of_a_scenario() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.toml");
    let scenario = "schema = \"prony.scenario/1\"\nname = \"two\"\n\
        [[requests]]\nname = \"plain\"\npath = \"/a\"\n[[requests]]\nname = \"other\"\npath = \"/b\"\n";
    std::fs::write(&file, scenario).unwrap();
    let args = [&server.url("")[..], "--scenario", file.to_str().unwrap(), "-n", "500", "-c", "2"];
    let (_, report, bytes) = load("r.jsonl", &args);
    check("scenario", &report, &json_rows(&text(bytes)).1);
    let (_, report, bytes) = load("r.csv", &args);
    check("scenario", &report, &csv_rows(&text(bytes)).1);
}

#[test]
fn several_processes_write_one_file() {
    let server = Server::start(&[]);
    let args = [&server.url("/")[..], "--processes", "3", "-c", "30", "-n", "3001"];
    let (_, report, bytes) = load("r.csv", &args);
    let (origins, rows) = csv_rows(&text(bytes));
    check("processes", &report, &rows);
    assert!(origins.windows(2).all(|two| two[0] == two[1]), "all processes say the same origin");
    let mut workers: Vec<u32> = rows.iter().map(|row| row.worker).collect();
    workers.sort_unstable();
    workers.dedup();
    assert_eq!(workers, [0, 1, 2]);
    let (_, report, bytes) = load("r.jsonl.gz", &args);
    check("compressed", &report, &json_rows(&unzipped(&bytes)).1);
}

fn unzipped(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.gz");
    std::fs::write(&path, bytes).unwrap();
    let output = std::process::Command::new("gzip").arg("-dc").arg(path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    text(output.stdout)
}

#[test]
fn a_sample_is_drawn_alike_each_time_and_its_share_is_told() {
    let server = Server::start(&[]);
    let args = [&server.url("/")[..], "-n", "5000", "-c", "4", "-t", "1", "--each-share", "10%"];
    let drawn = || {
        let (_, report, bytes) = load("r.jsonl", &args);
        let (head, rows) = json_rows(&text(bytes));
        let each = report.each.unwrap();
        assert_eq!((head.share, each.share, each.written), (0.1, 0.1, rows.len() as u64));
        let mut numbers: Vec<u64> = rows.into_iter().map(|row| row.request).collect();
        numbers.sort_unstable();
        numbers
    };
    let first = drawn();
    // Six standard deviations of a binomial count.
    assert!(first.len().abs_diff(500) < 128, "{}", first.len());
    assert_eq!(first, drawn());
}

#[test]
fn what_cannot_be_is_refused_before_the_load() {
    let server = Server::start(&[]);
    let url = server.url("/");
    for (args, said) in [
        (&["--each", "rows.json"][..], "did you mean .jsonl?"),
        (&["--each", "/dev/null"], ".csv, .jsonl or .ndjson"),
        (&["--each", "-"], "standard output"),
        (&["--each", "r.csv", "--each-share", "0"], "more than 0 and at most 100%"),
        (&["--each", "r.csv", "--each-share", "101%"], "more than 0 and at most 100%"),
        (&["--each", "/nonexistent/r.csv"], "there is no folder /nonexistent"),
    ] {
        bad(&[&["load", &url, "-n", "10"], args].concat(), 1, &[said]);
    }
    bad(&["load", &url, "--each-share", "10%"], 1, &["--each"]);
    assert_eq!(stats(&server), 0, "nothing was sent");
}

#[test]
fn an_interrupt_keeps_the_rows_so_far_whole() {
    let server = Server::start(&[]);
    for more in [&[][..], &["--processes", "2"]] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.csv");
        let (url, before) = (server.url("/"), stats(&server));
        let args = ["load", &url, "-R", "500", "-d", "10m", "-c", "4", "--format", "json", "--each"];
        let args = [&args[..], &[path.to_str().unwrap()], more].concat();
        let child = prony(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("requests arrive", || stats(&server) > before + 200);
        kill_process(pid(&child), Signal::INT).unwrap();
        let done: Done = child.wait_with_output().unwrap().into();
        assert_eq!(done.code, 130, "{done:?}");
        let report: LoadReport = serde_json::from_str(&done.out).unwrap();
        check("interrupted", &report, &csv_rows(&std::fs::read_to_string(&path).unwrap()).1);
    }
}

#[test]
fn a_reader_that_takes_nothing_costs_rows_and_not_the_load() {
    // More than the ring of one worker, the writer's buffer and the pipe take.
    const REQUESTS: u64 = 320_000;
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.csv");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let (url, count) = (server.url("/"), REQUESTS.to_string());
    let args = ["load", &url, "-n", &count, "-c", "16", "-t", "1", "--pipeline", "16", "--quiet"];
    let args = [&args[..], &["--each", path.to_str().unwrap()]].concat();
    let child = prony(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = std::fs::File::open(&path).unwrap();
    let begin = std::time::Instant::now();
    while stats(&server) < REQUESTS {
        assert!(begin.elapsed().as_secs() < 120, "the load waits for its rows");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let mut rows = String::new();
    pipe.read_to_string(&mut rows).unwrap();
    let done: Done = child.wait_with_output().unwrap().into();
    let said = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("320,000 completed") && said.contains("(ring full: disk or CPU too slow)"),
        "{said}"
    );
    let written = csv_rows(&rows).1.len() as u64;
    assert!(written < REQUESTS, "the ring holds them all: the test needs more requests");
    let dropped = grouped(REQUESTS - written);
    assert!(said.contains(&format!("{} written to", grouped(written))), "{written}: {said}");
    assert!(said.contains(&format!("{dropped} dropped")), "{dropped}: {said}");
    assert!(Path::new(&path).exists(), "the pipe is the user's");
}
