//! Claims that each of several cells is better than the next, by the paired t test of each neighbour pair.
//!
//! The claim holds iff each pair is shown in the claimed direction. That needs no correction: an order that is false is
//! false of some pair, and that one is wrongly shown with probability α/2 at most (intersection-union test: Berger,
//! Technometrics 24, 1982). It does not hold iff any pair is shown in the other direction at α over the number of
//! pairs. An order is either true or false, so α pays for both answers.

use super::judge::{Judged, verdict};
use super::undecided;
use crate::measure::Measure;
use crate::run::data::RunData;
use crate::run::families::Level;
use crate::run::ratio::{interval_of_logs, paired, verdict_of_difference};
use crate::stats::student::MeanTest;
use crate::words;
use schema::analysis::{Basis, ClaimVerdict, Verdict};
use schema::said;
use schema::said::{Joint, Said};

/// One neighbour pair with its test.
struct Neighbours {
    names: (String, String),
    basis: Basis,
    estimate: f64,
    test: MeanTest,
}

pub(super) fn ordering(data: &RunData<'_>, level: Level, metric: Measure<'_>, cells: &[String]) -> Judged {
    let mut pairs = Vec::new();
    for pair in cells.windows(2) {
        match neighbours(data, metric, (&pair[0], &pair[1])) {
            Ok(pair) => pairs.push(pair),
            Err((verdict, why)) => return Judged::without_interval(verdict, why),
        }
    }
    let shown = |wanted: Verdict, alpha: f64| {
        let is = move |pair: &Neighbours| pair.test.p_value() < alpha && direction(metric, pair) == wanted;
        pairs.iter().map(is).collect::<Vec<bool>>()
    };
    let each = level.alpha() / pairs.len().max(1) as f64;
    let holds = !pairs.is_empty() && shown(Verdict::Faster, level.alpha()).into_iter().all(|is| is);
    let contradicts = shown(Verdict::Slower, each).into_iter().any(|is| is);
    let told = pairs.iter().map(|pair| told(level, metric, pair));
    let evidence = said!(
        "claims.ordering.all",
        "{metric}: {orders}",
        metric = metric.words(),
        orders = Said::list(Joint::Semicolon, told)
    );
    Judged::without_interval(verdict(holds, contradicts), evidence)
}

/// How the pair compares, or the verdict that is left and why.
fn neighbours(
    data: &RunData<'_>,
    metric: Measure<'_>,
    cells: (&str, &str),
) -> Result<Neighbours, (ClaimVerdict, Said)> {
    let name = |cell: &str| data.cell(cell).map_or_else(String::new, |cell| cell.target.clone());
    let names = (name(cells.0), name(cells.1));
    let paired = paired(data, cells.0, cells.1, metric);
    let basis = paired.basis(metric);
    let (test, estimate) = match basis {
        Basis::Ratio => (paired.test, paired.ratio),
        Basis::Difference => (paired.difference_test, paired.difference),
    };
    match (test, estimate) {
        (Ok(test), Some(estimate)) => Ok(Neighbours { names, basis, estimate, test }),
        (Err(reason), _) => {
            let (verdict, reason) = undecided(data, cells, &reason);
            let why = said!(
                "claims.ordering.against",
                "{a} against {b}: {reason}",
                a = &names.0,
                b = &names.1,
                reason
            );
            Err((verdict, why))
        }
        (Ok(_), None) => {
            let why = said!(
                "claims.ordering.against_no_value_can",
                "{a} against {b}: no value can be written for it",
                a = &names.0,
                b = &names.1
            );
            Err((ClaimVerdict::Inconclusive, why))
        }
    }
}

/// By the sign of the mean alone.
fn direction(metric: Measure<'_>, pair: &Neighbours) -> Verdict {
    verdict_of_difference(metric, &pair.test, 0.0)
}

/// `a against b ratio 1.04 (95 % interval 1.03 to 1.05, p 0.0012)`.
fn told(level: Level, metric: Measure<'_>, pair: &Neighbours) -> Said {
    let (low, high) = pair.test.interval(level.confidence);
    let (kind, [estimate, low, high]) = match pair.basis {
        Basis::Ratio => {
            let interval = interval_of_logs(low, high);
            (
                said!("claims.ordering.ratio", "ratio"),
                words::ratios(Some(pair.estimate), words::ends(interval)),
            )
        }
        Basis::Difference => (
            said!("claims.ordering.difference", "difference"),
            words::values(metric, Some(pair.estimate), (low, high)),
        ),
    };
    said!(
        "claims.ordering.against_with_p",
        "{a} against {b} {kind} {estimate} ({interval} {low} to {high}, {p})",
        a = &pair.names.0,
        b = &pair.names.1,
        kind,
        estimate,
        interval = level.name(),
        low,
        high,
        p = words::p_value(pair.test.p_value())
    )
}
