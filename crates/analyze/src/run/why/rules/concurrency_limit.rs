//! From outside: more connections brought no more throughput while the CPU was idle, so a limit of how many requests are
//! served at a time held it back. The asymptotic bounds of a closed system (Denning & Buzen, Computing Surveys 10, 1978):
//! throughput where it stops rising times the response time without a queue is how many are served at a time.
//!
//! Read of the load alone, over cells that differ in their connections only; the CPU, where it was read, must be idle.
//! Absent on purpose: a name for the limit. A pool, a lock, workers and a downstream look the same from outside; only
//! their number can be told.

use super::super::scene::Level;
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{duration, number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;
use schema::said::Said;

/// Throughput has stopped rising where half the connections had this share of it.
const FLAT: f64 = 0.9;
/// Share of the response time spent waiting for a place.
const WAIT: f64 = 0.4;
/// Busier than this, it is the CPU that holds back.
const CPU: f64 = 0.7;
const THREAD_PERCENT: f64 = 85.0;
const GENERATOR: f64 = 0.85;
/// Fewer places than this are one.
const ONE: f64 = 1.5;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::ConcurrencyLimit,
    stage: Stage::Outside,
    source: "asymptotic bounds: places = greatest throughput × response time without a queue; Denning & Buzen 1978",
    explains: &[FindingCause::WaitsInside],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let levels = scene.levels();
    let (Some(base), Some(own)) = (levels.first(), levels.iter().find(|level| level.is_own)) else {
        return Judgement::NotAsked;
    };
    if own.connections == base.connections {
        return Judgement::NotAsked;
    }
    let flat = levels.iter().find(|level| {
        level.connections.saturating_mul(2) <= own.connections && level.throughput >= FLAT * own.throughput
    });
    let wait_ns = own.response_ns - base.response_ns;
    let share = wait_ns / own.response_ns;
    let Some(flat) = flat.filter(|_| share >= WAIT) else {
        return Judgement::RuledOut(said!(
            "why.concurrency_limit.still_rose",
            "throughput still rose with connections, from {few} /s with {from} to {many} /s with {to}",
            few = number(base.throughput),
            from = base.connections,
            many = number(own.throughput),
            to = own.connections
        ));
    };
    if let Some(busy) = busy(scene) {
        return Judgement::RuledOut(busy);
    }
    let places = own.throughput * base.response_ns / 1e9;
    let draft = Draft::new(
        said!(
            "why.concurrency_limit.found",
            "it served {places} at a time: {more} connections had no more throughput than {fewer} \
             ({throughput} /s), and requests waited {wait} of the {response} that they took{cpu}",
            places = how_many(places, base, own),
            more = own.connections,
            fewer = flat.connections,
            throughput = number(own.throughput),
            wait = duration(wait_ns),
            response = duration(own.response_ns),
            cpu = cpu(scene)
        ),
        if scene.utilisation().is_some() { Severity::High } else { Severity::Medium },
        remedy(scene, places),
    )
    .evidence(
        said!(
            "why.concurrency_limit.throughput_fewer",
            "throughput with half the connections or fewer, over this one"
        ),
        percent(flat.throughput / own.throughput),
        Some(percent(FLAT).into()),
        "trial.json throughput",
    )
    .evidence(
        said!("why.concurrency_limit.places", "throughput × response time with the fewest connections"),
        number(places),
        None,
        "trial.json throughput, latency_ns",
    )
    .evidence(
        said!("why.concurrency_limit.wait_response_time", "wait as a share of the response time"),
        percent(share),
        Some(percent(WAIT).into()),
        "trial.json latency_ns",
    )
    .link(Link::Accounts(share));
    let text = said!("why.concurrency_limit.twice", "twice as many places");
    draft.try_this(Change::ByHand, text, scene.better(1.3)).found()
}

/// What else stops throughput: CPUs that are used up, of the target or of the generator.
fn busy(scene: &Scene<'_>) -> Option<Said> {
    let whole = scene.utilisation().filter(|used| *used >= CPU);
    let thread = scene.mean("target.process/busiest_thread_percent").filter(|busy| *busy >= THREAD_PERCENT);
    let cores = scene.cores().map(|cores| cores.busy).filter(|busy| *busy >= CPU.max(0.9));
    if let Some(busy) = whole.or(thread.map(|percent| percent / 100.0)).or(cores) {
        return Some(said!(
            "why.concurrency_limit.cpu_was_busy",
            "its CPU was {busy} busy where throughput stopped rising",
            busy = percent(busy)
        ));
    }
    let generator = scene.loads().map(|load| load.generator.busy_share).fold(0.0, f64::max);
    (generator >= GENERATOR).then(|| {
        said!(
            "why.concurrency_limit.generator_was_busy",
            "the generator was {busy} busy where throughput stopped rising",
            busy = percent(generator)
        )
    })
}

/// The number of places as far as it is known: where even the fewest connections had all the throughput there is, only
/// that it is not more.
fn how_many(places: f64, base: &Level, own: &Level) -> Said {
    if base.connections > 1 && base.throughput >= FLAT * own.throughput {
        return said!(
            "why.concurrency_limit.at_most",
            "{places} requests or fewer",
            places = base.connections
        );
    }
    match places < ONE {
        true => said!("why.concurrency_limit.one", "one request"),
        false => {
            said!("why.concurrency_limit.about", "about {places} requests", places = number(places.round()))
        }
    }
}

fn cpu(scene: &Scene<'_>) -> Said {
    scene.utilisation().map_or_else(
        || said!("why.concurrency_limit.cpu_unread", "; its CPU was not read"),
        |used| {
            said!("why.concurrency_limit.cpu_idle", ", while its CPU was {used} busy", used = percent(used))
        },
    )
}

/// What it can be, what it cannot be, and what would tell.
fn remedy(scene: &Scene<'_>, places: f64) -> Said {
    let metrics = said!(
        "why.outside.metrics",
        "let it report its pools, locks and workers and name the endpoint under `[metrics]`, or take an off-CPU \
         profile (`prony profile --kind off-cpu`)"
    );
    match (places < ONE, scene.utilisation().is_some()) {
        (true, true) => said!(
            "why.concurrency_limit.remedy_one",
            "it can be a lock, a single worker, thread or connection, or a rate limit, in it or behind it; it is not \
             the CPU of its own process. To tell which, {metrics}",
            metrics
        ),
        (false, true) => said!(
            "why.concurrency_limit.remedy_some",
            "it can be a pool, a number of workers or a limit of about this size, in it or behind it; it is not the \
             CPU of its own process, and not one lock that all requests hold. To tell which, {metrics}",
            metrics
        ),
        (_, false) => said!(
            "why.concurrency_limit.remedy_unread",
            "it can be a pool, workers, a lock, a rate limit or as many CPUs, in it or behind it. Run prony where the \
             target's CPU can be read; to tell which, {metrics}",
            metrics
        ),
    }
}
