//! Every check against a right answer and one with the planted fault, in every split of the body.

use crate::common::{BODY, capture, check, expect, judge, seen_over_splits};
use request::{Answer, Check, Judged, Notes};
use schema::plan::{BodyExpectation, ExpectPlan};
use schema::scenario::LengthRange;
use serde_json::json;
use std::collections::BTreeMap;
use units::Seed;
use wire::{Header, Visit as _};

const SHA256_OF_OK: &str = "2689367B205C16CE32ED4200942B8B8B1E262DFC70D9BC9FBC77C49699A4F1DF";

/// One check, a body that passes, one that does not, and the check in words.
fn cases() -> Vec<(ExpectPlan, &'static str, &'static str, &'static str)> {
    let length = |at_least, at_most| expect(|e| e.length = Some(LengthRange { at_least, at_most }));
    let contains = |text: &str| expect(|e| e.contains = vec![text.to_owned()]);
    let regex = |text: &str| expect(|e| e.regex = vec![text.to_owned()]);
    let has = |text: &str| expect(|e| e.json_has = vec![text.to_owned()]);
    let equals = |text: &str, value| expect(|e| e.json_equals = vec![(text.to_owned(), value)]);
    vec![
        (length(Some(3), None), "abc", "ab", "length at least 3 bytes"),
        (length(None, Some(3)), "abc", "abcd", "length at most 3 bytes"),
        (length(Some(2), Some(3)), "ab", "a", "length 2 to 3 bytes"),
        (contains("ok"), "it is ok.", "it is o k.", "contains \"ok\""),
        (contains("aab"), "aaab", "aaaaa", "contains \"aab\""),
        (contains("longer than it"), "is longer than it", "longer", "contains \"longer than it\""),
        (regex("o{2}k"), "xxook", "xxok", "regex \"o{2}k\""),
        (regex("^\\d+$"), "123", "123\n", "regex \"^\\d+$\""),
        (has("/data/0/id"), BODY, r#"{"data": []}"#, "json_has /data/0/id"),
        (has("/none"), r#"{"none": null}"#, "{}", "json_has /none"),
        (has(""), "1", "no JSON", "json_has \"\""),
        (equals("/code", json!(0)), BODY, r#"{"code": 1}"#, "json_equals /code = 0"),
        (equals("/code", json!(0)), r#"{"code": 0.0}"#, r#"{"code": "0"}"#, "json_equals /code = 0"),
        (
            equals("/a", json!([1, {"b": 2.5}])),
            r#"{"a":[1.0,{"b":25e-1}]}"#,
            r#"{"a":[1,{}]}"#,
            "json_equals /a = [1,{\"b\":2.5}]",
        ),
        (expect(|e| e.body = BodyExpectation::Json(json!({"a": 1}))), "{ \"a\": 1.0 }", "{\"a\": 2}", "json"),
        (
            expect(|e| e.sha256 = Some(SHA256_OF_OK.to_owned())),
            "ok",
            "ko",
            "sha256 2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df",
        ),
    ]
}

#[test]
fn every_check_passes_what_is_right_and_finds_the_planted_fault_in_every_split() {
    for (expect, right, wrong, words) in cases() {
        let check = check(&expect);
        assert!(!check.is_plain(), "{words}");
        let seen = seen_over_splits(&check, 200, &[], right.as_bytes());
        assert_eq!(seen.judged, Judged::Right, "{words}: {right}");
        let seen = seen_over_splits(&check, 200, &[], wrong.as_bytes());
        let Judged::Failed(number) = seen.judged else { panic!("{words}: {:?}", seen.judged) };
        assert_eq!(check.describe(number), words);
        assert_eq!(seen.beginning, wrong.as_bytes(), "a wrong body can be looked at");
    }
}

#[test]
fn status_and_exact_body_come_first_and_alone_are_plain() {
    let both = expect(|e| {
        e.status = vec![200, 204];
        e.body = BodyExpectation::Exact("ok".to_owned());
    });
    let plain = check(&both);
    assert!(plain.is_plain());
    let all = check(&ExpectPlan { contains: vec!["k".to_owned()], ..both });
    for check in [&plain, &all] {
        assert_eq!(seen_over_splits(check, 200, &[], b"ok").judged, Judged::Right);
        assert_eq!(seen_over_splits(check, 500, &[], b"x").judged, Judged::UnexpectedStatus);
        for wrong in ["o", "okk", "x", "ko", ""] {
            let seen = seen_over_splits(check, 204, &[], wrong.as_bytes());
            assert_eq!(seen.judged, Judged::WrongBody, "{wrong}");
            assert_eq!(seen.beginning, wrong.as_bytes());
        }
    }
    assert_eq!(seen_over_splits(&all, 500, &[], b"why").beginning, b"why");
    let given =
        Check::compile(&expect(|_| ()), Some(b"ok".to_vec()), &BTreeMap::new(), &|_| 0, false).unwrap();
    assert!(given.is_plain());
    assert_eq!(judge(&given, 200, &[], &[b"no"]).judged, Judged::WrongBody);
    assert!(!Check::compile(&expect(|_| ()), None, &BTreeMap::new(), &|_| 0, true).unwrap().is_plain());
}

#[test]
fn header_fields_are_judged_by_name_in_any_case_and_by_prefix() {
    let check = check(&expect(|e| {
        e.headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("X-There".to_owned(), String::new()),
        ];
    }));
    let (json, there) = (("CONTENT-Type", "application/json; charset=utf-8"), ("x-there", "1"));
    for (fields, failed) in [
        (&[json, there][..], None),
        (&[("Content-Type", "text/html"), json, there], None),
        (&[there], Some("header content-type")),
        (&[("Content-Type", "Application/json"), there], Some("header content-type")),
        (&[("Content-Type", "application/jso"), there], Some("header content-type")),
        (&[json], Some("header x-there")),
        (&[], Some("header content-type")),
    ] {
        let judged = judge(&check, 200, fields, &[]).judged;
        let Some(words) = failed else {
            assert_eq!(judged, Judged::Right, "{fields:?}");
            continue;
        };
        let Judged::Failed(number) = judged else { panic!("{fields:?}: {judged:?}") };
        assert_eq!(check.describe(number), words);
    }
}

#[test]
fn several_checks_all_count_and_the_first_that_fails_is_told() {
    let check = check(&expect(|e| {
        e.contains = vec!["one".to_owned(), "two".to_owned()];
        e.regex = vec!["t.o".to_owned(), "on.".to_owned()];
        e.sha256 = None;
    }));
    for (body, words) in [
        ("one and two", None),
        ("two", Some("contains \"one\"")),
        ("one", Some("contains \"two\"")),
        ("", Some("contains \"one\"")),
    ] {
        let judged = seen_over_splits(&check, 200, &[], body.as_bytes()).judged;
        let told = if let Judged::Failed(number) = judged { Some(check.describe(number)) } else { None };
        assert_eq!(told.as_deref(), words, "{body}");
    }
}

#[test]
fn a_body_beyond_what_is_kept_fails_where_it_must_be_kept_and_only_there() {
    let body = vec![b'x'; (1 << 20) + 1];
    let parts: Vec<&[u8]> = body.chunks(70_000).collect();
    let kept = check(&expect(|e| e.regex = vec!["x".to_owned()]));
    let Judged::Failed(number) = judge(&kept, 200, &[], &parts).judged else { panic!("it is too long") };
    assert_eq!(kept.describe(number), "body longer than 1 MiB cannot be checked");
    assert_eq!(judge(&kept, 200, &[], &[&body[1..]]).judged, Judged::Right, "1 MiB itself is not too long");

    let followed = check(&expect(|e| e.contains = vec!["xxx".to_owned()]));
    assert_eq!(judge(&followed, 200, &[], &parts).judged, Judged::Right);
    let unseen = check(&expect(|e| e.contains = vec!["xyx".to_owned()]));
    assert!(matches!(judge(&unseen, 200, &[], &parts).judged, Judged::Failed(_)));
}

#[test]
fn hostile_bodies_fail_and_do_no_harm() {
    let check = check(&expect(|e| {
        e.json_equals = vec![("/a".to_owned(), json!(1))];
        e.regex = vec!["(a+)+$|".to_owned()];
    }));
    let deep_array = "[".repeat(1 << 20);
    let deep_object = "{\"a\":".repeat(200_000);
    let pairs = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
    let many = format!("[{}0]", "[],".repeat(300_000));
    let letters = "a".repeat(1 << 19) + "!";
    for body in [&deep_array, &deep_object, &pairs, &many, &letters] {
        let judged = judge(&check, 200, &[], &[body.as_bytes()]).judged;
        assert!(matches!(judged, Judged::Failed(_)), "{}…: {judged:?}", &body[..20]);
    }
    for bytes in [&[0xff_u8; 64][..], b"\0\0\0", b"{\"a\":1e999999}", b"\"\\ud800\"", b"{\"a\":1}{"] {
        assert!(matches!(seen_over_splits(&check, 200, &[], bytes).judged, Judged::Failed(_)), "{bytes:?}");
    }
}

#[test]
fn a_sample_examines_its_share_of_the_contents_and_all_of_the_rest() {
    let plan = expect(|e| {
        e.sample = Some(0.25);
        e.length = Some(LengthRange { at_least: Some(2), at_most: None });
        e.regex = vec!["ok".to_owned()];
        e.contains = vec!["ok".to_owned()];
    });
    let check = check(&plan);
    let failed = |check: &Check, body: &[u8]| -> Vec<u64> {
        let mut notes = Notes::default();
        let fails = |number: &u64| {
            let mut answer = Answer::to(*number);
            let mut judge = answer.judge(check, &mut notes);
            judge.head(200, &[]);
            judge.body(body);
            answer.finish(check, &mut notes) != Judged::Right
        };
        (0..10_000).filter(fails).collect()
    };
    let first = failed(&check, b"wrong");
    // 2500 are expected with a standard deviation of 43; five of them are allowed.
    assert!((2280..=2720).contains(&first.len()), "{} of 10,000", first.len());
    assert_eq!(first, failed(&check.clone(), b"wrong"), "the same answers every time");
    let other = failed(&check.clone().with_seed(Seed(7)), b"wrong");
    assert_ne!(first, other, "other answers with another seed");
    assert!((2280..=2720).contains(&other.len()), "{} of 10,000", other.len());
    assert_eq!(failed(&check, b"ok").len(), 0);
    assert_eq!(failed(&check, b"x").len(), 10_000, "length is judged of every answer");
}

#[test]
fn mistakes_are_told_with_key_cause_and_remedy() {
    let text = |text: &str| vec![text.to_owned()];
    for (plan, key, cause) in [
        (
            expect(|e| e.regex = text("ok").into_iter().chain(text("a(b")).collect()),
            "expect.regex.1",
            "`a(b` is wrong at character 2: unclosed group",
        ),
        (
            expect(|e| e.regex = text("a\n*b\n[z-a]")),
            "expect.regex.0",
            "line 3, character 2: invalid character class range",
        ),
        (
            expect(|e| e.regex = text("\\p{Nonsense}")),
            "expect.regex.0",
            "character 1: Unicode property not found",
        ),
        (expect(|e| e.regex = text("(\\pL{1000}){1000}")), "expect.regex.0", "cannot be used"),
        (expect(|e| e.json_has = text("code")), "expect.json_has.0", "does not begin with `/`"),
        (expect(|e| e.json_equals = vec![("/a~".to_owned(), json!(1))]), "expect.json_equals", "character 3"),
        (expect(|e| e.sha256 = Some("abc".to_owned())), "expect.sha256", "64 hexadecimal digits"),
        (expect(|e| e.sha256 = Some("g".repeat(64))), "expect.sha256", "64 hexadecimal digits"),
        (expect(|e| e.sample = Some(0.0)), "expect.sample", "0 is no share"),
        (expect(|e| e.sample = Some(1.1)), "expect.sample", "1.1 is no share"),
        (expect(|e| e.sample = Some(f64::NAN)), "expect.sample", "NaN is no share"),
        (expect(|e| e.length = Some(LengthRange::default())), "expect.length", "no bound"),
        (
            expect(|e| e.length = Some(LengthRange { at_least: Some(2), at_most: Some(1) })),
            "expect.length",
            "at least 2 and at most 1",
        ),
        (expect(|e| e.contains = text("")), "expect.contains.0", "empty text"),
        (expect(|e| e.contains = vec!["x".to_owned(); 1001]), "expect", "more than 1000 checks"),
    ] {
        let error = Check::compile(&plan, None, &BTreeMap::new(), &|_| 0, false).expect_err(cause);
        assert_eq!(error.key, key, "{error}");
        assert!(error.cause.contains(cause), "{error}");
        assert!(!error.remedy.is_empty() && error.to_string().contains("remedy: "));
    }
    for (given, key, cause) in [
        (capture(|_| ()), "capture.user", "nothing says where"),
        (
            capture(|c| {
                c.header = Some("a".into());
                c.json = Some("/a".into());
            }),
            "capture.user",
            "more than one place",
        ),
        (capture(|c| c.json = Some("a".into())), "capture.user.json", "does not begin"),
        (
            capture(|c| c.regex = Some("[".into())),
            "capture.user.regex",
            "character 1: unclosed character class",
        ),
    ] {
        let captures = BTreeMap::from([("user".to_owned(), given)]);
        let error = Check::compile(&expect(|_| ()), None, &captures, &|_| 0, false).expect_err(cause);
        assert_eq!(error.key, key, "{error}");
        assert!(error.cause.contains(cause), "{error}");
    }
}

#[test]
fn nothing_of_an_answer_is_left_for_the_next_on_the_connection() {
    let check = check(&expect(|e| {
        e.contains = vec!["ab".to_owned()];
        e.regex = vec!["b$".to_owned()];
        e.sha256 = Some("fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603".to_owned());
    }));
    let mut notes = Notes::default();
    let mut run = |parts: &[&[u8]], is_finished: bool| {
        let mut answer = Answer::default();
        let mut judge = answer.judge(&check, &mut notes);
        judge.head(200, &[] as &[Header<'_>]);
        parts.iter().for_each(|part| judge.body(part));
        if is_finished { answer.finish(&check, &mut notes) } else { Judged::Right }
    };
    assert_eq!(run(&[b"ab"], true), Judged::Right);
    run(&[b"xa"], false);
    assert_ne!(run(&[b"b"], true), Judged::Right, "the a of a cut-off answer does not count");
    assert_eq!(run(&[b"a", b"b"], true), Judged::Right);
}
