//! A mistake, here or in a file that is named here.

use crate::error::PlanError;
use schema::text::Problem;

/// A mistake in what is resolved, or in a file that it names.
#[derive(Debug)]
pub enum Wrong {
    /// At a key of what is resolved: a file names the line, the command line the flag.
    Here(Problem),
    /// In another file, or one that is shown as it is.
    Elsewhere(PlanError),
}

impl From<Problem> for Wrong {
    fn from(problem: Problem) -> Self {
        Self::Here(problem)
    }
}

impl From<PlanError> for Wrong {
    fn from(error: PlanError) -> Self {
        Self::Elsewhere(error)
    }
}
