//! Pauses of garbage collection make the tail: they take at least 1 % of the time, so that more than 1 % of the
//! requests meet one, and a pause is at least half as long as p99; then at least half of the requests above p99 overlap
//! a pause (METHOD §9). Pauses that take a tenth of the time count whatever their length.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{duration, percent};
use schema::finding::{Change, FindingCause, Watched};
use schema::metric::Metric;
use schema::said;

/// Where runtimes report pauses: in nanoseconds, and how many.
const RUNTIMES: [(&str, &str); 3] =
    [("go.runtime", "gc_pauses"), ("node.runtime", "gc_cycles"), ("jvm.runtime", "gc_cycles")];
/// Share of the time, and of p99.
const OF_TIME: f64 = 0.01;
const OF_TAIL: f64 = 0.5;
/// Share of the time from which pauses count whatever the tail: a response holds so much of them on average, and one
/// that outlasts several pauses is longer than each of them.
const MUCH: f64 = 0.1;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::GcPauses,
    stage: Stage::Target,
    source: "METHOD §9: at least half of the requests above p99 overlap a pause",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let told = RUNTIMES.iter().find_map(|(source, count)| {
        let pause = scene.rate(&format!("{source}/gc_pause_ns"))?;
        Some((*source, pause, scene.rate(&format!("{source}/{count}")).unwrap_or_default()))
    });
    let (Some((source, pause_ns, pauses)), Some(p99)) = (told, scene.quantile(0.99)) else {
        return Judgement::Unread(said!(
            "why.gc_pauses.runtime_does_not_tell",
            "its runtime does not report pauses: name its endpoint under [metrics] of \
                 target.toml"
        ));
    };
    let of_time = pause_ns / 1e9;
    let mean = if pauses > 0.0 { pause_ns / pauses } else { 0.0 };
    let longest = scene.max(&format!("{source}/gc_pause_max_ns")).unwrap_or(mean).max(mean);
    if of_time < OF_TIME || (longest < OF_TAIL * p99 && of_time < MUCH) {
        let text = said!(
            "why.gc_pauses.pauses_took_time_most",
            "pauses took {of_time} of the time, {longest} at most, against a p99 of {p99}",
            of_time = percent(of_time),
            longest = duration(longest),
            p99 = duration(p99)
        );
        return Judgement::RuledOut(text);
    }
    let text = said!(
        "why.gc_pauses.collections_stopped_time_up",
        "collections stopped it for {of_time} of the time, for up to {longest}, against a p99 \
         response time of {p99}",
        of_time = percent(of_time),
        longest = duration(longest),
        p99 = duration(p99)
    );
    let draft = Draft::new(
        text,
        Severity::High,
        said!(
            "why.gc_pauses.allocate_less_keep_less",
            "allocate less, keep less alive, or collect less often (gogc, heap size); a heap profile \
         shows who allocates"
        ),
    )
    .evidence(
        said!("why.gc_pauses.time_pauses", "time in pauses"),
        percent(of_time),
        Some(percent(OF_TIME).into()),
        &format!("{source}/gc_pause_ns"),
    )
    .evidence(
        said!("why.gc_pauses.longest_pause_p99", "longest pause, of p99"),
        percent(longest / p99),
        Some(percent(OF_TAIL).into()),
        &format!("{source}/gc_pause_max_ns"),
    )
    .link(Link::Accounts(longest / p99))
    .link(Link::Accounts(of_time))
    .link(Link::Time(format!("{source}/gc_pause_ns"), Watched::P99));
    match scene.knob("gogc").and_then(|value| value.parse::<f64>().ok()).filter(|value| *value > 0.0) {
        Some(now) => {
            let change = Change::Knob { name: "gogc".to_owned(), value: format!("{}", now * 4.0) };
            draft
                .try_this(
                    change,
                    said!("why.gc_pauses.gogc_from", "gogc from {now} to {then}", now, then = now * 4.0),
                    (Metric::P99, 0.8),
                )
                .found()
        }
        None => draft
            .try_this(
                Change::ByHand,
                said!(
                    "why.gc_pauses.larger_heap_collects_less",
                    "a larger heap, so that it collects less often"
                ),
                (Metric::P99, 0.8),
            )
            .found(),
    }
}
