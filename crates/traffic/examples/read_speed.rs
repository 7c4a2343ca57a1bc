//! How fast a log is read and modelled, and with how much memory.
//!
//! `cargo run --release -p traffic --example read_speed -- make FILE MEGABYTES [json]` writes a synthetic log,
//! `… -- read FILE` reads lines only, `… -- model FILE` does all that `prony model` does in its one pass.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;
use units::Seed;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", file, megabytes] => make(Path::new(file), megabytes.parse()?, false),
        ["make", file, megabytes, "json"] => make(Path::new(file), megabytes.parse()?, true),
        ["read", file] => timed(file, |path| {
            let report = traffic::log::read(path, None, |_| {})?;
            Ok(report.records)
        }),
        ["model", file] => {
            timed(file, |path| Ok(traffic::model::model(&[PathBuf::from(path)], None, Seed(1))?.requests))
        }
        _ => Err("use make FILE MEGABYTES [json], read FILE, or model FILE".into()),
    }
}

type Failure = Box<dyn std::error::Error>;

fn timed(file: &str, work: impl Fn(&Path) -> Result<u64, Failure>) -> Result<(), Failure> {
    let path = Path::new(file);
    let size = std::fs::metadata(path)?.len() as f64;
    let begin = Instant::now();
    let requests = work(path)?;
    let seconds = begin.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown");
    println!(
        "{requests} requests in {seconds:.2} s: {:.2} GB/min, {:.2} million lines/s, {peak}",
        size / 1e9 / seconds * 60.0,
        requests as f64 / 1e6 / seconds
    );
    Ok(())
}

/// A log of an ordinary shop, 500 requests a second.
fn make(path: &Path, megabytes: u64, json: bool) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut rng = Seed(1).rng();
    let (mut written, mut number, mut line) = (0, 0_u64, String::new());
    while written < megabytes * 1_000_000 {
        number += 1;
        let second = number / 500;
        let (client, id) = (rng.below(60_000), rng.below(100_000));
        let target = match rng.below(10) {
            0..4 => format!("/api/v1/products/{id}?ref=list&page={}", id % 9),
            4..6 => format!("/static/img/{id:x}f00d{:04}.webp", id % 1000),
            6..9 => format!("/category/{}/offers", ["shoes", "hats", "coats"][id as usize % 3]),
            _ => "/".to_owned(),
        };
        line.clear();
        let (a, b) = (client / 256, client % 256);
        if json {
            let ms = number * 2 % 1000;
            writeln!(
                line,
                "{{\"msec\":\"{}.{ms:03}\",\"remote_addr\":\"10.1.{a}.{b}\",\"request\":\"GET {target} HTTP/1.1\",\"status\":200,\"body_bytes_sent\":{},\"request_time\":\"0.012\",\"http_user_agent\":\"Mozilla/5.0 (X11; Linux x86_64)\"}}",
                1_795_219_200 + second,
                id % 40_000
            )?;
        } else {
            let (day, h, m, s) =
                (1 + second / 86_400 % 28, second / 3600 % 24, second / 60 % 60, second % 60);
            writeln!(
                line,
                "10.1.{a}.{b} - - [{day:02}/Nov/2026:{h:02}:{m:02}:{s:02} +0000] \"GET {target} HTTP/1.1\" 200 {} \"https://shop.example/\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/126.0 Safari/537.36\"",
                id % 40_000
            )?;
        }
        out.write_all(line.as_bytes())?;
        written += line.len() as u64;
    }
    Ok(out.flush()?)
}
