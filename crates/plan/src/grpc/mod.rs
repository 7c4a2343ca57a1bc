//! Calls of gRPC: what a method takes is looked up in `.proto` files, in a descriptor set, or by asking the server, and
//! messages are encoded before the load, as far as they are always the same.
//!
//! Descriptors end here: what goes on is bytes, and for templates the parts of a message by field numbers.
//! Absent on purpose: the connection on which a server is asked ([`Ask`] is whoever has one).

mod answer;
mod call;
mod descriptors;
mod encode;
mod metadata;
mod reflection;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use call::{Wanted, call};
pub use reflection::{Ask, Reflection, Unanswered};

use std::path::Path;

/// What calls are resolved by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources<'a> {
    /// What files are relative to.
    pub(crate) folder: &'a Path,
    /// The server, where it may be asked.
    pub(crate) server: Option<&'a Reflection<'a>>,
}
