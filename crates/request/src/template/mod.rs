//! The language of `${…}` and of `[vars]`: parsed and checked once, evaluated for each request.
//!
//! `lex` and `parse` make trees of texts, `compile` resolves names (`scope`) and functions (`functions`) into `node`s,
//! `eval` computes them. Invariants: any text gives a tree or a fault with its place; what is random is drawn from the
//! request's own generator; evaluation neither allocates once warm nor panics.
//! Absent on purpose: control flow, variables that change, input and output.

mod compile;
pub(crate) mod eval;
mod functions;
mod lex;
pub(crate) mod message;
pub(crate) mod node;
mod parse;
mod scope;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod value;
mod zipf;

pub(crate) use compile::{compile_text, compile_vars};
pub(crate) use lex::Fault;
pub(crate) use node::Piece;
pub(crate) use scope::{Scope, Var};
