//! Evaluation of compiled expressions for one request.
//!
//! Invariants: texts lie in one scratch memory that is cleared for each request, so nothing allocates once it has
//! grown; no input panics: what cannot be computed is a [`MakeCause`].

use super::node::{ClockForm, Node};
use super::parse::Operator;
use super::text;
use super::value::{Span, Value};
use crate::program::{Captured, MakeCause};
use crate::token::TokenUse;
use std::io::Write as _;
use std::time::Duration;
use units::Rng;

/// Longest text that `string`, `hex`, `digits` and `pad` make.
const MADE_BYTES_MAX: i128 = 16 << 20;

/// Most bytes that the expressions of one request make, those of texts within others included: conversions that
/// stand within each other would else grow without bound.
pub(crate) const TEXTS_BYTES_MAX: usize = 64 << 20;

/// Where values come from that lie outside of the expression: rows of feeders and tokens.
pub(crate) trait Outside {
    /// Appends a column of this request's row to `out`.
    fn column(&mut self, feeder: u16, column: u16, out: &mut Vec<u8>) -> Result<(), MakeCause>;
    /// Appends this request's token to `out`.
    fn token(&mut self, maker: u8, out: &mut Vec<u8>) -> Result<TokenUse, MakeCause>;
}

/// For expressions that cannot reach anything: constants and claims of tokens.
pub(crate) struct Nothing;

impl Outside for Nothing {
    fn column(&mut self, _: u16, _: u16, _: &mut Vec<u8>) -> Result<(), MakeCause> {
        Err(MakeCause::OutOfReach)
    }

    fn token(&mut self, _: u8, _: &mut Vec<u8>) -> Result<TokenUse, MakeCause> {
        Err(MakeCause::OutOfReach)
    }
}

/// All that an expression can refer to while one request is made.
pub(crate) struct Frame<'a, O> {
    pub(crate) rng: Rng,
    /// Number of the request among those of this worker, and among all.
    pub(crate) n: u64,
    pub(crate) global: u64,
    pub(crate) worker: u64,
    pub(crate) session: u64,
    pub(crate) captured: Option<&'a Captured>,
    pub(crate) vars: &'a mut [Value],
    pub(crate) scratch: &'a mut Vec<u8>,
    pub(crate) outside: O,
    /// Since the Unix epoch; read once for each request that asks for it.
    pub(crate) clock: fn() -> Duration,
    pub(crate) now: Option<Duration>,
    pub(crate) token: Option<TokenUse>,
}

impl<O: Outside> Frame<'_, O> {
    pub(crate) fn eval(&mut self, node: &Node) -> Result<Value, MakeCause> {
        let value = self.value(node)?;
        if self.scratch.len() > TEXTS_BYTES_MAX { Err(MakeCause::TooLong) } else { Ok(value) }
    }

    fn value(&mut self, node: &Node) -> Result<Value, MakeCause> {
        Ok(match node {
            Node::Int(value) => Value::Int(*value),
            Node::Float(value) => Value::Float(*value),
            Node::Text(value) => self.put(|out| out.extend_from_slice(value)),
            Node::Var(index) => self.vars.get(usize::from(*index)).copied().ok_or(MakeCause::OutOfReach)?,
            Node::Captured(index) => {
                let value = self.captured.and_then(|captured| captured.get(usize::from(*index)));
                let value = value.ok_or(MakeCause::NotCaptured(*index))?;
                self.put(|out| out.extend_from_slice(value))
            }
            Node::Column { feeder, column } => {
                let from = self.scratch.len();
                self.outside.column(*feeder, *column, self.scratch)?;
                self.behind(from)
            }
            Node::Token(maker) => {
                let from = self.scratch.len();
                let used = self.outside.token(*maker, self.scratch)?;
                self.token.get_or_insert(used);
                self.behind(from)
            }
            Node::Negate(inner) => match self.number(inner)? {
                Value::Int(value) => Value::Int(value.checked_neg().ok_or(MakeCause::Overflow)?),
                Value::Float(value) => Value::Float(-value),
                Value::Text(_) => return Err(MakeCause::NotANumber),
            },
            Node::Binary(operator, left, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                apply(*operator, left, right)?
            }
            Node::Counter { of_worker, start, step } => {
                let count = i128::from(if *of_worker { self.n } else { self.global });
                let value = count.checked_mul(*step).and_then(|sum| sum.checked_add(*start));
                Value::Int(value.ok_or(MakeCause::Overflow)?)
            }
            Node::Worker => Value::Int(self.worker.into()),
            Node::Session => Value::Int(self.session.into()),
            Node::Trace(tracing) => {
                let text = tracing.context(self.global).traceparent();
                self.put(|out| out.extend_from_slice(&text))
            }
            Node::Clock(form) => self.clock_value(*form),
            Node::Digest(digest, inner) => {
                let text = self.text(inner)?;
                Value::Int(digest(&self.scratch[text.range()]).into())
            }
            Node::Convert(convert, inner) => {
                let text = self.text(inner)?;
                self.put(|out| convert(out, text))
            }
            Node::Hmac { key, message } => {
                let (key, message) = (self.text(key)?, self.text(message)?);
                let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &self.scratch[key.range()]);
                self.hmac(&key, message)
            }
            Node::KeyedHmac { key, message } => {
                let message = self.text(message)?;
                self.hmac(key, message)
            }
            Node::Pad { value, width, fill } => self.pad(value, width, *fill)?,
            _ => self.draw(node)?,
        })
    }

    /// The value as text in scratch memory.
    pub(crate) fn text(&mut self, node: &Node) -> Result<Span, MakeCause> {
        let value = self.eval(node)?;
        Ok(self.as_text(value))
    }

    pub(crate) fn as_text(&mut self, value: Value) -> Span {
        match value {
            Value::Text(span) => span,
            number => {
                let from = self.scratch.len();
                push_number(self.scratch, number);
                Span { from, to: self.scratch.len() }
            }
        }
    }

    /// Values that are drawn.
    fn draw(&mut self, node: &Node) -> Result<Value, MakeCause> {
        Ok(match node {
            Node::Uniform(low, high) => {
                let (low, high) = (self.number(low)?, self.number(high)?);
                self.uniform(low, high)?
            }
            Node::Zipf { first, law } => Value::Int(first - 1 + i128::from(law.draw(&mut self.rng))),
            Node::Normal(mean, deviation) => {
                let (mean, deviation) = (self.float(mean)?, self.float(deviation)?);
                finite(mean + deviation * self.rng.normal())?
            }
            Node::Exponential(mean) => {
                let mean = self.float(mean)?;
                finite(mean * self.rng.exponential())?
            }
            Node::Choose(choices) => {
                let index = self.rng.below(choices.len() as u64) as usize;
                self.eval(&choices[index])?
            }
            Node::Weighted { sums, choices } => {
                let index = pick(sums, &mut self.rng);
                self.eval(&choices[index])?
            }
            Node::Characters { count, alphabet } => self.characters(count, alphabet)?,
            Node::OwnCharacters { count, alphabet } => self.characters(count, alphabet)?,
            Node::Uuid4 => {
                let bytes = self.random_bytes();
                self.uuid(uuid::Builder::from_random_bytes(bytes))
            }
            Node::Uuid7 => {
                let millis = self.now().as_millis() as u64;
                let bytes = self.random_bytes();
                let mut random = [0; 10];
                random.copy_from_slice(&bytes[..10]);
                self.uuid(uuid::Builder::from_unix_timestamp_millis(millis, &random))
            }
            _ => return Err(MakeCause::OutOfReach),
        })
    }

    fn put(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Value {
        let from = self.scratch.len();
        write(self.scratch);
        self.behind(from)
    }

    fn behind(&self, from: usize) -> Value {
        Value::Text(Span { from, to: self.scratch.len() })
    }

    /// A number, also where it stands in a text from outside.
    fn number(&mut self, node: &Node) -> Result<Value, MakeCause> {
        match self.eval(node)? {
            Value::Text(span) => {
                let text = std::str::from_utf8(&self.scratch[span.range()]).unwrap_or_default().trim();
                if let Ok(int) = text.parse() {
                    return Ok(Value::Int(int));
                }
                let float = text.parse().map_err(|_| MakeCause::NotANumber)?;
                finite(float).map_err(|_| MakeCause::NotANumber)
            }
            number => Ok(number),
        }
    }

    fn float(&mut self, node: &Node) -> Result<f64, MakeCause> {
        self.number(node).map(as_float)
    }

    /// A number of characters.
    fn count(&mut self, node: &Node) -> Result<usize, MakeCause> {
        match self.number(node)? {
            Value::Int(count) if (0..=MADE_BYTES_MAX).contains(&count) => Ok(count as usize),
            _ => Err(MakeCause::BadLength),
        }
    }

    fn uniform(&mut self, low: Value, high: Value) -> Result<Value, MakeCause> {
        if let (Value::Int(low), Value::Int(high)) = (low, high) {
            let width = high.checked_sub(low).ok_or(MakeCause::Overflow)?;
            let width = u64::try_from(width).map_err(|_| MakeCause::BadRange)?;
            let offset = match width.checked_add(1) {
                Some(bound) => self.rng.below(bound),
                None => self.rng.next_u64(),
            };
            return Ok(Value::Int(low + i128::from(offset)));
        }
        let (low, high) = (as_float(low), as_float(high));
        if low > high {
            return Err(MakeCause::BadRange);
        }
        finite(low + (high - low) * self.rng.unit())
    }

    fn characters(&mut self, count: &Node, alphabet: &[u8]) -> Result<Value, MakeCause> {
        let count = self.count(count)?;
        let from = self.scratch.len();
        for _ in 0..count {
            let index = self.rng.below(alphabet.len() as u64) as usize;
            self.scratch.push(alphabet[index]);
        }
        Ok(self.behind(from))
    }

    fn random_bytes(&mut self) -> [u8; 16] {
        let high = u128::from(self.rng.next_u64());
        (high << 64 | u128::from(self.rng.next_u64())).to_be_bytes()
    }

    fn uuid(&mut self, builder: uuid::Builder) -> Value {
        let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
        let text = builder.into_uuid().hyphenated().encode_lower(&mut text);
        self.put(|out| out.extend_from_slice(text.as_bytes()))
    }

    fn hmac(&mut self, key: &ring::hmac::Key, message: Span) -> Value {
        let tag = ring::hmac::sign(key, &self.scratch[message.range()]);
        self.put(|out| text::push_hex(out, tag.as_ref()))
    }

    /// Fills from the left; the sign of a number stays in front.
    fn pad(&mut self, value: &Node, width: &Node, fill: u8) -> Result<Value, MakeCause> {
        let value = self.eval(value)?;
        let is_number = !matches!(value, Value::Text(_));
        let text = self.as_text(value).range();
        let width = self.count(width)?;
        let missing = width.saturating_sub(text.len());
        let sign = usize::from(is_number && fill == b'0' && self.scratch[text.start] == b'-');
        let from = self.scratch.len();
        self.scratch.extend_from_within(text.start..text.start + sign);
        self.scratch.resize(self.scratch.len() + missing, fill);
        self.scratch.extend_from_within(text.start + sign..text.end);
        Ok(self.behind(from))
    }

    fn now(&mut self) -> Duration {
        *self.now.get_or_insert_with(self.clock)
    }

    fn clock_value(&mut self, form: ClockForm) -> Value {
        let now = self.now();
        match form {
            ClockForm::Seconds => Value::Int(now.as_secs().into()),
            ClockForm::Millis => Value::Int(now.as_millis() as i128),
            ClockForm::Iso => {
                let time = jiff::Timestamp::from_millisecond(now.as_millis() as i64).unwrap_or_default();
                self.put(|out| {
                    // Writing to memory does not fail.
                    let _ = write!(out, "{time:.3}");
                })
            }
        }
    }
}

/// A place in a list by weight; `sums` are the sums of weights up to each place.
#[inline]
pub(crate) fn pick(sums: &[f64], rng: &mut Rng) -> usize {
    let mark = rng.unit() * sums.last().copied().unwrap_or(0.0);
    // A weight of zero is skipped: its sum is not above the mark when its predecessor's is not.
    sums.partition_point(|sum| *sum <= mark).min(sums.len().saturating_sub(1))
}

/// Appends a number as it is read by people and parsers: no exponent, no trailing zeros.
pub(crate) fn push_number(out: &mut Vec<u8>, number: Value) {
    match number {
        // Nearly all numbers fit 64 bits, whose digits cost a third of those of 128.
        Value::Int(value) => match i64::try_from(value) {
            Ok(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
            Err(_) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        },
        Value::Float(value) => {
            // Writing to memory does not fail.
            let _ = write!(out, "{value}");
        }
        Value::Text(_) => {}
    }
}

fn as_float(value: Value) -> f64 {
    match value {
        Value::Int(value) => value as f64,
        Value::Float(value) => value,
        Value::Text(_) => 0.0,
    }
}

/// The division of small numbers, which processors have; none where numbers or result are larger.
fn in_64_bits(left: i128, right: i128, divide: fn(i64, i64) -> Option<i64>) -> Option<i128> {
    divide(i64::try_from(left).ok()?, i64::try_from(right).ok()?).map(i128::from)
}

fn finite(value: f64) -> Result<Value, MakeCause> {
    if value.is_finite() { Ok(Value::Float(value)) } else { Err(MakeCause::Overflow) }
}

/// Integers stay integers: `/` cuts towards zero and `%` is never negative for a positive divisor.
fn apply(operator: Operator, left: Value, right: Value) -> Result<Value, MakeCause> {
    if let (Value::Int(left), Value::Int(right)) = (left, right) {
        if right == 0 && matches!(operator, Operator::Divide | Operator::Remainder) {
            return Err(MakeCause::DivisionByZero);
        }
        let value = match operator {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide => in_64_bits(left, right, i64::checked_div).or_else(|| left.checked_div(right)),
            Operator::Remainder => {
                in_64_bits(left, right, i64::checked_rem_euclid).or_else(|| left.checked_rem_euclid(right))
            }
        };
        return value.map(Value::Int).ok_or(MakeCause::Overflow);
    }
    let (left, right) = (as_float(left), as_float(right));
    if right == 0.0 && matches!(operator, Operator::Divide | Operator::Remainder) {
        return Err(MakeCause::DivisionByZero);
    }
    finite(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::Remainder => left.rem_euclid(right),
    })
}
