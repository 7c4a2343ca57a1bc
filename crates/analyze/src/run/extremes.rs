//! What load tools print beside rate and quantiles: the longest response, and how far the target's CPUs were used.
//!
//! Neither is compared, for neither is the mean of anything: the longest response grows with the length of a run, and the
//! busiest interval with their number.

use super::TrialData;
use super::asked;
use super::data::RunData;
use schema::analysis::Extremes;
use schema::plan::CellPlan;
use schema::trial::IntervalLine;

const CPU: &str = "target.process/cpu_ns";

/// Over the valid trials of a cell; what no trial has is absent.
pub(super) fn extremes(data: &RunData<'_>, cell: &CellPlan) -> Extremes {
    let allowed = asked::allowed(data.plan, cell);
    let (mut cpu_s, mut window_s) = (0.0, 0.0);
    let mut found = Extremes::default();
    for trial in data.valid(&cell.id) {
        let Some(load) = &trial.file.load else { continue };
        found.max_ns = found.max_ns.max(load.latency_ns.response.max);
        if let Some(used_s) = trial.file.target.cpu_s {
            cpu_s += used_s;
            window_s += load.window.duration_ns as f64 / 1e9;
        }
        found.cpu_peak = highest(found.cpu_peak, busiest(trial).zip(allowed).map(|(cpus, all)| cpus / all));
    }
    let is_share = |share: &f64| share.is_finite() && *share >= 0.0;
    found.cpu =
        allowed.map(|allowed| cpu_s / window_s / allowed).filter(|share| window_s > 0.0 && is_share(share));
    found.cpu_peak = found.cpu_peak.filter(is_share);
    found
}

/// CPUs that the target used in the interval in which it used most.
fn busiest(trial: &TrialData) -> Option<f64> {
    let signals = trial.signals.as_ref()?;
    let used = signals.deltas.get(CPU)?;
    let of = |(end, used_ns): (&u64, &Option<f64>)| {
        let line = trial.intervals.iter().find(|line| line.end_ns == *end)?;
        Some((*used_ns)? / length_ns(line)?)
    };
    signals.ends_ns.iter().zip(used).filter_map(of).reduce(f64::max)
}

fn length_ns(line: &IntervalLine) -> Option<f64> {
    line.end_ns.checked_sub(line.start_ns).filter(|length| *length > 0).map(|length| length as f64)
}

fn highest(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    [one, other].into_iter().flatten().reduce(f64::max)
}
