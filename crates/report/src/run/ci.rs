//! The answer of `prony ci`, for the terminal and as Markdown for a comment.
//!
//! Invariants: the first line of the Markdown is [`MARK`] in every run, so that a comment can be found and replaced;
//! references and subjects of commits are foreign text and act as nothing.

use crate::clean::{self, markdown as prose, markdown_code as code};
use crate::run::markdown::table as markdown_table;
use crate::terminal::layout::{Align, paragraph, table};
use crate::terminal::paint::{Tone, finish, paint};
use crate::words::{self, Word};
use crate::{Style, format};
use schema::analysis::{Basis, Verdict};
use schema::ci::{CiChange, CiCommit, CiFile, CiVerdict};
use schema::metric::Metric;

/// By which a comment is known again.
const MARK: &str = "<!-- prony ci -->";
/// Metrics that are shown whether they decide or not.
const SHOWN: [Metric; 5] =
    [Metric::Throughput, Metric::P50, Metric::P99, Metric::ErrorRate, Metric::CpuPerRequest];
/// Reservations that are shown.
const RESERVATIONS: usize = 3;

/// The answer as a sentence.
const fn sentence(verdict: CiVerdict) -> Word {
    match verdict {
        CiVerdict::Worse => Word::new("✗", "head is worse than base", Tone::Bad),
        CiVerdict::NoWorse => Word::new("✓", "head is not worse than base", Tone::Good),
        CiVerdict::Inconclusive => {
            Word::new("?", "whether head is worse than base is not decided", Tone::Warn)
        }
        CiVerdict::Void => Word::new("–", "these numbers must not be used", Tone::Warn),
    }
}

/// The answer for a terminal; `folder` is the run's.
#[must_use]
pub fn ci_text(found: &CiFile, folder: &str, style: Style) -> String {
    let columns = style.columns();
    let answer = sentence(found.verdict);
    let mut text = format!("{}: {}\n", clean::line(&found.experiment), paint(answer.tone, &answer.both()));
    for (side, commit) in [("head", &found.head), ("base", &found.base)] {
        text += &paragraph(&format!("  {side}  "), &clean::line(&commit_words(commit)), columns);
    }
    text += "\n";
    let header = [
        ("", Align::Text),
        ("base", Align::Number),
        ("head", Align::Number),
        ("change", Align::Number),
        ("interval", Align::Number),
        ("", Align::Word),
    ];
    let row = |change: &CiChange| {
        let [base, head, by, interval] = numbers(change);
        vec![name(change, clean::line), base, head, by, interval, verdict(change).both()]
    };
    let rows: Vec<Vec<String>> = shown(found).map(row).collect();
    text += &table(&header, &rows, columns);
    text += "\n";
    for claim in &found.claims {
        let answer = words::claim(claim.verdict);
        let line = format!("{}: {}", clean::line(&claim.text), clean::line(&claim.evidence));
        text += &paragraph(&format!("  {} ", answer.sign), &line, columns);
    }
    text += &paragraph("\n", &belief(found), columns);
    for reservation in found.reservations.iter().take(RESERVATIONS) {
        text += &paragraph("  ! ", &clean::line(reservation), columns);
    }
    finish(&format!("{text}{}\n", clean::line(folder)), style)
}

/// The answer as a comment in GitHub's dialect.
#[must_use]
pub fn ci_markdown(found: &CiFile) -> String {
    let answer = sentence(found.verdict);
    let mut text = format!("{MARK}\n### {} {}: {}\n\n", answer.sign, code(&found.experiment), answer.text);
    for (side, commit) in [("head", &found.head), ("base", &found.base)] {
        let short = code(short(commit));
        text += &format!("- {side}: {} {short} {}\n", code(&commit.reference), prose(&commit.subject));
    }
    text.push('\n');
    let interval = format!("{} interval", format::chosen_percent(found.confidence));
    let header = ["", "base", "head", "change", &interval, ""];
    let row = |change: &CiChange| {
        let [base, head, by, interval] = numbers(change);
        vec![name(change, prose), base, head, by, interval, verdict(change).both()]
    };
    text += &markdown_table(&header, "lrrrrl", shown(found).map(row));
    text += "\n<details>\n<summary>What decides, and what speaks against the numbers</summary>\n\n";
    for claim in &found.claims {
        let answer = words::claim(claim.verdict);
        text += &format!("- {} {}: {}\n", answer.both(), prose(&claim.text), prose(&claim.evidence));
    }
    for reservation in &found.reservations {
        text += &format!("- ! {}\n", prose(reservation));
    }
    text + &format!("\n</details>\n\n{} Run {}.\n", prose(&belief(found)), code(&found.run))
}

/// How much the numbers rest on.
fn belief(found: &CiFile) -> String {
    let trials = format::counted(found.trials_valid.into(), "valid trial");
    format!("{trials} in turns on one host. Can they be believed? {}.", words::belief(found.belief).text)
}

/// The changes that a reader wants: the usual metrics, and all that is shown to be worse.
fn shown(found: &CiFile) -> impl Iterator<Item = &CiChange> {
    let claimed = |change: &CiChange| {
        found.claims.iter().filter_map(|claim| claim.metric.as_ref()?.named()).any(|it| it == change.metric)
    };
    found.changes.iter().filter(move |change| {
        let has_value = change.base.is_some() || change.head.is_some();
        has_value && (SHOWN.contains(&change.metric) || claimed(change) || change.verdict == Verdict::Slower)
    })
}

fn name(change: &CiChange, escaped: impl Fn(&str) -> String) -> String {
    match change.load.as_str() {
        "" => change.metric.title().to_owned(),
        load => format!("{}, {}", change.metric.title(), escaped(load)),
    }
}

/// Base, head, change and its interval.
fn numbers(change: &CiChange) -> [String; 4] {
    let none = || "–".to_owned();
    let value = |value: Option<f64>| value.map_or_else(none, |value| format::value(change.unit, value));
    let [by, interval] = match change.basis {
        Basis::Ratio => format::changes(change.change, change.interval.as_ref()),
        Basis::Difference => [
            change.change.map_or_else(none, |by| format::difference(change.unit, by)),
            change.interval.as_ref().map_or_else(none, |ends| format::difference_interval(change.unit, ends)),
        ],
    };
    [value(change.base), value(change.head), by, interval]
}

const fn verdict(change: &CiChange) -> Word {
    words::verdict(change.verdict, change.metric)
}

fn short(commit: &CiCommit) -> &str {
    commit.commit.get(..12).unwrap_or(&commit.commit)
}

fn commit_words(commit: &CiCommit) -> String {
    format!("{} {} {}", commit.reference, short(commit), commit.subject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::analysis::{BeliefLevel, ClaimResult, ClaimVerdict, Interval};
    use schema::version::CiVersion;

    fn found(subject: &str) -> CiFile {
        let commit = |reference: &str, subject: &str| CiCommit {
            reference: reference.to_owned(),
            commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            subject: subject.to_owned(),
        };
        let change = |metric: Metric, verdict: Verdict| CiChange {
            load: String::new(),
            metric,
            unit: metric.unit(),
            base: Some(1000.0),
            head: Some(900.0),
            basis: Basis::Ratio,
            change: Some(0.9),
            interval: Some(Interval { low: Some(0.88), high: Some(0.92) }),
            verdict,
        };
        CiFile {
            schema: CiVersion::default(),
            run: "2026-shop".to_owned(),
            experiment: "shop".to_owned(),
            verdict: CiVerdict::Worse,
            base: commit("main", "before"),
            head: commit("HEAD", subject),
            claims: vec![ClaimResult {
                text: "Throughput of head is not worse".to_owned(),
                verdict: ClaimVerdict::DoesNotHold,
                evidence: "0.9".to_owned().into(),
                kind: "no_worse".to_owned(),
                metric: None,
                unit: None,
                ratio: Some(0.9),
                value: None,
                interval: None,
                id: None,
                published: None,
            }],
            changes: vec![
                change(Metric::Throughput, Verdict::Slower),
                change(Metric::P90, Verdict::Inconclusive),
                change(Metric::Memory, Verdict::Slower),
            ],
            belief: BeliefLevel::WithReservations,
            reservations: vec!["the host was busy".to_owned().into()],
            trials_valid: 16,
            confidence: 0.95,
        }
    }

    #[test]
    fn a_comment_says_the_answer_first_and_is_found_again() {
        let text = ci_markdown(&found("after"));
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(MARK));
        assert_eq!(lines.next(), Some("### ✗ `shop`: head is worse than base"));
        for part in [
            "| Throughput | 1,000/s | 900/s | −10.0 %",
            "| Memory |",
            "`0123456789ab` after",
            "the host was busy",
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
        assert!(!text.contains("p90"), "what nobody asked for and nothing shows:\n{text}");
    }

    #[test]
    fn foreign_text_acts_as_nothing() {
        let hostile = "</details> <img src=x> | `a` \u{1b}[31m @all";
        let text = ci_markdown(&found(hostile));
        assert_eq!(text.matches("</details>").count(), 1, "{text}");
        assert!(!text.replace("\\<", "").contains("<img") && !text.contains('\u{1b}'), "{text}");
        let text = ci_text(&found(hostile), "runs/x", Style::PLAIN);
        assert!(!text.contains('\u{1b}') && text.contains("head is worse than base"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
