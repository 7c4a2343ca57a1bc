//! Requests as they are planned, rendered and written.

use crate::http2::client::{Client, get, post, request};
use crate::http2::frames::{CONTINUATION, DATA, END_HEADERS, END_STREAM, Frame, HEADERS};
use proptest::prelude::*;
use std::num::NonZeroUsize;
use wire::hpack::{Decoder, FieldList};
use wire::http2::{Plan, Put};
use wire::{Fill, Message, Piece, Planned as _, Spot};

type Fields = Vec<(String, String)>;

/// The fields and the body of a request, as a server reads them.
fn read(decoder: &mut Decoder, frames: &[Frame]) -> (Fields, Vec<u8>) {
    let of = |kinds: [u8; 2]| -> Vec<u8> {
        let chosen = frames.iter().filter(|frame| kinds.contains(&frame.kind));
        chosen.flat_map(|frame| frame.payload.clone()).collect()
    };
    let mut list = FieldList::default();
    decoder.decode(&of([HEADERS, CONTINUATION]), &mut list).unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (list.iter().map(|(name, value)| (text(name), text(value))).collect(), of([DATA, DATA]))
}

fn written(client: &mut Client, request: &[u8]) -> Vec<Frame> {
    assert_eq!(client.put(1, request), Put::Whole);
    let frames = client.wrote();
    client.connection.cancel(1, &mut Vec::new());
    client.connection.tick();
    frames
}

fn check(request: &[u8], fields: &[(&str, &str)], body: &[u8]) {
    let frames = written(&mut Client::new(), request);
    let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let wanted: Fields = fields.iter().map(text).collect();
    assert_eq!(read(&mut Decoder::new(4096), &frames), (wanted, body.to_vec()));
    let ends: Vec<bool> = frames.iter().map(|frame| frame.flags & END_STREAM != 0).collect();
    assert_eq!(ends.iter().filter(|ends| **ends).count(), 1, "{frames:?}");
    assert_eq!(frames[0].flags & END_STREAM != 0, body.is_empty());
}

const GET: (&str, &str) = (":method", "GET");
const POST: (&str, &str) = (":method", "POST");
const HTTP: (&str, &str) = (":scheme", "http");
const ROOT: (&str, &str) = (":path", "/");
const HOST: (&str, &str) = (":authority", "h:1");

#[test]
fn requests_are_framed() {
    check(&get("/a?b"), &[GET, HTTP, (":path", "/a?b"), HOST], b"");
    check(
        &request("POST", "/", &[("Host", "other"), ("X-A", " 1\t")], b"hi", 0),
        &[POST, HTTP, ROOT, (":authority", "other"), ("x-a", "1"), ("content-length", "2")],
        b"hi",
    );
    check(&post(b""), &[POST, HTTP, ROOT, HOST, ("content-length", "0")], b"");
    check(&request("POST", "/", &[], b"abc", 2), &[POST, HTTP, ROOT, HOST], b"abc");
    check(
        &request("GET", "/", &[("Content-Length", "1")], b"x", 0),
        &[GET, HTTP, ROOT, HOST, ("content-length", "1")],
        b"x",
    );
}

#[test]
fn fields_of_a_connection_are_left_out() {
    let fields = [
        ("Connection", "keep-alive, X-A"),
        ("Keep-Alive", "timeout=5"),
        ("Proxy-Connection", "x"),
        ("Upgrade", "h2c"),
        ("TE", "gzip"),
        ("X-A", "1"),
        ("te", "trailers"),
    ];
    check(
        &request("GET", "/", &fields, b"", 0),
        &[GET, HTTP, ROOT, HOST, ("x-a", "1"), ("te", "trailers")],
        b"",
    );
}

#[test]
fn a_warm_request_is_short() {
    let mut client = Client::new();
    let request = request("GET", "/path", &[("user-agent", "prony"), ("accept", "*/*")], b"", 0);
    let lengths: Vec<usize> = (0..4).map(|_| written(&mut client, &request)[0].payload.len()).collect();
    assert!(lengths[0] > 20, "{lengths:?}");
    assert_eq!(lengths[1..], [6; 3], "an index for each field");
}

#[test]
fn long_header_blocks_are_cut_into_frames() {
    let value = "\u{7f}".repeat(20_000);
    let frames = written(&mut Client::new(), &request("GET", "/", &[("a", &value)], b"", 0));
    let shape: Vec<_> = frames.iter().map(|frame| (frame.kind, frame.flags, frame.payload.len())).collect();
    let (first, second) = (shape[0], shape[1]);
    assert_eq!(
        (shape.len(), first, second.0, second.1),
        (2, (HEADERS, END_STREAM, 16_384), CONTINUATION, END_HEADERS)
    );
    assert_eq!(read(&mut Decoder::new(4096), &frames).0[4], ("a".to_owned(), value));
}

#[test]
fn bytes_of_http1_are_no_request() {
    let mut client = Client::new();
    for bytes in [&b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"[..], b"", b"\x02\0\xff\xff\xff\xff\0\0\0\0"] {
        assert_eq!(client.put(1, bytes), Put::Unframed);
    }
    assert_eq!((client.out.len(), client.connection.open()), (0, 0));
}

/// Values are their own texts.
struct Verbatim<'a> {
    cookies: &'a str,
}

impl Fill<Vec<u8>> for Verbatim<'_> {
    type Error = Option<u8>;

    fn fill(&mut self, value: &Vec<u8>, _: Spot, out: &mut Vec<u8>) -> Result<(), Self::Error> {
        out.extend_from_slice(value);
        Ok(())
    }

    fn has_cookies(&self) -> bool {
        !self.cookies.is_empty()
    }

    fn fill_cookies(&mut self, out: &mut Vec<u8>) -> Result<(), Self::Error> {
        out.extend_from_slice(self.cookies.as_bytes());
        Ok(())
    }

    fn judge_target(&self, first: Option<u8>) -> Result<(), Self::Error> {
        if first == Some(b'/') { Ok(()) } else { Err(first) }
    }
}

fn rendered(message: &Message<'_, Vec<u8>>, cookies: &str) -> Result<Vec<u8>, Option<u8>> {
    let (mut out, mut scratch) = (Vec::new(), b"old".to_vec());
    Plan::new(message).render(&mut Verbatim { cookies }, &mut out, &mut scratch).map(|()| out)
}

fn value(text: &str) -> Piece<Vec<u8>> {
    Piece::Value(text.as_bytes().to_vec())
}

fn literal(text: &str) -> Piece<Vec<u8>> {
    Piece::Literal(text.as_bytes().to_vec())
}

fn message<'a>(
    target: &'a [Piece<Vec<u8>>],
    fields: &'a [(String, Vec<Piece<Vec<u8>>>)],
) -> Message<'a, Vec<u8>> {
    Message {
        method: "GET",
        target,
        authority: "h:1",
        fields,
        has_cookies: true,
        body: &[],
        chunk_bytes: None,
    }
}

#[test]
fn a_target_is_judged_by_its_first_byte() {
    assert_eq!(rendered(&message(&[value("a")], &[]), ""), Err(Some(b'a')));
    assert_eq!(rendered(&message(&[value("")], &[]), ""), Err(None));
    let target = [value(""), literal("/b")];
    check(&rendered(&message(&target, &[]), "").unwrap(), &[GET, HTTP, (":path", "/b"), HOST], b"");
}

#[test]
fn cookies_are_sent_with_the_others() {
    let own = [("Cookie".to_owned(), vec![literal("a=b")])];
    let root = [literal("/")];
    let cookie = |fields: &[(String, Vec<Piece<Vec<u8>>>)], cookies: &str, wanted: &[(&str, &str)]| {
        let all = [&[GET, HTTP, ROOT, HOST][..], wanted].concat();
        check(&rendered(&message(&root, fields), cookies).unwrap(), &all, b"");
    };
    cookie(&[], "", &[]);
    cookie(&[], "c=d", &[("cookie", "c=d")]);
    cookie(&own, "", &[("cookie", "a=b")]);
    cookie(&own, "c=d", &[("cookie", "a=b; c=d")]);
}

/// A text cut at some places, every other piece a value.
fn pieces(text: &[u8], (cuts, first_is_value): (&[usize], bool)) -> Vec<Piece<Vec<u8>>> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    let texts = cuts.windows(2).map(|two| text[two[0]..two[1]].to_vec()).enumerate();
    texts
        .map(|(place, text)| {
            let is_value = place.is_multiple_of(2) == first_is_value;
            if is_value { Piece::Value(text) } else { Piece::Literal(text) }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// However texts are cut into literals and values, a server reads the fixed request.
    #[test]
    fn plans_say_what_fixed_requests_say(
        method in "GET|HEAD|POST|PUT|DELETE",
        target in "/[!-~]{0,20}",
        host in "|host|Host",
        names in prop::collection::vec("[A-Z][a-z]{1,6}-[a-z]{1,3}", 0..3),
        values in prop::collection::vec("[ -~]{0,12}", 3),
        body in prop::collection::vec(any::<u8>(), 0..60),
        chunk_bytes in 0_usize..20,
        cuts in prop::collection::vec(any::<usize>(), 0..4),
        first_is_value: bool,
    ) {
        let mut headers: Vec<(String, String)> = names.into_iter().zip(values).collect();
        if !host.is_empty() {
            headers.push((host, "other".to_owned()));
        }
        let pairs: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let fixed = request(&method, &target, &pairs, &body, chunk_bytes);
        let cut = (cuts.as_slice(), first_is_value);
        let fields: Vec<_> =
            headers.iter().map(|(name, value)| (name.clone(), pieces(value.as_bytes(), cut))).collect();
        // A rendered body has its length said even where an empty one would not need that.
        let has_length = !body.is_empty() || method == "POST" || method == "PUT";
        let body = if has_length { pieces(&body, cut) } else { vec![] };
        let message = Message {
            method: &method,
            target: &pieces(target.as_bytes(), cut),
            authority: "h:1",
            fields: &fields,
            has_cookies: true,
            body: &body,
            chunk_bytes: NonZeroUsize::new(chunk_bytes),
        };
        let planned = rendered(&message, "").unwrap();
        let (mut client, mut decoder) = (Client::new(), Decoder::new(4096));
        let first = read(&mut decoder, &written(&mut client, &fixed));
        for request in [&planned, &fixed, &planned] {
            let frames = written(&mut client, request);
            prop_assert_eq!(&read(&mut decoder, &frames), &first);
        }
    }
}
