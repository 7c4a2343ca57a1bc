//! Requests are written: header blocks by the connection's table, bodies as far as windows allow.

use super::code::ErrorCode;
use super::connection::{Connection, Room};
use super::events::Place;
use super::frame::{Frame, HEADER_BYTES, flag, kind, put, put_reset};
use super::limits::{BODY_BYTES_A_CALL, FRAME_BYTES_MAX};
use super::parcel::Parcel;
use super::ring::{Found, State};

/// How far a request was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// All of it.
    Whole,
    /// Not all of its body: it goes on by [`Connection::go_on`].
    Held,
    /// Nothing: there is no room ([`Connection::room`]).
    NoRoom,
    /// Nothing: the bytes are no request that [`super::Http2`] has framed.
    Unframed,
}

/// A request that may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The owner's number of it.
    pub place: Place,
    /// Its stream.
    pub stream: u32,
}

/// What ends with a request that is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// Its stream, which is reset.
    Stream,
    /// Nothing yet: too many were given up, so the owner should end the connection with it.
    Connection,
}

impl Connection {
    /// Puts a request on the connection; `request` is as [`super::Http2`] prepared or rendered it. A held one must be handed
    /// in again, unchanged, when it goes on.
    #[inline]
    pub fn put(&mut self, place: Place, request: &[u8], out: &mut Vec<u8>) -> Put {
        self.put_part(place, request, true, out)
    }

    /// As [`Connection::put`]; `is_last` says whether the request ends with this body, else it goes on by
    /// [`Connection::put_more`].
    #[inline]
    pub fn put_part(&mut self, place: Place, request: &[u8], is_last: bool, out: &mut Vec<u8>) -> Put {
        let Some(parcel) = Parcel::read(request) else { return Put::Unframed };
        if !matches!(self.room(), Room::Places(_)) {
            return Put::NoRoom;
        }
        let (send, receive) = (self.peer.window_bytes, self.config.windows.stream);
        let Some(at) = self.streams.open_next(place, send, receive) else { return Put::NoRoom };
        let stream = self.streams.get(at);
        let id = stream.id;
        stream.to_head = parcel.to_head;
        let ends = is_last && parcel.body.is_empty();
        (stream.is_sent, stream.is_last_part) = (ends, is_last);
        self.last_opened = id;
        self.put_headers(id, &parcel, ends, out);
        if parcel.body.is_empty() { Put::Whole } else { self.put_body(at, &parcel, out) }
    }

    /// The next request that waited and may go on. The owner calls [`Connection::go_on`] with it before anything else.
    /// One that only waits for what is written to be sent comes, too: the owner asks when it has sent that.
    pub fn next_ready(&mut self) -> Option<Held> {
        if self.send.room() == 0 {
            return None;
        }
        for _ in 0..self.held.len() {
            let stream = self.held.pop_front()?;
            let Found::Open(at) = self.streams.find(stream) else { continue };
            let found = self.streams.look(at);
            if found.send.room() > 0 {
                return Some(Held { place: found.place, stream });
            }
            self.held.push_back(stream);
        }
        None
    }

    /// Writes on at a request that waited; `request` is what it was put on the connection as.
    pub fn go_on(&mut self, held: Held, request: &[u8], out: &mut Vec<u8>) -> Put {
        let Some(parcel) = Parcel::read(request) else { return Put::Unframed };
        match self.streams.find(held.stream) {
            Found::Open(at) if !self.streams.look(at).is_sent => self.put_body(at, &parcel, out),
            _ => Put::Whole,
        }
    }

    /// Whether a request waits because of a window, its own or the connection's.
    #[must_use]
    pub fn is_stalled(&self, place: Place) -> bool {
        let Some(at) = self.streams.find_place(place) else { return false };
        let stream = self.streams.look(at);
        !stream.is_sent && stream.send.room().min(self.send.room()) == 0
    }

    /// Gives a request up before its answer is whole.
    pub fn cancel(&mut self, place: Place, out: &mut Vec<u8>) -> Given {
        let Some(at) = self.streams.find_place(place) else { return Given::Stream };
        if !self.strain.may_cancel() {
            return Given::Connection;
        }
        self.strain.cancels += 1;
        self.counts.cancels += 1;
        put_reset(self.streams.get(at).id, ErrorCode::CANCEL, out);
        self.end_stream(at, State::Cancelled);
        Given::Stream
    }

    #[inline]
    fn put_headers(&mut self, stream: u32, parcel: &Parcel<'_>, ends: bool, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        let length = self.encoder.encode(parcel.parts, parcel.is_fixed, out);
        let end = if ends { flag::END_STREAM } else { 0 };
        if length > FRAME_BYTES_MAX as usize {
            return split(stream, end, start, out);
        }
        let flags = flag::END_HEADERS | end;
        let frame = Frame { length: length as u32, kind: kind::HEADERS, flags, stream };
        out[start..start + HEADER_BYTES].copy_from_slice(&frame.bytes());
    }

    /// Writes as much of the body as the windows and one call allow.
    pub(super) fn put_body(&mut self, at: usize, parcel: &Parcel<'_>, out: &mut Vec<u8>) -> Put {
        let stream = self.streams.get(at);
        let mut budget = BODY_BYTES_A_CALL;
        loop {
            let rest = parcel.body.get(stream.body_sent..).unwrap_or_default();
            let allowed = self.send.room().min(stream.send.room());
            let length = rest.len().min(FRAME_BYTES_MAX as usize).min(parcel.chunk_bytes).min(allowed);
            if rest.is_empty() {
                stream.is_sent = stream.is_last_part;
                if stream.is_sent && parcel.body.is_empty() {
                    put(kind::DATA, flag::END_STREAM, stream.id, &[], out);
                }
                return Put::Whole;
            }
            if length == 0 || length > budget {
                self.counts.stalls += u64::from(length == 0);
                self.held.push_back(stream.id);
                return Put::Held;
            }
            let ends = length == rest.len() && stream.is_last_part;
            let flags = if ends { flag::END_STREAM } else { 0 };
            put(kind::DATA, flags, stream.id, &rest[..length], out);
            self.send.spend(length);
            stream.send.spend(length);
            stream.body_sent += length;
            budget -= length;
        }
    }
}

/// Cuts a header block that is longer than a frame; it begins behind a frame header at `start`.
#[cold]
fn split(stream: u32, end: u8, start: usize, out: &mut Vec<u8>) {
    let block = out.split_off(start + HEADER_BYTES);
    out.truncate(start);
    let pieces = block.len().div_ceil(FRAME_BYTES_MAX as usize);
    for (number, piece) in block.chunks(FRAME_BYTES_MAX as usize).enumerate() {
        let (kind, mut flags) = if number == 0 { (kind::HEADERS, end) } else { (kind::CONTINUATION, 0) };
        if number + 1 == pieces {
            flags |= flag::END_HEADERS;
        }
        put(kind, flags, stream, piece, out);
    }
}
