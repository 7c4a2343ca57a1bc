//! `load.trace`: which share of the requests asks the target to record its trace, as levels of a factor.

use request::untraceable;
use schema::experiment::{Load, OneOrMany};
use schema::plan::ScenarioPlan;
use schema::text::Problem;
use schema::trace_level::TraceLevel;

const KEY: &str = "load.trace";

/// The levels of a load, in the order written. A share of nothing is one of them and is not `off`: its headers cost what
/// they cost.
///
/// # Errors
/// A share that cannot be, an empty list, or a level that is listed twice.
pub(super) fn levels(load: &Load) -> Result<Vec<TraceLevel>, Problem> {
    let levels = load.trace.as_ref().map_or_else(|| vec![TraceLevel::Off], OneOrMany::levels);
    if levels.is_empty() {
        return Err(Problem::at(
            KEY,
            "the list is empty",
            "give at least one level, for example \"1%\" or \"off\"",
        ));
    }
    let shares = levels.iter().filter_map(|level| level.share());
    if let Some(outside) = shares.into_iter().find(|share| !(0.0..=1.0).contains(share)) {
        let cause = format!("a share of {outside} of the traces cannot be sampled");
        return Err(Problem::at(KEY, cause, "give from 0 to 100%, for example 1%"));
    }
    match (1..levels.len()).find(|at| levels[..*at].contains(&levels[*at])) {
        Some(twice) => {
            let cause = format!("the list has {} twice", levels[twice]);
            Err(Problem::at(KEY, cause, "give each level once"))
        }
        None => Ok(levels),
    }
}

/// `, trace 1%` where the level is one of several; else nothing.
pub(crate) fn suffix(level: TraceLevel, levels: &[TraceLevel]) -> String {
    if levels.len() > 1 { format!(", trace {level}") } else { String::new() }
}

/// # Errors
/// The load has traces, and a request of the scenario cannot carry one.
pub(crate) fn check(load: &Load, scenario: &ScenarioPlan) -> Result<(), Problem> {
    let is_on = |levels: &OneOrMany<TraceLevel>| levels.levels().iter().any(|level| level.share().is_some());
    match load.trace.as_ref().filter(|levels| is_on(levels)).and_then(|_| untraceable(scenario)) {
        Some(error) => Err(Problem::at(KEY, error.cause, error.remedy)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use OneOrMany::{Many, One};
    use TraceLevel::{Off, Share};

    fn of(trace: Option<OneOrMany<TraceLevel>>) -> Result<Vec<TraceLevel>, Problem> {
        levels(&Load { trace, ..Load::default() })
    }

    #[test]
    fn levels_are_kept_as_written_and_none_is_off() {
        assert_eq!(of(None), Ok(vec![Off]));
        assert_eq!(of(Some(One(Share(0.01)))), Ok(vec![Share(0.01)]));
        let all = vec![Share(1.0), Off, Share(0.0)];
        assert_eq!(of(Some(Many(all.clone()))), Ok(all));
    }

    #[test]
    fn levels_that_cannot_be_have_their_key_and_a_remedy() {
        for (given, cause) in [
            (Many(vec![]), "empty"),
            (One(Share(1.01)), "a share of 1.01"),
            (Many(vec![Off, Share(-0.1)]), "a share of -0.1"),
            (Many(vec![Off, Share(0.007), Share(0.7 / 100.0)]), "the list has 0.7% twice"),
            (Many(vec![Off, Off]), "the list has off twice"),
        ] {
            let problem = of(Some(given)).unwrap_err();
            assert_eq!(problem.key, ["load", "trace"]);
            assert!(problem.cause.contains(cause) && !problem.remedy.is_empty(), "{problem:?}");
        }
    }
}
