//! Tests of schedules: the split over workers, the rate over an hour, and each law's mark.

use super::*;
use schema::arrival::{RecordingEnd, ShapeEnd, StretchPlan};

const HOUR_NS: u64 = 3_600_000_000_000;
pub(crate) const S: u64 = 1_000_000_000;

pub(crate) fn laws() -> Vec<ArrivalPlan> {
    vec![
        ArrivalPlan::Constant,
        ArrivalPlan::Uniform { width: 1.0 },
        ArrivalPlan::Uniform { width: 0.3 },
        ArrivalPlan::Poisson,
        ArrivalPlan::Weibull { shape: 0.7 },
        ArrivalPlan::Lognormal { cv: 1.5 },
        ArrivalPlan::Gamma { shape: 0.5 },
        ArrivalPlan::Gamma { shape: 4.0 },
        ArrivalPlan::Mmpp { high: 5.0, low: 1.0, high_for_ns: S / 10, low_for_ns: S },
        ArrivalPlan::Mmpp { high: 1.0, low: 0.0, high_for_ns: S, low_for_ns: S },
        recorded(RecordingEnd::Repeat),
    ]
}

fn recorded(after: RecordingEnd) -> ArrivalPlan {
    ArrivalPlan::Recorded { file: "t".to_owned(), count: 4, span_ns: 3000, speed: 1.0, after }
}

/// Mean gap 1 ms.
fn times() -> Option<Arc<[u64]>> {
    Some([5, 5, 1_000_005, 3_000_005].into())
}

pub(crate) fn shapes() -> Vec<ShapePlan> {
    let linear = |from_per_s, to_per_s, length_ns| StretchPlan::Linear { from_per_s, to_per_s, length_ns };
    let of = |stretches: Vec<StretchPlan>, after| ShapePlan {
        kind: "test".to_owned(),
        begin_ns: S,
        stretches,
        after,
    };
    vec![
        of(vec![linear(100.0, 2000.0, 8 * S)], ShapeEnd::Hold),
        of(vec![linear(100.0, 2000.0, 8 * S)], ShapeEnd::Repeat),
        of(vec![linear(500.0, 500.0, S), linear(1500.0, 1500.0, S)], ShapeEnd::Repeat),
        of(
            vec![StretchPlan::Sine { mean_per_s: 900.0, amplitude_per_s: 900.0, length_ns: 3 * S }],
            ShapeEnd::Repeat,
        ),
        of(
            vec![StretchPlan::Exponential { from_per_s: 3000.0, to_per_s: 30.0, length_ns: 9 * S }],
            ShapeEnd::Hold,
        ),
    ]
}

fn make(law: &ArrivalPlan, rate: f64, shape: Option<&ShapePlan>, share: Share) -> Schedule {
    Schedule::new(law, PerSecond(rate), shape, times(), Seed(9), share).unwrap()
}

fn until(mut schedule: Schedule, end_ns: u64) -> Vec<u64> {
    std::iter::from_fn(|| (schedule.peek().0 < end_ns).then(|| schedule.advance().0)).collect()
}

#[test]
fn the_split_over_workers_is_the_whole_schedule() {
    let shapes: Vec<Option<ShapePlan>> =
        std::iter::once(None).chain(shapes().into_iter().map(Some)).collect();
    for law in laws() {
        for shape in &shapes {
            if shape.is_some() && matches!(law, ArrivalPlan::Recorded { .. }) {
                continue;
            }
            let whole = until(make(&law, 997.5, shape.as_ref(), Share::WHOLE), 20 * S);
            assert!(whole.len() > 1000 && whole.is_sorted(), "{law:?} {shape:?}: {}", whole.len());
            for workers in [2, 3, 8] {
                let mut union: Vec<u64> = (0..workers)
                    .flat_map(|index| {
                        until(make(&law, 997.5, shape.as_ref(), Share::new(index, workers)), 20 * S)
                    })
                    .collect();
                union.sort_unstable();
                assert_eq!(union, whole, "{law:?} {shape:?} over {workers}");
            }
        }
    }
}

fn count_until(mut schedule: Schedule, end_ns: u64) -> u64 {
    let mut count = 0;
    while schedule.advance().0 < end_ns {
        count += 1;
    }
    count
}

/// The rate is the total: over all workers, an hour of simulated time has the arrivals that the rate says.
#[test]
fn an_hour_gives_the_rate() {
    for law in laws() {
        // Standard deviation of the count of an hour: √(variance-to-mean ratio × n); the ratio is cv² for renewals.
        let ratio = match law {
            ArrivalPlan::Constant | ArrivalPlan::Uniform { .. } | ArrivalPlan::Recorded { .. } => 0.0,
            ArrivalPlan::Poisson => 1.0,
            // Γ(1 + 2/0.7)/Γ(1 + 1/0.7)² − 1.
            ArrivalPlan::Weibull { .. } => 2.14,
            ArrivalPlan::Lognormal { cv } => cv * cv,
            ArrivalPlan::Gamma { shape } => 1.0 / shape,
            // 1 + 2(λ₁ − λ₂)²r₁r₂/((r₁ + r₂)²(λ₁r₂ + λ₂r₁)) at 1000/s (Fischer & Meier-Hellstern 1993).
            ArrivalPlan::Mmpp { high: 5.0, .. } => 1.0 + 129.3,
            ArrivalPlan::Mmpp { .. } => 1.0 + 1000.0,
        };
        let rate = 999.9;
        let count: u64 =
            (0..2).map(|index| count_until(make(&law, rate, None, Share::new(index, 2)), HOUR_NS)).sum();
        if matches!(law, ArrivalPlan::Recorded { .. }) {
            assert_eq!(count, 3_600_000, "{law:?}");
        } else if ratio == 0.0 {
            assert_eq!(count as f64, (rate * 3600.0).round(), "{law:?}");
        } else {
            let wanted = rate * 3600.0;
            let deviation = (count as f64 - wanted).abs();
            assert!(deviation <= 4.0 * (ratio * wanted).sqrt(), "{law:?}: {count}, not {wanted}");
        }
    }
    for rate in [1.0, 3.0, 7.0] {
        let share = |index| make(&ArrivalPlan::Constant, rate, None, Share::new(index, 3));
        let count: u64 = (0..3).map(|index| count_until(share(index), HOUR_NS)).sum();
        assert_eq!(count as f64, rate * 3600.0);
    }
}

#[test]
fn poisson_streams_of_stored_seeds_stay() {
    let mut schedule =
        Schedule::new(&ArrivalPlan::Poisson, PerSecond(1000.0), None, None, Seed(9), Share::WHOLE).unwrap();
    let mut rng = Seed(9).derive("poisson", 0).rng();
    let mut sum_ns = 0.0;
    for _ in 0..1000 {
        sum_ns += rng.exponential() * 1e6;
        assert!((schedule.advance().0 as f64 - sum_ns).abs() < 1.5);
    }
}

#[test]
fn poisson_gaps_are_exponential() {
    let times = until(make(&ArrivalPlan::Poisson, 10_000.0, None, Share::WHOLE), 10 * S);
    let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let longer = gaps.iter().filter(|gap| **gap > mean).count() as f64 / n;
    assert!((mean - 1e5).abs() < 4.0 * 1e5 / n.sqrt());
    // P(gap > mean) = 1/e; four standard errors.
    assert!((longer - (-1.0_f64).exp()).abs() < 4.0 * 0.48 / n.sqrt());
}

#[test]
fn uniform_arrivals_stay_in_their_part_of_the_slot_and_differ() {
    for width in [1.0, 0.3] {
        let times = until(make(&ArrivalPlan::Uniform { width }, 1000.0, None, Share::WHOLE), S);
        assert!(
            times.iter().enumerate().all(|(slot, at)| {
                at / 1_000_000 == slot as u64 && (at % 1_000_000) as f64 <= width * 1e6
            })
        );
        assert!(times.windows(2).any(|pair| pair[1] - pair[0] != 1_000_000));
    }
}

#[test]
fn an_mmpp_is_burstier_than_poisson_in_counts() {
    // Index of dispersion of counts per second, far above 1 where the states last about a second.
    let mmpp = ArrivalPlan::Mmpp { high: 10.0, low: 1.0, high_for_ns: S, low_for_ns: S };
    let times = until(make(&mmpp, 1000.0, None, Share::WHOLE), 600 * S);
    let mut counts = vec![0.0; 600];
    times.iter().for_each(|at| counts[(at / S) as usize] += 1.0);
    let mean = counts.iter().sum::<f64>() / 600.0;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 599.0;
    assert!(variance / mean > 50.0, "{}", variance / mean);
}

#[test]
fn recorded_times_are_replayed_and_end_or_repeat() {
    let mut once = make(&recorded(RecordingEnd::Stop), 1.0, None, Share::WHOLE);
    let all: Vec<u64> = (0..5).map(|_| once.advance().0).collect();
    assert_eq!(all, [0, 0, 1_000_000, 3_000_000, u64::MAX]);
    assert_eq!(once.advance(), Schedule::NEVER);
    let mut again = make(&recorded(RecordingEnd::Repeat), 1.0, None, Share::WHOLE);
    let all: Vec<u64> = (0..6).map(|_| again.advance().0).collect();
    assert_eq!(all, [0, 0, 1_000_000, 3_000_000, 4_000_000, 4_000_000]);
    let twice = ArrivalPlan::Recorded {
        file: "t".to_owned(),
        count: 4,
        span_ns: 3_000_000,
        speed: 2.0,
        after: RecordingEnd::Stop,
    };
    let mut fast = make(&twice, 1.0, None, Share::WHOLE);
    assert_eq!((0..4).map(|_| fast.advance().0).collect::<Vec<_>>(), [0, 0, 500_000, 1_500_000]);
}

#[test]
fn a_shaped_load_follows_its_rate() {
    // The ramp of 100 to 2000/s over 8 s after a second at 100/s: 100 + 8400 arrivals, the first half fewer.
    let ramp = &shapes()[0];
    for law in [ArrivalPlan::Constant, ArrivalPlan::Poisson, ArrivalPlan::Gamma { shape: 4.0 }] {
        let times = until(make(&law, 1.0, Some(ramp), Share::WHOLE), 9 * S);
        let n = times.len() as f64;
        assert!((n - 8500.0).abs() <= 4.0 * 8500.0_f64.sqrt(), "{law:?}: {n}");
        // Of the ramp's 8400, those in its first half: 4 s at 100 to 1050/s.
        let half = times.iter().filter(|at| (S..5 * S).contains(*at)).count() as f64;
        assert!((half - 2300.0).abs() <= 4.0 * 2300.0_f64.sqrt(), "{law:?}: {half}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let new = |law: &ArrivalPlan, rate, shape: Option<&ShapePlan>, times| {
        Schedule::new(law, PerSecond(rate), shape, times, Seed(1), Share::WHOLE).map(|_| ())
    };
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10, 1e-9] {
        assert!(matches!(new(&ArrivalPlan::Constant, rate, None, None), Err(PaceError::Rate(_))), "{rate}");
    }
    assert!(new(&ArrivalPlan::Uniform { width: 1.5 }, 1.0, None, None).is_err());
    let mmpp = |high, low| ArrivalPlan::Mmpp { high, low, high_for_ns: S, low_for_ns: S };
    assert!(new(&mmpp(1.0, 2.0), 1.0, None, None).is_err(), "high below low");
    assert!(new(&mmpp(0.0, 0.0), 1.0, None, None).is_err(), "no intensity");
    let replay = recorded(RecordingEnd::Stop);
    let shape = &shapes()[0];
    assert_eq!(new(&replay, 1.0, Some(shape), times()), Err(PaceError::ShapedRecording));
    for wrong in [None, Some(vec![]), Some(vec![1]), Some(vec![1, 1]), Some(vec![2, 1])] {
        let made = new(&replay, 1.0, None, wrong.map(Arc::from));
        assert!(matches!(made, Err(PaceError::Recording(_))), "{made:?}");
    }
}

#[test]
fn an_end_by_count_is_the_begin_of_the_same_schedule_for_any_number_of_workers() {
    let poisson = ArrivalPlan::Poisson;
    let of = |share| Schedule::new(&poisson, PerSecond(1000.0), None, None, Seed(7), share).unwrap();
    let mut whole = of(Share::WHOLE);
    let expected: Vec<Nanos> = (0..101).map(|_| whole.advance()).collect();
    for workers in [1, 2, 3, 100, 200] {
        let mut times: Vec<Nanos> = (0..workers)
            .flat_map(|index| {
                let share = Share::new(index, workers);
                let mut schedule = of(share).ending_after(101, share);
                std::iter::from_fn(move || (schedule.peek() < Schedule::NEVER).then(|| schedule.advance()))
                    .collect::<Vec<_>>()
            })
            .collect();
        times.sort_unstable();
        assert_eq!(times, expected, "{workers} workers");
    }
    let mut none = of(Share::WHOLE).ending_after(0, Share::WHOLE);
    assert_eq!((none.peek(), none.advance()), (Schedule::NEVER, Schedule::NEVER));
}
