//! Little's law for a closed load: N = X·(R + Z), connections = throughput × (mean latency + think time). METHOD §6.
//!
//! More in flight than there are connections cannot be, whatever the think time. Fewer means a think time that is not
//! stated, connections that failed, or figures of different runs; with a stated think time it cannot be either.
//! Where the mean is not printed, what the quantiles leave it is used.

use super::{Draft, again, mean_of};
use crate::figure::{Reading, Span, judge};
use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use crate::unit::Dimension;
use crate::words;
use schema::audit::{AuditFinding, AuditLoad, AuditSeverity};

pub(super) const RULE: &str = "littles-law";
pub(super) const NEEDS: &str = "connections, throughput, and mean or percentiles, of a closed load";

/// Requests that were in flight as the window began or ended are counted in one place and not in the other.
const EDGE_MIN: f64 = 0.02;
/// So much of the connections' time may lie outside the latencies: connecting, the tool's own work.
const OUTSIDE: f64 = 0.05;
/// With a stated think time, more than this missing cannot be the tool's own work.
const MISSING: f64 = 0.2;

const LAW: &str = "N = X·(R + Z): connections = throughput × (mean latency + think time) (Little's law)";

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    if sheet.load != AuditLoad::Closed {
        return false;
    }
    let mut applied = false;
    for row in &sheet.rows {
        let Some(n) = row.in_flight().filter(|n| *n > 0.0) else { continue };
        if row.get(Kind::Throughput).is_none() || mean_of(row, Reading::Rounded).is_none() {
            continue;
        }
        applied = true;
        match too_many(sheet, row, n) {
            Some(severity) => above(sheet, row, n, severity, findings),
            None => below(sheet, row, n, findings),
        }
    }
    applied
}

/// How bad it is that more are in flight than there are connections.
///
/// Latencies alone must fit, whatever the think time. A mean of think times is off by chance, so that what is too many
/// only with it must be more.
fn too_many(sheet: &Sheet, row: &Row, n: f64) -> Option<AuditSeverity> {
    let share = |reading, think| in_flight(sheet, row, reading, think).map_or(0.0, |(least, _)| least / n);
    let alone = judge(|reading| share(reading, false) > 1.0 + edge(sheet, row, reading));
    let corrects = sheet.tool.is_some_and(|tool| tool.adds_latencies);
    let alone = alone.map(|severity| if corrects { AuditSeverity::Suspicious } else { severity });
    let thinking = if share(Reading::Loose, true) > 1.0 + MISSING {
        Some(AuditSeverity::Impossible)
    } else {
        (share(Reading::Rounded, true) > 1.0 + OUTSIDE).then_some(AuditSeverity::Suspicious)
    };
    alone.max(thinking.filter(|_| row.get(Kind::Think).is_some()))
}

/// The fewest and the most requests in flight (or thinking, where `thinks` and the time is stated).
///
/// Failed requests may or may not be within the throughput, and their times within the mean.
fn in_flight(sheet: &Sheet, row: &Row, reading: Reading, thinks: bool) -> Option<(f64, f64)> {
    let (mean, _) = mean_of(row, reading)?;
    let throughput = row.get(Kind::Throughput)?.span(reading);
    let failed = row.error_share(reading).unwrap_or(Span::exact(0.0));
    let think = sheet.think_s(row).filter(|_| thinks).unwrap_or(Span::exact(0.0));
    let right = (1.0 - failed.high).max(0.0);
    let least = throughput.low.max(0.0) * right * (mean.low.max(0.0) + think.low);
    let all = if right > 0.0 { throughput.high / right } else { f64::INFINITY };
    let most = Span::exact(all).times(Span::exact(mean.high + think.high)).high;
    Some((least, most))
}

/// What requests across the ends of the window may add, as a share.
fn edge(sheet: &Sheet, row: &Row, reading: Reading) -> f64 {
    let duration = sheet.window_s(row).filter(|s| *s > 0.0);
    let mean = mean_of(row, reading).map_or(0.0, |(mean, _)| mean.low);
    EDGE_MIN.max(duration.map_or(0.0, |duration| (mean / duration).min(1.0)))
}

fn draft(row: &Row, severity: AuditSeverity, what: String) -> Draft {
    let draft = Draft::new(RULE, severity, &[row], what)
        .law(LAW)
        .maybe("N", Kind::Connections, row)
        .maybe("in flight on each", Kind::Pipeline, row)
        .maybe("X", Kind::Throughput, row)
        .maybe("R", Kind::Mean, row)
        .maybe("Z", Kind::Think, row)
        .maybe("failed", Kind::ErrorShare, row)
        .maybe("failed", Kind::Errors, row);
    if row.get(Kind::Mean).is_some() {
        return draft;
    }
    let points = row.figures().filter(|(kind, _)| kind.is_latency());
    points.fold(draft, |draft, (kind, figure)| draft.number(&kind.name(), kind, figure))
}

fn kinds(row: &Row) -> Vec<Kind> {
    let latencies = row.figures().map(|(kind, _)| kind).filter(|kind| kind.is_latency());
    let of_mean = latencies.filter(|kind| row.get(Kind::Mean).is_none() || *kind == Kind::Mean);
    of_mean.chain([Kind::Connections, Kind::Throughput, Kind::Think]).collect()
}

fn above(sheet: &Sheet, row: &Row, n: f64, severity: AuditSeverity, findings: &mut Vec<AuditFinding>) {
    let Some((least, _)) = in_flight(sheet, row, Reading::Rounded, true) else { return };
    let which =
        if row.get(Kind::Mean).is_some() { "" } else { ", with the least mean that its percentiles allow" };
    draft(row, severity, "more requests were in flight than there were connections to carry them".to_owned())
        .bound(format!(
            "X·(R + Z) is at least {}{which}, but N is {}: {} as many",
            words::count(least),
            words::count(n),
            words::times(least / n)
        ))
        .remedy(remedy_above(sheet, row))
        .unless_sure(sheet, &kinds(row))
        .into(findings);
}

fn remedy_above(sheet: &Sheet, row: &Row) -> String {
    let again = again(row);
    match sheet.tool.filter(|tool| tool.adds_latencies) {
        Some(tool) => format!(
            "{} adds times that it thinks were omitted, so its mean and percentiles are not those of its requests; re-run with \
             {again}, which records what was sent",
            tool.name
        ),
        None => format!(
            "look whether the mean is in its unit, whether throughput adds up several machines, whether a connection carried \
             several requests at once (then add a column `pipeline`), and whether the tool adds times that it thinks were \
             omitted, as wrk does; if requests came at a rate, say --load open; re-run with {again}"
        ),
    }
}

fn below(sheet: &Sheet, row: &Row, n: f64, findings: &mut Vec<AuditFinding>) {
    let most = |reading| in_flight(sheet, row, reading, true).map_or(f64::INFINITY, |(_, most)| most);
    let Some(severity) = too_few(row, n, &most) else { return };
    let least_told = most(Reading::Rounded);
    let what = match severity {
        AuditSeverity::Note => "some of the connections' time is in no latency".to_owned(),
        _ => format!(
            "only {} of {} connections had a request in flight",
            words::count(least_told),
            words::count(n)
        ),
    };
    let bound = match severity {
        AuditSeverity::Note => format!(
            "X·(R + Z) is at most {} of N = {}: {} went into connecting, into the tool's own work, or into requests at the ends",
            words::count(least_told),
            words::count(n),
            words::percent(1.0 - least_told / n)
        ),
        _ => bound_below(sheet, row, n, least_told),
    };
    draft(row, severity, what)
        .bound(bound)
        .remedy(remedy_below(sheet, row))
        .unless_sure(sheet, &kinds(row))
        .into(findings);
}

/// How bad it is that fewer are in flight than there are connections.
fn too_few(row: &Row, n: f64, most: &dyn Fn(Reading) -> f64) -> Option<AuditSeverity> {
    // Failures explain idle connections only where the table counts some.
    let has_failed = row.error_share(Reading::Rounded).is_some_and(|share| share.low > 0.0);
    let is_stated = row.get(Kind::Think).is_some() && !has_failed;
    let is_below = |reading, share: f64| most(reading) < n * (1.0 - share);
    if is_stated && is_below(Reading::Loose, MISSING) {
        return Some(AuditSeverity::Impossible);
    }
    if is_below(Reading::Loose, OUTSIDE) {
        return Some(AuditSeverity::Suspicious);
    }
    is_below(Reading::Rounded, EDGE_MIN).then_some(AuditSeverity::Note)
}

fn bound_below(sheet: &Sheet, row: &Row, n: f64, most: f64) -> String {
    let told = format!("X·(R + Z) is at most {}, but N is {}", words::count(most), words::count(n));
    let (Some(throughput), Some((mean, _))) = (row.get(Kind::Throughput), mean_of(row, Reading::Rounded))
    else {
        return told;
    };
    if sheet.think_s(row).is_some() || throughput.value <= 0.0 {
        return format!("{told}: {} of their time is missing", words::percent(1.0 - most / n));
    }
    let cycle = Span::exact(n).over(throughput.rounded());
    let think = cycle.minus(mean);
    format!(
        "{told}: each sends every N/X = {}, so a think time of {} is not stated, or the figures are not of one run",
        words::span(Dimension::Time, cycle),
        words::span(Dimension::Time, think)
    )
}

fn remedy_below(sheet: &Sheet, row: &Row) -> String {
    let again = again(row);
    match (sheet.think_s(row).is_some(), sheet.tool) {
        (true, Some(tool)) => format!(
            "{} has no think time: look for connections that failed or were never opened, and for the tool being out of \
             CPU; re-run with {again}, whose gates `connections` and `littles_law` tell which",
            tool.name
        ),
        (true, None) => format!(
            "look whether mean and throughput are of one run and of all connections; re-run with {again}"
        ),
        (false, _) => format!(
            "state the think time (a column, or --given think=1s; --given think=0s judges as for wrk, hey and ab); if \
             there was none, connections failed or the figures are of different runs: re-run with {again}"
        ),
    }
}
