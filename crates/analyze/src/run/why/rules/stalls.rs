//! From outside: again and again nothing was answered though requests were in flight, as if all of the target stood
//! still. A lock or a pool that is merely full goes on answering, and so does a slow service of independent requests:
//! of these, twenty answers would be due in the time, and the gap is longer than two requests take.
//!
//! Read of the load alone. Absent on purpose: gaps that the generator itself made by waiting for a CPU, and a name for
//! what stood still.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::stats::order::median;
use crate::words::{duration, number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;
use schema::said::Said;
use schema::trial::StallSpan;

const LENGTH_NS: f64 = 20e6;
/// Answers that were due in the time; e⁻²⁰ is the chance of none where they are independent.
const DUE: f64 = 20.0;
/// Median response times that it is longer than.
const MEDIANS: f64 = 2.0;
/// In each trial.
const TIMES: usize = 2;
/// Share of the time.
const SOME: f64 = 0.01;
const MUCH: f64 = 0.05;
/// Share of the time from which they hold back whatever the tail is.
const ACCOUNTS: f64 = 0.1;
/// Distances between stalls are a period where three quarters of them lie this close to their median.
const REGULAR: f64 = 0.1;
const MOST: f64 = 0.75;
const DISTANCES: usize = 3;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::Stalls,
    stage: Stage::Outside,
    source: "gaps between answers with requests in flight, which independent requests do not leave",
    explains: &[FindingCause::WaitsInside],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let trials = scene.stalls();
    let (Some(throughput), Some(p50), Some(p99)) =
        (scene.throughput(), scene.quantile(0.5), scene.quantile(0.99))
    else {
        return Judgement::NotAsked;
    };
    let least = LENGTH_NS.max(MEDIANS * p50).max(DUE / throughput.max(f64::MIN_POSITIVE) * 1e9);
    let long: Vec<Vec<StallSpan>> = trials
        .iter()
        .map(|spans| spans.iter().filter(|span| length(span) >= least).copied().collect())
        .collect();
    let lengths: Vec<f64> = long.iter().flatten().map(length).collect();
    let seconds = scene.sampled_seconds();
    let share = lengths.iter().sum::<f64>() / 1e9 / seconds;
    if lengths.is_empty() || !share.is_finite() {
        return Judgement::NotAsked;
    }
    let length = middle(&lengths);
    // Where only the tail meets them, they must make it.
    let matters = share >= ACCOUNTS || (share >= SOME && length >= p99 / 2.0);
    if long.iter().any(|spans| spans.len() < TIMES) || !matters {
        return Judgement::RuledOut(said!(
            "why.stalls.seldom",
            "answers stopped {times} times in {seconds} s while requests were in flight, {share} of the time",
            times = lengths.len(),
            seconds = number(seconds),
            share = percent(share)
        ));
    }
    let put_off = scene.loads().map(|load| load.generator.put_off_share).fold(0.0, f64::max);
    if put_off >= share / 2.0 {
        return Judgement::RuledOut(said!(
            "why.stalls.generator",
            "the generator itself waited for a CPU for {put_off} of the time, so that gaps between answers say \
             nothing",
            put_off = percent(put_off)
        ));
    }
    let in_flight: Vec<f64> = long.iter().flatten().map(|span| span.in_flight as f64).collect();
    let text = said!(
        "why.stalls.found",
        "it stood still {times} times in {seconds} s{every}: no request ended for {length} while {in_flight} were in \
         flight, {share} of the time",
        times = lengths.len(),
        seconds = number(seconds),
        every = every(&long),
        length = duration(length),
        in_flight = number(middle(&in_flight)),
        share = percent(share)
    );
    let remedy = said!(
        "why.stalls.remedy",
        "it can be a pause of its runtime such as garbage collection, or a job that holds a lock which all requests need; \
         it can also be a checkpoint or a full disk queue behind it, or its CPU being taken away; a pool that is too \
         small makes no stalls. \
         To tell which, let it report its pauses (`[metrics]`), and compare the period with those of its timers"
    );
    Draft::new(text, if share >= MUCH { Severity::High } else { Severity::Medium }, remedy)
        .evidence(
            said!("why.stalls.length", "length, the median"),
            duration(length),
            Some(duration(least).into()),
            "intervals.ndjson stalls",
        )
        .evidence(
            said!("why.stalls.share", "share of the time"),
            percent(share),
            Some(percent(SOME).into()),
            "intervals.ndjson stalls",
        )
        .link(Link::Accounts(share.max((length / p99).min(1.0))))
        .try_this(
            Change::ByHand,
            said!("why.stalls.without", "the timer or the collector that has this period turned off"),
            (schema::metric::Metric::P99, 0.8),
        )
        .found()
}

/// The median; 0 of none.
fn middle(values: &[f64]) -> f64 {
    median(values).unwrap_or_default()
}

const fn length(span: &StallSpan) -> f64 {
    span.end_ns.saturating_sub(span.start_ns) as f64
}

/// The period, where they have one.
fn every(trials: &[Vec<StallSpan>]) -> Said {
    let distances: Vec<f64> = trials
        .iter()
        .flat_map(|spans| spans.windows(2))
        .filter_map(|pair| Some(pair[1].start_ns.checked_sub(pair[0].start_ns)? as f64))
        .collect();
    if distances.len() < DISTANCES {
        return Said::default();
    }
    let period = middle(&distances);
    let close = distances.iter().filter(|distance| (*distance - period).abs() <= REGULAR * period).count();
    match close as f64 >= MOST * distances.len() as f64 {
        true => said!("why.stalls.every", ", one every {period}", period = duration(period)),
        false => said!("why.stalls.irregular", ", at no regular distance"),
    }
}
