//! Synthetic logs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use units::{Rng, Seed};

/// 2026-11-21T00:00:00Z.
pub(crate) const BEGIN_S: u64 = 1_795_219_200;

/// A log's request.
pub(crate) struct Line {
    pub(crate) at_ns: u64,
    pub(crate) client: u64,
    pub(crate) method: &'static str,
    pub(crate) target: String,
    pub(crate) status: u16,
}

/// The mix that all logs have: method, route, share, and whether an id varies.
pub(crate) const MIX: [(&str, &str, f64); 4] = [
    ("GET", "/users/{id}", 0.5),
    ("GET", "/", 0.3),
    ("GET", "/img/{id}.png", 0.15),
    ("POST", "/orders", 0.05),
];

pub(crate) fn line(at_ns: u64, rng: &mut Rng) -> Line {
    let mut place = rng.unit();
    let (method, route, _) = MIX
        .into_iter()
        .find(|(_, _, share)| {
            place -= share;
            place < 0.0
        })
        .unwrap_or(MIX[0]);
    let target = route.replace("{id}", &rng.below(5000).to_string());
    let status = if rng.unit() < 0.1 && route == "/img/{id}.png" { 404 } else { 200 };
    Line { at_ns, client: rng.below(300), method, target, status }
}

/// Poisson arrivals whose rate a function of time gives, up to `peak_per_s`, by thinning.
pub(crate) fn poisson(seconds: f64, peak_per_s: f64, rate: impl Fn(f64) -> f64, seed: Seed) -> Vec<Line> {
    let mut rng = seed.rng();
    let (mut at_s, mut lines) = (0.0, Vec::new());
    loop {
        at_s += rng.exponential() / peak_per_s;
        if at_s >= seconds {
            return lines;
        }
        if rng.unit() * peak_per_s < rate(at_s) {
            lines.push(line((at_s * 1e9) as u64, &mut rng));
        }
    }
}

/// Arrivals that come in bursts: quiet and busy times of random length take turns.
pub(crate) fn bursty(seconds: f64, seed: Seed) -> Vec<Line> {
    let mut rng = seed.derive("phases", 0).rng();
    let mut phases = vec![(0.0, false)];
    while phases.last().unwrap().0 < seconds {
        let (begin, busy) = *phases.last().unwrap();
        phases.push((begin + rng.exponential() * if busy { 2.0 } else { 8.0 }, !busy));
    }
    let rate = |at_s: f64| {
        let phase = phases.partition_point(|(begin, _)| *begin <= at_s) - 1;
        if phases[phase].1 { 150.0 } else { 10.0 }
    };
    poisson(seconds, 150.0, rate, seed)
}

pub(crate) fn combined(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        let second = line.at_ns / 1_000_000_000;
        let (h, m, s) = (second / 3600 % 24, second / 60 % 60, second % 60);
        let day = 21 + second / 86_400;
        let Line { client, method, target, status, .. } = line;
        writeln!(
            text,
            "10.0.{}.{} - - [{day:02}/Nov/2026:{h:02}:{m:02}:{s:02} +0000] \"{method} {target} HTTP/1.1\" {status} 512 \"-\" \"test\"",
            client / 256,
            client % 256
        )
        .unwrap();
    }
    text
}

/// nginx's JSON with milliseconds and a time taken of 20 ms.
pub(crate) fn json(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        let at_ms = BEGIN_S * 1000 + line.at_ns / 1_000_000;
        let Line { client, method, target, status, .. } = line;
        writeln!(
            text,
            "{{\"msec\":\"{}.{:03}\",\"remote_addr\":\"10.0.0.{client}\",\"request\":\"{method} {target} HTTP/1.1\",\
             \"status\":{status},\"body_bytes_sent\":512,\"request_time\":\"0.020\"}}",
            at_ms / 1000,
            at_ms % 1000
        )
        .unwrap();
    }
    text
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}
