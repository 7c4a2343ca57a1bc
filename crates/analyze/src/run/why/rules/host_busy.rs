//! Other processes used the CPUs of the target. What the target's own CPUs did beyond the target's own CPU time is
//! theirs; it matters where the target's threads had to wait for a core.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::percent;
use schema::finding::{FindingCause, Watched};

/// Share of the target's CPUs that others used.
const OTHERS: f64 = 0.15;
/// Names of the counter of each CPU.
const CPU: &str = "host.cpus/cpu";

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::HostBusy,
    stage: Stage::Environment,
    source: "METHOD §9, CPU queueing; what others used is what the CPUs did less what the target did",
    explains: &[FindingCause::RunQueue],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let Some(cpus) = scene.plan.pin.target.as_ref().filter(|cpus| !cpus.is_empty()) else {
        return Judgement::Unread(
            "the target has no CPUs of its own, so others cannot be told from it".to_owned(),
        );
    };
    let busy: Vec<f64> =
        cpus.iter().filter_map(|cpu| scene.mean(&format!("{CPU}{cpu}_busy_percent"))).collect();
    let (Some(target_ns), false) = (scene.rate("target.process/cpu_ns"), busy.len() < cpus.len()) else {
        return missing("host.cpus");
    };
    // Services that share the target's CPUs are its own business.
    let services: f64 = scene
        .sources("service.", ".process")
        .iter()
        .filter_map(|source| scene.rate(&format!("{source}/cpu_ns")))
        .sum();
    let services = if scene.plan.pin.services.is_none() { services } else { 0.0 };
    // Interrupts of the target's own packets run on its CPUs and are in nobody's account.
    let packets = scene.rate("host.stat/softirq_ns").unwrap_or_default()
        + scene.rate("host.stat/irq_ns").unwrap_or_default();
    let of_all = scene.max("host.stat/cpus").map_or(1.0, |all| (cpus.len() as f64 / all).min(1.0));
    let busy = busy.iter().sum::<f64>() / 100.0;
    let others = (busy - (target_ns + services + packets * of_all) / 1e9).max(0.0) / cpus.len() as f64;
    if others < OTHERS {
        return Judgement::RuledOut(format!("others used at most {} of the target's CPUs", percent(others)));
    }
    let delay = scene
        .per_request("target.process/run_delay_ns")
        .zip(scene.mean_response())
        .map(|(delay, mean)| delay / mean);
    let text = format!("other processes used {} of the CPUs that are the target's", percent(others));
    let draft = Draft::new(
        text,
        Severity::High,
        "end them, or give the target CPUs that nobody else uses (`pin`, isolcpus)",
    )
    .evidence("busy with others", percent(others), Some(percent(OTHERS)), "host.cpus less target.process")
    .link(Link::Time("host.cpus/busiest_percent".to_owned(), Watched::P99));
    match delay {
        Some(delay) => draft
            .evidence(
                "waiting for a core, of the response time",
                percent(delay),
                Some(percent(0.1)),
                "target.process/run_delay_ns",
            )
            .link(Link::Accounts(delay))
            .found(),
        None => draft.found(),
    }
}
