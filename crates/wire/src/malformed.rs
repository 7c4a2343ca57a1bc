//! The ways in which an answer can fail to be HTTP/1.1.

/// What is wrong with an answer. Each is counted in the error class `malformed`; the text is kept as an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Malformed {
    /// The first bytes are not `HTTP/1.`.
    #[error("the answer does not begin with HTTP/1.")]
    NoStatusLine,
    /// The status line or a header field breaks the grammar.
    #[error("bad header section: {0}")]
    Head(&'static str),
    /// More than 64 KiB of header section.
    #[error("the header section is longer than 64 KiB")]
    HeadTooLong,
    /// More than 1,024 header fields.
    #[error("more than 1024 header fields")]
    TooManyHeaders,
    /// Content-Length is not a number.
    #[error("Content-Length is not a number")]
    BadLength,
    /// Content-Length is a number that does not fit 64 bits, or is longer than 32 digits.
    #[error("Content-Length is too large: it does not fit 64 bits")]
    LengthTooLarge,
    /// Content-Length given twice with different values, or beside Transfer-Encoding.
    #[error("conflicting lengths")]
    ConflictingLengths,
    /// A chunk size that is not hexadecimal or is followed by something else.
    #[error("bad chunk")]
    BadChunk,
    /// A chunk larger than 2^60 bytes, or a chunk extension longer than 4 KiB.
    #[error("chunk size or extension too large")]
    ChunkTooLarge,
    /// A trailer field without a colon, or with a byte that no field may have.
    #[error("bad trailer field: it is not `Name: value`")]
    BadTrailer,
    /// More than 64 KiB of trailer fields.
    #[error("the trailers are longer than 64 KiB")]
    TrailersTooLong,
    /// More than 32 interim (1xx) answers before the final one.
    #[error("more than 32 interim answers")]
    TooManyInterim,
    /// 101, though no upgrade was asked for.
    #[error("101 Switching Protocols, though none was asked for")]
    Upgrade,
}
