//! What one connection says: requests and their answers, matched in order.
//!
//! Invariant: an exchange is reported once, when its request and its answer are whole or its connection has ended.

use crate::request::{Request, RequestReader, Seen};
use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime};
use wire::{Feed, Header, ResponseParser, Visit};

/// Requests that wait for their answers; a client that sends more is not read any further.
const OPEN_MAX: usize = 1_024;

/// A request and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// When its first byte came, since 1970.
    pub(crate) at: Duration,
    pub(crate) request: Request,
    /// Absent where the connection ended before an answer.
    pub(crate) answer: Option<Answer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Of the body, without its framing.
    pub(crate) bytes: u64,
    /// From the request's first byte to the answer's last.
    pub(crate) took: Duration,
}

/// A request whose answer is not whole.
#[derive(Debug)]
struct Waiting {
    at: Duration,
    began: Instant,
    is_head: bool,
    request: Option<Request>,
    answer: Option<Answer>,
}

/// Both directions of a connection.
#[derive(Debug)]
pub(crate) struct Conversation {
    requests: RequestReader,
    answers: ResponseParser,
    waiting: VecDeque<Waiting>,
    /// Answers of the front that are whole, so that the parser is at the next.
    answered: usize,
    is_answering: bool,
    seen: Head,
    /// It speaks something else, or too much.
    pub(crate) is_lost: bool,
}

#[derive(Debug, Default)]
struct Head {
    status: u16,
    bytes: u64,
}

impl Visit for Head {
    fn head(&mut self, status: u16, _: &[Header<'_>]) {
        self.status = status;
    }

    fn body(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
    }
}

impl Conversation {
    /// Keeps the first `kept` bytes of each request's body.
    pub(crate) fn new(kept: usize) -> Self {
        Self {
            requests: RequestReader::new(kept),
            answers: ResponseParser::default(),
            waiting: VecDeque::new(),
            answered: 0,
            is_answering: false,
            seen: Head::default(),
            is_lost: false,
        }
    }

    /// Bytes from the client, before they are passed on.
    pub(crate) fn client_sent(&mut self, bytes: &[u8], out: &mut Vec<Exchange>) {
        if self.is_lost {
            return;
        }
        let (waiting, now) = (&mut self.waiting, (SystemTime::now(), Instant::now()));
        let result = self.requests.feed(bytes, &mut |seen| match seen {
            Seen::First => waiting.push_back(Waiting {
                at: now.0.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
                began: now.1,
                is_head: false,
                request: None,
                answer: None,
            }),
            Seen::Head { is_head } => {
                if let Some(last) = waiting.back_mut() {
                    last.is_head = is_head;
                }
            }
            Seen::Whole(request) => {
                if let Some(last) = waiting.back_mut() {
                    last.request = Some(request);
                }
            }
        });
        self.is_lost = result.is_err() || self.waiting.len() > OPEN_MAX;
        self.report(out);
    }

    /// Bytes from the target.
    pub(crate) fn target_sent(&mut self, mut bytes: &[u8], out: &mut Vec<Exchange>) {
        while !self.is_lost && !bytes.is_empty() {
            let Some(front) = self.waiting.get_mut(self.answered) else {
                // An answer that nobody asked for, such as a 408 before the connection closes.
                self.is_lost = true;
                return;
            };
            if !self.is_answering {
                self.answers.begin(front.is_head);
                (self.is_answering, self.seen) = (true, Head::default());
            }
            match self.answers.feed(bytes, &mut self.seen) {
                Ok(Feed::NeedMore) => return,
                Ok(Feed::Complete { taken, .. }) => {
                    bytes = &bytes[taken..];
                    self.complete(out);
                }
                Err(_) => self.is_lost = true,
            }
        }
    }

    /// The target has closed its side: an answer may end with it.
    pub(crate) fn target_ended(&mut self, out: &mut Vec<Exchange>) {
        if self.is_answering
            && !self.is_lost
            && self.answers.end_of_input().is_ok_and(|end| end == wire::Ended::Complete)
        {
            self.complete(out);
        }
    }

    /// The connection is over: requests without an answer are reported as such.
    pub(crate) fn ended(&mut self, out: &mut Vec<Exchange>) {
        self.report(out);
        for waiting in self.waiting.drain(..) {
            if let Some(request) = waiting.request {
                out.push(Exchange { at: waiting.at, request, answer: waiting.answer });
            }
        }
    }

    fn complete(&mut self, out: &mut Vec<Exchange>) {
        if let Some(front) = self.waiting.get_mut(self.answered) {
            let Head { status, bytes } = self.seen;
            front.answer = Some(Answer { status, bytes, took: front.began.elapsed() });
        }
        self.answered += 1;
        self.is_answering = false;
        self.report(out);
    }

    /// Takes those from the front that are whole.
    fn report(&mut self, out: &mut Vec<Exchange>) {
        while let Some(front) = self.waiting.front_mut()
            && front.answer.is_some()
            && let Some(request) = front.request.take()
        {
            out.push(Exchange { at: front.at, request, answer: front.answer });
            self.waiting.pop_front();
            self.answered -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Target of a request; status and length of its answer.
    type Shown = (String, Option<(u16, u64)>);

    /// Bytes of client and target in turn.
    fn talk(turns: &[(bool, &[u8])]) -> (Vec<Shown>, bool) {
        let (mut both, mut out) = (Conversation::new(100), Vec::new());
        for (is_client, bytes) in turns {
            if *is_client {
                both.client_sent(bytes, &mut out);
            } else {
                both.target_sent(bytes, &mut out);
            }
        }
        both.target_ended(&mut out);
        both.ended(&mut out);
        let shown = |one: &Exchange| {
            (one.request.target.clone(), one.answer.map(|answer| (answer.status, answer.bytes)))
        };
        (out.iter().map(shown).collect(), both.is_lost)
    }

    #[test]
    fn answers_belong_to_requests_in_order() {
        let (found, lost) = talk(&[
            (true, b"GET /a HTTP/1.1\r\n\r\nHEAD /b HTTP/1.1\r\n\r\nPOST /c HTTP/1.1\r\nContent-Length: 2\r\n\r\nx"),
            (false, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 413 Too"),
            (false, b" Large\r\n\r\nuntil the end"),
            (true, b"y"),
        ]);
        let wanted = [("/a", Some((200, 3))), ("/b", Some((204, 0))), ("/c", Some((413, 13)))];
        assert_eq!(found, wanted.map(|(target, answer)| (target.to_owned(), answer)));
        assert!(!lost);
    }

    #[test]
    fn what_has_no_answer_says_so_and_other_protocols_are_not_read() {
        let (found, _) = talk(&[(true, b"GET /a HTTP/1.1\r\n\r\nGET /half HTTP/1.1\r\n")]);
        assert_eq!(found, [("/a".to_owned(), None)], "half a request is none");
        for turns in [
            &[(true, &b"\x16\x03\x01"[..])][..],
            &[(false, b"220 mail ready\r\n")],
            &[(true, b"GET / HTTP/1.1\r\n\r\n"), (false, b"nonsense\r\n\r\n")],
        ] {
            assert!(talk(turns).1, "{turns:?}");
        }
    }
}
