//! Tests of the crate from outside, in one binary.

mod fixtures;
mod hostile;
