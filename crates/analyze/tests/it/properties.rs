//! Properties: order does not matter, units cancel, swapping a pair inverts it.

use crate::synth::{closed, run, trials};
use analyze::{analyze, latency, quantile_floor};
use hdrhistogram::Histogram;
use proptest::prelude::*;
use schema::analysis::{AnalysisFile, Comparison, Verdict};

/// Throughputs of two cells over 5 to 8 blocks.
fn throughputs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((1.0..1e6_f64, 1.0..1e6_f64), 5..9)
}

fn analysed(values: &[(f64, f64)], order: impl Fn(&mut Vec<analyze::TrialData>)) -> AnalysisFile {
    let plan = run(&["a", "b"], &[closed(64)], values.len() as u32);
    let mut data = trials(&plan, |cell, block| {
        let (a, b) = values[block as usize - 1];
        if cell == 0 { a } else { b }
    });
    order(&mut data);
    analyze(&plan, &data)
}

fn throughput(values: &[(f64, f64)]) -> Comparison {
    analysed(values, |_| ()).comparisons[0].clone()
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a / b).ln().abs() < 1e-9,
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_trials_is_irrelevant(values in throughputs(), by in 0_usize..16) {
        let plain = serde_json::to_string(&analysed(&values, |_| ())).unwrap();
        let turned = analysed(&values, |data| {
            data.reverse();
            let by = by % data.len();
            data.rotate_left(by);
        });
        prop_assert_eq!(plain, serde_json::to_string(&turned).unwrap());
    }

    #[test]
    fn a_common_unit_cancels(values in throughputs(), scale in 1e-3..1e3_f64) {
        let scaled: Vec<_> = values.iter().map(|(a, b)| (a * scale, b * scale)).collect();
        let (plain, scaled) = (throughput(&values), throughput(&scaled));
        prop_assert!(near(plain.ratio, scaled.ratio) && near(plain.hodges_lehmann, scaled.hodges_lehmann));
        let (plain, scaled) = (plain.interval.unwrap(), scaled.interval.unwrap());
        prop_assert!(near(plain.low, scaled.low) && near(plain.high, scaled.high));
    }

    #[test]
    fn a_unit_of_one_target_moves_its_ratio_and_nothing_else(values in throughputs(), scale in 1e-3..1e3_f64) {
        let scaled: Vec<_> = values.iter().map(|(a, b)| (a * scale, *b)).collect();
        let (plain, scaled) = (throughput(&values), throughput(&scaled));
        let times = |value: Option<f64>| value.map(|value| value * scale);
        prop_assert!(near(times(plain.ratio), scaled.ratio));
        prop_assert!(near(times(plain.hodges_lehmann), scaled.hodges_lehmann));
        for (plain, scaled) in [
            (plain.interval, scaled.interval),
            (plain.hodges_lehmann_interval, scaled.hodges_lehmann_interval),
            (plain.bootstrap.map(|found| found.interval), scaled.bootstrap.map(|found| found.interval)),
        ] {
            prop_assert_eq!(plain.is_some(), scaled.is_some());
            if let (Some(plain), Some(scaled)) = (plain, scaled) {
                prop_assert!(near(times(plain.low), scaled.low) && near(times(plain.high), scaled.high));
            }
        }
    }

    /// A trial's requests may be counted in one piece or in many: quantiles are of the merged histogram.
    #[test]
    fn splitting_a_trial_changes_nothing(
        values in prop::collection::vec((1_u64..10_000_000_000, 0_usize..5), 1..60),
        times in 1_u64..2_000,
    ) {
        let new = || {
            let mut histogram = Histogram::<u64>::new(3).unwrap();
            histogram.auto(true);
            histogram
        };
        let (mut whole, mut parts) = (new(), [(); 5].map(|()| new()));
        for (value, part) in &values {
            whole.record_n(*value, times).unwrap();
            parts[*part].record_n(*value, times).unwrap();
        }
        let mut sum = new();
        parts.iter().for_each(|part| sum.add(part).unwrap());
        let text = |histogram: &Histogram<u64>| serde_json::to_string(&latency(histogram, 3, analyze::Of::Requests)).unwrap();
        prop_assert_eq!(text(&whole), text(&sum));
    }

    #[test]
    fn swapping_the_pair_inverts_it(values in throughputs()) {
        let swapped: Vec<_> = values.iter().map(|(a, b)| (*b, *a)).collect();
        let (ab, ba) = (throughput(&values), throughput(&swapped));
        let inverse = |value: Option<f64>| value.map(|value| 1.0 / value);
        prop_assert!(near(ab.ratio, inverse(ba.ratio)));
        prop_assert!(near(ab.hodges_lehmann, inverse(ba.hodges_lehmann)));
        prop_assert!((ab.p_value.unwrap() - ba.p_value.unwrap()).abs() < 1e-9);
        for (ab, ba) in [(ab.interval, ba.interval), (ab.hodges_lehmann_interval, ba.hodges_lehmann_interval)] {
            let (ab, ba) = (ab.unwrap(), ba.unwrap());
            prop_assert!(near(ab.low, inverse(ba.high)) && near(ab.high, inverse(ba.low)), "{:?} {:?}", ab, ba);
        }
        let mirrored = match ab.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        };
        prop_assert_eq!(ba.verdict, mirrored);
    }

    #[test]
    fn a_summary_keeps_its_order_and_explains_every_null(
        values in prop::collection::vec(1_u64..10_000_000_000, 1..40),
        times in 1_u64..20_000,
        censored in 0_u64..50_000,
    ) {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        for value in &values {
            histogram.record_n(*value, times).unwrap();
        }
        let n = histogram.len() + censored;
        let summary = latency(&histogram, censored, analyze::Of::Requests);
        let quantiles = [(0.5, summary.p50, "p50"), (0.9, summary.p90, "p90"), (0.95, summary.p95, "p95"),
            (0.99, summary.p99, "p99"), (0.999, summary.p999, "p999")];
        let mut last = summary.min.unwrap();
        for (quantile, value, key) in quantiles {
            prop_assert_ne!(value.is_some(), summary.refused.contains_key(key));
            prop_assert!(value.is_none() || n >= quantile_floor(quantile));
            if let Some(value) = value {
                prop_assert!(last <= value && value <= summary.max.unwrap());
                last = value;
            }
            let interval = summary.intervals[key];
            prop_assert!(interval.low.is_none_or(|low| value.is_none_or(|value| low <= value)));
            prop_assert!(interval.high.is_none_or(|high| value.is_some_and(|value| value <= high)));
            prop_assert!(interval.is_wide || interval.low.is_some() && interval.high.is_some());
            if let Some(at_least) = summary.at_least.get(key) {
                prop_assert!(censored > 0 && *at_least == summary.max.unwrap());
            }
        }
    }
}
