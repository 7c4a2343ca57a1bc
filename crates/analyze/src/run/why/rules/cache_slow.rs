//! The cache was slow: its commands took much of the response time, it used a whole core, or it missed most of what it
//! was asked for while it threw entries out.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{duration, percent};
use schema::finding::FindingCause;
use schema::said;

const SHARE: f64 = 0.2;
const BUSY: f64 = 0.9;
const HITS: f64 = 0.5;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::CacheSlow,
    stage: Stage::Target,
    source: "Redis, INFO commandstats and stats; one thread runs all commands",
    explains: &[FindingCause::PoolWait, FindingCause::WorkersExhausted, FindingCause::DownstreamWait],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let Some(source) = scene.sources("service.", ".redis").into_iter().next() else {
        return Judgement::NotAsked;
    };
    let of = |key: &str| scene.rate(&format!("{source}/{key}"));
    let took = scene.per_request(&format!("{source}/command_ns")).unwrap_or_default();
    let share = scene.mean_response().map_or(0.0, |mean| took / mean);
    // Commands run one at a time, so their time is the time for which it was taken.
    let busy = of("command_ns").unwrap_or_default() / 1e9;
    let (hits, misses) = (of("hits").unwrap_or_default(), of("misses").unwrap_or_default());
    let hit_share = hits / (hits + misses).max(f64::MIN_POSITIVE);
    let is_missing = hits + misses > 1.0 && hit_share < HITS && of("evicted").unwrap_or_default() > 0.0;
    if share < SHARE && busy < BUSY && !is_missing {
        return Judgement::RuledOut(said!(
            "why.cache_slow.commands_took_each_request",
            "its commands took {took} for each request, {share} of the response time",
            took = duration(took),
            share = percent(share)
        ));
    }
    let text = said!(
        "why.cache_slow.cache_spent_each_request",
        "the cache spent {took} on each request ({share} of the response time), was busy for \
         {busy} of the time and had {hit_share} of what it was asked for",
        took = duration(took),
        share = percent(share),
        busy = percent(busy),
        hit_share = percent(hit_share)
    );
    Draft::new(
        text,
        Severity::High,
        said!(
            "why.cache_slow.look_slow_commands_slowlog",
            "look for slow commands (SLOWLOG GET, commandstats), fetch less, give it more \
             memory, or use several"
        ),
    )
    .evidence(
        said!("why.cache_slow.time_commands_response_time", "time of its commands, of the response time"),
        percent(share),
        Some(percent(SHARE).into()),
        &format!("{source}/command_ns"),
    )
    .evidence(
        said!("why.evidence.hits", "hits"),
        percent(hit_share),
        Some(percent(HITS).into()),
        &format!("{source}/hits"),
    )
    .link(Link::Accounts(share))
    .link(Link::Bound(busy))
    .link(Link::Accounts(if is_missing { 1.0 - hit_share } else { 0.0 }))
    .found()
}
