//! The network carried as much as it can.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{bytes, percent};
use schema::finding::{Change, FindingCause};
use schema::limits::NetworkMode;
use schema::said;
use schema::trial::Phase;

const FULL: f64 = 0.85;
/// What a packet of 1,500 bytes carries besides its 1,448 bytes of data, frames included.
const OVERHEAD: f64 = 1_514.0 / 1_448.0;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::Bandwidth,
    stage: Stage::Target,
    source: "bytes per second over the speed of the path, headers included",
    explains: &[FindingCause::Retransmission],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let (mut moved, mut seconds) = (0.0_f64, 0.0);
    for line in scene
        .trials
        .iter()
        .flat_map(|trial| &trial.intervals)
        .filter(|line| line.phase == Some(Phase::Sample))
    {
        moved += line.read_bytes.max(line.written_bytes) as f64;
        seconds += line.end_ns.saturating_sub(line.start_ns) as f64 / 1e9;
    }
    let rate = moved / seconds;
    if !rate.is_finite() {
        return Judgement::Unread(said!("why.bandwidth.there_no_intervals", "there are no intervals"));
    }
    let isolated = scene.cell.limits.network == NetworkMode::Isolated;
    let limit = scene.cell.limits.rate_bits_per_s.map(|bits| bits as f64 / 8.0);
    let is_local = !isolated
        && scene
            .loads()
            .all(|load| load.plan.address.starts_with("127.") || load.plan.address.starts_with("[::1]"));
    let speed = limit.or_else(|| if is_local { None } else { scene.mean("host.net/speed_bytes_per_s") });
    let Some(speed) = speed.filter(|speed| *speed > 0.0) else {
        let text = said!("why.bandwidth.per_second", "{rate} per second", rate = bytes(rate));
        return if is_local || isolated {
            Judgement::RuledOut(said!(
                "why.bandwidth.within_this_host_whose",
                "{text} within this host, whose devices have no speed",
                text
            ))
        } else {
            Judgement::Unread(said!(
                "why.bandwidth.but_speed_path_not",
                "{text}, but the speed of the path is not known",
                text
            ))
        };
    };
    let used = rate * OVERHEAD / speed;
    if used < FULL {
        return Judgement::RuledOut(said!(
            "why.bandwidth.per_second_path_speed",
            "{rate} per second, {used} of the path's speed",
            rate = bytes(rate),
            used = percent(used)
        ));
    }
    let text = said!(
        "why.bandwidth.per_second_moved_one",
        "{rate} per second moved in one direction, {used} of the speed of the path",
        rate = bytes(rate),
        used = percent(used)
    );
    let draft = Draft::new(
        text,
        Severity::High,
        said!(
            "why.bandwidth.send_less_compression_smaller",
            "send less (compression, smaller answers), or use a faster path"
        ),
    )
    .evidence(
        said!("why.bandwidth.bytes_per_second_speed", "bytes per second, of the speed"),
        percent(used),
        Some(percent(FULL).into()),
        "intervals.ndjson read_bytes",
    )
    .link(Link::Bound(used.min(1.0)));
    match scene.cell.limits.rate_bits_per_s {
        Some(now) => draft
            .try_this(
                Change::Rate { value: Some(now * 2) },
                said!(
                    "why.bandwidth.twice_speed_isolated_network",
                    "twice the speed of the isolated network"
                ),
                scene.better(1.4),
            )
            .found(),
        None => draft.found(),
    }
}
