//! Asking the audit: one helper for all tests.

use audit::{Options, audit};
use schema::audit::{AuditFinding, AuditReport, AuditSeverity};

/// A report and questions to it.
#[derive(Debug)]
pub(crate) struct Asked(pub(crate) AuditReport);

/// Audits a text without options.
pub(crate) fn audited(text: &str) -> Asked {
    asked(text, &Options::default())
}

/// Audits a text.
pub(crate) fn asked(text: &str, options: &Options) -> Asked {
    Asked(audit("table", text, options).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// Options as a user gives them.
pub(crate) fn options(columns: &[&str], given: &[&str]) -> Options {
    Options {
        columns: columns.iter().map(|text| text.parse().expect("a column")).collect(),
        given: given.iter().map(|text| text.parse().expect("a figure")).collect(),
        ..Options::default()
    }
}

impl Asked {
    /// All findings of a rule.
    pub(crate) fn of(&self, rule: &str) -> Vec<&AuditFinding> {
        self.0
            .tables
            .iter()
            .flat_map(|table| &table.findings)
            .filter(|finding| finding.rule == rule)
            .collect()
    }

    /// Rows and severity of the findings of a rule.
    pub(crate) fn rows(&self, rule: &str) -> Vec<(Vec<u32>, AuditSeverity)> {
        self.of(rule).iter().map(|finding| (finding.rows.clone(), finding.severity)).collect()
    }

    /// All findings that call something impossible, as text.
    pub(crate) fn impossible(&self) -> Vec<String> {
        let findings = self.0.tables.iter().flat_map(|table| &table.findings);
        let impossible = findings.filter(|finding| finding.severity == AuditSeverity::Impossible);
        impossible.map(|finding| format!("{finding:?}")).collect()
    }

    /// How the columns of the first table were read: `connections`, `throughput:/s?` (assumed).
    pub(crate) fn columns(&self) -> Vec<String> {
        let columns = self.0.tables[0].columns.iter();
        let said = columns.map(|column| {
            let mark = if column.basis == schema::audit::Basis::Assumed { "?" } else { "" };
            format!("{}{mark}", column.said.rsplit('=').next().unwrap_or_default())
        });
        said.collect()
    }
}
