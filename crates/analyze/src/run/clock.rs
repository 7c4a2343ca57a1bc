//! Whether the clock of a trial ran backwards, by its phases and its intervals. Times are from one monotonic origin, so
//! what begins before its predecessor was not written by one clock: a damaged file, two runs in one folder, or a fault.
//!
//! Such a trial is left out, like a void one: neither its rates nor its samples mean anything.

use super::TrialData;

/// Whether any phase or interval ends before it begins, or begins before the one in front of it has ended.
pub(super) fn ran_backwards(trial: &TrialData) -> bool {
    let phases = trial.file.phases.iter().map(|span| (span.start_ns, span.end_ns));
    let intervals = trial.intervals.iter().map(|line| (line.start_ns, line.end_ns));
    is_disordered(phases) || is_disordered(intervals)
}

fn is_disordered(spans: impl Iterator<Item = (u64, u64)>) -> bool {
    let mut reached = 0;
    for (start, end) in spans {
        if start < reached || end < start {
            return true;
        }
        reached = end;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_or_stands_still() {
        let check = |spans: &[(u64, u64)]| is_disordered(spans.iter().copied());
        assert!(!check(&[]) && !check(&[(0, 0)]) && !check(&[(0, 5), (5, 5), (5, 9), (11, 12)]));
        assert!(check(&[(5, 4)]));
        assert!(check(&[(0, 5), (4, 9)]));
        assert!(check(&[(0, 5), (5, 9), (0, 5)]));
    }
}
