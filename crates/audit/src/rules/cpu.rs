//! The utilisation law U = X·D: busy CPU = throughput × CPU time per request. METHOD §6, §9.
//!
//! No more CPU than there are cores; and while the same thing is loaded more, CPU per request stays what it is, so that
//! throughput does not rise while CPU falls, and CPU without load is not most of it.

use super::Draft;
use crate::figure::{Reading, judge};
use crate::kind::Kind;
use crate::ladder::{groups, levels};
use crate::sheet::{Row, Sheet};
use crate::unit::Dimension;
use crate::words;
use schema::audit::{AuditFinding, AuditSeverity};

pub(super) const CORES: &str = "cpu-cores";
pub(super) const CORES_NEEDS: &str = "CPU and cores";
pub(super) const LAW: &str = "cpu-law";
pub(super) const LAW_NEEDS: &str = "CPU and throughput in two rows of different throughput";

/// Tools that sample CPU are off by so much.
const SAMPLING: f64 = 0.03;
/// A rise of throughput and a fall of CPU beyond these are no noise.
const RISE: f64 = 0.05;
const FALL_SHARE: f64 = 0.1;
/// CPU per request of two rows of one table that differ by more are worth a look.
const DIFFERENT: f64 = 5.0;
/// CPU per request within one ladder.
const WITHIN: f64 = 2.0;

/// Busy CPU is at most that of all cores.
pub(super) fn cores(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        let (Some(cpu), Some(cores)) = (row.get(Kind::Cpu), row.get(Kind::Cores)) else { continue };
        applied = true;
        let Some(severity) = judge(|reading| cpu.span(reading).low > cores.value * (1.0 + SAMPLING)) else {
            continue;
        };
        Draft::new(CORES, severity, &[row], "more CPU is busy than there are cores")
            .law("U ≤ number of cores")
            .number("U", Kind::Cpu, cpu)
            .number("cores", Kind::Cores, cores)
            .bound(format!("at most {} of one core", words::percent(cores.value)))
            .remedy("look whether the CPU of other processes or machines is in it; prony reads it from the target's own processes")
            .unless_sure(sheet, &[Kind::Cpu, Kind::Cores])
            .into(findings);
    }
    applied
}

/// CPU per request, within ladders and between rows.
pub(super) fn law(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for group in groups(sheet) {
        let loaded: Vec<&Row> =
            levels(&group).iter().map(|level| level.row).filter(|row| demand(row).is_some()).collect();
        applied |= loaded.len() >= 2;
        for pair in loaded.windows(2) {
            falls(pair[0], pair[1], findings);
        }
        if let (Some(first), Some(best)) =
            (loaded.first(), loaded.iter().max_by(|a, b| rate(a).total_cmp(&rate(b))))
        {
            grows(first, best, findings);
        }
    }
    let rows: Vec<&Row> = sheet.rows.iter().filter(|row| demand(row).is_some()).collect();
    applied |= rows.len() >= 2;
    differs(&rows, findings);
    applied
}

fn rate(row: &Row) -> f64 {
    row.get(Kind::Throughput).map_or(0.0, |figure| figure.value)
}

fn busy(row: &Row) -> f64 {
    row.get(Kind::Cpu).map_or(0.0, |figure| figure.value)
}

/// CPU seconds per request, D = U/X.
fn demand(row: &Row) -> Option<f64> {
    let (cpu, throughput) = (row.get(Kind::Cpu)?.value, row.get(Kind::Throughput)?.value);
    (cpu > 0.0 && throughput > 0.0).then(|| cpu / throughput)
}

fn draft(severity: AuditSeverity, rows: [&Row; 2], what: &str) -> Draft {
    let draft =
        Draft::new(LAW, severity, &rows, what).law("U = X·D: busy CPU = throughput × CPU per request");
    rows.into_iter().fold(draft, |draft, row| {
        let figures = [("U", Kind::Cpu), ("X", Kind::Throughput)];
        figures.into_iter().fold(draft, |draft, (name, kind)| match row.get(kind) {
            Some(figure) => draft.number_of(row, name, kind, figure),
            None => draft,
        })
    })
}

/// Throughput rises while CPU falls.
fn falls(light: &Row, heavy: &Row, findings: &mut Vec<AuditFinding>) {
    let (Some(before), Some(after)) = (light.get(Kind::Cpu), heavy.get(Kind::Cpu)) else { return };
    let rises = rate(heavy) > rate(light) * (1.0 + RISE);
    let falls = after.span(Reading::Loose).high < before.span(Reading::Loose).low * (1.0 - FALL_SHARE);
    if !(rises && falls) {
        return;
    }
    draft(AuditSeverity::Suspicious, [light, heavy], "throughput rises while CPU falls")
        .bound(format!(
            "at {} the CPU of {} per request would take {}, and {} is printed",
            words::rate(rate(heavy)),
            words::seconds(busy(light) / rate(light)),
            words::percent(busy(light) / rate(light) * rate(heavy)),
            after.text
        ))
        .remedy(
            "look whether failed or cached answers are in the throughput, and whether CPU was read during the load; in a prony \
             experiment CPU per request is a metric of every trial",
        )
        .into(findings);
}

/// CPU per request grows or is mostly there without load.
fn grows(first: &Row, best: &Row, findings: &mut Vec<AuditFinding>) {
    let (x, u) = (rate(first), busy(first));
    let (x2, u2) = (rate(best), busy(best));
    // Extrapolated over a short way, neither says anything.
    if x2 < 1.5 * x {
        return;
    }
    let (Some(d), Some(d2)) = (demand(first), demand(best)) else { return };
    let idle = u - x * (u2 - u) / (x2 - x);
    let what = if d2 > WITHIN * d {
        "CPU per request grows with load"
    } else if idle > 0.5 * u && u > 0.2 && u2 >= u {
        "most of the CPU is busy without load"
    } else {
        return;
    };
    draft(AuditSeverity::Suspicious, [first, best], what)
        .bound(format!(
            "CPU per request is {} and {}; without load {} would be busy",
            words::seconds(d),
            words::seconds(d2),
            words::span(Dimension::Cpu, crate::figure::Span::exact(idle.max(0.0)))
        ))
        .remedy(
            "below the knee CPU per request is constant (METHOD §9): look for other programs, collection of garbage, locks that \
             spin, and rows of different programs",
        )
        .into(findings);
}

/// Rows of one table whose requests cost very different CPU.
fn differs(rows: &[&Row], findings: &mut Vec<AuditFinding>) {
    let by = |row: &&&Row| demand(row).unwrap_or(0.0);
    let least = rows.iter().min_by(|a, b| by(a).total_cmp(&by(b)));
    let most = rows.iter().max_by(|a, b| by(a).total_cmp(&by(b)));
    let (Some(least), Some(most)) = (least, most) else { return };
    let (Some(d), Some(d2)) = (demand(least), demand(most)) else { return };
    if d2 < DIFFERENT * d {
        return;
    }
    draft(AuditSeverity::Note, [most, least], "CPU per request differs greatly between rows")
        .bound(format!("{} against {}: {}", words::seconds(d2), words::seconds(d), words::times(d2 / d)))
        .remedy(
            "believe it only where the code did less work; else the CPU was not that of the target alone, or the answers were \
             not the same: check them with a scenario's `expect`, and re-run as an experiment with `prony run`",
        )
        .into(findings);
}
