//! The audit as its callers see it: sound tables pass, planted faults are found, hostile texts end in an error.

mod asked;
mod hostile;
mod planted;
mod reading;
mod simulate;
mod sound;
mod tools;

pub(crate) use asked::audited;
