//! The CPU quota stopped the target: throttled periods of all periods in which it wanted to run, even at a low mean of
//! CPU; the stops show as latency modes near the period of 100 ms (METHOD §9).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{duration, percent};
use schema::finding::{Change, FindingCause};
use schema::limits::LimitsPlan;
use schema::said;
use schema::said::Said;

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
        FindingCause::DownstreamWait,
    ],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    // What prony set, or what a container of its own has.
    let quota = scene.cell.limits.cpus.or_else(|| scene.max("target.cgroup/cpus_limit"));
    let Some(quota) = quota.filter(|quota| *quota > 0.0) else {
        return Judgement::RuledOut(said!("why.throttling.has_no_cpu_quota", "it has no CPU quota"));
    };
    let Some((periods, stopped, ns)) = counted(scene).filter(|(periods, ..)| *periods > 0.0) else {
        return Judgement::Unread(said!(
            "why.throttling.control_group_does_not",
            "its control group does not report periods"
        ));
    };
    let share = stopped / periods;
    if share < THROTTLED {
        return Judgement::RuledOut(said!(
            "why.throttling.quota_stopped_periods",
            "its quota stopped it in {share} of its periods",
            share = percent(share)
        ));
    }
    let modes: f64 = MODES_NS.iter().filter_map(|(low, high)| scene.share_between(*low, *high)).sum();
    let words = LimitsPlan { cpus: Some(quota), ..LimitsPlan::default() };
    let a_trial = ns / scene.trials.len().max(1) as f64;
    let what = said!(
        "why.throttling.quota_stopped_periods_trial",
        "the quota of {limits} stopped {cell} in {share} of its periods, {a_trial} in a trial",
        limits = words.to_string(),
        cell = &scene.cell.label,
        share = percent(share),
        a_trial = duration(a_trial)
    );
    let is_factor = scene
        .plan
        .cells
        .iter()
        .any(|other| other.target == scene.cell.target && other.limits.cpus != scene.cell.limits.cpus);
    let evidence = |draft: Draft| {
        draft
            .evidence(
                said!("why.throttling.periods_which_stopped", "periods in which it was stopped"),
                percent(share),
                Some(percent(THROTTLED).into()),
                "target.cgroup/throttled_periods",
            )
            .evidence(
                said!(
                    "why.throttling.answers_after_about_one",
                    "answers after about one or two periods (70 to 110 ms, 170 to 210 ms)"
                ),
                percent(modes),
                None,
                "latency.hlog",
            )
            .link(Link::Direct(share))
    };
    if is_factor {
        return evidence(Draft::new(
            said!("why.throttling.as_experiment_asks", "{what}, as the experiment asks", what),
            Severity::Medium,
            Said::default(),
        ))
        .asked_for()
        .found();
    }
    let text = said!(
        "why.throttling.throughput_latency_stop_lasts",
        "{what}: its throughput and its latency (a stop lasts up to a period of 100 ms) are \
         consistent with the quota and say little of the target",
        what
    );
    let draft = Draft::new(
        text,
        Severity::High,
        said!(
            "why.throttling.raise_limits_cpus_see",
            "raise limits.cpus and see whether they change, or vary it: cpus = [0.5, 1]"
        ),
    );
    let Some(now) = scene.cell.limits.cpus else { return evidence(draft).found() };
    let change = Change::Cpus { value: Some(now * 2.0) };
    evidence(draft)
        .try_this(
            change,
            said!(
                "why.throttling.cpu_quota_from",
                "the CPU quota from {now} to {then}",
                now,
                then = now * 2.0
            ),
            scene.better(1.2),
        )
        .found()
}

/// Periods in which it wanted to run, those in which it was stopped, and for how long, over all trials.
fn counted(scene: &Scene<'_>) -> Option<(f64, f64, f64)> {
    let groups: Vec<_> = scene.trials.iter().filter_map(|trial| trial.file.target.group).collect();
    let sum = |of: fn(&schema::limits::GroupUsage) -> Option<u64>| {
        groups.iter().filter_map(of).map(|count| count as f64).reduce(|a, b| a + b)
    };
    let read = sum(|group| group.periods).or_else(|| scene.sum("target.cgroup/periods"))?;
    let stopped =
        sum(|group| group.throttled_periods).or_else(|| scene.sum("target.cgroup/throttled_periods"))?;
    let ns = sum(|group| group.throttled_ns).or_else(|| scene.sum("target.cgroup/throttled_ns"))?;
    Some((read, stopped, ns))
}
