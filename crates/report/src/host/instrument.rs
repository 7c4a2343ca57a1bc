//! What the instrument can do, in one line: quoted by every report.
//!
//! Invariant: one harmless line, also where the stored calibration is not.

use crate::{clean, format};
use schema::calibration::CalibrationSummary;
use schema::plan::DriverChoice;
use schema::said::{Joint, Said};

/// `max 61,200/s on 64 connections with 1 worker (epoll), lag p99 23.1 µs at 10,000/s, calibrated 2026-11-21`, or how
/// to get there.
#[must_use]
pub fn instrument_line(limit: Option<&CalibrationSummary>) -> String {
    let Some(limit) = limit else { return "not calibrated: run `prony calibrate`".to_owned() };
    let derived = if limit.max_rate_derived { " (derived from CPU time)" } else { "" };
    let mut line = format!(
        "max {}{derived} on {} with {} ({})",
        limit.max_rate_per_s.map_or_else(none, format::rate),
        format::counted(limit.connections.into(), "connection"),
        format::counted(limit.workers.into(), "worker"),
        driver(limit.driver),
    );
    if let Some(rate) = limit.lag_rate_per_s {
        let lag = limit.lag_p99_ns.map_or_else(|| "unknown".to_owned(), format::duration);
        line += &format!(", lag p99 {lag} at {}", format::rate(rate));
    }
    line += &format!(", calibrated {}", date(&limit.measured_wall));
    if limit.disturbed.is_some() {
        line += "; the host was not quiet then: calibrate again when it is";
    }
    if !limit.stale.is_empty() {
        line += &format!("; stale, {}: run `prony calibrate` again", Said::list(Joint::Comma, &limit.stale));
    }
    clean::line(&line)
}

/// A driver as it is named in files.
pub(crate) const fn driver(driver: DriverChoice) -> &'static str {
    match driver {
        DriverChoice::Auto => "auto",
        DriverChoice::IoUring => "io_uring",
        DriverChoice::Epoll => "epoll",
    }
}

/// The day of a wall time of RFC 3339.
fn date(wall: &str) -> &str {
    wall.split('T').next().unwrap_or(wall)
}

fn none() -> String {
    format::NONE.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_known() {
        let mut limit = CalibrationSummary {
            fingerprint: "00".into(),
            measured_wall: "2026-11-21T09:30:00Z".into(),
            driver: DriverChoice::Epoll,
            workers: 1,
            connections: 64,
            max_rate_per_s: Some(61_200.0),
            max_rate_derived: false,
            lag_rate_per_s: Some(10_000.0),
            lag_p99_ns: Some(23_100.0),
            error: None,
            disturbed: None,
            stale: vec![],
            shortfalls: vec![],
        };
        let line = "max 61,200/s on 64 connections with 1 worker (epoll), lag p99 23.1 µs at 10,000/s, calibrated 2026-11-21";
        assert_eq!(instrument_line(Some(&limit)), line);
        limit.stale = vec!["the kernel was\n6.1 and is 6.2".into()];
        limit.lag_p99_ns = None;
        limit.max_rate_derived = true;
        let text = instrument_line(Some(&limit));
        assert!(
            text.contains("61,200/s (derived from CPU time) on") && text.contains("lag p99 unknown"),
            "{text}"
        );
        assert!(
            text.ends_with("; stale, the kernel was 6.1 and is 6.2: run `prony calibrate` again"),
            "{text}"
        );
        limit.disturbed = Some("too much to say in a line".into());
        assert!(instrument_line(Some(&limit)).contains("2026-11-21; the host was not quiet then: "));
        limit.max_rate_per_s = None;
        limit.lag_rate_per_s = None;
        assert!(instrument_line(Some(&limit)).starts_with("max – (derived"));
        assert_eq!(instrument_line(None), "not calibrated: run `prony calibrate`");
    }
}
