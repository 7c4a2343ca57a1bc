//! What a target's runtime allocated per right answer, from its counters beside the load.
//!
//! Counters are read once a second, not at the borders of the samples, so the rate is that of the readings that lie
//! wholly within the samples. Absent, never zero, where there is no such reading.
//! Absent on purpose: reading the runtime, which is the work of crate collect.

use schema::load::Window;
use schema::trial::{CounterLine, Phase, PhaseSpan};

/// Bytes allocated between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reading {
    begin_ns: u64,
    end_ns: u64,
    bytes: f64,
}

/// All readings of one trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Allocations {
    readings: Vec<Reading>,
    last_ns: Option<u64>,
}

impl Allocations {
    /// Takes what a line says about a runtime; other lines are passed over.
    pub(crate) fn add(&mut self, line: &CounterLine) {
        if line.source != collect::go_runtime::NAME {
            return;
        }
        let begin_ns = self.last_ns.replace(line.t_ns);
        if let (Some(begin_ns), Some(bytes)) = (begin_ns, line.deltas.get("alloc_bytes")) {
            self.readings.push(Reading { begin_ns, end_ns: line.t_ns, bytes: *bytes });
        }
    }

    /// Bytes per right answer within the samples.
    pub(crate) fn per_request(&self, phases: &[PhaseSpan], window: &Window) -> Option<f64> {
        let samples = || phases.iter().filter(|span| span.phase == Phase::Sample);
        let begin_ns = samples().map(|span| span.start_ns).min()?;
        let end_ns = samples().map(|span| span.end_ns).max()?;
        let inside = self.readings.iter().filter(|one| one.begin_ns >= begin_ns && one.end_ns <= end_ns);
        let (bytes, time_ns) = inside.fold((0.0, 0.0), |(bytes, time_ns), one| {
            (bytes + one.bytes, time_ns + one.end_ns.saturating_sub(one.begin_ns) as f64)
        });
        if time_ns <= 0.0 || window.answers == 0 {
            return None;
        }
        let answers_in_time = window.answers as f64 * time_ns / window.duration_ns as f64;
        Some(bytes / answers_in_time).filter(|bytes| bytes.is_finite() && *bytes >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const SECOND_NS: u64 = 1_000_000_000;

    fn line(source: &str, second: u64, bytes: Option<f64>) -> CounterLine {
        let deltas = bytes.map(|bytes| ("alloc_bytes".to_owned(), bytes)).into_iter().collect();
        CounterLine {
            t_ns: second * SECOND_NS,
            source: source.to_owned(),
            gauges: BTreeMap::new(),
            deltas,
            ..CounterLine::default()
        }
    }

    fn phases() -> [PhaseSpan; 3] {
        let span = |phase, sample, start: f64, end: f64| PhaseSpan {
            phase,
            sample,
            start_ns: (start * 1e9) as u64,
            end_ns: (end * 1e9) as u64,
        };
        [
            span(Phase::Warmup, None, 0.0, 2.5),
            span(Phase::Sample, Some(1), 2.5, 4.5),
            span(Phase::Sample, Some(2), 4.5, 6.5),
        ]
    }

    fn per_request(lines: &[CounterLine], answers: u64) -> Option<f64> {
        let mut allocations = Allocations::default();
        lines.iter().for_each(|line| allocations.add(line));
        let window = Window { duration_ns: 4 * SECOND_NS, answers, ..Window::default() };
        allocations.per_request(&phases(), &window)
    }

    #[test]
    fn only_readings_within_the_samples_count() {
        let go = |second, bytes: f64| line("go.runtime", second, Some(bytes));
        // 3 to 4, 4 to 5, 5 to 6 lie inside: 600 bytes in 3 s, 25 answers a second.
        let lines = [
            line("go.runtime", 1, None),
            go(2, 9e9),
            go(3, 9e9),
            go(4, 100.0),
            line("target.process", 4, Some(7e9)),
            go(5, 200.0),
            go(6, 300.0),
            go(7, 9e9),
        ];
        assert_eq!(per_request(&lines, 100), Some(8.0));
        // Without 5 the next line covers two seconds.
        let gap = [go(3, 9e9), go(4, 100.0), go(6, 500.0)];
        assert_eq!(per_request(&gap, 100), Some(8.0));
    }

    #[test]
    fn no_reading_no_answer_and_a_restart_give_nothing() {
        let go = |second, bytes: f64| line("go.runtime", second, Some(bytes));
        assert_eq!(per_request(&[], 100), None);
        assert_eq!(per_request(&[go(1, 1.0), go(2, 1.0), go(7, 5.0)], 100), None);
        assert_eq!(per_request(&[go(3, 1.0), go(4, 1.0)], 0), None);
        // A counter that restarted has no delta; the time before it does not count.
        let restarted = [go(3, 9e9), line("go.runtime", 4, None), go(5, 100.0)];
        assert_eq!(per_request(&restarted, 100), Some(4.0));
    }
}
