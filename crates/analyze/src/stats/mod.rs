//! Statistics on plain numbers. Nothing here knows trials, blocks or files.
//!
//! Invariants: inputs are checked, outputs are finite, and what cannot be computed is a [`Refusal`].

pub mod fit;
pub mod holm;
pub mod mser;
pub mod order;
pub mod pelt;
pub mod rank;
#[cfg(test)]
mod series;
pub mod signed_rank;
pub mod student;
pub mod trend;

/// Why a statistic is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Too few values.
    #[error("{needed} values needed, had {had}: measure more often")]
    TooFew {
        /// Fewest that would do.
        needed: usize,
        /// How many there were.
        had: usize,
    },
    /// The values do not differ, so their spread cannot be estimated.
    #[error("all {had} values are equal, so their spread cannot be told: measure with a finer resolution")]
    NoSpread {
        /// How many there were.
        had: usize,
    },
    /// Two series that belong together differ in length.
    #[error(
        "{first} values were given with {second} others, one each is needed: leave out what has no partner"
    )]
    Unpaired {
        /// Length of the first series.
        first: usize,
        /// Length of the second.
        second: usize,
    },
    /// So many values are equal that no variance is left.
    #[error(
        "too many of the {had} values are equal for an interval: measure longer or with a finer resolution"
    )]
    TooManyTies {
        /// How many values there were.
        had: usize,
    },
    /// The best answer is the last one allowed, so a better one may lie beyond.
    #[error(
        "the best cut of {had} values is the latest one allowed, so the start-up may last longer: measure longer"
    )]
    AtLimit {
        /// How many values there were.
        had: usize,
    },
    /// A value is NaN or infinite.
    #[error("a value is not a finite number: look for the fault in what produced it")]
    NotFinite,
}

/// Refuses what no statistic here accepts.
fn check_values(values: &[f64], needed: usize) -> Result<(), Refusal> {
    if values.iter().any(|value| !value.is_finite()) {
        return Err(Refusal::NotFinite);
    }
    if values.len() < needed {
        return Err(Refusal::TooFew { needed, had: values.len() });
    }
    Ok(())
}
