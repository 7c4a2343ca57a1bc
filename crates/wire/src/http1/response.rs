//! The incremental response parser: one answer at a time, fed with whatever the socket gave.
//!
//! The usual answer arrives whole and is parsed in place; only a header section that is split is copied. The hot
//! path allocates nothing and does not look at a byte of the body itself.

use super::chunked::Chunked;
use super::head::{
    Framing, HEAD_BYTES_MAX, Head, Header, is_later_minor, lower_minor, parse_head, show_fields,
};
use crate::Malformed;

/// Interim answers before the final one.
const INTERIM_MAX: u32 = 32;

/// What a parser shows of an answer while it reads it.
pub trait Visit {
    /// The final status and its header fields.
    fn head(&mut self, status: u16, headers: &[Header<'_>]);
    /// The next part of the body, without its framing.
    fn body(&mut self, bytes: &[u8]);
    /// The fields after a chunked body, where there are any and no more than 1,024.
    fn trailers(&mut self, _fields: &[Header<'_>]) {}
}

/// How far a call of [`ResponseParser::feed`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    /// All bytes were taken; the answer goes on.
    NeedMore,
    /// The answer is complete after `taken` bytes of this input; the rest does not belong to it.
    Complete {
        /// Bytes of this input that belong to the answer.
        taken: usize,
        /// Whether the connection may serve another request.
        keep_alive: bool,
    },
}

/// What the end of the connection means for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The answer was delimited by the end of the connection and is complete.
    Complete,
    /// The answer is cut off, or none had begun.
    Premature,
}

/// Reads answers from bytes.
#[derive(Debug, Default)]
pub struct ResponseParser {
    state: State,
    /// A header section that came in parts, or has a later minor version, which is rewritten here; later the trailer
    /// fields.
    stash: Vec<u8>,
    keep_alive: bool,
    answers_head: bool,
    interim: u32,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Head,
    Length(u64),
    Chunked(Chunked),
    UntilClose,
}

impl ResponseParser {
    /// Makes ready for the answer to a new request; `answers_head` where its method is HEAD.
    #[inline]
    pub fn begin(&mut self, answers_head: bool) {
        self.state = State::Head;
        self.stash.clear();
        self.interim = 0;
        self.answers_head = answers_head;
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// [`Malformed`] when they cannot be part of an HTTP/1.1 answer; the connection is then of no more use.
    #[inline]
    pub fn feed(&mut self, input: &[u8], visit: &mut impl Visit) -> Result<Feed, Malformed> {
        let mut at = 0;
        while at < input.len() {
            let rest = &input[at..];
            let complete = match &mut self.state {
                State::Head => match self.feed_head(rest, visit)? {
                    None => return Ok(Feed::NeedMore),
                    Some((taken, complete)) => {
                        at += taken;
                        complete
                    }
                },
                State::Length(left) => {
                    let take = (*left).min(rest.len() as u64) as usize;
                    visit.body(&rest[..take]);
                    at += take;
                    *left -= take as u64;
                    *left == 0
                }
                State::Chunked(chunked) => {
                    let stash = &mut self.stash;
                    let (taken, complete) = chunked.feed(rest, &mut |bytes| visit.body(bytes), stash)?;
                    at += taken;
                    if complete && !stash.is_empty() {
                        show_fields(stash, |fields| visit.trailers(fields));
                    }
                    complete
                }
                State::UntilClose => {
                    visit.body(rest);
                    return Ok(Feed::NeedMore);
                }
            };
            if complete {
                return Ok(Feed::Complete { taken: at, keep_alive: self.keep_alive });
            }
        }
        Ok(Feed::NeedMore)
    }

    /// The connection ended.
    ///
    /// # Errors
    /// [`Malformed`] when a header section that never ended was not one.
    pub fn end_of_input(&mut self) -> Result<Ended, Malformed> {
        match self.state {
            State::UntilClose => Ok(Ended::Complete),
            State::Head if !self.stash.is_empty() => {
                parse_head(&self.stash, self.answers_head, &mut |_, _| {}).map(|_| Ended::Premature)
            }
            _ => Ok(Ended::Premature),
        }
    }

    /// Reads the header section. Returns the bytes taken and whether the answer is complete with it.
    #[inline]
    fn feed_head(
        &mut self,
        input: &[u8],
        visit: &mut impl Visit,
    ) -> Result<Option<(usize, bool)>, Malformed> {
        let mut show = |status: u16, headers: &[Header<'_>]| {
            if status >= 200 {
                visit.head(status, headers);
            }
        };
        let (head, taken) = if self.stash.is_empty() && !is_later_minor(input) {
            match parse_head(input, self.answers_head, &mut show)? {
                Some(parsed) => parsed,
                None => {
                    self.stash.extend_from_slice(input);
                    return Ok(None);
                }
            }
        } else {
            let before = self.stash.len();
            // No more than a header section's worth is copied: the rest is body and stays where it is.
            let room = HEAD_BYTES_MAX.saturating_sub(before).min(input.len());
            self.stash.extend_from_slice(&input[..room]);
            lower_minor(&mut self.stash);
            // A section can only end, and a line only be judged, at a line feed; this keeps slow drips cheap.
            if !input[..room].contains(&b'\n') && self.stash.len() < HEAD_BYTES_MAX {
                return Ok(None);
            }
            match parse_head(&self.stash, self.answers_head, &mut show)? {
                Some((head, length)) => {
                    self.stash.clear();
                    (head, length - before)
                }
                None => return Ok(None),
            }
        };
        self.after_head(head).map(|complete| Some((taken, complete)))
    }

    /// Moves to the body that `head` announces. Returns whether there is none.
    #[inline]
    fn after_head(&mut self, head: Head) -> Result<bool, Malformed> {
        match head.status {
            101 => return Err(Malformed::Upgrade),
            100..200 => {
                self.interim += 1;
                return if self.interim > INTERIM_MAX { Err(Malformed::TooManyInterim) } else { Ok(false) };
            }
            _ => {}
        }
        self.keep_alive = head.keep_alive;
        self.state = match head.framing {
            Framing::Empty => return Ok(true),
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Chunked(Chunked::new()),
            Framing::UntilClose => State::UntilClose,
        };
        Ok(false)
    }
}
