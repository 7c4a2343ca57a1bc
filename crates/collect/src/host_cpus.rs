//! `host.cpus`: how busy each core is, from the lines `cpu<N>` of `/proc/stat` (proc(5)). All are gauges.
//!
//! | key | meaning |
//! |---|---|
//! | `cpu<N>_busy_percent` | share of the tick in which core N was not idle; up to [`CPUS_MAX`] cores |
//! | `busiest_percent` | the largest of all cores, those beyond [`CPUS_MAX`] included |
//!
//! Time stolen by the hypervisor counts as busy, for nothing else can run then; waiting for a disk counts as idle. The
//! kernel counts in steps of 10 ms, so at a tick of 100 ms the share is good to 10 %. The first line has no gauges.
//!
//! Most kernels lay a whole tick to whatever runs at its end. Work that comes at the pace of the ticks is then counted
//! far too high or not at all; idle time is measured where it begins and ends, and knows no such error
//! (`get_idle_time` of the kernel's `fs/proc/stat.c`). So busy is what is left of the time between two readings.

use crate::Roots;
use crate::error::{CollectError, ParseError};
use crate::reading::Values;
use crate::source::{Comparable, Differencing, Source};
use crate::text;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Name of the source.
pub const NAME: &str = "host.cpus";
/// Most cores with a gauge of their own.
pub const CPUS_MAX: usize = 256;
/// Most cores that are looked at.
const CPUS_SEEN_MAX: usize = 8_192;
/// user, nice, system, idle, iowait, irq, softirq, steal; guests are in user already.
const TIMES: usize = 8;
/// The place of what was stolen.
const STOLEN: usize = 7;

/// Ticks of the clock of one core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// At work, or stolen.
    pub busy_ticks: u64,
    /// Without work.
    pub idle_ticks: u64,
    /// At work for processes: user, nice and system, without interrupts and what was stolen.
    pub process_ticks: u64,
    /// Given to others by the hypervisor.
    pub stolen_ticks: u64,
}

/// One reading: the time of each core by its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpus {
    /// Each core.
    pub cores: BTreeMap<u32, CpuTime>,
    /// When it was read; unknown of a file that was kept.
    pub at: Option<Instant>,
}

/// Parses `/proc/stat`.
///
/// # Errors
/// Where there is no core, or one of its times is no number.
pub fn parse(bytes: &[u8]) -> Result<Cpus, ParseError> {
    let mut cpus = BTreeMap::new();
    for line in text::utf8(bytes)?.lines() {
        let mut words = line.split_ascii_whitespace();
        let number = words.next().and_then(|key| key.strip_prefix("cpu")?.parse::<u32>().ok());
        let (Some(number), true) = (number, cpus.len() < CPUS_SEEN_MAX) else { continue };
        let mut time = CpuTime::default();
        for (at, word) in words.take(TIMES).enumerate() {
            let ticks: u64 = text::number("time of a core", word)?;
            let sum = if matches!(at, 3 | 4) { &mut time.idle_ticks } else { &mut time.busy_ticks };
            *sum = sum.saturating_add(ticks);
            let also = match at {
                0..=2 => &mut time.process_ticks,
                STOLEN => &mut time.stolen_ticks,
                _ => continue,
            };
            *also = also.saturating_add(ticks);
        }
        cpus.insert(number, time);
    }
    if cpus.is_empty() {
        Err(ParseError::Missing("a line `cpu0`"))
    } else {
        Ok(Cpus { cores: cpus, at: None })
    }
}

impl Comparable for Cpus {
    fn gauges(&self, previous: Option<&Self>) -> Values {
        let Some(previous) = previous else { return Values::new() };
        let span = self.at.zip(previous.at).map(|(now, before)| now.saturating_duration_since(before));
        let share = |(number, now): (&u32, &CpuTime)| {
            Some((*number, busy_percent(*previous.cores.get(number)?, *now, span)?))
        };
        let shares: Vec<(u32, f64)> = self.cores.iter().filter_map(share).collect();
        let busiest = shares.iter().map(|(_, percent)| *percent).max_by(f64::total_cmp);
        let each = shares.iter().take(CPUS_MAX);
        let mut values: Values =
            each.map(|(number, percent)| (format!("cpu{number}_busy_percent"), *percent)).collect();
        values.extend(busiest.map(|percent| ("busiest_percent".to_owned(), percent)));
        values
    }

    fn deltas(&self, _: &Self) -> Values {
        Values::new()
    }
}

impl Cpus {
    /// Time that these cores worked for processes, in nanoseconds since boot; `None` where one of them is not there.
    #[must_use]
    pub fn process_ns(&self, cpus: &[u32]) -> Option<u64> {
        self.sum_ns(cpus, |time| time.process_ticks)
    }

    /// Time that these cores were idle or stolen, in nanoseconds since boot; `None` where one of them is not there.
    #[must_use]
    pub fn away_ns(&self, cpus: &[u32]) -> Option<u64> {
        self.sum_ns(cpus, |time| time.idle_ticks.saturating_add(time.stolen_ticks))
    }

    fn sum_ns(&self, cpus: &[u32], ticks: impl Fn(&CpuTime) -> u64) -> Option<u64> {
        let sum = cpus.iter().map(|cpu| self.cores.get(cpu).map(&ticks)).sum::<Option<u64>>()?;
        Some(sum.saturating_mul(text::tick_ns()))
    }
}

/// Nothing where no time went by. The kernel lets idle time go backwards by a tick, which counts as none. Without a span
/// the count of work stands for it.
fn busy_percent(before: CpuTime, now: CpuTime, span: Option<Duration>) -> Option<f64> {
    let busy = now.busy_ticks.saturating_sub(before.busy_ticks) as f64;
    let idle = now.idle_ticks.saturating_sub(before.idle_ticks) as f64;
    let whole = span.map_or(busy + idle, |span| span.as_nanos() as f64 / text::tick_ns() as f64);
    (whole > 0.0).then(|| ((whole - idle) / whole).clamp(0.0, 1.0) * 100.0)
}

/// Reads the file under `roots`.
///
/// # Errors
/// Where it cannot be read or understood.
pub fn read(roots: &Roots) -> Result<Cpus, CollectError> {
    let cpus = text::read_parsed(&roots.proc.join("stat"), parse)?;
    Ok(Cpus { at: Some(Instant::now()), ..cpus })
}

pub(crate) fn source(roots: &Roots) -> Box<dyn Source> {
    let roots = roots.clone();
    Box::new(Differencing::new(NAME, move || read(&roots)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_file() {
        let cpus = parse(include_bytes!("../fixtures/proc/stat")).unwrap();
        assert_eq!(cpus.cores.keys().copied().collect::<Vec<_>>(), [0, 1]);
        assert!(cpus.cores.values().all(|time| time.busy_ticks > 0 && time.idle_ticks > 0));
    }

    #[test]
    fn one_busy_core_shows_though_the_mean_is_low() {
        let before = parse(b"cpu 9 9\ncpu0 10 0 0 100 0 0 0 0\ncpu3 10 0 0 100 0 0 0 0\n").unwrap();
        let now = parse(b"cpu 9 9\ncpu0 70 10 15 105 0 0 5 5\ncpu3 10 0 0 190 10 0 0 0 99 99\n").unwrap();
        let gauges = now.gauges(Some(&before));
        assert_eq!(gauges["cpu0_busy_percent"], 95.0);
        assert_eq!((gauges["cpu3_busy_percent"], gauges["busiest_percent"]), (0.0, 95.0));
        assert!(now.gauges(None).is_empty() && now.deltas(&before).is_empty());
        assert!(now.gauges(Some(&now)).is_empty(), "no time went by");
    }

    #[test]
    fn interrupts_are_neither_work_of_processes_nor_away() {
        let cpus = parse(b"cpu0 1 2 3 40 5 600 7000 80000\ncpu1 1 0 0 0 0 0 0 0\n").unwrap();
        let ticks = |ticks: u64| Some(ticks * text::tick_ns());
        assert_eq!((cpus.process_ns(&[0]), cpus.away_ns(&[0])), (ticks(6), ticks(80_045)));
        assert_eq!((cpus.process_ns(&[0, 1]), cpus.away_ns(&[1])), (ticks(7), ticks(0)));
        assert_eq!(cpus.away_ns(&[0, 2]), None, "one is not there");
    }

    /// As measured: a core that was idle for 70 % of the time, whose ticks all met it at work.
    #[test]
    fn work_at_the_pace_of_the_ticks_counts_as_long_as_it_took() {
        let at = Instant::now();
        let read = |bytes: &[u8], after_s: u64| Cpus {
            at: Some(at + Duration::from_secs(after_s)),
            ..parse(bytes).unwrap()
        };
        let before = read(b"cpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n", 0);
        let now = read(b"cpu0 297 0 0 210 0 0 0 0\ncpu1 3 0 0 210 0 0 0 0\n", 3);
        let gauges = now.gauges(Some(&before));
        for core in ["cpu0_busy_percent", "cpu1_busy_percent"] {
            assert!((gauges[core] - 30.0).abs() < 1e-9, "{gauges:?}");
        }
        assert!(before.gauges(Some(&before)).is_empty(), "no time went by");
    }

    #[test]
    fn names_are_bounded_and_the_busiest_is_not_lost() {
        let text = |last: u64| -> String {
            (0..300)
                .map(|n| format!("cpu{n} {} 0 0 {}\n", if n == 299 { last } else { 0 }, 100 - last))
                .collect()
        };
        let (before, now) = (parse(text(0).as_bytes()).unwrap(), parse(text(90).as_bytes()).unwrap());
        let gauges = now.gauges(Some(&before));
        assert_eq!(gauges["busiest_percent"], 100.0);
        assert!(gauges.len() <= CPUS_MAX + 1);
    }

    #[test]
    fn interrupts_and_stolen_time_are_nobodys_work() {
        let cpus = parse(b"cpu0 1 2 4 100 50 8 16 32\ncpu3 10 0 0 0\n").unwrap();
        let tick_ns = text::tick_ns();
        assert_eq!(cpus.process_ns(&[0]), Some(7 * tick_ns));
        assert_eq!(cpus.process_ns(&[0, 3]), Some(17 * tick_ns));
        assert_eq!(cpus.process_ns(&[0, 1]), None, "a core that is not there");
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(parse(b"cpu 1 2 3 4\n").is_err());
        assert!(parse(b"cpu0 1 x\n").is_err());
        assert!(parse(b"\xff").is_err());
        assert!(parse(b"cpu0 18446744073709551615 18446744073709551615 0 0\n").is_ok());
    }
}
