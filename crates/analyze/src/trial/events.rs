//! What the load saw of an event: before it, at its worst, and how long until all was as before.
//!
//! Pure: interval lines and a time in, numbers out. Only intervals of the samples are looked at.

use schema::event::{Around, EventEffect};
use schema::trial::{IntervalLine, Phase};

/// Intervals before an event that are looked at, at most.
const BEFORE: usize = 10;
/// Share of the throughput before from which on it counts as recovered.
const RECOVERED_SHARE: f64 = 0.95;

/// What `lines`, in order of time, show of an event that began at `began_ns`; `None` where no whole interval of the
/// samples lies before it, or none after.
#[must_use]
pub fn event_effect(lines: &[IntervalLine], began_ns: u64) -> Option<EventEffect> {
    let samples: Vec<&IntervalLine> = lines.iter().filter(|line| line.phase == Some(Phase::Sample)).collect();
    let split = samples.partition_point(|line| line.end_ns <= began_ns);
    let (earlier, later) = samples.split_at(split);
    let earlier = &earlier[earlier.len().saturating_sub(BEFORE)..];
    if earlier.is_empty() || later.is_empty() {
        return None;
    }
    let before = together(earlier);
    let is_back = |line: &&&IntervalLine| {
        let now = together(&[line]);
        now.throughput_per_s >= RECOVERED_SHARE * before.throughput_per_s
            && now.failed_per_s <= before.failed_per_s
    };
    let back = later.iter().position(|line| is_back(&line));
    // The event's own interval belongs to it even where it looks as good as any other.
    let during = &later[..back.unwrap_or(later.len()).max(1)];
    let failed: u64 = during.iter().map(|line| failed(line)).sum();
    let usual = before.failed_per_s * seconds(during);
    Some(EventEffect {
        before,
        worst: worst(during),
        lost: (failed as f64 - usual).max(0.0).round() as u64,
        recovered_ns: back.map(|at| later[at].start_ns.saturating_sub(began_ns)),
    })
}

fn together(lines: &[&IntervalLine]) -> Around {
    let seconds = seconds(lines);
    let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    let mut tails: Vec<u64> = lines.iter().filter_map(|line| line.p99_ns).collect();
    tails.sort_unstable();
    Around {
        throughput_per_s: per_second(lines.iter().map(|line| line.completed).sum()),
        p99_ns: tails.get(tails.len() / 2).copied(),
        failed_per_s: per_second(lines.iter().map(|line| failed(line)).sum()),
    }
}

fn worst(lines: &[&IntervalLine]) -> Around {
    let each: Vec<Around> = lines.iter().map(|line| together(&[line])).collect();
    Around {
        throughput_per_s: each.iter().map(|one| one.throughput_per_s).fold(f64::INFINITY, f64::min),
        p99_ns: each.iter().filter_map(|one| one.p99_ns).max(),
        failed_per_s: each.iter().map(|one| one.failed_per_s).fold(0.0, f64::max),
    }
}

fn failed(line: &IntervalLine) -> u64 {
    line.failed.values().sum()
}

fn seconds(lines: &[&IntervalLine]) -> f64 {
    lines.iter().map(|line| line.end_ns.saturating_sub(line.start_ns)).sum::<u64>() as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::load::ErrorClass;
    use std::collections::BTreeMap;

    const S: u64 = 1_000_000_000;

    /// One-second intervals of samples from 10 s on, by answers, failures and p99 in milliseconds.
    fn lines(seen: &[(u64, u64, u64)]) -> Vec<IntervalLine> {
        let line = |(index, (completed, failed, p99_ms)): (u64, &(u64, u64, u64))| IntervalLine {
            start_ns: (10 + index) * S,
            end_ns: (11 + index) * S,
            phase: Some(Phase::Sample),
            completed: *completed,
            failed: BTreeMap::from([(ErrorClass::Refused, *failed)]),
            p99_ns: Some(p99_ms * 1_000_000),
            ..IntervalLine::default()
        };
        (0..).zip(seen).map(line).collect()
    }

    #[test]
    fn a_restart_shows_its_dip_its_losses_and_its_recovery() {
        let seen = [
            (1000, 0, 5),
            (1010, 0, 7),
            (990, 0, 6),
            (400, 600, 50),
            (700, 20, 90),
            (985, 0, 6),
            (1000, 0, 5),
        ];
        let effect = event_effect(&lines(&seen), 13 * S + S / 2).unwrap();
        assert_eq!(
            effect.before,
            Around { throughput_per_s: 1000.0, p99_ns: Some(6_000_000), failed_per_s: 0.0 }
        );
        assert_eq!(
            effect.worst,
            Around { throughput_per_s: 400.0, p99_ns: Some(90_000_000), failed_per_s: 600.0 }
        );
        assert_eq!((effect.lost, effect.recovered_ns), (620, Some(3 * S / 2)));
    }

    #[test]
    fn an_event_that_changes_nothing_recovers_at_once() {
        let effect = event_effect(&lines(&[(100, 2, 5), (100, 2, 5), (100, 2, 6)]), 11 * S).unwrap();
        assert_eq!((effect.lost, effect.recovered_ns), (0, Some(0)));
        assert_eq!(effect.worst.throughput_per_s, 100.0);
    }

    #[test]
    fn an_end_without_recovery_is_told_as_one() {
        let effect = event_effect(&lines(&[(100, 0, 5), (0, 100, 5), (0, 100, 5)]), 11 * S).unwrap();
        assert_eq!((effect.lost, effect.recovered_ns), (200, None));
    }

    #[test]
    fn without_an_interval_before_or_after_there_is_no_effect() {
        let all = lines(&[(100, 0, 5), (100, 0, 5)]);
        assert_eq!(event_effect(&all, 10 * S + 1), None);
        assert_eq!(event_effect(&all, 12 * S), None);
        assert_eq!(event_effect(&[], 0), None);
    }
}
