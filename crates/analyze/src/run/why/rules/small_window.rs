//! HTTP/2: a window is smaller than what is under way on the path, so that each window's worth costs a round trip. Of
//! requests it is the server's window, and their wait for it has a time of its own. Of answers it is the window that the
//! load offers: answers longer than this window then arrive in parts.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{bytes, duration, number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;

/// Wait for a window as a share of the response time.
const SHARE: f64 = 0.1;
/// Time from an answer's first byte to its last, as such a share.
const IN_PARTS: f64 = 0.4;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::SmallWindow,
    stage: Stage::Target,
    source: "RFC 9113 §5.2: a sender waits for WINDOW_UPDATE, at most a window for each round trip",
    explains: &[FindingCause::Bandwidth, FindingCause::WaitsInside],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let Some(wait) = scene.stream_waits() else { return Judgement::NotAsked };
    let share = wait.window_ns / wait.response_ns;
    if share >= SHARE {
        return of_requests(scene, share);
    }
    match of_answers(scene) {
        Some(found) => found,
        None => Judgement::RuledOut(said!(
            "why.small_window.no_wait",
            "requests waited for a window for {share} of their time, and answers fit into theirs",
            share = percent(share)
        )),
    }
}

fn of_requests(scene: &Scene<'_>, share: f64) -> Judgement {
    let stalls: u64 = scene.loads().filter_map(|load| load.streams).map(|streams| streams.stalls).sum();
    let connect = scene.loads().filter_map(|load| load.latency_ns.connect.mean).reduce(f64::max);
    let draft = Draft::new(
        said!(
            "why.small_window.requests",
            "requests waited for the server's window for {share} of their time: it is smaller than what is under way on \
             the path",
            share = percent(share)
        ),
        Severity::High,
        said!(
            "why.small_window.requests_remedy",
            "raise the server's first window of streams and of connections to the path's speed times its round trip, or \
             have it read bodies as they come"
        ),
    )
    .evidence(
        said!("why.small_window.share", "wait for a window as a share of the response time"),
        percent(share),
        Some(percent(SHARE).into()),
        "trial.json load.latency_ns.wait_window",
    )
    .evidence(
        said!("why.small_window.stalls", "times that a body was held up"),
        number(stalls as f64),
        Some("0".into()),
        "trial.json load.streams",
    );
    let draft = match connect {
        None => draft,
        Some(ns) => draft.evidence(
            said!("why.small_window.connect", "time to connect, which is round trips"),
            duration(ns),
            None,
            "trial.json load.latency_ns.connect",
        ),
    };
    draft
        .link(Link::Accounts(share))
        .try_this(
            Change::ByHand,
            said!("why.small_window.requests_try", "a window of the server that is four times as large"),
            scene.better(1.2),
        )
        .found()
}

/// Answers are longer than the window that the load offers, and most of their time is between their parts.
fn of_answers(scene: &Scene<'_>) -> Option<Judgement> {
    let [of_streams, of_all] = scene.cell.load.connection.windows();
    let window = (1_u64 << of_streams.min(of_all)) - 1;
    let (read, answers) = scene.loads().fold((0_u64, 0_u64), |(read, answers), load| {
        let ended = load.requests.completed.saturating_add(load.requests.failed);
        (read.saturating_add(load.bytes.read), answers.saturating_add(ended))
    });
    let length = read as f64 / answers.max(1) as f64;
    let transfer = scene.loads().filter_map(|load| load.latency_ns.transfer.mean).reduce(f64::max)?;
    let share = transfer / scene.mean_response()?;
    if length <= window as f64 || share < IN_PARTS {
        return None;
    }
    let draft = Draft::new(
        said!(
            "why.small_window.answers",
            "answers of {length} came in parts of the {window} that the load offers as a window: {share} of the response \
             time is between the first byte and the last",
            length = bytes(length),
            window = bytes(window as f64),
            share = percent(share)
        ),
        Severity::Medium,
        said!("why.small_window.answers_remedy", "offer a larger window (`window_bits`, `connection_window_bits`)"),
    )
    .evidence(
        said!("why.small_window.length", "bytes of an answer"),
        bytes(length),
        Some(bytes(window as f64).into()),
        "trial.json load.bytes",
    )
    .evidence(
        said!("why.small_window.transfer", "first byte to last byte, as a share of the response time"),
        percent(share),
        Some(percent(IN_PARTS).into()),
        "trial.json load.latency_ns.transfer",
    )
    .link(Link::Accounts(share))
    .asked_for();
    let text = said!("why.small_window.answers_try", "the largest window, 30 bits");
    Some(draft.try_this(Change::ByHand, text, scene.better(1.2)).found())
}
