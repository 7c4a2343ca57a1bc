//! Streams and connections that end otherwise than by an answer.

use crate::http2::client::{Client, Event, body, config, get, head, post};
use crate::http2::frames::*;
use wire::http2::{Config, ErrorCode, Fault, Given, NoRoom, Put, Refusal, Room, Settings, Windows};

const OK: (&str, &str) = (":status", "200");

#[test]
fn goaway_gives_back_what_was_not_processed() {
    let mut client = Client::new();
    client.ask(&[10, 11, 12, 13]);
    // First a warning that takes all, as servers send it before they leave.
    let warning = client.shown(&[goaway(u32::MAX, 0, "")]);
    assert_eq!(warning, [Event::Goaway((1 << 31) - 1, ErrorCode::NO_ERROR, String::new()), Event::Room]);
    assert_eq!(client.connection.room(), Room::None(NoRoom::Draining));
    assert_eq!(client.put(14, &get("/")), Put::NoRoom);
    let refused = |place| Event::Refused(place, Refusal::GoAway(ErrorCode(11)));
    let shown = client.shown(&[headers(3, false, &[OK]), goaway(3, 11, "calm")]);
    let left = Event::Goaway(3, ErrorCode::ENHANCE_YOUR_CALM, "calm".to_owned());
    assert_eq!(shown, [head(11, 200, &[]), left, refused(12), refused(13), Event::Room]);
    // What was on its way is ignored, and the others go on.
    let shown = client.shown(&[
        headers(5, true, &[OK]),
        data(3, true, b"x"),
        goaway(3, 0, ""),
        headers(1, true, &[OK]),
    ]);
    let ends = [
        body(11, "x"),
        Event::Done(11),
        Event::Goaway(3, ErrorCode::NO_ERROR, String::new()),
        Event::Room,
        head(10, 200, &[]),
        Event::Done(10),
    ];
    assert_eq!(shown, ends);
    assert_eq!((client.connection.open(), client.connection.counts().goaways), (0, 3));
}

#[test]
fn the_peer_gives_streams_up() {
    let mut client = Client::new();
    client.ask(&[1, 2, 3, 4]);
    let shown =
        client.shown(&[reset(1, 7), headers(3, false, &[OK]), reset(3, 2), reset(5, 0), reset(7, 999)]);
    let ends = [
        Event::Refused(1, Refusal::Stream),
        head(2, 200, &[]),
        Event::Reset(2, ErrorCode::INTERNAL_ERROR),
        Event::Reset(3, ErrorCode::NO_ERROR),
        Event::Reset(4, ErrorCode(999)),
    ];
    assert_eq!(shown, ends);
    assert_eq!(format!("{} {}", ErrorCode::REFUSED_STREAM, ErrorCode(999)), "REFUSED_STREAM error code 999");
    assert_eq!((client.connection.open(), client.connection.counts().resets), (0, 4));
}

#[test]
fn requests_are_given_up() {
    let mut client = Client::new();
    client.ask(&[1, 2]);
    client.take(&[headers(1, false, &[OK]), data(1, false, b"half")[..11].to_vec()].concat()).unwrap();
    client.forget();
    assert_eq!(client.connection.cancel(1, &mut client.out), Given::Stream);
    assert_eq!(client.wrote(), [Frame::new(RST_STREAM, 0, 1, &[0, 0, 0, 8])]);
    assert_eq!(client.connection.cancel(1, &mut client.out), Given::Stream, "nothing is left to give up");
    assert_eq!(client.wrote(), vec![]);
    // The rest of its answer changes the table and the connection's window, and is nobody's.
    let trailers = entering_block(&[("x-late", "1"), ("x-later", "2")]);
    client.take(&data(1, false, b"half")[11..]).unwrap();
    client.take(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &trailers)).unwrap();
    assert!(client.seen.events.is_empty(), "{:?}", client.seen.events);
    let shown = client.shown(&[frame(HEADERS, END_HEADERS | END_STREAM, 3, &[0x88, 0xbf])]);
    assert_eq!(shown, [head(2, 200, &[("x-late", "1")]), Event::Done(2)]);
}

#[test]
fn too_many_given_up_end_the_connection() {
    let mut client = Client::new();
    let give_up = |client: &mut Client| {
        client.ask(&[1]);
        let given = client.connection.cancel(1, &mut client.out);
        if given == Given::Connection {
            assert_eq!((client.out.len(), client.connection.open()), (0, 1));
            // The test goes on, so the peer ends it.
            let stream = 2 * (client.connection.counts().cancels + client.connection.counts().resets) + 1;
            client.take(&reset(stream as u32, 0)).unwrap();
        }
        given
    };
    for _ in 0..2 {
        for _ in 0..10 {
            assert_eq!(give_up(&mut client), Given::Stream);
        }
        assert_eq!(give_up(&mut client), Given::Connection);
        client.connection.tick();
    }
}

#[test]
fn one_in_a_hundred_may_be_given_up() {
    let mut client = Client::new();
    for number in 0..1500 {
        client.ask(&[1]);
        client.take(&headers(2 * number + 1, true, &[OK])).unwrap();
    }
    let given: Vec<Given> = (0..16)
        .map(|_| {
            client.ask(&[1]);
            client.connection.cancel(1, &mut client.out)
        })
        .collect();
    assert_eq!(given.iter().filter(|given| **given == Given::Stream).count(), 15);
}

#[test]
fn the_last_identifier_is_the_last_request() {
    let mut client = Client::with(Config { first_stream: (1 << 31) - 3, ..config() }, &[]);
    assert_eq!((client.put(1, &get("/")), client.connection.is_draining()), (Put::Whole, false));
    assert_eq!((client.put(2, &get("/")), client.connection.is_draining()), (Put::Whole, true));
    let streams: Vec<u32> = client.wrote().iter().map(|frame| frame.stream).collect();
    assert_eq!(streams, [(1 << 31) - 3, (1 << 31) - 1]);
    assert_eq!(client.put(3, &get("/")), Put::NoRoom);
    assert_eq!(client.connection.room(), Room::None(NoRoom::Draining));
    let shown = client.shown(&[headers(streams[1], true, &[OK])]);
    assert_eq!(shown, [head(2, 200, &[]), Event::Done(2)]);
}

#[test]
fn an_upgrade_has_its_answer_on_stream_1() {
    let config = Config { windows: Windows { stream: 1 << 20, connection: 0 }, ..config() };
    let offered = Settings::from_field(&config.upgrade_field()).unwrap();
    assert_eq!(offered.window_bytes, 1 << 20);
    let mut client = Client::fresh(config);
    client.connection.adopt(9, false);
    client.connection.hello(&mut client.out);
    let shown = client.shown(&[settings(&[]), headers(1, false, &[OK]), data(1, true, b"hi")]);
    assert_eq!(shown[2..], [head(9, 200, &[]), body(9, "hi"), Event::Done(9)]);
    client.out.clear();
    client.put(1, &get("/"));
    assert_eq!(client.wrote()[0].stream, 3);
}

#[test]
fn what_a_broken_connection_carried_is_let_go() {
    let mut client = Client::new();
    client.ask(&[5, 6]);
    assert_eq!(client.put(7, &post(&[b'x'; 70_000])), Put::Held);
    let fault = client.take(&frame(PUSH_PROMISE, 0, 1, &[0; 4])).unwrap_err();
    assert_eq!(client.take(b"x"), Err(fault), "it stays broken");
    assert_eq!((fault, client.put(8, &get("/"))), (Fault::Push, Put::NoRoom));
    assert_eq!((client.connection.next_ready(), client.connection.is_stalled(7)), (None, true));
    let gone: Vec<_> = std::iter::from_fn(|| client.connection.let_go()).collect();
    assert_eq!((gone, client.connection.open()), (vec![5, 6, 7], 0));
}

#[test]
fn a_client_says_goodbye() {
    let mut client = Client::new();
    client.connection.leave(&mut client.out);
    assert_eq!(client.wrote(), [Frame::new(GOAWAY, 0, 0, &[0; 8])]);
}
