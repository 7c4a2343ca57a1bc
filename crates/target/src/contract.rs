//! The contract: before load begins, one request must get the answer that the scenario expects.
//!
//! Invariants: a fresh connection each time; the request is what the load will send; the body that was seen is
//! handed out, so that the load can require the same bytes again; an error says what was expected and what came.

use crate::json_diff::first_difference;
use crate::tail::clean;
use probe::{Answer, Limits, ProbeError, Tls};
use schema::plan::{BodyExpectation, EntryPlan, ExpectPlan, RequestPlan};
use std::net::SocketAddr;
use std::time::Duration;
use wire::{EncodeError, RequestHead, encode_request};

/// Longest body of a right answer.
const BODY_BYTES_MAX: usize = 8 << 20;
/// Characters shown of a header's value or of a wrong body.
const SHOWN_CHARS: usize = 120;
/// Characters shown of why a request cannot be sent; the part of the request comes before the reason.
const REFUSAL_CHARS: usize = 4_000;
/// Bytes shown before and after the first difference of exact bodies.
const AROUND_BYTES: usize = 24;

/// What a right answer looked like, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The body, decoded from its framing.
    pub body: Vec<u8>,
    /// The status code.
    pub status: u16,
}

/// The contract of a request is broken.
#[derive(Debug, thiserror::Error)]
#[error("contract \"{}\": {fault}", clean(request, 80))]
pub struct ContractError {
    /// Name of the request.
    pub request: String,
    /// How.
    pub fault: ContractFault,
}

/// How a contract is broken.
#[derive(Debug, thiserror::Error)]
pub enum ContractFault {
    /// The request cannot be sent.
    #[error("the request cannot be sent: {}\n  remedy: correct the scenario", clean(&.0.to_string(), REFUSAL_CHARS))]
    Request(#[from] EncodeError),
    /// There was no whole answer.
    #[error(transparent)]
    Exchange(#[from] ProbeError),
    /// Another status.
    #[error("status {got}, expected {expected}; the body begins with {body}")]
    Status {
        /// Accepted codes.
        expected: String,
        /// What came.
        got: u16,
        /// The beginning of the body, often the reason.
        body: String,
    },
    /// A header is missing or begins otherwise.
    #[error("header {name}: expected a value that begins with {expected}, got {got}")]
    Header {
        /// Name in lower case.
        name: String,
        /// The prefix.
        expected: String,
        /// The values, or that there is none.
        got: String,
    },
    /// Another body; says where it differs.
    #[error("the body {0}")]
    Body(String),
}

/// Sends a request without templates once to `addr` and checks status, headers and body of the answer. `host` is the
/// value of `Host`; `timeout` bounds the whole exchange.
///
/// # Errors
/// The request cannot be sent, there is no whole answer in time, or status, headers or body are not as expected.
pub fn check(
    addr: SocketAddr,
    host: &str,
    entry: &EntryPlan,
    timeout: Duration,
) -> Result<Verified, ContractError> {
    check_over(addr, None, host, entry, timeout)
}

/// [`check`] over TLS where that is given.
///
/// # Errors
/// As [`check`].
pub fn check_over(
    addr: SocketAddr,
    tls: Option<&Tls>,
    host: &str,
    entry: &EntryPlan,
    timeout: Duration,
) -> Result<Verified, ContractError> {
    ask(addr, tls, host, entry, timeout).map_err(|fault| ContractError { request: entry.name.clone(), fault })
}

fn ask(
    addr: SocketAddr,
    tls: Option<&Tls>,
    host: &str,
    entry: &EntryPlan,
    timeout: Duration,
) -> Result<Verified, ContractFault> {
    let request = encode(&entry.request, host)?;
    let head = entry.request.method == "HEAD";
    let limits = Limits { timeout, body_bytes: BODY_BYTES_MAX };
    let answer = probe::exchange_over(addr, tls, &request, head, limits)?;
    check_status(&entry.expect, &answer)?;
    check_headers(&entry.expect, &answer)?;
    check_body(&entry.expect.body, &answer.body)?;
    Ok(Verified { body: answer.body, status: answer.status })
}

fn encode(request: &RequestPlan, host: &str) -> Result<Vec<u8>, EncodeError> {
    let head =
        RequestHead { method: &request.method, target: &request.path, host, headers: &request.headers };
    encode_request(&head, &request.body)
}

fn check_status(expect: &ExpectPlan, answer: &Answer) -> Result<(), ContractFault> {
    let (right, expected) = match expect.status[..] {
        [] => ((200..400).contains(&answer.status), "200 to 399".to_owned()),
        ref codes => {
            let text: Vec<String> = codes.iter().map(u16::to_string).collect();
            (codes.contains(&answer.status), text.join(" or "))
        }
    };
    if right {
        return Ok(());
    }
    Err(ContractFault::Status { expected, got: answer.status, body: show(&answer.body) })
}

fn check_headers(expect: &ExpectPlan, answer: &Answer) -> Result<(), ContractFault> {
    for (name, prefix) in &expect.headers {
        let values: Vec<&str> = answer
            .headers
            .iter()
            .filter(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
            .collect();
        if values.iter().any(|value| value.starts_with(prefix.as_str())) {
            continue;
        }
        let got = if values.is_empty() { "no such header".to_owned() } else { quote(&values.join(", ")) };
        return Err(ContractFault::Header { name: name.clone(), expected: quote(prefix), got });
    }
    Ok(())
}

fn check_body(expected: &BodyExpectation, got: &[u8]) -> Result<(), ContractFault> {
    let difference = match expected {
        BodyExpectation::Any => None,
        BodyExpectation::Exact(expected) => exact_difference(expected.as_bytes(), got),
        BodyExpectation::Json(expected) => match serde_json::from_slice(got) {
            Ok(got) => first_difference(expected, &got).map(|text| format!("differs at {text}")),
            Err(error) => Some(format!("is not JSON ({error}): {}", show(got))),
        },
    };
    difference.map_or(Ok(()), |text| Err(ContractFault::Body(text)))
}

/// Where two bodies first differ, with their surroundings.
fn exact_difference(expected: &[u8], got: &[u8]) -> Option<String> {
    if expected == got {
        return None;
    }
    let at = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
    let around = |bytes: &[u8]| {
        let end = bytes.len().min(at + AROUND_BYTES);
        show(&bytes[at.saturating_sub(AROUND_BYTES)..end])
    };
    Some(format!(
        "differs at byte {at}: expected {} ({} bytes), got {} ({} bytes)",
        around(expected),
        expected.len(),
        around(got),
        got.len()
    ))
}

fn show(bytes: &[u8]) -> String {
    // Cut first: a hostile body has megabytes.
    let end = bytes.len().min(SHOWN_CHARS * 4);
    quote(&String::from_utf8_lossy(&bytes[..end]))
}

fn quote(text: &str) -> String {
    format!("\"{}\"", clean(text, SHOWN_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;
    use testkit::script::{Act, Scripted};

    const LONG: Duration = Duration::from_secs(10);

    fn scenario(expect: ExpectPlan) -> EntryPlan {
        let request =
            RequestPlan { method: "GET".into(), path: "/json/1".into(), headers: vec![], body: vec![] };
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
        match check(server.addr(), "127.0.0.1:1", &scenario(expect), LONG) {
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
        let error = check(server.addr(), "x", &plan, Duration::from_millis(30)).unwrap_err();
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
        assert!(check(addr, "h:1", &plan, LONG).is_ok());
        assert_eq!(server.join().unwrap(), expected);
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n";
        let server = Scripted::start(vec![Act::AwaitRequest, Act::send(answer), Act::Hold]);
        let mut plan = scenario(ExpectPlan::default());
        plan.request.method = "HEAD".into();
        assert_eq!(check(server.addr(), "h", &plan, LONG).unwrap(), Verified { body: vec![], status: 200 });
    }

    #[test]
    fn a_request_that_would_smuggle_lines_is_refused_before_a_connection_is_made() {
        // Nothing listens there: a connection would be another fault.
        let addr = SocketAddr::from(([127, 0, 0, 1], 1));
        let with = |host: &str, change: fn(&mut RequestPlan)| {
            let mut plan = scenario(ExpectPlan::default());
            change(&mut plan.request);
            let error = check(addr, host, &plan, LONG).unwrap_err();
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
}
