//! Summary of one kind of time in one window (METHOD §1, §4).
//!
//! Invariants: a percentile is given where its rank interval has an upper end, and has the interval beside it; censored
//! requests lie above every finite value; each null has its reason in `refused`. This is the one home of the rule: what
//! is printed, compared and held against a limit is read from the summary.

use super::histogram::values_at;
use crate::stats::order::{fewest_for, rank_of, ranks_of};
use crate::words::{grouped, percent};
use hdrhistogram::Histogram;
use schema::load::{LatencySummary, RankInterval};
use schema::metric::Metric;
use schema::said;
use schema::said::Said;

/// An interval whose upper end is above the lower by more than this factor is marked as wide.
const WIDE: f64 = 1.25;

/// What has the times of a summary, and so is to be more numerous where a percentile is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Requests or sessions: a longer load has more of them.
    Requests,
    /// Connections, which a longer load has no more of.
    Connections,
}

/// Fewest requests for which a load gives the quantile `q` (0 to 1): those that give its rank interval an upper end,
/// METHOD §4. 6 for p50, 368 for p99, 3,688 for p99.9.
///
/// A quantile that no number of requests gives (1 and above, or NaN) has `u64::MAX`.
#[must_use]
pub fn quantile_floor(q: f64) -> u64 {
    fewest_for(q)
}

/// Quantiles, mean and range of `histogram` (nanoseconds) where `censored` more requests lie above every value.
///
/// Mean, min and max are of the finite values. A quantile whose rank falls among the censored is null, with the
/// largest finite value as its lower bound in `at_least`.
#[must_use]
pub fn latency(histogram: &Histogram<u64>, censored: u64, of: Of) -> LatencySummary {
    let count = histogram.len();
    let mut summary = LatencySummary { count, censored, ..LatencySummary::default() };
    if count == 0 {
        refuse_all(&mut summary, of);
        return summary;
    }
    summary.mean = Some(histogram.mean()).filter(|mean| mean.is_finite());
    summary.min = Some(histogram.min());
    summary.max = Some(histogram.max());
    for (metric, quantile) in quantiles() {
        let key = || metric.key().to_owned();
        summary.intervals.insert(key(), interval_of(histogram, censored, quantile));
        match quantile_of(histogram, censored, quantile, of) {
            Ok(value) => *field(&mut summary, metric) = Some(value),
            Err(refused) => {
                summary.refused.insert(key(), refused.reason);
                summary.at_least.extend(refused.at_least.map(|value| (key(), value)));
            }
        }
    }
    summary
}

/// A quantile that is not given.
struct Refused {
    reason: Said,
    at_least: Option<u64>,
}

fn quantile_of(histogram: &Histogram<u64>, censored: u64, quantile: f64, of: Of) -> Result<u64, Refused> {
    let n = histogram.len().saturating_add(censored);
    let floor = quantile_floor(quantile);
    if n < floor {
        return Err(Refused { reason: too_few(floor, n, of), at_least: None });
    }
    let rank = rank_of(quantile, n);
    values_at(histogram, &[rank]).first().copied().ok_or_else(|| Refused {
        reason: said!(
            "quantile.never_ended",
            "falls among the {censored} of {n} requests that never ended ({share}): raise the time-out or lower the \
             load",
            censored = grouped(censored),
            n = grouped(n),
            share = percent(censored as f64 / n as f64)
        ),
        at_least: Some(histogram.max()),
    })
}

/// The values at the ranks of the quantile's interval; an end among the censored is none.
fn interval_of(histogram: &Histogram<u64>, censored: u64, quantile: f64) -> RankInterval {
    let ranks = ranks_of(quantile, histogram.len().saturating_add(censored));
    let at = |rank: Option<u64>| values_at(histogram, &[rank?]).first().copied();
    let (low, high) = (at(ranks.low), at(ranks.high));
    let is_narrow = matches!((low, high), (Some(low), Some(high)) if high as f64 <= WIDE * low as f64);
    RankInterval { low, high, is_wide: !is_narrow }
}

/// `needs 368 requests, had 123: measure 3 times longer`.
fn too_few(floor: u64, had: u64, of: Of) -> Said {
    let times = times_more(floor, had);
    let (floor, had) = (grouped(floor), grouped(had));
    match of {
        Of::Requests => said!(
            "quantile.too_few",
            "needs {floor} requests, had {had}: measure {times} times longer",
            floor,
            had,
            times
        ),
        Of::Connections => said!(
            "quantile.too_few_connections",
            "needs {floor} connections, had {had}: use {times} times as many connections",
            floor,
            had,
            times
        ),
    }
}

/// Rounded up to a tenth, from 9 on to a whole number. `had` is above 0.
fn times_more(floor: u64, had: u64) -> String {
    let times = floor as f64 / had as f64;
    if times > 9.0 {
        return grouped(times.ceil() as u64);
    }
    let tenths = (times * 10.0).ceil() as u64;
    if tenths.is_multiple_of(10) {
        return (tenths / 10).to_string();
    }
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn refuse_all(summary: &mut LatencySummary, of: Of) {
    let reason = match summary.censored {
        0 if of == Of::Connections => {
            said!("quantile.no_connection", "no connection was opened in this load: it has no such time")
        }
        0 => said!(
            "quantile.no_observation",
            "there is no observation: measure longer, and look at the errors"
        ),
        censored => said!(
            "quantile.none_ended",
            "none of {n} requests ended: raise the time-out or lower the load, and look at the target's log",
            n = grouped(censored)
        ),
    };
    let keys = quantiles().map(|(metric, _)| metric.key()).chain(["mean", "min", "max"]);
    summary.refused = keys.map(|key| (key.to_owned(), reason.clone())).collect();
}

fn quantiles() -> impl Iterator<Item = (Metric, f64)> {
    Metric::ALL.into_iter().filter_map(|metric| Some((metric, metric.quantile()?)))
}

/// The field of a percentile metric. Other metrics have no quantile and never get here.
fn field(summary: &mut LatencySummary, metric: Metric) -> &mut Option<u64> {
    match metric {
        Metric::P90 => &mut summary.p90,
        Metric::P95 => &mut summary.p95,
        Metric::P99 => &mut summary.p99,
        Metric::P999 => &mut summary.p999,
        _ => &mut summary.p50,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 to `n` microseconds, one each.
    fn ladder(n: u64) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        for value in 1..=n {
            histogram.record(value * 1_000).unwrap();
        }
        histogram
    }

    fn check(
        histogram: &Histogram<u64>,
        censored: u64,
        key: &str,
        refused: Option<&str>,
        at_least: Option<u64>,
    ) {
        let summary = latency(histogram, censored, Of::Requests);
        assert_eq!(summary.refused.get(key).map(Said::text), refused);
        assert_eq!(summary.at_least.get(key).copied(), at_least);
    }

    #[test]
    fn quantiles_are_those_of_the_values_within_the_resolution() {
        let summary = latency(&ladder(30_000), 0, Of::Requests);
        for (value, wanted) in
            [(summary.p50, 15e6), (summary.p90, 27e6), (summary.p95, 28.5e6), (summary.p99, 29.7e6)]
        {
            let value = value.unwrap() as f64;
            assert!(value >= wanted && value <= wanted * 1.001, "{value} {wanted}");
        }
        assert!((summary.mean.unwrap() / 15_000_500.0 - 1.0).abs() < 1e-3);
        assert!(summary.min.unwrap() <= 1_000 && summary.max.unwrap() >= 30_000_000);
        assert!(summary.p999.is_some() && summary.refused.is_empty());
    }

    #[test]
    fn too_few_requests_are_refused_with_the_cure() {
        check(&ladder(160), 0, "p99", Some("needs 368 requests, had 160: measure 2.3 times longer"), None);
        check(&ladder(160), 0, "p95", None, None);
        check(&ladder(36), 0, "p99", Some("needs 368 requests, had 36: measure 11 times longer"), None);
        check(&ladder(5), 0, "p50", Some("needs 6 requests, had 5: measure 1.2 times longer"), None);
        check(&ladder(3), 0, "p50", Some("needs 6 requests, had 3: measure 2 times longer"), None);
        check(&ladder(3), 2, "p50", Some("needs 6 requests, had 5: measure 1.2 times longer"), None);
    }

    #[test]
    fn of_connections_more_are_asked_for_and_no_more_time() {
        let summary = latency(&ladder(64), 0, Of::Connections);
        assert_eq!(
            summary.refused["p99"],
            "needs 368 connections, had 64: use 5.8 times as many connections"
        );
        let none = latency(&Histogram::new(3).unwrap(), 0, Of::Connections);
        assert_eq!(none.refused["p50"], "no connection was opened in this load: it has no such time");
    }

    #[test]
    fn every_percentile_has_its_interval_and_wide_ones_say_so() {
        let interval = |n: u64, key: &str| latency(&ladder(n), 0, Of::Requests).intervals[key];
        let p99 = interval(1_000, "p99");
        let (low, high) = (p99.low.unwrap(), p99.high.unwrap());
        assert!((983_000..984_500).contains(&low) && (997_000..998_500).contains(&high), "{p99:?}");
        assert!(!p99.is_wide);
        assert!(interval(30, "p50").is_wide, "{:?}", interval(30, "p50"));
        // Refused, and yet something is known: the lower end.
        let refused = interval(160, "p99");
        assert!(refused.low.unwrap() >= 156_000 && refused.high.is_none() && refused.is_wide);
        // An upper end among the requests that never ended is none.
        let open = latency(&ladder(995), 5, Of::Requests);
        assert!(open.p99.is_some() && open.intervals["p99"].high.is_none(), "{:?}", open.intervals);
    }

    #[test]
    fn censored_requests_lie_above_every_value() {
        let histogram = ladder(29_500);
        let max = histogram.max();
        // Rank 29,700 of 30,000 lies beyond the 29,500 finite ones; rank 28,500 does not.
        check(
            &histogram,
            500,
            "p99",
            Some(
                "falls among the 500 of 30,000 requests that never ended (1.7 %): raise the time-out or lower the load",
            ),
            Some(max),
        );
        check(&histogram, 500, "p95", None, None);
        let summary = latency(&histogram, 500, Of::Requests);
        let p50 = summary.p50.unwrap() as f64;
        assert!((15e6..15.02e6).contains(&p50), "the rank is over all 30,000: {p50}");
        assert_eq!((summary.max, summary.count, summary.censored), (Some(max), 29_500, 500));
    }

    #[test]
    fn an_empty_histogram_has_a_reason_for_every_null() {
        for censored in [0, 7, u64::MAX] {
            let summary = latency(&Histogram::new(3).unwrap(), censored, Of::Requests);
            for key in ["mean", "min", "p50", "p90", "p95", "p99", "p999", "max"] {
                assert!(summary.refused.contains_key(key), "{key}");
            }
            assert!(summary.at_least.is_empty() && summary.p50.is_none() && summary.max.is_none());
        }
        // The sum of finite and censored must not overflow.
        assert_eq!(latency(&ladder(1), u64::MAX, Of::Requests).at_least.len(), 5);
    }
}
