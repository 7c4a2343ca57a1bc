//! Coded bodies: every coding through every kind of check, in every split; damage, bombs and unknown codings.

use crate::common::{BODY, capture, check, expect, judge, seen_over_splits};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;
use request::{Answer, Check, Judged, Notes};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use schema::plan::{BodyExpectation, ExpectPlan};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use wire::{Header, Visit as _};

/// [`BODY`] as Node's zlib codes it.
const BROTLI: &str =
    "0b17807b22636f6465223a20302c202264617461223a205b7b226964223a20372c20226e616d65223a2022416e6e227d5d7d03";
/// [`BODY`] as `zstd -19 --check` codes it.
const ZSTD: &str = "28b52ffd04687901007b22636f6465223a20302c202264617461223a205b7b226964223a20372c20226e616d65223a2022416e6e227d5d7ddfda6b29";
/// Zeros, 16 MiB of them.
const BROTLI_BOMB: &str = "cbffff3ff82700e2b14020f7fe2ffffffff04f00c4611180eefd1f";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().map(|digit| digit.to_digit(16).unwrap() as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn bare_deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn zstd(body: &[u8]) -> Vec<u8> {
    compress_to_vec(body, CompressionLevel::Fastest)
}

/// [`BODY`] in every coding, with the field's value.
fn coded() -> Vec<(&'static str, Vec<u8>)> {
    let body = BODY.as_bytes();
    vec![
        ("gzip", gzip(body)),
        ("X-GZIP", gzip(body)),
        ("gzip", [gzip(&body[..10]), gzip(&body[10..])].concat()),
        ("deflate", zlib(body)),
        ("deflate", bare_deflate(body)),
        ("br", bytes(BROTLI)),
        ("zstd", zstd(body)),
        ("zstd", bytes(ZSTD)),
        ("identity", body.to_vec()),
        ("identity, gzip", gzip(body)),
    ]
}

/// Checks that read the body, each with whether it holds of [`BODY`].
fn reading() -> Vec<(ExpectPlan, bool)> {
    vec![
        (expect(|e| e.contains = vec!["\"name\": \"Ann\"".into()]), true),
        (expect(|e| e.contains = vec!["Bob".into()]), false),
        (expect(|e| e.regex = vec!["^\\{.*\\}$".into()]), true),
        (expect(|e| e.json_equals = vec![("/data/0/id".into(), json!(7))]), true),
        (expect(|e| e.json_equals = vec![("/data/0/id".into(), json!(8))]), false),
        (expect(|e| e.body = BodyExpectation::Json(serde_json::from_str(BODY).unwrap())), true),
        (expect(|e| e.body = BodyExpectation::Exact(BODY.into())), true),
        (expect(|e| e.body = BodyExpectation::Exact(BODY.to_uppercase())), false),
        (expect(|e| e.body = BodyExpectation::Exact(format!("{BODY} "))), false),
    ]
}

#[test]
fn checks_see_the_decoded_body_in_every_split() {
    for (coding, body) in coded() {
        for (expect, holds) in reading() {
            let check = check(&expect);
            let seen = seen_over_splits(&check, 200, &[("content-encoding", coding)], &body);
            assert_eq!(seen.judged == Judged::Right, holds, "{coding}: {expect:?}: {:?}", seen.judged);
            if !holds {
                assert_eq!(seen.beginning, BODY.as_bytes(), "{coding}: people see what was checked");
            }
        }
    }
}

#[test]
fn captures_are_taken_from_the_decoded_body() {
    let from = BTreeMap::from([("id".to_owned(), capture(|c| c.json = Some("/data/0/name".into())))]);
    let check = Check::compile(&ExpectPlan::default(), None, &from, &|_| 0, false).unwrap();
    for (coding, body) in coded() {
        let seen = seen_over_splits(&check, 200, &[("Content-Encoding", coding)], &body);
        assert_eq!(seen.captured, [(0, "Ann".to_owned())], "{coding}");
    }
}

/// The words of the failed check.
fn failure(coding: &str, body: &[u8]) -> String {
    let check = check(&expect(|e| e.contains = vec!["Ann".into()]));
    match judge(&check, 200, &[("Content-Encoding", coding)], &[body]).judged {
        Judged::Failed(number) => check.describe(number),
        other => format!("{other:?}"),
    }
}

#[test]
fn what_cannot_be_decoded_is_a_failed_check_with_its_reason() {
    for (coding, body) in coded().into_iter().filter(|(coding, _)| *coding != "identity") {
        for to in 1..body.len() {
            let said = failure(coding, &body[..to]);
            // Of two members the first alone is whole.
            let is_whole = said.starts_with("contains");
            assert!(said.contains("ends before its data") || is_whole, "{coding} cut at {to}: {said}");
        }
        assert!(failure(coding, &[&body[..], b"surplus"].concat()).contains("damaged"), "{coding}");
        assert!(failure(coding, b"plain text").contains("Content-Encoding: the body"), "{coding}");
        // An answer to HEAD has no body to be decoded.
        assert_eq!(failure(coding, b""), "contains \"Ann\"", "{coding}");
    }
    for coding in ["compress", "gzip, br", "exi", "gzipped"] {
        assert!(
            failure(coding, BODY.as_bytes()).contains("only one of gzip, deflate, br and zstd"),
            "{coding}"
        );
    }
    let mut wrong = gzip(BODY.as_bytes());
    let checksum = wrong.len() - 8;
    wrong[checksum] ^= 1;
    assert!(failure("gzip", &wrong).contains("damaged"));
    let mut wrong = zstd(BODY.as_bytes());
    *wrong.last_mut().unwrap() ^= 1;
    assert!(failure("zstd", &wrong).contains("damaged"));
}

#[test]
fn bombs_are_refused() {
    let zeros = vec![0; 16 << 20];
    for (coding, body) in [
        ("gzip", gzip(&zeros)),
        ("deflate", zlib(&zeros)),
        ("br", bytes(BROTLI_BOMB)),
        ("zstd", zstd(&zeros)),
    ] {
        assert!(failure(coding, &body).contains("256 times its size"), "{coding}");
    }
    // Dense, yet not too dense: each run is short.
    let mut text = Vec::with_capacity(66 << 20);
    let mut number = 0_u32;
    while text.len() < 65 << 20 {
        number += 1;
        text.extend_from_slice(&number.wrapping_mul(2_654_435_761).to_le_bytes());
        text.extend_from_slice(&[b'x'; 200]);
    }
    assert!(failure("gzip", &gzip(&text)).contains("more than 64 MiB"));
    let two = &text[..2 << 20];
    assert_eq!(failure("gzip", &gzip(two)), "contains \"Ann\"");
    assert_eq!(failure("zstd", &zstd(two)), "contains \"Ann\"");
}

#[test]
fn what_is_shown_of_a_damaged_body_is_the_same_in_any_split() {
    let check = check(&expect(|e| e.contains = vec!["Bob".into()]));
    for (coding, body) in [("gzip", gzip(BODY.as_bytes())), ("deflate", zlib(BODY.as_bytes()))] {
        let mut damaged = body.clone();
        // The checksum: everything before it has been decoded.
        let checksum = body.len() - if coding == "gzip" { 8 } else { 4 };
        damaged[checksum] ^= 1;
        let seen = seen_over_splits(&check, 200, &[("Content-Encoding", coding)], &damaged);
        assert_eq!(seen.beginning, BODY.as_bytes(), "{coding}");
    }
}

#[test]
fn a_body_whose_beginning_is_too_dense_is_refused_in_any_split() {
    let mut text = vec![0; 2 << 20];
    // Bytes that no coding makes shorter, so that the whole body is not too dense.
    let mut state = 1_u64;
    text.extend((0..32 << 10).map(|_| {
        // xorshift64 (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    }));
    let check = check(&expect(|e| e.contains = vec!["Ann".into()]));
    for (coding, body) in [("gzip", gzip(&text)), ("deflate", zlib(&text)), ("zstd", zstd(&text))] {
        assert!(text.len() < 256 * body.len(), "{coding}: {} bytes", body.len());
        for piece in [body.len(), 16 << 10, 4 << 10, 1000, 7] {
            let parts: Vec<&[u8]> = body.chunks(piece).collect();
            let judged = judge(&check, 200, &[("Content-Encoding", coding)], &parts).judged;
            let Judged::Failed(number) = judged else { panic!("{judged:?}") };
            assert!(check.describe(number).contains("256 times its size"), "{coding} in pieces of {piece}");
        }
    }
}

#[test]
fn nothing_is_decoded_where_nothing_reads_the_body() {
    let fields = [Header { name: "Content-Encoding", value: b"gzip" }];
    for plan in [
        ExpectPlan::default(),
        expect(|e| e.headers = vec![("content-encoding".into(), "gzip".into())]),
        expect(|e| e.length = Some(schema::scenario::LengthRange { at_least: Some(9), at_most: Some(9) })),
    ] {
        let check = check(&plan);
        assert_eq!(
            judge(&check, 200, &[("Content-Encoding", "gzip")], &[b"not gzip!"]).judged,
            Judged::Right
        );
    }
    let check = check(&ExpectPlan::default());
    let (mut answer, mut notes) = (Answer::default(), Notes::default());
    let allocations = allocation_counter::measure(|| {
        let mut judge = answer.judge(&check, &mut notes);
        judge.head(200, &fields);
        judge.body(b"not gzip");
        assert_eq!(answer.finish(&check, &mut notes), Judged::Right);
    });
    assert_eq!(allocations.count_total, 0);
}

#[test]
fn a_body_that_was_seen_is_compared_as_it_comes() {
    let coded = gzip(BODY.as_bytes());
    let plan = expect(|e| {
        e.body = BodyExpectation::Json(json!(1));
        e.contains = vec!["Ann".into()];
    });
    let check = Check::compile(&plan, Some(coded.clone()), &BTreeMap::new(), &|_| 0, false).unwrap();
    let seen = seen_over_splits(&check, 200, &[("Content-Encoding", "gzip")], &coded);
    assert_eq!(seen.judged, Judged::Right);
    let seen = judge(&check, 200, &[("Content-Encoding", "gzip")], &[&gzip(b"Ann")]);
    assert_eq!(seen.judged, Judged::WrongBody);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Damage anywhere neither panics nor makes the judgement depend on the split.
    #[test]
    fn damage_is_harmless(
        which in 0..10_usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let (coding, mut body) = coded().swap_remove(which);
        for (at, byte) in &changes {
            let at = at.index(body.len());
            body[at] ^= byte;
        }
        let check = check(&expect(|e| e.json_has = vec!["/data".into()]));
        let fields = [("Content-Encoding", coding)];
        let whole = judge(&check, 200, &fields, &[&body]).judged;
        let (head, tail) = body.split_at(cut.index(body.len()));
        prop_assert_eq!(whole, judge(&check, 200, &fields, &[head, tail]).judged);
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        prop_assert_eq!(whole, judge(&check, 200, &fields, &bytes).judged);
    }
}
