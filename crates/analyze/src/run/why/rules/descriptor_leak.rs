//! Open descriptors that only grow while the number of connections stays.

use super::growth::grown;
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::number;
use schema::finding::FindingCause;
use schema::said;

const LEAST: f64 = 10.0;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::DescriptorLeak,
    stage: Stage::Target,
    source: "METHOD §8, in short: a rise in every trial (Kendall, Fisher)",
    explains: &[FindingCause::DescriptorLimit, FindingCause::Errors],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let key = "target.process/fds";
    let Some(fds) = grown(scene, key) else { return missing(key) };
    let sockets = grown(scene, "target.connections/established").map_or(0.0, |grown| grown.by.max(0.0));
    let own = fds.by - sockets;
    if own < LEAST || !fds.is_sure() {
        return Judgement::RuledOut(said!(
            "why.descriptor_leak.open_descriptors_changed_over",
            "its open descriptors changed by {by} over a trial",
            by = number(fds.by)
        ));
    }
    let each = own * scene.trials.len() as f64 / scene.answers().max(1) as f64;
    let text = said!(
        "why.descriptor_leak.open_descriptors_grew_within",
        "its open descriptors grew by {own} within a trial beyond its connections, in every \
         trial: one in {min_positive} requests leaves one open",
        own = number(own),
        min_positive = number(1.0 / each.max(f64::MIN_POSITIVE))
    );
    Draft::new(
        text,
        Severity::Medium,
        said!(
            "why.descriptor_leak.close_what_each_request",
            "close what each request opens (`ls -l /proc/PID/fd` shows what they are); `prony soak` \
         shows how far it goes"
        ),
    )
    .evidence(
        said!("why.descriptor_leak.open_descriptors_end", "open descriptors at the end"),
        number(fds.last),
        None,
        key,
    )
    .evidence(
        said!("why.descriptor_leak.which_connections_load_came", "of which connections of the load came"),
        number(sockets),
        None,
        "target.connections/established",
    )
    .link(Link::Growth(fds.p))
    .found()
}
