//! Times of a cell read from all requests of its trials: means and percentiles of merged histograms (METHOD §0.3, §4).
//!
//! Invariants: a percentile is interpolated within its bucket, as trials left out move it by less than a bucket is wide;
//! a trial's histogram is used only where it is the one that its values were read from; censored requests lie above
//! every value.

use super::TrialData;
use crate::measure::Measure;
use crate::stats::sections::Sections;
use hdrhistogram::Histogram;
use schema::metric::Metric;
use std::collections::BTreeMap;

/// A trial's value and what its histogram says of it lie no further apart than this on the log scale: buckets are
/// 0.1 % wide, and a summary has the end of one.
const AGREES: f64 = 0.005;

/// What all trials of a cell say together of one metric.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pooled {
    /// Whole, trials and trials left out, on the log scale.
    pub(super) sections: Sections,
    /// So many independent requests would leave the share beyond the percentile as uncertain as it is, over all trials;
    /// absent for the mean, and where trials do not differ.
    pub(super) effective: Option<f64>,
}

/// The pooled value; `None` where the metric is no time, a trial has no histogram or another than its values, or the
/// value falls among requests that never ended.
pub(super) fn pooled<'m>(
    trials: &[&TrialData],
    measure: impl Into<Measure<'m>>,
    values: &[f64],
) -> Option<Pooled> {
    let metric = measure.into().metric()?;
    if trials.len() != values.len() || trials.len() < 2 || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let parts: Vec<Part> = trials.iter().map(|trial| Part::of(trial)).collect::<Option<_>>()?;
    let quantile = metric.quantile();
    if quantile.is_none() && metric != Metric::Mean {
        return None;
    }
    let all = Merged::of(&parts);
    let value = |merged: &Merged| match quantile {
        Some(quantile) => merged.quantile(quantile),
        None => merged.mean(),
    };
    let ln = |value: Option<f64>| value.map(f64::ln).filter(|log| log.is_finite());
    let whole = ln(value(&all))?;
    let each: Vec<f64> = parts.iter().map(|part| ln(value(&Merged::of([part])))).collect::<Option<_>>()?;
    if each.iter().zip(values).any(|(log, value)| (log - value.ln()).abs() > AGREES) {
        return None;
    }
    let without: Vec<f64> = parts.iter().map(|part| ln(value(&all.without(part)))).collect::<Option<_>>()?;
    let effective = quantile.and_then(|quantile| effective(&parts, quantile, whole.exp()));
    let exceedances = match (quantile, effective) {
        (Some(quantile), Some(effective)) => effective * (1.0 - quantile) / parts.len() as f64,
        _ => f64::INFINITY,
    };
    Some(Pooled { sections: Sections { whole, each, without, exceedances }, effective })
}

/// How many independent requests all trials are worth at a percentile: the binomial variance of the share beyond it,
/// over the variance of that share between trials (the design effect of clusters: Kish, Survey Sampling, 1965, §5.4;
/// batch means with the trials as batches). No more than the requests that there are.
fn effective(parts: &[Part], quantile: f64, value: f64) -> Option<f64> {
    let n = parts.len() as f64;
    let shares: Vec<f64> = parts.iter().map(|part| part.beyond(value)).collect();
    let mean = shares.iter().sum::<f64>() / n;
    let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let requests: f64 = parts.iter().map(|part| part.requests).sum();
    let effective = n * quantile * (1.0 - quantile) / variance;
    (variance > 0.0).then_some(effective.min(requests))
}

/// One trial: its buckets, and how many requests it had.
struct Part {
    /// Lowest value of each bucket, the lowest beyond it, and its count, rising.
    buckets: Vec<(u64, u64, u64)>,
    sum: f64,
    finite: f64,
    /// With those that never ended.
    requests: f64,
}

impl Part {
    fn of(trial: &TrialData) -> Option<Self> {
        let histogram: &Histogram<u64> = trial.response.as_ref()?;
        let censored = trial.file.load.as_ref()?.latency_ns.response.censored;
        let finite = histogram.len();
        if finite == 0 {
            return None;
        }
        let bucket = |value: u64, count| {
            (histogram.lowest_equivalent(value), histogram.next_non_equivalent(value), count)
        };
        let buckets =
            histogram.iter_recorded().map(|it| bucket(it.value_iterated_to(), it.count_at_value())).collect();
        let requests = finite.saturating_add(censored) as f64;
        Some(Self { buckets, sum: histogram.mean() * finite as f64, finite: finite as f64, requests })
    }

    /// The share of requests above a value.
    fn beyond(&self, value: f64) -> f64 {
        let below: f64 = self
            .buckets
            .iter()
            .take_while(|(low, ..)| (*low as f64) < value)
            .map(|(low, next, count)| {
                let part = (value - *low as f64) / (*next - *low).max(1) as f64;
                *count as f64 * part.min(1.0)
            })
            .sum();
        1.0 - below / self.requests
    }
}

/// Counts of trials added up.
struct Merged {
    buckets: BTreeMap<u64, (u64, u64)>,
    sum: f64,
    finite: f64,
    requests: f64,
}

impl Merged {
    fn of<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Self {
        let mut merged = Self { buckets: BTreeMap::new(), sum: 0.0, finite: 0.0, requests: 0.0 };
        for part in parts {
            for (low, next, count) in &part.buckets {
                let counted = &mut merged.buckets.entry(*low).or_insert((*next, 0)).1;
                *counted = counted.saturating_add(*count);
            }
            merged.sum += part.sum;
            merged.finite += part.finite;
            merged.requests += part.requests;
        }
        merged
    }

    fn without(&self, part: &Part) -> Self {
        let mut rest = Self {
            buckets: self.buckets.clone(),
            sum: self.sum - part.sum,
            finite: self.finite - part.finite,
            requests: self.requests - part.requests,
        };
        for (low, _, count) in &part.buckets {
            if let Some((_, left)) = rest.buckets.get_mut(low) {
                *left = left.saturating_sub(*count);
            }
        }
        rest
    }

    fn mean(&self) -> Option<f64> {
        (self.finite > 0.0).then(|| self.sum / self.finite)
    }

    /// Linear within the bucket in which the rank falls.
    fn quantile(&self, quantile: f64) -> Option<f64> {
        let rank = quantile * self.requests;
        let mut passed = 0.0;
        for (low, (next, count)) in self.buckets.iter().filter(|(_, (_, count))| *count > 0) {
            let count = *count as f64;
            if passed + count >= rank {
                return Some(*low as f64 + (*next - *low) as f64 * ((rank - passed) / count).clamp(0.0, 1.0));
            }
            passed += count;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(values: &[u64], censored: u64) -> Part {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        let buckets = histogram
            .iter_recorded()
            .map(|it| {
                let value = it.value_iterated_to();
                let (low, next) = (histogram.lowest_equivalent(value), histogram.next_non_equivalent(value));
                (low, next, it.count_at_value())
            })
            .collect();
        let finite = values.len() as f64;
        let sum = values.iter().sum::<u64>() as f64;
        Part { buckets, sum, finite, requests: finite + censored as f64 }
    }

    #[test]
    fn counts_are_added_and_taken_away_again() {
        let (a, b) = (part(&(1..=1_000).collect::<Vec<_>>(), 0), part(&[5_000; 20], 0));
        let all = Merged::of([&a, &b]);
        assert!((all.quantile(0.5).unwrap() - 511.0).abs() < 1.5);
        assert!(all.quantile(0.99).unwrap() > 4_990.0);
        assert!((all.mean().unwrap() - (500_500.0 + 100_000.0) / 1_020.0).abs() < 1e-9);
        let rest = all.without(&b);
        assert!((rest.quantile(0.99).unwrap() - 991.0).abs() < 1.5);
        assert!((a.beyond(901.0) - 0.1).abs() < 1e-9 && (b.beyond(901.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn requests_that_never_ended_lie_above() {
        let some = part(&(1..=980).collect::<Vec<_>>(), 20);
        assert_eq!(Merged::of([&some]).quantile(0.99), None);
        assert!((Merged::of([&some]).quantile(0.5).unwrap() - 501.0).abs() < 1.5);
        assert!((some.beyond(981.0) - 0.02).abs() < 1e-9);
    }

    #[test]
    fn requests_in_clusters_are_worth_fewer() {
        // 1 % beyond 1,000 in each of two, or all of it in one of them.
        let mixed = |slow: usize| {
            let mut values = vec![500; 10_000 - slow];
            values.extend(vec![2_000; slow]);
            part(&values, 0)
        };
        let alike = [mixed(101), mixed(99)];
        let apart = [mixed(200), mixed(0)];
        let (alike, apart) =
            (effective(&alike, 0.99, 1_000.0).unwrap(), effective(&apart, 0.99, 1_000.0).unwrap());
        assert!(alike == 20_000.0 && apart < 150.0, "{alike} {apart}");
    }
}
