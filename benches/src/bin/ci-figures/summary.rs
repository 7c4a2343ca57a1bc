//! What the rows say together.
//!
//! Invariant: every run counts in its share, whatever became of it: one without a verdict is no alarm and finds nothing.

use crate::binomial::interval;
use crate::row::{Kind, Row};
use analyze::stats::order::median;
use comfy_table::Table;
use comfy_table::presets::NOTHING;
use schema::analysis::ClaimVerdict;
use schema::ci::CiVerdict;

/// One run, for the eye.
pub(crate) fn line(row: &Row) -> String {
    let count = |count: Option<u32>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    format!(
        "{:<7} {:<11} {:5.1} s, {} blocks, {} of {} trials void, speed {}, cpu {}",
        row.kind.name(),
        word(row.verdict),
        row.seconds,
        count(row.blocks),
        count(row.void_trials),
        count(row.trials),
        change([row.speed_change, row.speed_low, row.speed_high]),
        change([row.cpu_change, row.cpu_low, row.cpu_high]),
    )
}

fn change(of: [Option<f64>; 3]) -> String {
    let [value, low, high] = of.map(|part| part.map_or_else(|| "?".to_owned(), |part| format!("{part:.3}")));
    format!("{value} [{low}, {high}]")
}

const fn word(verdict: Option<CiVerdict>) -> &'static str {
    match verdict {
        Some(CiVerdict::Worse) => "worse",
        Some(CiVerdict::NoWorse) => "not worse",
        Some(CiVerdict::Inconclusive) => "not decided",
        Some(CiVerdict::Void) => "void",
        None => "no answer",
    }
}

fn answered<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    rows.iter().copied().filter(|row| row.is_answered()).collect()
}

/// Both shares with their exact intervals, and the counts behind them.
pub(crate) fn text(rows: &[Row]) -> String {
    let (equal, planted) = (of(rows, Kind::Equal), of(rows, Kind::Planted));
    let shares = [
        share(&equal, "false alarms", "equal runs", "at most 5 % wanted"),
        share(&planted, "found", "planted runs", "at least 80 % wanted"),
        share(&answered(&equal), "false alarms", "equal runs that were not void", "at most 5 % wanted"),
        share(&answered(&planted), "found", "planted runs that were not void", "at least 80 % wanted"),
    ];
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header([
        "kind",
        "runs",
        "worse",
        "by speed",
        "by cpu",
        "not worse",
        "not decided",
        "void",
        "no answer",
        "median s",
        "median blocks",
        "void trials",
        "speed",
        "cpu",
    ]);
    table.add_row(counts(&equal, Kind::Equal));
    table.add_row(counts(&planted, Kind::Planted));
    format!("{}\n{table}\n", shares.join("\n"))
}

fn of(rows: &[Row], kind: Kind) -> Vec<&Row> {
    rows.iter().filter(|row| row.kind == kind).collect()
}

fn share(rows: &[&Row], name: &str, of: &str, wanted: &str) -> String {
    let (count, runs) = (rows.iter().filter(|row| row.is_alarm()).count(), rows.len());
    let (low, high) = interval(count as u64, runs as u64);
    let share = 100.0 * count as f64 / runs.max(1) as f64;
    format!(
        "{name}: {count} of {runs} {of}, {share:.1} % (exact 95 % interval {:.1} to {:.1} %; {wanted})",
        100.0 * low,
        100.0 * high
    )
}

fn counts(rows: &[&Row], kind: Kind) -> Vec<String> {
    let with =
        |verdict: Option<CiVerdict>| rows.iter().filter(|row| row.verdict == verdict).count().to_string();
    let by = |of: &dyn Fn(&Row) -> Option<ClaimVerdict>| {
        let is_worse = |row: &&&Row| row.is_alarm() && of(row) == Some(ClaimVerdict::DoesNotHold);
        rows.iter().filter(is_worse).count().to_string()
    };
    let middle = |of: &dyn Fn(&Row) -> Option<f64>, digits: usize| {
        let values: Vec<f64> = rows.iter().filter_map(|row| of(row)).collect();
        median(&values).map_or_else(String::new, |value| format!("{value:.digits$}"))
    };
    let sum = |of: &dyn Fn(&Row) -> Option<u32>| rows.iter().filter_map(|row| of(row)).sum::<u32>();
    vec![
        kind.name().to_owned(),
        rows.len().to_string(),
        with(Some(CiVerdict::Worse)),
        by(&|row| row.speed_claim),
        by(&|row| row.cpu_claim),
        with(Some(CiVerdict::NoWorse)),
        with(Some(CiVerdict::Inconclusive)),
        with(Some(CiVerdict::Void)),
        with(None),
        middle(&|row| Some(row.seconds), 1),
        middle(&|row| row.blocks.map(f64::from), 0),
        format!("{} of {}", sum(&|row| row.void_trials), sum(&|row| row.trials)),
        middle(&|row| row.speed_change, 3),
        middle(&|row| row.cpu_change, 3),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;

    #[test]
    fn runs_without_a_verdict_count_as_not_found() {
        let rows = [
            row(0, Kind::Planted, Some(CiVerdict::Worse)),
            row(1, Kind::Planted, Some(CiVerdict::Void)),
            row(2, Kind::Planted, Some(CiVerdict::Inconclusive)),
            row(3, Kind::Planted, None),
            row(4, Kind::Equal, Some(CiVerdict::NoWorse)),
        ];
        let text = text(&rows);
        assert!(
            text.contains("found: 1 of 4 planted runs, 25.0 % (exact 95 % interval 0.6 to 80.6 %"),
            "{text}"
        );
        assert!(text.contains("found: 1 of 2 planted runs that were not void, 50.0 %"), "{text}");
        assert!(text.contains("false alarms: 0 of 1 equal runs, 0.0 %"), "{text}");
    }
}
