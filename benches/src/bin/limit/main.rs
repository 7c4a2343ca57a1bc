//! The limit: a bare io_uring loop that only sends, receives, parses with httparse and counts.
//!
//! `limit -c CONNECTIONS -d SECONDS http://IP:PORT/PATH` prints `N requests in S s` and `requests/s R`. prony is held
//! against it: what prony costs above this is what its stamps, histograms, checks and accounting cost.
//! Invariants: one request in flight a connection; every answer's head is parsed and its status and length looked at,
//! and the body's bytes are counted; an answer other than 200, or a connection that ends, is an error.
//! Absent on purpose: times of requests, TLS, chunks, names, and everything else that costs time.
// io_uring shares memory with the kernel: buffers that it fills and entries that point into our memory. There is no
// safe way to say so; the blocks are in `ring` alone and each says why it holds.
#![allow(unsafe_code)]

mod answer;
mod ring;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Plan {
    address: SocketAddr,
    request: Vec<u8>,
    connections: u32,
    time: Duration,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = plan(&words).and_then(|plan| {
        ring::run(&plan)
            .map_err(|error| format!("{error}; io_uring needs Linux 6.1 and must be allowed here"))
    });
    match done {
        Ok(done) => {
            let seconds = done.elapsed.as_secs_f64();
            println!("{} requests in {seconds:.3} s", done.requests);
            println!("requests/s {:.2}", done.requests as f64 / seconds);
            println!("errors {}", done.errors);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("limit: {error}");
            ExitCode::from(1)
        }
    }
}

fn plan(words: &[String]) -> Result<Plan, String> {
    const USAGE: &str = "usage: limit -c CONNECTIONS -d SECONDS http://IP:PORT/PATH";
    let [c, connections, d, seconds, url] = words else { return Err(USAGE.to_owned()) };
    let rest = url.strip_prefix("http://").ok_or(USAGE)?;
    if (c.as_str(), d.as_str()) != ("-c", "-d") {
        return Err(USAGE.to_owned());
    }
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = if path.is_empty() { "/" } else { path };
    let connections = connections.parse().ok().filter(|number| (1..=16_000).contains(number));
    let seconds = seconds.parse().ok().filter(|number| (1..=3_600).contains(number));
    Ok(Plan {
        address: authority.parse().map_err(|_| format!("`{authority}` is no IP:PORT; {USAGE}"))?,
        request: format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\n\r\n").into_bytes(),
        connections: connections.ok_or("-c must be 1 to 16000")?,
        time: Duration::from_secs(seconds.ok_or("-d must be 1 to 3600")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_plan_or_say_what_is_wrong() {
        let of = |text: &str| plan(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let good = of("-c 64 -d 4 http://127.0.0.1:80/ping").unwrap();
        assert_eq!(good.request, b"GET /ping HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n");
        assert_eq!((good.connections, good.time), (64, Duration::from_secs(4)));
        for (text, wanted) in [
            ("", "usage"),
            ("-c 0 -d 4 http://127.0.0.1:80/", "-c must"),
            ("-c 1 -d x http://127.0.0.1:80/", "-d must"),
            ("-c 1 -d 1 http://localhost/", "no IP:PORT"),
            ("-c 1 -d 1 https://127.0.0.1:80/", "usage"),
            ("-d 1 -c 1 http://127.0.0.1:80/", "usage"),
        ] {
            assert!(of(text).unwrap_err().contains(wanted), "{text}");
        }
    }
}
