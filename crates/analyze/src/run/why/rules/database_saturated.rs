//! The database did as much as it could: its processes used the CPU that they can have, its connections were all
//! taken, or its statements waited for each other's locks, while the target's own CPU was not the limit.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{number, percent};
use schema::finding::FindingCause;
use schema::said;
use schema::said::{Joint, Said};

const BUSY: f64 = 0.85;
const CONNECTIONS: f64 = 0.95;
const LOCKED: f64 = 0.2;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::DatabaseSaturated,
    stage: Stage::Target,
    source: "utilisation law (Denning & Buzen 1978); MariaDB Threads_running, PostgreSQL pg_stat_activity",
    explains: &[
        FindingCause::PoolWait,
        FindingCause::WorkersExhausted,
        FindingCause::RunQueue,
        FindingCause::HostBusy,
        FindingCause::DownstreamWait,
    ],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let sources = scene.sources("service.", ".db");
    if sources.is_empty() {
        return Judgement::NotAsked;
    }
    let mut looked = Vec::new();
    for source in sources {
        let name = source.trim_start_matches("service.").trim_end_matches(".db").to_owned();
        let (busy, of_all) = busy(scene, &name);
        let taken =
            scene.mean(&format!("{source}/connections")).zip(scene.max(&format!("{source}/connections_max")));
        let taken = taken.filter(|(_, most)| *most > 0.0).map_or(0.0, |(now, most)| now / most);
        let running = scene.mean(&format!("{source}/running")).unwrap_or_default();
        let locked = scene.mean(&format!("{source}/lock_waiting")).unwrap_or_default();
        let waits = running >= 1.0 && locked / running >= LOCKED;
        if busy >= BUSY && of_all >= 0.5 || taken >= CONNECTIONS || waits {
            let text = said!(
                "why.database_saturated.busy_cpu_can_have",
                "{name} was busy for {busy} of the CPU that it can have, with {running} \
                 statements running, {locked} of them waiting for locks, on {taken} of its \
                 connections",
                name = &name,
                busy = percent(busy),
                running = number(running),
                locked = number(locked),
                taken = percent(taken)
            );
            return Draft::new(
                text,
                Severity::High,
                said!(
                    "why.database_saturated.look_statements_indexes_fewer",
                    "look at its statements (indexes, fewer and smaller queries, a cache), or \
                     give it more CPU"
                ),
            )
            .evidence(
                said!("why.database_saturated.cpu_what_can_have", "CPU of what it can have"),
                percent(busy),
                Some(percent(BUSY).into()),
                &format!("service.{name}.process/cpu_ns"),
            )
            .evidence(
                said!("why.database_saturated.connections_taken", "connections taken"),
                percent(taken),
                Some(percent(CONNECTIONS).into()),
                &format!("{source}/connections"),
            )
            .evidence(
                said!(
                    "why.database_saturated.running_statements_wait_locks",
                    "running statements that wait for locks"
                ),
                number(locked),
                None,
                &format!("{source}/lock_waiting"),
            )
            .link(Link::Bound(busy.max(taken)))
            .link(Link::Accounts(if waits { locked / running } else { 0.0 }))
            .found();
        }
        looked.push(said!(
            "why.database_saturated.used_cpu_connections",
            "{name} used {busy} of its CPU and {taken} of its connections",
            name,
            busy = percent(busy),
            taken = percent(taken)
        ));
    }
    Judgement::RuledOut(Said::list(Joint::Semicolon, looked))
}

/// Busy share of the CPUs that a service can have, and its share of the work that is done on them.
fn busy(scene: &Scene<'_>, name: &str) -> (f64, f64) {
    let Some(own) = scene.rate(&format!("service.{name}.process/cpu_ns")).map(|ns| ns / 1e9) else {
        return (0.0, 0.0);
    };
    let cpus = |cpus: &Option<Vec<u32>>| cpus.as_ref().map(|cpus| cpus.len() as f64);
    if let Some(apart) = cpus(&scene.plan.pin.services) {
        return (own / apart, 1.0);
    }
    // On the target's CPUs, or on all: what both do together can be no more than there is.
    let target = scene.rate("target.process/cpu_ns").unwrap_or_default() / 1e9;
    let pinned = scene.pinned().map(|cpus| cpus.len() as f64);
    let all = pinned.or_else(|| scene.max("host.stat/cpus")).unwrap_or(1.0);
    ((own + target) / all, own / (own + target).max(f64::MIN_POSITIVE))
}
