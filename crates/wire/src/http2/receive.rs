//! Frames are taken apart: where they may be, how long they may be, and who reads them.

use super::connection::Connection;
use super::events::Events;
use super::fault::Fault;
use super::frame::{Frame, flag, kind, put_goaway, put_reset};
use super::input::Reading;
use super::limits::{BARREN_FRAMES_MAX, CONTINUATIONS_MAX, FRAME_BYTES_MAX, SETTINGS_MAX};
use super::ring::{Found, State};

/// Whether a request's fate was settled by what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Open,
    Settled,
}

/// `HTTP/` as a frame header begins.
const HTTP1: Frame = Frame { length: 0x48_5454, kind: b'P', flags: b'/', stream: 0 };

impl Connection {
    /// Reads on, until the input ends or the fate of a request is settled, so that the owner may act on it. Returns the bytes
    /// taken; the owner calls again with the rest.
    ///
    /// # Errors
    /// A peer that breaks the protocol or asks for too much. `out` has the GOAWAY that tells it so, and the connection is of
    /// no more use: the owner lets the requests go ([`Connection::let_go`]).
    #[inline]
    pub fn take(&mut self, input: &[u8], on: &mut impl Events, out: &mut Vec<u8>) -> Result<usize, Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let mut at = 0;
        while at < input.len() {
            match self.step(&input[at..], on, out) {
                Ok((taken, fate)) => {
                    at += taken;
                    if fate == Fate::Settled {
                        break;
                    }
                }
                Err(fault) => {
                    self.fault = Some(fault);
                    put_goaway(fault.code(), out);
                    return Err(fault);
                }
            }
        }
        Ok(at)
    }

    #[inline]
    fn step(&mut self, rest: &[u8], on: &mut impl Events, out: &mut Vec<u8>) -> Result<(usize, Fate), Fault> {
        match self.input.reading {
            Reading::Header => match self.input.header(rest) {
                (None, taken) => Ok((taken, Fate::Open)),
                (Some(frame), taken) => Ok((taken, self.begin(frame, on, out)?)),
            },
            Reading::Payload(frame) => self.read_payload(frame, rest, on, out),
            Reading::Skip(left) => {
                let taken = (left as usize).min(rest.len());
                let left = left - taken as u32;
                self.input.reading = if left == 0 { Reading::Header } else { Reading::Skip(left) };
                Ok((taken, Fate::Open))
            }
            Reading::PadLength(frame) => {
                // There is at least one byte.
                Ok((1, self.open_padded(frame, u32::from(rest[0]), on, out)?))
            }
            Reading::Data(data) => self.read_data(data, rest, on, out),
        }
    }

    /// In place where the payload came whole.
    #[inline]
    fn read_payload(
        &mut self,
        frame: Frame,
        rest: &[u8],
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Fate), Fault> {
        let length = frame.length as usize;
        if self.input.payload.is_empty() && rest.len() >= length {
            self.input.reading = Reading::Header;
            return Ok((length, self.payload(frame, &rest[..length], on, out)?));
        }
        let taken = rest.len().min(length - self.input.payload.len());
        self.input.payload.extend_from_slice(&rest[..taken]);
        if self.input.payload.len() < length {
            return Ok((taken, Fate::Open));
        }
        self.input.reading = Reading::Header;
        let mut payload = std::mem::take(&mut self.input.payload);
        let fate = self.payload(frame, &payload, on, out);
        payload.clear();
        self.input.payload = payload;
        Ok((taken, fate?))
    }

    /// All that a frame header alone shows.
    #[inline]
    fn begin(&mut self, frame: Frame, on: &mut impl Events, out: &mut Vec<u8>) -> Result<Fate, Fault> {
        if !self.is_established {
            is_first(frame)?;
        }
        if frame.length > FRAME_BYTES_MAX {
            return Err(Fault::FrameTooLong(frame.length));
        }
        let continues = frame.kind == kind::CONTINUATION;
        if self.input.block.map(|block| block.stream) != continues.then_some(frame.stream) {
            return Err(Fault::Interleaved);
        }
        match frame.kind {
            kind::DATA => return self.begin_data(frame, on, out),
            kind::HEADERS => self.of_request(frame)?,
            kind::RST_STREAM => self.of_used_stream(frame, 4)?,
            kind::WINDOW_UPDATE if frame.stream == 0 => of_length(frame, frame.length == 4)?,
            kind::WINDOW_UPDATE => self.of_used_stream(frame, 4)?,
            kind::CONTINUATION => self.continues()?,
            kind::SETTINGS => of_settings(frame)?,
            kind::PING => of_connection(frame, frame.length == 8)?,
            kind::GOAWAY => of_connection(frame, frame.length >= 8)?,
            kind::PUSH_PROMISE => return Err(Fault::Push),
            _ => return self.ignore(frame),
        }
        if frame.length == 0 {
            return self.payload(frame, &[], on, out);
        }
        self.input.reading = Reading::Payload(frame);
        Ok(Fate::Open)
    }

    #[inline]
    fn payload(
        &mut self,
        frame: Frame,
        payload: &[u8],
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Result<Fate, Fault> {
        match frame.kind {
            kind::HEADERS => self.headers(frame, payload, on, out),
            kind::CONTINUATION => self.continuation(frame, payload, on, out),
            kind::SETTINGS => self.settings(frame, payload, on, out),
            kind::PING => self.ping(frame, payload, out),
            kind::WINDOW_UPDATE => self.window_update(frame, payload, on, out),
            kind::RST_STREAM => self.reset(frame, payload, on),
            _ => self.goaway(payload, on),
        }
    }

    /// PRIORITY, which is obsolete (RFC 9113 §5.3.2), and unknown frames (§5.5).
    fn ignore(&mut self, frame: Frame) -> Result<Fate, Fault> {
        if frame.kind == kind::PRIORITY {
            of_length(frame, frame.length == 5)?;
            if frame.stream == 0 {
                return Err(wrong_stream(frame));
            }
        }
        self.barren()?;
        if frame.length > 0 {
            self.input.reading = Reading::Skip(frame.length);
        }
        Ok(Fate::Open)
    }

    /// HEADERS and DATA belong to a request that was sent and whose answer has not ended.
    pub(super) fn of_request(&self, frame: Frame) -> Result<(), Fault> {
        match self.streams.find(frame.stream) {
            Found::Open(_) | Found::Cancelled => Ok(()),
            Found::Closed => Err(Fault::StreamEnded(frame.name(), frame.stream)),
            Found::Idle => Err(wrong_stream(frame)),
        }
    }

    fn of_used_stream(&self, frame: Frame, length: u32) -> Result<(), Fault> {
        of_length(frame, frame.length == length)?;
        if self.streams.find(frame.stream) == Found::Idle { Err(wrong_stream(frame)) } else { Ok(()) }
    }

    fn continues(&mut self) -> Result<(), Fault> {
        let Some(block) = &mut self.input.block else { return Err(Fault::Interleaved) };
        block.continuations += 1;
        if block.continuations > CONTINUATIONS_MAX { Err(Fault::BlockTooLong) } else { Ok(()) }
    }

    /// A frame that brings no answer on.
    ///
    /// # Errors
    /// There were too many in a row.
    pub(super) const fn barren(&mut self) -> Result<(), Fault> {
        self.strain.barren += 1;
        if self.strain.barren > BARREN_FRAMES_MAX { Err(Fault::BarrenFlood) } else { Ok(()) }
    }

    /// An answer that breaks the protocol: its stream ends, the connection goes on.
    #[cold]
    pub(super) fn break_off(
        &mut self,
        at: usize,
        fault: Fault,
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Fate {
        put_reset(self.streams.get(at).id, fault.code(), out);
        let place = self.end_stream(at, State::Cancelled);
        on.broken(place, fault);
        Fate::Settled
    }
}

/// A server begins with SETTINGS.
fn is_first(frame: Frame) -> Result<(), Fault> {
    if (frame.length, frame.kind, frame.flags) == (HTTP1.length, HTTP1.kind, HTTP1.flags) {
        return Err(Fault::Http1);
    }
    let is_settings = frame.kind == kind::SETTINGS && !frame.has(flag::ACK);
    if is_settings { Ok(()) } else { Err(Fault::NoSettings) }
}

const fn of_length(frame: Frame, fits: bool) -> Result<(), Fault> {
    if fits { Ok(()) } else { Err(Fault::FrameLength(frame.name())) }
}

const fn of_connection(frame: Frame, fits: bool) -> Result<(), Fault> {
    if frame.stream == 0 { of_length(frame, fits) } else { Err(wrong_stream(frame)) }
}

fn of_settings(frame: Frame) -> Result<(), Fault> {
    let settings = frame.length as usize / 6;
    if settings > SETTINGS_MAX {
        return Err(Fault::SettingsFlood);
    }
    let fits = if frame.has(flag::ACK) { frame.length == 0 } else { frame.length.is_multiple_of(6) };
    of_connection(frame, fits)
}

const fn wrong_stream(frame: Frame) -> Fault {
    Fault::WrongStream(frame.name(), frame.stream)
}
