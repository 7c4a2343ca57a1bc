//! What a trial keeps so that its warm-up and its measured window can be judged (METHOD §5); the judging is
//! `analyze`'s.
//!
//! Bounds: an interval takes some 200 bytes and a tick 56; a window longer than [`INTERVALS_MAX`] is not judged.

use analyze::Beside;
use schema::plan::LoadPlan;
use schema::said;
use schema::steady::Steadiness;
use schema::trial::{CounterLine, IntervalLine, Phase};
use std::sync::mpsc::{Receiver, Sender, channel};
use units::Nanos;

/// A day of seconds, and what is left of a hundred thousand.
const INTERVALS_MAX: usize = 100_000;

/// What one tick of the collector says about the target.
pub(crate) fn beside(now: Nanos, lines: &[CounterLine]) -> Beside {
    let source = |name: &str| lines.iter().find(|line| line.source == name);
    let target = source(collect::process::TARGET);
    let delta = |line: Option<&CounterLine>, name: &str| line?.deltas.get(name).copied();
    Beside {
        t_ns: now.0,
        cpu_ns: delta(target, "cpu_ns"),
        rss_bytes: target.and_then(|line| line.gauges.get("rss_bytes").copied()),
        gc_cycles: delta(source(collect::go_runtime::NAME), "gc_cycles"),
    }
}

/// The ticks of a trial, as they come from the thread that reads the counters.
#[derive(Debug, Default)]
pub(crate) struct BesideLog {
    channel: Option<Receiver<Beside>>,
    ticks: Vec<Beside>,
}

impl BesideLog {
    /// Where the ticks are sent to from now on.
    pub(crate) fn sender(&mut self) -> Sender<Beside> {
        let (sender, receiver) = channel();
        self.channel = Some(receiver);
        sender
    }

    /// Takes in what has come; never waits.
    pub(crate) fn receive(&mut self) {
        self.ticks.extend(self.channel.iter().flat_map(Receiver::try_iter));
    }

    /// Takes in no more, and forgets what came: ticks that are sent from now on are lost, as they are meant to be.
    pub(crate) fn close(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn so_far(&self) -> &[Beside] {
        &self.ticks
    }
}

/// The intervals of the measured window.
#[derive(Debug, Default)]
pub(crate) struct SteadyWindow {
    lines: Vec<IntervalLine>,
    is_too_long: bool,
}

impl SteadyWindow {
    pub(crate) fn add(&mut self, line: &IntervalLine) {
        if line.phase != Some(Phase::Sample) {
            return;
        }
        if self.lines.len() >= INTERVALS_MAX {
            self.is_too_long = true;
            return;
        }
        // Status codes are no part of the judgement and would take most of the memory.
        let failed = line.failed.clone();
        self.lines.push(IntervalLine { failed, ..plain(line) });
    }

    pub(crate) fn steadiness(
        &self,
        beside: &[Beside],
        load: &LoadPlan,
        disturbed: bool,
    ) -> Option<Steadiness> {
        if self.is_too_long {
            let reason = said!("steady.too_long", "it is longer than {most} intervals", most = INTERVALS_MAX);
            let remedy = said!("steady.shorter_samples", "use shorter samples");
            let refused = said!("steady.refused", "{reason}: {remedy}", reason, remedy);
            let intervals = INTERVALS_MAX as u32;
            return Some(Steadiness {
                class: None,
                refused: Some(refused),
                by_plan: false,
                intervals,
                series: Vec::new(),
            });
        }
        (!self.lines.is_empty()).then(|| analyze::steadiness(&self.lines, beside, load, disturbed))
    }
}

/// What the judgement needs of a line, without its maps.
fn plain(line: &IntervalLine) -> IntervalLine {
    IntervalLine {
        start_ns: line.start_ns,
        end_ns: line.end_ns,
        phase: line.phase,
        completed: line.completed,
        p50_ns: line.p50_ns,
        p99_ns: line.p99_ns,
        ..IntervalLine::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::steady::SteadyClass;

    fn second(at: u64, phase: Phase) -> IntervalLine {
        IntervalLine {
            start_ns: at * 1_000_000_000,
            end_ns: (at + 1) * 1_000_000_000,
            phase: Some(phase),
            completed: if phase == Phase::Warmup { 10 } else { 10_000 },
            p50_ns: Some(1_000_000),
            p99_ns: Some(2_000_000),
            ..IntervalLine::default()
        }
    }

    #[test]
    fn only_the_measured_window_is_judged() {
        let mut window = SteadyWindow::default();
        let load = LoadPlan::default();
        (0..5).for_each(|at| window.add(&second(at, Phase::Warmup)));
        assert_eq!(window.steadiness(&[], &load, false), None);
        (5..20).for_each(|at| window.add(&second(at, Phase::Sample)));
        window.add(&second(20, Phase::Drain));
        let got = window.steadiness(&[], &load, false).unwrap();
        assert_eq!((got.class, got.intervals), (Some(SteadyClass::Flat), 15));
        assert!(window.steadiness(&[], &load, true).unwrap().refused.unwrap().contains("events"));
    }

    #[test]
    fn a_window_without_end_is_refused_and_takes_no_more_memory() {
        let mut window = SteadyWindow::default();
        (0..INTERVALS_MAX as u64 + 5).for_each(|at| window.add(&second(at, Phase::Sample)));
        assert_eq!(window.lines.len(), INTERVALS_MAX);
        assert!(
            window.steadiness(&[], &LoadPlan::default(), false).unwrap().refused.unwrap().contains("longer")
        );
    }

    #[test]
    fn ticks_are_taken_from_the_lines_of_the_target_and_its_runtime() {
        let line = |source: &str, gauge: (&str, f64), delta: (&str, f64)| CounterLine {
            t_ns: 7,
            source: source.to_owned(),
            gauges: [(gauge.0.to_owned(), gauge.1)].into(),
            deltas: [(delta.0.to_owned(), delta.1)].into(),
            ..CounterLine::default()
        };
        let lines = [
            line("generator.process", ("rss_bytes", 1.0), ("cpu_ns", 2.0)),
            line("target.process", ("rss_bytes", 3.0), ("cpu_ns", 4.0)),
            line("go.runtime", ("threads", 5.0), ("gc_cycles", 6.0)),
        ];
        let all = Beside { t_ns: 7, cpu_ns: Some(4.0), rss_bytes: Some(3.0), gc_cycles: Some(6.0) };
        assert_eq!(beside(Nanos(7), &lines), all);
        let mut log = BesideLog::default();
        log.receive();
        let sender = log.sender();
        sender.send(beside(Nanos(9), &lines[..1])).unwrap();
        sender.send(all).unwrap();
        log.receive();
        assert_eq!(log.so_far(), [Beside { t_ns: 9, ..Beside::default() }, all]);
        log.close();
        sender.send(all).unwrap_err();
        log.receive();
        assert_eq!(log.so_far(), []);
    }
}
