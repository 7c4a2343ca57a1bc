//! The report of a run for a terminal: the answer, whether it may be believed, claims, comparisons, cells, trials.

use crate::Style;
use crate::run::effects::EffectView;
use crate::run::layers::LayerRow;
use crate::run::page::{CellView, Page};
use crate::terminal::layout::{Align, paragraph, table};
use crate::terminal::paint::{Tone, finish, paint};
use crate::words::{Footnotes, Word};
use schema::analysis::AnalysisFile;
use schema::metric::Metric;
use schema::run::RunFile;

/// The metrics that a terminal has room for; the files show all of them.
const METRICS: [Metric; 3] = [Metric::Throughput, Metric::P50, Metric::P99];

/// The report as text of `style.width` columns; the last lines name the files to open.
#[must_use]
pub fn terminal(run: &RunFile, analysis: &AnalysisFile, style: Style) -> String {
    let page = Page::new(run, analysis);
    let columns = style.columns();
    let sections = [
        opening(&page, columns),
        soak(&page, columns),
        belief(&page, columns),
        claims(&page, columns),
        comparisons(&page, columns),
        capacity(&page, columns),
        effects(&page, columns),
        layers(&page, columns),
        cells(&page, columns),
        warm_ups(&page, columns),
        memory(&page, columns),
        limits(&page, columns),
        findings(&page, columns),
        events(&page, columns),
        trials(&page, columns),
        closing(&page, columns),
    ];
    finish(&sections.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"), style)
}

fn opening(page: &Page, columns: usize) -> String {
    paragraph("", &page.question, columns)
        + &painted_lines(Tone::Strong, &paragraph("", &page.answer, columns))
}

fn belief(page: &Page, columns: usize) -> String {
    let belief = &page.belief;
    let verdict = paint(belief.level.tone, belief.level.text);
    let mut text = format!("{} {verdict}.\n", paint(Tone::Strong, "Can these numbers be believed?"));
    text += &paragraph("  ", &belief.summary, columns);
    for note in &belief.notes {
        text += &paragraph(&format!("  {} ", sign(note.level)), &note.text, columns);
        if let Some(remedy) = &note.remedy {
            text += &paragraph("    → ", remedy, columns);
        }
    }
    text + &paragraph("  instrument: ", &page.instrument, columns)
}

fn soak(page: &Page, columns: usize) -> String {
    let Some(soak) = &page.soak else { return String::new() };
    let mut text = heading("Soak", &soak.about);
    for trend in &soak.trends {
        let what = format!("{}: {}", trend.name, paint(trend.class.tone, trend.class.text));
        text +=
            &paragraph(&format!("  {} ", sign(trend.class)), &format!("{what} - {}", trend.text), columns);
    }
    for note in &soak.notes {
        text += &paragraph("  note: ", note, columns);
    }
    text
}

fn claims(page: &Page, columns: usize) -> String {
    if page.claims.is_empty() {
        return String::new();
    }
    let mut text = heading("Claims", "");
    for claim in &page.claims {
        text += &paragraph(&format!("  {} ", sign(claim.verdict)), &claim.text, columns);
        let word = paint(claim.verdict.tone, claim.verdict.text);
        text += &paragraph("    ", &format!("{word}: {}", claim.evidence), columns);
    }
    text
}

fn comparisons(page: &Page, columns: usize) -> String {
    if page.pairs.is_empty() {
        return String::new();
    }
    let about = format!("change with {} interval; within {} counts as equal", page.confidence, page.margin);
    let mut text = heading("Comparison", &about);
    let mut notes = Footnotes::default();
    for pair in &page.pairs {
        text += &paragraph("  ", &format!("{} against {}{}", pair.a, pair.b, pair.load), columns);
        let rows: Vec<_> = pair
            .rows
            .iter()
            .filter(|row| METRICS.contains(&row.metric))
            .map(|row| {
                let verdict = paint(row.verdict.tone, &row.verdict.both());
                let note = renumbered(&row.note, &page.pair_notes, &mut notes);
                vec![
                    row.name.to_owned(),
                    row.change.clone(),
                    row.interval.clone(),
                    format!("{verdict}{note}"),
                ]
            })
            .collect();
        let header = [("", Align::Text), ("", Align::Number), ("", Align::Number), ("", Align::Word)];
        text += &indented(&table(&header, &rows, columns - 2));
    }
    text + &footnotes(&notes, columns)
}

/// The files show the intervals and laws of each level too.
fn capacity(page: &Page, columns: usize) -> String {
    if page.capacity.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    for view in &page.capacity {
        text += &heading("Capacity", &view.name);
        for (name, found) in &view.found {
            text += &paragraph(&format!("  {name}: "), found, columns);
        }
        let header = [
            (view.axis, Align::Number),
            ("throughput", Align::Number),
            ("p95", Align::Number),
            ("errors", Align::Number),
            ("X·(R + Z)", Align::Number),
            ("bound", Align::Number),
        ];
        let rows: Vec<_> = view
            .rows
            .iter()
            .map(|(load, [throughput, _, p95, _, errors, implied, _, bound, _])| {
                [load, throughput, p95, errors, implied, bound].map(Clone::clone).to_vec()
            })
            .collect();
        text += &table(&header, &rows, columns);
    }
    text
}

/// Main effects, and the interactions that are shown, on the metrics that a terminal has room for.
fn effects(page: &Page, columns: usize) -> String {
    let Some(effects) = &page.effects else { return String::new() };
    let mut text = heading("Factors", "change against the first level; all effects are in the files");
    for factor in &effects.factors {
        text += &paragraph("  ", factor, columns);
    }
    let wanted = |row: &&EffectView| METRICS.contains(&row.metric) && (row.is_main || row.shown);
    for row in effects.rows.iter().filter(wanted) {
        let what =
            format!("{} {}: {} ({}), {}", row.name, row.what, row.change, row.interval, row.verdict.text);
        text += &paragraph(&format!("  {} ", sign(row.verdict)), &what, columns);
    }
    if effects.rows.is_empty() {
        text += &effects.notes.iter().map(|note| paragraph("  ", note, columns)).collect::<String>();
    }
    text
}

/// The files say p and blocks too.
fn layers(page: &Page, columns: usize) -> String {
    let mut text = String::new();
    for view in &page.layers {
        let about = format!("{}; {} interval", view.name, page.confidence);
        text += &heading("Layers", &about);
        for metric in &view.metrics {
            text += &paragraph("  ", metric.name, columns);
            let header = [Align::Text, Align::Number, Align::Number, Align::Word, Align::Word]
                .map(|align| ("", align));
            let row = |row: &LayerRow| {
                let answer = format!("{}{}", paint(row.answer.tone, &row.answer.both()), row.note);
                vec![row.level.clone(), row.cost.clone(), row.interval.clone(), answer, row.bar.clone()]
            };
            text += &table(&header, &metric.rows.iter().map(row).collect::<Vec<_>>(), columns);
        }
        text += &footnotes(&view.notes, columns);
    }
    text
}

fn cells(page: &Page, columns: usize) -> String {
    if page.cells.is_empty() {
        return String::new();
    }
    let mut text = heading("Cells", "centre over the valid trials; intervals are in the files");
    let header = [
        ("", Align::Text),
        ("throughput", Align::Number),
        ("p50", Align::Number),
        ("p99", Align::Number),
        ("errors", Align::Number),
        ("valid", Align::Number),
    ];
    let mut notes = Footnotes::default();
    let rows: Vec<_> = page.cells.iter().map(|cell| cell_row(cell, page, &mut notes)).collect();
    text += &table(&header, &rows, columns);
    text + &footnotes(&notes, columns)
}

/// Label, throughput, p50, p99, errors, trials: the first four of the key metrics.
fn cell_row(cell: &CellView, page: &Page, notes: &mut Footnotes) -> Vec<String> {
    let values = cell
        .values
        .iter()
        .take(4)
        .map(|value| format!("{}{}", value.center, renumbered(&value.note, &page.cell_notes, notes)));
    std::iter::once(cell.label.clone()).chain(values).chain([cell.trials_short.clone()]).collect()
}

/// Those that ended by what was seen; the page has all.
fn warm_ups(page: &Page, columns: usize) -> String {
    let mut shown = page.warm_ups.iter().filter(|cell| !cell.is_fixed).peekable();
    if shown.peek().is_none() {
        return String::new();
    }
    let mut text = heading("Warm-up", "requests per second over one trial; what is left of the bar was cut");
    for cell in shown {
        text += &paragraph("  ", &format!("{}  {}, {}", cell.line, cell.cell, cell.how), columns);
    }
    text
}

/// The page has charts of it.
fn memory(page: &Page, columns: usize) -> String {
    if page.memory.is_empty() {
        return String::new();
    }
    let mut text = heading("Memory", "the valid trial with the middle throughput");
    for line in &page.memory {
        text += &paragraph("  ", &format!("{}: {}", line.cell, line.text), columns);
    }
    text
}

fn limits(page: &Page, columns: usize) -> String {
    if page.limits.is_empty() {
        return String::new();
    }
    let mut text = heading("Limits", "what the quota did within the samples of a trial");
    for cell in &page.limits {
        let what = format!("{}: {}; {}", cell.cell, cell.limits, cell.throttling);
        text += &paragraph("  ", &what, columns);
    }
    text
}

fn findings(page: &Page, columns: usize) -> String {
    if page.findings.is_empty() {
        return String::new();
    }
    let mut text = heading("Findings", "");
    for finding in &page.findings {
        text += &paragraph(&format!("  {} ", sign(finding.level)), &finding.text, columns);
        if let Some(remedy) = &finding.remedy {
            text += &paragraph("    → ", remedy, columns);
        }
    }
    text
}

fn events(page: &Page, columns: usize) -> String {
    if page.events.is_empty() {
        return String::new();
    }
    let mut text = heading("Events", "medians over the trials");
    for event in &page.events {
        let [before, worst, tail_before, tail_worst, lost, silent, recovered] = &event.values;
        let what = format!(
            "{} in {}: throughput {before} → {worst}, p99 {tail_before} → {tail_worst}, requests lost {lost}, no \
             answer for {silent}, recovered {recovered}",
            event.name, event.cell
        );
        text += &paragraph("  ", &what, columns);
        for error in &event.errors {
            text += &paragraph("    could not be carried out: ", error, columns);
        }
    }
    text
}

fn trials(page: &Page, columns: usize) -> String {
    let mut text = heading("Trials", &page.trials_line);
    for trial in page.trials.iter().filter(|trial| !trial.valid) {
        let what =
            format!("trial {}, block {}, {}: {}", trial.id, trial.block, trial.cell, trial.outcome.text);
        text += &paragraph(&format!("  {} ", sign(trial.outcome)), &what, columns);
        for reason in &trial.reasons {
            text += &paragraph("    ", reason, columns);
        }
    }
    text
}

fn closing(page: &Page, columns: usize) -> String {
    paragraph("", &format!("Run folder {}", page.run), columns)
        + "  open report.html   charts, all metrics, environment, how to reproduce\n"
        + "       report.md     the same without charts\n"
        + "       results.csv   one row a trial\n"
}

fn heading(title: &str, about: &str) -> String {
    match about {
        "" => format!("{}\n", paint(Tone::Strong, title)),
        _ => format!("{}  {}\n", paint(Tone::Strong, title), paint(Tone::Quiet, about)),
    }
}

fn sign(word: Word) -> String {
    paint(word.tone, word.sign)
}

/// Paints each line by itself, after wrapping.
fn painted_lines(tone: Tone, text: &str) -> String {
    text.lines().map(|line| paint(tone, line) + "\n").collect()
}

/// The page numbers footnotes over all metrics; here only those that are shown get a number.
fn renumbered(sign: &str, all: &Footnotes, shown: &mut Footnotes) -> String {
    all.numbered().find(|(known, _)| known == sign).map_or_else(String::new, |(_, text)| shown.sign(text))
}

fn footnotes(notes: &Footnotes, columns: usize) -> String {
    notes.numbered().map(|(sign, text)| paragraph(&format!("  {sign} "), text, columns)).collect()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
