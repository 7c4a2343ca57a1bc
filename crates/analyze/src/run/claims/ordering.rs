//! Claims that each of several cells is better than the next, by the paired t test of each neighbour pair.
//!
//! Holm's correction over the pairs keeps the chance that any of them is wrongly claimed at α. The claim holds iff each
//! pair is shown in the claimed direction, and does not hold iff any is shown in the other.

use super::judge::{Judged, verdict};
use super::undecided;
use crate::run::data::RunData;
use crate::run::ratio::{interval_of_logs, paired, verdict_of_difference};
use crate::stats::holm::holm;
use crate::stats::student::MeanTest;
use crate::words;
use schema::analysis::{Basis, ClaimVerdict, Verdict};
use schema::metric::Metric;
use schema::said;
use schema::said::{Joint, Said};

/// One neighbour pair with its test.
struct Neighbours {
    names: (String, String),
    basis: Basis,
    estimate: f64,
    test: MeanTest,
}

pub(super) fn ordering(data: &RunData<'_>, metric: Metric, cells: &[String]) -> Judged {
    let mut pairs = Vec::new();
    for pair in cells.windows(2) {
        match neighbours(data, metric, (&pair[0], &pair[1])) {
            Ok(pair) => pairs.push(pair),
            Err((verdict, why)) => return Judged::without_interval(verdict, why),
        }
    }
    let p_values: Vec<f64> = pairs.iter().map(|pair| pair.test.p_value()).collect();
    let adjusted = holm(&p_values);
    let alpha = 1.0 - data.confidence;
    let shown = |wanted: Verdict| {
        let is = move |(pair, p): (&Neighbours, &f64)| *p < alpha && direction(metric, pair) == wanted;
        pairs.iter().zip(&adjusted).map(is).collect::<Vec<bool>>()
    };
    let holds = !pairs.is_empty() && shown(Verdict::Faster).into_iter().all(|is| is);
    let contradicts = shown(Verdict::Slower).into_iter().any(|is| is);
    let told = pairs.iter().zip(&adjusted).map(|(pair, p)| told(data, metric, pair, *p));
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
    metric: Metric,
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
fn direction(metric: Metric, pair: &Neighbours) -> Verdict {
    verdict_of_difference(metric, &pair.test, 0.0)
}

/// `a against b ratio 1.04 (95 % interval 1.03 to 1.05, p 0.0012 after Holm)`.
fn told(data: &RunData<'_>, metric: Metric, pair: &Neighbours, p: f64) -> Said {
    let (low, high) = pair.test.interval(data.confidence);
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
        "claims.ordering.against_after_holm",
        "{a} against {b} {kind} {estimate} ({interval} {low} to {high}, {p} after Holm)",
        a = &pair.names.0,
        b = &pair.names.1,
        kind,
        estimate,
        interval = data.interval_name(),
        low,
        high,
        p = words::p_value(p)
    )
}
