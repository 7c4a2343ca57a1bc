//! `host.interrupts`: how often cores were interrupted, and whether one of them bears it alone, from
//! `/proc/interrupts` and `/proc/softirqs` (proc(5)).
//!
//! | key | kind | meaning |
//! |---|---|---|
//! | `interrupts` | delta | hardware interrupts of all cores, timers and calls between cores included |
//! | `softirq_net_rx`, `softirq_net_tx`, `softirq_timer`, `softirq_sched`, `softirq_block`, `softirq_rcu`,
//! `softirq_hrtimer`, `softirq_tasklet` | delta | deferred work that was run, by kind |
//! | `busiest_cpu_share` | gauge | share (0 to 1) of the tick's interrupts that the core with most of them took |
//! | `busiest_cpu_net_rx_share` | gauge | the same for `softirq_net_rx`: packets received, those of loopback included |
//!
//! Shares need a previous reading, two cores and at least one event. Where `/proc/interrupts` is longer than
//! [`INTERRUPTS_BYTES_MAX`] (hundreds of cores with a queue each), reading it would cost too much: it is left out from
//! then on, and `interrupts` and `busiest_cpu_share` are absent.

use crate::Roots;
use crate::error::{CollectError, ParseError};
use crate::reading::Values;
use crate::source::{Comparable, Differencing, Source};
use crate::text;
use std::collections::BTreeMap;

/// Name of the source.
pub const NAME: &str = "host.interrupts";
/// Longest `/proc/interrupts` that is read at each tick.
pub const INTERRUPTS_BYTES_MAX: usize = 256 << 10;
/// Most cores that are listed singly.
const CPUS_MAX: usize = 4096;

/// The kernel's kinds of deferred work and prony's names.
const SOFT: [(&str, &str); 8] = [
    ("NET_RX:", "softirq_net_rx"),
    ("NET_TX:", "softirq_net_tx"),
    ("TIMER:", "softirq_timer"),
    ("SCHED:", "softirq_sched"),
    ("BLOCK:", "softirq_block"),
    ("RCU:", "softirq_rcu"),
    ("HRTIMER:", "softirq_hrtimer"),
    ("TASKLET:", "softirq_tasklet"),
];

/// One reading: counts by core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interrupts {
    /// Of the hardware; empty where it was not read.
    pub hard: Vec<u64>,
    /// Deferred work by prony's name.
    pub soft: BTreeMap<&'static str, Vec<u64>>,
}

/// Sums of `/proc/interrupts` by core.
///
/// # Errors
/// Where the line of cores is missing.
pub fn parse_hard(bytes: &[u8]) -> Result<Vec<u64>, ParseError> {
    let mut lines = text::utf8(bytes)?.lines();
    let cpus = cores(lines.next())?;
    let mut sums = vec![0_u64; cpus];
    for line in lines {
        let Some((_, counts)) = line.split_once(':') else { continue };
        // The last words say what it is; ERR and MIS have one number for all cores and belong to none.
        let counts: Vec<u64> =
            counts.split_ascii_whitespace().take(cpus).map_while(|word| word.parse().ok()).collect();
        if counts.len() == cpus {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(count));
        }
    }
    Ok(sums)
}

/// Counts of `/proc/softirqs` by kind and core.
///
/// # Errors
/// Where the line of cores is missing or a count of a known kind is no number.
pub fn parse_soft(bytes: &[u8]) -> Result<BTreeMap<&'static str, Vec<u64>>, ParseError> {
    let mut lines = text::utf8(bytes)?.lines();
    let cpus = cores(lines.next())?;
    let mut kinds = BTreeMap::new();
    for line in lines {
        let mut words = line.split_ascii_whitespace();
        let Some((_, name)) = words.next().and_then(|key| SOFT.iter().find(|(kernel, _)| *kernel == key))
        else {
            continue;
        };
        let counts: Result<Vec<u64>, ParseError> =
            words.take(cpus).map(|word| text::number(name, word)).collect();
        kinds.insert(*name, counts?);
    }
    Ok(kinds)
}

/// Number of cores in the first line.
fn cores(line: Option<&str>) -> Result<usize, ParseError> {
    let words = line.unwrap_or_default().split_ascii_whitespace();
    match words.take_while(|word| word.starts_with("CPU")).take(CPUS_MAX).count() {
        0 => Err(ParseError::Missing("the line of CPUs")),
        cpus => Ok(cpus),
    }
}

impl Comparable for Interrupts {
    fn gauges(&self, previous: Option<&Self>) -> Values {
        let Some(previous) = previous else { return Values::new() };
        let received = |of: &Self| of.soft.get("softirq_net_rx").cloned().unwrap_or_default();
        let shares = [
            ("busiest_cpu_share", largest_share(&previous.hard, &self.hard)),
            ("busiest_cpu_net_rx_share", largest_share(&received(previous), &received(self))),
        ];
        shares.into_iter().filter_map(|(name, share)| Some((name.to_owned(), share?))).collect()
    }

    fn deltas(&self, previous: &Self) -> Values {
        let soft = self.soft.iter().map(|(name, now)| (*name, previous.soft.get(name), now));
        let hard = Some(&previous.hard).filter(|hard| !hard.is_empty());
        [("interrupts", hard, &self.hard)]
            .into_iter()
            .chain(soft)
            .filter_map(|(name, before, now)| {
                let rises = rises(before?, now)?;
                Some((name.to_owned(), rises.iter().map(|rise| *rise as f64).sum()))
            })
            .collect()
    }
}

/// Increase of each core; nothing where cores came or went, or a count went backwards.
fn rises(before: &[u64], now: &[u64]) -> Option<Vec<u64>> {
    if before.len() != now.len() {
        return None;
    }
    now.iter().zip(before).map(|(now, before)| now.checked_sub(*before)).collect()
}

fn largest_share(before: &[u64], now: &[u64]) -> Option<f64> {
    let rises = rises(before, now).filter(|rises| rises.len() > 1)?;
    let sum: f64 = rises.iter().map(|rise| *rise as f64).sum();
    let largest = rises.into_iter().max()? as f64;
    (sum > 0.0).then(|| largest / sum)
}

/// Reads under `roots`; `hard` says whether interrupts of the hardware are wanted and is cleared where they are too
/// many.
///
/// # Errors
/// Where a file cannot be read or understood.
pub fn read(roots: &Roots, hard: &mut bool) -> Result<Interrupts, CollectError> {
    let soft = text::read_parsed(&roots.proc.join("softirqs"), parse_soft)?;
    let mut reading = Interrupts { soft, ..Interrupts::default() };
    if *hard {
        reading.hard = text::read_parsed(&roots.proc.join("interrupts"), |bytes| {
            *hard = bytes.len() <= INTERRUPTS_BYTES_MAX;
            if *hard { parse_hard(bytes) } else { Ok(Vec::new()) }
        })?;
    }
    Ok(reading)
}

pub(crate) fn source(roots: &Roots) -> Box<dyn Source> {
    let roots = roots.clone();
    // Some architectures and containers have no such file.
    let mut hard = roots.proc.join("interrupts").is_file();
    Box::new(Differencing::new(NAME, move || read(&roots, &mut hard)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HARD: &[u8] = include_bytes!("../fixtures/proc/interrupts");
    const SOFTIRQS: &[u8] = include_bytes!("../fixtures/proc/softirqs");

    #[test]
    fn real_files() {
        let hard = parse_hard(HARD).unwrap();
        assert_eq!(hard.len(), 2);
        assert!(hard.iter().all(|count| *count > 20_000_000), "{hard:?}");
        let soft = parse_soft(SOFTIRQS).unwrap();
        assert_eq!(soft.len(), SOFT.len());
        assert!(soft["softirq_net_rx"].iter().all(|count| *count > 300_000_000));
    }

    #[test]
    fn one_core_that_takes_most_shows() {
        let of = |hard: [u64; 2], received: [u64; 2]| Interrupts {
            hard: hard.to_vec(),
            soft: BTreeMap::from([("softirq_net_rx", received.to_vec())]),
        };
        let (before, now) = (of([100, 100], [5, 5]), of([190, 110], [5, 5]));
        let gauges = now.gauges(Some(&before));
        assert_eq!(
            gauges,
            Values::from([("busiest_cpu_share".to_owned(), 0.9)]),
            "nothing received: no share"
        );
        let deltas = now.deltas(&before);
        assert_eq!((deltas["interrupts"], deltas["softirq_net_rx"]), (100.0, 0.0));
        let fewer = Interrupts { hard: vec![200], ..before.clone() };
        assert!(!fewer.deltas(&now).contains_key("interrupts"), "a core went away");
        assert!(!before.deltas(&now).contains_key("interrupts"), "backwards");
        assert!(now.gauges(None).is_empty());
    }

    #[test]
    fn a_file_too_long_is_left_out_from_then_on() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().into(), sys: folder.path().into() };
        std::fs::write(folder.path().join("softirqs"), SOFTIRQS).unwrap();
        std::fs::write(folder.path().join("interrupts"), HARD).unwrap();
        let mut hard = true;
        assert_eq!(read(&roots, &mut hard).unwrap().hard.len(), 2);
        let mut long = HARD.to_vec();
        long.resize(INTERRUPTS_BYTES_MAX + 1, b' ');
        std::fs::write(folder.path().join("interrupts"), long).unwrap();
        let reading = read(&roots, &mut hard).unwrap();
        assert!(reading.hard.is_empty() && !hard);
        assert!(!reading.deltas(&reading).contains_key("interrupts"));
    }

    #[test]
    fn what_is_wrong_is_said_and_other_lines_are_skipped() {
        assert!(parse_hard(b"").is_err());
        assert!(parse_hard(b"\xff").is_err());
        assert!(parse_soft(b"HI: 1 2\n").is_err());
        assert!(parse_soft(b" CPU0 CPU1\nNET_RX: 1 x\n").is_err());
        assert_eq!(parse_hard(b" CPU0 CPU1\n 1: 3 4 edge\nERR: 9\nbroken\n"), Ok(vec![3, 4]));
        assert_eq!(
            parse_hard(b" CPU0 CPU1\n 1: 18446744073709551615 4 a\n 2: 1 1 b\n"),
            Ok(vec![u64::MAX, 5])
        );
    }
}
