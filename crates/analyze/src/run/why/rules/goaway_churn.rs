//! HTTP/2: the server leaves its connections (GOAWAY) after few requests, so that successors are made again and again and
//! what it did not process is sent twice.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;

/// Fewer requests between two GOAWAYs than this.
const REQUESTS: f64 = 1_000.0;
/// Requests that were put back, and waits for a connection, as shares.
const PUT_BACK: f64 = 0.01;
const WAIT: f64 = 0.1;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::GoawayChurn,
    stage: Stage::Target,
    source: "RFC 9113 §6.8; servers leave after a number of requests (nginx: keepalive_requests, 1,000) or a time",
    explains: &[FindingCause::ConnectionChurn, FindingCause::WaitsInside],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let Some(wait) = scene.stream_waits() else { return Judgement::NotAsked };
    let (goaways, requeued, ended) =
        scene.loads().fold((0_u64, 0_u64, 0_u64), |(left, back, ended), load| {
            let streams = load.streams.unwrap_or_default();
            let requests = load.requests.completed.saturating_add(load.requests.failed);
            (left + streams.goaways, back + streams.requeued, ended + requests)
        });
    if goaways == 0 {
        return Judgement::RuledOut(said!("why.goaway_churn.none", "the server left no connection"));
    }
    // Counted over the whole load, warm-up included, so a little more often than this.
    let each = ended as f64 / goaways as f64;
    let put_back = requeued as f64 / ended.max(1) as f64;
    let share = wait.connection_ns / wait.response_ns;
    if each >= REQUESTS || (put_back < PUT_BACK && share < WAIT) {
        return Judgement::RuledOut(said!(
            "why.goaway_churn.seldom",
            "the server left a connection every {each} requests, which put {put_back} of them back",
            each = number(each),
            put_back = percent(put_back)
        ));
    }
    Draft::new(
        said!(
            "why.goaway_churn.found",
            "the server left a connection (GOAWAY) every {each} requests: {put_back} of them had to be sent again, and \
             waiting for a connection was {share} of the response time",
            each = number(each),
            put_back = percent(put_back),
            share = percent(share)
        ),
        Severity::High,
        said!(
            "why.goaway_churn.remedy",
            "let the server leave a connection after more requests or more time, and in two steps (RFC 9113 §6.8): then \
             nothing is sent twice"
        ),
    )
    .evidence(
        said!("why.goaway_churn.each", "requests between two GOAWAYs"),
        number(each),
        Some(number(REQUESTS).into()),
        "trial.json load.streams",
    )
    .evidence(
        said!("why.goaway_churn.put_back", "requests put back"),
        percent(put_back),
        Some(percent(PUT_BACK).into()),
        "trial.json load.streams",
    )
    .evidence(
        said!("why.goaway_churn.share", "wait for a connection as a share of the response time"),
        percent(share),
        Some(percent(WAIT).into()),
        "trial.json load.latency_ns.wait_connection",
    )
    .link(Link::Accounts(share))
    .link(Link::Direct(if put_back >= PUT_BACK { put_back.min(1.0) } else { 0.0 }))
    .try_this(
        Change::ByHand,
        said!("why.goaway_churn.try", "connections that serve ten times as many requests"),
        scene.better(1.1),
    )
    .found()
}
