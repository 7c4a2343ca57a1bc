//! The rendered request: refused, or bytes that `httparse` reads back to the same parts with exactly one framing.
//!
//! Input: parts divided by the byte 0xff, which no UTF-8 text has: method, target, host, then names and values of
//! fields by turns, and last the body.

use crate::Broken;
use request::{Check, ProgramError, Traffic};
use schema::plan::RequestPlan;

/// Divides the parts of the input.
const DIVIDER: u8 = 0xff;
/// Fields that prony adds to the given ones, with room.
const HEADERS_ADDED: usize = 8;

/// Renders a request for a host, as [`Traffic::single`] does.
pub type Renderer = dyn Fn(&RequestPlan, &str) -> Result<Vec<u8>, ProgramError>;

/// The property of the target `request`.
///
/// # Errors
/// A peer would read another request, or more than one.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &render)
}

fn render(plan: &RequestPlan, host: &str) -> Result<Vec<u8>, ProgramError> {
    Traffic::single(plan, host, Check::new(&[], None))
        .map(|traffic| traffic.framed().lasting_bytes().to_vec())
}

/// [`check`] of any renderer.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], renderer: &Renderer) -> Result<(), Broken> {
    let (plan, host) = parts(input);
    survives_json(&plan)?;
    match renderer(&plan, &host) {
        Ok(bytes) => read_back(&plan, &host, &bytes),
        Err(error) => Broken::unless(!error.to_string().is_empty(), || format!("no cause: {error:?}")),
    }
}

fn parts(input: &[u8]) -> (RequestPlan, String) {
    let mut parts = input.split(|byte| *byte == DIVIDER);
    let mut text = || parts.next().map(|part| String::from_utf8_lossy(part).into_owned()).unwrap_or_default();
    let (method, path, host) = (text(), text(), text());
    let mut rest: Vec<&[u8]> = parts.collect();
    let body = rest.pop().unwrap_or_default().to_vec();
    let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
    let headers = rest.chunks_exact(2).map(|pair| (text(pair[0]), text(pair[1]))).collect();
    (RequestPlan { method, path, headers, body }, host)
}

fn survives_json(plan: &RequestPlan) -> Result<(), Broken> {
    let text = serde_json::to_string(plan).map_err(|error| Broken(error.to_string()))?;
    let back: RequestPlan =
        serde_json::from_str(&text).map_err(|error| Broken(format!("{error}: {text}")))?;
    Broken::unless(back == *plan, || format!("{plan:?} became {back:?}"))
}

/// Reads the bytes as a strict peer would.
fn read_back(plan: &RequestPlan, host: &str, bytes: &[u8]) -> Result<(), Broken> {
    let shown = || String::from_utf8_lossy(bytes).into_owned();
    // How many fields a peer takes is the user's own affair; which ones it sees is not.
    let mut fields = vec![httparse::EMPTY_HEADER; plan.headers.len() + HEADERS_ADDED];
    let mut request = httparse::Request::new(&mut fields);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        other => return Err(Broken(format!("a peer refuses it ({other:?}): {:?}", shown()))),
    };
    let line = (request.method, request.path, request.version);
    let wanted = (Some(plan.method.as_str()), Some(plan.path.as_str()), Some(1));
    Broken::unless(line == wanted, || format!("{line:?} instead of {wanted:?}"))?;
    Broken::unless(bytes[length..] == plan.body, || format!("another body: {:?}", shown()))?;
    same_fields(plan, host, request.headers)?;
    one_framing(plan, request.headers).map_err(|cause| Broken(format!("{cause}: {:?}", shown())))
}

/// The plan's fields in their order, with at most a Host before and a Content-Length after them.
fn same_fields(plan: &RequestPlan, host: &str, fields: &[httparse::Header<'_>]) -> Result<(), Broken> {
    let has = |name: &str| plan.headers.iter().any(|(have, _)| have.eq_ignore_ascii_case(name));
    let blank = |c: char| c == ' ' || c == '\t';
    let own = plan.headers.iter().map(|(name, value)| (name.as_str(), value.trim_matches(blank)));
    let added = (!has("host")).then(|| ("Host", host.trim_matches(blank)));
    let expected: Vec<(&str, &[u8])> =
        added.into_iter().chain(own).map(|(name, value)| (name, value.as_bytes())).collect();
    let mut got: Vec<(&str, &[u8])> = fields.iter().map(|field| (field.name, field.value)).collect();
    if !has("content-length") && got.last().is_some_and(|(name, _)| *name == "Content-Length") {
        got.pop();
    }
    Broken::unless(got == expected, || format!("fields {got:?} instead of {expected:?}"))
}

/// RFC 9112 §6.2 and §3.2: one Host, at most one Content-Length, which is the body's, and no transfer coding.
fn one_framing(plan: &RequestPlan, fields: &[httparse::Header<'_>]) -> Result<(), String> {
    let values = |name: &str| -> Vec<&[u8]> {
        fields.iter().filter(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value).collect()
    };
    let length = plan.body.len().to_string();
    match values("content-length").as_slice() {
        [] if plan.body.is_empty() => {}
        [one] if *one == length.as_bytes() => {}
        other => return Err(format!("Content-Length {other:?} for {length} bytes")),
    }
    if !values("transfer-encoding").is_empty() {
        return Err("a transfer coding".to_owned());
    }
    match values("host").len() {
        1 => Ok(()),
        count => Err(format!("{count} Host fields")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(parts: &[&str]) -> Vec<u8> {
        parts.iter().map(|part| part.as_bytes()).collect::<Vec<_>>().join(&DIVIDER)
    }

    #[test]
    fn a_usual_request_holds() {
        assert_eq!(check(&input(&["POST", "/a?b=c", "h:1", "X-A", " 1 ", "body"])), Ok(()));
    }

    #[test]
    fn renderers_that_let_a_second_request_through_are_caught() {
        let usual = input(&["POST", "/", "h", "X-A", "1", "body"]);
        for (from, to) in [
            ("X-A: 1", "X-A: 1\r\nTransfer-Encoding: chunked"),
            ("X-A: 1", "X-A: 1\r\nContent-Length: 4"),
            ("X-A: 1", "X-A: 2"),
            ("Host: h", "Host: h\r\nHost: i"),
            ("Content-Length: 4", "Content-Length: 3"),
            ("\r\n\r\nbody", "\r\n\r\nGET / HTTP/1.1\r\n\r\nbody"),
            ("POST / ", "GET / "),
        ] {
            let wounded = move |plan: &RequestPlan, host: &str| {
                render(plan, host)
                    .map(|bytes| String::from_utf8(bytes).unwrap().replace(from, to).into_bytes())
            };
            assert!(check_with(&usual, &wounded).is_err(), "{to:?}");
        }
    }
}
