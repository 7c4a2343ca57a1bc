//! A mistake, here or in a file that is named here.

use crate::RunnerError;
use schema::text::Problem;

/// A mistake in the experiment file itself, or in a file that it names.
pub(crate) enum Wrong {
    Here(Problem),
    Elsewhere(RunnerError),
}

impl From<Problem> for Wrong {
    fn from(problem: Problem) -> Self {
        Self::Here(problem)
    }
}

impl From<RunnerError> for Wrong {
    fn from(error: RunnerError) -> Self {
        Self::Elsewhere(error)
    }
}
