//! One request of a scenario as pieces: what never changes is framed once, the rest is rendered in between.
//!
//! Invariants: the order of the head is that of `wire::encode_request`, which also judges every literal; whatever
//! expressions yield, the head keeps its framing, and Content-Length is that of the body, which may come in chunks.

use super::error::{MakeCause, ProgramError};
use crate::template::eval::{Frame, Outside, TEXTS_BYTES_MAX, Value, push_number};
use crate::template::node::Node;
use crate::template::text::push_percent;
use crate::template::{Piece, Scope, compile_text};
use schema::plan::{EntryPlan, RequestPlan};
use std::num::NonZeroUsize;
use wire::{CHUNKED_HEAD_END, EncodeError, RequestHead, encode_chunked_request, encode_request, push_chunks};

/// A part of a rendered request.
#[derive(Clone, Debug)]
enum Part {
    Fixed(Box<[u8]>),
    /// In the request line: what cannot stand there is percent-encoded.
    Target(Node),
    /// In a field value: control characters are refused.
    Field(Node),
    /// In the body, as it is.
    Plain(Node),
    /// The user's cookies, where there are any, between these two.
    Cookies(&'static str, &'static str),
}

/// How an entry is rendered.
#[derive(Clone, Debug)]
pub(super) struct Rendering {
    head: Vec<Part>,
    /// A body whose length is known only when it is rendered; else the body stands at the end of `head`.
    body: Option<Vec<Part>>,
    /// Length of each chunk where that body is sent in chunks.
    chunk_bytes: Option<NonZeroUsize>,
    /// Where the path begins in the rendered bytes, if an expression stands there.
    target_at: Option<usize>,
}

/// The texts of a request, compiled.
struct Texts {
    path: Vec<Piece>,
    headers: Vec<(String, Vec<Piece>)>,
    body: Vec<Piece>,
    chunk_bytes: Option<NonZeroUsize>,
}

/// An entry whose bytes never change, or how to render it.
pub(super) enum Compiled {
    Fixed(Vec<u8>),
    Rendered(Rendering),
    /// Fixed as long as the user has no cookies.
    Either(Vec<u8>, Rendering),
}

/// Compiles one request; `key` is its place in the scenario.
pub(super) fn compile(
    plan: &EntryPlan,
    key: &str,
    host: &str,
    scope: Scope<'_>,
    with_cookies: bool,
) -> Result<Compiled, ProgramError> {
    let texts = Texts::compile(plan, key, scope)?;
    let sample = texts.sample(&plan.request);
    let encoded = texts.encode_sample(&plan.request, &sample, host, key)?;
    if texts.is_fixed() && !with_cookies {
        return Ok(Compiled::Fixed(encoded));
    }
    let rendering = Rendering::new(&plan.request.method, host, &texts, with_cookies);
    Ok(if texts.is_fixed() { Compiled::Either(encoded, rendering) } else { Compiled::Rendered(rendering) })
}

/// Stands for every expression where literals are judged.
const SAMPLE: &[u8] = b"0";

impl Texts {
    fn compile(plan: &EntryPlan, key: &str, scope: Scope<'_>) -> Result<Self, ProgramError> {
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
        Ok(Self {
            path: text(format!("{key}.path"), plan.request.path.as_bytes())?,
            headers,
            body: text(format!("{key}.body"), &plan.request.body)?,
            chunk_bytes: plan.chunk_bytes(),
        })
    }

    fn is_fixed(&self) -> bool {
        is_fixed(&self.path) && is_fixed(&self.body) && self.headers.iter().all(|(_, value)| is_fixed(value))
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(have, _)| have.eq_ignore_ascii_case(name))
    }

    /// The request with [`SAMPLE`] in place of every expression.
    fn sample(&self, request: &RequestPlan) -> RequestPlan {
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
            method: request.method.clone(),
            path,
            headers: self.headers.iter().map(|(name, value)| (name.clone(), as_text(value))).collect(),
            body: fill(&self.body),
        }
    }

    /// Has `wire` judge the literals; the bytes are those to send where nothing is rendered.
    fn encode_sample(
        &self,
        request: &RequestPlan,
        sample: &RequestPlan,
        host: &str,
        key: &str,
    ) -> Result<Vec<u8>, ProgramError> {
        if !is_fixed(&self.body) && self.has("content-length") {
            let cause = "header Content-Length is given, but the length of the body differs by request";
            return Err(ProgramError::new(
                format!("{key}.headers.Content-Length"),
                cause,
                "leave the header out",
            ));
        }
        let head =
            RequestHead { method: &request.method, target: &sample.path, host, headers: &sample.headers };
        match self.chunk_bytes {
            Some(chunk_bytes) => encode_chunked_request(&head, &sample.body, chunk_bytes),
            None => encode_request(&head, &sample.body),
        }
        .map_err(|error| refused(key, &error))
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

/// Joins neighbouring fixed parts.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn fixed(&mut self, bytes: &[u8]) {
        match self.0.last_mut() {
            Some(Part::Fixed(before)) => *before = [before, bytes].concat().into(),
            _ => self.0.push(Part::Fixed(bytes.into())),
        }
    }

    fn pieces(&mut self, pieces: &[Piece], part: fn(Node) -> Part) {
        for piece in pieces {
            match piece {
                Piece::Literal(text) => self.fixed(text),
                Piece::Value(node) => self.0.push(part(node.clone())),
            }
        }
    }
}

impl Rendering {
    fn new(method: &str, host: &str, texts: &Texts, with_cookies: bool) -> Self {
        let mut head = Parts::default();
        head.fixed(format!("{method} ").as_bytes());
        let starts_open = matches!(texts.path.first(), Some(Piece::Value(_)));
        head.pieces(&texts.path, Part::Target);
        head.fixed(b" HTTP/1.1\r\n");
        if !texts.has("host") {
            head.fixed(format!("Host: {host}\r\n").as_bytes());
        }
        for (name, value) in &texts.headers {
            head.fixed(format!("{name}: ").as_bytes());
            head.pieces(value, Part::Field);
            if with_cookies && name.eq_ignore_ascii_case("cookie") {
                head.0.push(Part::Cookies("; ", ""));
            }
            head.fixed(b"\r\n");
        }
        if with_cookies && !texts.has("cookie") {
            head.0.push(Part::Cookies("Cookie: ", "\r\n"));
        }
        let body = Self::frame_body(method, texts, &mut head);
        let target_at = starts_open.then_some(method.len() + 1);
        Self { head: head.0, body, chunk_bytes: texts.chunk_bytes, target_at }
    }

    /// Ends the head: with the length and the body where they are fixed, else before the number of Content-Length.
    fn frame_body(method: &str, texts: &Texts, head: &mut Parts) -> Option<Vec<Part>> {
        if !is_fixed(&texts.body) {
            let mut body = Parts::default();
            body.pieces(&texts.body, Part::Plain);
            head.fixed(if texts.chunk_bytes.is_some() { CHUNKED_HEAD_END } else { b"Content-Length: " });
            return Some(body.0);
        }
        let mut body = Parts::default();
        body.pieces(&texts.body, Part::Plain);
        let bytes = match body.0.first() {
            Some(Part::Fixed(bytes)) => &**bytes,
            _ => &[],
        };
        if let Some(chunk_bytes) = texts.chunk_bytes {
            let mut framed = CHUNKED_HEAD_END.to_vec();
            push_chunks(bytes, chunk_bytes, &mut framed);
            head.fixed(&framed);
            return None;
        }
        let implies_body = matches!(method, "POST" | "PUT" | "PATCH");
        if (!bytes.is_empty() || implies_body) && !texts.has("content-length") {
            head.fixed(format!("Content-Length: {}\r\n", bytes.len()).as_bytes());
        }
        head.fixed(b"\r\n");
        head.fixed(bytes);
        None
    }

    /// All expressions of this entry.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.head.iter().chain(self.body.iter().flatten()).filter_map(|part| match part {
            Part::Target(node) | Part::Field(node) | Part::Plain(node) => Some(node),
            Part::Fixed(_) | Part::Cookies(..) => None,
        })
    }

    /// Renders into `out`, which is empty; `body` is memory for the body.
    pub(super) fn render<O: Outside>(
        &self,
        frame: &mut Frame<'_, O>,
        cookies: &str,
        out: &mut Vec<u8>,
        body: &mut Vec<u8>,
    ) -> Result<(), MakeCause> {
        render_parts(&self.head, frame, cookies, out)?;
        if self.target_at.is_some_and(|at| out.get(at) != Some(&b'/')) {
            return Err(MakeCause::NotAPath);
        }
        if let Some(parts) = &self.body {
            body.clear();
            render_parts(parts, frame, cookies, body)?;
            if let Some(chunk_bytes) = self.chunk_bytes {
                push_chunks(body, chunk_bytes, out);
                return Ok(());
            }
            push_number(out, Value::Int(body.len() as i128));
            out.extend_from_slice(b"\r\n\r\n");
            out.extend_from_slice(body);
        }
        Ok(())
    }
}

fn render_parts<O: Outside>(
    parts: &[Part],
    frame: &mut Frame<'_, O>,
    cookies: &str,
    out: &mut Vec<u8>,
) -> Result<(), MakeCause> {
    let mut made_bytes = 0;
    for part in parts {
        let before = out.len();
        match part {
            Part::Fixed(bytes) => out.extend_from_slice(bytes),
            Part::Target(node) => emit(node, frame, |text| push_target(text, out))?,
            Part::Field(node) => emit(node, frame, |text| push_field(text, out))?,
            Part::Plain(node) => emit(node, frame, |text| {
                out.extend_from_slice(text);
                Ok(())
            })?,
            Part::Cookies(before, after) if !cookies.is_empty() => {
                out.extend_from_slice(before.as_bytes());
                push_field(cookies.as_bytes(), out)?;
                out.extend_from_slice(after.as_bytes());
            }
            Part::Cookies(..) => {}
        }
        if !matches!(part, Part::Fixed(_)) {
            made_bytes += out.len() - before;
        }
        if made_bytes > TEXTS_BYTES_MAX {
            return Err(MakeCause::TooLong);
        }
    }
    Ok(())
}

/// Evaluates and hands on the text; scratch memory is as before afterwards.
fn emit<O: Outside>(
    node: &Node,
    frame: &mut Frame<'_, O>,
    push: impl FnOnce(&[u8]) -> Result<(), MakeCause>,
) -> Result<(), MakeCause> {
    let mark = frame.scratch.len();
    let text = frame.text(node)?;
    push(&frame.scratch[text.range()])?;
    frame.scratch.truncate(mark);
    Ok(())
}

fn push_target(text: &[u8], out: &mut Vec<u8>) -> Result<(), MakeCause> {
    for byte in text {
        if byte.is_ascii_graphic() {
            out.push(*byte);
        } else {
            push_percent(out, *byte);
        }
    }
    Ok(())
}

fn push_field(text: &[u8], out: &mut Vec<u8>) -> Result<(), MakeCause> {
    if text.iter().any(|byte| (*byte < b' ' && *byte != b'\t') || *byte == 0x7f) {
        return Err(MakeCause::ControlInHeader);
    }
    out.extend_from_slice(text);
    Ok(())
}
