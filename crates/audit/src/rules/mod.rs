//! The laws that rows are held against, one family a file.
//!
//! Invariants: a rule says whether it could be applied to any row; `impossible` is said only where no reading of the
//! printed figures, rounded or cut off, obeys the law, and nothing was taken for granted; every finding has its law, the
//! numbers put into it, the bound and a remedy.
//!
//! To add a rule: a file here with one `check`, a line in [`RULES`], and a test that plants its fault.

mod cells;
mod copies;
mod cpu;
mod errors;
mod generator;
mod little;
mod longest;
mod mean;
mod order;
mod samples;
mod saturation;
mod signature;
mod spread;
mod think;
mod totals;
mod warmup;

use crate::figure::{Figure, Reading};
use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use crate::words;
use schema::audit::{AuditFinding, AuditNumber, AuditSeverity, NotChecked};

/// A law.
struct Rule {
    id: &'static str,
    /// What a table must state for it.
    needs: &'static str,
    /// Adds what it finds; whether it could be applied to any row.
    check: fn(&Sheet, &mut Vec<AuditFinding>) -> bool,
}

const RULES: [Rule; 19] = [
    Rule { id: cells::RULE, needs: cells::NEEDS, check: cells::check },
    Rule { id: order::RULE, needs: order::NEEDS, check: order::check },
    Rule { id: mean::RULE, needs: mean::NEEDS, check: mean::check },
    Rule { id: spread::RULE, needs: spread::NEEDS, check: spread::check },
    Rule { id: little::RULE, needs: little::NEEDS, check: little::check },
    Rule { id: think::RULE, needs: think::NEEDS, check: think::check },
    Rule { id: totals::COUNT, needs: totals::COUNT_NEEDS, check: totals::count },
    Rule { id: totals::SHARE, needs: totals::SHARE_NEEDS, check: totals::share },
    Rule { id: totals::OFFERED, needs: totals::OFFERED_NEEDS, check: totals::offered },
    Rule { id: longest::RULE, needs: longest::NEEDS, check: longest::check },
    Rule { id: cpu::CORES, needs: cpu::CORES_NEEDS, check: cpu::cores },
    Rule { id: cpu::LAW, needs: cpu::LAW_NEEDS, check: cpu::law },
    Rule { id: errors::RULE, needs: errors::NEEDS, check: errors::check },
    Rule { id: samples::RULE, needs: samples::NEEDS, check: samples::check },
    Rule { id: signature::RULE, needs: signature::NEEDS, check: signature::check },
    Rule { id: saturation::RULE, needs: saturation::NEEDS, check: saturation::check },
    Rule { id: generator::RULE, needs: generator::NEEDS, check: generator::check },
    Rule { id: copies::RULE, needs: copies::NEEDS, check: copies::check },
    Rule { id: warmup::RULE, needs: warmup::NEEDS, check: warmup::check },
];

/// Holds a table against every rule: what was found, by row and worst first, and what could not be checked.
pub(crate) fn all(sheet: &Sheet) -> (Vec<AuditFinding>, Vec<NotChecked>) {
    let mut findings = Vec::new();
    let mut not_checked = Vec::new();
    for rule in &RULES {
        if !(rule.check)(sheet, &mut findings) {
            not_checked.push(NotChecked { rule: rule.id.to_owned(), needs: rule.needs.to_owned() });
        }
    }
    findings.sort_by_key(|finding| {
        // What is about one row stands before what is about several.
        (finding.rows.first().copied(), finding.rows.len(), std::cmp::Reverse(finding.severity))
    });
    (findings, not_checked)
}

/// A finding while it is put together.
struct Draft(AuditFinding);

impl Draft {
    fn new(rule: &str, severity: AuditSeverity, rows: &[&Row], what: impl Into<String>) -> Self {
        Self(AuditFinding {
            rule: rule.to_owned(),
            severity,
            rows: {
                let mut numbers: Vec<u32> = rows.iter().map(|row| row.number).collect();
                numbers.sort_unstable();
                numbers
            },
            what: what.into(),
            law: String::new(),
            numbers: Vec::new(),
            bound: String::new(),
            remedy: String::new(),
        })
    }

    fn law(mut self, law: impl Into<String>) -> Self {
        self.0.law = law.into();
        self
    }

    fn bound(mut self, bound: impl Into<String>) -> Self {
        self.0.bound = bound.into();
        self
    }

    fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy = remedy.into();
        self
    }

    /// A figure of the finding's only row.
    fn number(self, name: &str, kind: Kind, figure: &Figure) -> Self {
        self.with(name, None, kind, figure)
    }

    /// A figure of one of several rows.
    fn number_of(self, row: &Row, name: &str, kind: Kind, figure: &Figure) -> Self {
        self.with(name, Some(row.number), kind, figure)
    }

    fn with(mut self, name: &str, row: Option<u32>, kind: Kind, figure: &Figure) -> Self {
        let span = figure.rounded();
        // JSON has no infinity: an open end is that of the widest finite number.
        let finite = |value: f64| value.clamp(f64::MIN, f64::MAX);
        self.0.numbers.push(AuditNumber {
            name: name.to_owned(),
            row,
            printed: figure.text.clone(),
            low: finite(span.low),
            high: finite(span.high),
            unit: kind.dimension().map_or("", crate::unit::Dimension::unit).to_owned(),
        });
        self
    }

    /// The figure of a kind, where the row has it.
    fn maybe(self, name: &str, kind: Kind, row: &Row) -> Self {
        match row.get(kind) {
            Some(figure) => self.number(name, kind, figure),
            None => self,
        }
    }

    /// Lowers `impossible` where one of the kinds was guessed, and says so.
    fn unless_sure(mut self, sheet: &Sheet, kinds: &[Kind]) -> Self {
        let unsure: Vec<String> =
            kinds.iter().filter(|kind| sheet.is_unsure(**kind)).map(|kind| kind.name()).collect();
        self.lower(&unsure);
        self
    }

    /// As [`Self::unless_sure`], where only latencies are compared and their unit does not matter.
    fn unless_sure_latencies(mut self, sheet: &Sheet, kinds: &[Kind]) -> Self {
        let unsure: Vec<String> = kinds
            .iter()
            .filter(|kind| sheet.is_unsure_among_latencies(**kind))
            .map(|kind| kind.name())
            .collect();
        self.lower(&unsure);
        self
    }

    fn lower(&mut self, unsure: &[String]) {
        if !unsure.is_empty() && self.0.severity == AuditSeverity::Impossible {
            self.0.severity = AuditSeverity::Suspicious;
            let guessed = unsure.join(" and ");
            self.0.bound += &format!("; impossible if {guessed} was guessed rightly (say it with --column)");
        }
    }

    fn into(self, findings: &mut Vec<AuditFinding>) {
        findings.push(self.0);
    }
}

/// Connections and time for a command that measures a row again.
fn again(row: &Row) -> String {
    let connections = row
        .get(Kind::Connections)
        .map_or(String::new(), |figure| format!(" -c {:.0}", figure.value.max(1.0)));
    let duration = row.get(Kind::Duration).map_or(30.0, |figure| figure.value.clamp(1.0, 3600.0));
    format!("`prony load URL{connections} -d {duration:.0}s --latency`")
}

/// The mean of a row: as printed, or what its quantiles leave it. Nothing where they say nothing.
fn mean_of(row: &Row, reading: Reading) -> Option<(crate::figure::Span, bool)> {
    if let Some(figure) = row.get(Kind::Mean) {
        return Some((figure.span(reading), true));
    }
    let bounds = mean::bounds(row, reading)?;
    Some((bounds, false))
}

/// A figure with its range, for a sentence.
fn told(kind: Kind, figure: &Figure) -> String {
    kind.dimension().map_or_else(|| figure.text.clone(), |dimension| words::span(dimension, figure.rounded()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_own_name_and_says_what_it_needs() {
        let mut ids: Vec<_> = RULES.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), RULES.len());
        assert!(RULES.iter().all(|rule| !rule.needs.is_empty()));
    }
}
