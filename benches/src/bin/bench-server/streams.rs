//! HTTP/2 on a connection of the benchmark's server: as much of RFC 9113 as generators need that send GETs without a body,
//! or calls of gRPC with one message.
//!
//! Every GET is answered as `/ping` is and every request with a body as a call of gRPC, whatever it asks for: neither
//! header blocks nor messages are read, so that the server costs far less than any generator. The answer's own fields enter the client's table once (RFC 7541 §6.2.1) and are an index
//! each from then on, as real servers do.
//! Invariants: all answers to what one read brought leave together; none exceeds the client's window; what the module
//! does not know ends the connection with its reason and is never skipped.

use crate::answer::SMALL_BODY;
use std::collections::VecDeque;
use std::io;

/// What stands before the empty line in a client's preface: to an HTTP/1.1 server it is a head.
pub(crate) const HEAD: &[u8] = b"PRI * HTTP/2.0";
/// The rest of the preface.
const REST: &[u8] = b"SM\r\n\r\n";

const FRAME_HEAD_BYTES: usize = 9;
/// Clients may send no longer frame, because the server raises no setting.
const FRAME_BYTES_MAX: usize = 16_384;
/// Bytes of bodies after which the client may send as many more.
const TAKEN_BYTES: u32 = 16_384;
/// Kinds of frames (RFC 9113 §6) and settings (§6.5.2).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const SETTING_TABLE: u16 = 1;
const SETTING_STREAMS: u16 = 3;
const SETTING_WINDOW: u16 = 4;
/// Streams that a client may open at once.
const STREAMS: u32 = 1_000;
/// Room that the two lasting fields of an answer take in the client's table.
const TABLE_BYTES: u32 = 128;
const WINDOW: u32 = 65_535;

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct Streams {
    /// Bytes of the preface that have not come.
    preface: &'static [u8],
    /// What the connection carries, once the first answer has put its fields into the client's table.
    indexed: Option<Kind>,
    /// Bytes of bodies that came since the client got room for more.
    taken: u32,
    /// Bytes that the client still takes on this connection.
    window: u64,
    /// Streams that wait for it, in the order of their requests.
    waiting: VecDeque<(u32, Kind)>,
}

/// What a stream carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A request without a body.
    Get,
    /// A call of gRPC.
    Call,
}

impl Streams {
    /// A connection that begins: `out` gets the server's settings.
    pub(crate) fn new(out: &mut Vec<u8>) -> Self {
        let mut payload = SETTING_STREAMS.to_be_bytes().to_vec();
        payload.extend_from_slice(&STREAMS.to_be_bytes());
        frame(out, SETTINGS, 0, 0, &payload);
        Self { preface: REST, indexed: None, taken: 0, window: u64::from(WINDOW), waiting: VecDeque::new() }
    }

    /// Reads all whole frames of `bytes`, calls `count` for each request, and puts answers into `out`; returns how many
    /// bytes were read.
    ///
    /// # Errors
    /// The client sends what this server does not know.
    pub(crate) fn take(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        mut count: impl FnMut(),
    ) -> io::Result<usize> {
        let mut read = self.preface.len().min(bytes.len());
        if !self.preface.starts_with(&bytes[..read]) {
            return Err(io::Error::other("the preface is not that of HTTP/2"));
        }
        self.preface = &self.preface[read..];
        while let Some(head) = bytes.get(read..read + FRAME_HEAD_BYTES) {
            let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
            if length > FRAME_BYTES_MAX {
                return Err(io::Error::other("a frame is too long"));
            }
            let start = read + FRAME_HEAD_BYTES;
            let Some(payload) = bytes.get(start..start + length) else { break };
            self.take_frame(head[3], head[4], number(&head[5..]) & 0x7fff_ffff, payload, out, &mut count)?;
            read = start + length;
        }
        Ok(read)
    }

    fn take_frame(
        &mut self,
        kind: u8,
        flags: u8,
        stream: u32,
        payload: &[u8],
        out: &mut Vec<u8>,
        count: &mut impl FnMut(),
    ) -> io::Result<()> {
        match kind {
            HEADERS if flags & END_HEADERS == 0 => {
                return Err(io::Error::other("only header sections in one frame are known"));
            }
            // A call goes on with its message.
            HEADERS if flags & END_STREAM == 0 => {}
            HEADERS => self.whole(stream, Kind::Get, out, count)?,
            DATA => {
                self.taken += payload.len() as u32;
                if self.taken >= TAKEN_BYTES {
                    frame(out, WINDOW_UPDATE, 0, 0, &std::mem::take(&mut self.taken).to_be_bytes());
                }
                if flags & END_STREAM != 0 {
                    self.whole(stream, Kind::Call, out, count)?;
                }
            }
            SETTINGS if flags & ACK == 0 => {
                check_settings(payload)?;
                frame(out, SETTINGS, ACK, 0, &[]);
            }
            PING if flags & ACK == 0 => frame(out, PING, ACK, 0, payload),
            WINDOW_UPDATE if stream == 0 && payload.len() == 4 => {
                self.window += u64::from(number(payload) & 0x7fff_ffff);
                self.answer(out);
            }
            RST_STREAM => self.waiting.retain(|waiting| waiting.0 != stream),
            SETTINGS | PING | WINDOW_UPDATE | PRIORITY | GOAWAY => {}
            _ => return Err(io::Error::other(format!("a frame of kind {kind}"))),
        }
        Ok(())
    }

    /// A request is here wholly.
    fn whole(
        &mut self,
        stream: u32,
        kind: Kind,
        out: &mut Vec<u8>,
        count: &mut impl FnMut(),
    ) -> io::Result<()> {
        if self.indexed.is_some_and(|before| before != kind) {
            return Err(io::Error::other("a connection carries GETs or calls, not both"));
        }
        count();
        self.waiting.push_back((stream, kind));
        self.answer(out);
        Ok(())
    }

    /// Answers what waits, as far as the window reaches.
    fn answer(&mut self, out: &mut Vec<u8>) {
        while let Some((stream, kind)) = self.waiting.front().copied() {
            let body = if kind == Kind::Get { SMALL_BODY } else { MESSAGE };
            let Some(left) = self.window.checked_sub(body.len() as u64) else { return };
            self.window = left;
            self.waiting.pop_front();
            let is_first = self.indexed.replace(kind).is_none();
            let first = |first, later| if is_first { first } else { later };
            match kind {
                Kind::Get => {
                    frame(out, HEADERS, END_HEADERS, stream, first(FIRST, b"\x88\xbf\xbe"));
                    frame(out, DATA, END_STREAM, stream, body);
                }
                Kind::Call => {
                    frame(out, HEADERS, END_HEADERS, stream, first(FIRST_OF_CALL, b"\x88\xbf"));
                    frame(out, DATA, 0, stream, body);
                    let flags = END_HEADERS | END_STREAM;
                    frame(out, HEADERS, flags, stream, first(FIRST_STATUS, b"\xbe"));
                }
            }
        }
    }
}

/// `:status: 200`, then `content-type` and `content-length` as literals that enter the table (names 31 and 28 of the
/// static table): afterwards they are its entries 63 and 62.
const FIRST: &[u8] = b"\x88\x5f\x10application/json\x5c\x0231";
/// The same for the fields and trailers of a call, whose entries they are afterwards.
const FIRST_OF_CALL: &[u8] = b"\x88\x5f\x10application/grpc";
const FIRST_STATUS: &[u8] = b"\x40\x0bgrpc-status\x010";
/// `{text: "hello"}` of `fixtures/greeter.proto` with its prefix.
const MESSAGE: &[u8] = b"\0\0\0\0\x07\x0a\x05hello";

/// # Errors
/// The client takes less than the answer needs.
fn check_settings(payload: &[u8]) -> io::Result<()> {
    for setting in payload.chunks_exact(6) {
        let (name, value) = (u16::from_be_bytes([setting[0], setting[1]]), number(&setting[2..]));
        let is_small = match name {
            SETTING_TABLE => value < TABLE_BYTES,
            SETTING_WINDOW => (value as usize) < SMALL_BODY.len(),
            _ => false,
        };
        if is_small {
            return Err(io::Error::other(format!("setting {name} is {value}: too small")));
        }
    }
    Ok(())
}

/// The number in the first four bytes.
fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).expect("frames are short").to_be_bytes();
    out.extend_from_slice(&length[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a client sends first: the rest of the preface, its settings, and GETs on these streams.
    fn opening(settings: &[u8], streams: &[u32]) -> Vec<u8> {
        let mut bytes = REST.to_vec();
        frame(&mut bytes, SETTINGS, 0, 0, settings);
        for stream in streams {
            frame(&mut bytes, HEADERS, END_STREAM | END_HEADERS, *stream, b"\x82");
        }
        bytes
    }

    /// Kinds and streams of frames.
    fn kinds(mut bytes: &[u8]) -> Vec<(u8, u32)> {
        let mut kinds = Vec::new();
        while bytes.len() >= FRAME_HEAD_BYTES {
            kinds.push((bytes[3], number(&bytes[5..])));
            bytes = &bytes[FRAME_HEAD_BYTES + (usize::from(bytes[1]) << 8 | usize::from(bytes[2]))..];
        }
        kinds
    }

    #[test]
    fn requests_are_counted_and_answered_however_the_bytes_are_cut() {
        let sent = opening(&[], &[1, 3]);
        for cut in 0..sent.len() {
            let (mut out, mut counted) = (Vec::new(), 0);
            let mut streams = Streams::new(&mut out);
            let read = streams.take(&sent[..cut], &mut out, || counted += 1).unwrap();
            let rest = streams.take(&sent[read..], &mut out, || counted += 1).unwrap();
            assert_eq!((read + rest, counted), (sent.len(), 2), "cut at {cut}");
            let wanted = [(SETTINGS, 0), (SETTINGS, 0), (HEADERS, 1), (DATA, 1), (HEADERS, 3), (DATA, 3)];
            assert_eq!(kinds(&out), wanted);
        }
    }

    fn call(stream: u32, message: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame(&mut bytes, HEADERS, END_HEADERS, stream, b"\x83");
        frame(&mut bytes, DATA, END_STREAM, stream, message);
        bytes
    }

    #[test]
    fn calls_are_answered_with_a_message_and_a_status_and_get_room_for_more() {
        let mut sent = opening(&[], &[]);
        for stream in [1, 3, 5] {
            sent.extend(call(stream, &[0; 9_000]));
        }
        let (mut out, mut counted) = (Vec::new(), 0);
        Streams::new(&mut out).take(&sent, &mut out, || counted += 1).unwrap();
        let answer = |stream| [(HEADERS, stream), (DATA, stream), (HEADERS, stream)];
        let mut wanted = vec![(SETTINGS, 0), (SETTINGS, 0)];
        wanted.extend(answer(1).into_iter().chain([(WINDOW_UPDATE, 0)]).chain(answer(3)).chain(answer(5)));
        assert_eq!((counted, kinds(&out)), (3, wanted));
        let update = out.windows(FRAME_HEAD_BYTES).position(|head| head == [0, 0, 4, 8, 0, 0, 0, 0, 0]);
        assert_eq!(number(&out[update.unwrap() + FRAME_HEAD_BYTES..]), 18_000);
    }

    #[test]
    fn answers_wait_for_the_window_of_the_connection() {
        let many: Vec<u32> = (0..2_200).map(|number| 2 * number + 1).collect();
        let (mut out, mut counted) = (Vec::new(), 0);
        let mut streams = Streams::new(&mut out);
        streams.take(&opening(&[], &many), &mut out, || counted += 1).unwrap();
        let answered = |out: &[u8]| kinds(out).iter().filter(|(kind, _)| *kind == DATA).count();
        assert_eq!((counted, answered(&out)), (2_200, WINDOW as usize / SMALL_BODY.len()));
        let mut more = Vec::new();
        frame(&mut more, WINDOW_UPDATE, 0, 0, &WINDOW.to_be_bytes());
        streams.take(&more, &mut out, || ()).unwrap();
        assert_eq!(answered(&out), 2_200);
    }

    #[test]
    fn what_is_not_known_ends_the_connection() {
        let mut both = opening(&[], &[1]);
        both.extend(call(3, b"\0\0\0\0\0"));
        let mut long = opening(&[], &[]);
        frame(&mut long, HEADERS, END_STREAM, 1, b"\x82");
        let mut strange = opening(&[], &[]);
        frame(&mut strange, 5, 0, 1, &[]);
        for (bytes, cause) in [
            (b"SM?".to_vec(), "preface"),
            (opening(&[0, 1, 0, 0, 0, 0], &[]), "setting 1 is 0"),
            (opening(&[0, 4, 0, 0, 0, 9], &[]), "setting 4 is 9"),
            (both, "not both"),
            (long, "in one frame"),
            (strange, "kind 5"),
            ([REST, &[1, 0, 0, 0, 0, 0, 0, 0, 0]].concat(), "too long"),
        ] {
            let error = Streams::new(&mut Vec::new()).take(&bytes, &mut Vec::new(), || ()).unwrap_err();
            assert!(error.to_string().contains(cause), "{error}");
        }
    }
}
