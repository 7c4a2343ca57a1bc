//! With more connections a request asks another service more often: what was refused or late is asked again, which makes
//! the other service still busier.
//!
//! Read over cells that differ in their connections only, from the kernel's account of the connections that the target
//! opened. What each request needs is the same at every level, so questions that come with the load are repeats.
//! Absent on purpose: repeats over connections that live less than a second, which the kernel's account does not show.

use super::super::scene::Level;
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;

/// Questions at this level over those with the fewest connections.
const TIMES: f64 = 1.5;
/// Fewer questions for a request than this are those of a few requests only.
const LEAST: f64 = 0.5;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::RetryStorm,
    stage: Stage::Target,
    source: "segments with data of the target's own connections (TCP_INFO, tcp(7)) over levels; Bronson et al., \
             Metastable failures in distributed systems, HotOS 2021",
    explains: &[
        FindingCause::DownstreamCalls,
        FindingCause::DownstreamWait,
        FindingCause::CpuSaturated,
        FindingCause::Errors,
    ],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    if !scene.has("target.outgoing") {
        return missing("target.outgoing");
    }
    let levels = scene.levels();
    let (Some(base), Some(own)) = (levels.first(), levels.iter().find(|level| level.is_own)) else {
        return Judgement::NotAsked;
    };
    let most = base
        .asked
        .iter()
        .filter(|(_, few)| **few >= LEAST)
        .filter_map(|(peer, few)| Some((peer, *few, *own.asked.get(peer)?)))
        .max_by(|a, b| (a.2 / a.1).total_cmp(&(b.2 / b.1)));
    let Some((peer, few, many)) = most.filter(|_| own.connections > base.connections) else {
        return Judgement::NotAsked;
    };
    if many < TIMES * few {
        return Judgement::RuledOut(said!(
            "why.retry_storm.steady",
            "a request asked {peer} {many} times with {to} connections and {few} times with {from}",
            peer,
            many = number(many),
            to = own.connections,
            few = number(few),
            from = base.connections
        ));
    }
    found(scene, peer, (base, few), (own, many))
}

fn found(scene: &Scene<'_>, peer: &str, (base, few): (&Level, f64), (own, many): (&Level, f64)) -> Judgement {
    let repeats = 1.0 - few / many;
    let text = said!(
        "why.retry_storm.found",
        "a request asked {peer} {many} times with {to} connections and {few} times with {from}: {repeats} of the \
         questions were asked again",
        peer,
        many = number(many),
        to = own.connections,
        few = number(few),
        from = base.connections,
        repeats = percent(repeats)
    );
    let remedy = said!(
        "why.retry_storm.remedy",
        "retry with a growing, random delay and within a budget (such as a tenth of all questions), and stop asking for a \
         while when {peer} refuses (a circuit breaker)",
        peer
    );
    Draft::new(text, Severity::High, remedy)
        .evidence(
            said!(
                "why.retry_storm.times",
                "questions for each request, over those with the fewest connections"
            ),
            number(many / few),
            Some(number(TIMES).into()),
            &format!("target.outgoing/sent@{peer}"),
        )
        .link(Link::Direct(repeats))
        .try_this(Change::ByHand, said!("why.retry_storm.none", "no retries"), scene.better(1.2))
        .found()
}
