//! What is kept of one answer beside its judgement: part of the body, captured values, cookies.
//!
//! Invariants: one per connection, unallocated until an answer needs it, reused by the next; every part is bounded.
//! Absent on purpose: any opinion on whether the answer is right.

use super::coding::{Coding, Decoder};
use super::cookies::parse_set_cookie;
use super::text_rule::TextRule;
use super::undecoded::Undecoded;
use sha2::{Digest as _, Sha256};
use std::ops::Range;

/// Longest body that is kept for checks and captures.
pub(super) const BODY_BYTES_MAX: usize = 1 << 20;
/// What is kept of any other body, for people to look at.
pub(super) const BEGINNING_BYTES: usize = 2 << 10;
/// Longest captured value; a longer one counts as missing.
pub(super) const CAPTURED_BYTES_MAX: usize = 8 << 10;
/// Memory that is held from one answer to the next, for each buffer.
const HELD_BYTES_MAX: usize = 16 << 10;
/// Places for cookies that are held likewise.
const COOKIES_HELD_MAX: usize = 16;

/// What is kept of one answer. One for each connection; it allocates nothing before an answer needs it, and is
/// reused from answer to answer.
#[derive(Debug, Default)]
pub struct Notes(Option<Box<Pad>>);

#[derive(Debug, Default)]
struct Pad {
    body: Vec<u8>,
    digest: Sha256,
    /// Places among the check's texts of those that have not come yet.
    missing: Vec<u16>,
    /// The last bytes so far, in which such a text may have begun.
    tail: Vec<u8>,
    /// Bytes of captured values, one after the other.
    values: Vec<u8>,
    captured: Vec<(usize, Range<usize>)>,
    /// Cookies, each a name and a value.
    cookies: Vec<(String, String)>,
    /// Undoes the body's content coding.
    decoder: Option<Box<Decoder>>,
}

impl Notes {
    /// The captured values with the index that [`super::Check::compile`] was given for their names; after
    /// [`super::Answer::finish`] has said that the answer is right, none otherwise.
    pub fn captured(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let pad = self.0.iter();
        pad.flat_map(|pad| pad.captured.iter().map(|(index, range)| (*index, &pad.values[range.clone()])))
    }

    /// Names and values of the cookies that the answer sets, right or not; a value is empty where the cookie is to
    /// be deleted.
    pub fn cookies(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        let pad = self.0.iter();
        pad.flat_map(|pad| pad.cookies.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// The beginning of the body of an answer that is not right: at most 2 KiB.
    #[must_use]
    pub fn beginning(&self) -> &[u8] {
        let body = self.body();
        &body[..body.len().min(BEGINNING_BYTES)]
    }

    /// Forgets the answer and gives back what memory is not worth holding. The next answer does this by itself;
    /// an idle connection with a large body behind it should wait.
    pub fn clear(&mut self) {
        let Some(pad) = &mut self.0 else { return };
        empty(&mut pad.body);
        empty(&mut pad.values);
        pad.captured.clear();
        pad.cookies.clear();
        pad.cookies.shrink_to(COOKIES_HELD_MAX);
        pad.decoder = None;
    }

    /// The body will come in this coding.
    pub(super) fn decode(&mut self, coding: Coding) {
        self.pad().decoder = Some(Box::new(Decoder::new(coding)));
    }

    /// The decoder of this answer's body, to be given back after use.
    pub(super) fn take_decoder(&mut self) -> Option<Box<Decoder>> {
        self.0.as_mut()?.decoder.take()
    }

    pub(super) fn give_decoder(&mut self, decoder: Box<Decoder>) {
        self.pad().decoder = Some(decoder);
    }

    /// Length of the decoded body so far; none where nothing is decoded.
    pub(super) fn decoded_bytes(&self) -> Option<usize> {
        let decoder = self.0.as_ref()?.decoder.as_ref()?;
        Some(usize::try_from(decoder.decoded_bytes()).unwrap_or(usize::MAX))
    }

    /// Why the complete body could not be decoded.
    pub(super) fn undecoded(&self) -> Option<Undecoded> {
        self.0.as_ref()?.decoder.as_ref()?.failure()
    }

    /// Whether no answer on this connection has needed notes yet.
    #[inline]
    pub(super) fn is_unused(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn begin(&mut self) {
        self.clear();
        self.pad();
    }

    fn pad(&mut self) -> &mut Pad {
        self.0.get_or_insert_default()
    }

    /// The part of the body that was kept.
    pub(super) fn body(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |pad| &pad.body)
    }

    pub(super) fn keep_beginning(&mut self, bytes: &[u8]) {
        keep(&mut self.pad().body, bytes, BEGINNING_BYTES);
    }

    /// Keeps the words of a call's status in place of its body.
    #[cold]
    pub(super) fn keep_words(&mut self, raw: &[u8]) {
        self.begin();
        wire::grpc::push_message(raw, BEGINNING_BYTES, &mut self.pad().body);
    }

    pub(super) fn keep_body(&mut self, bytes: &[u8]) {
        keep(&mut self.pad().body, bytes, BODY_BYTES_MAX);
    }

    /// Forgets the kept body, but for its memory: another message begins.
    pub(super) fn drop_body(&mut self) {
        if let Some(pad) = &mut self.0 {
            pad.body.clear();
        }
    }

    /// Makes ready for so many texts, and for a checksum.
    pub(super) fn expect(&mut self, texts: u16, has_digest: bool) {
        let pad = self.pad();
        pad.tail.clear();
        pad.missing.clear();
        pad.missing.extend(0..texts);
        if has_digest {
            pad.digest.reset();
        }
    }

    /// Takes the next part of the body for its checksum.
    pub(super) fn digest(&mut self, bytes: &[u8]) {
        self.pad().digest.update(bytes);
    }

    /// Looks in the next part of the body for the texts that have not come; the longest has `bytes_max`.
    pub(super) fn look_for_texts(&mut self, texts: &[TextRule], bytes_max: usize, bytes: &[u8]) {
        let pad = self.pad();
        if !pad.missing.is_empty() && !bytes.is_empty() {
            pad.look_for_texts(texts, bytes_max, bytes);
        }
    }

    /// The place of the first text that has not come.
    pub(super) fn missing_text(&self) -> Option<u16> {
        self.0.as_ref()?.missing.first().copied()
    }

    /// SHA-256 of the body that was followed.
    pub(super) fn sha256(&mut self) -> [u8; 32] {
        self.pad().digest.finalize_reset().into()
    }

    /// Keeps a captured value; says no where it is too long.
    pub(super) fn capture(&mut self, index: usize, value: &[u8]) -> bool {
        if value.len() > CAPTURED_BYTES_MAX {
            return false;
        }
        let pad = self.pad();
        let from = pad.values.len();
        pad.values.extend_from_slice(value);
        pad.captured.push((index, from..pad.values.len()));
        true
    }

    /// Keeps what is written of the kept body as a captured value; says no where there is none, or it is too long.
    pub(super) fn capture_written(
        &mut self,
        index: usize,
        write: impl FnOnce(&[u8], &mut Vec<u8>) -> Option<()>,
    ) -> bool {
        let pad = self.pad();
        let from = pad.values.len();
        let is_written = write(&pad.body, &mut pad.values).is_some();
        if !is_written || pad.values.len() - from > CAPTURED_BYTES_MAX {
            pad.values.truncate(from);
            return false;
        }
        pad.captured.push((index, from..pad.values.len()));
        true
    }

    /// Keeps a part of the body as a captured value.
    pub(super) fn capture_body(&mut self, index: usize, range: Range<usize>) -> bool {
        let Some(pad) = &mut self.0 else { return false };
        if range.len() > CAPTURED_BYTES_MAX {
            return false;
        }
        let from = pad.values.len();
        pad.values.extend_from_slice(&pad.body[range]);
        pad.captured.push((index, from..pad.values.len()));
        true
    }

    pub(super) fn has_captured(&self, index: usize) -> bool {
        self.0.as_ref().is_some_and(|pad| pad.captured.iter().any(|(captured, _)| *captured == index))
    }

    /// An answer that is not right gives no values.
    pub(super) fn forget_captured(&mut self) {
        if let Some(pad) = &mut self.0 {
            pad.captured.clear();
        }
    }

    /// Keeps the cookie of a `Set-Cookie` field, where it is one.
    pub(super) fn keep_cookie(&mut self, field: &[u8]) {
        if let Some((name, value)) = parse_set_cookie(field) {
            self.pad().cookies.push((name.to_owned(), value.to_owned()));
        }
    }
}

impl Pad {
    /// A text may lie within this part of the body, or have begun in an earlier one.
    fn look_for_texts(&mut self, texts: &[TextRule], bytes_max: usize, bytes: &[u8]) {
        let reach = bytes_max.saturating_sub(1);
        let has_tail = !self.tail.is_empty();
        self.tail.extend_from_slice(&bytes[..bytes.len().min(reach)]);
        let tail = &self.tail;
        self.missing.retain(|place| {
            let text = &texts[usize::from(*place)].finder;
            text.find(bytes).is_none() && !(has_tail && text.find(tail).is_some())
        });
        if bytes.len() >= reach {
            self.tail.clear();
            self.tail.extend_from_slice(&bytes[bytes.len() - reach..]);
        } else {
            let surplus = self.tail.len().saturating_sub(reach);
            self.tail.drain(..surplus);
        }
    }
}

fn keep(body: &mut Vec<u8>, bytes: &[u8], bytes_max: usize) {
    let room = bytes_max.saturating_sub(body.len()).min(bytes.len());
    body.extend_from_slice(&bytes[..room]);
}

fn empty(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.shrink_to(HELD_BYTES_MAX);
}
