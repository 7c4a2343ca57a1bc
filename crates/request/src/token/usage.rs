//! Which token a request carries.

use schema::load::TokenKind;

/// A token in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenUse {
    /// Place among the token makers.
    pub maker: u8,
    /// How it was made.
    pub kind: TokenKind,
}
