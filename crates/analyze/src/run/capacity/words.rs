//! A ladder's or a search's answer in one sentence.

use crate::run::data::RunData;
use crate::words::{Noun, count, number, numbers};
use schema::analysis::Interval;
use schema::capacity::{Capacity, Knee, LoadAxis, SearchEnd, SearchResult};
use schema::metric::Metric;
use schema::said;
use schema::said::Said;

pub(super) fn answer(data: &RunData<'_>, capacity: &Capacity) -> Said {
    let who = match capacity.level.as_str() {
        "" => capacity.target.clone(),
        level => format!("{} ({level})", capacity.target),
    };
    match &capacity.search {
        Some(search) => of_search(data, &who, search),
        None => of_ladder(data, &who, capacity),
    }
}

fn of_search(data: &RunData<'_>, who: &str, search: &SearchResult) -> Said {
    let objective = search.objective.join(" and ");
    let reason = search.refused.clone();
    let reason = reason.unwrap_or_else(|| said!("capacity.words.no_trial_run", "no trial was run"));
    let Some(rate) = search.verified_per_s else {
        return said!(
            "capacity.words.no_rate_verified_under",
            "No rate of {who} is verified under {objective}: {reason}.",
            who,
            objective,
            reason
        );
    };
    let limit = search.limit.as_ref().map_or(Said::default(), |limit| {
        said!(
            "capacity.words.limit_lies",
            "; the limit lies at {range} ({interval})",
            range = range(limit, said!("capacity.words.beyond_every_rate_tried", "beyond every rate tried")),
            interval = data.interval_name()
        )
    });
    let but = match search.end {
        SearchEnd::Verified if search.refused.is_none() => Said::default(),
        _ => said!("capacity.words.but", "; {reason}", reason),
    };
    said!(
        "capacity.words.takes_requests_per_second",
        "{who} takes {rate} requests per second under {objective}, verified in \
         {trials}{limit}{but}.",
        who,
        rate = number(rate),
        objective,
        trials = count(search.confirmations as usize, Noun::FreshTrial),
        limit,
        but
    )
}

fn of_ladder(data: &RunData<'_>, who: &str, capacity: &Capacity) -> Said {
    let knee = capacity.knees.iter().find(|knee| knee.metric == Metric::Throughput);
    let knee = match knee {
        Some(Knee { at: Some(at), interval, .. }) => {
            let interval = interval.as_ref().map_or(Said::default(), |interval| {
                said!(
                    "capacity.words.interval",
                    " ({interval} {range})",
                    interval = data.interval_name(),
                    range = range(interval, said!("capacity.words.end_ladder", "the end of the ladder"))
                )
            });
            said!(
                "capacity.words.throughput_bends",
                "its throughput bends at {load}{interval}",
                load = load(*at, capacity.axis),
                interval
            )
        }
        Some(knee) => {
            said!(
                "capacity.words.no_knee_claimed",
                "no knee is claimed: {reason}",
                reason = knee
                    .refused
                    .clone()
                    .unwrap_or_else(|| said!("capacity.words.none_looked", "none was looked for"))
            )
        }
        None => said!("capacity.words.no_knee_looked", "no knee was looked for"),
    };
    let highest = match (&capacity.highest, &capacity.highest_refused) {
        (Some(highest), _) => {
            let interval = match (&highest.interval, &highest.refused) {
                (Some(interval), _) => {
                    said!(
                        "capacity.words.interval",
                        " ({interval} {range})",
                        interval = data.interval_name(),
                        range = range(interval, "unbounded".into())
                    )
                }
                (None, Some(reason)) => {
                    said!("capacity.words.no_interval", " (no interval: {reason})", reason)
                }
                (None, None) => Said::default(),
            };
            said!(
                "capacity.words.takes_at_most",
                "takes {per_s} requests per second at most{interval}",
                per_s = number(highest.per_s),
                interval
            )
        }
        (None, Some(reason)) => said!(
            "capacity.words.has_no_highest_throughput",
            "has no highest throughput in this ladder: {reason}",
            reason
        ),
        (None, None) => said!("capacity.words.not_measured", "was not measured"),
    };
    said!("capacity.words.ladder", "{who} {highest}; {knee}.", who, highest, knee)
}

fn load(at: f64, axis: LoadAxis) -> Said {
    match axis {
        LoadAxis::Connections => said!("capacity.words.connections", "{at} connections", at = number(at)),
        LoadAxis::Rate => said!(
            "capacity.words.requests_per_second_offered",
            "{at} requests per second offered",
            at = number(at)
        ),
    }
}

fn range(interval: &Interval, open: Said) -> Said {
    if let (Some(low), Some(high)) = (interval.low, interval.high) {
        let [_, low, high] = numbers(None, (low, high));
        return said!("capacity.words.range", "{low} to {high}", low, high);
    }
    let end = |end: Option<f64>| end.map_or_else(|| open.clone(), |end| number(end).into());
    said!("capacity.words.range", "{low} to {high}", low = end(interval.low), high = end(interval.high))
}
