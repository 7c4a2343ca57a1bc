//! One place to load scripts in: something that accepts connections, and a file for what they print.

use hdrhistogram::Histogram;
use request::script::{Script, ScriptError};
use script::{Errors, Job, LIMIT, Output, ScriptUrl, Summary, Wrk};
use std::net::TcpListener;
use tempfile::TempDir;
use units::Nanos;

pub(crate) struct Bench {
    listener: TcpListener,
    folder: TempDir,
    pub(crate) args: Vec<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) limit: Nanos,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let folder = tempfile::tempdir().unwrap();
        Self { listener, folder, args: vec![], headers: vec![], limit: LIMIT }
    }

    pub(crate) fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    /// `127.0.0.1:PORT`, the value of the Host field.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    pub(crate) fn url(&self) -> ScriptUrl {
        ScriptUrl {
            text: format!("http://{}/", self.host()),
            scheme: "http".into(),
            host: "127.0.0.1".into(),
            port: Some(self.port()),
            path: "/".into(),
        }
    }

    pub(crate) fn load(&self, text: &str, threads: usize) -> Result<Wrk, ScriptError> {
        self.load_from(text, threads, &self.url())
    }

    pub(crate) fn load_from(&self, text: &str, threads: usize, url: &ScriptUrl) -> Result<Wrk, ScriptError> {
        Wrk::load(&Job {
            file: "s.lua",
            text,
            args: &self.args,
            url,
            threads,
            headers: &self.headers,
            output: Output::File(self.folder.path().join("printed")),
            limit: self.limit,
        })
    }

    /// All that was printed so far.
    pub(crate) fn printed(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("printed")).unwrap()
    }
}

/// The next text that a worker sends.
pub(crate) fn next(script: &mut Box<dyn Script>) -> String {
    let mut out = Vec::new();
    script.request(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Calls `done` with a summary and with latencies of 1 to 1000 ms, each once.
pub(crate) fn done(wrk: &mut Wrk) -> Result<(), ScriptError> {
    let mut latency = Histogram::new_with_bounds(1, 60_000_000_000, 5).unwrap();
    (1..=1000).for_each(|millis| latency.record(millis * 1_000_000).unwrap());
    let mut rates = Histogram::new_with_bounds(1, 1_000_000, 5).unwrap();
    [40, 50, 50].iter().for_each(|rate| rates.record(*rate).unwrap());
    let errors = Errors { connect: 1, read: 2, write: 3, status: 4, timeout: 5 };
    let summary = Summary { duration: Nanos(1_001_912_345), requests: 49, bytes: 2793, errors };
    wrk.done(&summary, &latency, &rates)
}
