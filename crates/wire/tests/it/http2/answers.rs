//! Right answers, in all the forms that servers may give them.

use crate::http2::client::{Client, Event, body, config, get, head, request};
use crate::http2::frames::*;
use wire::http2::{Config, NoRoom, Put, Room, Windows};

const OK: (&str, &str) = (":status", "200");

#[test]
fn a_connection_begins_with_preface_settings_and_window() {
    let mut client = Client::fresh(Config { windows: Windows::of_bits(30, 30), ..config() });
    client.connection.hello(&mut client.out);
    let frames = client.out.strip_prefix(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").map(read).unwrap();
    let settings = [0, 2, 0, 0, 0, 0, 0, 4, 0x3f, 0xff, 0xff, 0xff, 0, 6, 0, 1, 0, 0];
    let more = ((1_u32 << 30) - 1 - 65_535).to_be_bytes();
    assert_eq!(frames, [Frame::new(SETTINGS, 0, 0, &settings), Frame::new(WINDOW_UPDATE, 0, 0, &more)]);
    client.out.clear();
    assert_eq!(client.connection.room(), Room::None(NoRoom::NotEstablished));
    assert_eq!((client.put(1, &get("/")), client.out.len()), (Put::NoRoom, 0));

    let shown = client.shown(&[settings_of_a_server()]);
    assert!(
        matches!(shown[..], [Event::Settings(peer), Event::Room] if peer.streams_max == 7 && peer.connects)
    );
    assert_eq!(client.wrote(), [Frame::new(SETTINGS, ACK, 0, &[])]);
    assert_eq!((client.connection.room(), client.connection.streams_granted()), (Room::Places(7), 7));
    assert_eq!(client.shown(&[frame(SETTINGS, ACK, 0, &[])]), vec![]);
}

fn settings_of_a_server() -> Vec<u8> {
    // An unknown setting, too.
    settings(&[(3, 7), (8, 1), (0x99, 1)])
}

#[test]
fn answers_come_with_body_padding_and_trailers() {
    let mut client = Client::new();
    client.ask(&[7]);
    let padded = [&[3][..], b"lo", &[0; 3]].concat();
    let shown = client.shown(&[
        headers(1, false, &[OK, ("content-length", "5"), ("a", "")]),
        data(1, false, b"hel"),
        frame(DATA, PADDED, 1, &padded),
        headers(1, true, &[("grpc-status", "0")]),
    ]);
    let trailers = Event::Trailers(7, vec![("grpc-status".to_owned(), "0".to_owned())]);
    assert_eq!(
        shown,
        [head(7, 200, &[("content-length", "5"), ("a", "")]), body(7, "hello"), trailers, Event::Done(7)]
    );
    assert_eq!((client.wrote(), client.connection.open()), (vec![], 0));
}

#[test]
fn answers_without_a_body() {
    let mut client = Client::new();
    for (method, status) in [("HEAD", "200"), ("GET", "204"), ("GET", "304")] {
        for ends_with_data in [false, true] {
            client.put(1, &request(method, "/", &[], b"", 0));
            let stream = client.wrote()[0].stream;
            let mut parts =
                vec![headers(stream, !ends_with_data, &[(":status", status), ("content-length", "500")])];
            if ends_with_data {
                parts.push(data(stream, true, b""));
            }
            let status = status.parse().unwrap();
            assert_eq!(client.shown(&parts), [head(1, status, &[("content-length", "500")]), Event::Done(1)]);
        }
    }
}

#[test]
fn interim_answers_are_passed_over() {
    let mut client = Client::new();
    client.ask(&[1]);
    let mut parts = vec![headers(1, false, &[(":status", "103"), ("link", "x")]); 32];
    parts.push(headers(1, true, &[OK]));
    assert_eq!(client.shown(&parts), [head(1, 200, &[]), Event::Done(1)]);
}

#[test]
fn header_blocks_come_in_pieces() {
    let mut client = Client::new();
    client.ask(&[1]);
    let whole = block(&[OK, ("a", "b")]);
    let first = [&[2, 0, 0, 0, 0, 9][..], &whole[..4], &[0; 2]].concat();
    let parts = [
        frame(HEADERS, END_STREAM | PADDED | PRIORITIZED, 1, &first),
        frame(CONTINUATION, 0, 1, &whole[4..5]),
        frame(CONTINUATION, 0, 1, &[]),
        frame(CONTINUATION, END_HEADERS, 1, &whole[5..]),
    ];
    assert_eq!(client.shown(&parts), [head(1, 200, &[("a", "b")]), Event::Done(1)]);
}

#[test]
fn other_frames_change_no_answer() {
    let mut client = Client::new();
    client.ask(&[1, 2]);
    let shown = client.shown(&[
        frame(PRIORITY, 0, 1, &[0; 5]),
        frame(0x77, 0xff, 9, b"unknown"),
        frame(0x77, 0xff, 0, b""),
        headers(3, false, &[OK]),
        frame(PING, 0, 0, b"whatever"),
        headers(1, false, &[OK]),
        data(3, false, b"b"),
        data(1, false, b"a"),
        window_update(0, 1),
        window_update(1, 1),
        data(3, true, b"B"),
        frame(PING, ACK, 0, b"whatever"),
        data(1, true, b"A"),
        window_update(1, 1),
        reset(3, 0),
    ]);
    let first =
        [head(2, 200, &[]), head(1, 200, &[]), body(2, "b"), body(1, "a"), body(2, "B"), Event::Done(2)];
    assert_eq!(shown, [&first[..], &[body(1, "A"), Event::Done(1)]].concat());
    assert_eq!(client.wrote(), [Frame::new(PING, ACK, 0, b"whatever")]);
}

#[test]
fn equal_header_sections_are_read_once() {
    let mut client = Client::new();
    client.seen.judges = true;
    let known = [OK, ("content-length", "1"), ("server", "x")];
    let fields = &known[1..];
    let mut next = 1;
    let mut answer = |client: &mut Client, place: u32, block: &[u8], text: &[u8]| {
        client.ask(&[place]);
        let parts = [frame(HEADERS, END_HEADERS, next, block), data(next, true, text)];
        next += 2;
        client.shown(&parts)
    };
    let again = |place| Event::Again(place, 200, 2200);
    // Its fields enter the table, so it is not kept.
    let first = entering_block(&known);
    assert_eq!(answer(&mut client, 1, &first, b"a")[0], head(1, 200, fields));
    let warm = [0xc0, 0xbf, 0xbe];
    assert_eq!(answer(&mut client, 1, &warm, b"a")[0], head(1, 200, fields));
    assert_eq!(answer(&mut client, 2, &warm, b"a"), [again(2), body(2, "a"), Event::Done(2)]);
    assert_eq!(answer(&mut client, 100, &warm, b"a")[0], head(100, 200, fields), "of another kind");
    assert_eq!(answer(&mut client, 101, &warm, b"a")[0], again(101));
    // What is kept has its length, too.
    let short = answer(&mut client, 2, &warm, b"ab");
    assert!(matches!(short[..], [Event::Again(..), Event::Broken(..)]), "{short:?}");
    // The table moves on: the same bytes mean something else.
    assert_eq!(answer(&mut client, 1, &entering_block(&[OK, ("server", "y")]), b"a").len(), 3);
    let other = answer(&mut client, 1, &warm, b"a");
    assert!(matches!(other[..], [Event::Broken(..)]), "the first field is no status now: {other:?}");
}

#[test]
fn warm_requests_and_answers_allocate_nothing() {
    struct Quiet(u32);
    impl wire::http2::Events for Quiet {
        fn head(&mut self, _: u32, _: u16, _: &[wire::Header<'_>]) -> Option<wire::http2::Verdict> {
            Some(wire::http2::Verdict(1))
        }
        fn head_again(&mut self, _: u32, _: u16, _: wire::http2::Verdict) {
            self.0 += 1;
        }
        fn body(&mut self, _: u32, _: &[u8]) {}
        fn done(&mut self, _: u32) {
            self.0 += 1;
        }
        fn refused(&mut self, _: u32, _: wire::http2::Refusal) {}
        fn reset(&mut self, _: u32, _: wire::http2::ErrorCode) {}
        fn broken(&mut self, _: u32, _: wire::http2::Fault) {}
    }
    let mut client = Client::new();
    let (plain, bodied) = (get("/"), request("POST", "/p", &[("a", "b")], b"body", 0));
    let mut quiet = Quiet(0);
    let mut answer = [headers(1, false, &[OK, ("content-length", "5")]), data(1, true, b"hello")].concat();
    let data_at = answer.len() - 14;
    let mut stream = 1_u32;
    let mut rounds = |client: &mut Client, count: u32| {
        for round in 0..count {
            let request = if round % 2 == 0 { &plain } else { &bodied };
            assert_eq!(client.connection.put(3, request, &mut client.out), Put::Whole);
            answer[5..9].copy_from_slice(&stream.to_be_bytes());
            answer[data_at + 5..data_at + 9].copy_from_slice(&stream.to_be_bytes());
            stream += 2;
            let mut rest = &answer[..];
            while !rest.is_empty() {
                let taken = client.connection.take(rest, &mut quiet, &mut client.out).unwrap();
                rest = &rest[taken..];
            }
            client.out.clear();
        }
    };
    rounds(&mut client, 6);
    // The peer's window has to last for the bodies.
    let counted = allocation_counter::measure(|| rounds(&mut client, 10_000));
    assert_eq!(counted.count_total, 0);
    assert_eq!((quiet.0, client.connection.counts().answers), (2 * 10_006 - 1, 10_006));
}
