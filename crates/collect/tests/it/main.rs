//! Tests of the crate from outside, in one binary.

mod exposition;
mod never_panics;
mod real_runtimes;
