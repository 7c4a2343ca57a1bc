//! `prony plan` for the terminal.

use crate::terminal::layout::{Align, paragraph, table};
use crate::terminal::paint::{Tone, finish, paint};
use crate::{Style, clean, format};
use schema::advice::{AdviceFile, AdviceRow, BlocksAdvice};

/// What the experiment needs and can show, as text of `style.width` columns.
#[must_use]
pub fn advice_text(advice: &AdviceFile, style: Style) -> String {
    let columns = style.columns();
    let mut text = format!("{}\n", paint(Tone::Strong, &clean::line(&advice.experiment)));
    let runs: Vec<String> = advice.runs.iter().map(|run| clean::line(run)).collect();
    let shown = runs.iter().rev().take(3).rev().cloned().collect::<Vec<_>>().join(", ");
    let more = if runs.len() > 3 { format!("{} runs, the last: ", runs.len()) } else { String::new() };
    text += &paragraph("  from ", &format!("{more}{shown}"), columns);
    text += "\n";
    text += &answers(advice, columns);
    text += &rows(advice, columns);
    let trial = format::nanos(advice.trial_ns);
    let how = if advice.trial_is_measured { "as measured, with start and stop" } else { "by its phases" };
    text += &paragraph("  ", &format!("A trial takes {trial} ({how})."), columns);
    if let Some(samples) = advice.samples.as_ref().filter(|samples| samples.best != samples.own) {
        let line = format!(
            "{} in a trial would give the narrowest interval for the time spent, the file has {} ({}).",
            format::counted(samples.best.into(), "sample"),
            samples.own,
            clean::line(&samples.of)
        );
        text += &paragraph("  ", &line, columns);
    }
    text += &levels(advice, columns);
    for note in &advice.notes {
        text += &paragraph("  note: ", &clean::line(note), columns);
    }
    finish(&text, style)
}

/// Where the spread comes from over runs, and what repeating each level is worth.
fn levels(advice: &AdviceFile, columns: usize) -> String {
    let Some(levels) = &advice.levels else { return String::new() };
    let spread = format!(
        "Spread of {} by level: runs {}, trials {}, samples {} ({} of {} of {}); one more costs {}{}, {} and {}.",
        clean::line(&levels.of),
        format::percent(levels.run_cv),
        format::percent(levels.trial_cv),
        format::percent(levels.sample_cv),
        format::counted(levels.runs_seen.into(), "run"),
        format::counted(levels.trials_seen.into(), "trial"),
        format::counted(levels.samples_seen.into(), "sample"),
        format::duration(levels.run_ns),
        if levels.run_is_measured { "" } else { " (taken for a trial's)" },
        format::duration(levels.trial_ns),
        format::duration(levels.sample_ns),
    );
    let time = levels.time_ns.map_or(String::new(), |ns| format!(" (about {})", format::nanos(ns)));
    paragraph("  ", &spread, columns)
        + &paragraph("  ", &format!("{}{time}.", upper(&clean::line(&levels.how))), columns)
}

/// With a capital letter, as a sentence begins.
fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The sentences that are asked for.
fn answers(advice: &AdviceFile, columns: usize) -> String {
    let wanted = &advice.wanted;
    let none = "unknown, see below".to_owned();
    let cost = |cost: &Option<BlocksAdvice>| cost.as_ref().map_or(none.clone(), blocks);
    let level = format::chosen_percent(wanted.confidence);
    let alone = advice.for_difference_alone.filter(|alone| Some(*alone) != advice.for_difference);
    let alone = alone.map_or(String::new(), |alone| {
        format!(" A single comparison would need {}.", format::counted(alone.blocks.into(), "block"))
    });
    let mut lines = vec![
        format!(
            "For intervals of ± {} ({level}): {}.",
            format::chosen_percent(wanted.precision),
            cost(&advice.for_precision)
        ),
        format!(
            "To find a difference of {} with a chance of {}: {}.{alone}",
            format::chosen_percent(wanted.difference),
            format::chosen_percent(wanted.power),
            cost(&advice.for_difference)
        ),
    ];
    if let Some(margin) =
        wanted.margin.filter(|_| advice.rows.iter().any(|row| row.equivalence_power.is_some()))
    {
        lines.push(format!(
            "To show equal targets to be equivalent within {} with a chance of {}: {}.",
            format::chosen_percent(margin),
            format::chosen_percent(wanted.power),
            cost(&advice.for_equivalence)
        ));
    }
    lines.push(format!("The file itself: {}.", blocks(&advice.own)));
    lines.extend(advice.family.as_ref().map(|family| format!("{}.", clean::line(&family.text))));
    lines.iter().map(|line| paragraph("  ", line, columns)).collect::<String>() + "\n"
}

fn blocks(cost: &BlocksAdvice) -> String {
    format!(
        "{} ({}, about {})",
        format::counted(cost.blocks.into(), "block"),
        format::counted(cost.trials, "trial"),
        format::nanos(cost.time_ns)
    )
}

fn rows(advice: &AdviceFile, columns: usize) -> String {
    let header = [
        ("", Align::Text),
        ("blocks seen", Align::Number),
        ("spread", Align::Number),
        ("± here", Align::Number),
        ("smallest", Align::Number),
        ("alone", Align::Number),
        ("for ±", Align::Number),
        ("to find", Align::Number),
        ("equal", Align::Number),
    ];
    let told: Vec<&AdviceRow> = advice.rows.iter().filter(|row| row.refused.is_none()).collect();
    let share = |value: Option<f64>| value.map_or("-".to_owned(), format::percent);
    let number = |value: Option<u32>| value.map_or("none".to_owned(), |blocks| format::count(blocks.into()));
    let cells: Vec<Vec<String>> = told
        .iter()
        .map(|row| {
            vec![
                clean::line(&row.what),
                row.blocks_seen.to_string(),
                share(row.sd),
                share(row.half_width),
                share(row.smallest_difference),
                share(row.smallest_difference_alone),
                number(row.blocks_for_precision),
                number(row.blocks_for_difference),
                if row.equivalence_power.is_some() {
                    number(row.blocks_for_equivalence)
                } else {
                    "-".to_owned()
                },
            ]
        })
        .collect();
    let mut text = String::new();
    if !cells.is_empty() {
        text += &table(&header, &cells, columns);
        let legend = "spread: standard deviation between blocks; ± here, smallest: half-width, and smallest difference \
                      found with the wanted chance, at the file's own number of blocks; alone: what a single comparison \
                      would find; for ±, to find, equal: blocks needed, the last to show equal targets to be equivalent. \
                      All but the spread itself rest on its upper limit (80 % assurance).";
        text += &format!("\n{}", paragraph("  ", legend, columns));
    }
    for row in advice.rows.iter().filter(|row| row.refused.is_some()) {
        let reason = row.refused.as_deref().unwrap_or_default();
        let line = format!("{}: {}", clean::line(&row.what), clean::line(reason));
        text += &paragraph("  refused ", &line, columns);
    }
    text
}
