//! The table of cases, and what JSON cannot hold.

use super::table::Shown;
use super::{counted, grouped, listed, listed_some, picture, published, sentence, table};
use serde_json::Value;

/// The cases of one style.
fn cases(style: &str) -> Vec<(String, Vec<Value>)> {
    let all: Value = serde_json::from_str(include_str!("../../cases/numbers.json")).unwrap();
    let functions = all[style].as_object().unwrap();
    let of = |(name, cases): (&String, &Value)| {
        cases
            .as_array()
            .unwrap()
            .iter()
            .map(|case| (name.clone(), case.as_array().unwrap().clone()))
            .collect()
    };
    functions.iter().flat_map(|function| -> Vec<_> { of(function) }).collect()
}

/// Each case's only argument through the function of its name.
fn check(style: &str, show: impl Fn(&str, f64) -> String) {
    for (name, case) in cases(style) {
        let (value, wanted) = (case[0].as_f64().unwrap(), case[1].as_str().unwrap());
        assert_eq!(show(&name, value), wanted, "{style} {name} of {value}");
    }
}

#[test]
fn every_case_of_a_table() {
    check("table", |name, value| match name {
        "duration" => table::duration(value),
        "setting" => table::setting(value as u64),
        "rate" => table::rate(value),
        "bytes" => table::bytes(value),
        "percent" => table::percent(value),
        "chosen_percent" => table::chosen_percent(value),
        "change" => table::change(value),
        "ratio" => table::ratio(value),
        "p_value" => table::p_value(value),
        "axis" => table::axis(value),
        "plain" => table::plain(value),
        "count" => grouped(value as u64),
        _ => panic!("no function {name}"),
    });
}

#[test]
fn every_interval_of_a_table() {
    for (name, case) in cases("table_intervals") {
        let (low, high, wanted) = (case[0].as_f64(), case[1].as_f64(), case[2].as_str().unwrap());
        if name == "change" {
            assert_eq!(table::changes(None, low, high)[1], wanted, "{name} from {low:?} to {high:?}");
            continue;
        }
        let show = |value: f64, more: usize| -> Shown {
            match name.as_str() {
                "per_second" => table::shown_rate(value, more),
                "nanoseconds" => table::shown_duration(value, more),
                "bytes" => table::shown_bytes(value, more),
                "share" => table::shown_percent(value, more),
                "ratio" => table::shown_ratio(value, more),
                "difference_nanoseconds" => {
                    table::shown_difference(value, table::shown_duration(value, more))
                }
                _ => panic!("no function {name}"),
            }
        };
        assert_eq!(table::interval(low, high, show), wanted, "{name} from {low:?} to {high:?}");
    }
    assert_eq!(table::interval(None, Some(f64::NAN), table::shown_ratio), "unbounded");
    assert_eq!(table::changes(Some(1.9), Some(1.8), Some(2.1)), ["×1.90", "×1.80 … 2.10"]);
    assert_eq!(table::changes(Some(1.041), Some(1.03), Some(1.05)), ["+4.1 %", "+3.0 … +5.0 %"]);
    assert_eq!(table::changes(None, None, Some(f64::NAN)), ["–", "unbounded"]);
}

#[test]
fn every_case_of_a_sentence() {
    check("sentence", |name, value| match name {
        "number" => sentence::number(value),
        "ratio" => sentence::ratio(value),
        "percent" => sentence::percent(value),
        "half_width" => sentence::half_width(value),
        "duration" => sentence::duration(value),
        "bytes" => sentence::bytes(value),
        "long" => sentence::long(value as u64),
        _ => panic!("no function {name}"),
    });
}

#[test]
fn every_case_of_a_published_table_and_of_a_picture() {
    check("published", |name, value| match name {
        "digits" => published::digits(value, 3),
        _ => panic!("no function {name}"),
    });
    check("picture", |name, value| match name {
        "time" => picture::time(value as u64),
        "rate" => picture::rate(value),
        "size" => picture::size(value),
        _ => panic!("no function {name}"),
    });
}

#[test]
fn nothing_writes_nan() {
    use table::{axis, bytes, change, chosen_percent, duration, p_value, percent, plain, rate, ratio};
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for show in [duration, rate, bytes, percent, change, ratio, p_value, axis, plain, chosen_percent] {
            assert_eq!(show(bad), table::NONE);
        }
        for show in [sentence::number, sentence::ratio, sentence::percent, sentence::half_width] {
            assert_eq!(show(bad), if bad.is_nan() { "no number" } else { "unbounded" });
        }
    }
    assert_eq!(published::digits(f64::NAN, 3), "∞");
    assert_eq!(published::digits(-0.0, 3), "0");
    assert_eq!(published::digits(f64::NEG_INFINITY, 3), "−∞");
}

#[test]
fn numbers_of_things() {
    assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    assert_eq!(
        (counted(1, "worker"), counted(64, "connection")),
        ("1 worker".into(), "64 connections".into())
    );
}

#[test]
fn an_estimate_has_the_digits_that_tell_the_ends_of_its_interval_apart() {
    let words = |low: f64, high: f64| {
        let [_, low, high] = sentence::numbers(None, (low, high));
        format!("{low} to {high}")
    };
    assert_eq!(words(799.0, 801.0), "799 to 801");
    assert_eq!(words(799.6, 800.4), "799.6 to 800.4");
    assert_eq!(words(799.98, 800.01), "799.98 to 800.01");
    assert_eq!(words(800.0, 800.0), "800 to 800");
    assert_eq!(words(800.000_01, 800.000_02), "800 to 800");
    assert_eq!(words(12_345.6, 12_346.1), "12,345.6 to 12,346.1");
    assert_eq!(sentence::ratios(Some(1.1), (1.0996, 1.1004)), ["1.1000", "1.0996", "1.1004"]);
    assert_eq!(sentence::ratios(Some(1.1), (1.09, 1.11)), ["1.1", "1.09", "1.11"]);
    assert_eq!(sentence::ratios(Some(1.1), (1.1, 1.1)), ["1.1", "1.1", "1.1"]);
    assert_eq!(sentence::ratios(Some(1.1), (0.0, f64::INFINITY)), ["1.1", "0", "unbounded"]);
    assert_eq!(sentence::ratios(None, (f64::NEG_INFINITY, 2.0)), ["unknown", "unbounded", "2"]);
}

#[test]
fn shares_have_the_digits_of_half_their_interval() {
    use sentence::percents;
    assert_eq!(percents([0.041, 0.029, 0.053]), ["4.1 %", "2.9 %", "5.3 %"]);
    assert_eq!(percents([0.1, 0.0998, 0.1002]), ["10.00 %", "9.98 %", "10.02 %"]);
    assert_eq!(percents([0.0998, 0.0993, 0.1002]), ["9.98 %", "9.93 %", "10.02 %"]);
    assert_eq!(percents([0.103, 0.099, 0.105]), ["10.3 %", "9.9 %", "10.5 %"]);
    assert_eq!(percents([0.1, 0.09998, 0.10001]), ["10.000 %", "9.998 %", "10.001 %"]);
    assert_eq!(percents([0.1, 0.1, 0.100_000_1]), ["10 %", "10 %", "10 %"]);
    assert_eq!(percents([0.1, 0.1, 0.1]), ["10 %", "10 %", "10 %"]);
    assert_eq!(percents([0.1, f64::NAN, f64::INFINITY]), ["10 %", "no number", "unbounded"]);
}

#[test]
fn of_long_lists_some_are_named_and_the_rest_counted() {
    let many: Vec<u32> = (1..=2_005).collect();
    assert_eq!(listed_some(&many, 3), "1, 2, 3 and 2,002 more");
    assert_eq!(listed_some(&many[..3], 3), "1, 2 and 3");
    assert_eq!(listed_some(&many[..1], 3), "1");
}

#[test]
fn lists_end_with_an_and() {
    let texts = [listed(&[0; 0]), listed(&[1]), listed(&[1, 2]), listed(&["1", "2", "5"])];
    assert_eq!(texts, ["", "1", "1 and 2", "1, 2 and 5"]);
}
