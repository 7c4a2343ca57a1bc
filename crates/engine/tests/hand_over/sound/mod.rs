//! Control and hand-over over loom's primitives, as the standard library's promise to work.
#![allow(dead_code, unreachable_pub)]

#[path = "../../../src/control.rs"]
mod control;
#[path = "../../../src/hand_over.rs"]
mod hand_over;
#[path = "../model.rs"]
pub(crate) mod model;
mod sync;
