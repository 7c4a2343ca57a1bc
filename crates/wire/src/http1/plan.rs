//! The one place that frames requests of HTTP/1.1: what never changes is framed once, values are filled in between.
//!
//! Invariants: whatever fits its spot, the head keeps its framing; Content-Length is that of the body, which may come in
//! chunks. Rendering allocates only where its buffers must grow.

use crate::message::{Fill, Message, Piece, Planned, Spot};
use std::fmt;
use std::num::NonZeroUsize;

/// A part of a framed request.
#[derive(Clone, Debug)]
enum Part<V> {
    Fixed(Vec<u8>),
    Value(V, Spot),
    /// The user's cookies, where there are any, between these two.
    Cookies(&'static str, &'static str),
}

/// How the requests of one message are written.
#[derive(Clone, Debug)]
pub struct Plan<V> {
    head: Vec<Part<V>>,
    /// A body whose length is known only when it is rendered; else the body stands at the end of `head`.
    body: Option<Vec<Part<V>>>,
    /// Length of each chunk where that body is sent in chunks.
    chunk_bytes: Option<NonZeroUsize>,
    /// Where the target begins in the rendered bytes, if a value stands there.
    target_at: Option<usize>,
}

/// Joins neighbouring fixed parts.
#[derive(Debug)]
struct Parts<V>(Vec<Part<V>>);

impl<V: Clone> Parts<V> {
    const fn new() -> Self {
        Self(Vec::new())
    }

    fn fixed(&mut self, texts: &[&[u8]]) {
        if !matches!(self.0.last(), Some(Part::Fixed(_))) {
            self.0.push(Part::Fixed(Vec::new()));
        }
        if let Some(Part::Fixed(bytes)) = self.0.last_mut() {
            texts.iter().for_each(|text| bytes.extend_from_slice(text));
        }
    }

    fn pieces(&mut self, pieces: &[Piece<V>], spot: Spot) {
        for piece in pieces {
            match piece {
                Piece::Literal(text) => self.fixed(&[text]),
                Piece::Value(value) => self.0.push(Part::Value(value.clone(), spot)),
            }
        }
    }

    /// Request line and fields, without those of the body.
    fn begin(&mut self, message: &Message<'_, V>) {
        self.fixed(&[message.method.as_bytes(), b" "]);
        self.pieces(message.target, Spot::Target);
        self.fixed(&[b" HTTP/1.1\r\n"]);
        if !message.has("host") {
            self.fixed(&[b"Host: ", message.authority.as_bytes(), b"\r\n"]);
        }
        for (name, value) in message.fields {
            self.fixed(&[name.as_bytes(), b": "]);
            self.pieces(value, Spot::Field);
            if message.has_cookies && name.eq_ignore_ascii_case("cookie") {
                self.0.push(Part::Cookies("; ", ""));
            }
            self.fixed(&[b"\r\n"]);
        }
        if message.has_cookies && !message.has("cookie") {
            self.0.push(Part::Cookies("Cookie: ", "\r\n"));
        }
    }

    /// Ends the head: with the length and the body where they are fixed, else before the number of Content-Length, and the
    /// body is returned.
    fn end(&mut self, message: &Message<'_, V>) -> Option<Vec<Part<V>>> {
        let mut body = Self::new();
        body.pieces(message.body, Spot::Body);
        let fixed: &[u8] = match body.0.as_slice() {
            [] => b"",
            [Part::Fixed(bytes)] => bytes,
            _ => {
                let is_chunked = message.chunk_bytes.is_some();
                self.fixed(&[if is_chunked { CHUNKED_HEAD_END } else { b"Content-Length: " }]);
                return Some(body.0);
            }
        };
        if let Some(chunk_bytes) = message.chunk_bytes {
            let mut chunks = Vec::with_capacity(fixed.len());
            push_chunks(fixed, chunk_bytes, &mut chunks);
            self.fixed(&[CHUNKED_HEAD_END, &chunks]);
            return None;
        }
        let implies_body = matches!(message.method, "POST" | "PUT" | "PATCH");
        if (!fixed.is_empty() || implies_body) && !message.has("content-length") {
            self.fixed(&[format!("Content-Length: {}\r\n", fixed.len()).as_bytes()]);
        }
        self.fixed(&[b"\r\n", fixed]);
        None
    }
}

impl<V: fmt::Debug + Send + Sync> Planned<V> for Plan<V> {
    fn new(message: &Message<'_, V>) -> Self
    where
        V: Clone,
    {
        let mut head = Parts::new();
        head.begin(message);
        let body = head.end(message);
        let starts_open = matches!(message.target.first(), Some(Piece::Value(_)));
        let target_at = starts_open.then_some(message.method.len() + 1);
        Self { head: head.0, body, chunk_bytes: message.chunk_bytes, target_at }
    }

    fn into_fixed(self) -> Vec<u8> {
        let mut fixed = self.head.into_iter().filter_map(|part| match part {
            Part::Fixed(bytes) => Some(bytes),
            Part::Value(..) | Part::Cookies(..) => None,
        });
        // Neighbours are joined, so the first is all.
        fixed.next().unwrap_or_default()
    }

    #[inline]
    fn render<F: Fill<V>>(
        &self,
        fill: &mut F,
        out: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> Result<(), F::Error> {
        render_parts(&self.head, fill, out)?;
        if let Some(at) = self.target_at {
            // An empty target is followed by the blank of the request line.
            fill.judge_target(out.get(at).copied().filter(|first| *first != b' '))?;
        }
        let Some(parts) = &self.body else { return Ok(()) };
        scratch.clear();
        render_parts(parts, fill, scratch)?;
        if let Some(chunk_bytes) = self.chunk_bytes {
            push_chunks(scratch, chunk_bytes, out);
            return Ok(());
        }
        out.extend_from_slice(itoa::Buffer::new().format(scratch.len()).as_bytes());
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(scratch);
        Ok(())
    }
}

#[inline]
fn render_parts<V, F: Fill<V>>(parts: &[Part<V>], fill: &mut F, out: &mut Vec<u8>) -> Result<(), F::Error> {
    for part in parts {
        match part {
            Part::Fixed(bytes) => out.extend_from_slice(bytes),
            Part::Value(value, spot) => fill.fill(value, *spot, out)?,
            Part::Cookies(before, after) if fill.has_cookies() => {
                out.extend_from_slice(before.as_bytes());
                fill.fill_cookies(out)?;
                out.extend_from_slice(after.as_bytes());
            }
            Part::Cookies(..) => {}
        }
    }
    Ok(())
}

/// The field that announces a chunked body, and the end of the header section.
const CHUNKED_HEAD_END: &[u8] = b"Transfer-Encoding: chunked\r\n\r\n";

/// Appends a whole chunked body (RFC 9112 §7.1). Allocates only where `out` must grow.
fn push_chunks(body: &[u8], chunk_bytes: NonZeroUsize, out: &mut Vec<u8>) {
    for chunk in body.chunks(chunk_bytes.get()) {
        push_size(chunk.len(), out);
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
}

/// The hexadecimal size of a chunk and the end of its line.
fn push_size(size: usize, out: &mut Vec<u8>) {
    let digits = (usize::BITS - size.leading_zeros()).div_ceil(4).max(1);
    for place in (0..digits).rev() {
        out.push(b"0123456789abcdef"[size >> (4 * place) & 0xf]);
    }
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RequestHead, encode_chunked_request, encode_request};
    use proptest::prelude::*;

    /// Values are their own texts.
    struct Verbatim<'a> {
        cookies: &'a str,
    }

    impl Fill<Vec<u8>> for Verbatim<'_> {
        type Error = Option<u8>;

        fn fill(&mut self, value: &Vec<u8>, _: Spot, out: &mut Vec<u8>) -> Result<(), Self::Error> {
            out.extend_from_slice(value);
            Ok(())
        }

        fn has_cookies(&self) -> bool {
            !self.cookies.is_empty()
        }

        fn fill_cookies(&mut self, out: &mut Vec<u8>) -> Result<(), Self::Error> {
            out.extend_from_slice(self.cookies.as_bytes());
            Ok(())
        }

        fn judge_target(&self, first: Option<u8>) -> Result<(), Self::Error> {
            if first == Some(b'/') { Ok(()) } else { Err(first) }
        }
    }

    fn rendered(message: &Message<'_, Vec<u8>>, cookies: &str) -> Result<Vec<u8>, Option<u8>> {
        let (mut out, mut scratch) = (Vec::new(), b"old".to_vec());
        Plan::new(message).render(&mut Verbatim { cookies }, &mut out, &mut scratch).map(|()| out)
    }

    /// A text cut at some places, every other piece a value.
    fn pieces(text: &[u8], (cuts, first_is_value): (&[usize], bool)) -> Vec<Piece<Vec<u8>>> {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let texts = cuts.windows(2).map(|two| text[two[0]..two[1]].to_vec()).enumerate();
        texts
            .map(|(place, text)| {
                let is_value = place.is_multiple_of(2) == first_is_value;
                if is_value { Piece::Value(text) } else { Piece::Literal(text) }
            })
            .collect()
    }

    #[test]
    fn a_target_is_judged_by_its_first_byte() {
        let fields = [("A".to_owned(), vec![Piece::Value(b"x".to_vec())])];
        let rendered = |target: &[Piece<Vec<u8>>], cookies: &str| {
            let message = Message {
                method: "GET",
                target,
                authority: "h",
                fields: &fields,
                has_cookies: true,
                body: &[],
                chunk_bytes: None,
            };
            rendered(&message, cookies)
        };
        let value = |text: &str| Piece::Value(text.as_bytes().to_vec());
        assert_eq!(rendered(&[value("a")], ""), Err(Some(b'a')));
        assert_eq!(rendered(&[value("")], ""), Err(None));
        let target = [value(""), Piece::Literal(b"/b".to_vec())];
        assert_eq!(
            rendered(&target, "c=d").unwrap(),
            b"GET /b HTTP/1.1\r\nHost: h\r\nA: x\r\nCookie: c=d\r\n\r\n"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        /// However texts are cut into literals and values, the bytes are those of the fixed request.
        #[test]
        fn plans_give_the_bytes_of_fixed_requests(
            method in "GET|HEAD|POST|PUT|DELETE",
            target in "/[!-~]{0,20}",
            host in "|host|Host",
            names in proptest::collection::vec("[A-Z][a-z]{1,6}-[a-z]{1,3}", 0..3),
            values in proptest::collection::vec("[ -~]{0,12}", 3),
            body in proptest::collection::vec(any::<u8>(), 0..60),
            chunk_bytes in 0_usize..20,
            cuts in proptest::collection::vec(any::<usize>(), 0..4),
            first_is_value in any::<bool>(),
        ) {
            let mut headers: Vec<(String, String)> = names.into_iter().zip(values).collect();
            if !host.is_empty() {
                headers.push((host, "other".to_owned()));
            }
            let head = RequestHead { method: &method, target: &target, host: "h:1", headers: &headers };
            let chunk_bytes = NonZeroUsize::new(chunk_bytes);
            let fixed = match chunk_bytes {
                Some(chunk_bytes) => encode_chunked_request(&head, &body, chunk_bytes),
                None => encode_request(&head, &body),
            };
            let cut = (cuts.as_slice(), first_is_value);
            let fields: Vec<_> =
                headers.iter().map(|(name, value)| (name.clone(), pieces(value.as_bytes(), cut))).collect();
            // A rendered body has its length said even where an empty one would not need that.
            let has_length = !body.is_empty() || method == "POST" || method == "PUT" || chunk_bytes.is_some();
            let body = if has_length { pieces(&body, cut) } else { vec![] };
            let message = Message {
                method: &method,
                target: &pieces(target.as_bytes(), cut),
                authority: "h:1",
                fields: &fields,
                has_cookies: true,
                body: &body,
                chunk_bytes,
            };
            prop_assert_eq!(rendered(&message, "").unwrap(), fixed.unwrap());
        }
    }
}
