//! Exchanges over HTTP/2 and calls of gRPC against servers that frame by hand, well or badly.

use probe::grpc::{CallError, call, serves};
use probe::{Limits, ProbeError, Session, Tls};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use testkit::certs::Pki;
use testkit::http2::{Act, Raw, call_answer, field, frame, settings};
use testkit::script::{self, Scripted};
use wire::RequestHead;

/// Never reached: an answer or an error is to come before.
const LONG: Limits = Limits { timeout: Duration::from_secs(30), body_bytes: 1_000 };
/// Always reached.
const SHORT: Limits = Limits { timeout: Duration::from_millis(30), body_bytes: 1_000 };
const GET: RequestHead<'_> = RequestHead { method: "GET", target: "/", host: "h", headers: &[] };

fn greeted(acts: &[Act]) -> Raw {
    Raw::start(vec![[&[Act::Settings(vec![])], acts].concat()])
}

/// The outcome of one request to a server that answers the first with these frames.
fn after(frames: Vec<u8>) -> Result<probe::Answer, ProbeError> {
    let server = greeted(&[Act::Await(1), Act::Send(frames), Act::Hold]);
    Session::open(server.addr(), None, LONG)?.exchange(&GET, b"", None)
}

fn head(flags: u8) -> Vec<u8> {
    frame(1, flags, 1, &[vec![0x88], field("kind", "x")].concat())
}

#[test]
fn a_session_exchanges_one_after_the_other() {
    let answer = |stream| [frame(1, 4, stream, &[0x88]), frame(0, 1, stream, b"hi")].concat();
    let server =
        greeted(&[Act::Await(1), Act::Send(answer(1)), Act::Await(1), Act::Send(answer(3)), Act::Hold]);
    let mut session = Session::open(server.addr(), None, LONG).unwrap();
    for _ in 0..2 {
        let got = session.exchange(&GET, b"", None).unwrap();
        assert_eq!((got.status, &got.body[..]), (200, &b"hi"[..]));
    }
    drop(session);
    let seen = server.end();
    assert_eq!([&seen.connections, &seen.requests, &seen.goaways].map(|count| count.load(SeqCst)), [1, 2, 1]);
}

#[test]
fn a_body_longer_than_the_window_is_sent_whole() {
    let widen = |stream: u32| frame(8, 0, stream, &200_000_u32.to_be_bytes());
    let server =
        greeted(&[Act::Await(1), Act::Send([widen(0), widen(1)].concat()), Act::Answer(1), Act::Hold]);
    let head = RequestHead { method: "POST", ..GET };
    let mut session = Session::open(server.addr(), None, LONG).unwrap();
    assert_eq!(session.exchange(&head, &[b'x'; 200_000], Some(NonZeroUsize::MAX)).unwrap().status, 200);
}

#[test]
fn every_other_end_is_an_error_with_its_cause() {
    let goaway = |last: u32, code: u32| frame(7, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat());
    let cut = [head(4), frame(0, 0, 1, b"half")].concat();
    for (frames, words) in [
        (frame(3, 0, 1, &8_u32.to_be_bytes()), "reset the stream before any answer with CANCEL"),
        (frame(3, 0, 1, &7_u32.to_be_bytes()), "refused the stream"),
        ([cut, frame(3, 0, 1, &2_u32.to_be_bytes())].concat(), "within the body, after 4 bytes"),
        (goaway(0, 11), "left (GOAWAY) before any answer with ENHANCE_YOUR_CALM"),
        (b"\0\0\0\x05\x04\0\0\0\x01".to_vec(), "not well-formed HTTP/2"),
        (settings(&[(1, 0); 100]), "a flood of SETTINGS"),
        ([head(4), frame(0, 1, 1, &[b'x'; 1_001])].concat(), "more than 1000 bytes of body"),
    ] {
        let text = after(frames).expect_err(words).to_string();
        assert!(text.contains(words), "{text}");
    }
    assert_eq!(after([head(4), frame(0, 1, 1, &[b'x'; 1_000])].concat()).unwrap().body.len(), 1_000);
}

#[test]
fn a_server_of_another_kind_is_named() {
    let server = Scripted::start(vec![script::Act::send("HTTP/1.1 400 Bad\r\n\r\n"), script::Act::Hold]);
    let error = Session::open(server.addr(), None, LONG).unwrap_err().to_string();
    assert!(error.contains("speaks HTTP/1"), "{error}");
}

#[test]
fn a_silent_server_ends_with_the_deadline() {
    let silent = Raw::start(vec![vec![Act::Hold]]);
    assert!(matches!(Session::open(silent.addr(), None, SHORT), Err(ProbeError::TimedOut { .. })));
    let streamless = Raw::start(vec![vec![Act::Settings(vec![(3, 0)]), Act::Hold]]);
    let mut session = Session::open(streamless.addr(), None, SHORT).unwrap();
    assert!(matches!(session.exchange(&GET, b"", None), Err(ProbeError::TimedOut { .. })));
}

#[test]
fn tls_must_agree_on_h2() {
    let pki = Pki::new().unwrap();
    let script = vec![vec![Act::Settings(vec![]), Act::Serve]];
    for (offer, is_taken) in [(&b"h2"[..], true), (b"http/1.1", false)] {
        let config = pki.server_config(pki.server(), false, &[b"h2", b"http/1.1"]).unwrap();
        let server = Raw::start_tls(config, script.clone());
        let mut config = rustls::ClientConfig::clone(&pki.client_config(None).unwrap());
        config.alpn_protocols = vec![offer.to_vec()];
        let tls = Tls { config: Arc::new(config), server_name: "localhost".try_into().unwrap() };
        match Session::open(server.addr(), Some(&tls), LONG) {
            Ok(mut session) => {
                assert!(is_taken);
                assert_eq!(session.exchange(&GET, b"", None).unwrap().status, 200);
            }
            Err(error) => assert!(!is_taken && matches!(error, ProbeError::NotHttp2), "{error}"),
        }
    }
}

#[test]
fn a_call_gives_its_message_or_says_why_not() {
    let called = |frames: Vec<u8>| {
        let server = greeted(&[Act::Await(1), Act::Send(frames), Act::Hold]);
        let mut session = Session::open(server.addr(), None, LONG).unwrap();
        let metadata = [("token".to_owned(), "x".to_owned())];
        call(&mut session, "h", "/p.S/M", &metadata, b"\x08\x01").map_err(|error| error.to_string())
    };
    assert_eq!(called(call_answer(1, b"\x08\x07", "0")), Ok(b"\x08\x07".to_vec()));
    let bare = |fields: &[(&str, &str)]| {
        let fields = fields.iter().flat_map(|(name, value)| field(name, value)).collect();
        frame(1, 5, 1, &[vec![0x88], fields].concat())
    };
    let kind = ("content-type", "application/grpc");
    for (frames, words) in [
        (
            bare(&[kind, ("grpc-status", "12"), ("grpc-message", "no%20such")]),
            "grpc-status 12 UNIMPLEMENTED: no such",
        ),
        (bare(&[kind]), "no grpc-status"),
        (bare(&[("content-type", "text/html")]), "is not gRPC"),
        (call_answer(1, b"", "x"), "not gRPC as it should be"),
        (frame(1, 5, 1, &[0x8d]), "has status 404"),
    ] {
        let text = called(frames).expect_err(words);
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_server_is_healthy_once_it_serves() {
    let asked = |message: &'static [u8], status: &str| {
        let server = greeted(&[Act::Await(1), Act::Send(call_answer(1, message, status)), Act::Hold]);
        serves(server.addr(), None, LONG)
    };
    assert!(asked(&[8, 1], "0").is_ok());
    assert!(matches!(asked(&[8, 2], "0"), Err(CallError::NotServing)));
    assert!(matches!(asked(&[], "0"), Err(CallError::NotServing)));
    assert!(matches!(asked(&[8, 1], "5"), Err(CallError::Status { .. })));
}
