//! A published table that was audited (`prony audit`).

pub(crate) mod markdown;
pub(crate) mod text;
pub(crate) mod words;
