//! The published table: any text is a report whose numbers are finite and whose rows exist, or an error with cause and
//! remedy.

use crate::Broken;
use audit::{AuditError, Options, audit};
use schema::audit::{AuditReport, AuditTable};

const FILE: &str = "fuzzed.csv";

/// Reads and judges the text of a published table, as [`audit()`] does.
pub type Auditor = dyn Fn(&str) -> Result<AuditReport, AuditError>;

/// The property of the target `audit`.
///
/// # Errors
/// A number that is none, a row that is not there, a sentence that is empty, or an error that does not help.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &|text| audit(FILE, text, &Options::default()))
}

/// [`check`] of any auditor.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], auditor: &Auditor) -> Result<(), Broken> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
    match auditor(text) {
        Ok(report) => {
            report.tables.iter().try_for_each(|table| whole(table, text))?;
            survives_json(&report)
        }
        Err(error) => {
            let helps = !error.cause.trim().is_empty() && !error.remedy.trim().is_empty();
            Broken::unless(helps, || format!("no cause or no remedy: {error:?}"))?;
            let lines = text.lines().count().max(1);
            let within = error.line.is_none_or(|line| (1..=lines).contains(&line));
            Broken::unless(within, || format!("no such line among {lines}: {error:?}"))
        }
    }
}

fn whole(table: &AuditTable, text: &str) -> Result<(), Broken> {
    let (rows, lines) = (table.rows.len(), text.lines().count() as u64);
    let placed = table.rows.iter().all(|row| (1..=lines).contains(&row.line));
    Broken::unless(placed, || format!("a row beyond the {lines} lines: {:?}", table.rows))?;
    table.findings.iter().try_for_each(|finding| {
        let there = finding.rows.iter().all(|row| (1..=rows).contains(&(*row as usize)));
        Broken::unless(there, || format!("no such row among {rows}: {finding:?}"))?;
        let texts = [&finding.what, &finding.law, &finding.bound, &finding.remedy];
        let said = texts.iter().all(|text| !text.is_empty() && !text.chars().any(char::is_control));
        Broken::unless(said, || format!("an empty sentence, or one with control characters: {finding:?}"))?;
        let numbers = finding.numbers.iter().all(|number| number.low.is_finite() && number.high.is_finite());
        Broken::unless(numbers, || format!("a number that is none: {finding:?}"))
    })
}

/// `prony audit --format json` is read by other programs.
fn survives_json(report: &AuditReport) -> Result<(), Broken> {
    let wrong = |error: serde_json::Error| Broken(format!("JSON: {error}"));
    let text = serde_json::to_string(report).map_err(wrong)?;
    let back: AuditReport = serde_json::from_str(&text).map_err(wrong)?;
    Broken::unless(back == *report, || "the report changes in JSON".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &[u8] = b"connections,throughput_per_s,mean_ms,p99_ms\n40,849,23.04,95\n80,850,293.0,95\n";

    #[test]
    fn broken_reports_and_curt_errors_are_caught() {
        assert_eq!(check(GOOD), Ok(()));
        assert_eq!(check(b""), Ok(()));
        let spoilt = |spoil: fn(&mut AuditTable)| {
            check_with(GOOD, &move |text| {
                audit(FILE, text, &Options::default()).map(|mut report| {
                    spoil(&mut report.tables[0]);
                    report
                })
            })
        };
        assert_eq!(spoilt(|_| ()), Ok(()));
        let spoils: [fn(&mut AuditTable); 4] = [
            |table| table.findings[0].rows.push(3),
            |table| table.findings[0].remedy.clear(),
            |table| table.findings[0].what.push('\u{1b}'),
            |table| table.rows[0].line = 9,
        ];
        for (index, spoil) in spoils.into_iter().enumerate() {
            assert!(spoilt(spoil).is_err(), "{index}");
        }
        let infinite = spoilt(|table| {
            let numbers = table.findings.iter_mut().flat_map(|finding| &mut finding.numbers);
            numbers.for_each(|number| number.high = f64::INFINITY);
        });
        assert!(infinite.is_err());
        for (line, remedy) in [(Some(9), "mend it"), (None, "")] {
            let curt = move |_: &str| {
                let (file, cause) = (FILE.to_owned(), "no".to_owned());
                Err(AuditError { file, line, cause, remedy: remedy.to_owned() })
            };
            assert!(check_with(GOOD, &curt).is_err(), "{line:?} {remedy:?}");
        }
    }
}
