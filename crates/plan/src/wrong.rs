//! A mistake, here or in a file that is named here.

use crate::error::PlanError;
use schema::text::Problem;

/// A mistake in the experiment file itself, or in a file that it names.
pub(crate) enum Wrong {
    Here(Problem),
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
