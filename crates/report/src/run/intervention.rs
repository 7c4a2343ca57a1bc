//! What `prony intervene` prints: the experiment that it proposes, and what came of it.
//!
//! Invariant: names and texts may come from targets and are cleaned.

use crate::clean;
use crate::terminal::layout;
use crate::terminal::paint::{Tone, finish, paint};
use crate::{Style, format};
use schema::finding::{Finding, Intervention};
use schema::intervention::{InterventionFile, InterventionVerdict};

/// The experiment before it is run. `run` is the folder as the user named it.
#[must_use]
pub fn intervention_proposal(
    finding: &Finding,
    tried: &Intervention,
    prediction: &str,
    (trials, blocks): (usize, u32),
    run: &str,
    style: Style,
) -> String {
    let command = format!(
        "prony intervene {} --cell {} --cause {} --go",
        clean::line(run),
        clean::line(&finding.cell),
        finding.cause.key()
    );
    let decided = format!(
        "{} in {}; \"because\" needs the whole interval beyond the prediction",
        format::counted(trials as u64, "trial"),
        format::counted(u64::from(blocks), "block")
    );
    lines(
        &[
            ("finding   ", clean::line(&finding.text)),
            ("change    ", clean::line(&tried.text)),
            ("predicted ", clean::line(prediction)),
            ("decided by ", decided),
            ("run it    ", command),
        ],
        style,
    )
}

/// What came of it. `page` is the report of the run that tried it.
#[must_use]
pub fn intervention_text(answer: &InterventionFile, page: &str, style: Style) -> String {
    let numbers = match (answer.ratio, answer.low, answer.high) {
        (Some(ratio), Some(low), Some(high)) => format!(
            "{} times, interval {} to {}",
            format::ratio(ratio),
            format::ratio(low),
            format::ratio(high)
        ),
        _ => format!(
            "no interval: {}",
            clean::line(answer.refused.as_deref().unwrap_or("too few valid trials"))
        ),
    };
    let (cause, cell) = (answer.cause.words(), clean::line(&answer.cell));
    let verdict = match answer.verdict {
        InterventionVerdict::Holds => {
            paint(Tone::Good, &format!("because: it is {cause} that held {cell} back"))
        }
        InterventionVerdict::DoesNotHold => {
            paint(Tone::Bad, &format!("not confirmed: {cause} does not hold {cell} back, or not this much"))
        }
        InterventionVerdict::Inconclusive => paint(Tone::Warn, "inconclusive: run more blocks (--blocks)"),
    };
    let told =
        [("predicted ", clean::line(&answer.prediction)), ("measured  ", numbers), ("answer    ", verdict)];
    lines(&told, style) + &format!("{}\n", clean::line(page))
}

fn lines(told: &[(&str, String)], style: Style) -> String {
    let text: String =
        told.iter().map(|(head, text)| layout::paragraph(head, text, style.columns())).collect();
    finish(&text, style)
}
