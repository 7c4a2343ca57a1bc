//! Each way in which a server may be hostile ends in its fault, with bounded memory, however the bytes are cut.

use crate::http2::client::{Client, Event, body, config, get, head, post, request};
use crate::http2::frames::*;
use wire::Malformed;
use wire::hpack::HpackError;
use wire::http2::{Config, ErrorCode, Fault, Given, NoRoom, Put, Room, Windows};

const OK: (&str, &str) = (":status", "200");

/// A client with GET on streams 1 and 3 (places 1 and 2), HEAD on 5 (3), a waiting POST on 7 (4), an ended one on 9 (5) and
/// a cancelled one on 11 (6).
fn busy() -> Client {
    let mut client = Client::with(config(), &[(4, 10)]);
    client.ask(&[1, 2]);
    client.put(3, &request("HEAD", "/", &[], b"", 0));
    assert_eq!(client.put(4, &post(&[b'x'; 20])), Put::Held);
    client.ask(&[5, 6]);
    client.take(&headers(9, true, &[OK])).unwrap();
    client.connection.cancel(6, &mut client.out);
    client.forget();
    client
}

/// Demands the fault of the connection, whole and byte by byte, and the code that the peer gets.
fn ends(parts: &[Vec<u8>], fault: Fault, code: ErrorCode) {
    let bytes = parts.concat();
    let mut client = busy();
    assert_eq!(client.take(&bytes), Err(fault), "{fault}");
    let last = client.wrote().pop().unwrap();
    assert_eq!((last.kind, &last.payload[4..]), (GOAWAY, &code.0.to_be_bytes()[..]), "{fault}");
    assert_eq!(client.connection.room(), Room::None(NoRoom::Draining));
    let mut single = busy();
    let result = bytes.iter().try_for_each(|byte| single.take(&[*byte]));
    assert_eq!(result, Err(fault), "{fault} byte by byte");
    assert_eq!(single.seen.events, client.seen.events, "{fault}");
}

/// Demands that the answer at place 1, on stream 1, breaks off, and that stream 3 goes on.
fn breaks(parts: &[Vec<u8>], fault: Fault, code: ErrorCode) {
    let mut parts = parts.to_vec();
    parts.extend([headers(3, false, &[OK]), data(3, true, b"fine")]);
    let bytes = parts.concat();
    let mut client = busy();
    client.take(&bytes).unwrap_or_else(|error| panic!("{fault}: the connection broke: {error}"));
    assert!(client.seen.events.contains(&Event::Broken(1, fault)), "{fault}: {:?}", client.seen.events);
    let goes_on = [head(2, 200, &[]), body(2, "fine"), Event::Done(2)];
    assert!(client.seen.events.ends_with(&goes_on), "{fault}: {:?}", client.seen.events);
    let reset = Frame::new(RST_STREAM, 0, 1, &code.0.to_be_bytes());
    assert!(client.wrote().contains(&reset), "{fault}");
    let mut single = busy();
    bytes.iter().try_for_each(|byte| single.take(&[*byte])).unwrap();
    assert_eq!(single.seen.events, client.seen.events, "{fault} byte by byte");
}

const PROTOCOL: ErrorCode = ErrorCode::PROTOCOL_ERROR;
const SIZE: ErrorCode = ErrorCode::FRAME_SIZE_ERROR;
const FLOW: ErrorCode = ErrorCode::FLOW_CONTROL_ERROR;
const CALM: ErrorCode = ErrorCode::ENHANCE_YOUR_CALM;
const CODING: ErrorCode = ErrorCode::COMPRESSION_ERROR;

#[test]
fn a_server_that_begins_otherwise() {
    let check = |bytes: &[u8], fault: Fault| {
        let mut client = Client::fresh(config());
        client.connection.hello(&mut client.out);
        assert_eq!(client.take(bytes), Err(fault));
    };
    check(b"HTTP/1.1 400 Bad Request\r\n", Fault::Http1);
    check(&frame(PING, 0, 0, &[0; 8]), Fault::NoSettings);
    check(&frame(SETTINGS, ACK, 0, &[]), Fault::NoSettings);
    check(b"SSH-2.0-OpenSSH\r\n", Fault::NoSettings);
    check(
        &[settings(&[]), frame(SETTINGS, ACK, 0, &[]), frame(SETTINGS, ACK, 0, &[])].concat(),
        Fault::UnaskedAck,
    );
}

#[test]
fn frames_of_wrong_lengths() {
    for (kind, stream, length, name) in [
        (PRIORITY, 1, 4, "PRIORITY"),
        (RST_STREAM, 1, 3, "RST_STREAM"),
        (RST_STREAM, 1, 5, "RST_STREAM"),
        (SETTINGS, 0, 5, "SETTINGS"),
        (PING, 0, 7, "PING"),
        (PING, 0, 0, "PING"),
        (GOAWAY, 0, 7, "GOAWAY"),
        (WINDOW_UPDATE, 0, 5, "WINDOW_UPDATE"),
        (WINDOW_UPDATE, 1, 3, "WINDOW_UPDATE"),
    ] {
        ends(&[frame(kind, 0, stream, &vec![0; length])], Fault::FrameLength(name), SIZE);
    }
    ends(&[frame(SETTINGS, ACK, 0, &[0; 6])], Fault::FrameLength("SETTINGS"), SIZE);
    ends(&[frame(HEADERS, PRIORITIZED | END_HEADERS, 1, &[0; 4])], Fault::FrameLength("HEADERS"), SIZE);
    // Refused by its header: the payload need not come.
    for kind in [DATA, HEADERS, SETTINGS, 0x77] {
        let long = frame(kind, 0, 1, &[0; 16_385])[..9].to_vec();
        ends(&[long], Fault::FrameTooLong(16_385), SIZE);
    }
}

#[test]
fn frames_on_streams_where_they_cannot_be() {
    for (kind, stream, length, name) in [
        (DATA, 0, 1, "DATA"),
        (DATA, 2, 1, "DATA"),
        (DATA, 13, 1, "DATA"),
        (HEADERS, 0, 1, "HEADERS"),
        (HEADERS, 2, 1, "HEADERS"),
        (HEADERS, 13, 1, "HEADERS"),
        (PRIORITY, 0, 5, "PRIORITY"),
        (RST_STREAM, 0, 4, "RST_STREAM"),
        (RST_STREAM, 13, 4, "RST_STREAM"),
        (SETTINGS, 1, 6, "SETTINGS"),
        (PING, 1, 8, "PING"),
        (GOAWAY, 1, 8, "GOAWAY"),
        (WINDOW_UPDATE, 13, 4, "WINDOW_UPDATE"),
    ] {
        ends(&[frame(kind, 0, stream, &vec![0; length])], Fault::WrongStream(name, stream), PROTOCOL);
    }
    ends(&[data(9, true, b"x")], Fault::StreamEnded("DATA", 9), ErrorCode::STREAM_CLOSED);
    ends(&[headers(9, true, &[OK])], Fault::StreamEnded("HEADERS", 9), ErrorCode::STREAM_CLOSED);
    ends(&[frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2, 0x82])], Fault::Push, PROTOCOL);
}

#[test]
fn padding_that_is_too_long() {
    let head = headers(1, false, &[OK]);
    ends(&[head.clone(), frame(DATA, PADDED, 1, &[])], Fault::Padding, PROTOCOL);
    ends(&[head.clone(), frame(DATA, PADDED, 1, &[1])], Fault::Padding, PROTOCOL);
    ends(&[head, frame(DATA, PADDED, 1, &[3, 0, 0])], Fault::Padding, PROTOCOL);
    ends(&[frame(HEADERS, PADDED | END_HEADERS, 1, &[])], Fault::Padding, PROTOCOL);
    ends(&[frame(HEADERS, PADDED | END_HEADERS, 1, &[2, 0x88])], Fault::Padding, PROTOCOL);
}

#[test]
fn header_blocks_that_are_interrupted_or_endless() {
    let open = frame(HEADERS, 0, 1, &[0x88]);
    for other in
        [data(1, false, b""), headers(3, true, &[OK]), frame(PING, 0, 0, &[0; 8]), frame(0x77, 0, 0, b"")]
    {
        ends(&[open.clone(), other], Fault::Interleaved, PROTOCOL);
    }
    ends(&[open.clone(), frame(CONTINUATION, END_HEADERS, 3, b"")], Fault::Interleaved, PROTOCOL);
    ends(&[frame(CONTINUATION, END_HEADERS, 1, &[0x88])], Fault::Interleaved, PROTOCOL);
    let mut nine = vec![open];
    nine.extend(vec![frame(CONTINUATION, 0, 1, b""); 9]);
    ends(&nine, Fault::BlockTooLong, CALM);
    let mut long = vec![frame(HEADERS, 0, 1, &[0; 16_384])];
    long.extend(vec![frame(CONTINUATION, 0, 1, &[0; 16_384]); 4]);
    ends(&long, Fault::BlockTooLong, CALM);
}

#[test]
fn header_blocks_that_cannot_be_read() {
    ends(&[frame(HEADERS, END_HEADERS, 1, &[0x88, 0xff])], Fault::Hpack(HpackError::CutOff), CODING);
    // Of a cancelled stream, too: the table is everyone's.
    ends(&[frame(HEADERS, END_HEADERS, 11, &[0xbe])], Fault::Hpack(HpackError::Index), CODING);
    let mut bomb = vec![0x88, 0x40, 1, b'a', 0x7f, 0xa1, 0x1e];
    bomb.extend([b'x'; 4000]);
    bomb.extend([0xbe; 20]);
    ends(&[frame(HEADERS, END_HEADERS, 1, &bomb)], Fault::Hpack(HpackError::ListTooLong), CALM);
    ends(&[frame(HEADERS, END_HEADERS, 1, &[0x88; 257])], Fault::Hpack(HpackError::TooManyFields), CALM);
}

#[test]
fn windows_that_are_broken() {
    ends(&[window_update(0, 0)], Fault::WindowZero, PROTOCOL);
    ends(&[window_update(0, (1 << 31) - 1)], Fault::WindowOverflow, FLOW);
    breaks(&[window_update(1, 0)], Fault::WindowZero, PROTOCOL);
    breaks(&[window_update(1, (1 << 31) - 10)], Fault::WindowOverflow, FLOW);
    ends(&[settings(&[(4, 1 << 31)])], Fault::WindowOverflow, FLOW);
    // The first size moves the windows of open streams, of which one has been given more.
    ends(&[window_update(1, (1 << 31) - 100), settings(&[(4, 1000)])], Fault::WindowOverflow, FLOW);
}

/// What comes is used at once, so the window of a connection, which is never small, has always room for a frame.
#[test]
fn data_beyond_the_window_of_a_stream() {
    let windows = Windows { stream: 10, connection: 1 << 20 };
    let mut client = Client::with(Config { windows, ..config() }, &[]);
    client.ask(&[1]);
    client.take(&headers(1, false, &[OK])).unwrap();
    assert_eq!(client.take(&data(1, false, &[0; 11])), Err(Fault::WindowExceeded));
}

#[test]
fn settings_that_cannot_be() {
    ends(&[settings(&[(2, 1)])], Fault::Push, PROTOCOL);
    ends(&[settings(&[(2, 2)])], Fault::Setting("ENABLE_PUSH"), PROTOCOL);
    ends(&[settings(&[(5, 16_383)])], Fault::Setting("MAX_FRAME_SIZE"), PROTOCOL);
    ends(&[settings(&[(5, 1 << 24)])], Fault::Setting("MAX_FRAME_SIZE"), PROTOCOL);
    ends(&[settings(&[(8, 2)])], Fault::Setting("ENABLE_CONNECT_PROTOCOL"), PROTOCOL);
    ends(&[settings(&vec![(9, 9); 65])], Fault::SettingsFlood, CALM);
}

#[test]
fn floods_in_a_tick_end_the_connection() {
    let mut client = Client::new();
    for round in 0..3 {
        // The first SETTINGS of all came in the first tick.
        for _ in 0..100 - usize::from(round == 0) {
            client.take(&settings(&[(9, 9)])).unwrap();
            client.forget();
        }
        if round < 2 {
            client.connection.tick();
        }
    }
    assert_eq!(client.take(&settings(&[])), Err(Fault::SettingsFlood));
}

#[test]
fn pings_that_nobody_takes_the_answers_of() {
    let ping = frame(PING, 0, 0, &[0; 8]);
    let mut client = Client::new();
    for _ in 0..3 {
        client.take(&ping.repeat(64)).unwrap();
        client.connection.flushed();
    }
    assert_eq!(client.take(&ping.repeat(65)), Err(Fault::PingFlood));
    assert!(client.out.len() <= 17 * (4 * 64 + 1), "{}", client.out.len());
    // Even where they are taken, within a tick.
    let mut client = Client::new();
    let flood: Result<Vec<()>, Fault> = (0..1001)
        .map(|_| {
            client.forget();
            client.take(&ping)
        })
        .collect();
    assert_eq!(flood, Err(Fault::BarrenFlood));
}

#[test]
fn frames_that_bring_no_answer_on() {
    let head = headers(1, false, &[OK]);
    let empty = data(1, false, b"");
    for barren in [
        empty.clone(),
        frame(DATA, PADDED, 1, &[2, 0, 0]),
        frame(PRIORITY, 0, 1, &[0; 5]),
        frame(0x77, 0, 0, b"x"),
        reset(9, 0),
        window_update(9, 1),
        headers(11, false, &[OK]),
    ] {
        let mut client = busy();
        client.take(&head).unwrap();
        client.take(&barren.repeat(1000)).unwrap();
        assert_eq!(client.take(&barren), Err(Fault::BarrenFlood));
    }
    // One byte in between is an answer that goes on, however slowly; it is counted.
    let mut client = busy();
    client.take(&head).unwrap();
    for _ in 0..5 {
        client.take(&empty.repeat(1000)).unwrap();
        client.take(&data(1, false, b"x")).unwrap();
    }
    assert_eq!(client.connection.counts().tiny_data, 5);
    client.take(&empty.repeat(1000)).unwrap();
    client.connection.tick();
    client.take(&empty.repeat(1000)).unwrap();
}

#[test]
fn every_reset_is_an_outcome_and_nothing_grows() {
    let mut client = Client::new();
    for number in 0..20_000_u32 {
        client.ask(&[1]);
        client.take(&reset(2 * number + 1, 8)).unwrap();
        assert_eq!(client.seen.events, [Event::Reset(1, ErrorCode::CANCEL)]);
        client.forget();
    }
    assert_eq!((client.connection.counts().resets, client.connection.open()), (20_000, 0));
}

#[test]
fn answers_that_break_the_rules() {
    let fields = |fields: &[(&str, &str)]| vec![headers(1, false, fields)];
    for (section, what) in [
        (&[("a", "b")][..], "the first is not :status"),
        (&[], "the first is not :status"),
        (&[("a", "b"), OK], "the first is not :status"),
        (&[(":status", "20")], "a status that is no number from 100 to 999"),
        (&[(":status", "099")], "a status that is no number from 100 to 999"),
        (&[(":status", "2x0")], "a status that is no number from 100 to 999"),
        (&[OK, OK], "a pseudo field where none may be"),
        (&[OK, (":path", "/")], "a pseudo field where none may be"),
        (&[OK, ("Server", "x")], "a name with an upper-case letter"),
        (&[OK, ("", "x")], "invalid header name"),
        (&[OK, ("a b", "x")], "invalid header name"),
        (&[OK, ("a", "b\r\nc: d")], "invalid header value"),
        (&[OK, ("a", "b\0")], "invalid header value"),
        (&[OK, ("connection", "close")], "a field of HTTP/1.1 connections"),
        (&[OK, ("transfer-encoding", "chunked")], "a field of HTTP/1.1 connections"),
        (&[(":status", "101")], "status 101, which HTTP/2 does not have"),
    ] {
        breaks(&fields(section), Fault::Fields(what), PROTOCOL);
    }
    for (length, malformed) in [
        ("x", Malformed::BadLength),
        ("1, 2", Malformed::ConflictingLengths),
        ("18446744073709551615", Malformed::LengthTooLarge),
    ] {
        breaks(&fields(&[OK, ("content-length", length)]), Fault::Length(malformed), PROTOCOL);
    }
    breaks(&[headers(1, true, &[(":status", "100")])], Fault::InterimEnd, PROTOCOL);
    breaks(&vec![headers(1, false, &[(":status", "100")]); 33], Fault::TooManyInterim, CALM);
}

#[test]
fn bodies_that_are_not_as_the_fields_say() {
    let said = |length: &str, ends: bool| headers(1, ends, &[OK, ("content-length", length)]);
    breaks(&[said("5", true)], Fault::BodyLength, PROTOCOL);
    breaks(&[said("5", false), data(1, true, b"four")], Fault::BodyLength, PROTOCOL);
    breaks(&[said("5", false), data(1, false, b"six...")], Fault::BodyLength, PROTOCOL);
    breaks(&[said("5", false), data(1, false, b"five."), data(1, true, b"x")], Fault::BodyLength, PROTOCOL);
    breaks(&[said("5", false), data(1, false, b"four"), headers(1, true, &[])], Fault::BodyLength, PROTOCOL);
    breaks(&[data(1, false, b"early")], Fault::NoHead, PROTOCOL);
    breaks(&[data(1, true, b"")], Fault::NoHead, PROTOCOL);
    breaks(&[headers(1, false, &[(":status", "204")]), data(1, true, b"x")], Fault::BodyLength, PROTOCOL);
    let mut client = busy();
    let shown = client.shown(&[headers(5, false, &[OK, ("content-length", "4")]), data(5, true, b"body")]);
    assert_eq!(shown[1..], [Event::Broken(3, Fault::BodyLength)], "an answer to HEAD");
}

#[test]
fn trailers_that_are_none() {
    let (first, second) = (headers(1, false, &[OK]), data(1, false, b"x"));
    let with = |last: Vec<u8>| [first.clone(), second.clone(), last];
    let fields = |what| Fault::Fields(what);
    breaks(&with(headers(1, true, &[OK])), fields("a pseudo field where none may be"), PROTOCOL);
    breaks(&with(headers(1, true, &[("A", "b")])), fields("a name with an upper-case letter"), PROTOCOL);
    breaks(&with(headers(1, false, &[("a", "b")])), Fault::OpenTrailers, PROTOCOL);
}

#[test]
fn goaway_that_rises() {
    ends(&[goaway(1, 0, ""), goaway(3, 0, "")], Fault::RisingGoaway, PROTOCOL);
}

#[test]
fn a_server_without_room_is_waited_for() {
    let mut client = Client::with(config(), &[(3, 0), (4, 0)]);
    assert_eq!(client.connection.room(), Room::None(NoRoom::StreamLimit));
    client.take(&settings(&[(3, 1)])).unwrap();
    assert_eq!(client.put(1, &post(b"x")), Put::Held);
    assert_eq!((client.connection.is_stalled(1), client.connection.next_ready()), (true, None));
    // The owner's time-out ends it.
    client.forget();
    assert_eq!(client.connection.cancel(1, &mut client.out), Given::Stream);
    assert_eq!((client.wrote().len(), client.put(2, &get("/"))), (1, Put::Whole));
}

#[test]
fn faults_have_their_class() {
    assert!(Fault::PingFlood.is_flood() && Fault::Hpack(HpackError::ListTooLong).is_flood());
    assert!(!Fault::Push.is_flood() && !Fault::Hpack(HpackError::Index).is_flood());
    assert_eq!(Fault::FrameTooLong(20_000).to_string(), "a frame of 20000 bytes; at most 16384 are allowed");
}
