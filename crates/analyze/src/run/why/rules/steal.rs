//! CPU time that the hypervisor gave to others: above 1 % it is worth telling, above 5 % it voids (METHOD §9).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::percent;
use schema::finding::{FindingCause, Watched};
use schema::said;

const WARN: f64 = 0.01;
const VOID: f64 = 0.05;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::Steal,
    stage: Stage::Environment,
    source: "METHOD §9: steal above 1 % warns, above 5 % voids",
    explains: &[
        FindingCause::RunQueue,
        FindingCause::HostBusy,
        FindingCause::CoreFull,
        FindingCause::ClockDrift,
        FindingCause::SlowReplica,
    ],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let (Some(stolen), Some(cpus)) = (scene.rate("host.stat/steal_ns"), scene.max("host.stat/cpus")) else {
        return missing("host.stat");
    };
    let share = stolen / 1e9 / cpus;
    if share < WARN {
        return Judgement::RuledOut(said!(
            "why.steal.host_cpu_time_stolen",
            "{share} of the host's CPU time was stolen, below {warn}",
            share = percent(share),
            warn = percent(WARN)
        ));
    }
    let text = said!(
        "why.steal.hypervisor_gave_host_cpu",
        "the hypervisor gave {share} of the host's CPU time to others",
        share = percent(share)
    );
    let severity = if share >= VOID { Severity::High } else { Severity::Medium };
    let draft = Draft::new(
        text,
        severity,
        said!(
            "why.steal.measure_machine_own_when",
            "measure on a machine of its own, or when its neighbours are quiet"
        ),
    )
    .evidence(
        said!("why.steal.stolen_cpu_time", "stolen CPU time"),
        percent(share),
        Some(percent(WARN).into()),
        "host.stat/steal_ns",
    )
    .link(Link::Time("host.stat/steal_ns".to_owned(), Watched::P99));
    if share >= VOID { draft.link(Link::Direct(share)).found() } else { draft.found() }
}
