//! What the wire allows: one connection, a request at every intended time, and the time to its answer.
//!
//! `pingpong -R RATE -d SECONDS http://IP:PORT/PATH` prints how many requests it made and the median time from before
//! the write to after the read. It waits for an intended time by sleeping until shortly before it and then looking at
//! the clock, and for an answer by asking the socket over and over: a sleep would add its own waking. It is the least
//! that any client does, so what prony records above it is prony's own.
//! Absent on purpose: parsing; an answer is what ends with the body that the server sends.

use rustix::time::{ClockId, clock_gettime};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::ExitCode;
use std::time::Duration;

/// The end of the small answer's body.
const END: &[u8] = b"\"data\":{}}";
/// Sleep ends this early, because the kernel wakes a thread some 60 µs late.
const WAKE: Duration = Duration::from_micros(150);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match measure(&words) {
        Ok(times_ns) => {
            println!("{} requests", times_ns.len());
            println!("p50_ns {}", median(times_ns));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("pingpong: {error}");
            ExitCode::from(1)
        }
    }
}

fn measure(words: &[String]) -> Result<Vec<u64>, String> {
    const USAGE: &str = "usage: pingpong -R RATE -d SECONDS http://IP:PORT/PATH";
    let [_, rate, _, seconds, url] = words else { return Err(USAGE.to_owned()) };
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0).ok_or(USAGE);
    let (gap_ns, seconds) = (1_000_000_000 / number(rate)?, number(seconds)?);
    let rest = url.strip_prefix("http://").ok_or(USAGE)?;
    let (authority, path) = rest.split_at(rest.find('/').ok_or(USAGE)?);
    let said = |error: std::io::Error| error.to_string();
    let mut socket = TcpStream::connect(authority).map_err(said)?;
    socket.set_nodelay(true).map_err(said)?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    socket.set_nonblocking(true).map_err(said)?;
    let mut buffer = vec![0; 64 * 1024];
    let mut times_ns = Vec::new();
    let begin_ns = now_ns();
    let mut intended_ns = begin_ns;
    while intended_ns < begin_ns + seconds * 1_000_000_000 {
        wait_until(intended_ns);
        let sent_ns = now_ns();
        socket.write_all(request.as_bytes()).map_err(said)?;
        let mut filled = 0;
        while !buffer[..filled].ends_with(END) {
            match socket.read(&mut buffer[filled..]) {
                Ok(0) => return Err("the server ended the connection or sent another answer".to_owned()),
                Ok(got) => filled += got,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => std::hint::spin_loop(),
                Err(error) => return Err(said(error)),
            }
        }
        times_ns.push(now_ns() - sent_ns);
        intended_ns += gap_ns;
    }
    Ok(times_ns)
}

fn wait_until(at_ns: u64) {
    let left = Duration::from_nanos(at_ns.saturating_sub(now_ns()));
    if left > WAKE {
        std::thread::sleep(left - WAKE);
    }
    while now_ns() < at_ns {
        std::hint::spin_loop();
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn median(mut times_ns: Vec<u64>) -> u64 {
    times_ns.sort_unstable();
    times_ns.get(times_ns.len() / 2).copied().unwrap_or(0)
}
