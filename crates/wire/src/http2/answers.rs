//! Header sections, trailers, and the ends of answers.

use super::code::ErrorCode;
use super::connection::Connection;
use super::events::{Events, Place};
use super::fault::Fault;
use super::fields;
use super::frame::{Frame, flag, put_reset};
use super::input::Block;
use super::limits::{BLOCK_BYTES_MAX, INTERIM_MAX};
use super::memo::Known;
use super::receive::Fate;
use super::ring::{Found, State, UNKNOWN};

impl Connection {
    #[inline]
    pub(super) fn headers(
        &mut self,
        frame: Frame,
        payload: &[u8],
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Result<Fate, Fault> {
        let fragment = unpadded(frame, payload)?;
        let ends = frame.has(flag::END_STREAM);
        if frame.has(flag::END_HEADERS) {
            return self.block(frame.stream, ends, fragment, on, out);
        }
        self.input.fragments.clear();
        self.input.fragments.extend_from_slice(fragment);
        self.input.block = Some(Block { stream: frame.stream, ends, continuations: 0 });
        Ok(Fate::Open)
    }

    pub(super) fn continuation(
        &mut self,
        frame: Frame,
        payload: &[u8],
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Result<Fate, Fault> {
        if self.input.fragments.len() + payload.len() > BLOCK_BYTES_MAX {
            return Err(Fault::BlockTooLong);
        }
        self.input.fragments.extend_from_slice(payload);
        if !frame.has(flag::END_HEADERS) {
            return Ok(Fate::Open);
        }
        let ends = self.input.block.take().is_some_and(|block| block.ends);
        let fragments = std::mem::take(&mut self.input.fragments);
        let fate = self.block(frame.stream, ends, &fragments, on, out);
        self.input.fragments = fragments;
        fate
    }

    /// A whole header block. It is read whoever it is for, because the table changes with it.
    #[inline]
    fn block(
        &mut self,
        stream: u32,
        ends: bool,
        block: &[u8],
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Result<Fate, Fault> {
        let Found::Open(at) = self.streams.find(stream) else {
            self.decoder.decode(block, &mut self.list)?;
            self.barren()?;
            return Ok(Fate::Open);
        };
        let stream = self.streams.get(at);
        let (place, has_head) = (stream.place, stream.has_head);
        if has_head {
            self.decoder.decode(block, &mut self.list)?;
            return Ok(self.trailers(at, ends, on, out));
        }
        let kind = on.kind(place);
        let generation = self.decoder.generation();
        if let Some(known) = self.memo.find(generation, kind, block) {
            self.begin_answer(at, known.status, known.length);
            on.head_again(place, known.status, known.verdict);
            return Ok(if ends { self.end_answer(at, on, out) } else { Fate::Open });
        }
        self.decoder.decode(block, &mut self.list)?;
        let head = match fields::head(&self.list) {
            Ok(head) => head,
            Err(fault) => return Ok(self.break_off(at, fault, on, out)),
        };
        if head.status < 200 {
            return Ok(self.interim(at, head.status, ends, on, out));
        }
        self.begin_answer(at, head.status, head.length);
        let verdict = fields::show(&self.list, 1, |fields| on.head(place, head.status, fields));
        if let Some(verdict) = verdict.filter(|_| self.decoder.generation() == generation) {
            let known = Known { status: head.status, length: head.length, verdict };
            self.memo.keep(generation, kind, block, known);
        }
        Ok(if ends { self.end_answer(at, on, out) } else { Fate::Open })
    }

    /// An interim answer, which nobody sees (RFC 9110 §15.2).
    #[cold]
    fn interim(
        &mut self,
        at: usize,
        status: u16,
        ends: bool,
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Fate {
        let stream = self.streams.get(at);
        stream.interim += 1;
        let fault = match status {
            101 => Fault::Fields("status 101, which HTTP/2 does not have"),
            _ if ends => Fault::InterimEnd,
            _ if stream.interim > INTERIM_MAX => Fault::TooManyInterim,
            _ => return Fate::Open,
        };
        self.break_off(at, fault, on, out)
    }

    #[inline]
    fn begin_answer(&mut self, at: usize, status: u16, length: u64) {
        self.strain.barren = 0;
        let stream = self.streams.get(at);
        stream.has_head = true;
        stream.is_bodiless = stream.to_head || status == 204 || status == 304;
        stream.length_left = if stream.is_bodiless { UNKNOWN } else { length };
    }

    fn trailers(&mut self, at: usize, ends: bool, on: &mut impl Events, out: &mut Vec<u8>) -> Fate {
        self.strain.barren = 0;
        let fault = match fields::trailers(&self.list) {
            Ok(()) if !ends => Fault::OpenTrailers,
            Ok(()) => {
                if !self.list.is_empty() {
                    let place = self.streams.get(at).place;
                    fields::show(&self.list, 0, |fields| on.trailers(place, fields));
                }
                return self.end_answer(at, on, out);
            }
            Err(fault) => fault,
        };
        self.break_off(at, fault, on, out)
    }

    /// The peer has ended the stream.
    #[inline]
    pub(super) fn end_answer(&mut self, at: usize, on: &mut impl Events, out: &mut Vec<u8>) -> Fate {
        let stream = self.streams.get(at);
        if !matches!(stream.length_left, 0 | UNKNOWN) {
            return self.break_off(at, Fault::BodyLength, on, out);
        }
        let state = if stream.is_sent {
            State::Closed
        } else {
            // An answer before the request was read to its end: the rest is not sent (RFC 9113 §8.1).
            put_reset(stream.id, ErrorCode::CANCEL, out);
            State::Cancelled
        };
        self.strain.barren = 0;
        self.strain.answers += 1;
        self.counts.answers += 1;
        on.done(self.end_stream(at, state));
        Fate::Settled
    }

    /// A stream is over, and whoever reads a part of its body reads for nobody.
    #[inline]
    pub(super) fn end_stream(&mut self, at: usize, state: State) -> Place {
        let stream = self.streams.get(at);
        let (id, is_sent) = (stream.id, stream.is_sent);
        if !is_sent {
            self.held.retain(|held| *held != id);
        }
        self.input.forget(id);
        self.streams.end(at, state)
    }
}

/// The header block of a HEADERS frame, without padding and priority (RFC 9113 §6.2).
#[inline]
fn unpadded(frame: Frame, payload: &[u8]) -> Result<&[u8], Fault> {
    let mut fragment = payload;
    let mut padding = 0;
    if frame.has(flag::PADDED) {
        let (first, rest) = payload.split_first().ok_or(Fault::Padding)?;
        (padding, fragment) = (usize::from(*first), rest);
    }
    if frame.has(flag::PRIORITY) {
        fragment = fragment.get(5..).ok_or(Fault::FrameLength("HEADERS"))?;
    }
    let length = fragment.len().checked_sub(padding).ok_or(Fault::Padding)?;
    Ok(&fragment[..length])
}
