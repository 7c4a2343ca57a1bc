//! The limit of open descriptors: the target stands at it, and connections are refused, reset or never accepted.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{number, percent};
use schema::finding::FindingCause;
use schema::load::ErrorClass;

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
        let text = format!(
            "{} of the requests failed because prony's own limit of open descriptors was reached",
            percent(own)
        );
        return Draft::new(text, Severity::High, "raise it (`ulimit -n`), or use more generator processes")
            .evidence("failed for want of a descriptor", percent(own), None, "trial.json load.errors")
            .link(Link::Direct(own))
            .found();
    }
    let Some((fds, limit)) = fds.zip(limit).filter(|(_, limit)| *limit > 0.0) else {
        return missing("target.process/fd_limit");
    };
    let used = fds / limit;
    if used < FULL {
        return Judgement::RuledOut(format!(
            "it had at most {} of {} descriptors open",
            number(fds),
            number(limit)
        ));
    }
    let text = format!(
        "one of its processes stood at its limit of open descriptors: {} of {}",
        number(fds),
        number(limit)
    );
    Draft::new(
        text,
        Severity::High,
        "raise the limit (`ulimit -n`, LimitNOFILE), or close what is not needed",
    )
    .evidence("open descriptors of the limit", percent(used), Some(percent(FULL)), "target.process/fds")
    .evidence("failed requests", percent(scene.failed_share(|_| true)), None, "trial.json load.errors")
    .link(Link::Bound(used.min(1.0)))
    .found()
}
