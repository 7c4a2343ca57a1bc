//! Calls of gRPC: what a method takes is looked up in `.proto` files or a descriptor set, and messages are encoded before
//! the load, as far as they are always the same.
//!
//! Descriptors end here: what goes on is bytes, and for templates the parts of a message by field numbers.
//! Absent on purpose: asking a server what it offers (reflection), and values taken from messages.

mod answer;
mod call;
mod descriptors;
mod encode;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use call::call;
