//! The judgement of one answer while its bytes pass by.
//!
//! Hot path: for a plain check a right answer is judged without touching the notes, without allocation.

use super::Check;
use super::coding::Coding;
use super::content::{Content, Seen};
use super::notes::Notes;
use wire::grpc::{Code, Fault};
use wire::{Header, Visit};

/// The judgement of one answer in progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answer {
    number: u64,
    pub(super) body_bytes: usize,
    status: u16,
    /// The first check of a header field that failed.
    pub(super) failed_header: Option<u16>,
    status_is_right: bool,
    body_differs: bool,
    /// Whether the beginning of the body at least goes into the notes.
    is_kept: bool,
    /// Whether the body is put to the checks of content.
    pub(super) is_examined: bool,
    /// Whether the body is decoded before it is looked at.
    is_coded: bool,
}

/// What an answer turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// As it should be.
    Right,
    /// Complete, with a status that is not expected.
    UnexpectedStatus,
    /// Complete, with a body that is not the exact one.
    WrongBody,
    /// Complete, and this check failed; [`Check::describe`] tells which it is.
    Failed(u16),
    /// A call of gRPC that ended with this status, which is not accepted.
    Refused(Code),
    /// An answer that is not gRPC as it should be.
    Broken(Fault),
}

impl Answer {
    /// An answer to the request of this number. The number decides whether a check with `sample` examines it, so it
    /// must be unique in the load and should not depend on the number of workers.
    #[inline]
    #[must_use]
    pub fn to(number: u64) -> Self {
        Self { number, ..Self::default() }
    }

    /// The final status; 0 before it is known.
    #[inline]
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Length of the body so far as it came: without its framing, with its content coding.
    #[inline]
    #[must_use]
    pub const fn body_bytes(&self) -> usize {
        self.body_bytes
    }

    /// Counts a part of the body that is judged elsewhere.
    #[inline]
    pub const fn count_body(&mut self, bytes: usize) {
        self.body_bytes += bytes;
    }

    /// Whether of the header section only the status mattered, so that one with the same status and the same fields would be
    /// judged alike without them.
    #[inline]
    #[must_use]
    pub const fn is_judged_by_status(&self, check: &Check) -> bool {
        self.status_is_right && !self.is_coded && check.content.is_none()
    }

    /// Length of what the checks read: of the decoded body where it was coded.
    pub(super) fn plain_bytes(&self, notes: &Notes) -> usize {
        if self.is_coded { notes.decoded_bytes().unwrap_or(0) } else { self.body_bytes }
    }

    /// Connects this answer to the parser. `notes` are those of its connection, the same for all of the answer.
    #[inline]
    pub fn judge<'a>(&'a mut self, check: &'a Check, notes: &'a mut Notes) -> Judge<'a> {
        Judge { answer: self, check, notes }
    }

    /// The judgement once the answer is complete: of the status first, then the exact body, then the checks in the
    /// order of their numbers. After it the notes hold the captured values, the cookies and the beginning of a
    /// wrong answer's body.
    #[inline]
    #[must_use]
    pub fn finish(&self, check: &Check, notes: &mut Notes) -> Judged {
        if !self.status_is_right {
            notes.forget_captured();
            return Judged::UnexpectedStatus;
        }
        if self.is_coded
            && check.body.is_some()
            && let Some(undecoded) = notes.undecoded()
        {
            notes.forget_captured();
            return Judged::Failed(undecoded.number());
        }
        let bytes = if check.decodes_body { self.plain_bytes(notes) } else { self.body_bytes };
        match &check.body {
            Some(body) if self.body_differs || bytes != body.len() => self.wrong_body(body, notes),
            _ => match &check.content {
                None => Judged::Right,
                Some(content) => self.content(content, notes),
            },
        }
    }

    #[cold]
    fn wrong_body(&self, expected: &[u8], notes: &mut Notes) -> Judged {
        if !self.is_kept {
            // It ended too early, and was right until then.
            let right = self.plain_bytes(notes);
            notes.begin();
            notes.keep_beginning(&expected[..right.min(expected.len())]);
        }
        notes.forget_captured();
        Judged::WrongBody
    }

    #[inline(never)]
    fn content(&self, content: &Content, notes: &mut Notes) -> Judged {
        let seen = Seen {
            failed_header: self.failed_header,
            body_bytes: self.body_bytes,
            plain_bytes: self.plain_bytes(notes),
            is_examined: self.is_examined,
        };
        match content.failure(seen, notes) {
            None => Judged::Right,
            Some(number) => {
                notes.forget_captured();
                Judged::Failed(number)
            }
        }
    }
}

/// Judges the bytes of one answer as the parser shows them.
#[derive(Debug)]
pub struct Judge<'a> {
    answer: &'a mut Answer,
    check: &'a Check,
    notes: &'a mut Notes,
}

impl Visit for Judge<'_> {
    #[inline]
    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        self.answer.status = status;
        self.answer.status_is_right = self.check.status.contains(status);
        // Notes that are in use hold something of the answer before this one.
        if self.check.content.is_some() || !self.answer.status_is_right || !self.notes.is_unused() {
            self.take_notes(headers);
        }
        if self.answer.status_is_right && self.reads_body() {
            self.expect_coding(headers);
        }
    }

    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        let from = self.answer.body_bytes;
        self.answer.body_bytes += bytes.len();
        if self.answer.is_coded {
            if !self.check.decodes_body {
                self.compare(from, bytes);
            }
            self.decode(bytes);
        } else {
            self.plain(from, bytes);
        }
    }
}

impl Judge<'_> {
    /// Bytes of the body that begin at `from`, as the checks want them.
    #[inline]
    fn plain(&mut self, from: usize, bytes: &[u8]) {
        if !self.answer.is_coded || self.check.decodes_body {
            self.compare(from, bytes);
        }
        if self.answer.is_kept {
            self.keep(bytes);
        }
    }

    /// Compares bytes that begin at `from` with the exact body, where there is one.
    #[inline]
    fn compare(&mut self, from: usize, bytes: &[u8]) {
        if let Some(expected) = &self.check.body
            && !self.answer.body_differs
            && expected.get(from..from + bytes.len()) != Some(bytes)
        {
            self.differs(from);
        }
    }

    /// Whether anything looks into the body of this answer.
    #[inline]
    fn reads_body(&self) -> bool {
        let content = self.check.content.as_ref();
        self.check.body.is_some() && self.check.decodes_body
            || content.is_some_and(|content| content.reads_body(self.answer.is_examined))
    }

    /// Makes ready for a coded body.
    #[inline(never)]
    fn expect_coding(&mut self, headers: &[Header<'_>]) {
        if let Some(coding) = Coding::of(headers) {
            self.answer.is_coded = true;
            self.notes.decode(coding);
        }
    }

    #[inline(never)]
    fn decode(&mut self, bytes: &[u8]) {
        let Some(mut decoder) = self.notes.take_decoder() else { return };
        let mut at = usize::try_from(decoder.decoded_bytes()).unwrap_or(usize::MAX);
        decoder.push(bytes, &mut |part| {
            self.plain(at, part);
            at += part.len();
        });
        self.notes.give_decoder(decoder);
    }

    #[inline(never)]
    fn take_notes(&mut self, headers: &[Header<'_>]) {
        self.notes.clear();
        let Some(content) = &self.check.content else {
            self.answer.is_kept = !self.answer.status_is_right;
            return;
        };
        self.notes.begin();
        self.answer.is_kept = true;
        self.answer.is_examined = self.answer.status_is_right && content.examines(self.answer.number);
        if self.answer.is_examined {
            content.expect(self.notes);
        }
        self.answer.failed_header = content.failed_header(headers);
        content.take_from_headers(headers, self.notes);
    }

    /// The first difference of a body: what came before it was as expected.
    #[cold]
    fn differs(&mut self, from: usize) {
        self.answer.body_differs = true;
        if !self.answer.is_kept {
            self.answer.is_kept = true;
            self.notes.begin();
            let expected = self.check.body.as_deref().unwrap_or_default();
            self.notes.keep_beginning(&expected[..from.min(expected.len())]);
        }
    }

    #[inline(never)]
    fn keep(&mut self, bytes: &[u8]) {
        let Some(content) = &self.check.content else { return self.notes.keep_beginning(bytes) };
        if self.answer.is_examined {
            content.follow(bytes, self.notes);
        }
        if self.answer.status_is_right && content.needs_body(self.answer.is_examined) {
            self.notes.keep_body(bytes);
        } else {
            self.notes.keep_beginning(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(check: &Check, status: u16, parts: &[&str]) -> (Judged, Notes) {
        let (mut answer, mut notes) = (Answer::default(), Notes::default());
        let mut judge = answer.judge(check, &mut notes);
        judge.head(status, &[]);
        parts.iter().for_each(|part| judge.body(part.as_bytes()));
        let judged = answer.finish(check, &mut notes);
        (judged, notes)
    }

    #[test]
    fn an_answer_in_progress_stays_small() {
        assert!(size_of::<Answer>() <= 40, "{} bytes", size_of::<Answer>());
        assert!(size_of::<Notes>() <= 32, "{} bytes", size_of::<Notes>());
    }

    #[test]
    fn status_sets() {
        let usual = Check::new(&[], None);
        let only = Check::new(&[404, 999], None);
        for (status, in_usual, in_only) in [
            (200, true, false),
            (399, true, false),
            (400, false, false),
            (404, false, true),
            (999, false, true),
        ] {
            assert_eq!(judge(&usual, status, &["x"]).0 == Judged::Right, in_usual, "{status}");
            assert_eq!(judge(&only, status, &["x"]).0 == Judged::Right, in_only, "{status}");
        }
        assert_eq!(judge(&usual, u16::MAX, &[]).0, Judged::UnexpectedStatus);
    }

    #[test]
    fn bodies_are_compared_in_any_split() {
        let check = Check::new(&[], Some(b"hello".to_vec()));
        for (parts, expected) in [
            (&["hello"][..], Judged::Right),
            (&["he", "", "llo"], Judged::Right),
            (&["hel"], Judged::WrongBody),
            (&["hello", "!"], Judged::WrongBody),
            (&["hellO"], Judged::WrongBody),
            (&["he", "xxx", "llo"], Judged::WrongBody),
            (&[], Judged::WrongBody),
        ] {
            let (judged, notes) = judge(&check, 200, parts);
            assert_eq!(judged, expected, "{parts:?}");
            let kept = if judged == Judged::Right { String::new() } else { parts.concat() };
            assert_eq!(notes.beginning(), kept.as_bytes(), "{parts:?}");
        }
        assert_eq!(judge(&check, 500, &["x"]).0, Judged::UnexpectedStatus, "the status is named first");
    }

    #[test]
    fn a_plain_check_takes_no_notes_of_a_right_answer_and_leaves_none_of_another() {
        let check = Check::new(&[200], Some(b"ok".to_vec()));
        let (judged, notes) = judge(&check, 200, &["o", "k"]);
        assert_eq!((judged, notes.is_unused()), (Judged::Right, true));

        let (_, mut notes) = judge(&check, 503, &["over", "load"]);
        assert_eq!(notes.beginning(), b"overload");
        let mut answer = Answer::default();
        let mut judge = answer.judge(&check, &mut notes);
        judge.head(200, &[]);
        judge.body(b"ok");
        assert_eq!(answer.finish(&check, &mut notes), Judged::Right);
        assert_eq!(notes.beginning(), b"");
    }
}
