//! Tables of expressions with their values and faults; no text makes the parser panic.

use super::eval::{Frame, Nothing, push_number};
use super::value::Value;
use super::*;
use crate::program::MakeCause;
use proptest::prelude::*;
use std::time::Duration;
use units::Seed;

const NOW: Duration = Duration::from_millis(1_700_000_000_123);

fn env(name: &str) -> Option<String> {
    (name == "STAGE").then(|| "42".to_owned())
}

fn scope<'a>() -> Scope<'a> {
    Scope { vars: &[], captures: None, feeders: &[], tokens: &[], env: &env }
}

/// The text of a template for request 7 of worker 2, which is 23 of all.
fn render(text: &str, seed: u64) -> Result<String, MakeCause> {
    let pieces = compile_text(text.as_bytes(), scope()).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
    let mut scratch = Vec::new();
    let mut frame = Frame {
        rng: Seed(seed).rng(),
        n: 7,
        global: 23,
        worker: 2,
        session: 5,
        captured: None,
        vars: &mut [],
        scratch: &mut scratch,
        outside: Nothing,
        clock: || NOW,
        now: None,
        token: None,
    };
    let mut out = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Literal(text) => out.extend(text),
            Piece::Value(node) => match frame.eval(&node)? {
                Value::Text(span) => out.extend_from_slice(&frame.scratch[span.range()]),
                number => push_number(&mut out, number),
            },
        }
    }
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn values() {
    for (text, expected) in [
        ("", ""),
        ("plain $ { } $", "plain $ { } $"),
        ("a $${x} b $$", "a ${x} b $$"),
        ("${1}${ 2 }", "12"),
        ("${1 + 2 * 3 - 4}", "3"),
        ("${(1 + 2) * 3}", "9"),
        ("${-2 * -3}", "6"),
        ("${- (2 + 1)}", "-3"),
        ("${7 / 2}|${-7 / 2}|${7.0 / 2}", "3|-3|3.5"),
        ("${7 % 3}|${-7 % 3}|${7.5 % 2}", "1|2|1.5"),
        ("${(0 - 9223372036854775808) / -1}|${18446744073709551615 % 1000}", "9223372036854775808|615"),
        (
            "${18446744073709551615 + 1}|${18446744073709551615 * 10 / 7}",
            "18446744073709551616|26352491533870788021",
        ),
        ("${1_000_000}|${1.50}|${1e3}|${2.5e-1}", "1000000|1.5|1000|0.25"),
        ("${\"a\\\"b\\n}\"}", "a\"b\n}"),
        ("${'it'}", "it"),
        ("${counter()}|${counter(100)}|${counter(100, -2)}", "23|123|54"),
        ("${worker_counter()}|${worker_counter(1)}|${worker()}", "7|8|2"),
        ("${counter() % 10}", "3"),
        ("${now_s()}|${now_ms()}", "1700000000|1700000000123"),
        ("${now_iso()}", "2023-11-14T22:13:20.123Z"),
        // FIPS 180-2, appendix B.1.
        ("${sha256('abc')}", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        // RFC 4231, test case 2.
        (
            "${hmac_sha256('Jefe', 'what do ya want for nothing?')}",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        // The check values of the three functions.
        ("${crc32('123456789')}", "3421780262"),
        ("${fnv1a('a')}", "12638187200555641996"),
        ("${hash('')}|${hash('a')}", "17241709254077376921|15154266338359012955"),
        // RFC 4648 §10.
        ("${base64('foob')}|${base64('')}", "Zm9vYg==|"),
        ("${base64url('foob')}|${base64url('??>')}", "Zm9vYg|Pz8-"),
        ("${urlencode('a b&ä/~')}|${urlencode(7)}", "a%20b%26%C3%A4%2F~|7"),
        ("${lower('AbC')}${upper('AbC')}", "abcABC"),
        ("${pad(7, 5)}|${pad(-7, 5)}|${pad('ab', 4, ' ')}|${pad(123456, 3)}", "00007|-0007|  ab|123456"),
        ("${env('STAGE')}|${env('STAGE') + 1}|${env('NONE', 'x')}|${env('NONE', 3)}", "42|43|x|3"),
        ("${choose('a')}|${weighted('a', 0, 'b', 1)}", "a|b"),
        ("${uniform(3, 3)}|${uniform(0, 0.0)}", "3|0"),
        ("${zipf(5, 5, 1.1)}", "5"),
        ("${string(0)}|${string(3, 'x')}|${hex(0)}", "|xxx|"),
    ] {
        assert_eq!(render(text, 1).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn one_line_examples() {
    let sha = |n: u64| render(&format!("${{sha256({n})}}"), 1).unwrap();
    let key = render("${sha256(uniform(1, 1000000) % 1000)}", 9).unwrap();
    assert!((0..1000).any(|n| sha(n) == key), "{key}");
    assert_eq!(render("${hash(counter() % 1000)}", 1), render("${hash(23)}", 1));
}

#[test]
fn faults_of_one_request_are_no_panics() {
    for (text, cause) in [
        ("${1 / (counter() - 23)}", MakeCause::DivisionByZero),
        ("${1 % (counter() - 23)}", MakeCause::DivisionByZero),
        ("${1.5 % (counter() - 23)}", MakeCause::DivisionByZero),
        ("${string(counter() - 24)}", MakeCause::BadLength),
        ("${hex(counter() * 1000000)}", MakeCause::BadLength),
        ("${pad('x', 0.5 + counter())}", MakeCause::BadLength),
        ("${base64(urlencode(pad(counter(), 16777216, '%')))}", MakeCause::TooLong),
        ("${uniform(counter(), 0)}", MakeCause::BadRange),
        ("${uniform(0.5 + counter(), 0)}", MakeCause::BadRange),
        ("${uniform(0, 100000000000 * 100000000000 * counter())}", MakeCause::BadRange),
        ("${counter() * 1e308}", MakeCause::Overflow),
    ] {
        assert_eq!(render(text, 1), Err(cause), "{text}");
    }
    let huge = ["counter() * 10000000000000000000"; 3].join(" * ");
    assert_eq!(render(&format!("${{{huge}}}"), 1), Err(MakeCause::Overflow));
}

/// Place, cause and remedy of faults that are found before the load.
#[test]
fn faults_before_the_load() {
    for (text, at, cause, remedy) in [
        ("a ${unifrom(1, 2)}", 4, "unknown function `unifrom`", "did you mean `uniform`?"),
        ("${nothing}", 2, "unknown name `nothing`", "use one of"),
        ("${countr}", 2, "unknown name `countr`", "did you mean `counter()`?"),
        ("${users.name}", 2, "unknown feeder `users`", "none is declared"),
        ("${uniform(1)}", 2, "`uniform` does not take 1 arguments", "write it as uniform(low, high)"),
        ("${uniform('a', 2)}", 10, "a text stands where a number must be", "write a number"),
        ("${1 + uuid4()}", 6, "a text stands", "write a number"),
        ("${uniform(2, 1)}", 10, "`uniform`: the first bound is above", "write the smaller"),
        ("${uniform(2.5, 1)}", 10, "`uniform`: the first bound is above", "write the smaller"),
        ("${zipf(1, counter(), 1)}", 10, "`zipf`: a fixed whole number", "write a number"),
        ("${zipf(5, 1, 1)}", 10, "`zipf`: the range is empty", "write for example"),
        ("${zipf(1, 5, 0)}", 13, "`zipf`: the exponent", "write for example"),
        ("${weighted('a', 1, 'b')}", 19, "`weighted`: the last value has no weight", "write a number"),
        ("${weighted('a', 0)}", 16, "`weighted`: the weights add up to nothing", "give one"),
        ("${weighted('a', -1)}", 16, "`weighted`: a weight is below 0", "write 0"),
        ("${string(3, '')}", 12, "`string`: the alphabet is empty", "write for example"),
        ("${counter(0, 0)}", 13, "`counter`: a step of 0", "write another step"),
        ("${env('NONE')}", 6, "`env`: the environment has no variable `NONE`", "set it, or write env("),
        ("${token('jwt')}", 8, "unknown token maker `jwt`", "none is declared"),
        ("${session()}", 2, "`session`: there is no [session]", "use counter()"),
        ("${pad(1, 2, 'xy')}", 12, "`pad`: the filling", "write for example"),
        ("${1 / 0}", 2, "an expression divides by zero", "change"),
        ("x${", 1, "a number, a name, a text or `(` was expected, the end found", "write"),
        ("${1", 0, "`}` was expected, the end found", "write `}`"),
        ("${1 2}", 4, "`}` was expected, `2` found", "write `}`"),
        ("${(1}", 4, "`)` was expected", "write `)`"),
        ("${f(1}", 5, "`,` or `)` was expected", "write"),
        ("${a.}", 4, "the name of a column was expected", "write"),
        ("${a[b]}", 4, "the name of a column in quotes", "write"),
        ("${'a}", 2, "the text that begins with ' does not end", "close it"),
        ("${'\\q'}", 3, "unknown escape", "use \\n"),
        ("${1 ? 2}", 4, "`?` has no meaning here", "use numbers"),
        ("${99999999999999999999}", 2, "`99999999999999999999` is too large", "write a smaller"),
        ("${1e999}", 2, "`1e999` is too large", "write a smaller"),
    ] {
        let fault = compile_text(text.as_bytes(), scope()).expect_err(text);
        // The place of an end of text is that of the expression's begin, so the first row's is not tested exactly.
        let is_place = fault.at == at || text == "x${";
        assert!(
            is_place && fault.cause.starts_with(cause) && fault.remedy.starts_with(remedy),
            "{text}: {fault:?}"
        );
    }
}

#[test]
fn depth_is_bounded() {
    for text in [
        format!("${{{}1{}}}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("${{1{}}}", "+1".repeat(100_000)),
        format!("${{1{}}}", "*1".repeat(100_000)),
        format!("${{{}1}}", "-".repeat(100_000)),
        format!("${{{}", "lower(".repeat(100_000)),
        format!("${{choose(1{})}}", ",1".repeat(100_000)),
    ] {
        let fault = compile_text(text.as_bytes(), scope()).expect_err("must be refused");
        assert!(fault.cause.contains("more than"), "{}", fault.cause);
    }
}

fn vars(list: &[(&str, &str)]) -> Result<Vec<String>, (String, String)> {
    let list: Vec<_> = list.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    match compile_vars(&list, scope()) {
        Ok(vars) => Ok(vars.into_iter().map(|var| var.name).collect()),
        Err((name, fault)) => Err((name, fault.cause)),
    }
}

#[test]
fn vars_are_ordered_by_use() {
    let order = vars(&[("a", "b + c"), ("b", "c % 7"), ("c", "uniform(1, 9)")]).unwrap();
    assert_eq!(order, ["c", "b", "a"]);
    assert_eq!(vars(&[("z", "1"), ("a", "2")]).unwrap(), ["z", "a"], "else the given order is kept");
    let circle = vars(&[("a", "b"), ("b", "c + 1"), ("c", "a")]).unwrap_err();
    assert_eq!(circle, ("c".to_owned(), "`a` is used in its own making".to_owned()));
    assert!(vars(&[("a", "a")]).is_err());
    assert!(vars(&[("t", "uuid4()"), ("a", "t + 1")]).is_err(), "kinds pass through vars");
    let chain: Vec<_> = (0..400).map(|i| (format!("v{i}"), format!("v{} + 0", i + 1))).collect();
    let mut chain: Vec<_> = chain.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    chain.push(("v400", "counter()"));
    assert!(vars(&chain).unwrap_err().1.starts_with("more than 256 vars"));
}

/// Means over many draws, within five standard errors.
#[test]
fn draws_follow_their_laws() {
    let mean = |text: &str| -> f64 {
        let n = 4000;
        (0..n).map(|seed| render(text, seed).unwrap().parse::<f64>().unwrap()).sum::<f64>() / n as f64
    };
    for (text, expected, deviation) in [
        ("${uniform(1, 9)}", 5.0, 2.6),
        ("${uniform(1, 9.0)}", 5.0, 2.3),
        ("${normal(10, 2)}", 10.0, 2.0),
        ("${exponential(4)}", 4.0, 4.0),
        ("${choose(1, 2, 3)}", 2.0, 0.82),
        ("${weighted(1, 3, 5, 1)}", 2.0, 1.74),
        ("${digits(1)}", 4.5, 2.88),
    ] {
        let found = mean(text);
        assert!((found - expected).abs() < 5.0 * deviation / 4000_f64.sqrt(), "{text}: {found}");
    }
}

#[test]
fn random_texts_have_their_form() {
    let uuid = |text: &str, version: char| {
        let made = render(text, 3).unwrap();
        let bytes = made.as_bytes();
        assert_eq!((made.len(), made.chars().nth(14)), (36, Some(version)), "{made}");
        assert!(b"89ab".contains(&bytes[19]) && bytes[8] == b'-', "{made}");
        made
    };
    uuid("${uuid4()}", '4');
    assert!(uuid("${uuid7()}", '7').starts_with("018bcfe5-687b"), "milliseconds since 1970 come first");
    for (text, alphabet) in [("${hex(50)}", "0123456789abcdef"), ("${digits(50)}", "0123456789")] {
        let made = render(text, 4).unwrap();
        assert!(made.len() == 50 && made.chars().all(|c| alphabet.contains(c)), "{made}");
    }
    assert!(render("${string(50)}", 4).unwrap().chars().all(|c| c.is_ascii_alphanumeric()));
    assert!(render("${string(50, 'xyz')}", 4).unwrap().chars().all(|c| "xyz".contains(c)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = compile_text(&bytes, scope());
    }

    /// Texts of the language's own words come further than random bytes.
    #[test]
    fn no_words_make_it_panic(words in proptest::collection::vec(word(), 0..30)) {
        let text = format!("${{{}}}", words.concat());
        if let Ok(pieces) = compile_text(text.as_bytes(), scope())
            && pieces.iter().any(|piece| matches!(piece, Piece::Value(_)))
        {
            let _ = render(&text, 1);
        }
    }
}

fn word() -> impl Strategy<Value = String> {
    let words = "( ) + - * / % , . [ ] ${ } 0 1 7 -3 2.5 1e300 18446744073709551615 'a' \"5\" '' x users";
    let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    words.extend(super::functions::names().map(|name| format!("{name}(")));
    words.push(" ".to_owned());
    proptest::sample::select(words)
}
