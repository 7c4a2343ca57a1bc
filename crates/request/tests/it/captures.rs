//! Values and cookies taken from answers, in every split, and the property that the split never matters.

use crate::common::{BODY, capture, expect, judge, seen_over_splits};
use proptest::prelude::*;
use request::{Check, CookieJar, FailureLog, Judged};
use schema::scenario::{Capture, LengthRange};
use serde_json::json;
use std::collections::BTreeMap;

/// Captures under the names `n0`, `n1`, …, known as 10, 11, ….
fn taking(captures: &[Capture]) -> Check {
    let named = captures.iter().enumerate().map(|(n, capture)| (format!("n{n}"), capture.clone())).collect();
    let index = |name: &str| 10 + name[1..].parse::<usize>().unwrap();
    Check::compile(&expect(|_| ()), None, &named, &index, false).unwrap()
}

fn header(name: &str) -> Capture {
    capture(|c| c.header = Some(name.to_owned()))
}

fn cookie(name: &str) -> Capture {
    capture(|c| c.cookie = Some(name.to_owned()))
}

fn json_at(pointer: &str) -> Capture {
    capture(|c| c.json = Some(pointer.to_owned()))
}

fn regex(pattern: &str) -> Capture {
    capture(|c| c.regex = Some(pattern.to_owned()))
}

const FIELDS: &[(&str, &str)] = &[
    ("X-Id", "first"),
    ("x-id", "second"),
    ("X-Folded", "a\r\n b"),
    ("Set-Cookie", "sid=1; Path=/"),
    ("set-cookie", "sid=2"),
    ("Set-Cookie", "gone=x; Max-Age=0"),
    ("Set-Cookie", "nonsense"),
];

#[test]
fn each_kind_finds_its_value_or_fails_with_its_name() {
    for (capture, found, missing, words) in [
        (header("x-ID"), "first", header("x-i"), "capture n0: header x-i"),
        (header("x-folded"), "a   b", header("y"), "capture n0: header y"),
        (cookie("sid"), "2", cookie("SID"), "capture n0: cookie SID"),
        (cookie("sid"), "2", cookie("gone"), "capture n0: cookie gone"),
        (json_at("/data/0/name"), "Ann", json_at("/data/1"), "capture n0: json /data/1"),
        (json_at("/data/0/id"), "7", json_at("/nix"), "capture n0: json /nix"),
        (json_at("/data/0"), r#"{"id":7,"name":"Ann"}"#, json_at("/code/0"), "capture n0: json /code/0"),
        (regex("\"id\": (\\d)"), "7", regex("id=(\\d)"), "capture n0: regex \"id=(\\d)\""),
        (regex("A[a-z]+"), "Ann", regex("B"), "capture n0: regex \"B\""),
    ] {
        let seen = seen_over_splits(&taking(std::slice::from_ref(&capture)), 200, FIELDS, BODY.as_bytes());
        assert_eq!((seen.judged, &seen.captured[..]), (Judged::Right, &[(10, found.to_owned())][..]));
        let check = taking(std::slice::from_ref(&missing));
        let seen = seen_over_splits(&check, 200, FIELDS, BODY.as_bytes());
        let Judged::Failed(number) = seen.judged else { panic!("{words}: {:?}", seen.judged) };
        assert_eq!(check.describe(number), words);
        assert!(seen.captured.is_empty());

        let with_default = Capture { default: Some("else".to_owned()), ..missing };
        let seen = seen_over_splits(&taking(&[with_default]), 200, FIELDS, BODY.as_bytes());
        assert_eq!((seen.judged, &seen.captured[..]), (Judged::Right, &[(10, "else".to_owned())][..]));
        let with_default = Capture { default: Some("else".to_owned()), ..capture };
        let seen = seen_over_splits(&taking(&[with_default]), 200, FIELDS, BODY.as_bytes());
        assert_eq!(seen.captured, [(10, found.to_owned())], "a default gives way to a value");
    }
}

#[test]
fn a_group_that_took_no_part_in_the_match_is_no_value() {
    let optional = regex("A(x)?n");
    assert_eq!(judge(&taking(std::slice::from_ref(&optional)), 200, &[], &[b"An"]).judged, Judged::Failed(0));
    assert_eq!(judge(&taking(&[optional]), 200, &[], &[b"Axn"]).captured, [(10, "x".to_owned())]);
}

#[test]
fn several_values_come_together_and_only_from_a_right_answer() {
    let check = taking(&[header("X-Id"), json_at("/data/0/id"), regex("A.."), cookie("sid")]);
    let mut captured = seen_over_splits(&check, 200, FIELDS, BODY.as_bytes()).captured;
    captured.sort_unstable();
    let expected = [(10, "first"), (11, "7"), (12, "Ann"), (13, "2")];
    assert_eq!(captured, expected.map(|(index, value)| (index, value.to_owned())));
    for (status, body) in [(500, BODY), (200, "no"), (200, r#"{"data":[{"id":null}]}"#)] {
        let seen = seen_over_splits(&check, status, FIELDS, body.as_bytes());
        assert_ne!(seen.judged, Judged::Right);
        assert!(seen.captured.is_empty(), "{seen:?}");
    }
}

#[test]
fn captures_are_taken_of_every_answer_whatever_the_sample() {
    let named = BTreeMap::from([("id".to_owned(), json_at("/data/0/id"))]);
    let plan = expect(|e| {
        e.sample = Some(1e-12);
        e.regex = vec!["not there".to_owned()];
    });
    let check = Check::compile(&plan, None, &named, &|_| 0, false).unwrap();
    assert_eq!(seen_over_splits(&check, 200, &[], BODY.as_bytes()).captured, [(0, "7".to_owned())]);
}

#[test]
fn values_and_bodies_that_are_too_long_fail() {
    let check = taking(&[regex("x+")]);
    let long = vec![b'x'; (8 << 10) + 1];
    assert_eq!(judge(&check, 200, &[], &[&long]).judged, Judged::Failed(0));
    assert_eq!(judge(&check, 200, &[], &[&long[1..]]).judged, Judged::Right);
    let longer = vec![b'.'; (1 << 20) + 1];
    let Judged::Failed(number) = judge(&check, 200, &[], &[&longer]).judged else { panic!("too long") };
    assert_eq!(check.describe(number), "body longer than 1 MiB cannot be checked");
}

#[test]
fn cookies_of_right_and_wrong_answers_reach_the_jar() {
    let check = Check::compile(&expect(|_| ()), None, &BTreeMap::new(), &|_| 0, true).unwrap();
    let mut jar = CookieJar::default();
    jar.set("gone", "still here");
    for status in [200, 500] {
        let seen = judge(&check, status, FIELDS, &[b"x"]);
        let expected = [("sid", "1"), ("sid", "2"), ("gone", "")];
        assert_eq!(seen.cookies, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        seen.cookies.iter().for_each(|(name, value)| jar.set(name, value));
    }
    let mut rendered = String::from("Cookie: ");
    jar.render(&mut rendered);
    assert_eq!(rendered, "Cookie: sid=2");
}

#[test]
fn failures_of_checks_are_logged_with_their_words_and_survive_a_process() {
    let check = taking(&[json_at("/data/0/id")]);
    let (mut answer, mut notes) = (request::Answer::to(1), request::Notes::default());
    let mut judge = answer.judge(&check, &mut notes);
    wire::Visit::head(&mut judge, 200, &[]);
    wire::Visit::body(&mut judge, b"{}");
    let judged = answer.finish(&check, &mut notes);
    let mut log = FailureLog::new(1);
    log.note("login", &check, judged, &answer, &notes, units::Nanos(5));
    let sent = serde_json::to_string(&log).unwrap();
    let answers = serde_json::from_str::<FailureLog>(&sent).unwrap().into_answers();
    assert_eq!(answers.len(), 1);
    let shown = (answers[0].request.as_str(), answers[0].check.as_str(), answers[0].body.as_str());
    assert_eq!(shown, ("login", "capture n0: json /data/0/id", "{}"));
}

/// A check with all kinds at once, each of which bodies of a small alphabet sometimes pass.
fn everything() -> Check {
    let plan = expect(|e| {
        e.length = Some(LengthRange { at_least: Some(1), at_most: Some(40) });
        e.contains = vec!["a".to_owned(), "1,".to_owned()];
        e.regex = vec!["[ab1]\\]?$".to_owned()];
        e.json_has = vec!["/0".to_owned()];
        e.json_equals = vec![("/1".to_owned(), json!(1))];
    });
    let named = BTreeMap::from([("n0".to_owned(), json_at("/0")), ("n1".to_owned(), regex("a(.*)"))]);
    Check::compile(&plan, None, &named, &|name| name.len(), true).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_split_never_matters(
        body in prop_oneof![
            "[\\[\\]ab1,\" ]{0,24}",
            "\\[\"a{0,3}b?\",1(\\.0)?(,[ab1]{0,2})?\\]",
        ],
        mut cuts in prop::collection::vec(0_usize..64, 0..8),
        status in prop_oneof![Just(200_u16), Just(404)],
    ) {
        let body = body.as_bytes();
        cuts.iter_mut().for_each(|cut| *cut %= body.len() + 1);
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let parts: Vec<&[u8]> = cuts.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect();
        for check in [everything(), Check::new(&[], Some(b"[\"a\",1]".to_vec()))] {
            prop_assert_eq!(judge(&check, status, FIELDS, &parts), judge(&check, status, FIELDS, &[body]));
        }
    }

    #[test]
    fn texts_are_found_wherever_they_are_cut(
        text in "[ab]{1,6}",
        other in "[ab]{1,3}",
        body in "[ab]{0,40}",
        size in 1_usize..9,
    ) {
        let check = crate::common::check(&expect(|e| e.contains = vec![text.clone(), other.clone()]));
        let parts: Vec<&[u8]> = body.as_bytes().chunks(size).collect();
        let is_right = judge(&check, 200, &[], &parts).judged == Judged::Right;
        prop_assert_eq!(is_right, body.contains(&text) && body.contains(&other));
    }
}

#[test]
fn the_property_reaches_right_answers_too() {
    assert_eq!(judge(&everything(), 200, FIELDS, &[b"[\"aab\",1.0]"]).judged, Judged::Failed(2));
    assert_eq!(judge(&everything(), 200, FIELDS, &[b"[\"aab\",1,1]"]).judged, Judged::Right);
}
