//! The hand-over between workers and controller, model-checked: loom runs the very source of `control.rs` and
//! `hand_over.rs` in every interleaving with up to `LOOM_MAX_PREEMPTIONS` preemptions (2 where it is not set).
//!
//! Each module below is a copy of those files over other primitives: `sound` has loom's, `faulty` has orderings and
//! a channel that publish nothing. Every property must hold in the first and break in the second.
//! Absent on purpose: sockets and clocks, so a border is passed whenever a worker likes.

// The same files twice is the point.
#![allow(clippy::duplicate_mod)]

mod faulty;
mod sound;

/// Checks `model` in all interleavings within the bound.
fn explore(model: fn()) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(model);
}

macro_rules! properties {
    ($($property:ident breaks with $words:literal),*) => {
        mod holds {
            $(#[test] fn $property() { super::explore(super::sound::model::$property); })*
        }
        mod breaks_when_planted {
            $(#[test] #[should_panic(expected = $words)] fn $property() {
                super::explore(super::faulty::model::$property);
            })*
        }
    };
}

properties!(
    intervals_arrive_once_in_order_and_whole breaks with "Causality violation",
    a_stop_before_the_origin_is_seen breaks with "load is made after a stop",
    samples_decided_before_the_origin_are_known_at_the_start breaks with "are known at the origin"
);

#[test]
fn a_worker_never_waits_for_spares() {
    explore(sound::model::a_worker_never_waits_for_spares);
}

#[test]
fn samples_begin_at_the_same_border_or_are_missed() {
    explore(sound::model::samples_begin_at_the_same_border_or_are_missed);
}

/// What the last two properties demand, tried on results that break it.
#[test]
fn a_worker_that_began_elsewhere_is_told_apart() {
    use sound::model::{Learned, agrees};
    let at = |from, is_missed, learned_at| Some(Learned { from, is_missed, learned_at });
    assert!(agrees(at(1, false, 1)) && agrees(at(1, true, 2)) && agrees(None));
    assert!(!agrees(at(1, false, 2)) && !agrees(at(1, true, 1)) && !agrees(at(2, false, 1)));
}
