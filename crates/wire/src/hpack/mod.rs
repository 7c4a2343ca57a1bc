//! HPACK (RFC 7541): header blocks of HTTP/2, written for a peer's table and read with one's own.
//!
//! Invariants: everything that a peer can make grow has a limit ([`LIST_BYTES_MAX`], [`FIELDS_MAX`], the tables'
//! capacities); no block panics; reading and writing allocate nothing once their buffers have grown.
//! Absent on purpose: what fields mean (`http2`).

mod block;
mod decode;
mod encode;
mod error;
mod fixed;
mod huffman;
mod integer;
mod list;
mod table;

pub(crate) use block::key;
pub use block::{push_field, push_scheme, push_value};
pub use decode::Decoder;
pub use encode::{Encoder, TABLE_BYTES_MAX};
pub use error::HpackError;
pub use huffman::{decode as huffman_decode, encode as huffman_encode, encoded_bytes as huffman_bytes};
pub use list::{FIELDS_MAX, FieldList, LIST_BYTES_MAX};
pub use table::DEFAULT_TABLE_BYTES;
