//! HTTP/2 of one connection to the reference target: requests out of frames, answers into frames (RFC 9113).
//!
//! Sans-IO: bytes in, bytes out. Frames are its own, not those of the codec that it is the truth for; header blocks are read
//! by that codec's decoder, which tests of `wire` hold against another one, and written without a table. Invariants: no more is held of a peer than a header block, the windows
//! that it was given, and [`STREAMS_MAX`] requests; an answer never exceeds the windows of its stream and its connection.
//! Absent on purpose: priorities, push, settings of the peer other than its windows.

use super::http::{self, Route};
use crate::http2::flag::{ACK, END_HEADERS, END_STREAM, PADDED, PRIORITY};
use crate::http2::kind::{
    CONTINUATION, DATA, GOAWAY, HEADERS, PING, PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};
use crate::http2::setting::{CONCURRENT_STREAMS, INITIAL_WINDOW};
use crate::http2::{STATUS_200, field, frame, settings};
use std::borrow::Cow;
use std::collections::BTreeMap;
use wire::hpack::{DEFAULT_TABLE_BYTES, Decoder, FieldList};

/// What a client of HTTP/2 sends first (RFC 9113 §3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Requests at a time on a connection, as they are announced; `prony load --streams` asks for no more.
const STREAMS_MAX: u32 = 10_000;
/// Longest frame, in either direction: the protocol's own.
const FRAME_BYTES_MAX: usize = 16_384;
/// Longest header block, and the most frames that it may come in.
const BLOCK_BYTES_MAX: usize = 64 * 1024;
const BLOCK_FRAMES_MAX: u32 = 16;
/// Windows as a connection begins (§6.9.2), and the largest (§6.9.1).
const FIRST_WINDOW: i64 = 65_535;
const WINDOW_MAX: i64 = 0x7fff_ffff;
const HEAD_BYTES: usize = 9;

/// `:status: 500` of the static table (RFC 7541, appendix A).
const STATUS_500: u8 = 0x8e;
/// Status of a call that is to fail: INTERNAL.
const CALL_FAILED: &str = "13";
/// The path of the health service of gRPC, and its answer: `status: SERVING`.
const CALL_HEALTH: &[u8] = b"/grpc.health.v1.Health/Check";
const SERVING: [u8; 2] = [8, 1];

/// Codes of errors (§7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Protocol = 1,
    Internal = 2,
    FlowControl = 3,
    FrameSize = 6,
    RefusedStream = 7,
    Compression = 9,
    EnhanceYourCalm = 11,
}

/// A request that has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) stream: u32,
    pub(super) route: Route,
}

/// What is answered, whichever version of HTTP carries it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reply<'a> {
    Right,
    Health,
    Error,
    Text { kind: &'a str, body: &'a str },
}

/// An answer as header block, body and trailers.
#[derive(Clone, Debug)]
struct Answer {
    head: Vec<u8>,
    body: Vec<u8>,
    trailers: Vec<u8>,
}

impl Answer {
    fn plain(status: u8, kind: &str, body: &[u8]) -> Self {
        let length = body.len().to_string();
        let head = [vec![status], field("content-type", kind), field("content-length", &length)].concat();
        Self { head, body: body.to_vec(), trailers: Vec::new() }
    }

    /// The answer to a call of gRPC: a message and status 0, or the status alone.
    fn call(message: Option<&[u8]>) -> Self {
        let head = [vec![STATUS_200], field("content-type", "application/grpc")].concat();
        let Some(message) = message else {
            let head = [head, field("grpc-status", CALL_FAILED)].concat();
            return Self { head, body: Vec::new(), trailers: Vec::new() };
        };
        let prefix = [&[0], (message.len() as u32).to_be_bytes().as_slice()].concat();
        Self { head, body: [&prefix, message].concat(), trailers: field("grpc-status", "0") }
    }
}

/// The answers that are the same every time.
#[derive(Debug)]
pub(super) struct Answers {
    right: Answer,
    health: Answer,
    error: Answer,
    /// Of calls: a message with every field at its default.
    call_right: Answer,
    call_health: Answer,
    call_error: Answer,
}

impl Answers {
    pub(super) fn new() -> Self {
        let json = |answer: &[u8]| Answer::plain(STATUS_200, "application/json", http::body_of(answer));
        Self {
            right: json(http::OK),
            health: json(http::HEALTH),
            error: Answer::plain(STATUS_500, "text/plain", http::body_of(http::ERROR)),
            call_right: Answer::call(Some(&[])),
            call_health: Answer::call(Some(&SERVING)),
            call_error: Answer::call(None),
        }
    }

    fn of(&self, reply: Reply<'_>, is_call: bool) -> Cow<'_, Answer> {
        Cow::Borrowed(match (reply, is_call) {
            (Reply::Right, false) => &self.right,
            (Reply::Health, false) => &self.health,
            (Reply::Error, false) => &self.error,
            (Reply::Right, true) => &self.call_right,
            (Reply::Health, true) => &self.call_health,
            (Reply::Error, true) => &self.call_error,
            (Reply::Text { kind, body }, _) => {
                return Cow::Owned(Answer::plain(STATUS_200, kind, body.as_bytes()));
            }
        })
    }
}

/// A request that is not answered to its end.
#[derive(Debug)]
struct Stream {
    route: Route,
    is_call: bool,
    /// Whether its end was read.
    is_asked: bool,
    /// Bytes of a body that may still be sent.
    window: i64,
    /// What the windows held back: the rest of a body, and the trailers after it.
    rest: Option<(Vec<u8>, Vec<u8>)>,
}

/// A header block whose end has not come.
#[derive(Debug)]
struct Block {
    stream: u32,
    ends_stream: bool,
    bytes: Vec<u8>,
    frames: u32,
}

/// The server's side of a connection.
pub(super) struct Http2 {
    hpack: Decoder,
    /// The fields of the block that was read last.
    fields: FieldList,
    has_preface: bool,
    block: Option<Block>,
    streams: BTreeMap<u32, Stream>,
    /// The highest stream of a request.
    last: u32,
    /// Bytes of bodies that may be sent: on all streams together, and on a new one.
    window: i64,
    window_of_new: i64,
}

impl Http2 {
    pub(super) fn new() -> Self {
        Self {
            hpack: Decoder::new(DEFAULT_TABLE_BYTES),
            fields: FieldList::default(),
            has_preface: false,
            block: None,
            streams: BTreeMap::new(),
            last: 0,
            window: FIRST_WINDOW,
            window_of_new: FIRST_WINDOW,
        }
    }

    /// Takes whole frames from the front of `bytes`, puts what they are answered with behind `out`, and requests that have
    /// come to their end behind `asked`. Returns the bytes used; after an error the connection is over, and why stands in
    /// `out`.
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        asked: &mut Vec<Asked>,
    ) -> Result<usize, Code> {
        let taken = self.take_frames(bytes, out, asked);
        if let Err(code) = taken {
            let payload = [self.last.to_be_bytes(), (code as u32).to_be_bytes()].concat();
            out.extend(frame(GOAWAY, 0, 0, &payload));
        }
        taken
    }

    fn take_frames(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        asked: &mut Vec<Asked>,
    ) -> Result<usize, Code> {
        let mut used = 0;
        if !self.has_preface {
            if bytes.len() < PREFACE.len() {
                return if PREFACE.starts_with(bytes) { Ok(0) } else { Err(Code::Protocol) };
            }
            if !bytes.starts_with(PREFACE) {
                return Err(Code::Protocol);
            }
            used = PREFACE.len();
            self.has_preface = true;
            out.extend(settings(&[(CONCURRENT_STREAMS, STREAMS_MAX)]));
        }
        while let Some(head) = bytes[used..].first_chunk::<HEAD_BYTES>() {
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            if length > FRAME_BYTES_MAX {
                return Err(Code::FrameSize);
            }
            let Some(payload) = bytes[used + HEAD_BYTES..].get(..length) else { return Ok(used) };
            let stream = u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]);
            self.frame((head[3], head[4], stream), payload, out, asked)?;
            used += HEAD_BYTES + length;
        }
        Ok(used)
    }

    fn frame(
        &mut self,
        (kind, flags, stream): (u8, u8, u32),
        payload: &[u8],
        out: &mut Vec<u8>,
        asked: &mut Vec<Asked>,
    ) -> Result<(), Code> {
        if self.block.is_some() != (kind == CONTINUATION) {
            return Err(Code::Protocol);
        }
        match kind {
            DATA => self.data(flags, stream, payload.len() as u32, out, asked)?,
            HEADERS => {
                let bytes = unpadded(flags, payload).ok_or(Code::Protocol)?;
                let block = Block { stream, ends_stream: flags & END_STREAM != 0, bytes, frames: 0 };
                self.block(block, flags, out, asked)?;
            }
            CONTINUATION => {
                let mut block =
                    self.block.take().filter(|block| block.stream == stream).ok_or(Code::Protocol)?;
                block.bytes.extend_from_slice(payload);
                self.block(block, flags, out, asked)?;
            }
            RST_STREAM => drop(self.streams.remove(&stream)),
            SETTINGS if flags & ACK == 0 => {
                self.settings(payload)?;
                out.extend(frame(SETTINGS, ACK, 0, &[]));
                self.send_rests(out);
            }
            PING if flags & ACK == 0 => out.extend(frame(PING, ACK, 0, payload)),
            WINDOW_UPDATE => {
                self.widen(stream, payload)?;
                self.send_rests(out);
            }
            PUSH_PROMISE => return Err(Code::Protocol),
            _ => {}
        }
        Ok(())
    }

    /// A part of a request's body: its bytes are dropped, and its windows given back at once.
    fn data(
        &mut self,
        flags: u8,
        stream: u32,
        length: u32,
        out: &mut Vec<u8>,
        asked: &mut Vec<Asked>,
    ) -> Result<(), Code> {
        if stream == 0 || stream > self.last {
            return Err(Code::Protocol);
        }
        if length > 0 {
            out.extend(frame(WINDOW_UPDATE, 0, 0, &length.to_be_bytes()));
        }
        if flags & END_STREAM != 0 {
            self.ended(stream, asked);
        } else if length > 0 && self.streams.contains_key(&stream) {
            out.extend(frame(WINDOW_UPDATE, 0, stream, &length.to_be_bytes()));
        }
        Ok(())
    }

    fn block(
        &mut self,
        mut block: Block,
        flags: u8,
        out: &mut Vec<u8>,
        asked: &mut Vec<Asked>,
    ) -> Result<(), Code> {
        block.frames += 1;
        if block.bytes.len() > BLOCK_BYTES_MAX || block.frames > BLOCK_FRAMES_MAX {
            return Err(Code::EnhanceYourCalm);
        }
        if flags & END_HEADERS == 0 {
            self.block = Some(block);
            return Ok(());
        }
        self.hpack.decode(&block.bytes, &mut self.fields).map_err(|_| Code::Compression)?;
        let (mut route, mut is_call) = (Route::Queue, false);
        for (name, value) in self.fields.iter() {
            match name {
                b":path" if value == CALL_HEALTH => route = Route::Health,
                b":path" => route = http::route(value),
                b"content-type" => is_call = value.starts_with(b"application/grpc"),
                _ => {}
            }
        }
        if block.stream > self.last && block.stream % 2 == 1 {
            self.last = block.stream;
            if self.streams.len() >= STREAMS_MAX as usize {
                out.extend(reset_frame(block.stream, Code::RefusedStream));
                return Ok(());
            }
            let window = self.window_of_new;
            let stream = Stream { route, is_call, is_asked: false, window, rest: None };
            self.streams.insert(block.stream, stream);
        } else if block.stream == 0 || block.stream > self.last || !block.ends_stream {
            // Fields after a body end its request; nothing else may come on a stream that was begun.
            return Err(Code::Protocol);
        }
        if block.ends_stream {
            self.ended(block.stream, asked);
        }
        Ok(())
    }

    /// The end of a request; nothing where it was given up.
    fn ended(&mut self, stream: u32, asked: &mut Vec<Asked>) {
        if let Some(open) = self.streams.get_mut(&stream).filter(|open| !open.is_asked) {
            open.is_asked = true;
            asked.push(Asked { stream, route: open.route });
        }
    }

    fn settings(&mut self, payload: &[u8]) -> Result<(), Code> {
        if !payload.len().is_multiple_of(6) {
            return Err(Code::FrameSize);
        }
        for entry in payload.chunks_exact(6) {
            let value = i64::from(u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]));
            if u16::from_be_bytes([entry[0], entry[1]]) != INITIAL_WINDOW {
                continue;
            }
            if value > WINDOW_MAX {
                return Err(Code::FlowControl);
            }
            let more = value - self.window_of_new;
            self.window_of_new = value;
            self.streams.values_mut().for_each(|stream| stream.window += more);
        }
        Ok(())
    }

    fn widen(&mut self, stream: u32, payload: &[u8]) -> Result<(), Code> {
        let bytes: [u8; 4] = payload.try_into().map_err(|_| Code::FrameSize)?;
        let more = i64::from(u32::from_be_bytes(bytes) & 0x7fff_ffff);
        let window = match stream {
            0 => &mut self.window,
            _ => match self.streams.get_mut(&stream) {
                Some(stream) => &mut stream.window,
                // One that has just ended.
                None => return Ok(()),
            },
        };
        *window += more;
        if more == 0 || *window > WINDOW_MAX { Err(Code::FlowControl) } else { Ok(()) }
    }

    /// Answers a request, as far as the windows reach; nothing where the client has given it up.
    pub(super) fn answer(&mut self, stream: u32, reply: Reply<'_>, answers: &Answers, out: &mut Vec<u8>) {
        let Some(open) = self.streams.get_mut(&stream) else { return };
        let answer = answers.of(reply, open.is_call);
        let is_whole = answer.body.is_empty() && answer.trailers.is_empty();
        let end = if is_whole { END_STREAM } else { 0 };
        out.extend(frame(HEADERS, END_HEADERS | end, stream, &answer.head));
        if is_whole {
            self.streams.remove(&stream);
            return;
        }
        let answer = answer.into_owned();
        open.rest = Some((answer.body, answer.trailers));
        self.send_rest(stream, out);
    }

    /// Gives a request up.
    pub(super) fn reset(&mut self, stream: u32, out: &mut Vec<u8>) {
        if self.streams.remove(&stream).is_some() {
            out.extend(reset_frame(stream, Code::Internal));
        }
    }

    fn send_rests(&mut self, out: &mut Vec<u8>) {
        let held: Vec<u32> =
            self.streams.iter().filter(|(_, open)| open.rest.is_some()).map(|(stream, _)| *stream).collect();
        held.into_iter().for_each(|stream| self.send_rest(stream, out));
    }

    /// Sends of a body what the windows allow, and what comes after it.
    fn send_rest(&mut self, stream: u32, out: &mut Vec<u8>) {
        let Some(open) = self.streams.get_mut(&stream) else { return };
        let Some((body, trailers)) = &mut open.rest else { return };
        while !body.is_empty() {
            let room = self.window.min(open.window).clamp(0, FRAME_BYTES_MAX as i64) as usize;
            if room == 0 {
                return;
            }
            let part: Vec<u8> = body.drain(..room.min(body.len())).collect();
            self.window -= part.len() as i64;
            open.window -= part.len() as i64;
            let is_last = body.is_empty() && trailers.is_empty();
            out.extend(frame(DATA, if is_last { END_STREAM } else { 0 }, stream, &part));
        }
        if !trailers.is_empty() {
            out.extend(frame(HEADERS, END_HEADERS | END_STREAM, stream, trailers));
        }
        self.streams.remove(&stream);
    }
}

fn reset_frame(stream: u32, code: Code) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &(code as u32).to_be_bytes())
}

/// The part of a header block in a HEADERS frame: without padding and priority (§6.2).
fn unpadded(flags: u8, payload: &[u8]) -> Option<Vec<u8>> {
    let (padding, rest) = if flags & PADDED == 0 {
        (0, payload)
    } else {
        payload.split_first().map(|(padding, rest)| (usize::from(*padding), rest))?
    };
    let rest = rest.get(if flags & PRIORITY == 0 { 0 } else { 5 }..)?;
    Some(rest.get(..rest.len().checked_sub(padding)?)?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection that has begun, with this window for each answer.
    fn begun(window: u32) -> Http2 {
        let mut http2 = Http2::new();
        let (mut out, mut asked) = (Vec::new(), Vec::new());
        let hello = [PREFACE.to_vec(), settings(&[(INITIAL_WINDOW, window)])].concat();
        assert_eq!(http2.take(&hello, &mut out, &mut asked), Ok(hello.len()));
        assert_eq!(
            out,
            [settings(&[(CONCURRENT_STREAMS, STREAMS_MAX)]), frame(SETTINGS, ACK, 0, &[])].concat()
        );
        http2
    }

    fn ask(stream: u32, path: &str, kind: &str) -> Vec<u8> {
        let block = [field(":path", path), field("content-type", kind)].concat();
        frame(HEADERS, END_HEADERS | END_STREAM, stream, &block)
    }

    fn taken(http2: &mut Http2, bytes: &[u8]) -> (Result<usize, Code>, Vec<u8>, Vec<Asked>) {
        let (mut out, mut asked) = (Vec::new(), Vec::new());
        let used = http2.take(bytes, &mut out, &mut asked);
        (used, out, asked)
    }

    fn answer(http2: &mut Http2, stream: u32, reply: Reply<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        http2.answer(stream, reply, &Answers::new(), &mut out);
        out
    }

    #[test]
    fn requests_are_known_by_their_path_wherever_the_bytes_are_cut() {
        let bytes =
            [ask(1, "/ping", "x"), ask(3, "/health", "x"), ask(5, "/p.S/M", "application/grpc")].concat();
        for cut in 0..bytes.len() {
            let mut http2 = begun(1000);
            let (used, _, mut asked) = taken(&mut http2, &bytes[..cut]);
            let (_, _, more) = taken(&mut http2, &bytes[used.unwrap()..]);
            asked.extend(more);
            let wanted = [(1, Route::Queue), (3, Route::Health), (5, Route::Queue)];
            assert_eq!(asked, wanted.map(|(stream, route)| Asked { stream, route }), "{cut}");
        }
    }

    #[test]
    fn a_body_ends_its_request_and_its_windows_come_back() {
        let mut http2 = begun(1000);
        let head = frame(HEADERS, END_HEADERS, 1, &field(":path", "/"));
        let body = [head, frame(DATA, 0, 1, b"abc"), frame(DATA, END_STREAM, 1, b"de")].concat();
        let (used, out, asked) = taken(&mut http2, &body);
        assert_eq!((used, asked.len()), (Ok(body.len()), 1));
        let update = |stream, bytes: u32| frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes());
        assert_eq!(out, [update(0, 3), update(1, 3), update(0, 2)].concat());
    }

    #[test]
    fn an_answer_waits_for_its_windows() {
        let mut http2 = begun(10);
        assert!(taken(&mut http2, &ask(1, "/", "x")).0.is_ok());
        let sent = answer(&mut http2, 1, Reply::Right);
        assert!(sent.ends_with(&frame(DATA, 0, 1, &http::body_of(http::OK)[..10])));
        let (_, rest, _) = taken(&mut http2, &frame(WINDOW_UPDATE, 0, 1, &21_u32.to_be_bytes()));
        assert_eq!(rest, frame(DATA, END_STREAM, 1, &http::body_of(http::OK)[10..]));
        assert!(http2.streams.is_empty());
    }

    #[test]
    fn calls_have_their_message_and_their_status() {
        let mut http2 = begun(1000);
        assert!(
            taken(&mut http2, &[1, 3].map(|stream| ask(stream, "/p.S/M", "application/grpc+proto")).concat())
                .0
                .is_ok()
        );
        let right = answer(&mut http2, 1, Reply::Right);
        assert_eq!(right, crate::http2::call_answer(1, &[], "0"));
        let failed = answer(&mut http2, 3, Reply::Error);
        assert!(failed[4] & END_STREAM == END_STREAM && failed.ends_with(&field("grpc-status", CALL_FAILED)));
    }

    #[test]
    fn a_request_that_was_given_up_gets_no_answer() {
        let mut http2 = begun(1000);
        assert!(
            taken(&mut http2, &[ask(1, "/", "x"), frame(RST_STREAM, 0, 1, &[0, 0, 0, 8])].concat()).0.is_ok()
        );
        assert!(answer(&mut http2, 1, Reply::Right).is_empty());
    }

    #[test]
    fn what_breaks_the_rules_ends_the_connection_with_its_code() {
        let long = [0xff, 0xff, 0xff, DATA, 0, 0, 0, 0, 1];
        let (open, more) = (frame(HEADERS, 0, 1, &[]), frame(CONTINUATION, 0, 1, &[]).repeat(20));
        for (bytes, code) in [
            (long.to_vec(), Code::FrameSize),
            (frame(DATA, 0, 1, b"x"), Code::Protocol),
            (frame(PUSH_PROMISE, 0, 1, &[0; 4]), Code::Protocol),
            (frame(CONTINUATION, END_HEADERS, 1, &[]), Code::Protocol),
            (frame(HEADERS, END_HEADERS | PADDED, 1, &[9, 0]), Code::Protocol),
            (frame(HEADERS, END_HEADERS | END_STREAM, 2, &[STATUS_200]), Code::Protocol),
            (frame(HEADERS, END_HEADERS, 1, &[0xff; 20]), Code::Compression),
            (frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]), Code::FlowControl),
            (settings(&[(INITIAL_WINDOW, 0x8000_0000)]), Code::FlowControl),
            ([open.clone(), frame(PING, 0, 0, &[0; 8])].concat(), Code::Protocol),
            ([open, more].concat(), Code::EnhanceYourCalm),
        ] {
            let (end, out, _) = taken(&mut begun(1000), &bytes);
            assert_eq!(end, Err(code), "{bytes:?}");
            assert_eq!(out[out.len() - 4..], (code as u32).to_be_bytes(), "{bytes:?}");
        }
        assert_eq!(taken(&mut Http2::new(), b"GET / HTTP/1.1\r\n\r\n").0, Err(Code::Protocol));
    }
}
