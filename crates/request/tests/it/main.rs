//! Tests of the crate from outside, in one binary.

mod captures;
mod checks;
mod codings;
mod common;
mod guide;
