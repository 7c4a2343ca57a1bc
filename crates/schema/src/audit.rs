//! What `prony audit` found in a published table: how it was read, and which rows cannot be, or should not be, believed.
//!
//! Invariant: a column that was guessed says so, and a rule that could not be applied is named with what it lacked, so
//! that silence is never taken for approval.

use crate::version::AuditVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All tables of one file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditReport {
    /// Format and version.
    pub schema: AuditVersion,
    /// The file as the user named it.
    pub file: String,
    /// What was read, in the order of the file.
    pub tables: Vec<AuditTable>,
    /// How many findings there are of each severity, over all tables.
    pub counts: AuditCounts,
    /// Tables that were left out, in the order of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<AuditSkipped>,
}

/// A table that was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditSkipped {
    /// Line of its header, from 1.
    pub line: u64,
    /// Why.
    pub reason: String,
}

/// How many findings there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditCounts {
    /// Rows that were read.
    pub rows: u64,
    /// Rows with a figure that cannot be.
    pub impossible_rows: u64,
    /// Findings that contradict a law.
    pub impossible: u64,
    /// Findings that need an explanation.
    pub suspicious: u64,
    /// Findings worth knowing.
    pub note: u64,
}

/// One table and what was found in it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditTable {
    /// How it was written.
    pub form: AuditForm,
    /// Line of its header, from 1.
    pub line: u64,
    /// How its load was made, as far as it shows.
    pub load: AuditLoad,
    /// Every column and how it was taken.
    pub columns: Vec<AuditColumn>,
    /// Every row.
    pub rows: Vec<AuditRow>,
    /// What is wrong or worth knowing, worst first within a row.
    pub findings: Vec<AuditFinding>,
    /// Rules that could not be applied to any row.
    pub not_checked: Vec<NotChecked>,
    /// What was left out or taken for granted while reading.
    pub notes: Vec<String>,
}

/// How a table was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditForm {
    /// Values between commas or semicolons.
    Csv,
    /// Values between tabs.
    Tsv,
    /// Values between bars: Markdown, psql, mysql, box drawings.
    Bars,
    /// Values in aligned columns.
    Aligned,
    /// A name and a value a line.
    Pairs,
    /// The output of a load tool.
    ToolOutput,
}

/// How the load of a table was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditLoad {
    /// Each connection waits for its answer; nothing speaks against it.
    Closed,
    /// Requests come at a rate, whatever the answers do.
    Open,
}

/// A column and how it was taken.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditColumn {
    /// Its place, from 1; 0 for a figure that was given beside the table.
    pub number: u32,
    /// Its header.
    pub header: String,
    /// What its figures are.
    pub meaning: Meaning,
    /// Of a quantile: its share, such as 0.99.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<f64>,
    /// Unit of figures that name none; absent for texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Where meaning and unit come from.
    pub basis: Basis,
    /// How `--column` would say the same.
    pub said: String,
}

/// What the figures of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// Names of what was measured.
    Label,
    /// Requests in flight at most: connections, users.
    Connections,
    /// Requests in flight at once on each connection.
    Pipeline,
    /// Threads of the load tool.
    Threads,
    /// CPUs of the target.
    Cores,
    /// Answers a second.
    Throughput,
    /// Requests a second that were to be sent.
    Offered,
    /// Mean latency.
    Mean,
    /// A quantile of latency.
    Quantile,
    /// Smallest latency.
    Min,
    /// Largest latency.
    Max,
    /// Standard deviation of latency.
    StdDev,
    /// Busy CPU of the target.
    Cpu,
    /// Busy CPU of the load tool.
    GeneratorCpu,
    /// Failed requests.
    Errors,
    /// Share of requests that failed.
    ErrorShare,
    /// Share of requests that were answered rightly.
    SuccessShare,
    /// Requests in all.
    Requests,
    /// Length of the measurement.
    Duration,
    /// Pause between an answer and the next request.
    Think,
    /// When the row was measured.
    Time,
    /// Which repetition the row is.
    Repeat,
    /// Not used by any rule.
    Ignored,
}

/// Where the meaning of a column comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The user said it.
    Given,
    /// Header and cells say it.
    Header,
    /// They leave room: a finding that rests on it is never `impossible`.
    Assumed,
}

/// A row and the worst that was found in it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditRow {
    /// Its place within the table, from 1.
    pub number: u32,
    /// Its line in the file, from 1.
    pub line: u64,
    /// Its labels and settings.
    pub name: String,
    /// The worst finding; absent where there is none.
    pub worst: Option<AuditSeverity>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditSeverity {
    /// Worth knowing.
    Note,
    /// Needs an explanation that the table does not give.
    Suspicious,
    /// Contradicts a law whatever the figures were before they were rounded.
    Impossible,
}

/// Something that is wrong or worth knowing.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditFinding {
    /// Stable identifier of the rule, such as `littles-law`.
    pub rule: String,
    /// How bad it is.
    pub severity: AuditSeverity,
    /// The rows it is about, by their numbers.
    pub rows: Vec<u32>,
    /// What is wrong, in one sentence.
    pub what: String,
    /// The law that is applied, with its source.
    pub law: String,
    /// The numbers that were put into it, each with the range that its rounding leaves.
    pub numbers: Vec<AuditNumber>,
    /// What the law allows and what is printed.
    pub bound: String,
    /// What to do about it.
    pub remedy: String,
}

/// A printed figure that was put into a law.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditNumber {
    /// Its symbol or name in the law, such as `X`.
    pub name: String,
    /// Row it stands in, where the finding is about several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// As it is printed in the table.
    pub printed: String,
    /// Smallest value that is printed so, in `unit`.
    pub low: f64,
    /// Largest value that is printed so, in `unit`.
    pub high: f64,
    /// `s`, `1/s`, `share`, `cores` or empty for counts.
    pub unit: String,
}

/// A rule that could not be applied.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotChecked {
    /// Identifier of the rule.
    pub rule: String,
    /// What it would need.
    pub needs: String,
}
