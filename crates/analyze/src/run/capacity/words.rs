//! A ladder's or a search's answer in one sentence.

use crate::run::data::RunData;
use crate::words::{count, number, numbers};
use schema::analysis::Interval;
use schema::capacity::{Capacity, Knee, LoadAxis, SearchEnd, SearchResult};
use schema::metric::Metric;

pub(super) fn answer(data: &RunData<'_>, capacity: &Capacity) -> String {
    let who = match capacity.level.as_str() {
        "" => capacity.target.clone(),
        level => format!("{} ({level})", capacity.target),
    };
    match &capacity.search {
        Some(search) => of_search(data, &who, search),
        None => of_ladder(data, &who, capacity),
    }
}

fn of_search(data: &RunData<'_>, who: &str, search: &SearchResult) -> String {
    let objective = search.objective.join(" and ");
    let reason = search.refused.as_deref().unwrap_or("no trial was run");
    let Some(rate) = search.verified_per_s else {
        return format!("No rate of {who} is verified under {objective}: {reason}.");
    };
    let limit = search.limit.as_ref().map_or(String::new(), |limit| {
        format!("; the limit lies at {} ({})", range(limit, "beyond every rate tried"), data.interval_name())
    });
    let but = match search.end {
        SearchEnd::Verified if search.refused.is_none() => String::new(),
        _ => format!("; {reason}"),
    };
    format!(
        "{who} takes {} requests per second under {objective}, verified in {}{limit}{but}.",
        number(rate),
        count(search.confirmations as usize, "fresh trial")
    )
}

fn of_ladder(data: &RunData<'_>, who: &str, capacity: &Capacity) -> String {
    let knee = capacity.knees.iter().find(|knee| knee.metric == Metric::Throughput);
    let knee = match knee {
        Some(Knee { at: Some(at), interval, .. }) => {
            let interval = interval.as_ref().map_or(String::new(), |interval| {
                format!(" ({} {})", data.interval_name(), range(interval, "the end of the ladder"))
            });
            format!("its throughput bends at {}{interval}", load(*at, capacity.axis))
        }
        Some(knee) => {
            format!("no knee is claimed: {}", knee.refused.as_deref().unwrap_or("none was looked for"))
        }
        None => "no knee was looked for".to_owned(),
    };
    let highest = match (&capacity.highest, &capacity.highest_refused) {
        (Some(highest), _) => {
            let interval = match (&highest.interval, &highest.refused) {
                (Some(interval), _) => {
                    format!(" ({} {})", data.interval_name(), range(interval, "unbounded"))
                }
                (None, Some(reason)) => format!(" (no interval: {reason})"),
                (None, None) => String::new(),
            };
            format!("takes {} requests per second at most{interval}", number(highest.per_s))
        }
        (None, Some(reason)) => format!("has no highest throughput in this ladder: {reason}"),
        (None, None) => "was not measured".to_owned(),
    };
    format!("{who} {highest}; {knee}.")
}

fn load(at: f64, axis: LoadAxis) -> String {
    match axis {
        LoadAxis::Connections => format!("{} connections", number(at)),
        LoadAxis::Rate => format!("{} requests per second offered", number(at)),
    }
}

fn range(interval: &Interval, open: &str) -> String {
    if let (Some(low), Some(high)) = (interval.low, interval.high) {
        let [_, low, high] = numbers(None, (low, high));
        return format!("{low} to {high}");
    }
    let end = |end: Option<f64>| end.map_or_else(|| open.to_owned(), number);
    format!("{} to {}", end(interval.low), end(interval.high))
}
