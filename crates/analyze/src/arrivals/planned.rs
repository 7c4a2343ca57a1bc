//! Whether intended times that are determined are those of the plan.

use super::{ArrivalPlan, Intensity};
use schema::arrival::RecordingEnd;

/// Constant: each time is the whole nanosecond in which Λ reaches a whole number, and no number is left out or comes
/// twice. Recorded: each time is a recorded one. Other plans have nothing to hold against.
pub(super) fn follows(
    windows: &[Vec<u64>],
    plan: &ArrivalPlan,
    intensity: &Intensity,
    recorded: Option<&[u64]>,
) -> bool {
    match plan {
        ArrivalPlan::Constant => windows.iter().all(|times| is_even(times, intensity)),
        ArrivalPlan::Recorded { speed, after, .. } => {
            let Some(recording) = recorded.filter(|times| times.len() > 1) else { return true };
            windows.iter().flatten().all(|at_ns| is_recorded(*at_ns, recording, *speed, *after))
        }
        _ => true,
    }
}

fn is_even(times: &[u64], intensity: &Intensity) -> bool {
    let numbers: Vec<f64> = times.iter().map(|at_ns| intensity.count(*at_ns)).collect();
    let near = |at_ns: u64, count: f64| {
        // Two nanoseconds of rounding, and what a double loses in a large count.
        let slack =
            2e-9 * intensity.per_s(at_ns).max(intensity.per_s(at_ns + 2)) + 1e-9 * (1.0 + count / 1e3);
        (count - count.round()).abs() <= slack
    };
    times.iter().zip(&numbers).all(|(at_ns, count)| near(*at_ns, *count))
        && numbers.windows(2).all(|pair| pair[1].round() - pair[0].round() == 1.0)
}

fn is_recorded(at_ns: u64, recording: &[u64], speed: f64, after: RecordingEnd) -> bool {
    let span_ns = recording[recording.len() - 1] - recording[0];
    let as_recorded_ns = at_ns as f64 * speed;
    let period_ns = span_ns + (span_ns / (recording.len() as u64 - 1)).max(1);
    let cycles = match after {
        RecordingEnd::Stop => 0.0,
        RecordingEnd::Repeat => ((as_recorded_ns + speed) / period_ns as f64).floor(),
    };
    let wanted = as_recorded_ns - cycles * period_ns as f64 + recording[0] as f64;
    let slack = 1.0 + speed + 1e-9 * as_recorded_ns;
    let next = recording.partition_point(|time| (*time as f64) < wanted - slack);
    recording.get(next).is_some_and(|time| (*time as f64) <= wanted + slack)
}
