//! The CPUs that the target runs on were full: with itself, its services, the generator and others together, though not
//! with itself alone. Its threads then wait for a core, whatever share of the response time that is: under a closed load
//! most of a response is the queue that this wait causes.

use super::super::scene::Cores;
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::percent;
use schema::finding::{Change, FindingCause, Watched};
use schema::said;
use schema::said::Said;

/// Busy share of its CPUs from which they are full.
const FULL: f64 = 0.9;
/// From here on it fills them itself, which is a saturated CPU.
const ALONE: f64 = 0.9;
/// Share of the CPUs that all others together must take for them to be at fault; below it the target and its packets fill
/// them, and what makes it work so much comes first.
const BESIDE: f64 = 0.1;
/// Share of what the CPUs do from which it is the services that fill them; then what they do is the cause, and this its
/// consequence.
const SERVICES: f64 = 0.5;
/// Share of the CPUs wanted for itself and its services below which it is others that fill them, and full CPUs are not what
/// holds it back.
pub(super) const DEMAND: f64 = 0.4;
/// Share of the time for which its threads wanted a core and waited for one.
pub(super) const WAIT: f64 = 0.1;

/// Stolen time from which on it is named, as in the rule for stolen time.
const STOLEN: f64 = 0.01;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::CoreFull,
    stage: Stage::Environment,
    source: "METHOD §9, CPU queueing; utilisation law over all that shares the core",
    explains: &[
        FindingCause::HostBusy,
        FindingCause::RunQueue,
        FindingCause::CpuSaturated,
        FindingCause::AcceptQueue,
        FindingCause::PoolWait,
        FindingCause::WorkersExhausted,
        FindingCause::LockContention,
        FindingCause::DownstreamWait,
        FindingCause::EventLoopBlocked,
        FindingCause::UnevenWorkers,
    ],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let Some(cores) = scene.cores() else { return missing("host.cpus") };
    if cores.own >= ALONE {
        return Judgement::NotAsked;
    }
    if cores.busy < FULL {
        let text = said!(
            "why.core_full.cpus_runs_busy_time",
            "the CPUs that it runs on were busy for {busy} of the time",
            busy = percent(cores.busy)
        );
        return Judgement::RuledOut(text);
    }
    let Some(wait) = scene.core_wait() else { return missing("target.process/run_delay_ns") };
    if wait < WAIT || cores.own + cores.services < DEMAND {
        return Judgement::RuledOut(said!(
            "why.core_full.cpus_runs_full_but",
            "the CPUs that it runs on were full, but it used only {services} of them and waited \
             for {wait} of the time for which it wanted one",
            services = percent(cores.own + cores.services),
            wait = percent(wait)
        ));
    }
    let text = said!(
        "why.core_full.cpus_runs_full_itself",
        "the CPUs that it runs on were full: {own} itself, {services} its services, {generator} \
         prony, {others} others{stolen}; its threads waited for {wait} of the time for which they \
         wanted a core",
        own = percent(cores.own),
        services = percent(cores.services),
        generator = percent(cores.generator),
        others = percent(cores.others),
        stolen = stolen(&cores),
        wait = percent(wait)
    );
    let (severity, remedy) = remedy(&cores);
    Draft::new(text, severity, remedy)
        .evidence(
            said!("why.core_full.busy_share_cpus", "busy share of its CPUs"),
            percent(cores.busy),
            Some(percent(FULL).into()),
            "host.cpus",
        )
        .evidence(
            said!("why.core_full.waiting_core_cpu_time", "waiting for a core, of CPU time and waiting"),
            percent(wait),
            Some(percent(WAIT).into()),
            "target.process/run_delay_ns",
        )
        .link(Link::Bound(cores.busy))
        .link(Link::Time("host.cpus/busiest_percent".to_owned(), Watched::P99))
        .try_this(
            Change::ByHand,
            said!("why.core_full.give_cpus_own", "give it CPUs of its own"),
            scene.better(1.2),
        )
        .found()
}

/// What the hypervisor took, where that is worth telling.
fn stolen(cores: &Cores) -> Said {
    match cores.stolen >= STOLEN {
        true => said!(
            "why.core_full.stolen",
            ", {stolen} taken away by the hypervisor",
            stolen = percent(cores.stolen)
        ),
        false => Said::default(),
    }
}

/// It is the cause itself only where strangers take part of the core; else it is a sign of the work that fills it.
fn remedy(cores: &Cores) -> (Severity, Said) {
    if cores.services >= SERVICES * cores.busy {
        let remedy = said!(
            "why.core_full.look_services_first",
            "look at what the services do, then give them CPUs of their own (`pin.services`)"
        );
        return (Severity::Medium, remedy);
    }
    if cores.services + cores.generator + cores.others < BESIDE {
        let remedy = said!(
            "why.core_full.make_request_cheaper",
            "make a request cheaper (`prony profile`), or give the target more CPUs"
        );
        return (Severity::Medium, remedy);
    }
    let remedy = said!(
        "why.core_full.give_target_cpus_nobody",
        "give the target CPUs that nobody else uses (`pin`, isolcpus), end what runs beside it, \
         or make a request cheaper (`prony profile`)"
    );
    (Severity::High, remedy)
}
