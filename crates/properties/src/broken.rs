//! The one error of this crate: a property that does not hold.

/// A property that does not hold: which, and what was seen instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Broken(pub String);

impl Broken {
    /// Demands that `holds`; `what` says what is broken otherwise.
    ///
    /// # Errors
    /// It does not hold.
    pub fn unless(holds: bool, what: impl FnOnce() -> String) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self(what())) }
    }
}
