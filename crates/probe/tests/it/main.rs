//! Tests of the crate from outside, in one binary.

mod exchange;
mod session;
