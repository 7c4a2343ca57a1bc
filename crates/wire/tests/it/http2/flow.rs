//! Windows in both directions, and how many requests there is room for.

use crate::http2::client::{Client, Event, config, get, head, post, request};
use crate::http2::frames::*;
use wire::http2::{Config, NoRoom, Put, Room, Windows};

const OK: (&str, &str) = (":status", "200");

/// Lets all that may go on do so; the bodies' lengths by stream, in order.
fn go_on(client: &mut Client, body: &[u8]) -> Vec<(u32, usize)> {
    while let Some(held) = client.connection.next_ready() {
        client.connection.go_on(held, &post(body), &mut client.out);
    }
    client.wrote().iter().map(|frame| (frame.stream, frame.payload.len())).collect()
}

#[test]
fn windows_are_filled_up_at_half() {
    let windows = Windows { stream: 40_000, connection: 100_000 };
    let mut client = Client::with(Config { windows, ..config() }, &[]);
    client.ask(&[1, 2]);
    let half = data(1, false, &[b'x'; 10_000]);
    client.take(&[headers(1, false, &[OK]), half.clone()].concat()).unwrap();
    assert_eq!(client.wrote(), vec![]);
    client.take(&half).unwrap();
    let update = |stream, by: u32| Frame::new(WINDOW_UPDATE, 0, stream, &by.to_be_bytes());
    assert_eq!(client.wrote(), [update(1, 20_000)]);
    // A stream that ends is given nothing, but the connection is, for padding and cancelled streams, too.
    client.take(&data(1, true, &[b'x'; 10_000])).unwrap();
    client.connection.cancel(2, &mut client.out);
    client.out.clear();
    client.take(&data(3, false, &[b'x'; 10_000])).unwrap();
    assert_eq!(client.wrote(), vec![]);
    let padded = frame(DATA, PADDED, 3, &[&[200][..], &[0; 9_999]].concat());
    client.take(&padded).unwrap();
    assert_eq!(client.wrote(), [update(0, 50_000)]);
}

#[test]
fn bodies_wait_for_the_stream_window() {
    let mut client = Client::with(config(), &[(4, 10)]);
    let body = [b'x'; 25];
    assert_eq!(client.put(1, &post(&body)), Put::Held);
    let wrote = client.wrote();
    assert_eq!((wrote[0].flags, &wrote[1]), (END_HEADERS, &Frame::new(DATA, 0, 1, &[b'x'; 10])));
    assert_eq!((client.connection.is_stalled(1), client.connection.room()), (true, Room::Places(9)));
    assert_eq!(go_on(&mut client, &body), vec![]);
    assert_eq!(client.shown(&[window_update(1, 1)]), [Event::Room]);
    assert!(!client.connection.is_stalled(1));
    assert_eq!(go_on(&mut client, &body), [(1, 1)]);
    // A smaller first size makes the window negative: 10 - 10 + 1 - 1 - 8.
    assert_eq!(client.shown(&[settings(&[(4, 2)]), window_update(1, 8)]).len(), 1);
    client.out.clear();
    assert_eq!(go_on(&mut client, &body), vec![]);
    assert_eq!(client.shown(&[window_update(1, 3), window_update(1, 1)]), [Event::Room]);
    assert_eq!(go_on(&mut client, &body), [(1, 4)]);
    // A larger one lets it go on; the last part ends the stream.
    client.take(&settings(&[(4, 100)])).unwrap();
    client.forget();
    let held = client.connection.next_ready().unwrap();
    assert_eq!((held.place, held.stream), (1, 1));
    assert_eq!(client.connection.go_on(held, &post(&body), &mut client.out), Put::Whole);
    assert_eq!(client.wrote(), [Frame::new(DATA, END_STREAM, 1, &[b'x'; 10])]);
    assert_eq!((client.connection.held(), client.connection.counts().stalls), (0, 3));
    assert_eq!(client.shown(&[headers(1, true, &[OK])]), [head(1, 200, &[]), Event::Done(1)]);
}

#[test]
fn bodies_share_the_connection_window() {
    let mut client = Client::with(config(), &[(4, 30_000)]);
    let body = vec![b'x'; 40_000];
    for place in [1, 2, 3] {
        assert_eq!(client.put(place, &post(&body)), Put::Held);
    }
    let lengths = |client: &mut Client| -> usize {
        client.wrote().iter().filter(|frame| frame.kind == DATA).map(|frame| frame.payload.len()).sum()
    };
    assert_eq!(lengths(&mut client), 65_535);
    // Another request would wait behind the third.
    assert_eq!(client.connection.room(), Room::None(NoRoom::SendWindow));
    assert_eq!(client.put(4, &get("/")), Put::NoRoom);
    assert_eq!(client.shown(&[window_update(0, 4_000), window_update(0, 6_000)]), [Event::Room]);
    assert_eq!(go_on(&mut client, &body), [(5, 10_000)]);
    assert_eq!(
        client.shown(&[window_update(0, 12_000), window_update(1, 20_000)]),
        [Event::Room, Event::Room]
    );
    assert_eq!(go_on(&mut client, &body), [(1, 10_000), (5, 2_000)]);
    // Those that are given up leave their places in the queue.
    client.connection.cancel(2, &mut client.out);
    client.connection.cancel(3, &mut client.out);
    assert_eq!((client.connection.held(), client.connection.room()), (0, Room::Places(9)));
}

#[test]
fn a_call_writes_a_bounded_part_of_a_body() {
    let mut client = Client::with(config(), &[(4, 1 << 30)]);
    client.take(&window_update(0, 1 << 30)).unwrap();
    let body = vec![b'x'; 200_000];
    assert_eq!(client.put(1, &post(&body)), Put::Held);
    assert!((64_000..70_000).contains(&client.out.len()), "{}", client.out.len());
    assert!(!client.connection.is_stalled(1), "it waits for the owner");
    let mut calls = 1;
    let mut sent: usize =
        client.wrote().iter().filter(|frame| frame.kind == DATA).map(|frame| frame.payload.len()).sum();
    while let Some(held) = client.connection.next_ready() {
        calls += 1;
        client.connection.go_on(held, &post(&body), &mut client.out);
        let frames = client.wrote();
        assert!(frames.iter().all(|frame| frame.payload.len() <= 16_384));
        sent += frames.iter().map(|frame| frame.payload.len()).sum::<usize>();
    }
    assert_eq!((sent, calls, client.connection.counts().stalls), (200_000, 4, 0));
}

#[test]
fn bodies_in_parts_have_frames_of_their_length() {
    let mut client = Client::new();
    assert_eq!(client.put(1, &request("POST", "/", &[], b"abcde", 2)), Put::Whole);
    let parts: Vec<_> =
        client.wrote().into_iter().skip(1).map(|frame| (frame.flags, frame.payload)).collect();
    assert_eq!(parts, [(0, b"ab".to_vec()), (0, b"cd".to_vec()), (END_STREAM, b"e".to_vec())]);
}

#[test]
fn an_early_answer_ends_the_request() {
    let mut client = Client::with(config(), &[(4, 2)]);
    assert_eq!(client.put(1, &post(b"body")), Put::Held);
    client.out.clear();
    let shown = client.shown(&[headers(1, true, &[(":status", "413")]), reset(1, 0), window_update(1, 5)]);
    assert_eq!(shown, [head(1, 413, &[]), Event::Done(1)]);
    assert_eq!(client.wrote(), [Frame::new(RST_STREAM, 0, 1, &[0, 0, 0, 8])]);
    assert_eq!((client.connection.held(), client.connection.next_ready()), (0, None));
}

#[test]
fn the_peer_limits_streams() {
    let mut client = Client::with(config(), &[(3, 2)]);
    client.ask(&[1, 2]);
    assert_eq!(
        (client.connection.room(), client.put(3, &get("/"))),
        (Room::None(NoRoom::StreamLimit), Put::NoRoom)
    );
    client.take(&headers(1, true, &[OK])).unwrap();
    assert_eq!(client.connection.room(), Room::Places(1));
    client.forget();
    // None at all, and then more than were asked for.
    assert!(client.shown(&[settings(&[(3, 0)])]).contains(&Event::Room));
    assert_eq!(client.connection.room(), Room::None(NoRoom::StreamLimit));
    assert!(client.shown(&[settings(&[(3, 1000)])]).contains(&Event::Room));
    assert_eq!((client.connection.room(), client.connection.streams_granted()), (Room::Places(9), 10));
}
