//! What `control` and `hand_over` share threads with; `tests/hand_over` puts loom's in its place, and faulty ones.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
pub(crate) use std::sync::mpsc::{Receiver, Sender, channel};
