//! The ways in which a header block can fail to be HPACK.

/// What is wrong with a header block. The tables of both sides differ from then on: the connection is of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum HpackError {
    /// The block ends within a field.
    #[error("the header block ends within a field")]
    CutOff,
    /// An integer of more than six bytes, or above 32 bits (RFC 7541 §5.1).
    #[error("an integer of the header block does not fit 32 bits")]
    Integer,
    /// Index 0, or one behind the end of the tables (RFC 7541 §2.3.3).
    #[error("an index of the header block leads to no field")]
    Index,
    /// A Huffman code that is EOS, or padding that is longer than 7 bits or has a zero (RFC 7541 §5.2).
    #[error("bad Huffman code in the header block")]
    Huffman,
    /// A table size update that is not at the block's begin (RFC 7541 §4.2).
    #[error("the header table is resized within a header block")]
    LateUpdate,
    /// A table size above what was announced (RFC 7541 §6.3).
    #[error("the header table is resized beyond what was announced")]
    UpdateTooLarge,
    /// The announced table is smaller than the default, and the first block does not say so (RFC 7541 §4.2).
    #[error("the first header block does not take over the announced table size")]
    UpdateMissing,
    /// More than 64 KiB of fields, each counted with 32 bytes more than its texts (RFC 9113 §6.5.2).
    #[error("the header fields are longer than 64 KiB")]
    ListTooLong,
    /// More than 256 fields.
    #[error("more than 256 header fields")]
    TooManyFields,
}

impl HpackError {
    /// Whether the peer asked for too much, in contrast to what no decoder could read.
    #[must_use]
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::ListTooLong | Self::TooManyFields)
    }
}
