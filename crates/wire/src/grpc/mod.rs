//! gRPC over HTTP/2 from the client's side: what messages, status, metadata and deadlines look like in bytes.
//!
//! A call is a request of HTTP/2 whose bodies are *messages*, each behind a prefix of five bytes, and whose outcome is a
//! *status* in the trailers, or in the only header section of an answer without messages. Written after the protocol's own
//! description (grpc/doc/PROTOCOL-HTTP2.md).
//! Invariants: any split of the same bytes gives the same parts and the same fault; a message has a longest length; nothing
//! is kept, so nothing grows.
//! Absent on purpose: what a message says (protobuf), time, and whether a call came to what it should.

mod code;
mod fault;
mod limit;
mod message;
mod metadata;
mod status;
mod timeout;

pub use code::Code;
pub use fault::Fault;
pub use limit::MESSAGE_BYTES_MAX;
pub use message::{Messages, PREFIX_BYTES, Part, frame, push_prefix};
pub use metadata::{MetadataError, metadata};
pub use status::{Status, is_compressed, is_grpc, push_message, status, status_of_answer};
pub use timeout::timeout;
