//! How values stand in a message of protobuf: the wire types.
//!
//! Source: the encoding of Protocol Buffers (protobuf.dev/programming-guides/encoding).

use schema::plan::ScalarKind;

pub(crate) const VARINT: u8 = 0;
pub(crate) const EIGHT_BYTES: u8 = 1;
pub(crate) const DELIMITED: u8 = 2;
pub(crate) const FOUR_BYTES: u8 = 5;

/// The wire type of values of this type.
pub(crate) const fn wire_type(kind: ScalarKind) -> u8 {
    use ScalarKind as K;
    match kind {
        K::Double | K::Fixed64 | K::Sfixed64 => EIGHT_BYTES,
        K::Float | K::Fixed32 | K::Sfixed32 => FOUR_BYTES,
        K::String | K::Bytes => DELIMITED,
        K::Int32 | K::Int64 | K::Uint32 | K::Uint64 | K::Sint32 | K::Sint64 | K::Bool | K::Enum => VARINT,
    }
}
