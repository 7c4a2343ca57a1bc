//! Differences that a text prints beside the series that they are of: `[42, 68, 215, 890]` and, a few lines on, second
//! differences `[126, 570]`. They are computed again from the printed series.
//!
//! Invariant: impossible only where no series that is printed so has these differences: each figure may be off by half a
//! unit of its last digit, so a first difference by one unit, a second one by two. A list whose length does not fit is no
//! difference of that series and is left alone.
//! Absent on purpose: what the differences are said to show.

use regex::Regex;
use schema::audit::{AuditFinding, AuditForm, AuditLoad, AuditNumber, AuditRow, AuditSeverity, AuditTable};
use std::sync::LazyLock;

/// Identifier of the rule.
const RULE: &str = "differences-recomputed";
/// How many lines above its differences a series may stand.
const LINES_MAX: usize = 12;
/// Most figures of a list.
const FIGURES_MAX: usize = 64;

static LIST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\[(]\s*(-?\d+(?:\.\d+)?(?:\s*[,，]\s*-?\d+(?:\.\d+)?)+)\s*[\])]").expect("a fixed pattern")
});

/// A printed list with its place.
struct List {
    line: usize,
    figures: Vec<(String, f64)>,
}

/// One table for each list of second differences that is not that of the series above it.
pub(crate) fn tables(text: &str) -> Vec<AuditTable> {
    let mut series: Vec<List> = Vec::new();
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let lists: Vec<List> = LIST.captures_iter(line).filter_map(|list| read(at, &list[1])).collect();
        if is_about_second_differences(line) {
            found.extend(lists.iter().filter_map(|printed| judged(printed, &series)));
        }
        series.extend(lists);
        series.retain(|list| list.line + LINES_MAX >= at);
    }
    found
}

fn is_about_second_differences(line: &str) -> bool {
    let line = line.to_lowercase();
    line.contains("二阶差分")
        || line.contains("second difference")
        || line.contains("second-order difference")
}

fn read(line: usize, text: &str) -> Option<List> {
    let figures: Vec<(String, f64)> = text
        .split([',', '，'])
        .map(|figure| Some((figure.trim().to_owned(), figure.trim().parse().ok()?)))
        .collect::<Option<_>>()?;
    (figures.len() <= FIGURES_MAX).then_some(List { line, figures })
}

/// Half a unit of the last printed digit.
fn half(printed: &str) -> f64 {
    let decimals = printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    0.5 * 0.1_f64.powi(i32::try_from(decimals).unwrap_or(0))
}

fn judged(printed: &List, series: &[List]) -> Option<AuditTable> {
    let of = series.iter().rev().find(|list| list.figures.len() == printed.figures.len() + 2)?;
    let second: Vec<(f64, f64)> = of
        .figures
        .windows(3)
        .map(|three| {
            let [a, b, c] = [&three[0], &three[1], &three[2]];
            (a.1 - 2.0 * b.1 + c.1, half(&a.0) + 2.0 * half(&b.0) + half(&c.0))
        })
        .collect();
    let is_off = |((shown, value), (right, by)): (&(String, f64), &(f64, f64))| {
        (value - right).abs() > by + half(shown) + 1e-9
    };
    if !printed.figures.iter().zip(&second).any(is_off) {
        return None;
    }
    Some(table(of, printed, &second))
}

fn table(of: &List, printed: &List, second: &[(f64, f64)]) -> AuditTable {
    let joined =
        |list: &List| list.figures.iter().map(|(shown, _)| shown.as_str()).collect::<Vec<_>>().join(", ");
    let right: Vec<String> = second.iter().map(|(value, _)| value.to_string()).collect();
    let number = |row: u32, name: &str, (shown, value): &(String, f64)| AuditNumber {
        name: name.to_owned(),
        row: Some(row),
        printed: shown.clone(),
        low: value - half(shown),
        high: value + half(shown),
        unit: String::new(),
    };
    let rows = [(1, of, None), (2, printed, Some(AuditSeverity::Impossible))].map(|(number, list, worst)| {
        AuditRow { number, line: list.line as u64 + 1, name: joined(list), worst }
    });
    let finding = AuditFinding {
        rule: RULE.to_owned(),
        severity: AuditSeverity::Impossible,
        rows: vec![2],
        what: "the printed second differences are not those of the series".to_owned(),
        law: "second difference of a series = a − 2b + c for each three neighbours".to_owned(),
        numbers: of
            .figures
            .iter()
            .map(|figure| number(1, "x", figure))
            .chain(printed.figures.iter().map(|figure| number(2, "d", figure)))
            .collect(),
        bound: format!("{} have {}, and {} are printed", joined(of), right.join(", "), joined(printed)),
        remedy: "compute them again from the measured series".to_owned(),
    };
    AuditTable {
        form: AuditForm::Pairs,
        line: printed.line as u64 + 1,
        load: AuditLoad::Closed,
        columns: Vec::new(),
        rows: rows.into(),
        findings: vec![finding],
        not_checked: Vec::new(),
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_differences_are_computed_again() {
        let bounds = |text: &str| -> Vec<String> {
            tables(text).iter().map(|table| table.findings[0].bound.clone()).collect()
        };
        let series = "p95 = [42, 68, 215, 890]\n";
        assert_eq!(
            bounds(&format!("{series}print() # second differences [126, 570]")),
            ["42, 68, 215, 890 have 121, 528, and 126, 570 are printed"]
        );
        assert_eq!(bounds(&format!("{series}RT二阶差分 输出 [126, 570]")).len(), 1);
        // Right ones, ones that rounding explains, of another length, without the word, and too far away.
        for right in [
            format!("{series}second differences [121, 528]"),
            format!("{series}second differences (123, 526)"),
            format!("{series}second differences [126, 570, 3]"),
            format!("{series}differences [126, 570]"),
            format!("{series}{}second differences [126, 570]", "\n".repeat(20)),
            "second differences [126, 570]".to_owned(),
            "p = [4.2, 6.8, 21.5]\nsecond difference ([12.2, 1])".to_owned(),
        ] {
            assert_eq!(bounds(&right), Vec::<String>::new(), "{right}");
        }
    }
}
