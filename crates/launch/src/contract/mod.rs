//! The contract: a target answers fixed requests as the files under `targets/contract/` say, before load begins.
//!
//! Invariants: a fresh connection each time, of the version of HTTP that the load speaks; the request is what the load would
//! send, calls of gRPC among them, and the answer is judged by the checks that judge answers under load; the
//! body that was seen is handed out, so that the load can require the same bytes again; an error says what was expected and
//! what came, bounded and without control characters.

mod explain;
mod follow;
pub mod route;
#[cfg(test)]
mod tests;

use crate::tail::clean;
pub use follow::Follow;
use probe::{Answer, Limits, ProbeError, Session, Tls};
use request::{Call, CallCheck, Check, CheckError, Notes};
use schema::plan::{BodyExpectation, EntryPlan, ExpectPlan, HttpVersion};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;
use wire::{
    Astray, EncodeError, Header, Http1, Http2, RequestHead, Visit as _, encode_chunked_request,
    encode_request,
};

/// Longest body of a right answer.
const BODY_BYTES_MAX: usize = 8 << 20;
/// Characters shown of why a request cannot be sent; the part of the request comes before the reason.
const REFUSAL_CHARS: usize = 4_000;

/// What a right answer looked like, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The body, decoded from its framing.
    pub body: Vec<u8>,
    /// The status code.
    pub status: u16,
}

/// The contract of a request is broken.
#[derive(Debug, thiserror::Error)]
#[error("contract \"{}\": {fault}", clean(request, 80))]
pub struct ContractError {
    /// Name of the request.
    pub request: String,
    /// How.
    pub fault: ContractFault,
}

/// How a contract is broken.
#[derive(Debug, thiserror::Error)]
pub enum ContractFault {
    /// The request cannot be sent.
    #[error("the request cannot be sent: {}\n  remedy: correct the scenario", clean(&.0.to_string(), REFUSAL_CHARS))]
    Request(#[from] EncodeError),
    /// The expectation is none.
    #[error(transparent)]
    Expectation(#[from] CheckError),
    /// There was no whole answer.
    #[error(transparent)]
    Exchange(#[from] ProbeError),
    /// A redirect that leads elsewhere or nowhere.
    #[error("{why}; its Location is {location}")]
    Astray {
        /// What is wrong with it.
        why: Astray,
        /// As it came.
        location: String,
    },
    /// Redirect after redirect.
    #[error("more than {0} redirects")]
    Redirects(u32),
    /// Another status.
    #[error("status {got}, expected {expected}; the body begins with {body}")]
    Status {
        /// Accepted codes.
        expected: String,
        /// What came.
        got: u16,
        /// The beginning of the body, often the reason.
        body: String,
    },
    /// A header is missing or begins otherwise.
    #[error("header {name}: expected a value that begins with {expected}, got {got}")]
    Header {
        /// Name in lower case.
        name: String,
        /// The prefix.
        expected: String,
        /// The values, or that there is none.
        got: String,
    },
    /// Another body; says where it differs.
    #[error("the body {0}")]
    Body(String),
    /// A call that did not come to what it should.
    #[error("{0}")]
    Call(String),
}

/// Who is asked, and how.
#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    /// Where it listens.
    pub addr: SocketAddr,
    /// The value of `Host`.
    pub host: &'a str,
    /// What it is reached over; absent without TLS. For HTTP/2 it offers that alone.
    pub tls: Option<&'a Tls>,
    /// How it is spoken to, but for calls ([`EntryPlan::http`]).
    pub http: HttpVersion,
    /// Bounds each exchange.
    pub timeout: Duration,
}

/// Sends a request without templates once and checks the answer for all that its `expect` says, whatever its `sample`.
/// Redirects are followed where that is given.
///
/// # Errors
/// The request cannot be sent, there is no whole answer in time, the answer is not as expected, or a redirect cannot
/// be followed.
pub fn check(
    peer: Peer<'_>,
    entry: &EntryPlan,
    follow: Option<Follow<'_>>,
) -> Result<Verified, ContractError> {
    ask(peer, entry, follow).map_err(|fault| ContractError { request: entry.name.clone(), fault })
}

fn ask(peer: Peer<'_>, entry: &EntryPlan, follow: Option<Follow<'_>>) -> Result<Verified, ContractFault> {
    let check = compile(entry)?;
    let answer = match entry.http(peer.http) {
        HttpVersion::V1_1 => over_http1(peer, entry, follow)?,
        HttpVersion::V2 => over_http2(peer, entry, follow)?,
    };
    judge(&check, &answer)?;
    // By meaning, and whatever the length: under load the very bytes seen here are required.
    if let BodyExpectation::Json(expected) = &entry.expect.body {
        let headers = headers(&answer.headers);
        explain::json(expected, &request::decoded(&headers, &answer.body)).map_or(Ok(()), Err)?;
    }
    Ok(Verified { body: answer.body, status: answer.status })
}

fn over_http1(
    peer: Peer<'_>,
    entry: &EntryPlan,
    follow: Option<Follow<'_>>,
) -> Result<Answer, ContractFault> {
    let request = encode(entry, peer.host)?;
    let is_head = entry.request.method == "HEAD";
    let exchange =
        |request: &[u8]| probe::exchange_over(peer.addr, peer.tls, request, is_head, peer.limits());
    follow::to_the_end::<Http1>(request, follow, exchange)
}

fn over_http2(
    peer: Peer<'_>,
    entry: &EntryPlan,
    follow: Option<Follow<'_>>,
) -> Result<Answer, ContractFault> {
    // A call has no Content-Length.
    let chunk_bytes = if entry.grpc.is_some() { Some(NonZeroUsize::MAX) } else { entry.chunk_bytes() };
    // Before the connection: what would break the framing is a mistake of the plan.
    let request = head(entry, peer.host).framed::<Http2>(&entry.request.body, chunk_bytes)?;
    let exchange =
        |request: &[u8]| Session::open(peer.addr, peer.tls, peer.limits())?.exchange_framed(request);
    follow::to_the_end::<Http2>(request, follow, exchange)
}

impl Peer<'_> {
    const fn limits(&self) -> Limits {
        Limits { timeout: self.timeout, body_bytes: BODY_BYTES_MAX }
    }
}

fn head<'a>(entry: &'a EntryPlan, host: &'a str) -> RequestHead<'a> {
    let request = &entry.request;
    RequestHead { method: &request.method, target: &request.path, host, headers: &request.headers }
}

fn encode(entry: &EntryPlan, host: &str) -> Result<Vec<u8>, EncodeError> {
    let (head, body) = (head(entry, host), &entry.request.body);
    match entry.chunk_bytes() {
        Some(chunk_bytes) => encode_chunked_request(&head, body, chunk_bytes),
        None => encode_request(&head, body),
    }
}

/// The check that the load would use, of every answer, and without the body that is compared by meaning.
fn compile(entry: &EntryPlan) -> Result<Check, CheckError> {
    let body = match &entry.expect.body {
        BodyExpectation::Json(_) => BodyExpectation::Any,
        other => other.clone(),
    };
    let expect = ExpectPlan { body, sample: None, ..entry.expect.clone() };
    let place = |name: &str| entry.capture.keys().position(|known| known == name).unwrap_or_default();
    let check = Check::compile(&expect, None, &entry.capture, &place, false)?;
    Ok(match &entry.grpc {
        Some(call) => check.of_call(CallCheck::of_plan(call, &place)),
        None => check,
    })
}

fn headers(fields: &[(String, String)]) -> Vec<Header<'_>> {
    fields.iter().map(|(name, value)| Header { name: name.as_str(), value: value.as_bytes() }).collect()
}

fn judge(check: &Check, answer: &Answer) -> Result<(), ContractFault> {
    let headers = headers(&answer.headers);
    let (mut state, mut notes) = (request::Answer::default(), Notes::default());
    state.judge(check, &mut notes).head(answer.status, &headers);
    let judged = match check.call() {
        None => {
            state.judge(check, &mut notes).body(&answer.body);
            state.finish(check, &mut notes)
        }
        Some(rule) => {
            let mut call = Call::default();
            call.head(rule, answer.status, &headers, &mut notes);
            // What is wrong with the body is found again at the end.
            let _ = call.body(rule, &answer.body, &mut notes);
            state.count_body(answer.body.len());
            if !answer.trailers.is_empty() {
                call.trailers(rule, &self::headers(&answer.trailers), &mut notes);
            }
            call.finish(rule, state.finish(check, &mut notes), &mut notes)
        }
    };
    explain::fault(check, judged, answer, &notes).map_or(Ok(()), Err)
}
