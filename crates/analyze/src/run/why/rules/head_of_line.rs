//! HTTP/2 on one TCP connection: a packet that is lost holds up the answers of all streams behind it until it is sent
//! again. The signs are stretches in which nothing ended though several requests were in flight, on a single connection
//! whose packets were sent again.
//!
//! Absent on purpose: a target that stands still by itself, whose connections lose no packets (`stalls`).

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;

/// Share of the time.
const SHARE: f64 = 0.01;
/// Requests in flight from which on others were held up.
const IN_FLIGHT: u64 = 2;
/// A stall of at least this may be a retransmission: below, Linux sends again by other signs than time.
const LENGTH_NS: u64 = 20_000_000;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::HeadOfLine,
    stage: Stage::Environment,
    source: "RFC 9000 §1 and RFC 9308 §4: streams on one TCP connection share its order, and its losses",
    explains: &[FindingCause::Retransmission, FindingCause::Stalls, FindingCause::WaitsInside],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let Some(wait) = scene.stream_waits() else { return Judgement::NotAsked };
    let connections = scene.cell.load.connections;
    if connections > 1 || wait.asked < 2 {
        return Judgement::NotAsked;
    }
    let sent_again = ["target.connections/retransmits", "target.snmp/RetransSegs"];
    let Some(again) = sent_again.iter().filter_map(|key| scene.sum(key)).reduce(|a, b| a + b) else {
        return missing("target.connections/retransmits");
    };
    let spans = scene.stalls();
    let held = spans
        .iter()
        .flatten()
        .filter(|span| span.in_flight >= IN_FLIGHT && span.end_ns.saturating_sub(span.start_ns) >= LENGTH_NS);
    let (times, ns) = held.fold((0_u64, 0_u64), |(times, ns), span| {
        (times + 1, ns.saturating_add(span.end_ns.saturating_sub(span.start_ns)))
    });
    let share = ns as f64 / 1e9 / scene.sampled_seconds().max(f64::MIN_POSITIVE);
    if again < 1.0 || times == 0 || share < SHARE {
        return Judgement::RuledOut(said!(
            "why.head_of_line.seldom",
            "{again} packets were sent again on the one connection, and all of its streams stood still for {share} of \
             the time",
            again = number(again),
            share = percent(share)
        ));
    }
    Draft::new(
        said!(
            "why.head_of_line.found",
            "all {streams} streams share one connection, on which {again} packets were sent again: {times} times no \
             request ended while others were in flight, {share} of the time",
            streams = wait.granted,
            again = number(again),
            times,
            share = percent(share)
        ),
        Severity::High,
        said!(
            "why.head_of_line.remedy",
            "let the load have more connections with fewer streams each (`connections`, `streams`): one that loses a \
             packet then holds up its own streams only"
        ),
    )
    .evidence(
        said!("why.head_of_line.share", "share of the time in which all streams stood still"),
        percent(share),
        Some(percent(SHARE).into()),
        "intervals.ndjson stalls",
    )
    .evidence(
        said!("why.head_of_line.again", "packets sent again on the connection"),
        number(again),
        Some("0".into()),
        "target.connections/retransmits",
    )
    .link(Link::Direct(share))
    .try_this(
        Change::ByHand,
        said!("why.head_of_line.try", "the same users on four connections"),
        (schema::metric::Metric::P99, 0.8),
    )
    .found()
}
