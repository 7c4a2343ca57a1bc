//! However the bytes are cut: the same events, the same output, the same fault.

use crate::http2::client::{Client, Event, config, post};
use crate::http2::frames::*;
use proptest::prelude::*;
use wire::http2::Fault;

/// A client with six requests, one of which waits for its window.
fn asked() -> Client {
    let mut client = Client::with(config(), &[(4, 10)]);
    client.seen.judges = true;
    client.ask(&[1, 2, 3, 4, 5]);
    client.put(6, &post(&[b'x'; 20]));
    client.forget();
    client
}

/// What is to be seen of a connection that gets these bytes, cut here.
fn outcome(bytes: &[u8], cuts: &[usize]) -> (Vec<Event>, Vec<u8>, Result<(), Fault>) {
    let mut client = asked();
    let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    bounds.extend([0, bytes.len()]);
    bounds.sort_unstable();
    let result = bounds.windows(2).try_for_each(|pair| client.take(&bytes[pair[0]..pair[1]]));
    (client.seen.events, client.out, result)
}

fn stream() -> impl Strategy<Value = u32> {
    prop_oneof![8 => prop::sample::select(vec![1_u32, 3, 5, 7, 9, 11]), 1 => Just(0), 1 => 0_u32..16]
}

/// Frames that are mostly right.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let section = prop::sample::select(vec![
        block(&[(":status", "200")]),
        block(&[(":status", "200"), ("content-length", "5")]),
        entering_block(&[(":status", "404"), ("x", "y")]),
        vec![0x88],
        vec![0xbe],
        vec![0x8d, 0xbf, 0xbe],
        block(&[(":status", "100")]),
        block(&[("trailer", "x")]),
    ]);
    let flags = prop_oneof![4 => Just(END_HEADERS), 4 => Just(END_HEADERS | END_STREAM), 1 => Just(0)];
    let body = prop::collection::vec(any::<u8>(), 0..12);
    prop_oneof![
        6 => (stream(), flags.clone(), section.clone()).prop_map(|(stream, flags, block)| frame(HEADERS, flags, stream, &block)),
        1 => (stream(), flags, section).prop_map(|(stream, flags, block)| frame(CONTINUATION, flags, stream, &block)),
        6 => (stream(), any::<bool>(), body.clone()).prop_map(|(stream, ends, body)| data(stream, ends, &body)),
        2 => (stream(), any::<bool>(), body, 0_u8..5).prop_map(|(stream, ends, body, padding)| {
            let payload = [&[padding][..], &body, &vec![0; usize::from(padding)]].concat();
            frame(DATA, PADDED | end(ends), stream, &payload)
        }),
        1 => (0_u32..9).prop_map(|by| settings(&[(4, by * 7), (3, by)])),
        1 => Just(frame(SETTINGS, ACK, 0, &[])),
        1 => Just(frame(PING, 0, 0, b"12345678")),
        1 => (stream(), 0_u32..12).prop_map(|(stream, code)| reset(stream, code)),
        1 => (stream(), 0_u32..12).prop_map(|(stream, by)| window_update(stream, by)),
        1 => (stream(), 0_u32..12).prop_map(|(last, code)| goaway(last, code, "bye")),
        1 => Just(frame(PRIORITY, 0, 1, &[0; 5])),
        1 => Just(frame(0x55, 3, 7, b"unknown")),
    ]
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    (prop::collection::vec(any_frame(), 1..16), any::<Option<(u16, u8)>>(), any::<bool>()).prop_map(
        |(frames, wound, is_wounded)| {
            let mut bytes = frames.concat();
            if let Some((at, byte)) = wound.filter(|_| is_wounded) {
                let at = usize::from(at) % bytes.len();
                bytes[at] = byte;
            }
            bytes
        },
    )
}

/// Every request has at most one end, and nothing is shown of it afterwards.
fn each_ends_once(events: &[Event]) {
    let mut ended = Vec::new();
    for event in events {
        let (place, ends) = match event {
            Event::Head(place, ..) | Event::Again(place, ..) => (place, false),
            Event::Body(place, _) | Event::Trailers(place, _) => (place, false),
            Event::Done(place) | Event::Refused(place, _) => (place, true),
            Event::Reset(place, _) | Event::Broken(place, _) => (place, true),
            Event::Goaway(..) | Event::Settings(_) | Event::Room => continue,
        };
        assert!(!ended.contains(place), "{events:?}");
        if ends {
            ended.push(*place);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_split_is_the_same(bytes in any_bytes(), cuts in prop::collection::vec(any::<usize>(), 0..8)) {
        let whole = outcome(&bytes, &[]);
        each_ends_once(&whole.0);
        prop_assert_eq!(&outcome(&bytes, &cuts), &whole);
        let single: Vec<usize> = (0..bytes.len()).collect();
        prop_assert_eq!(&outcome(&bytes, &single), &whole);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut: usize) {
        prop_assert_eq!(outcome(&bytes, &[cut]), outcome(&bytes, &[]));
    }
}
