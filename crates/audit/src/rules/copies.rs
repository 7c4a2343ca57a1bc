//! Figures that come again where they should differ: whole rows, and means under one number of connections.

use super::{Draft, again};
use crate::figure::Reading;
use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use crate::words;
use schema::audit::{AuditFinding, AuditLoad, AuditSeverity};
use std::collections::BTreeMap;

pub(super) const RULE: &str = "copied-figures";
pub(super) const NEEDS: &str = "two rows of measured figures with three digits or more";

/// Digits that two rows share in all, before chance is ruled out.
const DIGITS: u32 = 6;
/// Digits of one mean.
const MEAN_DIGITS: u32 = 3;
/// Throughputs of rows with one mean and one number of connections may differ by this share.
const SAME: f64 = 0.05;

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let rows: Vec<&Row> = sheet.rows.iter().filter(|row| measured(row).0 >= 3).collect();
    if rows.len() < 2 {
        return false;
    }
    whole_rows(&rows, findings);
    if sheet.load == AuditLoad::Closed {
        means(sheet, &rows, findings);
    }
    true
}

/// The digits of a row's measured figures, and the figures as one text.
fn measured(row: &Row) -> (u32, String) {
    let figures = row.figures().filter(|(kind, figure)| is_measured(*kind) && figure.value != 0.0);
    figures.fold((0, String::new()), |(digits, key), (kind, figure)| {
        (digits + figure.digits, format!("{key}{}={};", kind.name(), figure.value))
    })
}

fn is_measured(kind: Kind) -> bool {
    !kind.is_setting() && !matches!(kind, Kind::Duration | Kind::Requests | Kind::Think)
}

/// Rows that agree in every measured figure.
fn whole_rows(rows: &[&Row], findings: &mut Vec<AuditFinding>) {
    let mut same: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let (digits, key) = measured(row);
        if digits >= DIGITS {
            same.entry(key).or_default().push(row);
        }
    }
    for rows in same.values().filter(|rows| rows.len() >= 2) {
        let draft = Draft::new(
            RULE,
            AuditSeverity::Suspicious,
            rows,
            format!("{} rows have the same figures to the last digit", rows.len()),
        )
        .law("two measurements differ: the last digit of a figure is chance");
        let first = rows[0];
        let draft = first
            .figures()
            .filter(|(kind, _)| is_measured(*kind))
            .fold(draft, |draft, (kind, figure)| draft.number(&kind.name(), kind, figure));
        draft
            .bound(format!("{} digits agree", measured(first).0))
            .remedy(format!("look which row was copied, and re-run it with {}", again(first)))
            .into(findings);
    }
}

/// One mean under one number of connections, although throughput differs: N = X·(R + Z) wants them to differ too.
fn means(sheet: &Sheet, rows: &[&Row], findings: &mut Vec<AuditFinding>) {
    let mut by_mean: BTreeMap<(u64, u64), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let (Some(n), Some(mean)) =
            (row.in_flight(), row.get(Kind::Mean).filter(|mean| mean.digits >= MEAN_DIGITS))
        else {
            continue;
        };
        by_mean.entry((n.to_bits(), mean.value.to_bits())).or_default().push(row);
    }
    for same in by_mean.values() {
        let rate = |row: &Row| row.get(Kind::Throughput).map_or(0.0, |figure| figure.value);
        let low = same.iter().min_by(|a, b| rate(a).total_cmp(&rate(b)));
        let high = same.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
        let (Some(low), Some(high)) = (low, high) else { continue };
        let is_sure = [low, high].iter().all(|row| sheet.think_s(row).is_none_or(|think| think.high == 0.0));
        if rate(low) <= 0.0 || rate(high) < rate(low) * (1.0 + SAME) || !is_sure {
            continue;
        }
        one_mean(low, high, findings);
    }
}

fn one_mean(low: &Row, high: &Row, findings: &mut Vec<AuditFinding>) {
    let (Some(mean), Some(n)) = (low.get(Kind::Mean), low.in_flight()) else { return };
    let wanted = |row: &Row| row.get(Kind::Throughput).map_or(0.0, |x| n / x.span(Reading::Rounded).middle());
    let draft = Draft::new(
        RULE,
        AuditSeverity::Suspicious,
        &[low, high],
        "one mean for two rows of different throughput",
    )
    .law("N = X·(R + Z): under the same connections more throughput means a smaller mean");
    let draft = [low, high].into_iter().fold(draft, |draft, row| {
        match (row.get(Kind::Throughput), row.get(Kind::Mean)) {
            (Some(x), Some(r)) => {
                draft.number_of(row, "X", Kind::Throughput, x).number_of(row, "R", Kind::Mean, r)
            }
            _ => draft,
        }
    });
    draft
        .bound(format!(
            "without a think time N/X is {} and {}, and {} is printed for both",
            words::seconds(wanted(low)),
            words::seconds(wanted(high)),
            mean.text
        ))
        .remedy(format!("look which of them was copied; re-run both with {}", again(low)))
        .into(findings);
}
