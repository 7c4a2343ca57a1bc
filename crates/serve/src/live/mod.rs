//! Runs in progress, from their files alone: followed while somebody watches, and sent as events.

mod findings;
mod frame;
mod hub;
mod tail;
mod watch;

pub(crate) use frame::{Received, stream};
pub(crate) use hub::Hub;
