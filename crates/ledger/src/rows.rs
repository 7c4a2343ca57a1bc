//! From studies, runs and audits to the rows of the ledger.
//!
//! A claim of several numbers is as good as its worst: contradicted where one is; void, inconclusive or not run where one
//! is; else the weaker size before the larger; reproduced where all are. What a law excludes is *impossible as printed*,
//! whatever was measured: a measurement may still stand beside it.

use crate::answers::Answered;
use crate::versions;
use audit::{ColumnChoice, Given, InputForm, Options};
use schema::analysis::ClaimResult;
use schema::audit::{AuditReport, AuditSeverity};
use schema::counter_metric::ClaimMetric;
use schema::ledger::{
    Condition, LedgerArticle, LedgerAudit, LedgerDifference, LedgerFile, LedgerMeasure, LedgerRow,
    LedgerVerdict,
};
use schema::plan::{CellPlan, ClaimTest};
use schema::published::{Conditions, Span};
use schema::study::{StudyAudit, StudyClaim, StudyFile, StudyTable};
use std::collections::BTreeMap;
use units::format::table;

/// All rows; `notes` says which runs could not be read.
#[must_use]
pub fn ledger(studies: &[StudyFile], runs: &[Answered], notes: Vec<String>) -> LedgerFile {
    let articles: Vec<LedgerArticle> = studies.iter().map(|study| article(study, runs)).collect();
    let rows = || articles.iter().flat_map(|article| &article.rows);
    let count = |verdict| rows().filter(|row| row.verdict == verdict).count() as u32;
    let counts: BTreeMap<LedgerVerdict, u32> = LedgerVerdict::ALL
        .into_iter()
        .map(|verdict| (verdict, count(verdict)))
        .filter(|(_, count)| *count > 0)
        .collect();
    let decided = rows().filter(|row| row.verdict.is_decided()).count() as u32;
    let things = || articles.iter().flat_map(|article| &article.things);
    let real = things().filter(|thing| thing.is_real()).count() as u32;
    let things = things().count() as u32;
    LedgerFile { counts, decided, things, real, notes, articles, ..LedgerFile::default() }
}

fn article(study: &StudyFile, runs: &[Answered]) -> LedgerArticle {
    let mut rows: Vec<LedgerRow> = study.claim.iter().map(|claim| row(study, claim, runs)).collect();
    rows.sort_by_key(|row| row.number);
    LedgerArticle {
        article: study.article.clone(),
        title: study.title.clone(),
        rows,
        things: study.thing.clone(),
    }
}

fn row(study: &StudyFile, claim: &StudyClaim, runs: &[Answered]) -> LedgerRow {
    let answer = claim.experiment.as_ref().and_then(|name| best(name, &claim.claims, runs));
    let measured: Vec<LedgerMeasure> = answer.map_or_else(Vec::new, |run| measures(run, claim));
    let audit = claim.audit.as_ref().and_then(|asked| audited(study, asked));
    let differs = answer
        .map_or_else(Vec::new, |run| differences(run, claim, &claim.conditions.over(&study.conditions)));
    LedgerRow {
        number: claim.number,
        text: claim.text.clone(),
        printed: claim.printed.clone(),
        place: claim.place.clone(),
        verdict: verdict(claim, &measured, audit.as_ref()),
        experiment: claim.experiment.clone(),
        run: answer.map(|run| run.run.clone()),
        short: answer.is_some_and(|run| run.plan.short),
        measured,
        audit,
        reason: claim.reason,
        note: claim.note.clone(),
        differs,
    }
}

/// The run that answers: whole before broken off, full before short, then the newest; never by what it says.
fn best<'a>(experiment: &str, ids: &[String], runs: &'a [Answered]) -> Option<&'a Answered> {
    let has_all = |run: &&Answered| {
        let has = |id: &String| run.claims.iter().any(|claim| claim.id.as_ref() == Some(id));
        run.plan.name == experiment && ids.iter().all(has)
    };
    runs.iter().filter(has_all).max_by_key(|run| (run.whole, !run.plan.short, &run.started, &run.run))
}

fn measures(run: &Answered, claim: &StudyClaim) -> Vec<LedgerMeasure> {
    let of = |id: &String| run.claims.iter().find(|found| found.id.as_ref() == Some(id));
    claim.claims.iter().filter_map(|id| Some(measure(id, of(id)?))).collect()
}

fn measure(id: &str, found: &ClaimResult) -> LedgerMeasure {
    let is_ratio = found.ratio.is_some() || found.value.is_none();
    LedgerMeasure {
        claim: id.to_owned(),
        metric: found.metric.clone(),
        unit: found.metric.as_ref().filter(|_| !is_ratio).map(ClaimMetric::unit),
        published: found.published.as_ref().and_then(|published| published.value),
        value: found.ratio.or(found.value),
        interval: found.interval.map(|interval| Span { low: interval.low, high: interval.high }),
        verdict: found
            .published
            .as_ref()
            .map_or(LedgerVerdict::Inconclusive, |published| published.verdict.into()),
    }
}

fn verdict(claim: &StudyClaim, measured: &[LedgerMeasure], audit: Option<&LedgerAudit>) -> LedgerVerdict {
    if audit.is_some_and(|audit| audit.impossible) {
        return LedgerVerdict::Impossible;
    }
    if claim.reason.is_some() {
        return LedgerVerdict::CannotTest;
    }
    if claim.experiment.is_none() {
        // The law was applied and excludes nothing.
        return LedgerVerdict::Inconclusive;
    }
    combined(measured.iter().map(|measure| measure.verdict))
}

/// The first of them in this order. A claim of several numbers says all of them, so that one which is excluded decides
/// it, whatever is open about the others; only where none is excluded does an open one leave it open.
fn combined(verdicts: impl Iterator<Item = LedgerVerdict> + Clone) -> LedgerVerdict {
    const ORDER: [LedgerVerdict; 7] = [
        LedgerVerdict::Contradicted,
        LedgerVerdict::WeakerOrNone,
        LedgerVerdict::Weaker,
        LedgerVerdict::Exceeded,
        LedgerVerdict::Void,
        LedgerVerdict::Inconclusive,
        LedgerVerdict::Reproduced,
    ];
    let has = |wanted: &LedgerVerdict| verdicts.clone().any(|verdict| verdict == *wanted);
    ORDER.into_iter().find(has).unwrap_or(LedgerVerdict::NotRun)
}

/// What the audit says of the rows; `None` where the table cannot be read, which a test of the studies excludes.
fn audited(study: &StudyFile, asked: &StudyAudit) -> Option<LedgerAudit> {
    let table = study.table.iter().find(|table| table.name == asked.table)?;
    let report = audit_of(table)?;
    let fits = |rows: &[u32]| asked.rows.is_empty() || rows.iter().any(|row| asked.rows.contains(row));
    let mut findings: Vec<_> = report
        .tables
        .iter()
        .flat_map(|table| &table.findings)
        .filter(|finding| fits(&finding.rows))
        .filter(|finding| asked.rule.as_ref().is_none_or(|rule| *rule == finding.rule))
        .collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let worst = findings.first()?;
    Some(LedgerAudit {
        impossible: worst.severity == AuditSeverity::Impossible,
        rule: worst.rule.clone(),
        law: worst.law.clone(),
        bound: worst.bound.clone(),
    })
}

fn audit_of(table: &StudyTable) -> Option<AuditReport> {
    let columns: Vec<ColumnChoice> =
        table.columns.iter().map(|text| text.parse()).collect::<Result<_, _>>().ok()?;
    let given: Vec<Given> = table.given.iter().map(|text| text.parse()).collect::<Result<_, _>>().ok()?;
    let options = Options { input: InputForm::Auto, columns, given, load: None };
    audit::audit(&table.name, &table.text, &options).ok()
}

/// What was published under other conditions than those of the cells that were compared.
fn differences(run: &Answered, claim: &StudyClaim, published: &Conditions) -> Vec<LedgerDifference> {
    let plans =
        run.plan.claims.iter().filter(|plan| plan.id.as_ref().is_some_and(|id| claim.claims.contains(id)));
    let mut cells: Vec<&CellPlan> = Vec::new();
    let mut conditions = published.clone();
    for plan in plans {
        let ids = cells_of(&plan.test);
        cells.extend(run.plan.cells.iter().filter(|cell| ids.contains(&cell.id.as_str())));
        if let Some(own) = &plan.published {
            conditions = own.conditions.over(&conditions);
        }
    }
    let mut found = Vec::new();
    let mut add = |what, published: Option<String>, here: Vec<String>| {
        let mut here = here;
        here.dedup();
        if let Some(published) = published.filter(|published| here.iter().any(|here| here != published)) {
            found.push(LedgerDifference { what, published, here: here.join(", ") });
        }
    };
    let all = |of: fn(&CellPlan) -> String| cells.iter().map(|cell| of(cell)).collect::<Vec<_>>();
    add(
        Condition::Cores,
        conditions.cores.map(|cores| cores.to_string()),
        run.cores.iter().map(ToString::to_string).collect(),
    );
    add(
        Condition::Connections,
        conditions.connections.map(|count| count.0.to_string()),
        all(|cell| cell.load.connections.to_string()),
    );
    add(
        Condition::Rate,
        conditions.rate.map(|rate| table::rate(rate.0)),
        all(|cell| cell.load.rate_per_s.map_or_else(|| table::NONE.to_owned(), table::rate)),
    );
    add(
        Condition::Cpus,
        conditions.cpus.map(|cpus| cpus.to_string()),
        all(|cell| cell.limits.cpus.map_or_else(none_text, |cpus| cpus.to_string())),
    );
    add(
        Condition::Memory,
        conditions.memory.map(|memory| table::bytes(memory.0 as f64)),
        all(|cell| cell.limits.memory_bytes.map_or_else(none_text, |bytes| table::bytes(bytes as f64))),
    );
    if let Some(versions) = conditions.versions {
        let here = versions::like(&versions, &run.versions);
        found.push(LedgerDifference { what: Condition::Versions, published: versions, here });
    }
    found
}

fn none_text() -> String {
    table::NONE.to_owned()
}

fn cells_of(test: &ClaimTest) -> Vec<&str> {
    if test.is_about_knee() { Vec::new() } else { test.cells() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "connections,throughput_per_s,mean_ms\n1000,1237,98\n1000,10000,100\n";

    fn study(claim: &str) -> StudyFile {
        let text = format!(
            "schema = \"prony.study/1\"\narticle = \"x\"\ntitle = {{ en = \"a\", zh = \"b\" }}\n[[table]]\nname = \"t\"\n\
             given = [\"think=0s\"]\ntext = \"\"\"\n{TABLE}\"\"\"\n[[claim]]\nnumber = 1\ntext = {{ en = \"a\", zh = \"b\" }}\n\
             printed = \"2\"\nplace = \"p\"\n{claim}"
        );
        StudyFile::from_toml("x.toml", &text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn only(claim: &str) -> LedgerRow {
        let mut file = ledger(&[study(claim)], &[], Vec::new());
        assert_eq!(file.counts.values().sum::<u32>(), 1);
        file.articles.remove(0).rows.remove(0)
    }

    #[test]
    fn a_claim_of_several_numbers_is_decided_by_one_that_is_excluded() {
        use LedgerVerdict::{
            Contradicted, Exceeded, Inconclusive, NotRun, Reproduced, Void, Weaker, WeakerOrNone,
        };
        for (parts, wanted) in [
            (&[][..], NotRun),
            (&[Reproduced, Reproduced], Reproduced),
            (&[Reproduced, Exceeded], Exceeded),
            (&[Exceeded, Weaker], Weaker),
            (&[Weaker, WeakerOrNone, Exceeded], WeakerOrNone),
            (&[WeakerOrNone, Inconclusive], WeakerOrNone),
            (&[Inconclusive, Exceeded, Void], Exceeded),
            (&[Reproduced, Inconclusive], Inconclusive),
            (&[Inconclusive, Void], Void),
            (&[Void, Contradicted, Reproduced], Contradicted),
        ] {
            assert_eq!(combined(parts.iter().copied()), wanted, "{parts:?}");
        }
    }

    #[test]
    fn what_a_law_excludes_is_impossible_and_what_has_a_reason_cannot_be_tested() {
        let row = only("audit = { table = \"t\", rule = \"littles-law\", rows = [1] }");
        assert_eq!(row.verdict, LedgerVerdict::Impossible, "{row:?}");
        assert!(row.audit.is_some_and(|audit| audit.impossible && audit.law.contains('N')));
        // The law holds of the second row; nothing then decides.
        let row = only("audit = { table = \"t\", rule = \"littles-law\", rows = [2] }");
        assert_eq!(row.verdict, LedgerVerdict::Inconclusive, "{row:?}");
        // Impossible also beside an experiment that has not run.
        let row = only("experiment = \"e\"\nclaims = [\"c\"]\naudit = { table = \"t\" }");
        assert_eq!(row.verdict, LedgerVerdict::Impossible);
        let row = only("experiment = \"e\"\nclaims = [\"c\"]");
        assert_eq!((row.verdict, row.run), (LedgerVerdict::NotRun, None));
        let row = only("reason = \"hardware\"\nnote = { en = \"a\", zh = \"b\" }");
        assert_eq!(row.verdict, LedgerVerdict::CannotTest);
    }
}
