//! One request of a scenario as a message: its texts compiled, its literals judged, and how its expressions are filled in.
//!
//! Invariants: `wire` judges every literal before the load; whatever expressions yield, a text is fit for its spot.
//! Absent on purpose: how a message is written, which is the protocol's affair (`wire::Framing`).

use super::call;
use super::error::{MakeCause, ProgramError};
use crate::template::eval::{Frame, Outside, TEXTS_BYTES_MAX};
use crate::template::node::Node;
use crate::template::text::push_percent;
use crate::template::{Piece, Scope, compile_text};
use schema::plan::{EntryPlan, RequestPlan};
use std::num::NonZeroUsize;
use units::{TraceContext, Tracing};
use wire::{EncodeError, Fill, Message, RequestHead, Spot};

/// The parts of a request, compiled.
#[derive(Debug)]
pub(super) struct Outline {
    method: String,
    path: Vec<Piece>,
    authority: String,
    headers: Vec<(String, Vec<Piece>)>,
    has_cookies: bool,
    body: Vec<Piece>,
    chunk_bytes: Option<NonZeroUsize>,
}

/// Compiles one request; `key` is its place in the scenario.
pub(super) fn compile(
    plan: &EntryPlan,
    key: &str,
    host: &str,
    scope: Scope<'_>,
    has_cookies: bool,
) -> Result<Outline, ProgramError> {
    let outline = Outline::compile(plan, key, host, scope, has_cookies)?;
    outline.judge(key)?;
    Ok(outline)
}

/// Stands for every expression where literals are judged.
const SAMPLE: &[u8] = b"0";

impl Outline {
    fn compile(
        plan: &EntryPlan,
        key: &str,
        host: &str,
        scope: Scope<'_>,
        has_cookies: bool,
    ) -> Result<Self, ProgramError> {
        let text = |place: String, bytes: &[u8]| {
            if !plan.is_template {
                return Ok(vec![Piece::Literal(bytes.to_vec())]);
            }
            compile_text(bytes, scope).map_err(|fault| ProgramError::fault(place, bytes, fault))
        };
        let mut headers = Vec::new();
        for (name, value) in &plan.request.headers {
            headers.push((name.clone(), text(format!("{key}.headers.{name}"), value.as_bytes())?));
        }
        let body = match &plan.grpc {
            None => text(format!("{key}.body"), &plan.request.body)?,
            Some(call) => call::body(call, &plan.request.body, key, scope)?,
        };
        Ok(Self {
            method: plan.request.method.clone(),
            authority: host.to_owned(),
            has_cookies,
            path: text(format!("{key}.path"), plan.request.path.as_bytes())?,
            headers,
            body,
            // Messages say how long they are; calls have no Content-Length.
            chunk_bytes: if plan.grpc.is_some() { Some(NonZeroUsize::MAX) } else { plan.chunk_bytes() },
        })
    }

    /// The request as protocols take it.
    pub(super) fn message(&self) -> Message<'_, Node> {
        Message {
            method: &self.method,
            target: &self.path,
            authority: &self.authority,
            fields: &self.headers,
            has_cookies: self.has_cookies,
            body: &self.body,
            chunk_bytes: self.chunk_bytes,
        }
    }

    /// All expressions of this entry.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        let headers = self.headers.iter().flat_map(|(_, value)| value);
        self.path.iter().chain(headers).chain(&self.body).filter_map(|piece| match piece {
            Piece::Value(node) => Some(node),
            Piece::Literal(_) => None,
        })
    }

    /// The traces that it carries, where its bytes change in nothing else.
    pub(super) fn only_trace(&self) -> Option<Tracing> {
        let mut nodes = self.nodes();
        match (nodes.next(), nodes.next()) {
            (Some(Node::Trace(tracing)), None) if !self.has_cookies => Some(*tracing),
            _ => None,
        }
    }

    /// Whether its bytes never change, but for the cookies of a user.
    pub(super) fn is_fixed(&self) -> bool {
        is_fixed(&self.path) && is_fixed(&self.body) && self.headers.iter().all(|(_, value)| is_fixed(value))
    }

    /// Gives every request the header of its trace.
    pub(super) fn trace(&mut self, tracing: Tracing) {
        self.headers.push((TraceContext::HEADER.to_owned(), vec![Piece::Value(Node::Trace(tracing))]));
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(have, _)| have.eq_ignore_ascii_case(name))
    }

    /// The request with [`SAMPLE`] in place of every expression.
    fn sample(&self) -> RequestPlan {
        let fill = |pieces: &[Piece]| -> Vec<u8> {
            pieces
                .iter()
                .flat_map(|piece| if let Piece::Literal(text) = piece { text } else { SAMPLE })
                .copied()
                .collect()
        };
        let as_text = |pieces: &[Piece]| String::from_utf8_lossy(&fill(pieces)).into_owned();
        let mut path = as_text(&self.path);
        if matches!(self.path.first(), Some(Piece::Value(_))) {
            path.insert(0, '/');
        }
        RequestPlan {
            method: self.method.clone(),
            path,
            headers: self.headers.iter().map(|(name, value)| (name.clone(), as_text(value))).collect(),
            body: fill(&self.body),
        }
    }

    /// Has `wire` judge the literals.
    fn judge(&self, key: &str) -> Result<(), ProgramError> {
        if !is_fixed(&self.body) && self.has("content-length") {
            let cause = "header Content-Length is given, but the length of the body differs by request";
            return Err(ProgramError::new(
                format!("{key}.headers.Content-Length"),
                cause,
                "leave the header out",
            ));
        }
        let sample = self.sample();
        let head = RequestHead {
            method: &sample.method,
            target: &sample.path,
            host: &self.authority,
            headers: &sample.headers,
        };
        head.check(&sample.body, self.chunk_bytes.is_some()).map_err(|error| refused(key, &error))
    }
}

fn is_fixed(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| matches!(piece, Piece::Literal(_)))
}

/// The messages of `wire` are cause and remedy in one, parted by a semicolon.
fn refused(key: &str, error: &EncodeError) -> ProgramError {
    let place = match error {
        EncodeError::Method(_) => "method".to_owned(),
        EncodeError::Target(_) => "path".to_owned(),
        EncodeError::Name(name) | EncodeError::Value(name) => format!("headers.{name}"),
        EncodeError::Length { .. } | EncodeError::LengthOfChunks => "headers.Content-Length".to_owned(),
        EncodeError::TransferEncoding => "headers.Transfer-Encoding".to_owned(),
        EncodeError::Repeated(name) => format!("headers.{name}"),
    };
    let text = error.to_string();
    // The cause may quote a text that has a semicolon, too.
    let (cause, remedy) = text.rsplit_once("; ").unwrap_or((&text, "correct it"));
    ProgramError::new(format!("{key}.{place}"), cause, remedy)
}

/// Gives the expressions of one request their texts.
pub(super) struct Filling<'a, 'f, O> {
    frame: &'a mut Frame<'f, O>,
    cookies: &'a str,
    /// Bytes of texts in the head, and in the body.
    made_bytes: (usize, usize),
}

impl<'a, 'f, O: Outside> Filling<'a, 'f, O> {
    pub(super) fn new(frame: &'a mut Frame<'f, O>, cookies: &'a str) -> Self {
        Self { frame, cookies, made_bytes: (0, 0) }
    }

    /// The texts of one request are bounded.
    #[inline]
    fn count(&mut self, spot: Spot, bytes: usize) -> Result<(), MakeCause> {
        let made_bytes = match spot {
            Spot::Target | Spot::Field => &mut self.made_bytes.0,
            Spot::Body => &mut self.made_bytes.1,
        };
        *made_bytes += bytes;
        if *made_bytes > TEXTS_BYTES_MAX { Err(MakeCause::TooLong) } else { Ok(()) }
    }
}

impl<O: Outside> Fill<Node> for Filling<'_, '_, O> {
    type Error = MakeCause;

    #[inline]
    fn fill(&mut self, node: &Node, spot: Spot, out: &mut Vec<u8>) -> Result<(), MakeCause> {
        let before = out.len();
        if let Node::Message(message) = node {
            message.render(self.frame, out)?;
            return self.count(spot, out.len() - before);
        }
        let mark = self.frame.scratch.len();
        let range = self.frame.text(node)?.range();
        let text = &self.frame.scratch[range];
        match spot {
            Spot::Target => push_target(text, out),
            Spot::Field => push_field(text, out)?,
            Spot::Body => out.extend_from_slice(text),
        }
        // Scratch memory is as before.
        self.frame.scratch.truncate(mark);
        self.count(spot, out.len() - before)
    }

    #[inline]
    fn has_cookies(&self) -> bool {
        !self.cookies.is_empty()
    }

    fn fill_cookies(&mut self, out: &mut Vec<u8>) -> Result<(), MakeCause> {
        push_field(self.cookies.as_bytes(), out)?;
        self.count(Spot::Field, self.cookies.len())
    }

    #[inline]
    fn judge_target(&self, first: Option<u8>) -> Result<(), MakeCause> {
        if first == Some(b'/') { Ok(()) } else { Err(MakeCause::NotAPath) }
    }
}

/// What cannot stand in a request line is percent-encoded.
#[inline]
fn push_target(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        if byte.is_ascii_graphic() {
            out.push(*byte);
        } else {
            push_percent(out, *byte);
        }
    }
}

/// Control characters are refused.
#[inline]
fn push_field(text: &[u8], out: &mut Vec<u8>) -> Result<(), MakeCause> {
    if text.iter().any(|byte| (*byte < b' ' && *byte != b'\t') || *byte == 0x7f) {
        return Err(MakeCause::ControlInHeader);
    }
    out.extend_from_slice(text);
    Ok(())
}
