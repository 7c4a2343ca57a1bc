//! What a ladder of connections says: where throughput stops growing while latency grows on, and what cannot be on the way.
//!
//! Between neighbouring levels the elasticity ln(X₂/X₁)/ln(N₂/N₁) is 1 while nothing queues and 0 where something is full.
//! The asymptotic bounds X ≤ min(X_max, N/(R₁ + Z)) cross at N* = X_max·N₁/X₁ (Lazowska et al. 1984, chapter 5).
//! Absent on purpose: an interval for the knee. A published table has one row a level and no trials; `prony knee` has.

use super::{Draft, again};
use crate::kind::Kind;
use crate::ladder::{Level, groups, levels};
use crate::sheet::{Row, Sheet};
use crate::words;
use schema::audit::{AuditFinding, AuditLoad, AuditSeverity};

pub(super) const RULE: &str = "saturation";
pub(super) const NEEDS: &str = "three rows of one thing with different connections, and throughput";

/// Below this elasticity throughput is flat.
const FLAT: f64 = 0.2;
/// Above this it grows faster than the load.
const FASTER: f64 = 1.15;
/// Latency that grows less than this while throughput is flat contradicts N = X·(R + Z).
const GROWS: f64 = 0.4;
/// A fall of throughput that is no noise.
const FALL: f64 = 0.1;

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for group in groups(sheet) {
        let levels = levels(&group);
        if levels.len() < 3 {
            continue;
        }
        applied = true;
        levels.windows(2).for_each(|pair| faster(sheet, pair[0], pair[1], findings));
        if let Some(from) = flat_from(&levels) {
            saturated(sheet, &levels, from, findings);
        }
    }
    applied
}

fn elasticity(from: f64, to: f64, load_from: f64, load_to: f64) -> f64 {
    (to / from).ln() / (load_to / load_from).ln()
}

fn of_throughput(a: Level<'_>, b: Level<'_>) -> f64 {
    elasticity(a.throughput, b.throughput, a.connections, b.connections)
}

/// The level from which on throughput is flat to the end.
fn flat_from(levels: &[Level<'_>]) -> Option<usize> {
    let flat = levels.windows(2).rev().take_while(|pair| of_throughput(pair[0], pair[1]) <= FLAT).count();
    (flat > 0).then(|| levels.len() - 1 - flat)
}

/// The latency that both rows print: mean, else the lowest common percentile.
fn latency<'a>(a: &'a Row, b: &'a Row) -> Option<(Kind, f64, f64)> {
    let both = |kind| Some((kind, a.get(kind)?.value, b.get(kind)?.value));
    let percentile = || a.quantiles().find_map(|(kind, _, _)| both(kind));
    both(Kind::Mean).or_else(percentile).filter(|(_, from, to)| *from > 0.0 && *to > 0.0)
}

fn saturated(sheet: &Sheet, levels: &[Level<'_>], from: usize, findings: &mut Vec<AuditFinding>) {
    let (first, begin, last) = (levels[0], levels[from], levels[levels.len() - 1]);
    let Some(best) = levels.iter().max_by(|a, b| a.throughput.total_cmp(&b.throughput)) else { return };
    let grown = latency(begin.row, last.row)
        .map(|(kind, a, b)| (kind, a, b, elasticity(a, b, begin.connections, last.connections)));
    let knee = best.throughput * first.connections / first.throughput;
    let falls = last.throughput < best.throughput * (1.0 - FALL);
    let contradicts = sheet.load == AuditLoad::Closed
        && grown.is_some_and(|(_, _, _, grows)| grows < GROWS)
        && sheet.think_s(last.row).is_none_or(|think| think.high == 0.0);
    let (severity, what) = match (contradicts, falls) {
        (true, _) => {
            (AuditSeverity::Suspicious, "throughput is flat, and latency does not grow with the connections")
        }
        (false, true) => {
            (AuditSeverity::Note, "saturated, and throughput falls beyond: more load costs work")
        }
        (false, false) => (AuditSeverity::Note, "saturated: more connections only wait longer"),
    };
    let rows: Vec<&Row> = levels[from..].iter().map(|level| level.row).collect();
    let draft = Draft::new(RULE, severity, &rows, what)
        .law("X ≤ min(X_max, N/(R₁ + Z)): beyond N* = X_max·N₁/X₁ latency grows in proportion to N (Lazowska et al. 1984)");
    let draft = [first.row, begin.row, last.row].into_iter().fold(draft, numbers);
    draft
        .bound(bound(begin, last, best.throughput, knee, grown))
        .remedy(remedy(contradicts, first.row))
        .into(findings);
}

fn numbers(draft: Draft, row: &Row) -> Draft {
    let kinds = [("N", Kind::Connections), ("X", Kind::Throughput)];
    kinds.into_iter().fold(draft, |draft, (name, kind)| match row.get(kind) {
        Some(figure) => draft.number_of(row, name, kind, figure),
        None => draft,
    })
}

fn bound(
    begin: Level<'_>,
    last: Level<'_>,
    capacity: f64,
    knee: f64,
    grown: Option<(Kind, f64, f64, f64)>,
) -> String {
    let load = format!(
        "from {} to {} connections throughput goes from {} to {}",
        words::count(begin.connections),
        words::count(last.connections),
        words::rate(begin.throughput),
        words::rate(last.throughput)
    );
    let latency = grown.map_or(String::new(), |(kind, from, to, _)| {
        format!(" and {} from {} to {}", kind.name(), words::seconds(from), words::seconds(to))
    });
    format!(
        "{load}{latency}; capacity is about {}, and the knee about N* = {} connections",
        words::rate(capacity),
        words::count(knee.round())
    )
}

fn remedy(contradicts: bool, row: &Row) -> String {
    if contradicts {
        return format!(
            "N = X·(R + Z) wants one of them to move: look for connections that were never opened, for a limit in the load tool, \
             and for latencies without their waiting; re-run with {}",
            again(row)
        );
    }
    "compare services below the knee or at their capacity, not at a number of connections; `prony knee URL` gives both with \
     intervals"
        .to_owned()
}

/// Throughput grows faster than the load: latency would have to fall as load grows.
fn faster(sheet: &Sheet, a: Level<'_>, b: Level<'_>, findings: &mut Vec<AuditFinding>) {
    if sheet.load != AuditLoad::Closed || of_throughput(a, b) <= FASTER {
        return;
    }
    // A latency that is printed and does fall is at least no contradiction.
    let falls = latency(a.row, b.row).is_some_and(|(_, from, to)| to < from);
    let severity = if falls { AuditSeverity::Note } else { AuditSeverity::Suspicious };
    let draft = Draft::new(RULE, severity, &[a.row, b.row], "throughput grows faster than the connections")
        .law("X = N/(R + Z): at most N₂/N₁ times as much, unless latency falls under more load");
    let draft = [a.row, b.row].into_iter().fold(draft, numbers);
    draft
        .bound(format!(
            "{} the connections can give at most {}, and {} is printed",
            words::times(b.connections / a.connections),
            words::rate(a.throughput * b.connections / a.connections),
            words::rate(b.throughput)
        ))
        .remedy(format!(
            "the lighter row was measured cold, with a slow clock or too shortly: warm up and repeat in random order \
             (`prony run`), or re-run it with {}",
            again(a.row)
        ))
        .into(findings);
}
