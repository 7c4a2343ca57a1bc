//! The answer in one sentence: the best target at each load against the others, with its certainty.

use super::control;
use super::data::{RunData, interval_name};
use super::pairs::headline;
use crate::words::{self, Noun, count, percent};
use schema::analysis::{
    Basis, Belief, BeliefLevel, CellSummary, Comparison, Interval, MetricSummary, Verdict,
};
use schema::metric::Metric;
use schema::said;
use schema::said::{Joint, Said};

/// More clauses than this are left to the tables.
const CLAUSES: usize = 4;

pub(super) fn answer(
    data: &RunData<'_>,
    cells: &[CellSummary],
    comparisons: &[Comparison],
    belief: &Belief,
) -> Said {
    if belief.level == BeliefLevel::No {
        let worst = belief.notes.first();
        let text = worst.map_or_else(Said::default, |note| note.text.clone());
        let remedy = worst.and_then(|note| note.remedy.clone());
        let remedy = remedy.unwrap_or_else(|| said!("answer.run_again", "run it again"));
        return said!("answer.no_answer", "No answer: {text}; {remedy}.", text, remedy);
    }
    let clauses = clauses(data, cells, comparisons);
    let more = clauses.len().saturating_sub(CLAUSES);
    let shown = Said::list(Joint::Semicolon, &clauses[..clauses.len() - more]);
    match (shown.is_empty(), more) {
        (true, _) => {
            said!("answer.no_answer_plan_has", "No answer: the plan has no cells; add a target and a load.")
        }
        (_, 0) => said!("answer.whole", "{shown}.", shown),
        _ => said!("answer.more_tables", "{shown}; {more} more in the tables.", shown, more),
    }
}

/// The headline metric of cells at one load: the first that one of them has a value of.
fn metric_of_answer(data: &RunData<'_>, cells: &[&CellSummary]) -> Metric {
    let Some(cell) = cells.first().and_then(|cell| data.cell(&cell.cell)) else { return Metric::Throughput };
    let has = |metric: &Metric| {
        cells.iter().any(|cell| summary(cell, *metric).is_some_and(|found| found.center.is_some()))
    };
    let metrics = headline(data.plan, cell);
    let last = metrics.last().copied().unwrap_or(Metric::Throughput);
    metrics.into_iter().find(has).unwrap_or(last)
}

fn summary(cell: &CellSummary, metric: Metric) -> Option<&MetricSummary> {
    cell.metrics.iter().find(|found| found.metric == metric)
}

/// For each load in plan order: the best target against each other one, or its value where it stands alone. In a
/// one-at-a-time design: each departure against the baseline.
fn clauses(data: &RunData<'_>, cells: &[CellSummary], comparisons: &[Comparison]) -> Vec<Said> {
    if let Some(baseline) = &data.plan.design.baseline {
        let metric = metric_of_answer(data, &cells.iter().collect::<Vec<_>>());
        let departures: Vec<Said> = comparisons
            .iter()
            .filter(|pair| pair.metric == metric && (pair.a == *baseline || pair.b == *baseline))
            .filter(|pair| !control::is_control(data, &pair.a) && !control::is_control(data, &pair.b))
            .map(|pair| against(data, pair))
            .collect();
        if !departures.is_empty() {
            return departures;
        }
    }
    let mut loads: Vec<&str> = Vec::new();
    let cells: Vec<&CellSummary> =
        cells.iter().filter(|cell| !control::is_control(data, &cell.cell)).collect();
    let is_of_control =
        |pair: &&Comparison| control::is_control(data, &pair.a) || control::is_control(data, &pair.b);
    for cell in &cells {
        if !loads.contains(&cell.load.as_str()) {
            loads.push(&cell.load);
        }
    }
    let mut clauses = Vec::new();
    for load in loads {
        let at_load: Vec<&CellSummary> = cells.iter().copied().filter(|cell| cell.load == load).collect();
        let metric = metric_of_answer(data, &at_load);
        let best = best(&at_load, metric);
        let pairs: Vec<&Comparison> = comparisons
            .iter()
            .filter(|pair| !is_of_control(pair))
            .filter(|pair| pair.metric == metric && best.is_some_and(|best| pair.a == best || pair.b == best))
            .collect();
        if pairs.is_empty() {
            clauses.extend(at_load.iter().map(|cell| alone(data, cell, metric)));
        } else {
            let (refused, answered): (Vec<&Comparison>, _) =
                pairs.into_iter().partition(|pair| is_refused(pair));
            clauses.extend(answered.into_iter().map(|pair| against(data, pair)));
            clauses.extend(match refused.as_slice() {
                [pair] => Some(against(data, pair)),
                _ => no_answers(&refused, best, metric),
            });
        }
    }
    clauses
}

/// Whether it has neither an interval of the ratio nor one of the difference.
fn is_refused(pair: &Comparison) -> bool {
    let has_difference = pair.basis == Basis::Difference
        && pair.verdict != Verdict::Refused
        && pair.difference.is_some()
        && pair.difference_interval.is_some();
    !has_difference && (pair.ratio.is_none() || pair.interval.is_none())
}

/// One clause for all comparisons of the best target that have no answer, with each reason once.
fn no_answers(refused: &[&Comparison], best: Option<&str>, metric: Metric) -> Option<Said> {
    let first = refused.first()?;
    let is_best_a = |pair: &Comparison| best == Some(pair.a.as_str());
    let target = if is_best_a(first) { &first.a_target } else { &first.b_target };
    let others = refused.iter().map(|pair| if is_best_a(pair) { &pair.b_target } else { &pair.a_target });
    let mut reasons: Vec<Said> = Vec::new();
    for pair in refused {
        let reason = pair.refused.clone().unwrap_or_else(|| said!("answer.refused", "it was refused"));
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    Some(said!(
        "answer.no_answers_against",
        "no answer on {name} of {target} against {others}{at}: {reasons}",
        name = metric.words(),
        target,
        others = Said::list(Joint::And, others.map(String::as_str)),
        at = at(first),
        reasons = Said::list(Joint::Semicolon, &reasons)
    ))
}

/// Identifier of the cell with the best centre; the first where none has one.
fn best<'a>(cells: &[&'a CellSummary], metric: Metric) -> Option<&'a str> {
    let score = |cell: &CellSummary| {
        let center = summary(cell, metric).and_then(|found| found.center)?;
        Some(if metric.higher_is_better() { -center } else { center })
    };
    let scored = cells.iter().filter_map(|cell| Some((cell.cell.as_str(), score(cell)?)));
    let best = scored.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(cell, _)| cell);
    best.or_else(|| cells.first().map(|cell| cell.cell.as_str()))
}

/// A target without another to compare it with.
fn alone(data: &RunData<'_>, cell: &CellSummary, metric: Metric) -> Said {
    let found = summary(cell, metric);
    let name = metric.words();
    let Some((found, center)) = found.and_then(|found| Some((found, found.center?))) else {
        let reason = found.and_then(|found| found.refused.clone());
        let reason = reason.unwrap_or_else(|| said!("answer.no_trial_gives_value", "no trial gives a value"));
        return said!(
            "answer.no_value",
            "no {name} can be given for {target} at {load}: {reason}",
            name,
            target = &cell.target,
            load = &cell.load,
            reason
        );
    };
    let value = words::value(metric, center);
    let said = if metric == Metric::Throughput {
        said!(
            "answer.serves_requests_per_second",
            "{target} serves {center} requests per second at {load}",
            target = &cell.target,
            center = words::number(center),
            load = &cell.load
        )
    } else {
        said!(
            "answer.has_a",
            "{target} has a {name} of {value} at {load}",
            target = &cell.target,
            name,
            value,
            load = &cell.load
        )
    };
    let end = |end: f64| {
        if metric == Metric::Throughput { words::number(end) } else { words::value(metric, end) }
    };
    match found.interval.and_then(|interval| interval.low.zip(interval.high)) {
        Some((low, high)) => said!(
            "answer.alone",
            "{said} ({interval} {low} to {high}, {trials})",
            said,
            interval = data.interval_name(),
            low = end(low),
            high = end(high),
            trials = count(found.values.len(), Noun::Trial)
        ),
        None => {
            let reason = found.refused.clone();
            let reason = reason.unwrap_or_else(|| said!("answer.unbounded", "it is unbounded"));
            said!("answer.without_interval", "{said}, without an interval: {reason}", said, reason)
        }
    }
}

/// ` at 128 connections`; nothing where each of the two says its own.
fn at(pair: &Comparison) -> Said {
    if pair.load.is_empty() {
        Said::default()
    } else {
        said!("answer.at_load", " at {load}", load = &pair.load)
    }
}

/// One comparison as a clause, seen from the side of the better target.
fn against(data: &RunData<'_>, pair: &Comparison) -> Said {
    let (a, b, at) = (&pair.a_target, &pair.b_target, at(pair));
    let name = pair.metric.words();
    if let (Basis::Difference, Some(difference), Some(interval)) =
        (pair.basis, pair.difference, pair.difference_interval)
        && pair.verdict != Verdict::Refused
    {
        return by_difference(data, pair, difference, interval);
    }
    let (Some(ratio), Some(interval)) = (pair.ratio, pair.interval) else {
        let so_far = pair.ratio.map_or(Said::default(), |ratio| {
            said!("answer.ratio_far", " (ratio so far {ratio})", ratio = words::ratio(ratio))
        });
        let reason = pair.refused.clone().unwrap_or_else(|| said!("answer.refused", "it was refused"));
        return said!(
            "answer.no_answer_against",
            "no answer on {name} of {a} against {b}{at}{so_far}: {reason}",
            name,
            a,
            b,
            at,
            so_far,
            reason
        );
    };
    match pair.verdict {
        Verdict::Faster => better(data, pair, (a, b), ratio, interval),
        Verdict::Slower => better(data, pair, (b, a), 1.0 / ratio, inverted(interval)),
        Verdict::Equivalent => {
            said!(
                "answer.equal_within",
                "{a} and {b} are equal in {name} within {margin}{at} ({certainty})",
                a,
                b,
                name,
                margin = percent(data.margin),
                at,
                certainty = certainty(data, pair, ratio, interval)
            )
        }
        Verdict::Inconclusive | Verdict::Refused => {
            said!(
                "answer.no_difference_shown_between",
                "no difference shown between {a} and {b} in {name}{at} ({certainty})",
                a,
                b,
                name,
                at,
                certainty = certainty(data, pair, ratio, interval)
            )
        }
    }
}

/// `go/echo serves 4.1 % more requests per second than go/gin at 128 connections (95 % interval 2.9 % to 5.3 %, …)`;
/// from twice as many on, in multiples.
fn better(
    data: &RunData<'_>,
    pair: &Comparison,
    (winner, loser): (&str, &str),
    ratio: f64,
    interval: Interval,
) -> Said {
    let name = pair.metric.words();
    let (said, near, far) = if pair.metric.higher_is_better() {
        let (low, high) = (interval.low.unwrap_or(0.0), interval.high.unwrap_or(f64::INFINITY));
        if ratio >= 2.0 {
            let [ratio, low, high] = words::numbers(Some(ratio), (low, high));
            (
                said!(
                    "answer.serves_times_as_many",
                    "{winner} serves {ratio} times as many {name} as {loser}",
                    winner,
                    ratio,
                    name,
                    loser
                ),
                low,
                said!("answer.times", "{high} times", high),
            )
        } else {
            let [by, low, high] = words::percents([ratio, low, high].map(|ratio| ratio - 1.0));
            (
                said!(
                    "answer.serves_more_than",
                    "{winner} serves {by} more {name} than {loser}",
                    winner,
                    by,
                    name,
                    loser
                ),
                low,
                Said::from(high),
            )
        }
    } else {
        let end = |end: Option<f64>, open: f64| 1.0 - end.unwrap_or(open);
        let shares = [1.0 - ratio, end(interval.high, f64::INFINITY), end(interval.low, 0.0)];
        let [by, low, high] = words::percents(shares);
        let said = match pair.metric {
            Metric::ErrorRate => said!(
                "answer.fails_less_often_than",
                "{winner} fails {by} less often than {loser}",
                winner,
                by,
                loser
            ),
            Metric::CpuPerRequest | Metric::Memory => said!(
                "answer.uses_less_than",
                "{winner} uses {by} less {name} than {loser}",
                winner,
                by,
                name,
                loser
            ),
            Metric::AllocPerRequest => said!(
                "answer.allocates_less_per_request",
                "{winner} allocates {by} less per request than {loser}",
                winner,
                by,
                loser
            ),
            _ => said!(
                "answer.has_lower_than",
                "{winner} has a {by} lower {name} than {loser}",
                winner,
                by,
                name,
                loser
            ),
        };
        (said, low, Said::from(high))
    };
    said!(
        "answer.better",
        "{said}{at} ({interval} {near} to {far}, {blocks})",
        said,
        at = at(pair),
        interval = name_of(data, pair),
        near,
        far,
        blocks = count(pair.blocks as usize, Noun::Block)
    )
}

/// What the interval of a comparison is called.
fn name_of(data: &RunData<'_>, pair: &Comparison) -> Said {
    interval_name(data.confidence, pair.level.is_some_and(|level| level > data.confidence))
}

/// Where the answer rests on differences: `a has a lower error rate than b at 64 connections (difference …)`.
fn by_difference(data: &RunData<'_>, pair: &Comparison, difference: f64, interval: Interval) -> Said {
    let (a, b, at) = (&pair.a_target, &pair.b_target, at(pair));
    let name = pair.metric.words();
    let [difference, low, high] = words::values(pair.metric, Some(difference), words::ends(interval));
    let certainty = said!(
        "answer.difference",
        "difference {difference}, {interval} {low} to {high}, {blocks}",
        difference,
        interval = name_of(data, pair),
        low,
        high,
        blocks = count(pair.blocks as usize, Noun::Block)
    );
    let way = match pair.metric.higher_is_better() {
        true => said!("answer.higher", "higher"),
        false => said!("answer.lower", "lower"),
    };
    match pair.verdict {
        Verdict::Faster => said!(
            "answer.has_than",
            "{a} has a {way} {name} than {b}{at} ({certainty})",
            a,
            way,
            name,
            b,
            at,
            certainty
        ),
        Verdict::Slower => {
            said!(
                "answer.has_than_less",
                "{b} has a {way} {name} than {a}{at} ({certainty} for {a} less {b})",
                b,
                way,
                name,
                a,
                at,
                certainty
            )
        }
        _ => said!(
            "answer.no_difference_shown_between",
            "no difference shown between {a} and {b} in {name}{at} ({certainty})",
            a,
            b,
            name,
            at,
            certainty
        ),
    }
}

fn inverted(interval: Interval) -> Interval {
    let invert = |end: Option<f64>| end.map(|end| 1.0 / end).filter(|end| end.is_finite());
    Interval { low: Some(invert(interval.high).unwrap_or(0.0)), high: invert(interval.low) }
}

fn certainty(data: &RunData<'_>, pair: &Comparison, ratio: f64, interval: Interval) -> Said {
    let [ratio, low, high] = words::ratios(Some(ratio), words::ends(interval));
    said!(
        "answer.ratio",
        "ratio {ratio}, {interval} {low} to {high}, {blocks}",
        ratio,
        interval = name_of(data, pair),
        low,
        high,
        blocks = count(pair.blocks as usize, Noun::Block)
    )
}
