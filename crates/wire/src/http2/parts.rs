//! Requests whose bodies come in parts, each when its time has come: what streams of messages are sent by.
//!
//! A part is handed in as a whole request whose body it is, so that one that waits for a window goes on as any other
//! ([`Connection::go_on`]). The owner sends no part before the one before it is written in full.

use super::connection::Connection;
use super::frame::{flag, kind, put};
use super::parcel::Parcel;
use super::ring::Found;
use super::send::Put;

impl Connection {
    /// The stream of the request that was put on the connection last.
    #[inline]
    #[must_use]
    pub const fn last_opened(&self) -> u32 {
        self.last_opened
    }

    /// Writes the next part of a request's body, which `request` has as its own; the request ends with it where it
    /// `is_last`. Nothing is written where the stream has ended.
    #[inline]
    pub fn put_more(&mut self, stream: u32, request: &[u8], is_last: bool, out: &mut Vec<u8>) -> Put {
        let Some(parcel) = Parcel::read(request) else { return Put::Unframed };
        let Some(at) = self.begin_part(stream, is_last) else { return Put::Whole };
        self.put_body(at, &parcel, out)
    }

    /// As [`Connection::put_more`], but writes nothing yet: the part waits and goes on by [`Connection::go_on`].
    pub fn hold(&mut self, stream: u32, is_last: bool) {
        if self.begin_part(stream, is_last).is_some() {
            self.held.push_back(stream);
        }
    }

    fn begin_part(&mut self, stream: u32, is_last: bool) -> Option<usize> {
        let Found::Open(at) = self.streams.find(stream) else { return None };
        let found = self.streams.get(at);
        if found.is_sent {
            return None;
        }
        (found.body_sent, found.is_last_part) = (0, is_last);
        Some(at)
    }

    /// Ends a request behind its last part, which is written in full.
    pub fn end_request(&mut self, stream: u32, out: &mut Vec<u8>) {
        if let Some(at) = self.begin_part(stream, true) {
            self.streams.get(at).is_sent = true;
            put(kind::DATA, flag::END_STREAM, stream, &[], out);
        }
    }
}
