//! Cells that are no figures, and figures that cannot be: NaN, infinity, negative times and counts, shares above one.

use super::Draft;
use crate::error::quoted;
use crate::figure::{Figure, Reading, judge};
use crate::kind::Kind;
use crate::sheet::{BadCell, Row, Sheet};
use schema::audit::{AuditFinding, AuditSeverity};
use std::collections::BTreeMap;

pub(super) const RULE: &str = "figures";
pub(super) const NEEDS: &str = "a column of figures";

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    unread(sheet, findings);
    for row in &sheet.rows {
        row.figures().for_each(|(kind, figure)| range(sheet, row, kind, figure, findings));
    }
    sheet.rows.iter().any(|row| row.figures().next().is_some()) || !sheet.bad_cells.is_empty()
}

/// One finding a column and kind of cell, however many cells it has.
fn unread(sheet: &Sheet, findings: &mut Vec<AuditFinding>) {
    let mut by_column: BTreeMap<(bool, &str), Vec<&BadCell>> = BTreeMap::new();
    for bad in &sheet.bad_cells {
        by_column.entry((!bad.not_finite, bad.header.as_str())).or_default().push(bad);
    }
    for ((is_text, header), cells) in by_column {
        let (severity, what) = match is_text {
            false => (AuditSeverity::Suspicious, "is not a number"),
            true => (AuditSeverity::Note, "cannot be read as a figure and is not used"),
        };
        let rows: Vec<&Row> = cells.iter().filter_map(|bad| sheet.rows.get(bad.row as usize - 1)).collect();
        let others = if cells.len() > 1 { format!(" (and {} more)", cells.len() - 1) } else { String::new() };
        let what = format!("{}{others} in {} {what}", quoted(&cells[0].text), quoted(header));
        Draft::new(RULE, severity, &rows, what)
            .law("a measurement is a finite number with a unit of its kind")
            .bound("nothing was measured, or its unit does not fit the column")
            .remedy("leave the cell empty where nothing was measured, or say the column with --column")
            .into(findings);
    }
}

fn range(sheet: &Sheet, row: &Row, kind: Kind, figure: &Figure, findings: &mut Vec<AuditFinding>) {
    if matches!(kind, Kind::Time | Kind::Repeat) {
        return;
    }
    let is_share = matches!(kind, Kind::ErrorShare | Kind::SuccessShare);
    // Printed as 100 % a share may be a little less; above it, it cannot be.
    let above = is_share.then(|| judge(|reading| figure.span(reading).low > 1.0)).flatten();
    let below = judge(|reading: Reading| figure.span(reading).high < 0.0);
    let what = match (below, above) {
        (Some(_), _) => "is negative",
        (None, Some(_)) => "is more than all",
        (None, None) => return,
    };
    let Some(severity) = below.or(above) else { return };
    Draft::new(RULE, severity, &[row], format!("{} of {} {what}", kind.name(), quoted(&figure.text)))
        .law("times, rates and counts are not negative; a share is at most 100 %")
        .number(&kind.name(), kind, figure)
        .bound(if is_share { "0 … 100 %" } else { "0 or more" })
        .remedy("look for the sign, the unit or the formula that made it")
        .unless_sure(sheet, &[kind])
        .into(findings);
}
