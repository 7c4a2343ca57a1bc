//! Runs in progress, from their files alone: followed while somebody watches, and sent as events.

mod findings;
mod follow;
mod frame;
mod hub;
mod stream;
mod watch;

pub(crate) use follow::follow;
pub(crate) use hub::Hub;
pub(crate) use stream::{Received, stream};
