//! The report of a run for a terminal: the answer with the ranking below it, whether it may be believed, claims,
//! comparisons, trials.
//!
//! Invariant: the first screen is for reading at a glance, so a reservation has one line there and its remedy is printed
//! on request only; what forbids the use of the numbers is always printed whole. Without a valid trial there are no tables
//! of dashes, and trials that ended alike share a line.

use crate::run::effects::EffectView;
use crate::run::layers::LayerRow;
use crate::run::page::{ClaimView, NoteView, Page, TrialView};
use crate::run::ranking::{COLUMNS, LoadView, RankView};
use crate::terminal::layout::{Align, paragraph, table};
use crate::terminal::paint::{Tone, finish, paint};
use crate::words::{Footnotes, Word};
use crate::{Style, clean, format};
use schema::analysis::AnalysisFile;
use schema::metric::Metric;
use schema::run::RunFile;

/// The metrics that a terminal has room for; the files show all of them.
const METRICS: [Metric; 3] = [Metric::Throughput, Metric::P50, Metric::P99];

/// Whether the reservations have their whole text and their remedies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notes {
    InShort,
    Explained,
}

/// The report as text of `style.width` columns; the last lines name the files to open.
#[must_use]
pub fn terminal(run: &RunFile, analysis: &AnalysisFile, style: Style) -> String {
    text(run, analysis, style, Notes::InShort)
}

/// The same with each reservation in full and what would cure it.
#[must_use]
pub fn explained(run: &RunFile, analysis: &AnalysisFile, style: Style) -> String {
    text(run, analysis, style, Notes::Explained)
}

fn text(run: &RunFile, analysis: &AnalysisFile, style: Style, notes: Notes) -> String {
    let page = Page::new(run, analysis);
    let columns = style.columns();
    let sections = [
        opening(&page, columns),
        ranking(&page, columns),
        soak(&page, columns),
        belief(&page, notes, columns),
        claims(&page, columns),
        thresholds(&page, columns),
        comparisons(&page, columns),
        agents(&page, columns),
        capacity(&page, columns),
        effects(&page, columns),
        layers(&page, columns),
        warm_ups(&page, columns),
        memory(&page, columns),
        limits(&page, columns),
        findings(&page, notes, columns),
        events(&page, columns),
        trials(&page, notes, columns),
        closing(&page, notes, columns),
    ];
    finish(&sections.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"), style)
}

fn opening(page: &Page, columns: usize) -> String {
    paragraph("", &page.question, columns)
        + &painted_lines(Tone::Strong, &paragraph("", &page.answer, columns))
}

fn belief(page: &Page, notes: Notes, columns: usize) -> String {
    let belief = &page.belief;
    let verdict = paint(belief.level.tone, belief.level.text);
    let mut text = format!("{} {verdict}.\n", paint(Tone::Strong, "Can these numbers be believed?"));
    let is_whole = |note: &&NoteView| notes == Notes::Explained || note.level.tone == Tone::Bad;
    let is_short = |note: &&NoteView| !is_whole(note) && note.is_against;
    text += &belief.notes.iter().filter(is_whole).map(|note| whole_note(note, columns)).collect::<String>();
    text += &belief.notes.iter().filter(is_short).map(|note| short_note(note, columns)).collect::<String>();
    let kept = belief.notes.iter().filter(|note| !is_whole(note) && !note.is_against).count() as u64;
    if kept > 0 {
        let found = format!("{} found nothing against them", format::counted(kept, "check"));
        text += &paragraph(&format!("  {} ", paint(Tone::Good, "✓")), &found, columns);
    }
    let first = "  instrument: ";
    text + &match notes {
        Notes::Explained => paragraph(first, &page.instrument, columns),
        Notes::InShort => one_line(first, first.len(), &page.instrument, columns),
    }
}

fn whole_note(note: &NoteView, columns: usize) -> String {
    let text = paragraph(&format!("  {} ", sign(note.level)), &note.text, columns);
    note.remedy.iter().fold(text, |text, remedy| text + &paragraph("    → ", remedy, columns))
}

/// One line, whatever does not fit is cut.
fn short_note(note: &NoteView, columns: usize) -> String {
    let about = format!("{:<6}", note.about.word());
    let first = format!("  {} {}  ", sign(note.level), paint(Tone::Quiet, &about));
    one_line(&first, 4 + about.len() + 2, &note.text, columns)
}

/// `text` behind `first`, which takes `taken` columns, cut where the line ends.
fn one_line(first: &str, taken: usize, text: &str, columns: usize) -> String {
    format!("{first}{}\n", clean::cut(text, columns.saturating_sub(taken)))
}

/// One table a load, best first; below each value how far its interval reaches.
fn ranking(page: &Page, columns: usize) -> String {
    let ranking = &page.ranking;
    if ranking.loads.iter().all(|load| load.rows.is_empty()) || !page.has_valid_trials() {
        return String::new();
    }
    let about = format!("{}; ± is the {} interval over the trials", ranking.order, page.confidence);
    let mut text = heading("Ranking", &about);
    let table_of = |load: &LoadView| {
        let name = if load.name.is_empty() { String::new() } else { paragraph("  ", &load.name, columns) };
        let header = std::iter::once(("", Align::Text));
        let header: Vec<_> = header.chain(COLUMNS.map(|(name, _)| (name, Align::Number))).collect();
        let rows: Vec<_> = load.rows.iter().flat_map(ranked_rows).collect();
        name + &table(&header, &rows, columns)
    };
    text += &ranking.loads.iter().map(table_of).collect::<String>();
    text + &footnotes(&ranking.notes, columns)
}

/// The values, and below them the bar and the half-widths.
fn ranked_rows(row: &RankView) -> [Vec<String>; 2] {
    let values = row.values.iter().map(|value| format!("{}{}", value.center, value.note));
    let widths = row.values.iter().map(|value| match value.half_width.as_str() {
        "" => String::new(),
        width => paint(Tone::Quiet, width),
    });
    [
        std::iter::once(row.name.clone()).chain(values).collect(),
        std::iter::once(row.bar.clone()).chain(widths).collect(),
    ]
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
    answers("Claims", "", &page.claims, columns)
}

fn thresholds(page: &Page, columns: usize) -> String {
    answers("Thresholds", "one trial or window that crosses is enough", &page.thresholds, columns)
}

fn answers(name: &str, about: &str, views: &[ClaimView], columns: usize) -> String {
    if views.is_empty() {
        return String::new();
    }
    let mut text = heading(name, about);
    for claim in views {
        text += &paragraph(&format!("  {} ", sign(claim.verdict)), &claim.text, columns);
        let word = paint(claim.verdict.tone, claim.verdict.text);
        text += &paragraph("    ", &format!("{word}: {}", claim.evidence), columns);
    }
    text
}

fn comparisons(page: &Page, columns: usize) -> String {
    if page.pairs.is_empty() || !page.has_valid_trials() {
        return String::new();
    }
    let about = format!("change with {} interval; within {} counts as equal", page.confidence, page.margin);
    let mut text = heading("Comparison", &about);
    if !page.family.is_empty() {
        text += &paragraph("  ", &page.family, columns);
    }
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

/// The files show each agent.
fn agents(page: &Page, columns: usize) -> String {
    if page.agents_compared.is_empty() {
        return String::new();
    }
    heading("Agents of the fleet", "each against the others")
        + &paragraph("  ", &page.agents_compared, columns)
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

fn findings(page: &Page, notes: Notes, columns: usize) -> String {
    if page.findings.is_empty() {
        return String::new();
    }
    let mut text = heading("Findings", "");
    for finding in &page.findings {
        if notes == Notes::InShort {
            text += &one_line(&format!("  {} ", sign(finding.level)), 4, &finding.text, columns);
            continue;
        }
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

fn trials(page: &Page, notes: Notes, columns: usize) -> String {
    let mut text = heading("Trials", &page.trials_line);
    if notes == Notes::InShort {
        return text + &alike(page).iter().map(|trials| short_trials(trials, columns)).collect::<String>();
    }
    for trial in page.trials.iter().filter(|trial| !trial.valid) {
        text += &paragraph(&format!("  {} ", sign(trial.outcome)), &of_trial(trial), columns);
        for reason in &trial.reasons {
            text += &paragraph("    ", reason, columns);
        }
    }
    text
}

/// The trials that are not valid, those together that ended alike.
fn alike(page: &Page) -> Vec<Vec<&TrialView>> {
    let mut groups: Vec<Vec<&TrialView>> = Vec::new();
    for trial in page.trials.iter().filter(|trial| !trial.valid) {
        let is_alike = |group: &&mut Vec<&TrialView>| {
            (&group[0].kind, group[0].outcome.text) == (&trial.kind, trial.outcome.text)
        };
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(trial),
            None => groups.push(vec![trial]),
        }
    }
    groups
}

/// One line; of several that ended alike the reason of the first.
fn short_trials(trials: &[&TrialView], columns: usize) -> String {
    let Some(first) = trials.first() else { return String::new() };
    let which = match trials {
        [one] => of_trial(one),
        all => {
            let ids: Vec<u32> = all.iter().map(|trial| trial.id).collect();
            format!("{} trials {} ({})", all.len(), first.outcome.text, format::ranges(&ids))
        }
    };
    let what = format!("{which}: {}", first.reasons.join("; "));
    one_line(&format!("  {} ", sign(first.outcome)), 4, &what, columns)
}

fn of_trial(trial: &TrialView) -> String {
    format!("trial {}, block {}, {}: {}", trial.id, trial.block, trial.cell, trial.outcome.text)
}

fn closing(page: &Page, notes: Notes, columns: usize) -> String {
    let explain = match notes {
        Notes::InShort => "  full sentences and remedies: prony report RUN --explain\n",
        Notes::Explained => "",
    };
    paragraph("", &format!("Run folder {}", page.run), columns)
        + "  report.html: charts, all metrics, how to reproduce; report.md; results.csv\n"
        + explain
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
    all.numbered().find(|(known, _)| known == sign).map_or_else(String::new, |(_, text)| shown.sign(&text))
}

fn footnotes(notes: &Footnotes, columns: usize) -> String {
    notes.numbered().map(|(sign, text)| paragraph(&format!("  {sign} "), &text, columns)).collect()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
