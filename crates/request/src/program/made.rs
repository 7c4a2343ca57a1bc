//! Requests that were made: which they are and where their bytes are.

use crate::token::TokenUse;
use std::ops::Range;

/// Where the bytes of a request are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// In the program's lasting bytes.
    Lasting {
        /// First byte.
        from: u32,
        /// Behind the last byte.
        to: u32,
    },
    /// In the caller's buffer.
    Rendered,
}

impl Bytes {
    /// The place in the program's lasting bytes.
    #[inline]
    #[must_use]
    pub const fn lasting(self) -> Option<Range<usize>> {
        match self {
            Self::Lasting { from, to } => Some(from as usize..to as usize),
            Self::Rendered => None,
        }
    }
}

/// A request that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Place among the names.
    pub entry: u16,
    /// Its bytes.
    pub bytes: Bytes,
    /// The token that it carries; the first one, where it carries several.
    pub token: Option<TokenUse>,
}
