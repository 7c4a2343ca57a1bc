//! What a script's `done` is given, against the server's own counts and against wrk's.

use crate::command::{done, is_there};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const STATUS: [u16; 4] = [200, 404, 302, 503];
/// One line of numbers, marked apart from all else that is printed.
const SCRIPT: &str = r#"
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("TOLD %d %d %d %d %d %d %d %d %d %d\n", summary.duration, summary.requests, summary.bytes,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout, #requests,
    latency.max))
end
"#;

/// What `done` printed.
#[derive(Debug)]
struct Told {
    requests: u64,
    bytes: u64,
    connect: u64,
    read: u64,
    write: u64,
    status: u64,
    timeout: u64,
    /// Microseconds.
    latency_max: u64,
}

impl Told {
    fn of(printed: &str) -> Self {
        let line = printed.lines().find_map(|line| line.strip_prefix("TOLD ")).expect(printed);
        let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let [_, requests, bytes, connect, read, write, status, timeout, _, latency_max] = numbers[..] else {
            panic!("{line}")
        };
        Self { requests, bytes, connect, read, write, status, timeout, latency_max }
    }
}

/// How the server answers, by the number of the request.
#[derive(Clone, Copy)]
enum Manner {
    /// With one status after the other.
    Statuses,
    /// Always with an error.
    Unwell,
    /// Not at all: it closes.
    Closes,
    /// With what is no HTTP.
    Garbage,
}

/// A server that counts; it ends with the process of the tests.
struct Counting {
    url: String,
    answered: Arc<AtomicU64>,
    bytes: Arc<AtomicU64>,
}

impl Counting {
    fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (answered, bytes) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (count, sum) = (answered.clone(), bytes.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (count, sum) = (count.clone(), sum.clone());
                std::thread::spawn(move || serve(&stream, manner, &count, &sum));
            }
        });
        Self { url, answered, bytes }
    }
}

fn serve(stream: &TcpStream, manner: Manner, count: &AtomicU64, sum: &AtomicU64) {
    let (mut lines, mut out) = (BufReader::new(stream).lines(), stream);
    while let Some(Ok(line)) = lines.next() {
        if !line.is_empty() {
            continue;
        }
        let number = count.fetch_add(1, Ordering::Relaxed);
        let answer = match manner {
            Manner::Statuses => {
                let status = STATUS[number as usize % STATUS.len()];
                format!("HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\nok")
            }
            Manner::Unwell => "HTTP/1.1 503 X\r\nContent-Length: 2\r\n\r\nno".to_owned(),
            Manner::Garbage => "SSH-2.0-OpenSSH\r\n".to_owned(),
            Manner::Closes => return,
        };
        sum.fetch_add(answer.len() as u64, Ordering::Relaxed);
        if out.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// What `done` is given by prony, and by wrk where it is installed, each against a server of its own.
fn both(manner: Manner) -> Vec<(&'static str, Told, Counting)> {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("done.lua");
    std::fs::write(&script, SCRIPT).unwrap();
    let file = script.to_str().unwrap();
    let server = Counting::start(manner);
    let ended = done(&["load", &server.url, "-c", "1", "-t", "1", "-d", "1s", "-s", file]);
    let mut all = vec![("prony", Told::of(&ended.out), server)];
    if is_there("wrk") {
        let server = Counting::start(manner);
        let args = ["-c1", "-t1", "-d1s", "-s", file, &server.url];
        let ended = Command::new("wrk").args(args).output().unwrap();
        all.push(("wrk", Told::of(&String::from_utf8_lossy(&ended.stdout)), server));
    } else {
        println!("skipped: the comparison with wrk, which is missing (apt-get install wrk)");
    }
    all
}

#[test]
fn every_answer_is_a_request_and_only_its_status_an_error() {
    for (tool, told, server) in both(Manner::Statuses) {
        let answered = server.answered.load(Ordering::Relaxed);
        let near = |told: u64, counted: u64| counted.abs_diff(told) <= 2;
        assert!(answered > 100, "{tool}: {answered}");
        // One may be in flight at the end.
        assert!(near(told.requests, answered), "{tool}: {told:?}, the server counts {answered}");
        assert!(near(told.status, answered / 2), "{tool}: {told:?}, the server counts {answered}");
        let bytes = server.bytes.load(Ordering::Relaxed);
        assert!(bytes.abs_diff(told.bytes) <= 200, "{tool}: {told:?}, the server sent {bytes}");
        assert_eq!((told.connect, told.read, told.write, told.timeout), (0, 0, 0, 0), "{tool}: {told:?}");
    }
}

#[test]
fn the_times_of_error_answers_are_told_too() {
    for (tool, told, _) in both(Manner::Unwell) {
        assert!(told.requests > 100 && told.status == told.requests, "{tool}: {told:?}");
        assert!(told.latency_max > 0, "{tool}: {told:?}");
    }
}

#[test]
fn what_is_no_answer_is_an_error_of_reading() {
    for manner in [Manner::Closes, Manner::Garbage] {
        for (tool, told, _) in both(manner) {
            assert!(told.read > 10, "{tool}: {told:?}");
            assert_eq!(
                (told.requests, told.connect, told.status, told.timeout),
                (0, 0, 0, 0),
                "{tool}: {told:?}"
            );
        }
    }
}
