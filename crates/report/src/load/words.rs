//! One load in words, before it takes the shape of text, Markdown or a page.
//!
//! Invariants: a refused percentile is a dash with its reason as a footnote; one with a wide interval is `~x` with the
//! interval below; a percentile among censored requests is `≥ x`; every string is one harmless line but not yet escaped for its format.

use super::messages;
use crate::host::instrument::instrument_line;
use crate::run::settings;
use crate::words::{Footnotes, Word};
use crate::{clean, format};
use schema::analysis::{BeliefLevel, Interval};
use schema::each::EachSummary;
use schema::load::{
    Gate, Latencies, LatencySummary, LoadReport, RankInterval, StreamSummary, ThresholdResult,
};
use schema::metric::Unit;
use std::collections::BTreeMap;

/// Share of the workers' time from which on it is said that others had their CPU.
const PUT_OFF_SHOWN: f64 = 0.001;

/// A kind of time: its name for people and its summary.
pub(crate) type Kind<'a> = (String, &'a LatencySummary);
/// A column or row of the latency table: heading, key in `refused` and `at_least`, and the value.
pub(crate) type Field = (&'static str, &'static str, fn(&LatencySummary) -> Option<f64>);

pub(crate) const FIELDS: [Field; 8] = [
    ("mean", "mean", |s| s.mean),
    ("min", "min", |s| s.min.map(|ns| ns as f64)),
    ("p50", "p50", |s| s.p50.map(|ns| ns as f64)),
    ("p90", "p90", |s| s.p90.map(|ns| ns as f64)),
    ("p95", "p95", |s| s.p95.map(|ns| ns as f64)),
    ("p99", "p99", |s| s.p99.map(|ns| ns as f64)),
    ("p99.9", "p999", |s| s.p999.map(|ns| ns as f64)),
    ("max", "max", |s| s.max.map(|ns| ns as f64)),
];

/// The fields of the short table.
pub(crate) fn short_fields() -> [Field; 6] {
    [0, 2, 3, 5, 6, 7].map(|index: usize| FIELDS[index])
}

/// All kinds of time that have something to say, or the three that most people ask for.
pub(crate) fn kinds(report: &LoadReport, all: bool) -> Vec<Kind<'_>> {
    const SHORT: [&str; 3] = ["response", "service", "send_lag"];
    let shown = |kind: &(&str, &LatencySummary)| {
        SHORT.contains(&kind.0) || (all && (kind.1.count > 0 || kind.1.censored > 0))
    };
    let named = |(key, summary): (&str, _)| (key.replace('_', " "), summary);
    let of_requests = report.latency_ns.all().into_iter().filter(shown).map(named);
    of_requests.chain(report.messages.iter().flat_map(messages::kinds)).collect()
}

/// One value of the time called `name`, with the sign of its footnote.
pub(crate) fn quantile(name: &str, summary: &LatencySummary, field: Field, notes: &mut Footnotes) -> String {
    let (heading, key, read) = field;
    if let Some(bound) = summary.at_least.get(key) {
        return format!("≥ {}", format::nanos(*bound));
    }
    match (read(summary), summary.refused.get(key)) {
        (Some(value), _) => match wide(summary.intervals.get(key)) {
            Some(ends) => {
                notes.wide(format!("{name} {heading} {ends}")).to_owned() + &format::duration(value)
            }
            None => format::duration(value),
        },
        (None, Some(reason)) => {
            let text = format!("{heading}: {}", clean::line(reason));
            format!("{}{}", format::NONE, notes.sign(&text))
        }
        (None, None) => format::NONE.to_owned(),
    }
}

/// The ends of an interval that is wide: `3.10 … 6.20 ms`.
fn wide(interval: Option<&RankInterval>) -> Option<String> {
    let interval = interval.filter(|interval| interval.is_wide)?;
    let end = |ns: Option<u64>| ns.map(|ns| ns as f64);
    Some(format::interval(Unit::Nanoseconds, &Interval { low: end(interval.low), high: end(interval.high) }))
}

/// `GET http://host/path`, or what a scenario of several requests is.
pub(crate) fn what(report: &LoadReport) -> String {
    let plan = &report.plan;
    clean::line(&plan.scenario.words(&plan.url))
}

/// Model, connections, rate, time and driver.
pub(crate) fn how(report: &LoadReport) -> String {
    let plan = &report.plan;
    let mut how = settings::load(&plan.load);
    how += &format!(", {} measured", format::setting(report.window.duration_ns));
    if plan.phases.warmup_at_most_ns > 0 {
        how += &format!(" after at most {} of warm-up", format::setting(plan.phases.warmup_at_most_ns));
    }
    how + &format!(", {}", clean::line(&plan.driver))
}

/// Names and values of what is beside rate and times.
pub(crate) fn facts(report: &LoadReport) -> Vec<(&'static str, String)> {
    let connections = &report.connections;
    let generator = &report.generator;
    let status: Vec<_> =
        report.status.iter().map(|(code, n)| format!("{code} × {}", format::count(*n))).collect();
    let mut facts = vec![
        ("status", if status.is_empty() { "no answer".to_owned() } else { status.join(", ") }),
        (
            "bytes",
            format!(
                "{} read, {} written",
                format::bytes(report.bytes.read as f64),
                format::bytes(report.bytes.written as f64)
            ),
        ),
        (
            "connections",
            format!(
                "{} asked for, {} established, {}",
                format::count(connections.asked),
                format::count(connections.established),
                format::counted(connections.reconnects, "reconnect"),
            ),
        ),
        (
            "generator",
            format!(
                "{} CPU, busiest worker {} busy, {} memory{}",
                format::duration(generator.cpu_s * 1e9),
                format::percent(generator.busy_share),
                format::bytes(generator.peak_rss_bytes as f64),
                standing(generator),
            ),
        ),
        ("instrument", instrument_line(report.instrument_limit.as_ref())),
    ];
    if !report.redirects.is_empty() {
        facts.insert(1, ("redirects", format!("followed {}", followed(&report.redirects))));
    }
    if let Some(streams) = &report.streams {
        facts.push(("streams", stream_words(streams)));
        facts.extend(wait_words(&report.latency_ns).map(|words| ("waited for", words)));
    }
    facts.extend(report.messages.iter().flat_map(messages::facts));
    if let Some(shakes) = connections.handshakes {
        let (full, resumed) = (format::count(shakes.full), format::count(shakes.resumed));
        facts.push(("handshakes", format!("{full} full, {resumed} resumed")));
    }
    facts.extend(report.each.as_ref().map(|each| ("rows", rows(each))));
    facts.extend(report.notes.iter().map(|note| ("note", clean::line(note))));
    facts
}

/// `100 a connection, 2 GOAWAY, 7 put back, 1 reset, 3 waits for a window`.
fn stream_words(streams: &StreamSummary) -> String {
    let granted = streams.granted.unwrap_or(streams.asked).min(streams.asked);
    let counts = [
        (streams.goaways, "GOAWAY"),
        (streams.requeued, "put back"),
        (streams.resets, "reset"),
        (streams.stalls, "held up by a window"),
    ];
    let seen = counts.iter().filter(|(count, _)| *count > 0);
    let seen: String = seen.map(|(count, what)| format!(", {} {what}", format::count(*count))).collect();
    format!("{} at a time on each connection{seen}", format::count(u64::from(granted)))
}

/// `a stream 48.1 ms (mean), 95.0 ms (p99); a window 1.20 ms (mean), 3.10 ms (p99)`: what requests waited for before they
/// were written, longest first. Nothing where they did not wait.
fn wait_words(times: &Latencies) -> Option<String> {
    let waits = [
        ("a connection", &times.wait_connection),
        ("a stream", &times.wait_stream),
        ("a window", &times.wait_window),
    ];
    let mut waited: Vec<(&str, f64, Option<u64>)> = waits
        .into_iter()
        .filter_map(|(what, wait)| Some((what, wait.mean.filter(|mean| *mean > 0.0)?, wait.p99)))
        .collect();
    waited.sort_by(|a, b| b.1.total_cmp(&a.1));
    let words = waited.iter().map(|(what, mean, p99)| {
        let p99 = p99.map(|ns| format!(", {} (p99)", format::nanos(ns))).unwrap_or_default();
        format!("{what} {} (mean){p99}", format::duration(*mean))
    });
    let words = words.collect::<Vec<_>>().join("; ");
    (!words.is_empty()).then_some(words)
}

/// `1,234 (302), 3 (307)`.
fn followed(redirects: &BTreeMap<u16, u64>) -> String {
    let counts: Vec<String> =
        redirects.iter().map(|(code, n)| format!("{} ({code})", format::count(*n))).collect();
    counts.join(", ")
}

/// `1,234,567 written to rows.csv, 12 dropped (ring full: disk or CPU too slow)`.
fn rows(each: &EachSummary) -> String {
    let share = match each.share {
        share if share < 1.0 => format!(", a sample of {}", format::percent(share)),
        _ => String::new(),
    };
    let dropped = match each.dropped {
        0 => "none dropped".to_owned(),
        dropped => format!("{} dropped (ring full: disk or CPU too slow)", format::count(dropped)),
    };
    format!("{} written to {}{share}, {dropped}", format::count(each.written), clean::line(&each.file))
}

/// How the workers stood among other threads, where that is not as usual.
fn standing(generator: &schema::load::Generator) -> String {
    let mut text = String::new();
    if generator.nice != 0 {
        text += &format!(", nice {}", generator.nice);
    }
    if generator.put_off_share >= PUT_OFF_SHOWN {
        text += &format!(", waited for a CPU {} of its time", format::percent(generator.put_off_share));
    }
    text
}

/// Each class of failures: `75 × timeout`, and its examples.
pub(crate) fn errors(report: &LoadReport) -> Vec<(String, Vec<String>)> {
    let examples = |class| {
        let texts = report.error_examples.get(class).into_iter().flatten();
        texts.map(|text| clean::cut(&clean::line(text), 200)).collect()
    };
    let named = |class: &schema::load::ErrorClass, n: u64| {
        format!("{} × {}", format::count(n), class.key().replace('_', " "))
    };
    report.errors.iter().map(|(class, n)| (named(class, *n), examples(class))).collect()
}

/// Whether the numbers of a load can be believed, in words.
pub(crate) struct LoadBelief {
    pub(crate) level: BeliefLevel,
    /// One sentence without its note, for example `12 checks passed`.
    pub(crate) summary: String,
    /// Names and texts of what speaks against the numbers, worst first.
    pub(crate) notes: Vec<(String, String)>,
}

/// The answer to "can these numbers be believed?". Failed requests are always said, if only in the summary.
pub(crate) fn believed(report: &LoadReport) -> LoadBelief {
    let validity = &report.validity;
    let level = validity.level();
    let gate = |gate: &Gate| (clean::line(&gate.gate).replace('_', " "), clean::line(&gate.text));
    let failures = validity.failures.as_ref();
    let weighs = |at: BeliefLevel| {
        let failures = failures.filter(move |failures| failures.level == at);
        failures.map(|failures| ("failures".to_owned(), clean::line(&failures.text)))
    };
    let mut notes: Vec<(String, String)> = validity.reasons.iter().map(gate).collect();
    notes.extend(weighs(BeliefLevel::No));
    notes.extend(weighs(BeliefLevel::WithReservations));
    notes.extend(validity.reservations.iter().map(gate));
    let mut summary = match level {
        BeliefLevel::Yes => {
            let passed = format::counted(validity.gates.len() as u64, "check");
            format!("These numbers can be believed: {passed} passed")
        }
        BeliefLevel::WithReservations => {
            let count = format::counted(notes.len() as u64, "reservation");
            format!("These numbers can be believed with {count}")
        }
        BeliefLevel::No => "These numbers must not be used".to_owned(),
    };
    if let Some(failures) = failures.filter(|failures| failures.level == BeliefLevel::Yes) {
        summary += &format!("; {}", clean::line(&failures.text));
    }
    LoadBelief { level, summary, notes }
}

/// A threshold: its answer, its expression, its number.
pub(crate) struct Limit {
    pub(crate) word: Word,
    pub(crate) expression: String,
    pub(crate) text: String,
}

pub(crate) fn limits(report: &LoadReport) -> Vec<Limit> {
    report.thresholds.iter().map(limit).collect()
}

fn limit(threshold: &ThresholdResult) -> Limit {
    Limit {
        word: crate::words::threshold(threshold),
        expression: clean::line(&threshold.expression),
        text: clean::line(&threshold.text),
    }
}
