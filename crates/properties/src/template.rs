//! Expressions in scenarios: any text is refused with cause and remedy before the load, or renders requests whose
//! framing holds and whose bytes do not depend on the number of workers.
//!
//! Input: parts divided by the byte 0xff, which no UTF-8 text has: path, value of a header field, two values by name
//! (`a`, `b`), and last the body.

use crate::Broken;
use request::{Framed, MakeError, Maker, ProgramError, Traffic};
use schema::plan::{EntryPlan, RequestPlan, ScenarioPlan};
use std::sync::Arc;
use units::Seed;
use wire::Http1;

/// Divides the parts of the input.
const DIVIDER: u8 = 0xff;
/// Requests that are made.
const REQUESTS: u64 = 4;
const WORKERS: u32 = 2;
/// Names of what legitimately differs: clocks, and who makes the request.
const DIFFERS: [&str; 4] = ["now_", "uuid7", "worker", "env"];

/// Makes the first requests of a program, in order, by so many workers.
pub type Making = dyn Fn(&Arc<Framed<Http1>>, u32) -> Vec<Result<Vec<u8>, MakeError>>;

/// The property of the target `template`.
///
/// # Errors
/// A request that a peer would read otherwise, bytes that depend on the number of workers, or an error that does not
/// help.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &make)
}

/// [`check`] of any way of making requests.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], making: &Making) -> Result<(), Broken> {
    if has_long_number(input) {
        return Ok(());
    }
    let plan = plan(input);
    let traffic = match Traffic::new(&plan, "h:1", Seed(1), &[]) {
        Ok(traffic) => traffic,
        Err(error) => return helps(&error),
    };
    let program = traffic.program();
    let one = making(traffic.framed(), 1);
    one.iter().try_for_each(|made| match made {
        Ok(bytes) => one_request(bytes),
        Err(error) => {
            let shown = program.explain(error);
            Broken::unless(!shown.trim().is_empty(), || format!("no cause: {error:?}"))
        }
    })?;
    if has_any(input, &DIFFERS) {
        return Ok(());
    }
    let several = making(traffic.framed(), WORKERS);
    Broken::unless(several == one, || format!("by {WORKERS} workers {several:?}, by one {one:?}"))
}

/// A number of five to eight digits may be the length of a text, which takes seconds to draw; `request`'s own tests
/// have lengths at the limit.
fn has_long_number(input: &[u8]) -> bool {
    input.split(|byte| !byte.is_ascii_digit()).any(|digits| (5..=8).contains(&digits.len()))
}

fn plan(input: &[u8]) -> ScenarioPlan {
    let mut parts = input.splitn(5, |byte| *byte == DIVIDER);
    let mut text = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let (path, value, a, b) = (text(), text(), text(), text());
    let body = parts.next().unwrap_or_default().to_vec();
    let method = if body.is_empty() { "GET" } else { "POST" }.to_owned();
    let request = RequestPlan { method, path, headers: vec![("X-Value".to_owned(), value)], body };
    let entry = EntryPlan {
        name: "fuzzed".to_owned(),
        weight: 1.0,
        request,
        is_template: true,
        ..EntryPlan::default()
    };
    let named = [("a", a), ("b", b)].into_iter().filter(|(_, text)| !text.is_empty());
    let vars = named.map(|(name, text)| (name.to_owned(), text)).collect();
    ScenarioPlan { name: "fuzzed".to_owned(), requests: vec![entry], vars, ..ScenarioPlan::default() }
}

fn helps(error: &ProgramError) -> Result<(), Broken> {
    let texts = [&error.key, &error.cause, &error.remedy];
    let is_clean = |text: &String| !text.trim().is_empty() && !text.chars().any(char::is_control);
    Broken::unless(texts.into_iter().all(is_clean), || format!("curt or unclean: {error:?}"))
}

fn make(program: &Arc<Framed<Http1>>, workers: u32) -> Vec<Result<Vec<u8>, MakeError>> {
    let lasting = program.lasting_bytes();
    let mut makers: Vec<_> =
        (0..workers).map(|worker| Maker::new(program.clone(), worker, workers)).collect();
    let mut out = Vec::new();
    let workers = u64::from(workers);
    (0..REQUESTS)
        .map(|global| {
            let made = makers[(global % workers) as usize].make(global / workers, None, &mut out)?;
            Ok(made.bytes.lasting().map_or_else(|| out.clone(), |range| lasting[range].to_vec()))
        })
        .collect()
}

/// One request for a peer: a line, three fields at most, and a body of the length that stands there.
fn one_request(bytes: &[u8]) -> Result<(), Broken> {
    let mut fields = [httparse::EMPTY_HEADER; 4];
    let mut request = httparse::Request::new(&mut fields);
    let shown = || String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]).into_owned();
    let head = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        other => return Err(Broken(format!("{other:?}: {:?}", shown()))),
    };
    let names: Vec<&str> = request.headers.iter().map(|field| field.name).collect();
    let length = request.headers.iter().find(|field| field.name == "Content-Length");
    let said = length.map_or(Some(0), |field| std::str::from_utf8(field.value).ok()?.parse().ok());
    let expected: &[&str] =
        if length.is_some() { &["Host", "X-Value", "Content-Length"] } else { &["Host", "X-Value"] };
    Broken::unless(names == expected && said == Some(bytes.len() - head), || {
        format!("{names:?}, {said:?} bytes of body, has {}: {:?}", bytes.len() - head, shown())
    })?;
    // Or the asterisk that stands for the server (RFC 9112 §3.2.4).
    let begins = request.path.is_some_and(|path| path.starts_with('/') || path == "*");
    Broken::unless(begins, || format!("no path: {:?}", shown()))
}

fn has_any(bytes: &[u8], texts: &[&str]) -> bool {
    texts.iter().any(|text| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(parts: &[&str]) -> Vec<u8> {
        parts.iter().map(|part| part.as_bytes()).collect::<Vec<_>>().join(&DIVIDER)
    }

    #[test]
    fn usual_expressions_hold() {
        for parts in [
            &["/${counter()}?a=${urlencode(a)}", "${b}", "hex(4)", "a", "{\"n\":${uniform(1,9)}}"][..],
            &["/plain"],
            &["/${", "x"],
            &["/${1/0}", "x"],
            &["/${unknown()}", "x"],
            &[""],
        ] {
            assert_eq!(check(&input(parts)), Ok(()), "{parts:?}");
        }
    }

    #[test]
    fn makers_that_err_are_caught() {
        let usual = input(&["/${counter()}", "v", "", "", "${hex(3)}"]);
        let spoils: [fn(&mut Vec<u8>, u32); 4] = [
            |bytes, workers| bytes[6] = b'0' + workers as u8,
            |bytes, _| bytes.push(b'x'),
            |bytes, _| drop(bytes.splice(5..5, *b" / HTTP/1.1\r\n\r\n")),
            |bytes, _| bytes[5] = b'x',
        ];
        for (index, spoil) in spoils.into_iter().enumerate() {
            assert_eq!(check(&usual), Ok(()));
            let spoilt = move |program: &Arc<Framed<Http1>>, workers: u32| {
                make(program, workers)
                    .into_iter()
                    .map(|made| {
                        made.map(|mut bytes| {
                            spoil(&mut bytes, workers);
                            bytes
                        })
                    })
                    .collect()
            };
            assert!(check_with(&usual, &spoilt).is_err(), "{index}");
        }
    }
}
