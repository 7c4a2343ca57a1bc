//! Is the target warm? Asked at the end of every interval of a warm-up whose length is not fixed (METHOD §5).
//!
//! It is, when for every series: the latest of the last change point (PELT) and the MSER-5 truncation lies six values
//! back or more; the latter half of what follows, and twelve values at least where there are as many, has no
//! significant and material trend (PELT cuts a slow climb into stairs, each of them too short to show it; and what
//! moved long ago is cut off anyway); what users see is not still on its way to a level by more than 2 % (`approach`);
//! the last six intervals did not move (`recent`); and the conditions of the experiment hold.
//! A level that comes later cannot be known before: compilers of a second tier step in after ten seconds and more. So
//! the first look of all is after fifteen intervals, or three quarters of the longest warm-up where that is shorter: a
//! flat series ends there, and whoever knows a target that has no such step says so by a shorter `at_most`.
//! Invariants: silence is not warmth: an interval without answers restarts the count. A wrong "not yet" costs a
//! second, a wrong "warm" costs the trial, so what is doubtful waits; the longest warm-up bounds that.
//! Bound: only the last [`LOOK_BACK`] intervals are looked at, so a look stays within a few milliseconds.

use super::approach::remaining;
use super::moves::{last_step, noise_floor};
use super::recent::{self, RECENT};
use super::series::{self, Beside, Series};
use super::window::SIGNIFICANT;
use crate::stats::mser::mser5;
use crate::stats::order::median;
use crate::stats::trend::mann_kendall;
use crate::words::{number, percent};
use schema::plan::PhasePlan;
use schema::said;
use schema::said::Said;
use schema::steady::{SteadySeries, WarmUpConditions};
use schema::trial::IntervalLine;

/// Intervals that are looked at: five minutes of seconds.
pub(super) const LOOK_BACK: usize = 300;
/// Fewest intervals of a warm-up, where its longest length has room for them: a step after twelve is seen by the three
/// behind it.
const LEAST: usize = 15;
/// What may remain of an approach: over three samples of five seconds with a time constant of 20 s it moves their mean by
/// 1.1 %, about what METHOD §5 calls material over a window.
const REMAINS: f64 = 0.02;
/// Looks in a row at which no more than that may remain: of many looks some is too hopeful.
const LOOKS: usize = 5;
/// Values over which a trend is looked for at least, where there are as many.
const TREND: usize = 2 * RECENT;
/// From this many values on, the trend must also stand with the correction for autocorrelation; fewer give no
/// estimate of it.
const CORRECTED_FROM: usize = 10;
/// Ticks over which `cpu_within` is looked at.
const CPU_TICKS: usize = 6;
const SECOND_NS: u64 = 1_000_000_000;
/// A source that has been silent for so long does not answer.
const SILENCE_NS: u64 = 2_500_000_000;

/// The answer of one look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Warmth {
    /// Whether the samples may begin.
    pub is_warm: bool,
    /// Latest of the last change point and the MSER-5 truncation over the series; absent where none was looked at.
    pub settled_ns: Option<u64>,
    /// What is still awaited, in words; empty where warm.
    pub waiting_for: Vec<Said>,
}

/// How long the warm-up of a target that is warm from the start lasts: one interval after the first look, which all
/// workers must learn of. Intervals are taken for seconds.
#[must_use]
pub fn warmup_expected_ns(phases: &PhasePlan) -> u64 {
    let (at_least, at_most) = (phases.warmup_at_least_ns, phases.warmup_at_most_ns);
    let allowed = usize::try_from(at_most / SECOND_NS).unwrap_or(usize::MAX);
    let flat = (least(allowed) as u64 + 1).saturating_mul(SECOND_NS);
    flat.max(at_least).min(at_most.max(at_least))
}

/// Fewest intervals before a warm-up that may last for `allowed` intervals is looked at.
fn least(allowed: usize) -> usize {
    (allowed.saturating_mul(3) / 4).clamp(RECENT, LEAST)
}

/// Whether a target is warm, from all intervals of its warm-up so far, of which there may be `allowed`, and what was
/// read beside them.
#[must_use]
pub fn warmth(lines: &[IntervalLine], beside: &[Beside], also: &WarmUpConditions, allowed: usize) -> Warmth {
    let (least, had) = (least(allowed), lines.len());
    let lines = since_last_gap(lines);
    let mut waiting_for = Vec::new();
    let mut settled_ns = None;
    if had < least && had >= RECENT {
        waiting_for.push(said!(
            "warmth.least",
            "{least} intervals, because some targets get faster after ten seconds and more; had {had}",
            least,
            had
        ));
    }
    if lines.len() < RECENT {
        waiting_for.push(said!(
            "warmth.intervals_in_a_row",
            "{recent} intervals in a row with answers, had {had}",
            recent = RECENT,
            had = lines.len()
        ));
    } else {
        for series in series::all(lines, beside).iter().filter(|series| series.values.len() >= RECENT) {
            let look = look(series);
            settled_ns = settled_ns.max(Some(look.settled_ns(series, lines[0].start_ns)));
            waiting_for.extend(look.still);
        }
        let moved = recent::moved(lines).map(|(name, change)| {
            said!(
                "warmth.changed",
                "{name} changed by {change} in the last {recent} intervals",
                name = name.words(),
                change = percent(change),
                recent = RECENT
            )
        });
        waiting_for.extend(moved);
    }
    let now_ns = lines.last().map_or(0, |line| line.end_ns);
    waiting_for.extend(also.gc_at_most_every_ns.and_then(|every_ns| collections(beside, now_ns, every_ns)));
    waiting_for.extend(also.cpu_within.and_then(|within| cpu_spread(beside, now_ns, within)));
    Warmth { is_warm: waiting_for.is_empty(), settled_ns, waiting_for }
}

/// The last intervals that all have answers, a median and a length.
fn since_last_gap(lines: &[IntervalLine]) -> &[IntervalLine] {
    let lines = &lines[lines.len().saturating_sub(LOOK_BACK)..];
    let is_gap =
        |line: &IntervalLine| line.completed == 0 || line.p50_ns.is_none() || line.end_ns <= line.start_ns;
    let from = lines.iter().rposition(is_gap).map_or(0, |gap| gap + 1);
    &lines[from..]
}

/// What one series shows.
struct Look {
    /// Index of the first settled value.
    settled: usize,
    /// Why it is not warm.
    still: Option<Said>,
}

impl Look {
    fn settled_ns(&self, series: &Series, begin_ns: u64) -> u64 {
        self.settled.checked_sub(1).map_or(begin_ns, |last_before| series.times_ns[last_before])
    }
}

fn look(series: &Series) -> Look {
    let stepped = last_step(series);
    let cut = mser5(&series.values).map_or(0, |best| best.cut);
    let settled = stepped.max(cut);
    let rest = &series.values[settled..];
    let recent = TREND.max(rest.len() / 2).min(series.values.len());
    let looked = &series.values[series.values.len() - recent..];
    let name = series.name.words();
    let still = if rest.len() < RECENT {
        Some(said!("warmth.settled", "{name} settled only {n} intervals ago", name, n = rest.len()))
    } else if let Some(left) = approach(series) {
        Some(said!(
            "warmth.approaches",
            "{name} still approaches its level: up to {left} to go",
            name,
            left = percent(series.change(left).abs())
        ))
    } else {
        climb(looked, series.material).map(|change| {
            said!(
                "warmth.still_moves",
                "{name} still moves: {change} over {n} intervals",
                name,
                change = signed(series.change(change)),
                n = looked.len()
            )
        })
    };
    Look { settled, still }
}

/// What remains of the approach of what users see to its level, where that is more than may remain. Memory and CPU time
/// approach theirs for minutes beside answers that do not change.
fn approach(series: &Series) -> Option<f64> {
    let is_seen = matches!(series.name, SteadySeries::Throughput | SteadySeries::P50);
    let floor = noise_floor(series);
    // Outliers are left in: drawn in to their neighbours, the slow seconds of a step would look like an approach.
    let values = is_seen.then_some(&series.values)?;
    (0..LOOKS.min(values.len()))
        .filter_map(|back| remaining(&values[..values.len() - back], floor))
        .find(|left| series.change(*left).abs() > REMAINS)
}

/// The change over a stretch by its Theil–Sen slope, where Mann–Kendall finds it significant and it is material.
fn climb(values: &[f64], material: f64) -> Option<f64> {
    let trend = mann_kendall(values).ok()?;
    let corrected = if values.len() < CORRECTED_FROM { trend.p_value } else { trend.corrected_p_value };
    let change = trend.slope * (values.len() as f64 - 1.0);
    (trend.p_value.max(corrected) < SIGNIFICANT && change.abs() > material).then_some(change)
}

fn signed(change: f64) -> String {
    let sign = if change > 0.0 { "+" } else { "−" };
    format!("{sign}{}", percent(change.abs()))
}

/// What speaks against at most one collection in `every_ns`.
fn collections(beside: &[Beside], now_ns: u64, every_ns: u64) -> Option<Said> {
    let told: Vec<(u64, f64)> = beside.iter().filter_map(|tick| Some((tick.t_ns, tick.gc_cycles?))).collect();
    let wanted = said!(
        "warmth.wanted_collections",
        "at most one garbage collection in {seconds} s",
        seconds = number(every_ns as f64 / 1e9)
    );
    let Some((last_ns, _)) = told.last().filter(|(last, _)| *last + SILENCE_NS >= now_ns) else {
        return Some(said!(
            "warmth.no_runtime",
            "{wanted}: the target's runtime counters cannot be read",
            wanted
        ));
    };
    // The first increase spans the time before its own tick, which is not known here.
    let known_ns = last_ns - told[0].0;
    if known_ns < every_ns {
        return Some(known_for(wanted, number(known_ns as f64 / 1e9)));
    }
    let from = last_ns - every_ns;
    let cycles: f64 = told.iter().filter(|(at, _)| *at > from).map(|(_, cycles)| cycles).sum();
    (cycles > 1.0).then(|| said!("warmth.had", "{wanted}: had {cycles}", wanted, cycles = number(cycles)))
}

fn known_for(wanted: Said, seconds: String) -> Said {
    said!("warmth.known_for", "{wanted}: known for {seconds} s only", wanted, seconds)
}

/// What speaks against the CPU time of the last ticks lying within a share of its median.
fn cpu_spread(beside: &[Beside], now_ns: u64, within: f64) -> Option<Said> {
    let wanted = said!(
        "warmth.wanted_cpu",
        "the target's CPU within {within} over {seconds} s",
        within = percent(within),
        seconds = CPU_TICKS
    );
    let cores: Vec<(u64, f64)> = beside
        .windows(2)
        .filter(|pair| pair[1].t_ns > pair[0].t_ns)
        .filter_map(|pair| Some((pair[1].t_ns, pair[1].cpu_ns? / (pair[1].t_ns - pair[0].t_ns) as f64)))
        .collect();
    let last = &cores[cores.len().saturating_sub(CPU_TICKS)..];
    if last.last().is_none_or(|(at, _)| at + SILENCE_NS < now_ns) {
        return Some(said!("warmth.no_cpu", "{wanted}: its CPU time cannot be read", wanted));
    }
    if last.len() < CPU_TICKS {
        return Some(known_for(wanted, last.len().to_string()));
    }
    let values: Vec<f64> = last.iter().map(|(_, cores)| *cores).collect();
    let middle = median(&values)?;
    let worst = values.iter().map(|value| (value - middle).abs()).fold(0.0, f64::max);
    (worst > within * middle).then(|| {
        let spread = percent(worst / middle.max(f64::MIN_POSITIVE));
        said!("warmth.varies", "{wanted}: varies by {spread}", wanted, spread)
    })
}
