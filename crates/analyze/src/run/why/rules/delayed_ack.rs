//! Answers in two parts, the second of which waited for the acknowledgement of the first: Nagle's algorithm at the
//! target and delayed acknowledgements at the client, 40 ms on Linux. Told by the time from the first byte of an answer
//! to its last, so that a service that simply takes 40 ms is not taken for it.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{duration, percent};
use schema::finding::{Change, FindingCause};
use schema::said;

const BAND_NS: (f64, f64) = (36e6, 50e6);
const SHARE: f64 = 0.05;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::DelayedAck,
    stage: Stage::Target,
    source: "RFC 896 and RFC 1122 §4.2.3.2; Linux TCP_DELACK_MIN of 40 ms",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let is_in = |ns: &u64| (BAND_NS.0..BAND_NS.1).contains(&(*ns as f64));
    let quantiles = |load: &schema::load::LoadReport| {
        let transfer = &load.latency_ns.transfer;
        [transfer.p50, transfer.p90, transfer.p95, transfer.p99].into_iter().flatten().find(is_in)
    };
    let seen: Vec<u64> = scene.loads().filter_map(quantiles).collect();
    let share = scene.share_between(BAND_NS.0 as u64, BAND_NS.1 as u64).unwrap_or_default();
    if seen.len() * 2 <= scene.loads().count() || share < SHARE / 5.0 {
        return Judgement::RuledOut(said!(
            "why.delayed_ack.answers_took_about_ms",
            "{share} of the answers took about 40 ms, and not between their parts",
            share = percent(share)
        ));
    }
    let mean = scene.mean_response().unwrap_or(1.0);
    let waited = share * seen[0] as f64 / mean;
    let text = said!(
        "why.delayed_ack.answers_came_parts_between",
        "answers came in parts with {seen} between them, {share} of all answers: the target \
         waits for an acknowledgement before it sends the rest",
        seen = duration(seen[0] as f64),
        share = percent(share)
    );
    Draft::new(
        text,
        Severity::High,
        said!(
            "why.delayed_ack.have_target_send_head",
            "have the target send head and body in one piece, or set TCP_NODELAY on its connections"
        ),
    )
    .evidence(
        said!("why.delayed_ack.first_byte_last_byte", "first byte to last byte"),
        duration(seen[0] as f64),
        Some(said!("why.delayed_ack.ms_ms", "36 ms to 50 ms")),
        "trial.json load.latency_ns.transfer",
    )
    .evidence(
        said!("why.delayed_ack.answers_length", "answers of that length"),
        percent(share),
        Some(percent(SHARE / 5.0).into()),
        "latency.hlog",
    )
    .link(Link::Accounts(waited))
    .try_this(
        Change::ByHand,
        said!("why.delayed_ack.tcp_nodelay_target", "TCP_NODELAY in the target"),
        (schema::metric::Metric::Mean, 0.7),
    )
    .found()
}
