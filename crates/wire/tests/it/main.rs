//! Tests of the crate from outside, in one binary.

mod hpack;
mod http2;
mod response;
