//! `load.trace`: which share of the requests asks the target to record its trace.

use request::untraceable;
use schema::experiment::Load;
use schema::plan::ScenarioPlan;
use schema::share::Share;
use schema::text::Problem;
use schema::traced::TracePlan;

const KEY: &str = "load.trace";

/// The traces of a load; none where it does not ask for any. A share of nothing is one, too: its headers cost what they
/// cost.
///
/// # Errors
/// A share that cannot be.
pub(super) fn plan(load: &Load, seed: u64) -> Result<Option<TracePlan>, Problem> {
    match load.trace {
        Some(Share(share)) if !(0.0..=1.0).contains(&share) => {
            let cause = format!("a share of {share} of the traces cannot be sampled");
            Err(Problem::at(KEY, cause, "give from 0 to 100%, for example 1%"))
        }
        given => Ok(given.map(|Share(share)| TracePlan { share, seed })),
    }
}

/// # Errors
/// The load has traces, and a request of the scenario cannot carry one.
pub(crate) fn check(load: &Load, scenario: &ScenarioPlan) -> Result<(), Problem> {
    match load.trace.and_then(|_| untraceable(scenario)) {
        Some(error) => Err(Problem::at(KEY, error.cause, error.remedy)),
        None => Ok(()),
    }
}
