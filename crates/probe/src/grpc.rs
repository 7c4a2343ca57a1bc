//! Calls of gRPC with one message each way, one after the other on a session; and whether a server says that it serves
//! (`grpc.health.v1`).
//!
//! A method that takes a stream of messages is asked with one, too: the stream then ends with it.

use crate::{Answer, Limits, ProbeError, Session, Tls};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use wire::grpc::{self, Code, Messages, Part};
use wire::{Header, RequestHead};

/// The path of the check of `grpc.health.v1`.
const HEALTH: &str = "/grpc.health.v1.Health/Check";
/// Field 1 of its answer, the status, with the value SERVING.
const SERVING: &[u8] = &[0x08, 1];
/// Most bytes of a server's own words.
const WORDS_BYTES_MAX: usize = 200;

/// Why a call gave no message.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// There was no whole answer.
    #[error(transparent)]
    Exchange(#[from] ProbeError),
    /// Another status than OK.
    #[error("grpc-status {code}{}", in_words(words))]
    Status {
        /// The status.
        code: Code,
        /// The server's own words, perhaps none; cut short.
        words: String,
    },
    /// An answer that is none of gRPC.
    #[error("the answer is not gRPC as it should be: {0}; check the address and what serves there")]
    Broken(String),
    /// A server that answers the check of its health, and does not serve.
    #[error("grpc.health.v1 says that it does not serve; look at the server's log")]
    NotServing,
}

fn in_words(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {}", words.escape_debug()) }
}

/// Calls a method once: `path` is `/package.Service/Method`. The message of its answer; of several the first.
///
/// # Errors
/// No answer within the session's limits, another status than OK, or what is no gRPC.
pub fn call(
    session: &mut Session,
    host: &str,
    path: &str,
    metadata: &[(String, String)],
    message: &[u8],
) -> Result<Vec<u8>, CallError> {
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut headers = vec![field("content-type", "application/grpc"), field("te", "trailers")];
    headers.extend_from_slice(metadata);
    let head = RequestHead { method: "POST", target: path, host, headers: &headers };
    let body = grpc::frame(message, false)
        .map_err(|bytes| CallError::Broken(format!("a message of {bytes} bytes is too long")))?;
    // A call has no Content-Length.
    let answer = session.exchange(&head, &body, Some(NonZeroUsize::MAX))?;
    first_message(&answer)
}

fn first_message(answer: &Answer) -> Result<Vec<u8>, CallError> {
    if answer.status != 200 {
        return Err(CallError::Exchange(ProbeError::Status(answer.status)));
    }
    let (head, trailers) = (fields(&answer.headers), fields(&answer.trailers));
    let broken = |fault: grpc::Fault| CallError::Broken(fault.to_string());
    if !grpc::is_grpc(&head) {
        return Err(broken(grpc::Fault::NotGrpc));
    }
    let status = grpc::status_of_answer(&head, &answer.body, &trailers).map_err(broken)?;
    let status = status.ok_or_else(|| broken(grpc::Fault::NoStatus))?;
    if status.code != Code::OK {
        let mut words = Vec::new();
        grpc::push_message(status.message, WORDS_BYTES_MAX, &mut words);
        let words = String::from_utf8_lossy(&words).into_owned();
        return Err(CallError::Status { code: status.code, words });
    }
    let (mut messages, mut first, mut count) = (Messages::default(), Vec::new(), 0);
    let read = messages.feed(&answer.body, grpc::is_compressed(&head), |part| match part {
        Part::Begin(_) => count += 1,
        Part::Bytes(bytes) if count == 1 => first.extend_from_slice(bytes),
        Part::Bytes(_) | Part::End => {}
    });
    read.and_then(|()| messages.end()).map_err(broken)?;
    if count == 0 { Err(broken(grpc::Fault::NoMessage)) } else { Ok(first) }
}

fn fields(fields: &[(String, String)]) -> Vec<Header<'_>> {
    fields.iter().map(|(name, value)| Header { name, value: value.as_bytes() }).collect()
}

/// Asks a server whether it serves, over a connection of its own. The service without a name is the whole server.
///
/// # Errors
/// It does not answer within the limits, or says that it does not serve.
pub fn serves(addr: SocketAddr, tls: Option<&Tls>, limits: Limits) -> Result<(), CallError> {
    let mut session = Session::open(addr, tls, limits)?;
    let answer = call(&mut session, &addr.to_string(), HEALTH, &[], &[])?;
    if answer == SERVING { Ok(()) } else { Err(CallError::NotServing) }
}
