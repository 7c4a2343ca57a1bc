//! The experiment of a model: an open load with the arrivals of the log.

use super::{Experiment, quoted, recording};
use crate::model::Model;
use schema::arrival::{Arrivals, Level, Point};
use std::fmt::Write as _;
use units::{Nanos, PerSecond};

/// Connections that a load begins with.
const CONNECTIONS: u64 = 64;
/// The most that a load of requests may open.
pub(crate) const CONNECTIONS_MAX: u64 = 4096;
/// Longest sample of an experiment: a day.
const SAMPLE_S_MAX: u64 = 86_400;

/// The text of the file. `fitted` is the law to be sent; without it the recorded times are.
pub(super) fn text(of: &Experiment<'_>, fitted: Option<&Arrivals>) -> String {
    let Experiment { model, verdict, what, connections_max, name, url } = of;
    let mut text = format!(
        "# Made by `prony model` from {} {what} over {} s.\n# {}\n\n[experiment]\nname = {}\n\
         question = \"What does the traffic of the log do to this server?\"\nblocks = 1\nseed = 1\n\n\
         [[target]]\nurl = {}\n\n[scenario]\nuse = {}\n\n[load]\nmodel = \"open\"\nconnections = {CONNECTIONS}\nmax_connections = {connections_max}\n",
        model.requests,
        model.span_s,
        verdict.text,
        quoted(name),
        quoted(url),
        quoted(name),
    );
    text += &match fitted {
        Some(law) => pacing(model, law),
        None => format!(
            "# Twice as fast: add `speed = 2` and halve the sample.\narrivals = {{ law = \"recorded\", file = {} }}\n",
            quoted(&recording(name).display().to_string())
        ),
    };
    // The rate changes over time, so the warm-up has a fixed length; none, so that all of the log is measured.
    let (samples, sample_s) = samples(model.span_s);
    let _ = write!(
        text,
        "\n[phases]\nwarmup = {{ at_least = \"0s\", at_most = \"0s\" }}\nsample = \"{sample_s}s\"\nsamples = {samples}\n"
    );
    text
}

/// Samples and the length of each, in seconds, that together hold a log of this length.
fn samples(span_s: u64) -> (u64, u64) {
    let samples = span_s.div_ceil(SAMPLE_S_MAX).max(1);
    (samples, span_s.div_ceil(samples).max(1))
}

/// Law, mean rate and shape.
fn pacing(model: &Model, law: &Arrivals) -> String {
    let law = match law {
        Arrivals::Weibull { shape } => format!("weibull:shape={}", shape.0),
        Arrivals::Gamma { shape } => format!("gamma:shape={}", shape.0),
        Arrivals::Lognormal { cv } => format!("lognormal:cv={}", cv.0),
        Arrivals::Mmpp { high, low, high_for, low_for } => {
            let low = low.map_or(1.0, |low| low.0);
            format!("mmpp:high={},low={low},high_for={high_for},low_for={low_for}", high.0)
        }
        _ => "poisson".to_owned(),
    };
    let mut text = format!("rate = {}\narrivals = {}\n", digits(model.rate_per_s()), quoted(&law));
    if model.stretches.len() < 2 {
        return text;
    }
    text += "shape = { kind = \"piecewise\", points = [\n";
    for stretch in &model.stretches {
        let level = Level::PerSecond(PerSecond(digits(stretch.per_s())));
        for at_s in [stretch.begin_s, stretch.begin_s + stretch.length_s] {
            let point = Point { at: Nanos::from_secs(at_s), level };
            let _ = writeln!(text, "  \"{}@{}\",", point.at, point.level);
        }
    }
    text + "] }\n"
}

/// Seven digits: enough for one request in a day at 100/s.
fn digits(per_s: f64) -> f64 {
    format!("{per_s:.6e}").parse().unwrap_or(per_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_has_several_samples() {
        assert_eq!(samples(0), (1, 1));
        assert_eq!(samples(86_400), (1, 86_400));
        assert_eq!(samples(86_401), (2, 43_201));
        assert_eq!(samples(259_199), (3, 86_400));
    }
}
