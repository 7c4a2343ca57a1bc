//! Requests waited for answers of another service, while the target's own CPU was not the limit. Read from the kernel's
//! account of the connections that the target opened, so that no endpoint of it is needed.
//!
//! By Little's law the connections that wait at a moment, over the requests in flight, are the share of a request's time
//! for which it waits there. Never high: the target does what it was made for, and whether the other service is slow or
//! has so much to do cannot be seen from here.
//! Absent on purpose: which statement or path was asked; a trace tells that.

use super::super::scene::Peer;
use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{duration, number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;

const WAIT: f64 = 0.4;
const CPU: f64 = 0.7;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::DownstreamWait,
    stage: Stage::Target,
    source: "Little's law on connections that owe an answer (TCP_INFO, tcp(7)); METHOD §9 as for pools",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    if !scene.has("target.outgoing") {
        return missing("target.outgoing");
    }
    let Some((peer, inside)) = scene.peers().into_iter().next().zip(scene.in_flight()) else {
        // It has no connections to others.
        return Judgement::NotAsked;
    };
    // A connection may wait for what no request needs, such as a message that comes when it comes.
    let share = (peer.waiting / inside).min(1.0);
    let cpu = scene.utilisation().unwrap_or_default();
    let wait = share * scene.mean_response().unwrap_or_default();
    if share < WAIT || cpu >= CPU {
        return Judgement::RuledOut(said!(
            "why.downstream_wait.short",
            "requests waited {wait} for answers of {peer}, {share} of the response time",
            wait = duration(wait),
            peer = &peer.address,
            share = percent(share)
        ));
    }
    found(scene, &peer, inside, (share, wait, cpu))
}

fn found(scene: &Scene<'_>, peer: &Peer, inside: f64, (share, wait, cpu): (f64, f64, f64)) -> Judgement {
    let source = format!("target.outgoing/waiting@{}", peer.address);
    let text = said!(
        "why.downstream_wait.found",
        "requests waited {wait} for answers of {peer}, {share} of the response time: {waiting} of {inside} in flight had \
         asked it and had no answer yet, while the target used {cpu} of its CPU",
        wait = duration(wait),
        peer = &peer.address,
        share = percent(share),
        waiting = number(peer.waiting),
        inside = number(inside),
        cpu = percent(cpu)
    );
    let remedy = said!(
        "why.downstream_wait.remedy",
        "look at what {peer} does meanwhile: its CPU, its locks, its own downstreams. In the target, ask for several \
         things at once, keep answers, or give up earlier",
        peer = &peer.address
    );
    Draft::new(text, Severity::Medium, remedy)
        .evidence(
            said!("why.downstream_wait.share", "wait for its answers, of the response time"),
            percent(share),
            Some(percent(WAIT).into()),
            &source,
        )
        .evidence(
            said!("why.downstream_wait.asked", "questions for each request"),
            number(peer.asked),
            None,
            &format!("target.outgoing/sent@{}", peer.address),
        )
        .evidence(
            said!("why.evidence.cpu", "CPU"),
            percent(cpu),
            Some(percent(CPU).into()),
            "target.process/cpu_ns",
        )
        .link(Link::Accounts(share))
        .try_this(
            Change::ByHand,
            said!("why.downstream_wait.half", "the other service twice as fast, or a stub of it"),
            scene.better(1.3),
        )
        .found()
}
