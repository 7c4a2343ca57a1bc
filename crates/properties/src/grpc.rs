//! Answers of gRPC: messages are the same in any split and bounded, and what is read of status and metadata is what stands
//! there.
//!
//! Input: one byte (lowest bit: whether a coding was named; all of it: the split), one byte with the length of a text, the
//! text, which is tried as status, words and metadata, and then the body.

use crate::Broken;
use crate::read::cuts;
use wire::Header;
use wire::grpc::{self, Code, Fault, MESSAGE_BYTES_MAX, Messages, Part};

/// Longer bodies are not read byte by byte.
const SINGLE_BYTES_MAX: usize = 1024;
/// Most bytes of a status' words.
const WORDS_BYTES_MAX: usize = 64;

/// What is to be seen of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Whole messages, and at the end one that is not.
    pub messages: Vec<Vec<u8>>,
    /// Their lengths as they were announced.
    pub lengths: Vec<u32>,
    /// How many are whole.
    pub whole: u32,
    /// How the body broke, or that it ended within a message.
    pub fault: Option<Fault>,
}

/// Reads a body cut at places; the flag says whether a coding was named.
pub type Reader = dyn Fn(&[u8], &[usize], bool) -> Seen;

/// The property of the target `grpc`.
///
/// # Errors
/// What is seen depends on the split, grows beyond its bounds, or is not what stands there.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &read)
}

/// [`check`] of any reader of bodies.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], reader: &Reader) -> Result<(), Broken> {
    let (choice, rest) = input.split_first().map_or((0, input), |(choice, rest)| (*choice, rest));
    let (length, rest) = rest.split_first().map_or((0, rest), |(length, rest)| (usize::from(*length), rest));
    let (text, body) = rest.split_at(length.min(rest.len()));
    let is_coded = choice & 1 == 1;
    let whole = reader(body, &[], is_coded);
    let mut splits = vec![cuts(body.len(), choice)];
    if body.len() <= SINGLE_BYTES_MAX {
        splits.push((0..body.len()).collect());
    }
    for cuts in splits {
        let got = reader(body, &cuts, is_coded);
        Broken::unless(got == whole, || format!("cut at {cuts:?}: {got:?}, whole: {whole:?}"))?;
    }
    bounded(&whole, body)?;
    status(text)?;
    words(text)?;
    metadata(text)
}

fn bounded(seen: &Seen, body: &[u8]) -> Result<(), Broken> {
    let bytes: usize = seen.messages.iter().map(Vec::len).sum();
    let fits = bytes + 5 * seen.lengths.len() <= body.len() && seen.messages.len() == seen.lengths.len();
    Broken::unless(fits, || format!("more than the body has: {seen:?}"))?;
    let whole = seen.messages.iter().zip(&seen.lengths).take(seen.whole as usize);
    let are_whole = whole.clone().count() == seen.whole as usize
        && whole.clone().all(|(message, length)| message.len() == *length as usize);
    Broken::unless(are_whole, || format!("not as long as said: {seen:?}"))?;
    let longest = seen.lengths.iter().copied().max().unwrap_or_default();
    Broken::unless(longest <= MESSAGE_BYTES_MAX, || format!("a message of {longest} bytes"))?;
    let is_open = seen.whole as usize != seen.messages.len();
    Broken::unless(!is_open || seen.fault == Some(Fault::Cut), || format!("open without a fault: {seen:?}"))
}

/// A status is what its digits say.
fn status(text: &[u8]) -> Result<(), Broken> {
    let fields = [Header { name: "grpc-status", value: text }];
    let found = grpc::status(&fields).map(|status| status.map(|status| status.code));
    let digits = std::str::from_utf8(text)
        .ok()
        .filter(|text| (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse::<u64>().ok());
    let expected = match number {
        None => Err(Fault::BadStatus),
        Some(number) => {
            let code = u8::try_from(number).ok().and_then(Code::of_number);
            Ok(Some(code.unwrap_or(Code::UNKNOWN)))
        }
    };
    Broken::unless(found == expected, || format!("status {text:?}: {found:?}, expected {expected:?}"))
}

/// Words never grow.
fn words(text: &[u8]) -> Result<(), Broken> {
    let mut out = Vec::new();
    grpc::push_message(text, WORDS_BYTES_MAX, &mut out);
    let fits = out.len() <= text.len().min(WORDS_BYTES_MAX);
    Broken::unless(fits, || format!("{} bytes of words from {text:?}", out.len()))?;
    let is_plain = !text.contains(&b'%') && text.len() <= WORDS_BYTES_MAX;
    Broken::unless(!is_plain || out == text, || format!("plain words {text:?} became {out:?}"))
}

/// Values that pass are fit for a field, and pass again unchanged.
fn metadata(text: &[u8]) -> Result<(), Broken> {
    let text = String::from_utf8_lossy(text);
    for name in ["x", "x-bin", &*text] {
        let Ok(value) = grpc::metadata(name, &text) else { continue };
        let fits = value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && !value.starts_with(' ');
        Broken::unless(fits, || format!("metadata `{name}` has the value {value:?}"))?;
        let again = grpc::metadata(name, &value);
        Broken::unless(again.as_ref() == Ok(&value), || format!("{value:?} became {again:?}"))?;
    }
    Ok(())
}

/// What `wire` makes of a body.
#[must_use]
pub fn read(body: &[u8], cuts: &[usize], is_coded: bool) -> Seen {
    let (mut messages, mut seen) = (Messages::default(), Seen::default());
    let mut bounds = vec![0, body.len()];
    bounds.extend(cuts.iter().map(|cut| cut % (body.len() + 1)));
    bounds.sort_unstable();
    for pair in bounds.windows(2) {
        if seen.fault.is_none() {
            let read = messages.feed(&body[pair[0]..pair[1]], is_coded, |part| match part {
                Part::Begin(length) => {
                    seen.lengths.push(length);
                    seen.messages.push(Vec::new());
                }
                Part::Bytes(bytes) => {
                    if let Some(open) = seen.messages.last_mut() {
                        open.extend_from_slice(bytes);
                    }
                }
                Part::End => seen.whole += 1,
            });
            seen.fault = read.err();
        }
    }
    seen.fault = seen.fault.or(messages.end().err());
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Status 0, a whole message and half of one.
    const ANSWER: &[u8] = b"\x06\x010\0\0\0\0\x02hi\0\0\0\0\x09x";

    #[test]
    fn messages_are_seen() {
        assert_eq!(check(ANSWER), Ok(()));
        let seen = read(&ANSWER[3..], &[], false);
        assert_eq!((seen.whole, seen.fault), (1, Some(Fault::Cut)));
        assert_eq!(seen.messages, [b"hi".to_vec(), b"x".to_vec()]);
    }

    #[test]
    fn readers_that_are_wrong_are_caught() {
        let caught = |change: fn(&mut Seen, &[usize])| {
            check_with(ANSWER, &move |bytes, cuts, is_coded| {
                let mut seen = read(bytes, cuts, is_coded);
                change(&mut seen, cuts);
                seen
            })
            .is_err()
        };
        assert!(!caught(|_, _| {}));
        assert!(caught(|seen, cuts| seen.whole += u32::from(cuts.len() > 1)));
        assert!(caught(|seen, _| seen.whole = 2));
        assert!(caught(|seen, _| seen.messages[0].clear()));
        assert!(caught(|seen, _| seen.lengths[1] = u32::MAX));
        assert!(caught(|seen, _| seen.messages[1] = vec![0; 1_000]));
        assert!(caught(|seen, _| seen.fault = None));
    }
}
