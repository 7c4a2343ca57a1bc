//! Statistics on plain numbers. Nothing here knows trials, blocks or files.
//!
//! Invariants: inputs are checked, outputs are finite, and what cannot be computed is a [`Refusal`].

pub mod bisection;
pub mod bootstrap;
pub mod by_position;
pub mod circular;
pub mod cusum;
pub mod e_divisive;
pub mod exchange;
pub mod factorial;
pub mod false_discovery;
pub mod fieller;
pub mod fit;
pub mod holm;
pub mod kneedle;
pub mod laws;
pub mod least_squares;
pub mod levels;
pub mod memory;
pub mod mser;
pub mod order;
pub mod outliers;
pub mod pelt;
pub mod power;
pub mod rank;
pub mod rank_sum;
pub mod rising;
pub mod scaling;
pub mod scaling_choice;
pub mod search;
pub mod sections;
pub mod segmented;
pub mod sequential;
#[cfg(test)]
mod series;
pub mod shapes;
pub mod signed_rank;
pub mod similar;
mod step_law;
pub mod student;
pub mod tost;
pub mod trend;
pub mod usl;
pub mod welch;

use schema::said;
use schema::said::Said;
use std::fmt;

/// Why a statistic is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Too few values.
    TooFew {
        /// Fewest that would do.
        needed: usize,
        /// How many there were.
        had: usize,
    },
    /// The values do not differ, so their spread cannot be estimated.
    NoSpread {
        /// How many there were.
        had: usize,
    },
    /// Two series that belong together differ in length.
    Unpaired {
        /// Length of the first series.
        first: usize,
        /// Length of the second.
        second: usize,
    },
    /// So many values are equal that no variance is left.
    TooManyTies {
        /// How many values there were.
        had: usize,
    },
    /// Too many values.
    TooMany {
        /// Most that are taken.
        most: usize,
        /// How many there were.
        had: usize,
    },
    /// Times that do not rise from one value to the next.
    Disordered,
    /// The best answer is the last one allowed, so a better one may lie beyond.
    AtLimit {
        /// How many values there were.
        had: usize,
    },
    /// A value is NaN or infinite.
    NotFinite,
    /// Levels are not in rising order, or one stands twice.
    NotRising,
    /// A value is 0 or negative where only positive ones have a meaning.
    NotPositive,
}

impl Refusal {
    /// Why, and what would cure it.
    #[must_use]
    pub fn said(&self) -> Said {
        match *self {
            Self::TooFew { needed, had } => {
                said!("stats.too_few", "{needed} values needed, had {had}: measure more often", needed, had)
            }
            Self::NoSpread { had } => said!(
                "stats.no_spread",
                "all {had} values are equal, so their spread is unknown: measure with a \
                 finer resolution",
                had
            ),
            Self::Unpaired { first, second } => said!(
                "stats.unpaired",
                "{first} values were given with {second} others, one each is needed: leave out what has no \
                 partner",
                first,
                second
            ),
            Self::TooManyTies { had } => said!(
                "stats.too_many_ties",
                "too many of the {had} values are equal for an interval: measure longer or with \
                 a finer resolution",
                had
            ),
            Self::TooMany { most, had } => said!(
                "stats.too_many",
                "{had} values are more than the {most} that this is made for: leave out the oldest, or join \
                 neighbours",
                had,
                most
            ),
            Self::Disordered => said!(
                "stats.disordered",
                "the times of the values do not rise: put them in order, one value a time"
            ),
            Self::AtLimit { had } => said!(
                "stats.at_limit",
                "the best cut of {had} values is the latest one allowed, so the start-up may last longer: measure \
                 longer",
                had
            ),
            Self::NotFinite => said!(
                "stats.not_finite",
                "a value is not a finite number: look for the fault in what produced it"
            ),
            Self::NotRising => {
                said!("stats.not_rising", "the levels do not rise: sort them and give each once")
            }
            Self::NotPositive => said!(
                "stats.not_positive",
                "a value is 0 or negative, which has no logarithm: leave out levels at which \
                 nothing was answered"
            ),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.said().fmt(f)
    }
}

impl std::error::Error for Refusal {}

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

/// Refuses pairs that are no curve over strictly rising levels.
fn check_curve(x: &[f64], y: &[f64], needed: usize) -> Result<(), Refusal> {
    check_values(x, needed)?;
    check_values(y, needed)?;
    if x.len() != y.len() {
        return Err(Refusal::TooFew { needed: x.len().max(y.len()), had: x.len().min(y.len()) });
    }
    if x.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(Refusal::NotRising);
    }
    Ok(())
}
