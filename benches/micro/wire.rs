//! Micro-benchmarks of crate `wire`: the parser on a usual answer, whole and in parts, on large and chunked
//! ones, and the request encoder.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use wire::{Feed, Header, RequestHead, ResponseParser, Visit, encode_request};

/// Head of 250 bytes, as Go or nginx send it, and a body of 31.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\n\
Date: Sat, 21 Nov 2026 04:30:00 GMT\r\n\
Content-Type: application/json; charset=utf-8\r\n\
Content-Length: 31\r\n\
Connection: keep-alive\r\n\
Cache-Control: no-store\r\n\
X-Request-Id: 6f1d9c0e-1f4b-4c7a-9a55-0d3c2b1a4e5f\r\n\
Server: an-example/1.2.3\r\n\
\r\n\
{\"code\":0,\"msg\":\"ok\",\"data\":{}}";

fn main() {
    divan::main();
}

/// Looks at what a check looks at: the status and the size of the body.
#[derive(Default)]
struct Seen {
    status: u16,
    body_bytes: usize,
}

impl Visit for Seen {
    fn head(&mut self, status: u16, _headers: &[Header<'_>]) {
        self.status = status;
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body_bytes += bytes.len();
    }
}

fn parse(parser: &mut ResponseParser, parts: &[&[u8]]) -> Seen {
    let mut seen = Seen::default();
    parser.begin(false);
    let mut complete = false;
    for part in parts {
        complete = matches!(parser.feed(part, &mut seen), Ok(Feed::Complete { .. }));
    }
    assert!(complete && seen.body_bytes == 31, "the answer is whole");
    seen
}

/// Parses the answer cut at `cuts`.
fn bench_parts(bencher: Bencher<'_, '_>, cuts: &[usize]) {
    let ends = cuts.iter().copied().chain([ANSWER.len()]);
    let parts: Vec<&[u8]> = std::iter::once(0)
        .chain(cuts.iter().copied())
        .zip(ends)
        .map(|(from, to)| &ANSWER[from..to])
        .collect();
    let mut parser = ResponseParser::default();
    bencher
        .counter(BytesCount::of_slice(ANSWER))
        .bench_local(|| parse(&mut parser, black_box(&parts)).status);
}

#[divan::bench]
fn parse_whole(bencher: Bencher<'_, '_>) {
    bench_parts(bencher, &[]);
}

#[divan::bench]
fn parse_split_in_the_head(bencher: Bencher<'_, '_>) {
    bench_parts(bencher, &[100]);
}

#[divan::bench]
fn parse_split_before_the_body(bencher: Bencher<'_, '_>) {
    bench_parts(bencher, &[ANSWER.len() - 31]);
}

#[divan::bench]
fn parse_split_in_eight(bencher: Bencher<'_, '_>) {
    bench_parts(bencher, &[35, 70, 105, 140, 175, 210, 245]);
}

/// An answer with `body_bytes` of body, by length or in chunks of 4 KiB.
fn large_answer(body_bytes: usize, is_chunked: bool) -> Vec<u8> {
    const CHUNK: usize = 4096;
    let body = vec![b'x'; body_bytes];
    let framing = if is_chunked {
        "Transfer-Encoding: chunked".to_owned()
    } else {
        format!("Content-Length: {body_bytes}")
    };
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{framing}\r\n\r\n").into_bytes();
    if is_chunked {
        for chunk in body.chunks(CHUNK) {
            answer.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            answer.extend_from_slice(chunk);
            answer.extend_from_slice(b"\r\n");
        }
        answer.extend_from_slice(b"0\r\n\r\n");
    } else {
        answer.extend_from_slice(&body);
    }
    answer
}

/// Parses an answer that comes in reads of 16 KiB, as from a socket.
fn bench_large(bencher: Bencher<'_, '_>, body_bytes: usize, is_chunked: bool) {
    let answer = large_answer(body_bytes, is_chunked);
    let mut parser = ResponseParser::default();
    bencher.counter(BytesCount::of_slice(&answer)).bench_local(|| {
        let mut seen = Seen::default();
        parser.begin(false);
        let mut complete = false;
        for part in black_box(&answer).chunks(16 * 1024) {
            complete = matches!(parser.feed(part, &mut seen), Ok(Feed::Complete { .. }));
        }
        assert!(complete && seen.body_bytes == body_bytes, "the answer is whole");
        seen.status
    });
}

#[divan::bench(args = [4096, 65_536, 1_048_576])]
fn parse_large(bencher: Bencher<'_, '_>, body_bytes: usize) {
    bench_large(bencher, body_bytes, false);
}

#[divan::bench(args = [31, 4096, 65_536, 1_048_576])]
fn parse_chunked(bencher: Bencher<'_, '_>, body_bytes: usize) {
    bench_large(bencher, body_bytes, true);
}

#[divan::bench(args = [0, 31, 4096])]
fn encode(bencher: Bencher<'_, '_>, body_bytes: usize) {
    let headers =
        [("Accept", "application/json"), ("Authorization", "Bearer 0123456789abcdef0123456789abcdef")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let body = vec![b'x'; body_bytes];
    let head =
        RequestHead { method: "POST", target: "/items?page=2", host: "127.0.0.1:8080", headers: &headers };
    bencher.bench(|| encode_request(black_box(&head), black_box(&body)).expect("the request is valid"));
}
