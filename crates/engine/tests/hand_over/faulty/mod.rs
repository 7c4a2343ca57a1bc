//! Control and hand-over over primitives that publish nothing: the planted fault.
#![allow(dead_code, unreachable_pub)]

#[path = "../../../src/control.rs"]
mod control;
#[path = "../../../src/hand_over.rs"]
mod hand_over;
#[path = "../model.rs"]
pub(crate) mod model;
mod sync;
