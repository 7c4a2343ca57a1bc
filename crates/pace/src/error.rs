//! Why a schedule or a think time cannot be made.

/// Each says cause and remedy.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PaceError {
    /// Rate outside the range.
    #[error("the rate {0}/s is out of range; give a rate from 0.000001 to 1000000000 per second")]
    Rate(f64),
    /// A parameter of a law outside its range.
    #[error("{name} {value} is out of range; give from {low} to {high}")]
    Parameter {
        /// Its key.
        name: &'static str,
        /// What was given.
        value: f64,
        /// Smallest.
        low: f64,
        /// Largest.
        high: f64,
    },
    /// A shape that cannot be followed.
    #[error("the shape cannot be followed: {0}")]
    Shape(&'static str),
    /// Recorded times that cannot be replayed.
    #[error("the recording cannot be replayed: {0}")]
    Recording(&'static str),
    /// A shape over recorded times.
    #[error("recorded times have a shape of their own; remove the shape, or use another law")]
    ShapedRecording,
}

impl PaceError {
    /// Refuses a parameter outside [low, high], and one that is not a number.
    pub(crate) fn check(name: &'static str, value: f64, low: f64, high: f64) -> Result<(), Self> {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        Err(Self::Parameter { name, value, low, high })
    }
}
