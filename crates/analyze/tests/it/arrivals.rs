//! The check of arrivals: every law and shape passes on its own schedule, and every planted fault trips.

use analyze::arrivals::{LAG_ALLOWED_NS, Sent, check, gate, lag_allowed_ns};
use analyze::{TrialFacts, validity};
use pace::{Schedule, Share};
use schema::arrival::{ArrivalPlan, RecordingEnd, ShapeEnd, ShapePlan, StretchPlan};
use schema::load::{ArrivalCheck, ArrivalVerdict as Verdict};
use schema::plan::LoadPlan;
use std::sync::Arc;

use crate::synth::{open, report};

const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

fn laws() -> Vec<ArrivalPlan> {
    vec![
        ArrivalPlan::Constant,
        ArrivalPlan::Uniform { width: 1.0 },
        ArrivalPlan::Uniform { width: 0.4 },
        ArrivalPlan::Poisson,
        ArrivalPlan::Weibull { shape: 0.7 },
        ArrivalPlan::Weibull { shape: 3.0 },
        ArrivalPlan::Lognormal { cv: 0.8 },
        ArrivalPlan::Gamma { shape: 0.5 },
        ArrivalPlan::Gamma { shape: 6.0 },
        ArrivalPlan::Mmpp { high: 4.0, low: 1.0, high_for_ns: 20 * MS, low_for_ns: 60 * MS },
    ]
}

fn shapes() -> Vec<Option<ShapePlan>> {
    let linear = |from_per_s, to_per_s, length_ns| StretchPlan::Linear { from_per_s, to_per_s, length_ns };
    let of = |stretches, after| Some(ShapePlan { kind: "test".to_owned(), begin_ns: S, stretches, after });
    vec![
        None,
        of(vec![linear(100.0, 2000.0, 20 * S)], ShapeEnd::Hold),
        of(vec![linear(300.0, 300.0, 2 * S), linear(1500.0, 1500.0, 2 * S)], ShapeEnd::Repeat),
        of(
            vec![linear(500.0, 500.0, 9 * S), linear(4000.0, 4000.0, 3 * S), linear(500.0, 500.0, S)],
            ShapeEnd::Hold,
        ),
        of(
            vec![StretchPlan::Sine { mean_per_s: 900.0, amplitude_per_s: 800.0, length_ns: 5 * S }],
            ShapeEnd::Repeat,
        ),
        of(
            vec![StretchPlan::Exponential { from_per_s: 3000.0, to_per_s: 300.0, length_ns: 15 * S }],
            ShapeEnd::Hold,
        ),
        of(vec![linear(50.0, 900.0, 5 * S), linear(900.0, 1800.0, 9 * S)], ShapeEnd::Hold),
    ]
}

fn load(arrivals: &ArrivalPlan, shape: Option<&ShapePlan>) -> LoadPlan {
    LoadPlan { arrivals: Some(arrivals.clone()), shape: shape.cloned(), seed: 4, ..open(64, 1000.0) }
}

/// What a perfect engine would send in 30 s: each request 20 µs after its intended time.
fn sent(load: &LoadPlan, recorded: Option<&Arc<[u64]>>) -> Vec<Sent> {
    let mut schedule = Schedule::of_load(load, recorded.cloned(), Share::WHOLE).unwrap();
    std::iter::from_fn(|| (schedule.peek().0 < 30 * S).then(|| schedule.advance().0))
        .map(|intended_ns| Sent { intended_ns, written_ns: intended_ns + 20_000 })
        .collect()
}

/// Two windows with a hole between them, as an engine records them.
fn windows(mut sent: Vec<Sent>) -> Vec<Vec<Sent>> {
    let last = sent.split_off(sent.len() / 2 + 50);
    sent.truncate(sent.len() - 100);
    vec![sent, last]
}

fn checked(plan: &LoadPlan, sent: Vec<Sent>) -> ArrivalCheck {
    check(&windows(sent), plan, None, LAG_ALLOWED_NS).expect("an open load with many gaps")
}

/// Plants a fault in what was sent; the verdict must be this one and the gate must trip.
fn trips(plan: &LoadPlan, verdict: Verdict, plant: impl FnOnce(&mut Vec<Sent>)) {
    let mut sent = sent(plan, None);
    plant(&mut sent);
    let found = checked(plan, sent);
    let gate = gate(&found);
    assert_eq!(found.verdict, verdict, "{:?}: {}", plan.arrivals, gate.text);
    assert!(!gate.ok && gate.gate == "arrivals" && gate.text.contains(": "), "{}", gate.text);
}

#[test]
fn every_law_and_shape_passes_on_its_own_schedule() {
    for law in laws() {
        for shape in shapes() {
            let plan = load(&law, shape.as_ref());
            let found = checked(&plan, sent(&plan, None));
            let gate = gate(&found);
            assert_eq!(found.verdict, Verdict::Passes, "{law:?} {shape:?}: {} {found:?}", gate.text);
            assert!(gate.ok && gate.value <= gate.limit, "{gate:?}");
            let determined = matches!(law, ArrivalPlan::Constant)
                || (matches!(law, ArrivalPlan::Mmpp { .. }) && shape.is_some());
            assert_eq!(found.fit.is_none(), determined, "{law:?}");
            if law == ArrivalPlan::Poisson {
                let test = found.fit.and_then(|fit| fit.anderson_darling).expect("given for Poisson");
                assert!(test.a2 < test.limit_1 && test.limit_5 < test.limit_1, "{test:?}");
            }
        }
    }
}

#[test]
fn a_schedule_of_another_law_trips() {
    for (asked, made) in [
        (ArrivalPlan::Poisson, ArrivalPlan::Constant),
        (ArrivalPlan::Poisson, ArrivalPlan::Gamma { shape: 1.2 }),
        (ArrivalPlan::Weibull { shape: 0.7 }, ArrivalPlan::Poisson),
        (ArrivalPlan::Lognormal { cv: 0.8 }, ArrivalPlan::Gamma { shape: 1.5625 }),
        (ArrivalPlan::Constant, ArrivalPlan::Uniform { width: 0.1 }),
        (ArrivalPlan::Uniform { width: 0.4 }, ArrivalPlan::Uniform { width: 1.0 }),
        (
            ArrivalPlan::Mmpp { high: 4.0, low: 1.0, high_for_ns: 20 * MS, low_for_ns: 60 * MS },
            ArrivalPlan::Constant,
        ),
    ] {
        for shape in shapes() {
            if shape.is_some() && matches!(asked, ArrivalPlan::Mmpp { .. }) {
                continue;
            }
            let found = checked(&load(&asked, shape.as_ref()), sent(&load(&made, shape.as_ref()), None));
            assert_eq!(found.verdict, Verdict::Schedule, "{asked:?} made as {made:?}: {found:?}");
            assert!(!gate(&found).ok);
        }
    }
}

#[test]
fn another_rate_or_shape_trips() {
    for law in laws() {
        let asked = load(&law, None);
        if law.name() == "mmpp" {
            continue;
        }
        let found = checked(&asked, sent(&LoadPlan { rate_per_s: Some(900.0), ..asked.clone() }, None));
        assert_eq!(found.verdict, Verdict::Schedule, "{law:?}: {found:?}");
        let shape = &shapes()[1];
        let found = checked(&asked, sent(&load(&law, shape.as_ref()), None));
        assert_eq!(found.verdict, Verdict::Schedule, "{law:?} under a ramp: {found:?}");
        // Written ever later: 10 % slower than asked.
        if asked.arrivals != Some(ArrivalPlan::Constant) {
            trips(&asked, Verdict::Rate, |sent| {
                sent.iter_mut().enumerate().for_each(|(i, one)| one.written_ns += (i as u64) * 100_000);
            });
        }
    }
}

#[test]
fn batches_of_ten_trip() {
    for law in laws() {
        for shape in shapes() {
            let plan = load(&law, shape.as_ref());
            let mut sent = sent(&plan, None);
            for batch in sent.chunks_mut(10) {
                let last_ns = batch.last().map_or(0, |last| last.written_ns);
                batch.iter_mut().for_each(|one| one.written_ns = last_ns);
            }
            let found = checked(&plan, sent);
            let wanted = if found.fit.is_none() { Verdict::Late } else { Verdict::Law };
            assert_eq!(found.verdict, wanted, "{law:?} {shape:?}: {found:?}");
            assert!(!gate(&found).ok);
        }
    }
}

/// The right gaps in the wrong order: only the correlation of neighbours can tell.
#[test]
fn serial_correlation_trips() {
    for law in laws() {
        let plan = load(&law, None);
        if matches!(law, ArrivalPlan::Constant | ArrivalPlan::Mmpp { .. }) {
            continue;
        }
        trips(&plan, Verdict::Order, |sent| {
            let mut gaps: Vec<u64> =
                sent.windows(2).map(|pair| pair[1].written_ns - pair[0].written_ns).collect();
            // Short gaps with short ones: sorted in runs of 40.
            gaps.chunks_mut(40).for_each(<[u64]>::sort_unstable);
            let mut at_ns = sent[0].written_ns;
            for (one, gap) in sent[1..].iter_mut().zip(gaps) {
                at_ns += gap;
                one.written_ns = at_ns;
            }
        });
    }
}

#[test]
fn determined_arrivals_that_come_late_or_are_not_those_planned_trip() {
    for shape in shapes() {
        let plan = load(&ArrivalPlan::Constant, shape.as_ref());
        trips(&plan, Verdict::Late, |sent| {
            sent.iter_mut().step_by(30).for_each(|one| one.written_ns += MS);
        });
        trips(&plan, Verdict::Schedule, |sent| {
            sent.remove(40);
        });
    }
    let times: Arc<[u64]> = (0..30_000_u64).map(|i| i * i * 30 + 17).collect::<Vec<_>>().into();
    for (speed, after) in [(1.0, RecordingEnd::Stop), (1.7, RecordingEnd::Stop), (3.0, RecordingEnd::Repeat)]
    {
        let (count, span_ns) = (times.len() as u64, times[times.len() - 1] - times[0]);
        let arrivals = ArrivalPlan::Recorded { file: "t".to_owned(), count, span_ns, speed, after };
        let plan = load(&arrivals, None);
        let right = sent(&plan, Some(&times));
        let verdict = |sent: &[Sent]| {
            check(&windows(sent.to_vec()), &plan, Some(&times), LAG_ALLOWED_NS).unwrap().verdict
        };
        assert_eq!(verdict(&right), Verdict::Passes, "{arrivals:?}");
        let mut late = right.clone();
        late.iter_mut().step_by(30).for_each(|one| one.written_ns += MS);
        assert_eq!(verdict(&late), Verdict::Late, "{arrivals:?}");
        let mut moved = right;
        moved.iter_mut().for_each(|one| one.intended_ns += 5_000);
        assert_eq!(verdict(&moved), Verdict::Schedule, "{arrivals:?}");
    }
}

#[test]
fn what_the_allowed_lag_explains_does_not_trip() {
    // Poisson at 100,000/s, ten at a time: D is far beyond 0.02, but nobody waits longer than METHOD §1 allows.
    let plan = LoadPlan { rate_per_s: Some(100_000.0), ..load(&ArrivalPlan::Poisson, None) };
    let mut sent: Vec<Sent> = sent(&plan, None).into_iter().take(100_000).collect();
    for batch in sent.chunks_mut(4) {
        let last_ns = batch.last().map_or(0, |last| last.written_ns);
        batch.iter_mut().for_each(|one| one.written_ns = last_ns);
    }
    let found = checked(&plan, sent.clone());
    assert_eq!(found.verdict, Verdict::WithinLag, "{found:?}");
    assert!(found.fit.unwrap().ks_d > 0.02 && gate(&found).ok);
    assert_eq!(check(&windows(sent), &plan, None, 1_000).unwrap().verdict, Verdict::Law);
    let slow = TrialFacts { service_p50_ns: Some(40 * MS), ..TrialFacts::default() };
    assert_eq!((lag_allowed_ns(&slow), lag_allowed_ns(&TrialFacts::default())), (2 * MS, LAG_ALLOWED_NS));
}

#[test]
fn nothing_is_said_about_closed_loads_and_few_requests() {
    let plan = load(&ArrivalPlan::Poisson, None);
    let few: Vec<Sent> = sent(&plan, None).into_iter().take(100).collect();
    assert_eq!(check(&[few], &plan, None, 0), None);
    assert_eq!(check(&[], &plan, None, 0), None);
    assert_eq!(check(&windows(sent(&plan, None)), &crate::synth::closed(3), None, 0), None);
}

#[test]
fn the_gate_is_part_of_validity_while_connections_are_free() {
    let plan = load(&ArrivalPlan::Poisson, None);
    let mut late = sent(&plan, None);
    late.chunks_mut(10).for_each(|batch| {
        let last_ns = batch.last().map_or(0, |last| last.written_ns);
        batch.iter_mut().for_each(|one| one.written_ns = last_ns);
    });
    let facts = TrialFacts {
        arrivals: Some(checked(&plan, late)),
        target_alive: Some(true),
        ..TrialFacts::default()
    };
    let mut busy = report(plan);
    busy.window.in_system_mean = 10.0;
    busy.window.backlog_max = 0;
    let has = |report: &schema::load::LoadReport, facts: &TrialFacts| {
        validity(report, facts).gates.into_iter().find(|gate| gate.gate == "arrivals").map(|gate| gate.ok)
    };
    assert_eq!(has(&busy, &facts), Some(false));
    assert_eq!(has(&busy, &TrialFacts { arrivals: None, ..facts }), None);
    busy.window.in_system_mean = 20.0;
    assert_eq!(has(&busy, &facts), None, "20 of 64 connections busy: requests wait for them");
}
