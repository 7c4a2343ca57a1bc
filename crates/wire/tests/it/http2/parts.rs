//! Requests whose bodies come in parts, as streams of messages do: any parts under any windows arrive whole and in order, and
//! the request ends once.

use crate::http2::client::{Client, Event, config, head, post};
use crate::http2::frames::*;
use proptest::prelude::*;
use wire::http2::Put;

const OK: (&str, &str) = (":status", "200");

/// A request on stream 1 whose first part is this, and is not the last.
fn opened(first: &[u8], window: u32) -> (Client, Put) {
    let mut client = Client::with(config(), &[(4, window)]);
    let put = client.connection.put_part(7, &post(first), false, &mut client.out);
    assert_eq!(client.connection.last_opened(), 1);
    (client, put)
}

fn put_more(client: &mut Client, part: &[u8], is_last: bool) -> Put {
    client.connection.put_more(1, &post(part), is_last, &mut client.out)
}

#[test]
fn each_part_is_a_frame_and_the_last_ends_the_request() {
    let (mut client, put) = opened(b"ab", 100);
    assert_eq!(put, Put::Whole);
    let wrote = client.wrote();
    assert_eq!((wrote[0].flags, &wrote[1]), (END_HEADERS, &Frame::new(DATA, 0, 1, b"ab")));
    // Messages that come meanwhile belong to it.
    assert_eq!(
        client.shown(&[headers(1, false, &[OK]), data(1, false, b"x")]),
        [head(7, 200, &[]), Event::Body(7, b"x".to_vec())]
    );
    assert_eq!(put_more(&mut client, b"cde", false), Put::Whole);
    assert_eq!(put_more(&mut client, b"f", true), Put::Whole);
    assert_eq!(client.wrote(), [Frame::new(DATA, 0, 1, b"cde"), Frame::new(DATA, END_STREAM, 1, b"f")]);
    // Nothing follows the end.
    assert_eq!(put_more(&mut client, b"g", true), Put::Whole);
    client.connection.end_request(1, &mut client.out);
    client.connection.hold(1, true);
    assert_eq!((client.wrote(), client.connection.held()), (vec![], 0));
    assert_eq!(client.shown(&[data(1, true, b"y")]), [Event::Body(7, b"y".to_vec()), Event::Done(7)]);
}

#[test]
fn a_request_may_end_without_a_last_part() {
    for is_part in [true, false] {
        let (mut client, _) = opened(b"ab", 2);
        client.out.clear();
        // Without a byte left in the window: an empty frame needs none.
        if is_part {
            assert_eq!(put_more(&mut client, b"", true), Put::Whole);
        } else {
            client.connection.end_request(1, &mut client.out);
        }
        assert_eq!(client.wrote(), [Frame::new(DATA, END_STREAM, 1, b"")]);
        client.connection.end_request(1, &mut client.out);
        assert_eq!(client.wrote(), vec![], "once");
    }
}

#[test]
fn a_stream_that_has_ended_takes_no_part() {
    for end in [reset(1, 8), headers(1, true, &[OK])] {
        let (mut client, _) = opened(b"ab", 100);
        client.take(&end).unwrap();
        client.out.clear();
        assert_eq!(put_more(&mut client, b"cd", false), Put::Whole);
        client.connection.hold(1, false);
        client.connection.end_request(1, &mut client.out);
        assert_eq!((client.wrote(), client.connection.next_ready()), (vec![], None));
    }
}

#[test]
fn a_part_that_is_held_goes_on_in_its_turn() {
    let (mut client, _) = opened(b"ab", 100);
    client.out.clear();
    client.connection.hold(1, true);
    assert_eq!(client.wrote(), vec![], "it waits for its owner");
    let held = client.connection.next_ready().unwrap();
    assert_eq!((held.place, held.stream), (7, 1));
    assert_eq!(client.connection.go_on(held, &post(b"cd"), &mut client.out), Put::Whole);
    assert_eq!(client.wrote(), [Frame::new(DATA, END_STREAM, 1, b"cd")]);
}

/// Writes a part to its end under windows that open bit by bit; `given` counts what they allow.
fn write(
    client: &mut Client,
    part: &[u8],
    put: Put,
    openings: &mut impl Iterator<Item = u32>,
    given: &mut u64,
) {
    let mut put = put;
    while put == Put::Held {
        let by = openings.next().unwrap_or(1_000);
        *given += u64::from(by);
        client.take(&window_update(1, by)).unwrap();
        while let Some(held) = client.connection.next_ready() {
            put = client.connection.go_on(held, &post(part), &mut client.out);
        }
    }
    assert_eq!(put, Put::Whole);
}

proptest! {
    #[test]
    fn parts_arrive_whole_and_in_order_under_any_windows(
        lengths in prop::collection::vec(0_usize..60, 1..20),
        openings in prop::collection::vec(1_u32..50, 0..60),
        window in 0_u32..40,
    ) {
        let mut next = 0_u8;
        let parts: Vec<Vec<u8>> = lengths
            .iter()
            .map(|length| (0..*length).map(|_| { next = next.wrapping_add(1); next }).collect())
            .collect();
        // As messages of gRPC, the first has a byte at least.
        let first = [&[0][..], &*parts[0]].concat();
        let (mut client, put) = opened(&first, window);
        let (mut openings, mut given) = (openings.into_iter(), u64::from(window));
        write(&mut client, &first, put, &mut openings, &mut given);
        for (n, part) in parts.iter().enumerate().skip(1) {
            let put = put_more(&mut client, part, n + 1 == parts.len());
            write(&mut client, part, put, &mut openings, &mut given);
        }
        let is_ended = parts.len() > 1;
        let wrote = client.wrote();
        let bodies: Vec<&Frame> = wrote.iter().filter(|frame| frame.kind == DATA).collect();
        let sent: Vec<u8> = bodies.iter().flat_map(|frame| frame.payload.clone()).collect();
        prop_assert!(sent.len() as u64 <= given);
        prop_assert_eq!(sent, [&[0][..], &*parts.concat()].concat());
        let ends: Vec<usize> =
            (0..bodies.len()).filter(|at| bodies[*at].flags & END_STREAM != 0).collect();
        let last = bodies.len() - 1;
        prop_assert_eq!(ends, if is_ended { vec![last] } else { vec![] });
        prop_assert_eq!(client.connection.held(), 0);
    }
}
