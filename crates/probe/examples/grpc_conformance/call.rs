//! One call as the runner asks for it, and what it came to.

use crate::protobuf::{Value, fields};
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, PAD};
use flate2::read::GzDecoder;
use probe::{Answer, Limits, ProbeError, Session, Stage};
use std::io::Read as _;
use std::net::ToSocketAddrs as _;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};
use wire::grpc::{self, Code, Messages};
use wire::http2::ErrorCode;
use wire::{Header, RequestHead};

/// `COMPRESSION_GZIP`.
const GZIP: u64 = 2;
/// `STREAM_TYPE_UNARY` and `STREAM_TYPE_CLIENT_STREAM`, whose answers have one message.
const ONE_ANSWER: [u64; 2] = [1, 2];
/// Of calls without a time-out of their own.
const PATIENCE: Duration = Duration::from_secs(20);
const BODY_BYTES_MAX: usize = 64 << 20;

/// `ClientCompatRequest`, as far as these calls need it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) name: Vec<u8>,
    compression: u64,
    host: String,
    port: u64,
    message_bytes_max: u64,
    service: String,
    method: String,
    stream_type: u64,
    headers: Vec<(String, String)>,
    messages: Vec<Vec<u8>>,
    timeout_ms: Option<u64>,
}

/// What a call came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) headers: Vec<(String, String)>,
    /// Messages that came before the end.
    pub(crate) messages: Vec<Vec<u8>>,
    pub(crate) trailers: Vec<(String, String)>,
    pub(crate) error: Option<CallError>,
    pub(crate) http_status: u64,
}

/// A status other than OK.
#[derive(Clone, Debug)]
pub(crate) struct CallError {
    pub(crate) code: Code,
    pub(crate) words: String,
    /// Messages `google.protobuf.Any`.
    pub(crate) details: Vec<Vec<u8>>,
}

impl CallError {
    fn new(number: u8, words: impl Into<String>) -> Self {
        let code = Code::of_number(number).unwrap_or(Code::UNKNOWN);
        Self { code, words: words.into(), details: Vec::new() }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Asked {
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut asked = Self::default();
        for (field, value) in fields(bytes)? {
            match (field, value) {
                (1, Value::Bytes(name)) => asked.name = name.to_vec(),
                (5, Value::Number(compression)) => asked.compression = compression,
                (6, Value::Bytes(host)) => asked.host = text(host),
                (7, Value::Number(port)) => asked.port = port,
                (10, Value::Number(limit)) => asked.message_bytes_max = limit,
                (11, Value::Bytes(service)) => asked.service = text(service),
                (12, Value::Bytes(method)) => asked.method = text(method),
                (13, Value::Number(kind)) => asked.stream_type = kind,
                (15, Value::Bytes(header)) => asked.headers.extend(header_values(header)?),
                (16, Value::Bytes(any)) => asked.messages.push(value_of_any(any)?),
                (17, Value::Number(timeout_ms)) => asked.timeout_ms = Some(timeout_ms),
                _ => {}
            }
        }
        Some(asked)
    }

    /// Makes the call over a connection of its own.
    pub(crate) fn call(&self) -> Outcome {
        let begin = Instant::now();
        match self.exchange() {
            Ok(answer) => self.judge(&answer),
            Err(error) => Outcome { error: Some(self.failed(&error, begin.elapsed())), ..Outcome::default() },
        }
    }

    fn exchange(&self) -> Result<Answer, ProbeError> {
        let at = (self.host.as_str(), self.port as u16);
        let addr = at.to_socket_addrs().ok().and_then(|mut found| found.next());
        let addr = addr.expect("the runner's server has an address");
        let timeout = self.timeout_ms.map_or(PATIENCE, Duration::from_millis);
        let mut session = Session::open(addr, None, Limits { timeout, body_bytes: BODY_BYTES_MAX })?;
        let is_gzip = self.compression == GZIP;
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut headers = vec![
            field("content-type", "application/grpc"),
            field("te", "trailers"),
            field("grpc-accept-encoding", "gzip"),
        ];
        headers.extend(is_gzip.then(|| field("grpc-encoding", "gzip")));
        headers.extend(self.timeout_ms.map(|ms| field("grpc-timeout", &grpc::timeout(ms * 1_000_000))));
        headers.extend(self.headers.iter().cloned());
        let framed =
            |message: &Vec<u8>| grpc::frame(message, is_gzip).expect("the runner's messages are short");
        let body = self.messages.iter().flat_map(framed).collect::<Vec<u8>>();
        let target = format!("/{}/{}", self.service, self.method);
        let host = format!("{}:{}", self.host, self.port);
        let head = RequestHead { method: "POST", target: &target, host: &host, headers: &headers };
        session.exchange(&head, &body, Some(NonZeroUsize::MAX))
    }

    /// What an exchange without a whole answer means to a caller of gRPC (grpc/doc/PROTOCOL-HTTP2.md, Errors).
    fn failed(&self, error: &ProbeError, elapsed: Duration) -> CallError {
        let is_late = self.timeout_ms.is_some_and(|timeout_ms| elapsed >= Duration::from_millis(timeout_ms));
        let number = match error {
            // A server resets the stream at the deadline that it was given.
            ProbeError::TimedOut { .. } | ProbeError::GivenUp { .. } if is_late => 4,
            ProbeError::GivenUp { code, .. } if *code == ErrorCode::REFUSED_STREAM => 14,
            ProbeError::GivenUp { code, .. } if *code == ErrorCode::CANCEL => 1,
            ProbeError::GivenUp { code, .. } if *code == ErrorCode::ENHANCE_YOUR_CALM => 8,
            ProbeError::GivenUp { code, .. } if *code == ErrorCode(0xc) => 7,
            ProbeError::Closed { stage: Stage::Connecting, .. } | ProbeError::Connect { .. } => 14,
            _ => 13,
        };
        CallError::new(number, error.to_string())
    }

    fn judge(&self, answer: &Answer) -> Outcome {
        let own = |fields: &[(String, String)]| -> Vec<(String, String)> {
            fields.iter().filter(|(name, _)| !is_protocols(name)).cloned().collect()
        };
        let (headers, trailers) = (own(&answer.headers), own(&answer.trailers));
        // Of an answer that is a header section alone, its fields are the trailers.
        let is_alone = answer.body.is_empty() && answer.trailers.is_empty();
        let (headers, trailers) = if is_alone { (Vec::new(), headers) } else { (headers, trailers) };
        let mut outcome =
            Outcome { headers, trailers, http_status: u64::from(answer.status), ..Outcome::default() };
        outcome.error = match self.read_messages(answer, &mut outcome.messages) {
            Err(error) => Some(error),
            Ok(()) => self.status(answer, outcome.messages.len()),
        };
        if ONE_ANSWER.contains(&self.stream_type) && outcome.error.is_some() {
            outcome.messages.clear();
        }
        outcome
    }

    /// The status of the call; none where it is OK.
    fn status(&self, answer: &Answer, messages: usize) -> Option<CallError> {
        let (head, trailers) = (borrowed(&answer.headers), borrowed(&answer.trailers));
        match grpc::status_of_answer(&head, &answer.body, &trailers) {
            Err(fault) => Some(CallError::new(2, fault.to_string())),
            Ok(None) => Some(CallError::new(13, grpc::Fault::NoStatus.to_string())),
            Ok(Some(status)) if status.code == Code::OK => {
                let is_one = !ONE_ANSWER.contains(&self.stream_type) || messages == 1;
                (!is_one).then(|| CallError::new(12, format!("{messages} messages instead of one")))
            }
            Ok(Some(status)) => {
                let mut words = Vec::new();
                grpc::push_message(status.message, usize::MAX, &mut words);
                let details = details(answer.trailers.iter().chain(&answer.headers));
                Some(CallError { code: status.code, words: text(&words), details })
            }
        }
    }

    /// The messages of an answer, as far as they are right.
    fn read_messages(&self, answer: &Answer, out: &mut Vec<Vec<u8>>) -> Result<(), CallError> {
        let head = borrowed(&answer.headers);
        if answer.status != 200 {
            return Err(CallError::new(code_of_http(answer.status), format!("status {}", answer.status)));
        }
        if !grpc::is_grpc(&head) {
            return Err(CallError::new(2, grpc::Fault::NotGrpc.to_string()));
        }
        let mut rest = answer.body.as_slice();
        while let [flag, a, b, c, d, behind @ ..] = rest {
            let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
            let Some((message, behind)) = behind.split_at_checked(length) else { break };
            out.push(self.plain(*flag, message)?);
            rest = behind;
        }
        // What the load's own reading says of the framing.
        let mut messages = Messages::default();
        let read = messages.feed(&answer.body, grpc::is_compressed(&head), |_| {});
        read.and_then(|()| messages.end()).map_err(|fault| CallError::new(13, fault.to_string()))
    }

    fn plain(&self, flag: u8, message: &[u8]) -> Result<Vec<u8>, CallError> {
        let mut plain = Vec::new();
        if flag == 0 {
            plain.extend_from_slice(message);
        } else {
            let read = GzDecoder::new(message).read_to_end(&mut plain);
            read.map_err(|error| CallError::new(13, error.to_string()))?;
        }
        if self.message_bytes_max > 0 && plain.len() as u64 > self.message_bytes_max {
            return Err(CallError::new(8, format!("a message of {} bytes", plain.len())));
        }
        Ok(plain)
    }
}

/// What a status of HTTP means without one of gRPC (grpc/doc/http-grpc-status-mapping.md).
const fn code_of_http(status: u16) -> u8 {
    match status {
        400 => 13,
        401 => 16,
        403 => 7,
        404 => 12,
        429 | 502..=504 => 14,
        _ => 2,
    }
}

/// Fields of the protocol, which are no metadata.
fn is_protocols(name: &str) -> bool {
    name.starts_with("grpc-") || ["content-type", "te"].contains(&name)
}

fn borrowed(fields: &[(String, String)]) -> Vec<Header<'_>> {
    fields.iter().map(|(name, value)| Header { name, value: value.as_bytes() }).collect()
}

/// The details of an error: field 3 of `google.rpc.Status`, in base64.
fn details<'a>(mut fields_of: impl Iterator<Item = &'a (String, String)>) -> Vec<Vec<u8>> {
    let found = fields_of.find(|(name, _)| name == "grpc-status-details-bin");
    let engine = GeneralPurpose::new(&STANDARD, PAD.with_decode_padding_mode(DecodePaddingMode::Indifferent));
    let status = found.and_then(|(_, value)| engine.decode(value).ok()).unwrap_or_default();
    let detail = |(field, value)| match (field, value) {
        (3, Value::Bytes(any)) => Some(any.to_vec()),
        _ => None,
    };
    fields(&status).unwrap_or_default().into_iter().filter_map(detail).collect()
}

/// `Header`: a name and its values.
fn header_values(bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let (mut name, mut values) = (String::new(), Vec::new());
    for (field, value) in fields(bytes)? {
        match (field, value) {
            (1, Value::Bytes(bytes)) => name = text(bytes).to_ascii_lowercase(),
            (2, Value::Bytes(bytes)) => values.push(text(bytes)),
            _ => {}
        }
    }
    Some(values.into_iter().map(|value| (name.clone(), value)).collect())
}

/// The message in an `Any`.
fn value_of_any(bytes: &[u8]) -> Option<Vec<u8>> {
    let value = fields(bytes)?.into_iter().find_map(|(field, value)| match (field, value) {
        (2, Value::Bytes(bytes)) => Some(bytes.to_vec()),
        _ => None,
    });
    Some(value.unwrap_or_default())
}
