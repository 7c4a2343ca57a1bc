//! Tests of the crate from outside, in one binary.

mod collections;
mod formats;
mod jmeter;
