//! The rules, one cause a file: what is read, when it holds, what ties it to what users see, what would confirm it.
//!
//! Invariant: a rule that cannot read what it needs says so and rules nothing out. A new rule is a file and a line in
//! [`RULES`]; its planted fault goes into `tests/it/why.rs`.

mod accept_queue;
mod allocation_pressure;
mod bandwidth;
mod cache_slow;
mod clock_drift;
mod cold_code;
mod concurrency_limit;
mod connection_churn;
mod core_full;
mod cpu_saturated;
mod database_saturated;
mod delayed_ack;
mod descriptor_leak;
mod descriptor_limit;
mod disk_wait;
mod downstream_calls;
mod downstream_wait;
mod errors;
mod event_loop_blocked;
mod gc_pauses;
mod generator_saturated;
mod goaway_churn;
mod growth;
mod head_of_line;
mod host_busy;
mod lock_contention;
mod memory_growth;
mod memory_limit;
mod pool_wait;
mod port_exhaustion;
mod retransmission;
mod retry_storm;
mod run_queue;
mod slow_replica;
mod small_window;
mod stalls;
mod steal;
mod stream_limit;
mod swap;
mod thread_growth;
mod throttling;
mod uneven_workers;
mod waits_inside;
mod workers_exhausted;

use super::draft::{Draft, Judgement, Link, Rule, Stage};
use super::scene::Scene;
use schema::finding::FindingSeverity as Severity;
use schema::said;
use schema::said::Arg;

/// All of them; among equals the order in which they are reported.
pub(super) const RULES: &[Rule] = &[
    generator_saturated::RULE,
    steal::RULE,
    clock_drift::RULE,
    slow_replica::RULE,
    core_full::RULE,
    host_busy::RULE,
    throttling::RULE,
    memory_limit::RULE,
    swap::RULE,
    cpu_saturated::RULE,
    run_queue::RULE,
    gc_pauses::RULE,
    allocation_pressure::RULE,
    thread_growth::RULE,
    memory_growth::RULE,
    pool_wait::RULE,
    database_saturated::RULE,
    cache_slow::RULE,
    retry_storm::RULE,
    downstream_calls::RULE,
    downstream_wait::RULE,
    disk_wait::RULE,
    lock_contention::RULE,
    event_loop_blocked::RULE,
    workers_exhausted::RULE,
    accept_queue::RULE,
    port_exhaustion::RULE,
    goaway_churn::RULE,
    stream_limit::RULE,
    small_window::RULE,
    connection_churn::RULE,
    head_of_line::RULE,
    retransmission::RULE,
    delayed_ack::RULE,
    bandwidth::RULE,
    descriptor_limit::RULE,
    descriptor_leak::RULE,
    cold_code::RULE,
    uneven_workers::RULE,
    errors::RULE,
    concurrency_limit::RULE,
    stalls::RULE,
    waits_inside::RULE,
];

/// The answer of a rule whose source was not read.
fn missing(what: impl Into<Arg>) -> Judgement {
    let what = what.into();
    Judgement::Unread(said!("why.not_read_these_trials", "{what} was not read in these trials", what))
}
