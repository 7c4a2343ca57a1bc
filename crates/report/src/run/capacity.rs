//! Capacity in words: the baseline table of each ladder, the trials of each search, and what was found, line by line.

use crate::{clean, format};
use schema::analysis::{AnalysisFile, Interval};
use schema::capacity::{
    Capacity, CapacityRow, Estimate, Hysteresis, Knee, LoadAxis, Scaling, SearchPurpose, SearchResult,
    SearchStep, UslFit, UslPoint,
};
use schema::metric::Unit;
use schema::said::{Joint, Said};

/// What the table shows.
pub(crate) const ABOUT: &str = "Centre over the valid trials of each level, with its interval. X·(R + Z) is the \
    concurrency that throughput and response time imply; the bound is what the CPUs, and users that never wait, allow \
    (operational laws). The bend is the second difference of throughput, both logarithmic.";

/// Heads of the columns after the load.
pub(crate) const HEADER: [&str; 9] =
    ["Throughput", "Interval", "p95", "Interval", "Errors", "X·(R + Z)", "CPUs busy", "Bound", "Bend"];
/// Heads of the trials of a search.
pub(crate) const STEPS_HEADER: [&str; 5] = ["Trial", "Rate", "For", "Objective", "Why"];
/// Heads of the table of hysteresis.
pub(crate) const HYSTERESIS_HEADER: [&str; 6] =
    ["Load", "Metric", "Up against down", "Interval", "Pairs", "Difference"];

/// One ladder or search.
pub(crate) struct CapacityView {
    /// The target, and what else tells it from others.
    pub(crate) name: String,
    pub(crate) answer: String,
    /// Head of the first column.
    pub(crate) axis: &'static str,
    /// Load and the values under [`HEADER`].
    pub(crate) rows: Vec<(String, [String; 9])>,
    /// What was found: a name and a sentence.
    pub(crate) found: Vec<(&'static str, String)>,
    pub(crate) hysteresis: Vec<[String; 6]>,
    pub(crate) steps: Vec<[String; 5]>,
}

/// All ladders and searches, in the order of the analysis.
pub(crate) fn views(analysis: &AnalysisFile) -> Vec<CapacityView> {
    analysis.capacity.iter().map(view).collect()
}

fn view(capacity: &Capacity) -> CapacityView {
    let level = if capacity.level.is_empty() { String::new() } else { format!(", {}", capacity.level) };
    CapacityView {
        name: clean::line(&format!("{}{level}", capacity.target)),
        answer: clean::line(&capacity.answer),
        axis: match capacity.axis {
            LoadAxis::Connections => "Connections",
            LoadAxis::Rate => "Offered",
        },
        rows: capacity.rows.iter().map(|row| (load(row.load, capacity.axis), values(row))).collect(),
        found: found(capacity),
        hysteresis: capacity.hysteresis.iter().map(|row| turned(row, capacity.axis)).collect(),
        steps: capacity.search.iter().flat_map(|search| &search.steps).map(step).collect(),
    }
}

fn load(load: f64, axis: LoadAxis) -> String {
    match axis {
        LoadAxis::Connections => number(load),
        LoadAxis::Rate => format::rate(load),
    }
}

/// A count that may be a fraction.
fn number(value: f64) -> String {
    if value >= 100.0 { format::count(value.round() as u64) } else { format::axis(value) }
}

fn values(row: &CapacityRow) -> [String; 9] {
    let laws = &row.laws;
    let implied = laws.concurrency.map_or_else(none, number);
    let sign = match laws.holds {
        Some(false) => " (!)",
        _ => "",
    };
    let bound = laws.bound_per_s.map_or_else(none, format::rate);
    let share = laws.bound_share.map_or(String::new(), |share| format!(" ({})", format::percent(share)));
    [
        value(&row.throughput_per_s, Unit::PerSecond),
        interval(&row.throughput_per_s, Unit::PerSecond),
        value(&row.p95_ns, Unit::Nanoseconds),
        interval(&row.p95_ns, Unit::Nanoseconds),
        value(&row.error_rate, Unit::Share),
        format!("{implied}{sign}"),
        laws.cpus_busy.map_or_else(none, |cpus| format!("{cpus:.2}")),
        format!("{bound}{share}"),
        row.second_difference.map_or_else(none, |bend| format!("{bend:+.2}")),
    ]
}

fn value(estimate: &Estimate, unit: Unit) -> String {
    estimate.value.map_or_else(none, |value| format::value(unit, value))
}

fn interval(estimate: &Estimate, unit: Unit) -> String {
    estimate.interval.as_ref().map_or_else(none, |interval| format::interval(unit, interval))
}

fn found(capacity: &Capacity) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    match (&capacity.highest, &capacity.highest_refused) {
        (Some(highest), refused) => {
            let sure = match (&highest.interval, highest.refused.as_ref().or(refused.as_ref())) {
                (Some(interval), _) => format!(" ({})", format::interval(Unit::PerSecond, interval)),
                (None, Some(reason)) => format!(" (no interval: {reason})"),
                (None, None) => String::new(),
            };
            let (from, to) = (load(highest.from_load, capacity.axis), load(highest.to_load, capacity.axis));
            found.push((
                "Highest throughput",
                format!("{}{sure}, from {from} to {to}", format::rate(highest.per_s)),
            ));
        }
        (None, Some(reason)) => found.push(("Highest throughput", format!("refused: {reason}"))),
        (None, None) => {}
    }
    for knee in &capacity.knees {
        let name = if knee.metric == schema::metric::Metric::Throughput {
            "Knee of throughput"
        } else {
            "Knee of p95"
        };
        found.push((name, bent(knee, capacity.axis)));
    }
    found.extend(capacity.scaling.iter().flat_map(scaling));
    match (&capacity.usl, &capacity.usl_refused) {
        (Some(fit), _) => found.extend(law(fit)),
        (None, Some(reason)) => found.push(("Scalability law", format!("refused: {reason}"))),
        (None, None) => {}
    }
    found.extend(hysteresis(capacity).into_iter().map(|text| ("Hysteresis", text)));
    found.extend(capacity.search.iter().flat_map(searched));
    found.into_iter().map(|(name, text)| (name, clean::line(&text))).collect()
}

fn bent(knee: &Knee, axis: LoadAxis) -> String {
    let named = |name: &str, at: Option<f64>| at.map(|at| format!("{name} {}", load(at, axis)));
    let hints: Vec<String> = [named("Kneedle", knee.kneedle), named("sharpest bend", knee.sharpest)]
        .into_iter()
        .flatten()
        .collect();
    let hints = if hints.is_empty() { String::new() } else { format!("; {}", hints.join(", ")) };
    let slopes = match (knee.slope_before, knee.slope_after, knee.delta_bic) {
        (Some(before), Some(after), Some(bic)) => format!("slopes {before:.2} and {after:.2}, ΔBIC {bic:.1}"),
        _ => "not fitted".to_owned(),
    };
    match (knee.at, &knee.refused) {
        (Some(at), _) => {
            let end =
                |end: Option<f64>, open: &str| end.map_or_else(|| open.to_owned(), |end| load(end, axis));
            let Interval { low, high } = knee.interval.unwrap_or(Interval { low: None, high: None });
            format!(
                "{} ({} … {}; {slopes}{hints})",
                load(at, axis),
                end(low, "the first levels"),
                end(high, "the last levels")
            )
        }
        (None, reason) => {
            let reason = reason.as_deref().unwrap_or("no reason given");
            format!("refused: {reason} ({slopes}{hints})")
        }
    }
}

/// Which laws describe the ladder, and what they say beyond it.
fn scaling(found: &Scaling) -> Vec<(&'static str, String)> {
    let mut rows = vec![("Law of throughput", found.text.to_string())];
    let point = |point: &UslPoint| {
        let interval = interval(&point.per_s, Unit::PerSecond);
        format!("{} at {} ({interval})", value(&point.per_s, Unit::PerSecond), number(point.n))
    };
    match &found.refused {
        Some(reason) => rows.push(("… beyond the ladder", format!("refused: {reason}"))),
        None => {
            let points: Vec<String> = found.predictions.iter().map(point).collect();
            rows.push(("… beyond the ladder", points.join("; ")));
        }
    }
    rows
}

fn law(fit: &UslFit) -> Vec<(&'static str, String)> {
    let plain = |estimate: &Estimate, digits: usize| {
        let show = |value: f64| if digits == 0 { number(value) } else { format!("{value:.digits$e}") };
        let value = estimate.value.map_or_else(|| "∞".to_owned(), show);
        let interval = estimate.interval.map_or(String::new(), |interval| {
            let end = |end: Option<f64>| end.map_or_else(|| "∞".to_owned(), show);
            format!(" ({} … {})", end(interval.low), end(interval.high))
        });
        format!("{value}{interval}")
    };
    let beyond = if fit.peak_is_beyond { ", beyond the ladder: a prediction" } else { "" };
    let predicted: Vec<String> = fit
        .predictions
        .iter()
        .map(|point| {
            let mark = if point.is_beyond { " (beyond the ladder)" } else { "" };
            format!("{}/s at {}{mark}", plain(&point.per_s, 0), number(point.n))
        })
        .collect();
    let mut rows = vec![(
        "Scalability law",
        format!(
            "α {}, β {}, γ {}/s; largest misfit {}",
            plain(&fit.alpha, 2),
            plain(&fit.beta, 2),
            plain(&fit.gamma, 0),
            format::percent(fit.misfit)
        ),
    )];
    let peak = match fit.peak_is_shown {
        true => format!("{}/s at N* = {}{beyond}", plain(&fit.peak_per_s, 0), plain(&fit.peak, 0)),
        false => "none: no trial shows a decline".to_owned(),
    };
    rows.push(("… its peak", peak));
    // Older files.
    if !predicted.is_empty() {
        rows.push(("… predicts", predicted.join("; ")));
    }
    rows
}

fn searched(search: &SearchResult) -> Vec<(&'static str, String)> {
    let mut found = vec![("Objective", search.objective.join(" and "))];
    let verified = search.verified_per_s.map_or_else(
        || "none".to_owned(),
        |rate| {
            format!(
                "{} ({} of {} passed, {} of them right after a rate that failed)",
                format::rate(rate),
                search.confirmations,
                search.confirmations,
                search.after_failure
            )
        },
    );
    found.push(("Verified rate", verified));
    if let Some(limit) = &search.limit {
        found.push(("Where it turns", format::interval(Unit::PerSecond, limit)));
    }
    found.extend(search.refused.clone().map(|reason| ("Reservation", reason.into())));
    found
}

fn step(step: &SearchStep) -> [String; 5] {
    let purpose = match step.purpose {
        SearchPurpose::Bracket => "bracket",
        SearchPurpose::Bisect => "bisection",
        SearchPurpose::Confirm => "confirmation",
    };
    let verdict = match step.passed {
        Some(true) => "met",
        Some(false) => "not met",
        None => "not judged",
    };
    [
        step.trial.to_string(),
        format::rate(step.rate_per_s),
        purpose.to_owned(),
        verdict.to_owned(),
        clean::line(&Said::list(Joint::Semicolon, &step.reasons)),
    ]
}

/// What differs between up and down, or that nothing does, or why it is unknown.
fn hysteresis(capacity: &Capacity) -> Vec<String> {
    let rows = &capacity.hysteresis;
    let shown: Vec<String> = rows
        .iter()
        .filter(|row| row.is_shown)
        .map(|row| {
            let [load, metric, change, interval, ..] = turned(row, capacity.axis);
            format!("{metric} at {load} differs by {change} ({interval}) on the way up against the way down")
        })
        .collect();
    match (shown.is_empty(), rows.iter().find_map(|row| row.refused.as_deref())) {
        (false, _) => shown,
        (true, _) if rows.is_empty() => Vec::new(),
        (true, Some(reason)) if rows.iter().all(|row| row.interval.is_none()) => {
            vec![format!("refused: {reason}")]
        }
        (true, _) => vec!["none is shown: no level differs beyond the margin".to_owned()],
    }
}

fn turned(row: &Hysteresis, axis: LoadAxis) -> [String; 6] {
    let [change, interval] = format::changes(row.ratio, row.interval.as_ref());
    let interval = match (&row.interval, &row.refused) {
        (Some(_), _) => interval,
        (None, Some(reason)) => clean::line(reason),
        (None, None) => none(),
    };
    [
        load(row.load, axis),
        row.metric.title().to_owned(),
        change,
        interval,
        row.pairs.to_string(),
        if row.is_shown { "shown" } else { "not shown" }.to_owned(),
    ]
}

fn none() -> String {
    format::NONE.to_owned()
}
