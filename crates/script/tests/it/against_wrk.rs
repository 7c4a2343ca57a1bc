//! The same scripts in wrk itself: it must send what we send and print what we print. Slow, since wrk runs for a
//! second at least, and needs wrk: an ignored test.
//!
//! Requests are compared as sets of lines, because wrk's order of header fields is random.

use crate::bench::{Bench, next};
use crate::examples::{OURS, WRKS};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};

/// How many requests are compared; less than wrk sends in a second of 50 ms pauses.
const REQUESTS: usize = 9;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nX-Token: abc\r\nContent-Length: 5\r\n\r\nhello";

#[test]
#[ignore = "runs wrk for a second with each script"]
fn wrk_does_the_same() {
    let files = [OURS, WRKS].into_iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten());
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 9, "the fixtures are there");
    for file in files {
        compare(&file);
    }
}

fn compare(file: &Path) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, received) = channel();
    std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| serve(stream, &send)));
    let url = format!("http://127.0.0.1:{port}/base?q=1");
    let output = Command::new("wrk")
        .args(["-t1", "-c1", "-d1s", "-H", "X-Given: 1", "-s"])
        .args([file.to_str().unwrap(), url.as_str(), "--", "one"])
        .output()
        .expect("wrk is installed: apt-get install wrk");
    assert!(output.status.success(), "{}: {output:?}", file.display());
    let printed = String::from_utf8(output.stdout).unwrap();
    let printed = printed.split("Running 1s test").next().unwrap();
    let theirs = first(&received);

    let mut bench = Bench::new();
    (bench.args, bench.headers) = (vec!["one".into()], vec![("X-Given".into(), "1".into())]);
    let mut target = bench.url();
    (target.text, target.port, target.path) = (url, Some(bench.port()), "/base?q=1".into());
    let ours = sent(&bench, &std::fs::read_to_string(file).unwrap(), &target);
    let mask = |text: &str, port: u16| text.replace(&port.to_string(), "PORT");
    assert_eq!(mask(&bench.printed(), bench.port()), mask(printed, port), "{}", file.display());
    for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        let (ours, theirs) = (mask(ours, bench.port()), mask(theirs, port));
        assert_eq!(lines(&ours), lines(&theirs), "{}, request {number}", file.display());
    }
}

/// The first requests that our side sends, answered as the server answers wrk.
fn sent(bench: &Bench, text: &str, url: &script::ScriptUrl) -> Vec<String> {
    let thread = &mut bench.load_from(text, 1, url).unwrap().take_threads()[0];
    let fields =
        [("X-Token", "abc"), ("Content-Length", "5")].map(|(name, value)| (name.into(), value.into()));
    let mut requests = Vec::new();
    while requests.len() < REQUESTS {
        let text = next(thread);
        let mut rest = text.as_bytes();
        while let Some(request) = read(&mut rest) {
            requests.push(request);
            thread.response(200, &fields, b"hello").unwrap();
        }
    }
    requests.truncate(REQUESTS);
    requests
}

fn first(received: &Receiver<String>) -> Vec<String> {
    let requests: Vec<String> = received.try_iter().take(REQUESTS).collect();
    assert_eq!(requests.len(), REQUESTS, "wrk sent too few");
    requests
}

/// Answers one connection until it ends. wrk's trials of addresses end at once.
fn serve(stream: TcpStream, send: &Sender<String>) {
    let mut answers = stream.try_clone().unwrap();
    let mut requests = BufReader::new(stream);
    while let Some(request) = read(&mut requests) {
        if send.send(request).is_err() || answers.write_all(ANSWER).is_err() {
            return;
        }
    }
}

/// One request with its body.
fn read(from: &mut impl BufRead) -> Option<String> {
    let (mut text, mut length) = (String::new(), 0);
    while !text.ends_with("\r\n\r\n") {
        let start = text.len();
        from.read_line(&mut text).ok().filter(|bytes| *bytes > 0)?;
        if let Some(value) = text[start..].strip_prefix("Content-Length: ") {
            length = value.trim().parse().ok()?;
        }
    }
    from.take(length).read_to_string(&mut text).ok()?;
    Some(text)
}

fn lines(request: &str) -> (Option<&str>, Vec<&str>) {
    let mut lines = request.split("\r\n");
    let line = lines.next();
    let mut rest: Vec<&str> = lines.collect();
    rest.sort_unstable();
    (line, rest)
}
