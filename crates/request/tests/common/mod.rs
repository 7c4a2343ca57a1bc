//! Judging made-up answers, split in every way.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use request::{Answer, Check, Judged, Notes};
use schema::plan::ExpectPlan;
use schema::scenario::Capture;
use std::collections::BTreeMap;
use wire::{Header, Visit as _};

/// An ordinary JSON body.
pub const BODY: &str = r#"{"code": 0, "data": [{"id": 7, "name": "Ann"}]}"#;

/// Expectations with what `set` sets.
pub fn expect(set: impl FnOnce(&mut ExpectPlan)) -> ExpectPlan {
    let mut plan = ExpectPlan::default();
    set(&mut plan);
    plan
}

/// A capture with what `set` sets.
pub fn capture(set: impl FnOnce(&mut Capture)) -> Capture {
    let mut capture = Capture::default();
    set(&mut capture);
    capture
}

/// Compiles expectations alone.
pub fn check(plan: &ExpectPlan) -> Check {
    Check::compile(plan, None, &BTreeMap::new(), &|_| 0, false).unwrap()
}

/// All that can be seen of a judged answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub judged: Judged,
    pub captured: Vec<(usize, String)>,
    pub cookies: Vec<(String, String)>,
    pub beginning: Vec<u8>,
}

/// Judges an answer whose body comes in these parts.
pub fn judge(check: &Check, status: u16, fields: &[(&str, &str)], parts: &[&[u8]]) -> Seen {
    let headers: Vec<Header<'_>> =
        fields.iter().map(|(name, value)| Header { name, value: value.as_bytes() }).collect();
    let (mut answer, mut notes) = (Answer::default(), Notes::default());
    let mut judge = answer.judge(check, &mut notes);
    judge.head(status, &headers);
    parts.iter().for_each(|part| judge.body(part));
    let judged = answer.finish(check, &mut notes);
    assert_eq!(answer.body_bytes(), parts.iter().map(|part| part.len()).sum::<usize>());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Seen {
        judged,
        captured: notes.captured().map(|(index, value)| (index, text(value))).collect(),
        cookies: notes.cookies().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        beginning: notes.beginning().to_vec(),
    }
}

/// The body whole, cut in two at every place, and byte by byte.
pub fn bodies_in_splits(body: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut splits: Vec<Vec<&[u8]>> = (0..=body.len()).map(|at| vec![&body[..at], &body[at..]]).collect();
    splits.push(body.chunks(1).collect());
    splits
}

/// Judges the answer in every split, which must not matter.
pub fn seen_over_splits(check: &Check, status: u16, fields: &[(&str, &str)], body: &[u8]) -> Seen {
    let whole = judge(check, status, fields, &[body]);
    for parts in bodies_in_splits(body) {
        assert_eq!(judge(check, status, fields, &parts), whole, "{parts:?}");
    }
    whole
}
