//! A chain of monitoring put to the test: what it is shown, and what it should give back.
//!
//! The page that is scraped holds the time at which it was made, a counter that rises evenly, and a histogram of known
//! times. What a Prometheus stores of it then says how late values are, which scrapes are lost, and whether its rates and
//! quantiles are right. Limits: 8 ms and 0.5 %, as article 000 asks of a chain that numbers are taken from.

use crate::buckets::Times;
use crate::family::{Family, Kind};
use record::hlog::new_histogram;
use schema::monitoring::{MonitoringFault, MonitoringFaultKind, MonitoringFile};

/// What the counter rises by in a second.
pub const SLOPE_PER_S: f64 = 1_000.0;
/// The quantile of the histogram that is asked for.
pub const QUANTILE: f64 = 0.99;

/// Values that are true later than that are late.
const DELAY_MAX_S: f64 = 0.008;
/// Prometheus rounds time stamps to whole milliseconds; clocks that differ by less cannot be seen.
const EARLY_MAX_S: f64 = 0.002;
/// Largest share by which counts, rates, intervals and quantiles may be off.
const SHARE_MAX: f64 = 0.005;
/// The interval itself: a busy server may come a little late, and catches up.
const INTERVAL_SHARE_MAX: f64 = 0.05;
/// A longer gap than so many intervals has lost scrapes in it.
const GAP_INTERVALS: f64 = 1.5;
/// The times of the histogram: from 1 ms on, each 2 % longer.
const TIMES: i32 = 200;
const FIRST_NS: f64 = 1e6;
const STEP: f64 = 1.02;

/// What is shown to the chain.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The value of the label `chain`, by which its series are found again.
    pub id: String,
    /// When the counter stood at 0, in seconds since 1970.
    pub began_s: f64,
}

/// One scrape as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stored {
    /// The server's time stamp, in seconds since 1970.
    pub at_s: f64,
    /// The time at which the page was made, as it said itself.
    pub clock_s: f64,
    /// The counter.
    pub ramp: f64,
}

/// What the server was asked and what it answered.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// All that is stored, by time.
    pub stored: Vec<Stored>,
    /// When each page was made, by time.
    pub answered_s: Vec<f64>,
    /// The interval that scrapes should have.
    pub wanted_interval_s: Option<f64>,
    /// The server's rate of the counter.
    pub rate_per_s: Option<f64>,
    /// The server's quantile, where it keeps native histograms.
    pub quantile_s: Option<f64>,
}

impl Chain {
    /// What the counter stands at.
    fn ramp(&self, now_s: f64) -> f64 {
        (now_s - self.began_s) * SLOPE_PER_S
    }

    /// The page at one moment.
    #[must_use]
    pub fn families(&self, now_s: f64) -> Vec<Family> {
        let labels = [("chain", self.id.as_str())];
        let mut clock = Family::new("prony_chain_clock_seconds", Kind::Gauge, "When this page was made");
        clock.push(&labels, now_s);
        let mut ramp = Family::new("prony_chain_ramp", Kind::Counter, "Rises by 1000 in each second");
        ramp.push(&labels, self.ramp(now_s));
        let mut spread = Family::new("prony_chain_spread_seconds", Kind::Histogram, "Times that are known");
        spread.push_times(&labels, Times::of(&known(1 + (now_s - self.began_s).max(0.0) as u64)));
        vec![clock, ramp, spread]
    }

    /// Everything that is wrong, and the figures behind it.
    #[must_use]
    pub fn judged(&self, server: &str, evidence: &Evidence) -> MonitoringFile {
        let stored = &evidence.stored;
        let gaps = gaps(stored);
        let mut file = MonitoringFile {
            server: server.to_owned(),
            answered: evidence.answered_s.len() as u64,
            stored: stored.len() as u64,
            interval_s: median(&gaps),
            wanted_interval_s: evidence.wanted_interval_s,
            delay_p99_s: p99(stored.iter().map(Stored::delay_s)),
            rate_off: evidence.rate_per_s.map(|rate| rate / SLOPE_PER_S - 1.0),
            quantile_off: evidence.quantile_s.map(|found| found / known_quantile_s() - 1.0),
            ..MonitoringFile::default()
        };
        let mut fault = |kind, found: f64, limit: f64| {
            // What is no number is wrong, too.
            if found > limit || found.is_nan() {
                file.faults.push(MonitoringFault { kind, found, limit });
            }
        };
        use MonitoringFaultKind::{Clocks, Counter, Delay, Interval, LostScrapes, Quantile, Rate, Reset};
        fault(LostScrapes, lost(stored, &evidence.answered_s, &gaps, evidence.wanted_interval_s), 0.0);
        fault(Delay, file.delay_p99_s.unwrap_or_default(), DELAY_MAX_S);
        fault(Clocks, stored.iter().map(|one| -one.delay_s()).fold(0.0, f64::max), EARLY_MAX_S);
        fault(Reset, falls(stored) as f64, 0.0);
        fault(Counter, self.off(stored), SHARE_MAX);
        if let (Some(found), Some(wanted)) = (file.interval_s, file.wanted_interval_s)
            && (found / wanted - 1.0).abs() > INTERVAL_SHARE_MAX
        {
            fault(Interval, found.max(wanted), found.min(wanted));
        }
        fault(Rate, file.rate_off.map_or(0.0, f64::abs), SHARE_MAX);
        fault(Quantile, file.quantile_off.map_or(0.0, f64::abs), SHARE_MAX);
        file
    }

    /// The largest share by which a stored counter is not what was shown at its time. A counter that fell is a fault of its own.
    fn off(&self, stored: &[Stored]) -> f64 {
        let of = |one: &Stored| {
            let truth = self.ramp(one.clock_s);
            if truth > 0.0 { (one.ramp / truth - 1.0).abs() } else { 0.0 }
        };
        if falls(stored) > 0 { 0.0 } else { stored.iter().map(of).fold(0.0, f64::max) }
    }
}

impl Stored {
    fn delay_s(&self) -> f64 {
        self.clock_s - self.at_s
    }
}

/// Each of the known times so many times.
fn known(times: u64) -> hdrhistogram::Histogram<u64> {
    let mut histogram = new_histogram();
    for step in 0..TIMES {
        let _ = histogram.record_n((FIRST_NS * STEP.powi(step)) as u64, times);
    }
    histogram
}

fn known_quantile_s() -> f64 {
    known(1).value_at_quantile(QUANTILE) as f64 / 1e9
}

fn gaps(stored: &[Stored]) -> Vec<f64> {
    stored.windows(2).map(|pair| pair[1].at_s - pair[0].at_s).collect()
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// By the nearest rank, so that fewer than 100 values have the largest.
fn p99(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() as f64 * 0.99).ceil() as usize;
    sorted.get(rank.checked_sub(1)?).copied()
}

fn falls(stored: &[Stored]) -> usize {
    stored.windows(2).filter(|pair| pair[1].ramp < pair[0].ramp).count()
}

/// Pages that were made and are not stored, and scrapes that were due and never came.
fn lost(stored: &[Stored], answered_s: &[f64], gaps: &[f64], wanted_s: Option<f64>) -> f64 {
    let is_kept = |made_s: &&f64| stored.iter().any(|one| one.clock_s == **made_s);
    let unkept = answered_s.iter().filter(|made_s| !is_kept(made_s)).count() as f64;
    let interval = wanted_s.or_else(|| median(gaps)).unwrap_or(f64::INFINITY);
    let missing =
        |gap: &f64| if *gap > GAP_INTERVALS * interval { (gap / interval).round() - 1.0 } else { 0.0 };
    // A page that was made and not kept leaves a gap, too.
    let due: f64 = match median(gaps) {
        // Where all gaps are long it is the interval that is wrong.
        Some(usual) if usual > GAP_INTERVALS * interval => 0.0,
        _ => gaps.iter().map(missing).sum(),
    };
    unkept.max(due)
}

#[cfg(test)]
mod tests {
    use super::*;
    use MonitoringFaultKind::{Clocks, Counter, Delay, Interval, LostScrapes, Quantile, Rate, Reset};

    fn chain() -> Chain {
        Chain { id: "c".into(), began_s: 1_000.0 }
    }

    /// Thirty scrapes a second apart, stamped a millisecond before the page was made.
    fn clean() -> Evidence {
        let made = |at: u32| 1_001.0 + f64::from(at);
        let stored =
            |at| Stored { at_s: made(at) - 0.001, clock_s: made(at), ramp: (made(at) - 1_000.0) * 1_000.0 };
        Evidence {
            stored: (0..30).map(stored).collect(),
            answered_s: (0..30).map(made).collect(),
            wanted_interval_s: Some(1.0),
            rate_per_s: Some(1_001.0),
            quantile_s: Some(known_quantile_s() * 1.002),
        }
    }

    fn faults(spoil: impl Fn(&mut Evidence)) -> Vec<MonitoringFaultKind> {
        let mut evidence = clean();
        spoil(&mut evidence);
        chain().judged("http://127.0.0.1:9090", &evidence).faults.iter().map(|fault| fault.kind).collect()
    }

    #[test]
    fn a_clean_chain_has_no_fault_and_each_planted_one_is_named() {
        assert_eq!(faults(|_| ()), []);
        // Answered and not kept; never asked for.
        let not_kept = |evidence: &mut Evidence| {
            evidence.stored.remove(7);
        };
        assert_eq!(faults(not_kept), [LostScrapes]);
        let never_asked = |evidence: &mut Evidence| {
            evidence.stored.drain(7..9);
            evidence.answered_s.drain(7..9);
        };
        assert_eq!(faults(never_asked), [LostScrapes]);
        assert_eq!(faults(|evidence| evidence.stored.iter_mut().for_each(|one| one.at_s -= 0.02)), [Delay]);
        assert_eq!(faults(|evidence| evidence.stored.iter_mut().for_each(|one| one.at_s += 0.02)), [Clocks]);
        let reset = |evidence: &mut Evidence| {
            evidence.stored[15..].iter_mut().for_each(|one| one.ramp -= 15_000.0);
        };
        assert_eq!(faults(reset), [Reset]);
        let other = |evidence: &mut Evidence| evidence.stored.iter_mut().for_each(|one| one.ramp *= 1.01);
        assert_eq!(faults(other), [Counter]);
        assert_eq!(faults(|evidence| evidence.wanted_interval_s = Some(0.5)), [Interval]);
        assert_eq!(faults(|evidence| evidence.wanted_interval_s = Some(5.0)), [Interval]);
        assert_eq!(faults(|evidence| evidence.rate_per_s = Some(990.0)), [Rate]);
        assert_eq!(faults(|evidence| evidence.rate_per_s = Some(f64::NAN)), [Rate]);
        assert_eq!(faults(|evidence| evidence.quantile_s = Some(known_quantile_s() * 1.02)), [Quantile]);
        assert_eq!(faults(|evidence| evidence.quantile_s = None), [], "no native histograms, no quantile");
    }

    #[test]
    fn nothing_stored_is_all_lost() {
        let judged = chain().judged("s", &Evidence { stored: Vec::new(), ..clean() });
        let lost = judged.faults.iter().find(|fault| fault.kind == LostScrapes).unwrap();
        assert_eq!((lost.found, judged.delay_p99_s, judged.interval_s), (30.0, None, None));
    }

    #[test]
    fn the_page_holds_what_it_is_judged_by() {
        let families = chain().families(1_002.5);
        let text = crate::text(&families);
        assert!(text.contains("prony_chain_clock_seconds{chain=\"c\"} 1002.5\n"), "{text}");
        assert!(text.contains("prony_chain_ramp_total{chain=\"c\"} 2500\n"), "{text}");
        assert!(text.contains("prony_chain_spread_seconds_count{chain=\"c\"} 600\n"), "{text}");
    }
}
