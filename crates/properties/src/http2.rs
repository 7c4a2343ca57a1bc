//! The client's side of HTTP/2: the same in any split, bounded, and each request with one end at most.
//!
//! Input: one byte (lowest bit: whether the server's SETTINGS come before the rest; all of it: the split), then what the
//! connection gave. Six requests are open: two GET, a HEAD, a POST that waits for its window, one that was given up, and one
//! more GET.

use crate::Broken;
use crate::read::cuts;
use std::convert::Infallible;
use wire::http2::{
    Config, Connection, ErrorCode, Events, Fault, Http2, Place, Put, Refusal, Verdict, Windows,
};
use wire::{Framing, Header, Message, Piece};

/// Requests that are put on the connection.
const REQUESTS: u32 = 6;
/// The one that is given up.
const GIVEN_UP: Place = 4;
/// The server's SETTINGS: a first window of ten bytes, for bodies to wait.
const SETTINGS: &[u8] = b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\x0a";
/// Longer inputs are not read byte by byte.
const SINGLE_BYTES_MAX: usize = 1024;
/// What a frame of nine bytes can make us write: a frame for the stream and one for the connection, of at most 17 bytes.
const ANSWER_BYTES: usize = 2 * 17;
/// An index of one byte may say a field as large as the header table.
const FIELDS_A_BYTE: usize = 4096 + 64;

/// What is to be seen of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// All that was shown, in order, as texts; parts of a body that follow one another are joined.
    pub shown: Vec<(Place, String)>,
    /// Requests that have ended.
    pub ended: Vec<Place>,
    /// Something was shown of one that had ended.
    pub late: bool,
    /// Bytes of bodies.
    pub body_bytes: usize,
    /// Bytes of header fields and trailers.
    pub field_bytes: usize,
    /// Bytes written.
    pub out: Vec<u8>,
    /// Requests that are still open.
    pub open: u32,
    /// How it broke.
    pub fault: Option<Fault>,
}

/// Reads a connection's bytes, cut at places, after the server's SETTINGS or without.
pub type Reader = dyn Fn(&[u8], &[usize], bool) -> Seen;

impl Seen {
    fn show(&mut self, at: Place, what: String) {
        self.late |= self.ended.contains(&at);
        self.shown.push((at, what));
    }

    fn end(&mut self, at: Place, what: String) {
        self.show(at, what);
        self.ended.push(at);
    }

    fn count(&mut self, fields: &[Header<'_>]) -> String {
        self.field_bytes += fields.iter().map(|field| field.name.len() + field.value.len()).sum::<usize>();
        format!("{fields:?}")
    }
}

impl Events for Seen {
    fn head(&mut self, at: Place, status: u16, fields: &[Header<'_>]) -> Option<Verdict> {
        let fields = self.count(fields);
        self.show(at, format!("{status} {fields}"));
        Some(Verdict(u64::from(status)))
    }

    fn head_again(&mut self, at: Place, status: u16, verdict: Verdict) {
        self.show(at, format!("{status} again {verdict:?}"));
    }

    fn body(&mut self, at: Place, bytes: &[u8]) {
        self.body_bytes += bytes.len();
        let text = format!("{bytes:x?}");
        match self.shown.last_mut() {
            Some((place, before)) if *place == at && before.starts_with('[') => {
                before.pop();
                before.push_str(", ");
                before.push_str(&text[1..]);
            }
            _ => self.show(at, text),
        }
    }

    fn trailers(&mut self, at: Place, fields: &[Header<'_>]) {
        let fields = self.count(fields);
        self.show(at, format!("trailers {fields}"));
    }

    fn done(&mut self, at: Place) {
        self.end(at, "done".to_owned());
    }

    fn refused(&mut self, at: Place, why: Refusal) {
        self.end(at, format!("{why:?}"));
    }

    fn reset(&mut self, at: Place, code: ErrorCode) {
        self.end(at, format!("reset {code}"));
    }

    fn broken(&mut self, at: Place, fault: Fault) {
        self.end(at, format!("broken {fault}"));
    }
}

/// The property of the target `http2`.
///
/// # Errors
/// What is seen depends on the split, grows beyond its bounds, or contradicts itself.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &read)
}

/// [`check`] of any reader.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], reader: &Reader) -> Result<(), Broken> {
    let (choice, bytes) = input.split_first().map_or((0, input), |(choice, bytes)| (*choice, bytes));
    let is_established = choice & 1 == 1;
    let whole = reader(bytes, &[], is_established);
    let mut splits = vec![cuts(bytes.len(), choice)];
    if bytes.len() <= SINGLE_BYTES_MAX {
        splits.push((0..bytes.len()).collect());
    }
    for cuts in splits {
        let got = reader(bytes, &cuts, is_established);
        Broken::unless(got == whole, || format!("cut at {cuts:?}: {got:?}, whole: {whole:?}"))?;
    }
    consistent(&whole, is_established)?;
    bounded(&whole, bytes)
}

fn consistent(seen: &Seen, is_established: bool) -> Result<(), Broken> {
    Broken::unless(!seen.late, || format!("shown after the end: {seen:?}"))?;
    let mut places = seen.ended.clone();
    places.sort_unstable();
    places.dedup();
    Broken::unless(places.len() == seen.ended.len(), || format!("ended twice: {:?}", seen.ended))?;
    Broken::unless(!places.contains(&GIVEN_UP), || format!("given up, and ended: {:?}", seen.ended))?;
    let asked = if is_established { REQUESTS - 1 } else { 0 };
    Broken::unless(seen.open + places.len() as u32 == asked, || {
        format!("{asked} requests, {} open, {} ended", seen.open, places.len())
    })?;
    let says_goodbye = seen.out.len() >= 17 && seen.out[seen.out.len() - 17 + 3] == 7;
    Broken::unless(seen.fault.is_none() || says_goodbye, || format!("no GOAWAY: {seen:?}"))
}

fn bounded(seen: &Seen, bytes: &[u8]) -> Result<(), Broken> {
    let frames = bytes.len() / 9 + 1;
    Broken::unless(seen.body_bytes <= bytes.len(), || format!("{} bytes of body", seen.body_bytes))?;
    Broken::unless(seen.out.len() <= frames * ANSWER_BYTES + 17, || {
        format!("{} bytes written", seen.out.len())
    })?;
    Broken::unless(seen.field_bytes <= bytes.len() * FIELDS_A_BYTE, || {
        format!("{} bytes of fields", seen.field_bytes)
    })
}

/// What `wire` makes of the bytes.
#[must_use]
pub fn read(bytes: &[u8], cuts: &[usize], is_established: bool) -> Seen {
    let config = Config { streams_max: REQUESTS, windows: Windows::DEFAULT, ..Config::default() };
    let (mut connection, mut seen, mut out) = (Connection::new(config), Seen::default(), Vec::new());
    connection.hello(&mut out);
    if is_established {
        seen.fault = take_all(&mut connection, SETTINGS, &mut seen, &mut out);
        for place in 0..REQUESTS {
            let put = connection.put(place, &request(place), &mut out);
            assert!(matches!(put, Put::Whole | Put::Held), "there is room: {put:?}");
        }
        connection.cancel(GIVEN_UP, &mut out);
    }
    out.clear();
    let mut bounds = vec![0, bytes.len()];
    bounds.extend(cuts.iter().map(|cut| cut % (bytes.len() + 1)));
    bounds.sort_unstable();
    for pair in bounds.windows(2) {
        if seen.fault.is_none() {
            seen.fault = take_all(&mut connection, &bytes[pair[0]..pair[1]], &mut seen, &mut out);
        }
    }
    seen.open = connection.open();
    seen.out = out;
    seen
}

fn take_all(connection: &mut Connection, bytes: &[u8], seen: &mut Seen, out: &mut Vec<u8>) -> Option<Fault> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match connection.take(rest, seen, out) {
            Ok(taken) => rest = &rest[taken..],
            Err(fault) => return Some(fault),
        }
    }
    None
}

fn request(place: Place) -> Vec<u8> {
    let (method, body): (&str, &[u8]) = match place {
        2 => ("HEAD", b""),
        3 => ("POST", b"twenty bytes of body"),
        _ => ("GET", b""),
    };
    let literal = |text: &[u8]| [Piece::<Infallible>::Literal(text.to_vec())];
    Http2::prepare(&Message {
        method,
        target: &literal(b"/"),
        authority: "h",
        fields: &[],
        has_cookies: false,
        body: &literal(body),
        chunk_bytes: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A whole answer on stream 1, and half of one on stream 3.
    const ANSWERS: &[u8] =
        b"\x01\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x02\0\x01\0\0\0\x01hi\0\0\x01\x01\x04\0\0\0\x03\x88";

    #[test]
    fn answers_are_seen() {
        assert_eq!(check(ANSWERS), Ok(()));
        let seen = read(&ANSWERS[1..], &[], true);
        assert_eq!((seen.ended, seen.open, seen.body_bytes, seen.fault), (vec![0], 4, 2, None));
    }

    #[test]
    fn readers_that_are_wrong_are_caught() {
        let caught = |change: fn(&mut Seen, &[usize])| {
            check_with(ANSWERS, &move |bytes, cuts, is_established| {
                let mut seen = read(bytes, cuts, is_established);
                change(&mut seen, cuts);
                seen
            })
            .is_err()
        };
        assert!(!caught(|_, _| {}));
        assert!(caught(|seen, cuts| seen.body_bytes += usize::from(cuts.len() > 1)));
        assert!(caught(|seen, _| seen.ended.push(0)));
        assert!(caught(|seen, _| seen.open -= 1));
        assert!(caught(|seen, _| seen.late = true));
        assert!(caught(|seen, _| seen.fault = Some(Fault::Push)));
        assert!(caught(|seen, _| seen.out = vec![0; 10_000]));
        assert!(caught(|seen, _| seen.body_bytes = 1_000));
    }
}
