//! Summary of one kind of time in one window (METHOD §1, §4).
//!
//! Invariants: a quantile is given only with enough requests behind it; censored requests lie above every finite
//! value; each null has its reason in `refused`.

use super::histogram::values_at;
use crate::stats::order::rank_of;
use crate::words::{grouped, percent};
use hdrhistogram::Histogram;
use schema::load::LatencySummary;
use schema::metric::Metric;
use schema::said;
use schema::said::Said;

/// Requests beyond a quantile that make it worth printing: with 300 the share beyond it is known within about ±12 %
/// (2/√300). METHOD §4.
const TAIL_REQUESTS: f64 = 300.0;

/// Fewest requests for which a trial gives the quantile `q` (0 to 1): 300/(1−q), METHOD §4.
///
/// A quantile that no number of requests gives (1 and above, or NaN) has `u64::MAX`.
#[must_use]
pub fn quantile_floor(q: f64) -> u64 {
    if q.is_nan() || q >= 1.0 {
        return u64::MAX;
    }
    // 300/(1−0.9) is a little above 3,000 in binary; that little must not ask for one request more.
    (TAIL_REQUESTS / (1.0 - q.max(0.0)) * (1.0 - 1e-9)).ceil() as u64
}

/// Quantiles, mean and range of `histogram` (nanoseconds) where `censored` more requests lie above every value.
///
/// Mean, min and max are of the finite values. A quantile whose rank falls among the censored is null, with the
/// largest finite value as its lower bound in `at_least`.
#[must_use]
pub fn latency(histogram: &Histogram<u64>, censored: u64) -> LatencySummary {
    let count = histogram.len();
    let mut summary = LatencySummary { count, censored, ..LatencySummary::default() };
    if count == 0 {
        refuse_all(&mut summary);
        return summary;
    }
    summary.mean = Some(histogram.mean()).filter(|mean| mean.is_finite());
    summary.min = Some(histogram.min());
    summary.max = Some(histogram.max());
    for (metric, quantile) in quantiles() {
        match quantile_of(histogram, censored, quantile) {
            Ok(value) => *field(&mut summary, metric) = Some(value),
            Err(refused) => {
                summary.refused.insert(metric.key().to_owned(), refused.reason);
                summary.at_least.extend(refused.at_least.map(|value| (metric.key().to_owned(), value)));
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

fn quantile_of(histogram: &Histogram<u64>, censored: u64, quantile: f64) -> Result<u64, Refused> {
    let n = histogram.len().saturating_add(censored);
    let floor = quantile_floor(quantile);
    if n < floor {
        return Err(Refused { reason: too_few(floor, n), at_least: None });
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

/// `needs 30,000 requests, had 1,234: measure 25 times longer`.
fn too_few(floor: u64, had: u64) -> Said {
    let floor_said = grouped(floor);
    if had == 0 {
        return said!(
            "quantile.had_none",
            "needs {floor} requests, had none: measure longer",
            floor = floor_said
        );
    }
    let times = floor as f64 / had as f64;
    let times = if times > 9.0 {
        grouped(times.ceil() as u64)
    } else {
        let tenths = (times * 10.0).ceil() as u64;
        if tenths.is_multiple_of(10) {
            (tenths / 10).to_string()
        } else {
            format!("{}.{}", tenths / 10, tenths % 10)
        }
    };
    said!(
        "quantile.too_few",
        "needs {floor} requests, had {had}: measure {times} times longer",
        floor = floor_said,
        had = grouped(had),
        times
    )
}

fn refuse_all(summary: &mut LatencySummary) {
    let reason = match summary.censored {
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
        let summary = latency(histogram, censored);
        assert_eq!(summary.refused.get(key).map(Said::text), refused);
        assert_eq!(summary.at_least.get(key).copied(), at_least);
    }

    #[test]
    fn floors_are_300_over_the_tail() {
        for (quantile, floor) in [
            (0.5, 600),
            (0.9, 3_000),
            (0.95, 6_000),
            (0.99, 30_000),
            (0.999, 300_000),
            (0.0, 300),
            (1.0, u64::MAX),
        ] {
            assert_eq!(quantile_floor(quantile), floor, "{quantile}");
        }
        assert_eq!(quantile_floor(f64::NAN), u64::MAX);
    }

    #[test]
    fn quantiles_are_those_of_the_values_within_the_resolution() {
        let summary = latency(&ladder(30_000), 0);
        for (value, wanted) in
            [(summary.p50, 15e6), (summary.p90, 27e6), (summary.p95, 28.5e6), (summary.p99, 29.7e6)]
        {
            let value = value.unwrap() as f64;
            assert!(value >= wanted && value <= wanted * 1.001, "{value} {wanted}");
        }
        assert!((summary.mean.unwrap() / 15_000_500.0 - 1.0).abs() < 1e-3);
        assert!(summary.min.unwrap() <= 1_000 && summary.max.unwrap() >= 30_000_000);
        assert_eq!(summary.p999, None);
    }

    #[test]
    fn too_few_requests_are_refused_with_the_cure() {
        check(
            &ladder(1_234),
            0,
            "p99",
            Some("needs 30,000 requests, had 1,234: measure 25 times longer"),
            None,
        );
        check(&ladder(1_234), 0, "p50", None, None);
        check(&ladder(599), 0, "p50", Some("needs 600 requests, had 599: measure 1.1 times longer"), None);
        check(&ladder(300), 0, "p50", Some("needs 600 requests, had 300: measure 2 times longer"), None);
        check(&ladder(300), 299, "p50", Some("needs 600 requests, had 599: measure 1.1 times longer"), None);
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
        let summary = latency(&histogram, 500);
        let p50 = summary.p50.unwrap() as f64;
        assert!((15e6..15.02e6).contains(&p50), "the rank is over all 30,000: {p50}");
        assert_eq!((summary.max, summary.count, summary.censored), (Some(max), 29_500, 500));
    }

    #[test]
    fn an_empty_histogram_has_a_reason_for_every_null() {
        for censored in [0, 7, u64::MAX] {
            let summary = latency(&Histogram::new(3).unwrap(), censored);
            for key in ["mean", "min", "p50", "p90", "p95", "p99", "p999", "max"] {
                assert!(summary.refused.contains_key(key), "{key}");
            }
            assert!(summary.at_least.is_empty() && summary.p50.is_none() && summary.max.is_none());
        }
        // The sum of finite and censored must not overflow.
        assert_eq!(latency(&ladder(1), u64::MAX).at_least.len(), 5);
    }
}
