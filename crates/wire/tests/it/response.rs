//! The response parser against right, unusual and hostile answers, and the property that any split is the same.

use proptest::prelude::*;
use wire::{Ended, Feed, Header, Malformed, ResponseParser, Visit};

/// Everything that can be seen of an answer.
#[derive(Debug, Default, PartialEq, Clone)]
struct Seen {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    trailers: Vec<(String, String)>,
}

impl Visit for Seen {
    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        self.status = status;
        self.headers = texts(headers);
    }
    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
    fn trailers(&mut self, fields: &[Header<'_>]) {
        assert!(self.trailers.is_empty(), "trailers are shown once");
        self.trailers = texts(fields);
    }
}

fn texts(fields: &[Header<'_>]) -> Vec<(String, String)> {
    let text =
        |field: &Header<'_>| (field.name.to_lowercase(), String::from_utf8_lossy(field.value).into_owned());
    fields.iter().map(text).collect()
}

/// How an answer ended: bytes taken in total and reuse, or the end of the connection.
#[derive(Debug, PartialEq, Clone)]
enum End {
    Complete { taken: usize, keep_alive: bool },
    Closed(Ended),
}

/// Feeds `bytes` cut at `cuts`, then closes the connection.
fn read(bytes: &[u8], cuts: &[usize], answers_head: bool) -> Result<(Seen, End), Malformed> {
    let mut parser = ResponseParser::default();
    let mut seen = Seen::default();
    parser.begin(answers_head);
    let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    bounds.extend([0, bytes.len()]);
    bounds.sort_unstable();
    for pair in bounds.windows(2) {
        let part = &bytes[pair[0]..pair[1]];
        if let Feed::Complete { taken, keep_alive } = parser.feed(part, &mut seen)? {
            return Ok((seen, End::Complete { taken: pair[0] + taken, keep_alive }));
        }
    }
    Ok((seen, End::Closed(parser.end_of_input()?)))
}

/// Reads `bytes` whole and byte by byte, demands the same, and returns it.
fn both(bytes: &[u8], answers_head: bool) -> Result<(Seen, End), Malformed> {
    let whole = read(bytes, &[], answers_head);
    let single: Vec<usize> = (0..bytes.len()).collect();
    assert_eq!(whole, read(bytes, &single, answers_head), "the split changed the result");
    whole
}

fn check(bytes: &str, status: u16, body: &str, end: End) {
    let (seen, got) = both(bytes.as_bytes(), false).unwrap_or_else(|error| panic!("{bytes:?}: {error}"));
    assert_eq!(
        (seen.status, String::from_utf8_lossy(&seen.body).as_ref(), got),
        (status, body, end),
        "{bytes:?}"
    );
}

fn done(bytes: &str, keep_alive: bool) -> End {
    End::Complete { taken: bytes.len(), keep_alive }
}

#[test]
fn every_framing() {
    for (bytes, status, body, keep_alive) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", true),
        ("HTTP/1.1 200 OK\r\nCONTENT-length:5\r\n\r\nhello", 200, "hello", true),
        ("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, "", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3\r\nabc\r\n0002;x=\"y\"\r\nde\r\n0\r\n\r\n",
            200,
            "abcde",
            true,
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n",
            200,
            "x",
            true,
        ),
        // Trailer fields may be folded, too, and end in a lone line feed, as those of the header section may.
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA:\r\n b\r\nC: d\n\r\n", 200, "", true),
        // A later minor version means the same as the highest known one: RFC 9110 §2.5.
        ("HTTP/1.2 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x", true),
        ("HTTP/1.9 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", 200, "x", false),
        ("HTTP/1.3 100 Continue\r\n\r\nHTTP/1.3 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 00000000000000000000000000000001\r\n\r\nx", 200, "x", true),
        ("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", 204, "", true),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, "", true),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
            200,
            "x",
            true,
        ),
        ("HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 1\r\n\r\nx", 200, "x", false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x", false),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", 200, "x", true),
        ("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", 999, "", true),
        // Folded fields: RFC 9112 §5.2.
        ("HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length:\r\n\t2\r\n\r\nok", 200, "ok", true),
        ("HTTP/1.1 200 OK\r\nConnection: a,\r\n  close\r\nContent-Length: 1\r\n\r\nx", 200, "x", false),
    ] {
        check(bytes, status, body, done(bytes, keep_alive));
    }
    check("HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, "until the end", End::Closed(Ended::Complete));
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nzz", 200, "zz", End::Closed(Ended::Complete));
}

#[test]
fn bytes_after_the_answer_are_left() {
    let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxGARBAGE";
    check(bytes, 200, "x", End::Complete { taken: bytes.len() - 7, keep_alive: true });
}

#[test]
fn trailers_are_shown_after_the_body() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n";
    for (section, shown) in [
        ("\r\n", &[][..]),
        ("Grpc-Status: 0\r\n\r\n", &[("grpc-status", "0")]),
        ("A:b\r\nC: \r\nA: d e\n\r\n", &[("a", "b"), ("c", ""), ("a", "d e")]),
    ] {
        let (seen, _) = both(format!("{chunked}{section}").as_bytes(), false).unwrap();
        let shown: Vec<_> = shown.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        assert_eq!((seen.trailers, &*seen.body), (shown, &b"ok"[..]), "{section:?}");
    }
}

#[test]
fn answers_to_head_have_no_body() {
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n";
    let (seen, end) = both(bytes, true).unwrap();
    assert_eq!((seen.status, end), (200, End::Complete { taken: bytes.len(), keep_alive: true }));
}

#[test]
fn cut_off_answers_are_premature() {
    for bytes in [
        "",
        "HTT",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.2 20",
        // The largest length that fits 64 bits with a sign, and the largest of all.
        "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nx",
    ] {
        let (_, end) = both(bytes.as_bytes(), false).unwrap();
        assert_eq!(end, End::Closed(Ended::Premature), "{bytes:?}");
    }
}

#[test]
fn malformed_answers_are_classified() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let long = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "x".repeat(wire::HEAD_BYTES_MAX));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(1025));
    let table: Vec<(String, Malformed)> = vec![
        ("SSH-2.0-OpenSSH\r\n".into(), Malformed::NoStatusLine),
        ("\0\0\0".into(), Malformed::NoStatusLine),
        ("HTTP/2 200\r\n\r\n".into(), Malformed::NoStatusLine),
        ("HTTP/1.x 200 OK\r\n\r\n".into(), Malformed::Head("invalid version")),
        ("HTTP/1.12 200 OK\r\n\r\n".into(), Malformed::Head("invalid version")),
        ("HTTP/1.1 2000 OK\r\n\r\n".into(), Malformed::Head("invalid status code")),
        ("HTTP/1.1 200 O\x1bK\r\n\r\n".into(), Malformed::Head("control character in the reason phrase")),
        ("HTTP/1.1 2x0 OK\r\n\r\n".into(), Malformed::Head("invalid status code")),
        ("HTTP/1.1 099 OK\r\n\r\n".into(), Malformed::Head("status below 100")),
        ("HTTP/1.1 200 OK\r\nA B: c\r\n\r\n".into(), Malformed::Head("invalid header name")),
        ("HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n".into(), Malformed::Head("invalid header value")),
        (long, Malformed::HeadTooLong),
        (many, Malformed::TooManyHeaders),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".into(), Malformed::BadLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n".into(), Malformed::LengthTooLarge),
        (format!("HTTP/1.1 200 OK\r\nContent-Length: {:033}\r\n\r\n", 1), Malformed::LengthTooLarge),
        ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n".into(), Malformed::BadLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n".into(), Malformed::BadLength),
        ("HTTP/1.1 200 OK\r\n A: b\r\n\r\n".into(), Malformed::Head("invalid header name")),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n".into(),
            Malformed::ConflictingLengths,
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n".into(),
            Malformed::ConflictingLengths,
        ),
        (format!("{chunked}g\r\n"), Malformed::BadChunk),
        (format!("{chunked}\r\n"), Malformed::BadChunk),
        (format!("{chunked}1\nx"), Malformed::BadChunk),
        (format!("{chunked}1\r\nxyz"), Malformed::BadChunk),
        (format!("{chunked}ffffffffffffffff\r\n"), Malformed::ChunkTooLarge),
        // 2^60, which is the limit, and then one digit more: 2^64 wraps to 0.
        (format!("{chunked}10000000000000000\r\n\r\n"), Malformed::ChunkTooLarge),
        (format!("{chunked}1;{}", "e".repeat(5000)), Malformed::ChunkTooLarge),
        (format!("{chunked}0\r\n{}", "A: b\r\n".repeat(12_000)), Malformed::TrailersTooLong),
        (format!("{chunked}0\r\nno colon\r\n\r\n"), Malformed::BadTrailer),
        (format!("{chunked}0\r\nnocolon\r\n\r\n"), Malformed::BadTrailer),
        (format!("{chunked}0\r\n: b\r\n\r\n"), Malformed::BadTrailer),
        (format!("{chunked}0\r\n folded: b\r\n\r\n"), Malformed::BadTrailer),
        (format!("{chunked}0\r\nA: b\0\r\n\r\n"), Malformed::BadTrailer),
        (format!("{chunked}0\r\nA: b\rc\r\n\r\n"), Malformed::BadTrailer),
        (format!("{chunked}0\r\n\n"), Malformed::BadTrailer),
        ("HTTP/1.1 101 Switching\r\n\r\n".into(), Malformed::Upgrade),
        ("HTTP/1.1 100 C\r\n\r\n".repeat(33), Malformed::TooManyInterim),
    ];
    for (bytes, expected) in table {
        // Miri takes a minute for each of the longest, which go through the same code as the others.
        if cfg!(miri) && bytes.len() > 10_000 {
            continue;
        }
        let shown: String = bytes.chars().take(60).collect();
        // Byte by byte is quadratic for the longest; a few cuts say the same.
        let result = if bytes.len() > if cfg!(miri) { 200 } else { 10_000 } {
            read(bytes.as_bytes(), &[7, 100, 9_999], false)
        } else {
            both(bytes.as_bytes(), false)
        };
        assert_eq!(result, Err(expected), "{shown:?}");
        assert_eq!(read(bytes.as_bytes(), &[], false), Err(expected), "{shown:?} whole");
    }
}

#[test]
fn a_parser_reads_one_answer_after_another() {
    let mut parser = ResponseParser::default();
    for length in [3_usize, 0, 70_000] {
        let body = "y".repeat(length);
        let bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
        let mut seen = Seen::default();
        parser.begin(false);
        let (first, second) = bytes.as_bytes().split_at(20);
        assert_eq!(parser.feed(first, &mut seen), Ok(Feed::NeedMore));
        assert!(matches!(parser.feed(second, &mut seen), Ok(Feed::Complete { .. })));
        assert_eq!(seen.body.len(), length);
    }
}

/// Answers that are mostly well formed, with a random wound now and then.
fn answers() -> impl Strategy<Value = Vec<u8>> {
    let header = prop_oneof![
        Just("Content-Length: 12\r\n".to_owned()),
        Just("Transfer-Encoding: chunked\r\n".to_owned()),
        Just("Connection: close\r\n".to_owned()),
        "[A-Za-z-]{1,12}: [ -~]{0,20}\r\n",
    ];
    let head = (prop::sample::select(vec![100_u16, 200, 204, 404]), prop::collection::vec(header, 0..6))
        .prop_map(|(status, headers)| format!("HTTP/1.1 {status} X\r\n{}\r\n", headers.concat()));
    let body = prop_oneof![
        Just(b"hello, world".to_vec()),
        Just(b"5\r\nhello\r\n0\r\n\r\n".to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    (prop::collection::vec(head, 1..3), body, any::<Option<(u16, u8)>>()).prop_map(|(heads, body, wound)| {
        let mut bytes = heads.concat().into_bytes();
        bytes.extend(body);
        if let Some((at, byte)) = wound {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        bytes
    })
}

/// Under Miri a few cases, and no file for failures: it has no file system.
fn cases() -> ProptestConfig {
    if cfg!(miri) {
        ProptestConfig { cases: 10, failure_persistence: None, ..ProptestConfig::default() }
    } else {
        ProptestConfig::with_cases(2000)
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_split_parses_the_same(bytes in answers(), cuts in prop::collection::vec(any::<usize>(), 0..8), head: bool) {
        prop_assert_eq!(read(&bytes, &cuts, head), read(&bytes, &[], head));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), cut: usize) {
        let mut prefixed = b"HTTP/1.1 200 OK\r\n".to_vec();
        prefixed.extend(&bytes);
        prop_assert_eq!(read(&prefixed, &[cut], false), read(&prefixed, &[], false));
        let _ = read(&bytes, &[cut], false);
    }
}
