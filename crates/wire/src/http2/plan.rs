//! The one place that plans requests of HTTP/2: fixed fields are coded once, values are literals in plain bytes.
//!
//! Names are in lower case, a field Host becomes `:authority`, and fields that belong to a connection of HTTP/1.1 are left
//! out (RFC 9113 §8.2.2). Rendering allocates only where its buffers must grow. Values are asked for in the order of the
//! message, but those of a field Host come right after the target's.

use super::fields::is_of_connection;
use super::parcel;
use crate::hpack::{key, push_field, push_value};
use crate::message::{Fill, Message, Piece, Planned, Spot};
use std::fmt;

/// A part of a planned request.
#[derive(Clone, Debug)]
enum Part<V> {
    /// Parts of the block that are always the same.
    Fixed(Vec<u8>),
    /// A field with values in it.
    Field(Field<V>),
}

#[derive(Clone, Debug)]
struct Field<V> {
    key: Vec<u8>,
    value: Vec<Piece<V>>,
    spot: Spot,
    /// The user's cookies follow, where there are any.
    has_cookies: bool,
    /// A field of nothing but cookies is left out where there are none.
    may_be_missing: bool,
}

/// How the requests of one message are written.
#[derive(Clone, Debug)]
pub struct Plan<V> {
    head: Vec<Part<V>>,
    body: Vec<Piece<V>>,
    /// The key of Content-Length, where the body's length is known only when it is rendered.
    length_key: Option<Vec<u8>>,
}

impl<V: fmt::Debug + Send + Sync> Planned<V> for Plan<V> {
    fn new(message: &Message<'_, V>) -> Self
    where
        V: Clone,
    {
        let mut begin = Vec::new();
        let chunk_bytes =
            message.chunk_bytes.map_or(0, |bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX));
        parcel::begin(message.method, chunk_bytes, &mut begin);
        let mut plan = Self { head: vec![Part::Fixed(begin)], body: message.body.to_vec(), length_key: None };
        plan.push(":path", message.target, Spot::Target, false);
        let is_host = |field: &&(String, Vec<Piece<V>>)| field.0.eq_ignore_ascii_case("host");
        match message.fields.iter().find(is_host) {
            Some((_, value)) => plan.push(":authority", value, Spot::Field, false),
            None => plan.push(":authority", &literal(message.authority), Spot::Field, false),
        }
        for (name, value) in message.fields {
            let name = name.to_ascii_lowercase();
            if name != "host" && !is_left_out(&name, value) {
                plan.push(&name, value, Spot::Field, message.has_cookies && name == "cookie");
            }
        }
        if message.has_cookies && !message.has("cookie") {
            plan.push("cookie", &[], Spot::Field, true);
        }
        plan.announce_length(message);
        plan
    }

    fn into_fixed(self) -> Vec<u8> {
        let mut out = Vec::new();
        for part in self.head {
            if let Part::Fixed(parts) = part {
                out.extend_from_slice(&parts);
            }
        }
        parcel::seal(true, &mut out);
        for piece in self.body {
            if let Piece::Literal(text) = piece {
                out.extend_from_slice(&text);
            }
        }
        out
    }

    #[inline]
    fn render<F: Fill<V>>(
        &self,
        fill: &mut F,
        out: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> Result<(), F::Error> {
        let mut is_fixed = self.length_key.is_none();
        for part in &self.head {
            match part {
                Part::Fixed(parts) => out.extend_from_slice(parts),
                Part::Field(field) => {
                    is_fixed = false;
                    field.render(fill, out, scratch)?;
                }
            }
        }
        scratch.clear();
        if let Some(key) = &self.length_key {
            render(&self.body, Spot::Body, fill, scratch)?;
            push_value(key, itoa::Buffer::new().format(scratch.len()).as_bytes(), out);
            parcel::seal(is_fixed, out);
            out.extend_from_slice(scratch);
            return Ok(());
        }
        parcel::seal(is_fixed, out);
        render(&self.body, Spot::Body, fill, out)
    }
}

impl<V: Clone> Plan<V> {
    /// A field: fixed where its text is, else rendered for each request.
    fn push(&mut self, name: &str, value: &[Piece<V>], spot: Spot, has_cookies: bool) {
        match text(value) {
            Some(text) if !has_cookies => {
                let text = if spot == Spot::Field { trimmed(&text) } else { &text };
                self.push_fixed(name, text);
            }
            _ => self.head.push(Part::Field(Field {
                key: key(name.as_bytes()),
                value: value.to_vec(),
                spot,
                has_cookies,
                may_be_missing: has_cookies && value.is_empty(),
            })),
        }
    }

    /// Content-Length as HTTP/1.1 has it: where there is a body, or the method implies one.
    fn announce_length(&mut self, message: &Message<'_, V>) {
        if message.chunk_bytes.is_some() {
            return;
        }
        let Some(text) = text(message.body) else {
            self.length_key = Some(key(b"content-length"));
            return;
        };
        let implies_body = matches!(message.method, "POST" | "PUT" | "PATCH");
        if (!text.is_empty() || implies_body) && !message.has("content-length") {
            self.push_fixed("content-length", text.len().to_string().as_bytes());
        }
    }

    /// Joins a fixed field to those before it.
    fn push_fixed(&mut self, name: &str, text: &[u8]) {
        if !matches!(self.head.last(), Some(Part::Fixed(_))) {
            self.head.push(Part::Fixed(Vec::new()));
        }
        if let Some(Part::Fixed(parts)) = self.head.last_mut() {
            push_field(name.as_bytes(), text, parts);
        }
    }
}

impl<V> Field<V> {
    fn render<F: Fill<V>>(
        &self,
        fill: &mut F,
        out: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> Result<(), F::Error> {
        let has_cookies = self.has_cookies && fill.has_cookies();
        if self.may_be_missing && !has_cookies {
            return Ok(());
        }
        scratch.clear();
        render(&self.value, self.spot, fill, scratch)?;
        if has_cookies {
            if !self.value.is_empty() {
                scratch.extend_from_slice(b"; ");
            }
            fill.fill_cookies(scratch)?;
        }
        if self.spot == Spot::Target {
            if matches!(self.value.first(), Some(Piece::Value(_))) {
                fill.judge_target(scratch.first().copied())?;
            }
            push_value(&self.key, scratch, out);
        } else {
            push_value(&self.key, trimmed(scratch), out);
        }
        Ok(())
    }
}

#[inline]
fn render<V, F: Fill<V>>(
    pieces: &[Piece<V>],
    spot: Spot,
    fill: &mut F,
    out: &mut Vec<u8>,
) -> Result<(), F::Error> {
    for piece in pieces {
        match piece {
            Piece::Literal(text) => out.extend_from_slice(text),
            Piece::Value(value) => fill.fill(value, spot, out)?,
        }
    }
    Ok(())
}

fn literal<V>(text: &str) -> [Piece<V>; 1] {
    [Piece::Literal(text.as_bytes().to_vec())]
}

/// A text without values.
fn text<V>(pieces: &[Piece<V>]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Literal(text) => whole.extend_from_slice(text),
            Piece::Value(_) => return None,
        }
    }
    Some(whole)
}

/// Fields of a connection, and `te` but for the one value that means something (RFC 9113 §8.2.2).
fn is_left_out<V>(name: &str, value: &[Piece<V>]) -> bool {
    let is_trailers = || text(value).is_some_and(|text| trimmed(&text).eq_ignore_ascii_case(b"trailers"));
    is_of_connection(name.as_bytes()) || (name == "te" && !is_trailers())
}

/// A value neither begins nor ends with a blank (RFC 9113 §8.2.1).
fn trimmed(value: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = value.iter().position(|byte| !is_blank(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &value[start..end]
}
