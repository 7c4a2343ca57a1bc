//! What `prony doctor --diff` prints, and what heads a comparison across runs: in what two environments differ.

use crate::terminal::layout::paragraph;
use crate::terminal::paint::{Tone, finish, paint};
use crate::words::severity;
use crate::{Style, clean, format};
use schema::environment::{Difference, EnvironmentDiff, Weight};
use schema::said::Said;

/// The differences by what they do to a comparison, as text of `style.width` columns.
#[must_use]
pub fn environment_text(diff: &EnvironmentDiff, style: Style) -> String {
    let columns = style.columns();
    let mut text = paragraph("a: ", &clean::line(&diff.a), columns);
    text += &paragraph("b: ", &clean::line(&diff.b), columns);
    for (weight, heading) in [
        (Weight::Decisive, "These move the numbers: comparing a with b measures them too"),
        (Weight::Possible, "These can move the numbers of some loads"),
        (Weight::Unknown, "These are not known on one side"),
    ] {
        let of: Vec<&Difference> = diff.differences.iter().filter(|found| found.weight == weight).collect();
        if !of.is_empty() {
            text += &format!("\n{}\n", paint(Tone::Strong, heading));
            of.iter().for_each(|found| text += &difference(found, columns));
        }
    }
    if !diff.versions.is_empty() {
        text += &format!("\n{}\n", paint(Tone::Strong, "Versions"));
        for version in &diff.versions {
            let line = format!("{}: {} → {}", version.name, version.a, version.b);
            text += &paragraph("  ", &clean::line(&line), columns);
        }
    }
    text += &format!("\n{}\n", closing(diff));
    finish(&text, style)
}

fn difference(found: &Difference, columns: usize) -> String {
    let word = severity(found.severity);
    let value = |value: &Option<Said>| value.as_deref().map_or("unknown".to_owned(), clean::line);
    let line = format!("{}: {} → {}", clean::line(&found.title), value(&found.a), value(&found.b));
    let mut text = paragraph(&format!("  {} ", paint(word.tone, word.sign)), &line, columns);
    if found.weight != Weight::Unknown {
        text += &paragraph("      ", &clean::line(&found.effect), columns);
    }
    text
}

fn closing(diff: &EnvironmentDiff) -> String {
    let same = format!("{} the same in both", format::counted(diff.same.into(), "fact"));
    match diff.differences.len() {
        0 => format!("{same}, none differs"),
        several => format!("{same}, {several} not"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::doctor::{Bearing, Severity};
    use schema::environment::VersionDifference;

    fn found(title: &str, values: [Option<&str>; 2], severity: Severity, weight: Weight) -> Difference {
        Difference {
            id: title.to_lowercase(),
            title: title.into(),
            a: values[0].map(Into::into),
            b: values[1].map(Into::into),
            severity,
            bearing: Bearing::Numbers,
            weight,
            effect: "it \u{1b}[31mmatters".into(),
        }
    }

    #[test]
    fn differences_are_grouped_by_weight_and_nothing_foreign_gets_through() {
        let diff = EnvironmentDiff {
            a: "2026-11-21-demo".into(),
            b: "this host now".into(),
            differences: vec![
                found(
                    "Governor",
                    [Some("performance"), Some("power\u{1b}save")],
                    Severity::Warning,
                    Weight::Decisive,
                ),
                found("Local ports", [Some("1"), Some("2")], Severity::Note, Weight::Possible),
                found("Microcode", [None, Some("0x1")], Severity::Note, Weight::Unknown),
            ],
            versions: vec![VersionDifference { name: "prony".into(), a: "1".into(), b: "2".into() }],
            same: 30,
            ..EnvironmentDiff::default()
        };
        let text = environment_text(&diff, Style::PLAIN);
        assert!(!text.contains('\u{1b}'), "{text}");
        insta::assert_snapshot!(text, @"
        a: 2026-11-21-demo
        b: this host now

        These move the numbers: comparing a with b measures them too
          ! Governor: performance → power�save
              it �[31mmatters

        These can move the numbers of some loads
          · Local ports: 1 → 2
              it �[31mmatters

        These are not known on one side
          · Microcode: unknown → 0x1

        Versions
          prony: 1 → 2

        30 facts the same in both, 3 not
        ");
        let none = EnvironmentDiff { same: 1, ..EnvironmentDiff::default() };
        assert!(environment_text(&none, Style::PLAIN).ends_with("1 fact the same in both, none differs\n"));
    }
}
