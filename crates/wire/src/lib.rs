//! What bytes mean: a request in parts and its framing, the incremental response parser, the request after a redirect,
//! and the parts of a URL.
//!
//! What belongs to one protocol is in a folder of its own (`http1`; `http2` and `hpack`; `grpc`); messages, their judgement, URLs
//! and locations are those of all.
//!
//! Invariants: any split of the same bytes gives the same events, the same end and the same error; input is
//! untrusted, so every length is bounded and a malformed answer is a classified error, never a panic or a hang.
//! Absent on purpose: sockets, clocks, content codings, and any opinion on whether an answer is right.

pub mod grpc;
pub mod hpack;
pub mod http1;
pub mod http2;
mod location;
mod malformed;
mod message;
mod request;
mod unfit;
mod url;
pub mod varint;

pub use http1::{
    Chunked, Ended, Feed, HEAD_BYTES_MAX, Header, Http1, REDIRECTS, ResponseParser, Visit,
    encode_chunked_request, encode_request, is_redirect,
};
pub use http2::Http2;
pub use location::{Astray, LOCATION_BYTES_MAX, Origin};
pub use malformed::Malformed;
pub use message::{Fill, Framing, Message, Piece, Planned, Spot};
pub use request::RequestHead;
pub use unfit::{EncodeError, TranslateError};
pub use url::{URL_BYTES_MAX, UrlParts};
