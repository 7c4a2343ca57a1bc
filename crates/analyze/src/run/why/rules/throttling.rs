//! The CPU quota stopped the target: throttled periods of all periods in which it wanted to run, even at a low mean of
//! CPU; the stops show as latency modes near the period of 100 ms (METHOD §9).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{duration, percent};
use schema::finding::{Change, FindingCause};
use schema::limits::LimitsPlan;

const THROTTLED: f64 = 0.05;
/// Around one and two periods.
const MODES_NS: [(u64, u64); 2] = [(70_000_000, 110_000_000), (170_000_000, 210_000_000)];

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::Throttling,
    stage: Stage::Target,
    source: "METHOD §9: throttled over all periods ≥ 5 %; kernel, sched-bwc",
    explains: &[
        FindingCause::CpuSaturated,
        FindingCause::RunQueue,
        FindingCause::UnevenWorkers,
        FindingCause::EventLoopBlocked,
        FindingCause::AcceptQueue,
        FindingCause::WorkersExhausted,
        FindingCause::AllocationPressure,
        FindingCause::GcPauses,
        FindingCause::LockContention,
        FindingCause::PoolWait,
    ],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let (mut periods, mut stopped, mut ns) = (0_u64, 0_u64, 0_u64);
    for group in scene.trials.iter().filter_map(|trial| trial.file.target.group) {
        periods = periods.saturating_add(group.periods.unwrap_or_default());
        stopped = stopped.saturating_add(group.throttled_periods.unwrap_or_default());
        ns = ns.saturating_add(group.throttled_ns.unwrap_or_default());
    }
    if scene.cell.limits.cpus.is_none() && periods == 0 {
        return Judgement::RuledOut("it has no CPU quota".to_owned());
    }
    if periods == 0 {
        return Judgement::Unread("its control group does not tell of periods".to_owned());
    }
    let share = stopped as f64 / periods as f64;
    if share < THROTTLED {
        return Judgement::RuledOut(format!("its quota stopped it in {} of its periods", percent(share)));
    }
    let modes: f64 = MODES_NS.iter().filter_map(|(low, high)| scene.share_between(*low, *high)).sum();
    let quota = LimitsPlan { cpus: scene.cell.limits.cpus, ..LimitsPlan::default() };
    let a_trial = ns as f64 / scene.trials.len().max(1) as f64;
    let what = format!(
        "the quota of {quota} stopped {} in {} of its periods, {} in a trial",
        scene.cell.label,
        percent(share),
        duration(a_trial)
    );
    let is_factor = scene
        .plan
        .cells
        .iter()
        .any(|other| other.target == scene.cell.target && other.limits.cpus != scene.cell.limits.cpus);
    let evidence = |draft: Draft| {
        draft
            .evidence(
                "periods in which it was stopped",
                percent(share),
                Some(percent(THROTTLED)),
                "target.cgroup/throttled_periods",
            )
            .evidence(
                "answers after about one or two periods (70 to 110 ms, 170 to 210 ms)",
                percent(modes),
                None,
                "latency.hlog",
            )
            .link(Link::Direct(share))
    };
    if is_factor {
        return evidence(Draft::new(format!("{what}, as the experiment asks"), Severity::Medium, ""))
            .asked_for()
            .found();
    }
    let text = format!(
        "{what}: its throughput and its latency (a stop lasts up to a period of 100 ms) are consistent with the quota and \
         say little of the target"
    );
    let draft = Draft::new(
        text,
        Severity::High,
        "raise limits.cpus and see whether they change, or vary it: cpus = [0.5, 1]",
    );
    let now = scene.cell.limits.cpus.unwrap_or(1.0);
    let change = Change::Cpus { value: Some(now * 2.0) };
    evidence(draft)
        .try_this(change, format!("the CPU quota from {now} to {}", now * 2.0), scene.better(1.2))
        .found()
}
