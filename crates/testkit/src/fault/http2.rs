//! What the server does on a connection of HTTP/2, fault by fault; and the right answer.
//!
//! A script begins with SETTINGS. Faults of one stream meet every request of their connection; others end it.

use super::{Ask, Fault, RIGHT_BODY};
use crate::http2::flag::{END_HEADERS, END_STREAM};
use crate::http2::kind::{CONTINUATION, DATA, GOAWAY, HEADERS, PING, PUSH_PROMISE, WINDOW_UPDATE};
use crate::http2::setting::{CONCURRENT_STREAMS, INITIAL_WINDOW};
use crate::http2::{Act, STATUS_200, call_answer, field, frame, settings};

/// A field of 4,000 bytes that enters the table of HPACK, without its value: `a`, and the length in three bytes.
const LARGE_FIELD: [u8; 6] = [0x40, 1, b'a', 0x7f, 0xa1, 0x1e];
/// The field that entered the table last.
const LAST_FIELD: u8 = 0xbe;

/// A message of two bytes, field 1 of protobuf being 1.
const MESSAGE: &[u8] = &[8, 1];

/// A connection whose requests are all answered rightly, for the requests that bring `fault` out.
pub(super) fn right(fault: Fault) -> Vec<Act> {
    let frames = if fault.entry().ask == Ask::Call { right_call } else { right_answer };
    vec![Act::Settings(vec![]), Act::ServeFrames(frames)]
}

/// What happens on a connection that meets `fault`.
pub(super) fn script(fault: Fault) -> Vec<Act> {
    let answer = |frames: fn(u32) -> Vec<u8>| vec![Act::Settings(vec![]), Act::ServeFrames(frames)];
    let once_asked = |acts: Vec<Act>| [vec![Act::Settings(vec![]), Act::Await(1)], acts].concat();
    match fault {
        Fault::H2SettingsFlood => {
            once_asked(vec![Act::Flood(settings(&[(CONCURRENT_STREAMS, 100)]).repeat(50))])
        }
        Fault::H2PingFlood => once_asked(vec![Act::Flood(frame(PING, 0, 0, b"12345678").repeat(100))]),
        Fault::H2WindowNegative => vec![
            Act::Settings(vec![(INITIAL_WINDOW, 30_000)]),
            Act::Await(1),
            Act::Send(settings(&[(INITIAL_WINDOW, 0)])),
            Act::Hold,
        ],
        Fault::H2WindowZero => vec![Act::Settings(vec![(INITIAL_WINDOW, 0)]), Act::Hold],
        Fault::H2StreamsZero => vec![Act::Settings(vec![(CONCURRENT_STREAMS, 0)]), Act::Hold],
        Fault::H2GoawaySilent => once_asked(vec![Act::Goaway { taken: 1, code: 0 }, Act::Hold]),
        Fault::H2HalfClose => once_asked(vec![Act::HalfClose, Act::Hold]),
        _ => answer(frames(fault)),
    }
}

/// The frames that a request is answered with.
fn frames(fault: Fault) -> fn(u32) -> Vec<u8> {
    match fault {
        Fault::H2HpackBomb => |stream| {
            let block = [&[STATUS_200][..], &LARGE_FIELD, &[b'x'; 4_000], &[LAST_FIELD; 20]].concat();
            frame(HEADERS, END_HEADERS | END_STREAM, stream, &block)
        },
        Fault::H2ContinuationFlood => {
            |stream| [head(0, stream), frame(CONTINUATION, 0, stream, &[]).repeat(1_000)].concat()
        }
        Fault::H2SettingsLong => |_| settings(&[(CONCURRENT_STREAMS, 100); 65]),
        Fault::H2EmptyFrames => {
            |stream| [head(END_HEADERS, stream), frame(DATA, 0, stream, &[]).repeat(2_000)].concat()
        }
        Fault::H2InterimStorm => |stream| {
            let interim = frame(HEADERS, END_HEADERS, stream, &field(":status", "103"));
            [interim.repeat(40), right_answer(stream)].concat()
        },
        Fault::H2WindowUpdateZero => |_| frame(WINDOW_UPDATE, 0, 0, &[0; 4]),
        Fault::H2WindowOverflow => |_| frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
        Fault::H2WindowExceeded => {
            |stream| [head(END_HEADERS, stream), frame(DATA, END_STREAM, stream, &[b'x'; 2_000])].concat()
        }
        // The first request of a connection has none before it.
        Fault::H2HeadersClosed => |stream| right_answer(if stream == 1 { 1 } else { stream - 2 }),
        Fault::H2HeadersIdle => |stream| right_answer(stream + 100),
        Fault::H2HeadersEven => |stream| right_answer(stream + 1),
        Fault::H2PushPromise => |stream| {
            let promised = [&(stream + 1).to_be_bytes()[..], &[STATUS_200]].concat();
            frame(PUSH_PROMISE, END_HEADERS, stream, &promised)
        },
        Fault::H2GoawayRising => |stream| {
            let leave = |last: u32| frame(GOAWAY, 0, 0, &[last.to_be_bytes(), [0; 4]].concat());
            [leave(stream), leave(stream + 2)].concat()
        },
        Fault::H2FrameTooLong => {
            |stream| [head(END_HEADERS, stream), frame(DATA, 0, stream, &[b'x'; 16_385])].concat()
        }
        Fault::H2Interleaved => |stream| [head(0, stream), frame(DATA, 0, stream, b"x")].concat(),
        Fault::H2LengthWrong => |stream| {
            let block = [vec![STATUS_200], field("content-length", "32")].concat();
            let body = frame(DATA, END_STREAM, stream, RIGHT_BODY.as_bytes());
            [frame(HEADERS, END_HEADERS, stream, &block), body].concat()
        },
        Fault::H2PseudoTrailers => |stream| {
            let body = frame(DATA, 0, stream, RIGHT_BODY.as_bytes());
            let trailers = frame(HEADERS, END_HEADERS | END_STREAM, stream, &[STATUS_200]);
            [head(END_HEADERS, stream), body, trailers].concat()
        },
        Fault::H2Uppercase => |stream| {
            let block = [vec![STATUS_200], field("X-Case", "upper")].concat();
            frame(HEADERS, END_HEADERS | END_STREAM, stream, &block)
        },
        Fault::H2StatusMissing => |stream| call(stream, 0, 2, &field("grpc-message", "gone")),
        Fault::H2StatusTwice => {
            |stream| call(stream, 0, 2, &[field("grpc-status", "0"), field("grpc-status", "0")].concat())
        }
        Fault::H2StatusNoNumber => |stream| call(stream, 0, 2, &field("grpc-status", "fine")),
        Fault::H2MessageCut => |stream| call(stream, 0, 200, &field("grpc-status", "0")),
        Fault::H2MessageLong => |stream| call(stream, 0, (4 << 20) + 1, &field("grpc-status", "0")),
        Fault::H2MessageUncoded => |stream| call(stream, 1, 2, &field("grpc-status", "0")),
        _ => right_answer,
    }
}

/// The answer to a call whose message begins with this flag and this length, and with these fields after it.
fn call(stream: u32, flag: u8, length: u32, trailers: &[u8]) -> Vec<u8> {
    let kind = [vec![STATUS_200], field("content-type", "application/grpc")].concat();
    let message = [&[flag], &length.to_be_bytes()[..], MESSAGE].concat();
    let (head, body) = (frame(HEADERS, END_HEADERS, stream, &kind), frame(DATA, 0, stream, &message));
    [head, body, frame(HEADERS, END_HEADERS | END_STREAM, stream, trailers)].concat()
}

fn right_call(stream: u32) -> Vec<u8> {
    call_answer(stream, MESSAGE, "0")
}

/// Status 200 in a HEADERS frame with these flags.
fn head(flags: u8, stream: u32) -> Vec<u8> {
    frame(HEADERS, flags, stream, &[STATUS_200])
}

fn right_answer(stream: u32) -> Vec<u8> {
    let fields = [("content-type", "application/json"), ("content-length", "31")];
    let block = [vec![STATUS_200], fields.map(|(name, value)| field(name, value)).concat()].concat();
    let body = frame(DATA, END_STREAM, stream, RIGHT_BODY.as_bytes());
    [frame(HEADERS, END_HEADERS, stream, &block), body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_http2_differs_from_the_right_answer() {
        for fault in Fault::ALL.iter().filter(|fault| fault.is_http2()) {
            let is_answer = script(*fault).iter().any(|act| matches!(act, Act::ServeFrames(_)));
            assert!(!is_answer || frames(*fault)(3) != right_answer(3), "{fault}");
        }
    }
}
