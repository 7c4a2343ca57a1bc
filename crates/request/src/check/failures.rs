//! The first answers that were not right, for people to look at.
//!
//! Invariants: bounded in number and in bytes, whatever a target sends; a full log costs one comparison. Logs of
//! several workers merge to the same answers in any order of merging.

use super::Check;
use super::answer::{Answer, Judged};
use super::notes::{BEGINNING_BYTES, Notes};
use schema::load::FailedAnswer;
use serde::{Deserialize, Serialize};
use units::Nanos;

/// Answers that are kept unless asked otherwise.
const ANSWERS_DEFAULT: usize = 10;

/// The first answers that were not right, in order of time.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct FailureLog {
    answers_max: usize,
    kept: Vec<Kept>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Kept {
    done_ns: u64,
    answer: FailedAnswer,
}

impl Default for FailureLog {
    /// Keeps the first 10.
    fn default() -> Self {
        Self::new(ANSWERS_DEFAULT)
    }
}

impl FailureLog {
    /// Keeps the first so many answers.
    #[must_use]
    pub const fn new(answers_max: usize) -> Self {
        Self { answers_max, kept: Vec::new() }
    }

    /// Notes an answer to `request` that was complete at `done` and turned out to be `judged`. Does nothing where it
    /// is right or the log is full. `notes` are those of its connection, as [`Answer::finish`] left them.
    #[inline]
    pub fn note(
        &mut self,
        request: &str,
        check: &Check,
        judged: Judged,
        answer: &Answer,
        notes: &Notes,
        done: Nanos,
    ) {
        if judged != Judged::Right && self.kept.len() < self.answers_max {
            self.keep(request, check.explain(judged, answer.status()), answer, notes.beginning(), done);
        }
    }

    #[cold]
    fn keep(&mut self, request: &str, check: String, answer: &Answer, beginning: &[u8], done: Nanos) {
        let (status, body_bytes) = (answer.status(), answer.body_bytes() as u64);
        let body = readable(beginning, body_bytes);
        let answer = FailedAnswer { request: request.to_owned(), check, status, body, body_bytes };
        self.kept.push(Kept { done_ns: done.0, answer });
    }

    /// Takes in the log of another worker; of both, the first answers stay.
    pub fn merge(&mut self, other: Self) {
        self.kept.extend(other.kept);
        self.kept.sort_by(|a, b| (a.done_ns, &a.answer.request).cmp(&(b.done_ns, &b.answer.request)));
        self.kept.truncate(self.answers_max);
    }

    /// The answers in order of time.
    #[must_use]
    pub fn into_answers(self) -> Vec<FailedAnswer> {
        self.kept.into_iter().map(|kept| kept.answer).collect()
    }
}

/// The beginning of a body as text. Where the body goes on, a character that was cut is left out.
fn readable(beginning: &[u8], body_bytes: u64) -> String {
    let is_cut = body_bytes > beginning.len() as u64;
    let mut text = String::with_capacity(beginning.len().min(BEGINNING_BYTES));
    let mut chunks = beginning.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.push_str(chunk.valid());
        let is_end = chunks.peek().is_none();
        let may_go_on = std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
        let is_cut_character = is_cut && is_end && may_go_on;
        if !chunk.invalid().is_empty() && !is_cut_character {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Visit as _;

    fn note(log: &mut FailureLog, status: u16, body: &[u8], done: u64) {
        let check = Check::new(&[200], Some(b"fine".to_vec()));
        let (mut answer, mut notes) = (Answer::default(), Notes::default());
        let mut judge = answer.judge(&check, &mut notes);
        judge.head(status, &[]);
        judge.body(body);
        let judged = answer.finish(&check, &mut notes);
        log.note("home", &check, judged, &answer, &notes, Nanos(done));
    }

    #[test]
    fn only_wrong_answers_are_kept_with_the_reason() {
        let mut log = FailureLog::default();
        note(&mut log, 200, b"fine", 1);
        note(&mut log, 503, b"over\xffload", 2);
        note(&mut log, 200, b"fin", 3);
        let failed = |check: &str, status, body: &str, body_bytes| FailedAnswer {
            request: "home".into(),
            check: check.into(),
            status,
            body: body.into(),
            body_bytes,
        };
        let expected = [
            failed("status 503, expected 200", 503, "over\u{fffd}load", 9),
            failed("body: not the expected one", 200, "fin", 3),
        ];
        assert_eq!(log.into_answers(), expected);
    }

    #[test]
    fn bodies_and_their_number_are_bounded() {
        let mut log = FailureLog::new(3);
        // The two-byte letter lies over the cut at 2 KiB.
        let long = format!("{}ä{}", "x".repeat(BEGINNING_BYTES - 1), "y".repeat(100_000));
        (0..100).for_each(|done| note(&mut log, 500, long.as_bytes(), done));
        let answers = log.into_answers();
        assert_eq!(answers.len(), 3);
        assert_eq!(answers[0].body, "x".repeat(BEGINNING_BYTES - 1));
        assert_eq!(answers[0].body_bytes, long.len() as u64);
    }

    #[test]
    fn merged_logs_hold_the_first_of_all() {
        let log = |times: &[u64]| {
            let mut log = FailureLog::new(3);
            times.iter().for_each(|done| note(&mut log, 500, done.to_string().as_bytes(), *done));
            log
        };
        let bodies = |log: FailureLog| -> Vec<String> {
            log.into_answers().into_iter().map(|answer| answer.body).collect()
        };
        let (a, b, c) = ([5, 9, 11], [4, 6, 7], [1]);
        let mut one = log(&a);
        one.merge(log(&b));
        one.merge(log(&c));
        let mut other = log(&c);
        other.merge(log(&a));
        other.merge(log(&b));
        assert_eq!(bodies(one), ["1", "4", "5"]);
        assert_eq!(bodies(other), ["1", "4", "5"]);
    }
}
