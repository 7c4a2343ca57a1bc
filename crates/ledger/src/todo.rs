//! Which experiments would decide the claims that are not answered yet: most undecided claims per second first.

use schema::ledger::{LedgerFile, LedgerVerdict};
use std::collections::BTreeMap;

/// An experiment that is missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Todo {
    /// Its name.
    pub experiment: String,
    /// Numbers of the claims that it would answer.
    pub claims: Vec<u32>,
    /// How many of them nothing has decided yet; the others have the answer of a short run.
    pub undecided: usize,
    /// How long it takes, in seconds; 0 where that is unknown.
    pub seconds: f64,
}

/// In the order in which they are to be run; `seconds` gives the time of an experiment, `None` leaves it out. `full` asks
/// again where only a short run has answered, and what such a run has left undecided before what it has decided.
pub fn todo(ledger: &LedgerFile, full: bool, mut seconds: impl FnMut(&str) -> Option<f64>) -> Vec<Todo> {
    let mut claims: BTreeMap<&str, (Vec<u32>, usize)> = BTreeMap::new();
    for row in ledger.articles.iter().flat_map(|article| &article.rows) {
        let is_open = row.verdict == LedgerVerdict::NotRun || (full && row.short);
        if let Some(experiment) = row.experiment.as_deref().filter(|_| is_open || row.run.is_none()) {
            let (claims, undecided) = claims.entry(experiment).or_default();
            claims.push(row.number);
            *undecided += usize::from(!row.verdict.is_decided());
        }
    }
    let mut all: Vec<Todo> = claims
        .into_iter()
        .filter_map(|(name, (claims, undecided))| {
            Some(Todo { experiment: name.to_owned(), claims, undecided, seconds: seconds(name)? })
        })
        .collect();
    let rate = |count: usize, todo: &Todo| count as f64 / todo.seconds.max(1.0);
    all.sort_by(|a, b| {
        rate(b.undecided, b)
            .total_cmp(&rate(a.undecided, a))
            .then_with(|| rate(b.claims.len(), b).total_cmp(&rate(a.claims.len(), a)))
            .then_with(|| a.experiment.cmp(&b.experiment))
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::ledger::{LedgerArticle, LedgerRow};

    fn row(number: u32, experiment: &str, verdict: LedgerVerdict, short: bool) -> LedgerRow {
        LedgerRow {
            number,
            text: Default::default(),
            printed: String::new(),
            place: String::new(),
            verdict,
            experiment: Some(experiment.to_owned()),
            run: (verdict != LedgerVerdict::NotRun).then(|| "run".to_owned()),
            short,
            measured: Vec::new(),
            audit: None,
            reason: None,
            note: None,
            differs: Vec::new(),
        }
    }

    #[test]
    fn most_claims_a_second_come_first_and_what_is_answered_is_not_run_again() {
        use LedgerVerdict::{Inconclusive, NotRun, Reproduced};
        let rows = vec![
            row(1, "one", NotRun, false),
            row(2, "two", NotRun, false),
            row(3, "two", NotRun, false),
            row(4, "short", Reproduced, true),
            row(5, "full", Reproduced, false),
            row(6, "unreadable", NotRun, false),
            row(7, "open", Inconclusive, true),
            row(8, "short", Reproduced, true),
        ];
        let ledger =
            LedgerFile { articles: vec![LedgerArticle { rows, ..Default::default() }], ..Default::default() };
        let time = |name: &str| (name != "unreadable").then_some(if name == "one" { 60.0 } else { 100.0 });
        let names =
            |full| todo(&ledger, full, time).into_iter().map(|todo| todo.experiment).collect::<Vec<_>>();
        assert_eq!(names(false), ["two", "one"]);
        assert_eq!(names(true), ["two", "one", "open", "short"]);
    }
}
