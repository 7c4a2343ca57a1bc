//! Reading one answer through `wire` in any split, and everything that can be seen of it.

use units::Seed;
use wire::{Ended, Feed, Header, Malformed, ResponseParser, Visit};

/// Everything that a parser shows of an answer, up to its end or error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Final status; 0 where none was shown.
    pub status: u16,
    /// Header fields of the final answer.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Body without its framing.
    pub body: Vec<u8>,
    /// How often a header section was shown; at most once.
    pub heads: u32,
}

impl Visit for Seen {
    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        self.status = status;
        self.heads += 1;
        self.headers = headers.iter().map(|field| (field.name.to_owned(), field.value.to_vec())).collect();
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Complete after so many bytes of the whole.
    Complete {
        /// Bytes from the start.
        taken: usize,
        /// Whether the connection may serve another request.
        keep_alive: bool,
    },
    /// The connection ended first.
    Closed(Ended),
    /// Not HTTP/1.1.
    Malformed(Malformed),
}

/// Reads one answer: bytes, where they are cut (ascending, from 0 to the length), whether it answers HEAD.
pub type Reader = dyn Fn(&[u8], &[usize], bool) -> (Seen, End);

/// Feeds `bytes` to `wire`'s parser, cut at `cuts`, and then closes the connection.
#[must_use]
pub fn read(bytes: &[u8], cuts: &[usize], answers_head: bool) -> (Seen, End) {
    let mut parser = ResponseParser::default();
    let mut seen = Seen::default();
    parser.begin(answers_head);
    let mut from = 0;
    for to in cuts.iter().copied().chain([bytes.len()]) {
        match parser.feed(&bytes[from..to], &mut seen) {
            Ok(Feed::NeedMore) => from = to,
            Ok(Feed::Complete { taken, keep_alive }) => {
                return (seen, End::Complete { taken: from + taken, keep_alive });
            }
            Err(malformed) => return (seen, End::Malformed(malformed)),
        }
    }
    let end = parser.end_of_input().map_or_else(End::Malformed, End::Closed);
    (seen, end)
}

/// Up to 8 cuts of `length` bytes, drawn from `seed`; ascending.
#[must_use]
pub fn cuts(length: usize, seed: u8) -> Vec<usize> {
    let mut rng = Seed(seed.into()).derive("cuts", length as u64).rng();
    let count = 1 + rng.below(8);
    let mut cuts: Vec<usize> = (0..count).map(|_| rng.below(length as u64 + 1) as usize).collect();
    cuts.sort_unstable();
    cuts
}
