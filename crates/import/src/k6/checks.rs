//! `check(res, { 'name': (r) => … })` as what a right answer is.

use super::tree::{Entry, Expr, Function, Kind};
use super::values::pointer;
use schema::scenario::{Expect, LengthRange, StatusItem};
use serde_json::Value;

/// Puts a check in; says why it cannot be where prony has no such check.
pub(super) fn put(check: &Entry, expect: &mut Expect) -> Result<(), &'static str> {
    let Expr::Function(function) = &check.value else { return Err("it is no function that is written here") };
    let (Some(answer), Some(condition)) = (function.parameters.first(), condition(function)) else {
        return Err("it is more than one condition");
    };
    let mut parts = Vec::new();
    and(condition, &mut parts);
    let mut made = expect.clone();
    let mut bounds = (None, None);
    for part in parts {
        part_of(part, answer, &mut made, &mut bounds)?;
    }
    match bounds {
        (None, None) => {}
        (Some(from), Some(to)) if from <= to => made.status = vec![StatusItem::Range(format!("{from}-{to}"))],
        (None, Some(to)) if to >= 100 => made.status = vec![StatusItem::Range(format!("100-{to}"))],
        (Some(from), None) if from <= 599 => made.status = vec![StatusItem::Range(format!("{from}-599"))],
        _ => return Err("no status is between its bounds"),
    }
    *expect = made;
    Ok(())
}

/// What a function returns, where that is all it does.
fn condition(function: &Function) -> Option<&Expr> {
    match &function.body[..] {
        [only] => match &only.kind {
            Kind::Return(expr) => Some(expr),
            _ => None,
        },
        _ => None,
    }
}

fn and<'e>(expr: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary("&&", left, right) => {
            and(left, parts);
            and(right, parts);
        }
        one => parts.push(one),
    }
}

/// A part of the answer that a condition is about.
#[derive(Debug, PartialEq)]
enum About {
    Status,
    Body,
    Length,
    Json(String),
    Header(String),
    Time,
}

fn about(expr: &Expr, answer: &str) -> Option<About> {
    let is_answer = |expr: &Expr| *expr == Expr::Name(answer.to_owned());
    match expr {
        Expr::Member(of, name) if is_answer(of) => match name.as_str() {
            "status" => Some(About::Status),
            "body" => Some(About::Body),
            _ => None,
        },
        Expr::Member(of, name) => match &**of {
            Expr::Member(inner, part) if is_answer(inner) && part == "headers" => {
                Some(About::Header(name.clone()))
            }
            Expr::Member(inner, part) if is_answer(inner) && part == "timings" => Some(About::Time),
            inner => match about(inner, answer)? {
                About::Body if name == "length" => Some(About::Length),
                About::Json(path) => {
                    Some(About::Json(format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))))
                }
                _ => None,
            },
        },
        Expr::Index(of, at) => match (&**of, &**at) {
            (Expr::Member(inner, part), Expr::Text(name)) if is_answer(inner) && part == "headers" => {
                Some(About::Header(name.clone()))
            }
            (inner, at) => match (about(inner, answer)?, at) {
                (About::Json(path), Expr::Text(name)) => {
                    Some(About::Json(format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))))
                }
                (About::Json(path), Expr::Number(number)) => Some(About::Json(format!("{path}/{number}"))),
                _ => None,
            },
        },
        Expr::Call(callee, arguments) => match (&**callee, &arguments[..]) {
            (Expr::Member(of, name), []) if is_answer(of) && name == "json" => {
                Some(About::Json(String::new()))
            }
            (Expr::Member(of, name), [Expr::Text(path)]) if is_answer(of) && name == "json" => {
                Some(About::Json(pointer(path)))
            }
            (Expr::Member(of, name), [body])
                if **of == Expr::Name("JSON".to_owned())
                    && name == "parse"
                    && about(body, answer) == Some(About::Body) =>
            {
                Some(About::Json(String::new()))
            }
            _ => None,
        },
        _ => None,
    }
}

type Bounds = (Option<u16>, Option<u16>);

const NO_SUCH: &str = "prony has no such check";

fn part_of(expr: &Expr, answer: &str, expect: &mut Expect, bounds: &mut Bounds) -> Result<(), &'static str> {
    match expr {
        Expr::Binary(sign, left, right) => {
            // `200 === r.status` says the same as the other way round.
            let (sign, left, right) = match (about(left, answer), about(right, answer)) {
                (None, Some(_)) => (turned(sign), right, left),
                _ => (*sign, left, right),
            };
            if let Some(text) = index_of(left, answer)
                && matches!((sign, &**right), ("!=" | "!==" | ">", Expr::Number(number)) if *number == -1.0)
            {
                expect.contains.push(text.to_owned());
                return Ok(());
            }
            let about = about(left, answer).ok_or(NO_SUCH)?;
            compared(&about, sign, right, expect, bounds)
        }
        Expr::Call(callee, arguments) => match (&**callee, &arguments[..]) {
            (Expr::Member(of, name), [Expr::Text(text)])
                if name == "includes" && about(of, answer) == Some(About::Body) =>
            {
                expect.contains.push(text.clone());
                Ok(())
            }
            (Expr::Member(of, name), [status])
                if name == "includes" && about(status, answer) == Some(About::Status) =>
            {
                let Expr::List(codes) = &**of else { return Err(NO_SUCH) };
                expect.status = codes
                    .iter()
                    .map(|code| status_of(code).map(StatusItem::Code))
                    .collect::<Option<_>>()
                    .ok_or(NO_SUCH)?;
                Ok(())
            }
            _ => truth(expr, answer, expect),
        },
        _ => truth(expr, answer, expect),
    }
}

/// `r.json('a')` alone: it is there.
fn truth(expr: &Expr, answer: &str, expect: &mut Expect) -> Result<(), &'static str> {
    match about(expr, answer) {
        Some(About::Json(path)) if !path.is_empty() => expect.json_has.push(path),
        Some(About::Body) => expect.length = Some(LengthRange { at_least: Some(1), at_most: None }),
        _ => return Err(NO_SUCH),
    }
    Ok(())
}

fn index_of<'e>(expr: &'e Expr, answer: &str) -> Option<&'e str> {
    let Expr::Call(callee, arguments) = expr else { return None };
    match (&**callee, &arguments[..]) {
        (Expr::Member(of, name), [Expr::Text(text)])
            if name == "indexOf" && about(of, answer) == Some(About::Body) =>
        {
            Some(text)
        }
        _ => None,
    }
}

fn turned(sign: &'static str) -> &'static str {
    match sign {
        "<" => ">",
        ">" => "<",
        "<=" => ">=",
        ">=" => "<=",
        other => other,
    }
}

fn status_of(expr: &Expr) -> Option<u16> {
    match expr {
        Expr::Number(number) if (100.0..=999.0).contains(number) && number.fract() == 0.0 => {
            Some(*number as u16)
        }
        _ => None,
    }
}

fn json_of(expr: &Expr) -> Option<Value> {
    Some(match expr {
        Expr::Text(text) => Value::String(text.clone()),
        Expr::Bool(is) => Value::Bool(*is),
        Expr::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => Value::from(*number as i64),
        Expr::Number(number) => Value::from(*number),
        Expr::Null => Value::Null,
        _ => return None,
    })
}

fn compared(
    about: &About,
    sign: &str,
    with: &Expr,
    expect: &mut Expect,
    (from, to): &mut Bounds,
) -> Result<(), &'static str> {
    let equals = matches!(sign, "==" | "===");
    let differs = matches!(sign, "!=" | "!==");
    match about {
        About::Time => return Err("a time is limited by --fail 'max>=…'"),
        About::Status => {
            let status = status_of(with).ok_or(NO_SUCH)?;
            match sign {
                _ if equals => expect.status = vec![StatusItem::Code(status)],
                ">=" => *from = Some(status),
                ">" => *from = Some(status + 1),
                "<=" => *to = Some(status),
                "<" => *to = Some(status - 1),
                _ => return Err(NO_SUCH),
            }
        }
        About::Body => match with {
            Expr::Text(text) if equals => expect.body = Some(text.clone()),
            Expr::Null if differs => expect.length = Some(LengthRange { at_least: Some(1), at_most: None }),
            _ => return Err(NO_SUCH),
        },
        About::Length => {
            let Expr::Number(number) = with else { return Err(NO_SUCH) };
            let bytes = number.max(0.0) as u64;
            let (least, most) = match sign {
                ">" => (Some(bytes.saturating_add(1)), None),
                ">=" => (Some(bytes), None),
                "<" => (None, Some(bytes.saturating_sub(1))),
                "<=" => (None, Some(bytes)),
                _ if equals => (Some(bytes), Some(bytes)),
                _ => return Err(NO_SUCH),
            };
            let known = expect.length.unwrap_or_default();
            expect.length =
                Some(LengthRange { at_least: least.or(known.at_least), at_most: most.or(known.at_most) });
        }
        About::Json(path) if path.is_empty() => return Err(NO_SUCH),
        About::Json(path) if differs && *with == Expr::Null => expect.json_has.push(path.clone()),
        About::Json(path) if equals => {
            let value = json_of(with).ok_or(NO_SUCH)?;
            expect.json_equals.insert(path.clone(), value);
        }
        About::Header(name) => match with {
            Expr::Text(text) if equals => drop(expect.headers.insert(name.clone(), text.clone())),
            Expr::Null if differs => drop(expect.headers.insert(name.clone(), String::new())),
            _ => return Err(NO_SUCH),
        },
        About::Json(_) => return Err(NO_SUCH),
    }
    Ok(())
}
