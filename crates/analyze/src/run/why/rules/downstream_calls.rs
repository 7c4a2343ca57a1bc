//! A request asks another service many times, one question after the other: a query for each row of a list (N+1), or a
//! loop of calls. Each question is quick, and together they are the response time.
//!
//! Read from the kernel's account of the connections that the target opened. A question is a segment with data, so that
//! long ones count for more than one, and those that go out together for less.
//! Absent on purpose: whether the questions could be one; the program tells that.

use super::super::scene::Peer;
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;

const CALLS: f64 = 10.0;
/// Share of a request's time for which its connection there is in use.
const ACTIVE: f64 = 0.3;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::DownstreamCalls,
    stage: Stage::Target,
    source: "segments with data of the target's own connections (TCP_INFO, tcp(7)); Little's law for their use",
    explains: &[FindingCause::DownstreamWait],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    if !scene.has("target.outgoing") {
        return missing("target.outgoing");
    }
    let most = scene.peers().into_iter().max_by(|a, b| a.asked.total_cmp(&b.asked));
    let Some((peer, inside)) = most.zip(scene.in_flight()) else {
        return Judgement::NotAsked;
    };
    let share = (peer.active / inside).min(1.0);
    if peer.asked < CALLS || share < ACTIVE {
        return Judgement::RuledOut(said!(
            "why.downstream_calls.few",
            "a request asked {peer} {calls} times",
            peer = &peer.address,
            calls = number(peer.asked)
        ));
    }
    found(scene, &peer, inside, share)
}

fn found(scene: &Scene<'_>, peer: &Peer, inside: f64, share: f64) -> Judgement {
    let text = said!(
        "why.downstream_calls.found",
        "each request asked {peer} {calls} times, and {active} of {inside} in flight were at it, {share} of the response \
         time",
        peer = &peer.address,
        calls = number(peer.asked),
        active = number(peer.active.min(inside)),
        inside = number(inside),
        share = percent(share)
    );
    let remedy = said!(
        "why.downstream_calls.remedy",
        "ask once for many things: a join or a list of keys instead of a query for each row (N+1), a batch, a pipeline, \
         or a cache"
    );
    Draft::new(text, Severity::Medium, remedy)
        .evidence(
            said!("why.downstream_calls.calls", "questions for each request"),
            number(peer.asked),
            Some(number(CALLS).into()),
            &format!("target.outgoing/sent@{}", peer.address),
        )
        .evidence(
            said!("why.downstream_calls.share", "time with them as a share of the response time, at most"),
            percent(share),
            Some(percent(ACTIVE).into()),
            &format!("target.outgoing/active@{}", peer.address),
        )
        .link(Link::Accounts(share))
        .try_this(
            Change::ByHand,
            said!("why.downstream_calls.one", "one question in place of many"),
            scene.better(1.3),
        )
        .found()
}
