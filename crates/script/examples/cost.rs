//! What a script costs on one worker, in nanoseconds per call, beside the plain ways of doing the same.
//!
//! `cargo run --release -p script --example cost [FILE.lua …]` runs the fixtures, or the files given. `request` is
//! the engine's call; `wrk.format in Lua` is the function alone, called by compiled Lua code; `response` shows an
//! answer with five fields and a body of 128 bytes.

use script::{Job, LIMIT, Output, ScriptUrl, Wrk};
use std::hint::black_box;
use std::net::TcpListener;
use std::time::Instant;

const ROUNDS: u32 = 200_000;

/// Formats as the fixtures do, many times within one call.
const FORMAT_ALONE: &str = "
    function request() return 'GET / HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n' end
    function delay()
      local bytes = 0
      for i = 1, 1000 do bytes = bytes + #wrk.format(nil, '/' .. i) end
      return bytes
    end";

fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
    let port = listener.local_addr().expect("an address").port();
    let given: Vec<String> = std::env::args().skip(1).collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wrk");
    let usual = ["post", "counter", "auth", "setup", "pipeline", "report"];
    let usual = usual.map(|name| format!("{folder}/{name}.lua")).to_vec();
    println!("{:<24}{:>12}{:>12}", "ns per call", "request", "response");
    for file in if given.is_empty() { usual } else { given } {
        let text = std::fs::read_to_string(&file).expect("a script");
        let name = file.rsplit('/').next().unwrap_or(&file);
        let mut script = load(port, &text);
        let mut out = Vec::with_capacity(4096);
        let request = best(|| {
            out.clear();
            script.request(black_box(&mut out)).expect("a request");
        });
        let fields = answer();
        let response = best(|| script.response(200, &fields, &[b'x'; 128]).expect("taken"));
        let wanted = script.wants_response();
        let response = if wanted { format!("{response:.0}") } else { "-".to_owned() };
        println!("{name:<24}{request:>12.0}{response:>12}");
    }
    let mut script = load(port, FORMAT_ALONE);
    let format = best_of(ROUNDS / 1000, || drop(black_box(script.delay()))) / 1000.0;
    println!("{:<24}{format:>12.0}", "wrk.format in Lua");
}

fn load(port: u16, text: &str) -> Box<dyn request::script::Script> {
    let url = ScriptUrl {
        text: format!("http://127.0.0.1:{port}/"),
        scheme: "http".into(),
        host: "127.0.0.1".into(),
        port: Some(port),
        path: "/".into(),
    };
    let headers = [];
    let job = Job {
        file: "script",
        text,
        args: &[],
        url: &url,
        threads: 1,
        headers: &headers,
        output: Output::Stderr,
        limit: LIMIT,
    };
    Wrk::load(&job).expect("a script that loads").take_threads().remove(0)
}

fn answer() -> Vec<(String, String)> {
    [
        ("Content-Type", "text/plain"),
        ("Content-Length", "128"),
        ("Date", "Sat, 21 Nov 2026 10:00:00 GMT"),
        ("Server", "reference"),
        ("X-Request-Id", "0123456789abcdef"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

fn best(call: impl FnMut()) -> f64 {
    best_of(ROUNDS, call)
}

/// Nanoseconds per call in the best of seven rounds: what disturbs only adds.
fn best_of(rounds: u32, mut call: impl FnMut()) -> f64 {
    (0..7)
        .map(|_| {
            let start = Instant::now();
            (0..rounds).for_each(|_| call());
            start.elapsed().as_nanos() as f64 / f64::from(rounds)
        })
        .fold(f64::INFINITY, f64::min)
}
