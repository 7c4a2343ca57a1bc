//! `prony compare` and `prony history` for the terminal.

use crate::terminal::layout::{Align, paragraph, table};
use crate::terminal::paint::{Tone, finish, paint};
use crate::{Style, clean, format};
use schema::across::{
    CellAcross, CompareFile, HistoryChange, HistoryFile, HistorySeries, MetricAcross, RunHead,
};
use schema::analysis::Verdict;

/// Two runs cell by cell, as text of `style.width` columns.
#[must_use]
pub fn compare_text(found: &CompareFile, style: Style) -> String {
    let columns = style.columns();
    let head = |run: &RunHead| {
        format!("{} ({})", clean::line(&run.id), format::counted(run.trials_valid.into(), "valid trial"))
    };
    let mut text = format!("{}\n", paint(Tone::Strong, &clean::line(&found.experiment)));
    text += &paragraph("  a: ", &head(&found.a), columns);
    text += &paragraph("  b: ", &head(&found.b), columns);
    for cell in &found.cells {
        text += &format!("\n{}\n{}", paint(Tone::Strong, &clean::line(&cell.label)), rows(cell, columns));
        text += &refusals(cell, found.refused.as_deref(), columns);
    }
    for (labels, only) in [(&found.only_a, "only in a: "), (&found.only_b, "only in b: ")] {
        for label in labels {
            text += &paragraph(&format!("  {only}"), &clean::line(label), columns);
        }
    }
    text += "\n";
    if let Some(reason) = &found.refused {
        text += &paragraph("no verdict: ", &clean::line(reason), columns);
    }
    for warning in &found.warnings {
        text += &paragraph("warning: ", &clean::line(warning), columns);
    }
    let legend = format!(
        "Ratios are b over a with their {} interval (Welch's t on logarithms; rank: Hodges-Lehmann). The trials of two \
         runs share no block, so what changed from one day to the other counts, too.",
        format::chosen_percent(found.confidence)
    );
    text += &paragraph("", &legend, columns);
    finish(&text, style)
}

fn rows(cell: &CellAcross, columns: usize) -> String {
    let header = [
        ("", Align::Word),
        ("a", Align::Number),
        ("b", Align::Number),
        ("ratio", Align::Number),
        ("interval", Align::Number),
        ("rank", Align::Number),
        ("", Align::Word),
    ];
    let shown: Vec<Vec<String>> =
        cell.metrics.iter().filter(|found| found.a.is_some() || found.b.is_some()).map(row).collect();
    table(&header, &shown, columns)
}

fn row(found: &MetricAcross) -> Vec<String> {
    let value = |value: Option<f64>| value.map_or("-".to_owned(), |value| format::value(found.unit, value));
    let ratio = |ratio: Option<f64>| ratio.map_or("-".to_owned(), format::ratio);
    let interval = found.interval.as_ref().map_or("-".to_owned(), format::ratio_interval);
    vec![
        found.metric.key().to_owned(),
        value(found.a),
        value(found.b),
        ratio(found.ratio),
        interval,
        ratio(found.rank_ratio),
        verdict(found.verdict).to_owned(),
    ]
}

const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "better",
        Verdict::Slower => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Refused => "refused",
    }
}

/// Each reason once; that of the whole comparison stands at the end.
fn refusals(cell: &CellAcross, of_all: Option<&str>, columns: usize) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for found in cell.metrics.iter().filter(|found| found.a.is_some() || found.b.is_some()) {
        if let Some(reason) = found.refused.as_deref().filter(|reason| Some(*reason) != of_all)
            && !reasons.contains(&reason)
        {
            reasons.push(reason);
        }
    }
    reasons.into_iter().map(|reason| paragraph("  refused: ", &clean::line(reason), columns)).collect()
}

/// The runs of an experiment over time, as text of `style.width` columns.
#[must_use]
pub fn history_text(found: &HistoryFile, style: Style) -> String {
    let columns = style.columns();
    let title =
        format!("{}: {}", clean::line(&found.experiment), format::counted(found.runs.len() as u64, "run"));
    let mut text = format!("{}\n", paint(Tone::Strong, &title));
    for run in &found.runs {
        let line =
            format!("{} ({})", clean::line(&run.id), format::counted(run.trials_valid.into(), "valid trial"));
        text += &paragraph("  ", &line, columns);
        for changed in &run.changed {
            text += &paragraph("    changed: ", &clean::line(changed), columns);
        }
    }
    text += &format!("\n{}\n", paint(Tone::Strong, "Changes"));
    let changed: Vec<&HistorySeries> = found.series.iter().filter(|one| !one.changes.is_empty()).collect();
    if changed.is_empty() {
        text += "  none found\n";
    }
    for one in changed {
        text += &paragraph("  ", &format!("{}, {}", clean::line(&one.cell), one.metric.key()), columns);
        for change in &one.changes {
            text += &paragraph("    ", &change_words(one, change), columns);
        }
    }
    text += &format!("\n{}\n{}", paint(Tone::Strong, "Series"), series(found, columns));
    for note in &found.notes {
        text += &paragraph("note: ", &clean::line(note), columns);
    }
    finish(&text, style)
}

fn change_words(one: &HistorySeries, change: &HistoryChange) -> String {
    format!(
        "{} since {} ({}): {} → {}, {}, p = {}; the run before was {}",
        if change.is_worse { "worse" } else { "better" },
        clean::line(&change.first_run),
        clean::line(&change.first_wall),
        format::value(one.unit, change.before),
        format::value(one.unit, change.after),
        format::change(change.ratio),
        format::p_value(change.p_value),
        clean::line(&change.after_run)
    )
}

fn series(found: &HistoryFile, columns: usize) -> String {
    let header = [
        ("", Align::Text),
        ("metric", Align::Word),
        ("runs", Align::Number),
        ("first", Align::Number),
        ("last", Align::Number),
        ("changes", Align::Number),
    ];
    let row = |one: &HistorySeries| {
        let value = |at: Option<&schema::across::HistoryPoint>| {
            at.map_or("-".to_owned(), |point| format::value(one.unit, point.value))
        };
        let changes = one.refused.as_ref().map_or(one.changes.len().to_string(), |_| "refused".to_owned());
        vec![
            clean::line(&one.cell),
            one.metric.key().to_owned(),
            one.points.len().to_string(),
            value(one.points.first()),
            value(one.points.last()),
            changes,
        ]
    };
    let rows: Vec<Vec<String>> = found.series.iter().map(row).collect();
    let mut text =
        if rows.is_empty() { "  no run has a value\n".to_owned() } else { table(&header, &rows, columns) };
    let mut reasons: Vec<&str> = Vec::new();
    for reason in found.series.iter().filter_map(|one| one.refused.as_deref()) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    for reason in reasons {
        text += &paragraph("  refused: ", &clean::line(reason), columns);
    }
    text
}
