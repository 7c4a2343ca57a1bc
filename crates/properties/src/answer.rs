//! Answers put to checks: what is judged, captured and collected is the same in any split, and agrees with a plain
//! reading of the whole answer; cookies read back from the jar.
//!
//! Input: one byte (lowest two bits: which check; all of it: the split), then what the connection gave.

use crate::Broken;
use crate::read::{Seen, cuts, read};
use request::{Answer, Check, CookieJar, Judged, Notes};
use schema::plan::{BodyExpectation, ExpectPlan};
use schema::scenario::{Capture, LengthRange};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use wire::{Feed, ResponseParser};

/// Texts that the first check wants.
const TEXTS: [&str; 3] = ["ok", "okay", "\"id\""];
/// Longest body that checks keep, as `request` has it.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Longest captured value, as `request` has it.
const CAPTURED_BYTES_MAX: usize = 8 << 10;
/// Cookies and bytes of one, as `request` has them.
const COOKIES_MAX: usize = 50;
const COOKIE_BYTES_MAX: usize = 4096;
/// Inputs up to this size are also given byte by byte.
const SINGLE_BYTES_MAX: usize = 512;

/// One of the checks; they are compiled once, as a load does it.
struct Case {
    check: Check,
    /// What a plain reading of the body says of an answer with a right status and no content coding; nothing where
    /// it cannot say.
    plain: fn(&[u8]) -> Option<bool>,
}

static CASES: LazyLock<[Case; 4]> = LazyLock::new(|| {
    let compile = |expect: ExpectPlan, captures: &[(&str, Capture)]| {
        let captures: BTreeMap<String, Capture> =
            captures.iter().map(|(name, capture)| ((*name).to_owned(), capture.clone())).collect();
        let index = |name: &str| name.parse().unwrap_or(usize::MAX);
        Check::compile(&expect, None, &captures, &index, true).expect("the check is right")
    };
    let usual = Capture::default;
    let text = |text: &str| Some(text.to_owned());
    [
        Case {
            check: compile(
                ExpectPlan { contains: TEXTS.map(str::to_owned).to_vec(), ..ExpectPlan::default() },
                &[],
            ),
            plain: |body| Some(TEXTS.iter().all(|text| has(body, text.as_bytes()))),
        },
        Case {
            check: compile(
                ExpectPlan {
                    json_has: vec!["/items/0/id".to_owned()],
                    json_equals: vec![("/n".to_owned(), Value::from(1))],
                    length: Some(LengthRange { at_least: Some(2), at_most: Some(4096) }),
                    ..ExpectPlan::default()
                },
                &[("0", Capture { json: text("/items/0/id"), ..usual() })],
            ),
            plain: |body| {
                let Ok(document) = serde_json::from_slice::<Value>(body) else { return Some(false) };
                let item = document.pointer("/items/0/id");
                let is_one = document.pointer("/n").and_then(Value::as_f64) == Some(1.0);
                let fits = body.len() <= 4096 && item.is_some_and(|item| !item.is_null());
                Some(fits && is_one)
            },
        },
        Case {
            check: compile(
                ExpectPlan { regex: vec!["(?i)tok(en)?".to_owned()], ..ExpectPlan::default() },
                &[
                    ("0", Capture { header: text("X-Token"), default: text("none"), ..usual() }),
                    ("1", Capture { cookie: text("sid"), default: text("none"), ..usual() }),
                    ("2", Capture { json: text("/a~1b"), default: text("none"), ..usual() }),
                    ("3", Capture { regex: text("token=([a-z0-9]*)"), default: text("none"), ..usual() }),
                ],
            ),
            plain: |body| {
                let lower = body.to_ascii_lowercase();
                // Without case `K` has a third form, U+212A.
                (!has(body, "\u{212a}".as_bytes())).then(|| has(&lower, b"tok"))
            },
        },
        Case {
            check: compile(
                ExpectPlan { body: BodyExpectation::Exact("hello".to_owned()), ..ExpectPlan::default() },
                &[],
            ),
            plain: |body| Some(body == b"hello"),
        },
    ]
});

/// All that is known of an answer after it was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The judgement; nothing where the answer did not end.
    pub judged: Option<Judged>,
    /// Captured values with their indices.
    pub captured: Vec<(usize, Vec<u8>)>,
    /// Names and values of cookies, in the order of their fields.
    pub cookies: Vec<(String, String)>,
    /// What people see of the body of an answer that is not right.
    pub beginning: Vec<u8>,
}

/// Judges bytes of a connection, cut at ascending places, by a check.
pub type Judger = dyn Fn(&Check, &[u8], &[usize]) -> Known;

/// The property of the target `answer`.
///
/// # Errors
/// What is known of an answer depends on the split, is too large, or differs from the plain reading.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &judge)
}

/// [`check`] of any judger.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], judger: &Judger) -> Result<(), Broken> {
    let (choice, bytes) = input.split_first().map_or((0, input), |(choice, bytes)| (*choice, bytes));
    let case = &CASES[usize::from(choice) % CASES.len()];
    let whole = judger(&case.check, bytes, &[]);
    let mut splits = vec![cuts(bytes.len(), choice)];
    if bytes.len() <= SINGLE_BYTES_MAX {
        splits.push((0..bytes.len()).collect());
    }
    for cuts in splits {
        let mut got = judger(&case.check, bytes, &cuts);
        if has(bytes, b"br") && one_begins_the_other(&got.beginning, &whole.beginning) {
            // What the decoder of brotli has in its window when it comes upon damage is lost, and that depends on the
            // split. It is only shown to people.
            got.beginning.clone_from(&whole.beginning);
        }
        Broken::unless(got == whole, || format!("cut at {cuts:?}: {got:?}, whole: {whole:?}"))?;
    }
    bounded(&whole)?;
    let (seen, _) = read(bytes, &[], false);
    agrees(case, &whole, &seen)?;
    jar(&whole.cookies)
}

fn judge(check: &Check, bytes: &[u8], cuts: &[usize]) -> Known {
    let (mut parser, mut answer, mut notes) = (ResponseParser::default(), Answer::to(0), Notes::default());
    parser.begin(false);
    let (mut from, mut is_complete) = (0, None);
    for to in cuts.iter().copied().chain([bytes.len()]) {
        match parser.feed(&bytes[from..to], &mut answer.judge(check, &mut notes)) {
            Ok(Feed::NeedMore) => from = to,
            Ok(Feed::Complete { .. }) => {
                is_complete = Some(true);
                break;
            }
            Err(_) => {
                is_complete = Some(false);
                break;
            }
        }
    }
    let closed = || parser.end_of_input().is_ok_and(|ended| ended == wire::Ended::Complete);
    let judged = is_complete.unwrap_or_else(closed).then(|| answer.finish(check, &mut notes));
    if judged.is_none() {
        // Such an answer is a failure of its connection, and nobody looks at its notes.
        return Known { judged, captured: vec![], cookies: vec![], beginning: vec![] };
    }
    Known {
        judged,
        captured: notes.captured().map(|(index, value)| (index, value.to_vec())).collect(),
        cookies: notes.cookies().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        beginning: if judged == Some(Judged::Right) { vec![] } else { notes.beginning().to_vec() },
    }
}

fn bounded(known: &Known) -> Result<(), Broken> {
    let longest = known.captured.iter().map(|(_, value)| value.len()).max().unwrap_or(0);
    Broken::unless(longest <= CAPTURED_BYTES_MAX, || format!("a captured value of {longest} bytes"))?;
    let shown = known.beginning.len();
    Broken::unless(shown <= 2 << 10, || format!("{shown} bytes of a wrong answer"))?;
    let foreign = known.cookies.iter().find(|(name, value)| {
        name.is_empty() || name.chars().chain(value.chars()).any(|c| c.is_control() || c == ';')
    });
    Broken::unless(foreign.is_none(), || format!("no cookie: {foreign:?}"))
}

/// Compares with what a plain reading makes of the whole answer.
fn agrees(case: &Case, known: &Known, seen: &Seen) -> Result<(), Broken> {
    let Some(judged) = known.judged else { return Ok(()) };
    let is_expected = (200..400).contains(&seen.status);
    Broken::unless(is_expected != (judged == Judged::UnexpectedStatus), || {
        format!("status {}: {judged:?}", seen.status)
    })?;
    let is_coded = seen.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-encoding"));
    if !is_expected || is_coded || seen.body.len() > BODY_BYTES_MAX {
        return Ok(());
    }
    let plain = (case.plain)(&seen.body);
    Broken::unless(plain.is_none_or(|plain| plain == (judged == Judged::Right)), || {
        format!("{judged:?} of {:?}, plain reading: {plain:?}", String::from_utf8_lossy(&seen.body))
    })?;
    captured_as_sent(known, seen)
}

/// A captured header field is that of the answer, in one line.
fn captured_as_sent(known: &Known, seen: &Seen) -> Result<(), Broken> {
    let Some((_, token)) = known.captured.iter().find(|(index, _)| *index == 0) else { return Ok(()) };
    let Some((_, sent)) = seen.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("x-token")) else {
        return Ok(());
    };
    let one_line: Vec<u8> =
        sent.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte }).collect();
    let is_other = *token != one_line && sent.len() <= CAPTURED_BYTES_MAX && known.captured.len() == 4;
    Broken::unless(!is_other, || format!("captured {token:?} of {sent:?}"))
}

/// The jar holds what a list of the last ones set would hold, and its field reads back as that.
fn jar(cookies: &[(String, String)]) -> Result<(), Broken> {
    let (mut jar, mut expected) = (CookieJar::default(), Vec::<(&str, &str)>::new());
    for (name, value) in cookies {
        jar.set(name, value);
        let place = expected.iter().position(|(known, _)| known == name);
        match place {
            _ if !value.is_empty() && name.len() + value.len() > COOKIE_BYTES_MAX => {}
            Some(place) if value.is_empty() => drop(expected.remove(place)),
            Some(place) => expected[place].1 = value,
            None if value.is_empty() => {}
            None => expected.push((name, value)),
        }
        if expected.len() > COOKIES_MAX {
            expected.remove(0);
        }
    }
    let mut field = String::new();
    jar.render(&mut field);
    let back: Vec<(&str, &str)> =
        field.split("; ").filter(|_| !field.is_empty()).filter_map(|pair| pair.split_once('=')).collect();
    Broken::unless(back == expected && !field.contains(['\r', '\n', '\0']), || {
        format!("{field:?} instead of {expected:?}")
    })
}

fn one_begins_the_other(a: &[u8], b: &[u8]) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

fn has(body: &[u8], text: &[u8]) -> bool {
    body.windows(text.len()).any(|part| part == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "HTTP/1.1 200 OK\r\nX-Token: t\r\nSet-Cookie: sid=1; Path=/\r\nContent-Length: ";

    fn input(choice: u8, body: &str) -> Vec<u8> {
        [&[choice], format!("{HEAD}{}\r\n\r\n{body}", body.len()).as_bytes()].concat()
    }

    #[test]
    fn right_and_wrong_answers_hold() {
        for (choice, body, is_right) in [
            (0, "okay \"id\"", true),
            (0, "ok \"id\"", false),
            (1, "{\"n\": 1.0, \"items\": [{\"id\": 7}]}", true),
            (1, "{\"n\": 2}", false),
            (2, "token=abc", true),
            (2, "{}", false),
            (3, "hello", true),
            (3, "hellO", false),
        ] {
            let input = input(choice, body);
            assert_eq!(check(&input), Ok(()), "{body}");
            let known = judge(&CASES[usize::from(choice)].check, &input[1..], &[]);
            assert_eq!(known.judged == Some(Judged::Right), is_right, "{body}: {known:?}");
        }
        let captured = judge(&CASES[2].check, &input(2, "token=abc")[1..], &[]).captured;
        let values: Vec<&[u8]> = captured.iter().map(|(_, value)| value.as_slice()).collect();
        assert_eq!(values, [&b"t"[..], b"1", b"none", b"abc"]);
    }

    #[test]
    fn judgers_that_err_are_caught() {
        let usual = input(0, "okay \"id\"");
        let spoils: [fn(&mut Known, usize); 5] = [
            |known, cuts| known.judged = known.judged.filter(|_| cuts < 2),
            |known, _| known.judged = Some(Judged::Failed(0)),
            |known, _| known.judged = Some(Judged::UnexpectedStatus),
            |known, _| known.cookies.push(("a".to_owned(), "b;c".to_owned())),
            |known, _| known.captured.push((1, vec![0; CAPTURED_BYTES_MAX + 1])),
        ];
        for (index, spoil) in spoils.into_iter().enumerate() {
            assert_eq!(check(&usual), Ok(()));
            let spoilt = move |check: &Check, bytes: &[u8], cuts: &[usize]| {
                let mut known = judge(check, bytes, cuts);
                spoil(&mut known, cuts.len());
                known
            };
            assert!(check_with(&usual, &spoilt).is_err(), "{index}");
        }
    }
}
