//! HTTP/2: the server allows fewer streams at a time on a connection than the load was to use, and requests waited for
//! one. The wait for a stream, which has a time of its own, shows it. Fewer streams than asked for cost nothing where they
//! suffice.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{duration, number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;

/// Wait for a stream as a share of the response time.
const SHARE: f64 = 0.1;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::StreamLimit,
    stage: Stage::Target,
    source: "RFC 9113 §5.1.2, SETTINGS_MAX_CONCURRENT_STREAMS",
    explains: &[FindingCause::ConcurrencyLimit, FindingCause::WaitsInside],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let Some(wait) = scene.stream_waits() else { return Judgement::NotAsked };
    let (asked, granted) = (wait.asked, wait.granted);
    let share = wait.stream_ns / wait.response_ns;
    if granted >= asked {
        return Judgement::RuledOut(said!(
            "why.stream_limit.granted",
            "the server allowed all {asked} streams that each connection was to carry",
            asked
        ));
    }
    if share < SHARE {
        return Judgement::RuledOut(said!(
            "why.stream_limit.no_wait",
            "the server allowed {granted} of {asked} streams, and requests waited for one for {share} of their time",
            granted,
            asked,
            share = percent(share)
        ));
    }
    Draft::new(
        said!(
            "why.stream_limit.found",
            "the server allowed {granted} streams at a time on a connection, of {asked} that the load was to use: \
             requests waited for one {wait} of the {response} that they took",
            granted,
            asked,
            wait = duration(wait.stream_ns),
            response = duration(wait.response_ns)
        ),
        Severity::High,
        said!(
            "why.stream_limit.remedy",
            "raise the server's limit of concurrent streams, or let the load have more connections with fewer streams \
             each (`connections`, `streams`)"
        ),
    )
    .evidence(
        said!("why.stream_limit.streams", "streams granted, of {asked}", asked),
        number(f64::from(granted)),
        Some(number(f64::from(asked)).into()),
        "trial.json load.streams",
    )
    .evidence(
        said!("why.stream_limit.share", "wait for a stream as a share of the response time"),
        percent(share),
        Some(percent(SHARE).into()),
        "trial.json load.latency_ns.wait_stream",
    )
    .link(Link::Accounts(share))
    .try_this(
        Change::ByHand,
        said!("why.stream_limit.try", "a limit of {asked} streams in the server", asked),
        scene.better(1.2),
    )
    .found()
}
