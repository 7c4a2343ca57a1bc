//! What an expression yields while a request is made: a number, or a text in scratch memory.

use std::ops::Range;

/// A text in scratch memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Span {
    pub(crate) fn range(self) -> Range<usize> {
        self.from..self.to
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Int(i128),
    Float(f64),
    Text(Span),
}
