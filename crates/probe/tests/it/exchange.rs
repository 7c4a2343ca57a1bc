//! The exchange against right, hostile, silent and slow servers, over real sockets on loopback.

use probe::{Answer, Limits, ProbeError, Stage, Tls, exchange, exchange_over, get};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};
use testkit::certs::{Pki, Wrong};
use testkit::script::{Act, Scripted};
use testkit::tls_peer::{TlsAct, TlsPeer};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const LIMIT_BYTES: usize = 1_000;
/// Never reached: an answer or an error is to come before.
const LONG: Limits = Limits { timeout: Duration::from_secs(30), body_bytes: LIMIT_BYTES };
/// Always reached.
const SHORT: Limits = Limits { timeout: Duration::from_millis(30), body_bytes: LIMIT_BYTES };

/// What is made of a server that reads the request and then does `acts`.
fn after(acts: &[Act], answers_head: bool) -> Result<Answer, ProbeError> {
    let script = [&[Act::AwaitRequest], acts].concat();
    exchange(Scripted::start(script).addr(), REQUEST, answers_head, LONG)
}

/// The answer must be understood as this status and body, whole, in single bytes, and without the end of the stream.
fn check(bytes: &str, status: u16, body: &str) {
    for acts in [vec![Act::send(bytes)], vec![Act::Drip(bytes.into())]] {
        let got = after(&acts, false).unwrap_or_else(|error| panic!("{bytes:?}: {error}"));
        assert_eq!((got.status, String::from_utf8_lossy(&got.body).as_ref()), (status, body), "{bytes:?}");
    }
}

fn refusal(bytes: &str) -> String {
    after(&[Act::send(bytes)], false).expect_err(&bytes[..bytes.len().min(80)]).to_string()
}

/// An address where nothing listens, and where no other test can come to listen: they use 127.0.0.1.
fn nowhere() -> SocketAddr {
    TcpListener::bind("127.0.0.2:0").unwrap().local_addr().unwrap()
}

#[test]
fn every_way_to_end_a_body_is_understood() {
    check("HTTP/1.1 200 OK\r\ncontent-LENGTH: 3\r\n\r\nabcde", 200, "abc");
    check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3, 3\r\n\r\nabc", 200, "abc");
    check("HTTP/1.0 503 Busy\r\n\r\nto the end", 503, "to the end");
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n",
        200,
        "abc0123456789",
    );
    check("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nL: x\r\n\r\nHTTP/1.1 204 No\r\n\r\n", 204, "");
    check(
        &format!("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{0}", "x".repeat(1_000)),
        200,
        &"x".repeat(1_000),
    );
}

#[test]
fn an_answer_ends_where_its_framing_says_not_where_the_server_hangs_up() {
    let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(after(&[Act::send(bytes), Act::Hold], false).unwrap().body, b"hi");
}

#[test]
fn an_answer_to_head_announces_a_body_and_has_none() {
    let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\nTransfer-Encoding: gzip\r\n\r\n";
    assert_eq!(after(&[Act::send(bytes), Act::Hold], true).unwrap().body, b"");
}

#[test]
fn headers_come_in_order_with_names_in_lower_case() {
    let bytes = b"HTTP/1.1 204 No\r\nSet-Cookie: A\r\nX: \xff\r\nSET-COOKIE: b\r\n\r\n";
    let headers = after(&[Act::Send(bytes.to_vec())], false).unwrap().headers;
    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(headers, [("set-cookie", "A"), ("x", "\u{fffd}"), ("set-cookie", "b")]);
}

#[test]
fn a_cut_off_answer_says_where_it_was_cut() {
    for (bytes, expected) in [
        ("", "the connection was closed before any answer"),
        ("HTTP/1.1 200 OK\r\nContent-Le", "closed within the header"),
        ("HTTP/1.1 100 Continue\r\n\r\n", "closed within the header"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", "closed within the body, after 2 of 9 bytes"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "within the body, after 3 bytes"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n",
            "within the body, after 0 bytes",
        ),
    ] {
        let text = refusal(bytes);
        assert!(text.contains(expected) && text.ends_with("look at the server's log"), "{bytes:?}: {text}");
    }
    let error = after(&[Act::send("HTTP/1.1 200"), Act::Reset], false).unwrap_err();
    assert!(matches!(error, ProbeError::Io { stage: Stage::Header | Stage::Waiting, .. }), "{error}");
}

#[test]
fn hostile_answers_are_classed_errors() {
    let huge = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(2_000));
    let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(40);
    let chunked = |rest: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{rest}");
    let length = |value: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {value}\r\n\r\n");
    for (bytes, expected) in [
        (chunked("zz\r\n"), "HTTP/1.1: bad chunk"),
        (chunked("\r\n\r\n"), "HTTP/1.1: bad chunk"),
        (chunked("1\r\nabc\r\n"), "HTTP/1.1: bad chunk"),
        (chunked("FFFFFFFFFFFFFFFF\r\n"), "HTTP/1.1: chunk size or extension too large"),
        (length("1\r\nContent-Length: 2"), "HTTP/1.1: conflicting lengths"),
        (length("1\r\nTransfer-Encoding: chunked"), "HTTP/1.1: conflicting lengths"),
        (length("-1"), "HTTP/1.1: Content-Length is not a number"),
        (length("99999999999999999999999"), "HTTP/1.1: Content-Length is too large"),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n".to_owned(), "HTTP/1.1: 101 Switching Protocols"),
        ("SSH-2.0-OpenSSH_9.9\r\n".to_owned(), "does not begin with HTTP/1."),
        ("\0\u{1}\u{2}garbage".to_owned(), "does not begin with HTTP/1."),
        (huge, "the header section is longer than 64 KiB"),
        (many, "more than 1024 header fields"),
        (interim, "more than 32 interim answers"),
    ] {
        let text = refusal(&bytes);
        assert!(text.contains(expected) && text.contains("not well-formed"), "{bytes:.60}: {text}");
    }
}

#[test]
fn a_body_that_would_have_to_be_decoded_first_is_refused() {
    for bytes in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    ] {
        let error = after(&[Act::send(bytes), Act::Hold], false).unwrap_err();
        assert!(matches!(&error, ProbeError::Coded { coding } if coding.starts_with("gzip")), "{error}");
    }
    let long = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {}\r\n\r\n", "x".repeat(60_000));
    assert!(refusal(&long).len() < 200, "what a server sent is cut short");
}

#[test]
fn a_body_above_the_limit_is_refused_as_soon_as_that_is_known() {
    let body = "x".repeat(LIMIT_BYTES + 1);
    for bytes in [
        "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n{body}"),
        format!("HTTP/1.1 200 OK\r\n\r\n{body}"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3E9\r\n{body}"),
    ] {
        // The server does not close: waiting for the end would be a time-out.
        let error = after(&[Act::send(&bytes), Act::Hold], false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the answer has more than 1000 bytes of body; serve less on this path",
            "{bytes:.80}"
        );
    }
}

#[test]
fn silence_ends_at_the_deadline() {
    // Accepted by the kernel's backlog, never answered.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = exchange(listener.local_addr().unwrap(), REQUEST, false, SHORT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no whole answer within 30ms: timed out before any answer; the server hangs or is overloaded"
    );
}

#[test]
fn a_server_that_does_not_read_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // More than the socket buffers of both sides can take.
    let request = vec![b'x'; 64 << 20];
    let error = exchange(listener.local_addr().unwrap(), &request, false, SHORT).unwrap_err();
    assert!(matches!(error, ProbeError::TimedOut { stage: Stage::Sending, .. }), "{error}");
}

#[test]
fn a_server_that_drips_is_cut_off_at_the_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
        // The end is for a client without a deadline: it then sees a cut-off body, and the test fails.
        let end = Instant::now() + Duration::from_secs(10);
        while Instant::now() < end && stream.write_all(b"1\r\nx\r\n").is_ok() {
            thread::yield_now();
        }
    });
    let limits = Limits { body_bytes: usize::MAX, ..SHORT };
    let error = exchange(addr, REQUEST, false, limits).unwrap_err();
    assert!(matches!(error, ProbeError::TimedOut { stage: Stage::Body { .. }, .. }), "{error}");
    server.join().unwrap();
}

#[test]
fn no_time_is_over_at_once_and_endless_time_is_a_day() {
    let none = Limits { timeout: Duration::ZERO, ..LONG };
    let error = exchange(nowhere(), REQUEST, false, none).unwrap_err();
    assert!(matches!(error, ProbeError::TimedOut { stage: Stage::Connecting, .. }), "{error}");
    let endless = Limits { timeout: Duration::MAX, ..LONG };
    let error = exchange(nowhere(), REQUEST, false, endless).unwrap_err();
    assert!(matches!(error, ProbeError::Connect { .. }), "{error}");
}

#[test]
fn nothing_listens_and_nothing_is_smuggled() {
    let addr = nowhere();
    let text = get(addr, "/", LONG).unwrap_err().to_string();
    assert!(text.starts_with(&format!("no connection to {addr}: Connection refused")), "{text}");
    for path in ["/ HTTP/1.1\r\nX: y", "/a b", "metrics", ""] {
        let error = get(addr, path, LONG).unwrap_err();
        assert!(matches!(error, ProbeError::Request(wire::EncodeError::Target(_))), "{error}");
    }
}

#[test]
fn get_asks_for_one_path_and_takes_status_200_only() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let expected =
        format!("GET /metrics?all HTTP/1.1\r\nHost: {addr}\r\nAccept: */*\r\nConnection: close\r\n\r\n");
    let mut request = vec![0; expected.len()];
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi, and more").unwrap();
        String::from_utf8(request).unwrap()
    });
    assert_eq!(get(addr, "/metrics?all", LONG).unwrap(), b"hi");
    assert_eq!(server.join().unwrap(), expected);

    let missing = Scripted::start(vec![Act::AwaitRequest, Act::send("HTTP/1.1 404 Not Found\r\n\r\n")]);
    let text = get(missing.addr(), "/", LONG).unwrap_err().to_string();
    assert_eq!(text, "the answer has status 404, not 200; check the path");
}

/// What is made of a TLS server that reads the request and then does `acts`.
fn over_tls(pki: &Pki, wrong: Option<Wrong>, acts: &[TlsAct], limits: Limits) -> Result<Answer, ProbeError> {
    let identity = wrong.map_or_else(|| pki.server().clone(), |wrong| pki.wrong(wrong).unwrap());
    let config = pki.server_config(&identity, false, &[]).unwrap();
    let peer = TlsPeer::start(config, [&[TlsAct::AwaitRequest], acts].concat());
    let server_name = "localhost".try_into().unwrap();
    let tls = Tls { config: pki.client_config(None).unwrap(), server_name };
    exchange_over(peer.addr(), Some(&tls), REQUEST, false, limits)
}

#[test]
fn an_exchange_over_tls_is_verified_and_needs_a_proper_end() {
    let pki = Pki::new().unwrap();
    let (length, until_close) =
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 200 OK\r\n\r\nhi");
    for acts in [
        vec![TlsAct::send(length), TlsAct::Hold],
        vec![TlsAct::Drip(length.into()), TlsAct::Cut],
        vec![TlsAct::send(until_close), TlsAct::Close],
    ] {
        assert_eq!(over_tls(&pki, None, &acts, LONG).unwrap().body, b"hi", "{acts:?}");
    }
    // The end of the stream is the end of the body only where the peer has said so.
    let cut = over_tls(&pki, None, &[TlsAct::send(until_close), TlsAct::Cut], LONG).unwrap_err();
    assert!(matches!(cut, ProbeError::Closed { stage: Stage::Body { got_bytes: 2, .. } }), "{cut}");
    let wrong = over_tls(&pki, Some(Wrong::Expired), &[TlsAct::Hold], LONG).unwrap_err();
    assert!(matches!(wrong, ProbeError::Tls { stage: Stage::Securing, .. }), "{wrong}");
    assert!(wrong.to_string().contains("expired"), "{wrong}");
    let silent =
        over_tls(&pki, None, &[TlsAct::Hold], Limits { timeout: Duration::from_millis(300), ..LONG });
    assert!(matches!(silent, Err(ProbeError::TimedOut { .. })), "{silent:?}");
}

#[test]
fn a_server_that_drags_the_handshake_out_meets_the_deadline() {
    let pki = Pki::new().unwrap();
    // The head of a record of 16 KiB, then byte by byte: TLS waits for the whole record.
    let drip = [&[0x16, 3, 3, 0x40, 0][..], &[0; 64]].concat();
    let peer = Scripted::start(vec![Act::Drip(drip), Act::Hold]);
    let tls = Tls { config: pki.client_config(None).unwrap(), server_name: "localhost".try_into().unwrap() };
    let error = exchange_over(peer.addr(), Some(&tls), REQUEST, false, SHORT).unwrap_err();
    assert!(matches!(error, ProbeError::TimedOut { stage: Stage::Securing, .. }), "{error}");
}
