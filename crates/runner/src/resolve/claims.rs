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
    let cell = |name: &str, name_key: &str, (at, at_key): (&At, &str)| {
        if !targets.iter().any(|target| target.name == name) {
            let names = || targets.iter().map(|target| target.name.as_str());
            let remedy = match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("name one of: {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(Problem::at(&key(name_key), format!("there is no target `{name}`"), remedy));
        }
        let mut fitting = cells.iter().filter(|cell| cell.target == name && is_at(cell, at));
        match (fitting.next(), fitting.next()) {
            (Some(cell), None) => Ok(cell.id.clone()),
            (None, _) => {
                let remedy = "name levels that [scenario] and [load] list";
                Err(Problem::at(&key(at_key), "no cell has this scenario and load", remedy))
            }
            (Some(_), Some(_)) => {
                let remedy = format!("add {at_key} = {{ {} }}", varied(cells).join(", "));
                Err(Problem::at(&key(at_key), "scenario or load have several levels", remedy))
            }
        }
    };
    let numerator = cell(&claim.better, "better", (&claim.at, "at"))?;
    let level = over(&claim.than_at, &claim.at);
    let at_key = if claim.than_at == At::default() { "at" } else { "than_at" };
    let denominator = cell(&claim.than, "than", (&level, at_key))?;
    if numerator == denominator {
        let remedy = "name two targets, or another level in than_at";
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

/// What `at` can name, as it is written there: the factors of which the cells have several levels.
fn varied(cells: &[CellPlan]) -> Vec<&'static str> {
    let several = |differs: fn(&CellPlan, &CellPlan) -> bool| {
        cells.first().is_some_and(|first| cells.iter().any(|cell| differs(first, cell)))
    };
    [
        ("scenario = \"…\"", several(|a, b| a.scenario != b.scenario)),
        ("connections = …", several(|a, b| a.load.connections != b.load.connections)),
        ("rate = …", several(|a, b| a.load.rate_per_s != b.load.rate_per_s)),
        ("cpus = …", several(|a, b| a.limits.cpus != b.limits.cpus)),
    ]
    .into_iter()
    .filter_map(|(text, varies)| varies.then_some(text))
    .collect()
}

/// The level of `first`, and where it says nothing, of `rest`.
fn over(first: &At, rest: &At) -> At {
    At {
        scenario: first.scenario.clone().or_else(|| rest.scenario.clone()),
        connections: first.connections.or(rest.connections),
        rate: first.rate.or(rest.rate),
        cpus: first.cpus.or(rest.cpus),
    }
}

fn is_at(cell: &CellPlan, at: &At) -> bool {
    at.scenario.as_ref().is_none_or(|wanted| *wanted == cell.scenario)
        && at.connections.is_none_or(|wanted| wanted.0 == u64::from(cell.load.connections))
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
