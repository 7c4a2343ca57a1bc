//! `[[claim]]`: from names and a load level to two cells and a bound.

use schema::experiment::{At, Claim};
use schema::plan::{CellPlan, ClaimComparison, ClaimPlan, TargetPlan};
use schema::text::{Problem, nearest};

pub(super) fn resolve(
    claims: &[Claim],
    targets: &[TargetPlan],
    cells: &[CellPlan],
) -> Result<Vec<ClaimPlan>, Problem> {
    claims.iter().enumerate().map(|(position, claim)| one(position, claim, targets, cells)).collect()
}

fn one(
    position: usize,
    claim: &Claim,
    targets: &[TargetPlan],
    cells: &[CellPlan],
) -> Result<ClaimPlan, Problem> {
    let key = |name: &str| format!("claim.{position}.{name}");
    let (comparison, bound) = ratio(&claim.ratio).ok_or_else(|| {
        let cause = format!("`{}` is no comparison", claim.ratio);
        Problem::at(
            &key("ratio"),
            cause,
            "write >=, >, <= or < and a positive number, for example \">= 1.0\"",
        )
    })?;
    let cell = |name: &str, at_key: &str, at: &At| {
        if !targets.iter().any(|target| target.name == name) {
            let names = || targets.iter().map(|target| target.name.as_str());
            let remedy = match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("name one of: {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(Problem::at(&key(at_key), format!("there is no target `{name}`"), remedy));
        }
        let mut fitting = cells.iter().filter(|cell| cell.target == name && is_at(cell, at));
        match (fitting.next(), fitting.next()) {
            (Some(cell), None) => Ok(cell.id.clone()),
            (None, _) => {
                Err(Problem::at(&key("at"), "no cell has this load", "name a level that [load] lists"))
            }
            (Some(_), Some(_)) => {
                let remedy = "add at = { connections = … }, at = { rate = … } or at = { cpus = … }";
                Err(Problem::at(&key("at"), "the load has several levels", remedy))
            }
        }
    };
    let numerator = cell(&claim.better, "better", &claim.at)?;
    let denominator = cell(&claim.than, "than", &over(claim.than_at, claim.at))?;
    if numerator == denominator {
        let remedy = "name two targets, or the other level of this one in than_at = { … }";
        return Err(Problem::at(&key("than"), "a target is compared with itself", remedy));
    }
    Ok(ClaimPlan {
        text: claim.text.clone(),
        metric: claim.metric,
        numerator,
        denominator,
        comparison,
        bound,
    })
}

/// The level of `first`, and where it says nothing, of `rest`.
fn over(first: At, rest: At) -> At {
    At {
        connections: first.connections.or(rest.connections),
        rate: first.rate.or(rest.rate),
        cpus: first.cpus.or(rest.cpus),
    }
}

fn is_at(cell: &CellPlan, at: &At) -> bool {
    at.connections.is_none_or(|wanted| wanted.0 == u64::from(cell.load.connections))
        && at.rate.is_none_or(|wanted| cell.load.rate_per_s == Some(wanted.0))
        && at.cpus.is_none_or(|wanted| cell.limits.cpus == Some(wanted))
}

fn ratio(text: &str) -> Option<(ClaimComparison, f64)> {
    const SIGNS: [(&str, ClaimComparison); 4] = [
        (">=", ClaimComparison::AtLeast),
        ("<=", ClaimComparison::AtMost),
        (">", ClaimComparison::MoreThan),
        ("<", ClaimComparison::LessThan),
    ];
    let text = text.trim();
    let (sign, comparison) = SIGNS.into_iter().find(|(sign, _)| text.starts_with(sign))?;
    let bound: f64 = text[sign.len()..].trim().parse().ok()?;
    (bound.is_finite() && bound > 0.0).then_some((comparison, bound))
}
