//! What bytes mean: the HTTP/1.1 request encoder, the incremental response parser, the request after a redirect, and
//! the parts of a URL.
//!
//! Invariants: any split of the same bytes gives the same events, the same end and the same error; input is
//! untrusted, so every length is bounded and a malformed answer is a classified error, never a panic or a hang.
//! Absent on purpose: sockets, clocks, content codings, and any opinion on whether an answer is right.

mod chunked;
mod encode;
mod head;
mod location;
mod malformed;
mod redirect;
mod response;
mod url;

pub use encode::{
    CHUNKED_HEAD_END, EncodeError, RequestHead, encode_chunked_request, encode_request, push_chunks,
};
pub use head::{HEAD_BYTES_MAX, Header};
pub use location::{Astray, LOCATION_BYTES_MAX, Origin};
pub use malformed::Malformed;
pub use redirect::{REDIRECTS, is_redirect, redirected};
pub use response::{Ended, Feed, ResponseParser, Visit};
pub use url::{URL_BYTES_MAX, UrlParts};
