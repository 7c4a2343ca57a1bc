//! Scripts as users write them: wrk's examples, what goes wrong, and how states hand values to each other.

mod against_wrk;
mod bench;
mod errors;
mod examples;
mod states;
