//! The functions of the language: names, numbers and kinds of arguments, and the nodes that they become.

use super::lex::Fault;
use super::node::{ClockForm, Node};
use super::scope::{Scope, constant_text, must_be_number, unknown};
use super::text;
use super::zipf::Zipf;
use std::ops::RangeInclusive;

/// A call whose arguments are compiled; each comes with its place.
pub(super) struct Call<'a> {
    pub(super) at: usize,
    pub(super) name: &'a str,
    pub(super) arguments: Vec<(usize, Node)>,
    pub(super) scope: Scope<'a>,
}

/// How it is written, how many arguments it takes, what it becomes.
struct Function {
    form: &'static str,
    count: RangeInclusive<usize>,
    build: fn(&Call<'_>) -> Result<Node, Fault>,
}

const MANY: usize = usize::MAX;
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// In the order of the guide.
const FUNCTIONS: &[Function] = &[
    function("counter(start, step)", 0..=2, |call| call.counter(false)),
    function("worker_counter(start, step)", 0..=2, |call| call.counter(true)),
    function("uniform(low, high)", 2..=2, uniform),
    function("zipf(first, last, exponent)", 3..=3, zipf),
    function("normal(mean, deviation)", 2..=2, |call| Ok(Node::Normal(call.number(0)?, call.number(1)?))),
    function("exponential(mean)", 1..=1, |call| Ok(Node::Exponential(call.number(0)?))),
    function("choose(a, b, …)", 1..=MANY, |call| {
        Ok(Node::Choose(call.arguments.iter().map(|(_, node)| node.clone()).collect()))
    }),
    function("weighted(a, weight, b, weight, …)", 2..=MANY, weighted),
    function("string(count, alphabet)", 1..=2, characters),
    function("hex(count)", 1..=1, |call| call.characters_of(b"0123456789abcdef")),
    function("digits(count)", 1..=1, |call| call.characters_of(b"0123456789")),
    function("uuid4()", 0..=0, |_| Ok(Node::Uuid4)),
    function("uuid7()", 0..=0, |_| Ok(Node::Uuid7)),
    function("now_s()", 0..=0, |_| Ok(Node::Clock(ClockForm::Seconds))),
    function("now_ms()", 0..=0, |_| Ok(Node::Clock(ClockForm::Millis))),
    function("now_iso()", 0..=0, |_| Ok(Node::Clock(ClockForm::Iso))),
    function("sha256(value)", 1..=1, |call| Ok(Node::Convert(text::sha256, call.any(0)))),
    function("crc32(value)", 1..=1, |call| Ok(Node::Digest(text::crc32, call.any(0)))),
    function("fnv1a(value)", 1..=1, |call| Ok(Node::Digest(text::fnv1a, call.any(0)))),
    function("hash(value)", 1..=1, |call| Ok(Node::Digest(text::xxh64, call.any(0)))),
    function("hmac_sha256(key, value)", 2..=2, hmac),
    function("base64(value)", 1..=1, |call| Ok(Node::Convert(text::base64, call.any(0)))),
    function("base64url(value)", 1..=1, |call| Ok(Node::Convert(text::base64url, call.any(0)))),
    function("urlencode(value)", 1..=1, |call| Ok(Node::Convert(text::urlencode, call.any(0)))),
    function("lower(value)", 1..=1, |call| Ok(Node::Convert(text::lower, call.any(0)))),
    function("upper(value)", 1..=1, |call| Ok(Node::Convert(text::upper, call.any(0)))),
    function("pad(value, width, fill)", 2..=3, pad),
    function("env(name, default)", 1..=2, env),
    function("token(name)", 1..=1, token),
    function("worker()", 0..=0, |_| Ok(Node::Worker)),
    function("session()", 0..=0, session),
];

const fn function(
    form: &'static str,
    count: RangeInclusive<usize>,
    build: fn(&Call<'_>) -> Result<Node, Fault>,
) -> Function {
    Function { form, count, build }
}

impl Function {
    fn name(&self) -> &'static str {
        self.form.split('(').next().unwrap_or(self.form)
    }
}

pub(super) fn names() -> impl Iterator<Item = &'static str> + Clone {
    FUNCTIONS.iter().map(Function::name)
}

/// Resolves a call.
pub(super) fn build(call: Call<'_>) -> Result<Node, Fault> {
    let Some(function) = FUNCTIONS.iter().find(|function| function.name() == call.name) else {
        return Err(unknown(call.at, "function", call.name, names()));
    };
    if !function.count.contains(&call.arguments.len()) {
        let cause = format!("`{}` does not take {} arguments", call.name, call.arguments.len());
        return Err(Fault::new(call.at, cause, format!("write it as {}", function.form)));
    }
    (function.build)(&call)
}

impl Call<'_> {
    fn fault(&self, index: usize, cause: impl Into<String>, remedy: impl Into<String>) -> Fault {
        let at = self.arguments.get(index).map_or(self.at, |(at, _)| *at);
        Fault::new(at, format!("`{}`: {}", self.name, cause.into()), remedy)
    }

    fn any(&self, index: usize) -> Box<Node> {
        Box::new(self.arguments[index].1.clone())
    }

    fn number(&self, index: usize) -> Result<Box<Node>, Fault> {
        let (at, node) = &self.arguments[index];
        must_be_number(*at, node, self.scope)?;
        Ok(self.any(index))
    }

    fn constant_int(&self, index: usize) -> Result<i128, Fault> {
        match &self.arguments[index].1 {
            Node::Int(value) => Ok(*value),
            // The text of an environment variable.
            Node::Text(text) if parsed::<i128>(text).is_some() => Ok(parsed(text).unwrap_or_default()),
            _ => {
                Err(self.fault(index, "a fixed whole number must stand here", "write a number such as 1000"))
            }
        }
    }

    fn constant_float(&self, index: usize) -> Result<f64, Fault> {
        match &self.arguments[index].1 {
            Node::Int(value) => Ok(*value as f64),
            Node::Float(value) => Ok(*value),
            Node::Text(text) if parsed::<f64>(text).is_some_and(f64::is_finite) => {
                Ok(parsed(text).unwrap_or_default())
            }
            _ => Err(self.fault(index, "a fixed number must stand here", "write a number such as 1.1")),
        }
    }

    fn constant_text(&self, index: usize) -> Result<String, Fault> {
        match &self.arguments[index].1 {
            node @ Node::Text(_) => Ok(String::from_utf8_lossy(&constant_text(node)).into_owned()),
            _ => Err(self.fault(index, "a fixed text must stand here", "write it in quotes")),
        }
    }

    fn counter(&self, of_worker: bool) -> Result<Node, Fault> {
        let start = if self.arguments.is_empty() { 0 } else { self.constant_int(0)? };
        let step = if self.arguments.len() < 2 { 1 } else { self.constant_int(1)? };
        if step == 0 {
            return Err(self.fault(1, "a step of 0 repeats the same number", "write another step"));
        }
        Ok(Node::Counter { of_worker, start, step })
    }

    fn characters_of(&self, alphabet: &'static [u8]) -> Result<Node, Fault> {
        Ok(Node::Characters { count: self.number(0)?, alphabet })
    }
}

fn parsed<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

fn uniform(call: &Call<'_>) -> Result<Node, Fault> {
    let (low, high) = (call.number(0)?, call.number(1)?);
    let is_empty = match (&*low, &*high) {
        (Node::Int(low), Node::Int(high)) => {
            if high - low > i128::from(u64::MAX) {
                return Err(call.fault(1, "the range is wider than 64 bits", "write nearer bounds"));
            }
            low > high
        }
        (a, b) if a.is_constant() && b.is_constant() => call.constant_float(0)? > call.constant_float(1)?,
        _ => false,
    };
    if is_empty {
        return Err(call.fault(0, "the first bound is above the second", "write the smaller bound first"));
    }
    Ok(Node::Uniform(low, high))
}

fn zipf(call: &Call<'_>) -> Result<Node, Fault> {
    let (first, last) = (call.constant_int(0)?, call.constant_int(1)?);
    let exponent = call.constant_float(2)?;
    let ranks = last - first + 1;
    if !(1..=1 << 53).contains(&ranks) {
        return Err(call.fault(
            1,
            "the range is empty or wider than 2^53",
            "write for example zipf(1, 1000, 1.1)",
        ));
    }
    if !(exponent > 0.0 && exponent <= 100.0) {
        return Err(call.fault(2, "the exponent must be above 0 and at most 100", "write for example 1.1"));
    }
    Ok(Node::Zipf { first, law: Zipf::new(ranks as f64, exponent) })
}

fn weighted(call: &Call<'_>) -> Result<Node, Fault> {
    if !call.arguments.len().is_multiple_of(2) {
        let last = call.arguments.len() - 1;
        return Err(call.fault(last, "the last value has no weight", "write a number after each value"));
    }
    let (mut sums, mut choices, mut sum) = (Vec::new(), Vec::new(), 0.0);
    for index in (0..call.arguments.len()).step_by(2) {
        let weight = call.constant_float(index + 1)?;
        if weight < 0.0 {
            return Err(call.fault(index + 1, "a weight is below 0", "write 0 or more"));
        }
        sum += weight;
        sums.push(sum);
        choices.push(call.arguments[index].1.clone());
    }
    if !(sum > 0.0 && sum.is_finite()) {
        return Err(call.fault(1, "the weights add up to nothing", "give one value a weight above 0"));
    }
    Ok(Node::Weighted { sums: sums.into(), choices: choices.into() })
}

fn characters(call: &Call<'_>) -> Result<Node, Fault> {
    if call.arguments.len() < 2 {
        return call.characters_of(LETTERS);
    }
    let alphabet = call.constant_text(1)?;
    if alphabet.is_empty() || !alphabet.is_ascii() {
        return Err(call.fault(1, "the alphabet is empty or not ASCII", "write for example \"abcdef\""));
    }
    Ok(Node::OwnCharacters { count: call.number(0)?, alphabet: alphabet.into_bytes().into() })
}

fn hmac(call: &Call<'_>) -> Result<Node, Fault> {
    Ok(match &call.arguments[0].1 {
        key if key.is_constant() => {
            let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &constant_text(key));
            Node::KeyedHmac { key, message: call.any(1) }
        }
        _ => Node::Hmac { key: call.any(0), message: call.any(1) },
    })
}

fn pad(call: &Call<'_>) -> Result<Node, Fault> {
    let fill = if call.arguments.len() < 3 { "0".to_owned() } else { constant_fill(call)? };
    let [fill] = fill.as_bytes() else {
        return Err(call.fault(2, "the filling is not one ASCII character", "write for example \"0\""));
    };
    Ok(Node::Pad { value: call.any(0), width: call.number(1)?, fill: *fill })
}

fn constant_fill(call: &Call<'_>) -> Result<String, Fault> {
    match &call.arguments[2].1 {
        digit @ Node::Int(_) => Ok(String::from_utf8_lossy(&constant_text(digit)).into_owned()),
        _ => call.constant_text(2),
    }
}

fn env(call: &Call<'_>) -> Result<Node, Fault> {
    let name = call.constant_text(0)?;
    match ((call.scope.env)(&name), call.arguments.get(1)) {
        (Some(value), _) => Ok(Node::Text(value.into_bytes().into())),
        (None, Some((_, default))) if default.is_constant() => Ok(default.clone()),
        (None, Some(_)) => {
            Err(call.fault(1, "the default is not fixed", "write a number or a text in quotes"))
        }
        (None, None) => {
            let remedy = format!("set it, or write env(\"{name}\", \"a default\")");
            Err(call.fault(0, format!("the environment has no variable `{name}`"), remedy))
        }
    }
}

fn token(call: &Call<'_>) -> Result<Node, Fault> {
    let name = call.constant_text(0)?;
    match call.scope.tokens.iter().position(|known| *known == name) {
        Some(place) => Ok(Node::Token(place as u8)),
        None => Err(unknown(
            call.arguments[0].0,
            "token maker",
            &name,
            call.scope.tokens.iter().map(String::as_str),
        )),
    }
}

fn session(call: &Call<'_>) -> Result<Node, Fault> {
    match call.scope.captures {
        Some(_) => Ok(Node::Session),
        None => Err(call.fault(0, "there is no [session] in this scenario", "use counter() instead")),
    }
}
