//! The judgement of a call: what gRPC says in messages and status, beside the answer of HTTP/2 that carries it.
//!
//! Hot path: an answer that is right is judged without allocation, and nothing of its messages is kept.

use super::answer::Judged;
use super::message::MessageRule;
use super::message_capture::MessageTaken;
use super::notes::{BODY_BYTES_MAX, Notes};
use super::undecoded::TOO_LONG;
use crate::StreamRule;
use schema::plan::{CallPlan, Streaming};
use wire::Header;
use wire::grpc::{self, Code, Fault, Messages, Part};

/// What every call of a request must come to.
#[derive(Clone, Debug, PartialEq)]
pub struct CallCheck {
    /// A bit for each accepted status.
    accepted: u32,
    /// Whether calls have a deadline.
    has_deadline: bool,
    /// What the message must say. The n-th has the number [`FIRST_RULE`] + n among failed checks.
    rules: Box<[MessageRule]>,
    /// What is taken from it; these have the numbers behind the rules.
    captures: Box<[MessageTaken]>,
    /// How messages follow each other, where a side streams.
    stream: Option<StreamRule>,
}

/// Checks of other things have smaller numbers.
const FIRST_RULE: u16 = 1 << 15;
/// Most rules; more are surely a mistake of a program that wrote the file.
const RULES_MAX: usize = 1000;

impl CallCheck {
    /// Accepts these status codes, 0 where none is given.
    #[must_use]
    pub fn new(accepted: &[Code], has_deadline: bool) -> Self {
        let bits = accepted.iter().fold(0, |bits, code| bits | 1 << code.number());
        Self {
            accepted: if bits == 0 { 1 } else { bits },
            has_deadline,
            rules: Box::default(),
            captures: Box::default(),
            stream: None,
        }
    }

    /// What the calls of a plan must come to; `capture_index` gives the index by which [`Notes::captured`] names a value.
    #[must_use]
    pub fn of_plan(plan: &CallPlan, capture_index: &dyn Fn(&str) -> usize) -> Self {
        let accepted: Vec<Code> = plan.status.iter().filter_map(|number| Code::of_number(*number)).collect();
        let taken = |capture| MessageTaken::new(capture, capture_index(&capture.name));
        let captures = plan.captures.iter().take(RULES_MAX).map(taken).collect();
        let check = Self::new(&accepted, plan.deadline_ns.is_some());
        let check = check.with_rules(plan.checks.iter().map(MessageRule::new));
        Self { captures, ..check.of_stream(plan.stream.as_ref().map(StreamRule::new)) }
    }

    /// The same with rules for the message of a call that succeeds; the first 1,000 of them.
    #[must_use]
    pub fn with_rules(self, rules: impl IntoIterator<Item = MessageRule>) -> Self {
        Self { rules: rules.into_iter().take(RULES_MAX).collect(), ..self }
    }

    /// The same of calls whose messages follow each other so; of one message each way where absent.
    #[must_use]
    pub fn of_stream(self, stream: Option<StreamRule>) -> Self {
        Self { stream, ..self }
    }

    /// How messages follow each other, where a side streams.
    #[inline]
    #[must_use]
    pub const fn stream(&self) -> Option<&StreamRule> {
        self.stream.as_ref()
    }

    /// Whether the server may answer with any number of messages.
    fn takes_any_number(&self) -> bool {
        self.stream.is_some_and(|rule| rule.streaming != Streaming::Client)
    }

    /// Whether the message is kept for its rules and captures, so that nothing else of the body may be.
    #[inline]
    #[must_use]
    pub fn reads_message(&self) -> bool {
        !(self.rules.is_empty() && self.captures.is_empty())
    }

    /// The words of the rule with this number among failed checks.
    pub(super) fn rule_words(&self, number: u16) -> Option<&str> {
        let place = usize::from(number.checked_sub(FIRST_RULE)?);
        let capture = || self.captures.get(place - self.rules.len()).map(MessageTaken::words);
        self.rules.get(place).map(MessageRule::name).or_else(capture)
    }

    /// The number of the first rule that the kept message, of so many bytes, breaks.
    fn broken_rule(&self, bytes: u32, notes: &Notes) -> Option<u16> {
        if bytes as usize > BODY_BYTES_MAX {
            return Some(TOO_LONG);
        }
        let broken = self.rules.iter().position(|rule| !rule.holds(notes.body()))?;
        Some(FIRST_RULE + broken as u16)
    }

    /// Takes the values of the kept message. Returns the number of the first that it does not have.
    fn lost_capture(&self, notes: &mut Notes) -> Option<u16> {
        let lost = self.captures.iter().position(|capture| !capture.take(notes))?;
        Some(FIRST_RULE + (self.rules.len() + lost) as u16)
    }

    /// Whether calls have a deadline, so that one that takes longer has exceeded it.
    #[must_use]
    pub const fn has_deadline(&self) -> bool {
        self.has_deadline
    }

    fn accepts(&self, code: Code) -> bool {
        self.accepted >> code.number() & 1 == 1
    }

    /// The accepted codes in words.
    fn words(&self) -> String {
        let names = Code::all().filter(|code| self.accepts(*code)).map(Code::name);
        names.collect::<Vec<_>>().join(", ")
    }

    /// What is wrong about a status, in words.
    pub(super) fn explain(&self, code: Code) -> String {
        if self.accepted == 1 {
            return format!("grpc-status {code}");
        }
        format!("grpc-status {code}, expected {}", self.words())
    }
}

/// The judgement of one call in progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Call {
    messages: Messages,
    /// Of the trailers; of the header section as long as nothing has come behind it.
    status: Option<Result<Code, Fault>>,
    fault: Option<Fault>,
    /// Length of the last message.
    message_bytes: u32,
    /// The rule that a message of a stream broke first; that message is kept.
    broken: Option<u16>,
    /// Whether a coding was named, so that messages may be compressed.
    is_coded: bool,
    /// Whether the answer has another status of HTTP than gRPC's, and so is somebody else's.
    is_foreign: bool,
}

/// The only status of HTTP that an answer of gRPC has.
const HTTP_OK: u16 = 200;

impl Call {
    /// Reads the header section. Returns whether it says nothing that an equal one would have to say again.
    pub fn head(&mut self, check: &CallCheck, status: u16, fields: &[Header<'_>], notes: &mut Notes) -> bool {
        self.is_foreign = status != HTTP_OK;
        if self.is_foreign {
            return false;
        }
        self.is_coded = grpc::is_compressed(fields);
        if !grpc::is_grpc(fields) {
            self.fault = Some(Fault::NotGrpc);
        }
        self.read_status(check, fields, notes);
        self.status.is_none() && self.fault.is_none() && !self.is_coded
    }

    /// Whole messages that have come so far.
    #[inline]
    #[must_use]
    pub const fn messages(&self) -> u32 {
        self.messages.count()
    }

    /// Reads the next part of the body. Returns what is wrong with the answer so far: the rest of it is of no use.
    #[inline]
    pub fn body(&mut self, check: &CallCheck, bytes: &[u8], notes: &mut Notes) -> Option<Fault> {
        if self.fault.is_some() || self.is_foreign {
            return self.fault;
        }
        if self.status.is_some() && !bytes.is_empty() {
            self.forget_status(notes);
        }
        let read = if check.reads_message() {
            let (message_bytes, broken) = (&mut self.message_bytes, &mut self.broken);
            let is_stream = check.takes_any_number();
            self.messages.feed(bytes, self.is_coded, |part| match part {
                _ if broken.is_some() => {}
                Part::Begin(length) => {
                    *message_bytes = length;
                    if is_stream {
                        notes.drop_body();
                    }
                }
                Part::Bytes(bytes) => notes.keep_body(bytes),
                Part::End if is_stream => *broken = check.broken_rule(*message_bytes, notes),
                Part::End => {}
            })
        } else {
            self.messages.feed(bytes, self.is_coded, |_| {})
        };
        self.fault = read.err();
        self.fault
    }

    /// Reads the trailers.
    pub fn trailers(&mut self, check: &CallCheck, fields: &[Header<'_>], notes: &mut Notes) {
        if self.status.is_some() {
            self.forget_status(notes);
        }
        self.read_status(check, fields, notes);
    }

    fn read_status(&mut self, check: &CallCheck, fields: &[Header<'_>], notes: &mut Notes) {
        let found = grpc::status(fields).transpose();
        if let Some(Ok(status)) = found
            && !check.accepts(status.code)
        {
            notes.keep_words(status.message);
        }
        self.status = found.map(|found| found.map(|status| status.code));
    }

    /// The header section's status does not count: something has come behind it.
    #[cold]
    fn forget_status(&mut self, notes: &mut Notes) {
        self.status = None;
        notes.clear();
    }

    /// The judgement once the answer is complete; `http` is what it was as an answer of HTTP.
    #[inline]
    #[must_use]
    pub fn finish(&self, check: &CallCheck, http: Judged, notes: &mut Notes) -> Judged {
        if http == Judged::UnexpectedStatus {
            return http;
        }
        let mut judged = self.judge(check);
        if judged == Judged::Right && check.reads_message() && self.status == Some(Ok(Code::OK)) {
            judged = self.judge_messages(check, notes).map_or(Judged::Right, Judged::Failed);
        }
        if judged == Judged::Right {
            return http;
        }
        notes.forget_captured();
        judged
    }

    /// The first rule that a message breaks, each message of a stream being held against all of them, or the first value that
    /// the last message does not have.
    fn judge_messages(&self, check: &CallCheck, notes: &mut Notes) -> Option<u16> {
        if !check.takes_any_number() {
            return check.broken_rule(self.message_bytes, notes).or_else(|| check.lost_capture(notes));
        }
        match self.messages.count() {
            // There is nothing to take a value from.
            0 if !check.captures.is_empty() => Some(FIRST_RULE + check.rules.len() as u16),
            0 => None,
            _ => self.broken.or_else(|| check.lost_capture(notes)),
        }
    }

    #[inline]
    fn judge(&self, check: &CallCheck) -> Judged {
        if let Some(fault) = self.fault {
            return Judged::Broken(fault);
        }
        match self.status {
            None => Judged::Broken(self.messages.end().err().unwrap_or(Fault::NoStatus)),
            Some(Err(fault)) => Judged::Broken(fault),
            Some(Ok(code)) if !check.accepts(code) => Judged::Refused(code),
            // Without success, messages do not count.
            Some(Ok(code)) if code != Code::OK => Judged::Right,
            Some(Ok(_)) => match (self.messages.end(), self.messages.count()) {
                (Err(fault), _) => Judged::Broken(fault),
                (Ok(()), _) if check.takes_any_number() => Judged::Right,
                (Ok(()), 0) => Judged::Broken(Fault::NoMessage),
                (Ok(()), 1) => Judged::Right,
                (Ok(()), _) => Judged::Broken(Fault::Several),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Answer, Check};
    use wire::Visit as _;

    const KIND: (&str, &str) = ("content-type", "application/grpc");

    fn fields<'a>(pairs: &'a [(&'a str, &'a str)]) -> Vec<Header<'a>> {
        pairs.iter().map(|(name, value)| Header { name, value: value.as_bytes() }).collect()
    }

    /// Judges an answer with this header section, body and trailers, its body read whole and byte by byte.
    fn judge(
        accepted: &[Code],
        head: &[(&str, &str)],
        body: &[u8],
        trailers: &[(&str, &str)],
    ) -> (Judged, String) {
        let check = CallCheck::new(accepted, false);
        let http = Check::new(&[200], None);
        let run = |parts: &[&[u8]]| {
            let (mut call, mut answer, mut notes) = (Call::default(), Answer::to(1), Notes::default());
            answer.judge(&http, &mut notes).head(200, &fields(head));
            call.head(&check, 200, &fields(head), &mut notes);
            for part in parts {
                answer.judge(&http, &mut notes).body(part);
                call.body(&check, part, &mut notes);
            }
            if !trailers.is_empty() {
                call.trailers(&check, &fields(trailers), &mut notes);
            }
            let judged = call.finish(&check, answer.finish(&http, &mut notes), &mut notes);
            (judged, String::from_utf8_lossy(notes.beginning()).into_owned())
        };
        let whole = run(&[body]);
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(run(&bytes), whole);
        whole
    }

    fn code(name: &str) -> Code {
        Code::of_name(name).unwrap()
    }

    #[test]
    fn a_call_is_right_with_one_message_and_its_status() {
        let (ok, gone) = ([("grpc-status", "0")], [("grpc-status", "5"), ("grpc-message", "no%20such")]);
        let one = b"\0\0\0\0\x02hi";
        let two = [one.as_slice(), one].concat();
        let (not_found, refused) = (code("NOT_FOUND"), Judged::Refused(code("NOT_FOUND")));
        let broken = Judged::Broken;
        for (accepted, body, trailers, judged) in [
            (&[][..], &one[..], &ok[..], Judged::Right),
            (&[], b"", &ok, broken(Fault::NoMessage)),
            (&[], &two, &ok, broken(Fault::Several)),
            (&[], &one[..4], &ok, broken(Fault::Cut)),
            (&[], b"\x02", &ok, broken(Fault::Flag(2))),
            (&[], b"\x01\0\0\0\0", &ok, broken(Fault::Uncoded)),
            (&[], one, &[], broken(Fault::NoStatus)),
            (&[], &one[..4], &[], broken(Fault::Cut)),
            (&[], one, &[("grpc-status", "x")], broken(Fault::BadStatus)),
            (&[], b"", &gone, refused),
            (&[], one, &gone, refused),
            (&[not_found], b"", &gone, Judged::Right),
            (&[not_found], one, &ok, Judged::Refused(Code::OK)),
            (&[not_found, Code::OK], one, &ok, Judged::Right),
        ] {
            let (found, words) = judge(accepted, &[KIND], body, trailers);
            assert_eq!(found, judged, "{accepted:?} {body:?} {trailers:?}");
            assert_eq!(words == "no such", judged == refused, "{words}");
        }
    }

    #[test]
    fn a_server_that_streams_may_send_any_number() {
        let http = Check::new(&[200], None);
        for (streaming, counts) in [
            (Streaming::Server, [true, true, true]),
            (Streaming::Both, [true, true, true]),
            (Streaming::Client, [false, true, false]),
        ] {
            let rule = StreamRule::new(&schema::plan::StreamPlan { streaming, ..Default::default() });
            let check = CallCheck::new(&[], false).of_stream(Some(rule));
            for (count, is_right) in counts.into_iter().enumerate() {
                let (mut call, mut answer, mut notes) = (Call::default(), Answer::to(1), Notes::default());
                answer.judge(&http, &mut notes).head(200, &fields(&[KIND]));
                call.head(&check, 200, &fields(&[KIND]), &mut notes);
                call.body(&check, &b"\0\0\0\0\x02hi".repeat(count), &mut notes);
                assert_eq!(call.messages() as usize, count);
                call.trailers(&check, &fields(&[("grpc-status", "0")]), &mut notes);
                let judged = call.finish(&check, answer.finish(&http, &mut notes), &mut notes);
                assert_eq!(judged == Judged::Right, is_right, "{streaming:?} {count}");
            }
        }
    }

    #[test]
    fn the_header_section_may_hold_the_status_where_nothing_comes_behind_it() {
        let only = [KIND, ("grpc-status", "14"), ("grpc-message", "busy")];
        let refused = Judged::Refused(code("UNAVAILABLE"));
        let (one, ok) = (&b"\0\0\0\0\x02hi"[..], [("grpc-status", "0")]);
        let no_status = Judged::Broken(Fault::NoStatus);
        assert_eq!(judge(&[], &only, b"", &[]), (refused, "busy".into()));
        assert_eq!(judge(&[], &only, one, &ok), (Judged::Right, String::new()));
        assert_eq!(judge(&[], &only, b"", &[("x", "y")]), (no_status, String::new()));
        assert_eq!(judge(&[], &only, one, &[]), (no_status, String::new()));
        let bad = [KIND, ("grpc-status", "x")];
        assert_eq!(judge(&[], &bad, one, &ok).0, Judged::Right);
        assert_eq!(judge(&[], &bad, b"", &[]).0, Judged::Broken(Fault::BadStatus));
        let twice = judge(&[], &[KIND], one, &[ok[0], ok[0]]).0;
        assert_eq!(twice, Judged::Broken(Fault::StatusTwice));
        assert_eq!(judge(&[], &[("content-type", "text/html")], b"x", &[]).0, Judged::Broken(Fault::NotGrpc));
        let coded = [KIND, ("grpc-encoding", "gzip")];
        assert_eq!(judge(&[], &coded, b"\x01\0\0\0\x01x", &[("grpc-status", "0")]).0, Judged::Right);
    }

    #[test]
    fn only_plain_header_sections_need_not_come_again() {
        let plain = |pairs: &[(&str, &str)]| {
            Call::default().head(&CallCheck::new(&[], false), 200, &fields(pairs), &mut Notes::default())
        };
        assert!(plain(&[KIND]));
        assert!(!plain(&[KIND, ("grpc-status", "0")]));
        assert!(!plain(&[KIND, ("grpc-encoding", "gzip")]));
        assert!(!plain(&[]));
    }

    #[test]
    fn an_answer_that_is_not_of_grpc_keeps_its_own_status() {
        let (check, http) = (CallCheck::new(&[], false), Check::new(&[200], None));
        let (mut call, mut answer, mut notes) = (Call::default(), Answer::to(1), Notes::default());
        answer.judge(&http, &mut notes).head(503, &[]);
        assert!(!call.head(&check, 503, &[], &mut notes));
        assert_eq!(call.body(&check, b"<html>", &mut notes), None);
        let judged = call.finish(&check, answer.finish(&http, &mut notes), &mut notes);
        assert_eq!(judged, Judged::UnexpectedStatus);
    }

    #[test]
    fn rules_are_held_against_the_message_alone() {
        let rule = |expected: &[u8]| {
            let expected = Some(schema::plan::Encoded(expected.to_vec()));
            let kind = Some(schema::plan::ScalarKind::Int32);
            let check =
                schema::plan::MessageCheck { name: "/n = 1".into(), path: vec![(1, 0)], kind, expected };
            CallCheck::new(&[], false).with_rules([MessageRule::new(&check)])
        };
        let http = Check::new(&[200], None);
        for (expected, judged) in [(b"\x08\x01", Judged::Right), (b"\x08\x02", Judged::Failed(FIRST_RULE))] {
            let check = rule(expected);
            let (mut call, mut answer, mut notes) = (Call::default(), Answer::to(1), Notes::default());
            answer.judge(&http, &mut notes).head(200, &fields(&[KIND]));
            call.head(&check, 200, &fields(&[KIND]), &mut notes);
            for part in b"\0\0\0\0\x02\x08\x01".chunks(1) {
                call.body(&check, part, &mut notes);
            }
            call.trailers(&check, &fields(&[("grpc-status", "0")]), &mut notes);
            assert_eq!(call.finish(&check, answer.finish(&http, &mut notes), &mut notes), judged);
            assert_eq!(http.clone().of_call(check).describe(FIRST_RULE), "/n = 1");
        }
    }

    #[test]
    fn every_message_of_a_stream_keeps_the_rules_and_the_last_gives_the_values() {
        use schema::plan::{CallPlan, Encoded, MessageCapture, MessageCheck, ScalarKind, StreamPlan};
        let kind = Some(ScalarKind::Int32);
        let expected = Some(Encoded(b"\x08\x01".to_vec()));
        let one = MessageCheck { name: "/n = 1".into(), path: vec![(1, 0)], kind, expected };
        let has = MessageCheck { name: "/m".into(), path: vec![(2, 0)], kind, expected: None };
        let last = MessageCapture {
            name: "m".into(),
            path: vec![(2, 0)],
            kind: ScalarKind::Int32,
            names: std::collections::BTreeMap::new(),
            implied: false,
            default: None,
        };
        let plan = CallPlan {
            checks: vec![one, has],
            captures: vec![last],
            stream: Some(StreamPlan { streaming: Streaming::Server, ..StreamPlan::default() }),
            ..CallPlan::default()
        };
        let (check, http) = (CallCheck::of_plan(&plan, &|_| 0), Check::new(&[200], None));
        let message = |n: u8, m: u8| [0, 0, 0, 0, 4, 8, n, 16, m];
        let without_m = [0, 0, 0, 0, 2, 8, 1];
        let run = |body: &[u8], size: usize| {
            let (mut call, mut answer, mut notes) = (Call::default(), Answer::to(1), Notes::default());
            answer.judge(&http, &mut notes).head(200, &fields(&[KIND]));
            call.head(&check, 200, &fields(&[KIND]), &mut notes);
            body.chunks(size).for_each(|part| assert_eq!(call.body(&check, part, &mut notes), None));
            call.trailers(&check, &fields(&[("grpc-status", "0")]), &mut notes);
            let judged = call.finish(&check, answer.finish(&http, &mut notes), &mut notes);
            let taken = notes.captured().map(|(_, value)| String::from_utf8_lossy(value).into_owned());
            (judged, taken.collect::<Vec<_>>(), notes.beginning().to_vec())
        };
        for size in [1, 7, 100] {
            let (judged, taken, _) = run(&[message(1, 5), message(1, 6), message(1, 7)].concat(), size);
            assert_eq!((judged, taken), (Judged::Right, vec!["7".to_owned()]));
            let (judged, taken, kept) = run(&[message(1, 5), message(2, 6), message(3, 7)].concat(), size);
            assert_eq!((judged, taken, &*kept), (Judged::Failed(FIRST_RULE), vec![], &message(2, 6)[5..]));
            let (judged, ..) = run(&[&message(1, 5)[..], &without_m].concat(), size);
            assert_eq!(judged, Judged::Failed(FIRST_RULE + 1));
            assert_eq!(run(b"", size).0, Judged::Failed(FIRST_RULE + 2), "no message, no value");
        }
    }

    #[test]
    fn refusals_are_explained() {
        assert_eq!(CallCheck::new(&[], false).explain(code("INTERNAL")), "grpc-status 13 INTERNAL");
        let check = CallCheck::new(&[code("NOT_FOUND"), Code::OK], true);
        assert_eq!(check.explain(code("ABORTED")), "grpc-status 10 ABORTED, expected OK, NOT_FOUND");
    }
}
