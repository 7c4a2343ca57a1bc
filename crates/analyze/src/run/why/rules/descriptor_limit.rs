//! The limit of open descriptors: the target stands at it, and connections are refused, reset or never accepted.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{number, percent};
use schema::finding::FindingCause;
use schema::load::ErrorClass;
use schema::said;

const FULL: f64 = 0.95;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::DescriptorLimit,
    stage: Stage::Target,
    source: "getrlimit(2), RLIMIT_NOFILE; accept(2), EMFILE",
    explains: &[FindingCause::Errors, FindingCause::AcceptQueue, FindingCause::ConnectionChurn],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let own = scene.failed_share(|class| class == ErrorClass::DescriptorLimit);
    let (fds, limit) = (scene.max("target.process/fds"), scene.max("target.process/fd_limit"));
    if own > 0.0 {
        let text = said!(
            "why.descriptor_limit.requests_failed_because_prony",
            "{own} of the requests failed because prony's own limit of open descriptors was reached",
            own = percent(own)
        );
        return Draft::new(
            text,
            Severity::High,
            said!(
                "why.descriptor_limit.raise_ulimit_n_use",
                "raise it (`ulimit -n`), or use more generator processes"
            ),
        )
        .evidence(
            said!("why.descriptor_limit.failed_want_descriptor", "failed for want of a descriptor"),
            percent(own),
            None,
            "trial.json load.errors",
        )
        .link(Link::Direct(own))
        .found();
    }
    let Some((fds, limit)) = fds.zip(limit).filter(|(_, limit)| *limit > 0.0) else {
        return missing("target.process/fd_limit");
    };
    let used = fds / limit;
    if used < FULL {
        return Judgement::RuledOut(said!(
            "why.descriptor_limit.had_most_descriptors_open",
            "it had at most {fds} of {limit} descriptors open",
            fds = number(fds),
            limit = number(limit)
        ));
    }
    let text = said!(
        "why.descriptor_limit.one_processes_stood_limit",
        "one of its processes stood at its limit of open descriptors: {fds} of {limit}",
        fds = number(fds),
        limit = number(limit)
    );
    Draft::new(
        text,
        Severity::High,
        said!(
            "why.descriptor_limit.raise_limit_ulimit_n",
            "raise the limit (`ulimit -n`, LimitNOFILE), or close what is not needed"
        ),
    )
    .evidence(
        said!("why.descriptor_limit.open_descriptors_limit", "open descriptors of the limit"),
        percent(used),
        Some(percent(FULL).into()),
        "target.process/fds",
    )
    .evidence(
        said!("why.descriptor_limit.failed_requests", "failed requests"),
        percent(scene.failed_share(|_| true)),
        None,
        "trial.json load.errors",
    )
    .link(Link::Bound(used.min(1.0)))
    .found()
}
