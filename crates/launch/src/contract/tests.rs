//! What a broken contract says, answer by answer; each fault is planted in a scripted server.

use super::*;
use schema::plan::{BodyExpectation, CallPlan, Encoded, ExpectPlan, MessageCheck, RequestPlan, ScalarKind};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use testkit::http2;
use testkit::script::{Act, Scripted};

const LONG: Duration = Duration::from_secs(10);

fn peer(addr: SocketAddr, host: &str, timeout: Duration) -> Peer<'_> {
    Peer { addr, host, tls: None, http: HttpVersion::V1_1, timeout }
}

fn scenario(expect: ExpectPlan) -> EntryPlan {
    let request = RequestPlan { method: "GET".into(), path: "/json/1".into(), headers: vec![], body: vec![] };
    EntryPlan { name: "json".into(), request, expect, ..EntryPlan::default() }
}

fn strict(body: BodyExpectation) -> ExpectPlan {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    ExpectPlan { status: vec![200], headers, body, ..ExpectPlan::default() }
}

fn json() -> BodyExpectation {
    BodyExpectation::Json(serde_json::json!({"data": [{"score": 4.5}]}))
}

/// The text of the error, or the body that was verified.
fn outcome(expect: ExpectPlan, answer: &str) -> String {
    let server = Scripted::start(vec![Act::AwaitRequest, Act::send(answer)]);
    match check(peer(server.addr(), "127.0.0.1:1", LONG), &scenario(expect), None) {
        Ok(verified) => format!("{} {}", verified.status, String::from_utf8_lossy(&verified.body)),
        Err(error) => error.to_string(),
    }
}

fn answer(status: &str, kind: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nCONTENT-TYPE: {kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn a_right_answer_gives_the_bytes_seen() {
    let body = " {\"data\" : [{\"score\": 4.50}]}\n";
    let text = answer("200 OK", "application/json; charset=utf-8", body);
    assert_eq!(outcome(strict(json()), &text), format!("200 {body}"));
    assert_eq!(outcome(ExpectPlan::default(), &answer("302 Found", "x", "")), "302 ");
}

#[test]
fn a_wrong_answer_says_what_was_expected_and_what_came() {
    let right = "{\"data\":[{\"score\":4.5}]}";
    let exact = |text: &str| BodyExpectation::Exact(text.into());
    let json_type = "application/json";
    for (expect, answer, expected) in [
        (
            strict(json()),
            answer("500 Oops", json_type, "panic: \x1b[31mno database"),
            "contract \"json\": status 500, expected 200; the body begins with \"panic: [31mno database\"",
        ),
        (
            ExpectPlan::default(),
            answer("404 Not Found", json_type, ""),
            "contract \"json\": status 404, expected 200 to 399; the body begins with \"\"",
        ),
        (
            strict(json()),
            answer("200 OK", "text/plain", right),
            "contract \"json\": header content-type: expected a value that begins with \"application/json\", \
             got \"text/plain\"",
        ),
        (
            strict(json()),
            format!("HTTP/1.1 200 OK\r\n\r\n{right}"),
            "contract \"json\": header content-type: expected a value that begins with \"application/json\", \
             got no such header",
        ),
        (
            strict(json()),
            answer("200 OK", json_type, "{\"data\":[{\"score\":\"4.5\"}]}"),
            "contract \"json\": the body differs at $.data[0].score: expected 4.5, got \"4.5\"",
        ),
        (
            strict(json()),
            answer("200 OK", json_type, "<html>"),
            "contract \"json\": the body is not JSON (expected value at line 1 column 1): \"<html>\"",
        ),
        (
            strict(exact("hello world")),
            answer("200 OK", json_type, "hello, world"),
            "contract \"json\": the body differs at byte 5: expected \"hello world\" (11 bytes), got \
             \"hello, world\" (12 bytes)",
        ),
        (
            strict(json()),
            "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".to_owned(),
            "contract \"json\": the connection was closed within the body, after 1 of 99 bytes; look at the \
             server's log",
        ),
    ] {
        assert_eq!(outcome(expect, &answer), expected, "{answer}");
    }
}

#[test]
fn deep_nesting_is_refused_not_followed() {
    let text = answer("200 OK", "application/json", &"[".repeat(100_000));
    let shown = outcome(strict(json()), &text);
    assert!(shown.contains("is not JSON (recursion limit exceeded") && shown.len() < 400, "{shown}");
}

#[test]
fn silence_is_a_time_out() {
    let server = Scripted::start(vec![Act::AwaitRequest, Act::Hold]);
    let plan = scenario(ExpectPlan::default());
    let error = check(peer(server.addr(), "x", Duration::from_millis(30)), &plan, None).unwrap_err();
    assert!(matches!(error.fault, ContractFault::Exchange(ProbeError::TimedOut { .. })), "{error}");
}

#[test]
fn the_request_is_what_the_scenario_says() {
    let expected =
        "POST /json/1 HTTP/1.1\r\nHost: h:1\r\nAccept: application/json\r\nContent-Length: 2\r\n\r\n{}";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; expected.len()];
        stream.read_exact(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        String::from_utf8(request).unwrap()
    });
    let mut plan = scenario(ExpectPlan::default());
    plan.request.method = "POST".into();
    plan.request.body = b"{}".to_vec();
    plan.request.headers = vec![("Accept".into(), "application/json".into())];
    assert!(check(peer(addr, "h:1", LONG), &plan, None).is_ok());
    assert_eq!(server.join().unwrap(), expected);
}

#[test]
fn an_answer_to_head_has_no_body() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n";
    let server = Scripted::start(vec![Act::AwaitRequest, Act::send(answer), Act::Hold]);
    let mut plan = scenario(ExpectPlan::default());
    plan.request.method = "HEAD".into();
    assert_eq!(
        check(peer(server.addr(), "h", LONG), &plan, None).unwrap(),
        Verified { body: vec![], status: 200 }
    );
}

#[test]
fn a_request_that_would_smuggle_lines_is_refused_before_a_connection_is_made() {
    // Nothing listens there: a connection would be another fault.
    let addr = SocketAddr::from(([127, 0, 0, 1], 1));
    let with = |host: &str, change: fn(&mut RequestPlan)| {
        let mut plan = scenario(ExpectPlan::default());
        change(&mut plan.request);
        let error = check(peer(addr, host, LONG), &plan, None).unwrap_err();
        let text = error.to_string();
        assert!(text.ends_with("remedy: correct the scenario") && !text.contains('\r'), "{text:?}");
        match error.fault {
            ContractFault::Request(fault) => fault,
            other => panic!("{other}"),
        }
    };
    let target = "/ HTTP/1.1\r\nX: y";
    assert_eq!(
        with("h", |request| request.path = "/ HTTP/1.1\r\nX: y".into()),
        EncodeError::Target(target.into())
    );
    assert_eq!(with("h", |request| request.method = "G ET".into()), EncodeError::Method("G ET".into()));
    assert_eq!(
        with("h", |request| request.headers = vec![("A".into(), "b\r\nC: d".into())]),
        EncodeError::Value("A".into())
    );
    assert_eq!(with("a\r\nX: y", |_| {}), EncodeError::Value("Host".into()));
}

/// What is said of a 200 answer with this body, when the plan is changed so.
fn said(body: &str, change: impl FnOnce(&mut ExpectPlan)) -> String {
    let mut expect = ExpectPlan::default();
    change(&mut expect);
    outcome(expect, &answer("200 OK", "application/json", body))
}

#[test]
fn every_kind_of_check_trips_with_what_came() {
    let body = "{\"code\":0,\"data\":{\"id\":7}}";
    let right = |change: fn(&mut ExpectPlan)| assert_eq!(said(body, change), format!("200 {body}"));
    let wrong = |change: fn(&mut ExpectPlan), words: &str| {
        let said = said(body, change);
        assert!(said.starts_with("contract \"json\": the body ") && said.contains(words), "{said}");
    };
    right(|expect| expect.contains = vec!["\"id\"".into()]);
    wrong(
        |expect| expect.contains = vec!["name".into()],
        "fails the check contains \"name\"; it begins with",
    );
    right(|expect| expect.regex = vec!["\"id\":[0-9]+".into()]);
    wrong(|expect| expect.regex = vec!["^x".into()], "fails the check regex \"^x\"; it begins with");
    right(|expect| expect.json_has = vec!["/data/id".into()]);
    wrong(|expect| expect.json_has = vec!["/data/name".into()], "json_has /data/name: there is nothing");
    right(|expect| expect.json_equals = vec![("/data".into(), serde_json::json!({"id": 7.0}))]);
    wrong(
        |expect| expect.json_equals = vec![("/data".into(), serde_json::json!({"id": 8}))],
        "from there, $.id: expected 8, got 7",
    );
    right(|expect| expect.length = Some(schema::scenario::LengthRange { at_least: Some(26), at_most: None }));
    wrong(
        |expect| expect.length = Some(schema::scenario::LengthRange { at_least: None, at_most: Some(9) }),
        "has 26 bytes, expected at most 9",
    );
    wrong(|expect| expect.sha256 = Some("0".repeat(64)), "expected 00000000");
    // `sample` thins out checks under load, never the contract.
    wrong(
        |expect| {
            expect.sample = Some(1e-12);
            expect.contains = vec!["name".into()];
        },
        "contains \"name\"",
    );
}

#[test]
fn the_right_sum_of_a_body_passes() {
    let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    assert_eq!(said("hello", |expect| expect.sha256 = Some(sha256.into())), "200 hello");
}

#[test]
fn json_longer_than_what_the_load_would_keep_is_compared_all_the_same() {
    let long = format!("[\"{}\"]", "x".repeat(2 << 20));
    let expected = serde_json::from_str(&long).unwrap();
    assert_eq!(said(&long, |expect| expect.body = BodyExpectation::Json(expected)).len(), long.len() + 4);
}

/// The outcome of a call, or of a request over HTTP/2, to a server that answers with these frames.
fn over_http2(entry: &EntryPlan, frames: Vec<u8>) -> String {
    let script =
        vec![http2::Act::Settings(vec![]), http2::Act::Await(1), http2::Act::Send(frames), http2::Act::Hold];
    let server = http2::Raw::start(vec![script]);
    let peer = Peer { http: HttpVersion::V2, ..peer(server.addr(), "127.0.0.1:1", LONG) };
    match check(peer, entry, None) {
        Ok(verified) => format!("{} {}", verified.status, String::from_utf8_lossy(&verified.body)),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_load_over_http2_is_checked_over_http2() {
    let head = |status: u8| {
        http2::frame(1, 4, 1, &[&[status][..], &http2::field("content-type", "application/json")].concat())
    };
    let answer = |status, body: &[u8]| [head(status), http2::frame(0, 1, 1, body)].concat();
    let right = b"{\"data\":[{\"score\":4.5}]}";
    assert_eq!(
        over_http2(&scenario(strict(json())), answer(0x88, right)),
        "200 {\"data\":[{\"score\":4.5}]}"
    );
    let text = over_http2(&scenario(strict(json())), answer(0x8e, b"no"));
    assert_eq!(text, "contract \"json\": status 500, expected 200; the body begins with \"no\"");
    let text = over_http2(&scenario(strict(json())), http2::frame(3, 0, 1, &8_u32.to_be_bytes()));
    assert!(text.contains("reset the stream"), "{text}");
}

#[test]
fn a_redirect_over_http2_is_followed_where_the_load_follows() {
    let location = [&b"\x08\x03302"[..], &http2::field("location", "/there")].concat();
    let right = [vec![0x88], http2::field("content-type", "application/json")].concat();
    let body = http2::frame(0, 1, 1, b"{\"data\":[{\"score\":4.5}]}");
    let answers =
        [http2::frame(1, 5, 1, &location), [http2::frame(1, 4, 1, &right), body].concat()].map(|answer| {
            vec![
                http2::Act::Settings(vec![]),
                http2::Act::Await(1),
                http2::Act::Send(answer),
                http2::Act::Hold,
            ]
        });
    let server = http2::Raw::start(answers.to_vec());
    let peer = Peer { http: HttpVersion::V2, ..peer(server.addr(), "127.0.0.1:1", LONG) };
    let origin = wire::Origin { is_https: false, host: "127.0.0.1".to_owned(), port: 1 };
    let follow = Some(Follow { origin: &origin, hops_max: 1 });
    let verified = check(peer, &scenario(strict(json())), follow).unwrap();
    assert_eq!((verified.status, &*verified.body), (200, &b"{\"data\":[{\"score\":4.5}]}"[..]));
}

#[test]
fn a_call_is_made_and_judged() {
    let check = MessageCheck {
        name: "message_equals /n = 7".into(),
        path: vec![(1, 0)],
        kind: Some(ScalarKind::Int32),
        expected: Some(Encoded(vec![8, 7])),
    };
    let call =
        CallPlan { method: "p.S/M".into(), status: vec![0], checks: vec![check], ..CallPlan::default() };
    let headers = [("content-type", "application/grpc"), ("te", "trailers")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let request = RequestPlan { method: "POST".into(), path: "/p.S/M".into(), headers, body: vec![0; 5] };
    let expect = ExpectPlan { status: vec![200], ..ExpectPlan::default() };
    let entry = EntryPlan { name: "call".into(), request, expect, grpc: Some(call), ..EntryPlan::default() };
    assert_eq!(over_http2(&entry, http2::call_answer(1, &[8, 7], "0")), "200 \0\0\0\0\u{2}\u{8}\u{7}");
    for (frames, words) in [
        (http2::call_answer(1, &[8, 8], "0"), "the message fails the check message_equals /n = 7"),
        (http2::call_answer(1, &[8, 7], "5"), "grpc-status 5 NOT_FOUND"),
        (http2::call_answer(1, &[8, 7], "x"), "a grpc-status that is no number"),
        (http2::frame(1, 5, 1, &[0x88]), "not gRPC"),
        (http2::frame(1, 5, 1, &[0x8d]), "status 404, expected 200"),
    ] {
        let text = over_http2(&entry, frames);
        assert!(text.starts_with("contract \"call\": ") && text.contains(words), "{text}");
    }
}
