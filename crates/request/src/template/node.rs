//! Compiled expressions: what is evaluated for each request.

use super::parse::Operator;
use super::value::Span;
use super::zipf::Zipf;
use schema::plan::ScalarKind;

/// A piece of a compiled text.
pub(crate) type Piece = wire::Piece<Node>;

/// A compiled expression. Names are places in tables, constants are folded.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Int(i128),
    Float(f64),
    Text(Box<[u8]>),
    Var(u16),
    Captured(u16),
    Column {
        feeder: u16,
        column: u16,
    },
    Negate(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
    Counter {
        of_worker: bool,
        start: i128,
        step: i128,
    },
    Uniform(Box<Node>, Box<Node>),
    Zipf {
        first: i128,
        law: Zipf,
    },
    Normal(Box<Node>, Box<Node>),
    Exponential(Box<Node>),
    Choose(Box<[Node]>),
    /// Sums of weights up to and with each choice.
    Weighted {
        sums: Box<[f64]>,
        choices: Box<[Node]>,
    },
    Characters {
        count: Box<Node>,
        alphabet: &'static [u8],
    },
    OwnCharacters {
        count: Box<Node>,
        alphabet: Box<[u8]>,
    },
    Uuid4,
    Uuid7,
    Clock(ClockForm),
    /// A text made from a text in scratch memory.
    Convert(fn(&mut Vec<u8>, Span), Box<Node>),
    /// A number made from a text.
    Digest(fn(&[u8]) -> u64, Box<Node>),
    Hmac {
        key: Box<Node>,
        message: Box<Node>,
    },
    KeyedHmac {
        key: ring::hmac::Key,
        message: Box<Node>,
    },
    Pad {
        value: Box<Node>,
        width: Box<Node>,
        fill: u8,
    },
    Token(u8),
    Worker,
    Session,
    /// The value of the header `traceparent`; no expression of a user makes it.
    Trace(units::Tracing),
    /// A whole body: a message of gRPC with its prefix. It is never a part of another expression, and renders itself.
    Message(Box<Message>),
}

/// A message of protobuf, compiled; [`super::message`] renders it.
#[derive(Clone, Debug)]
pub(crate) struct Message(pub(crate) Vec<Part>);

/// A part of a message. Keys are those of fields, encoded.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Fixed(Vec<u8>),
    Value(Field),
    Message { key: Vec<u8>, parts: Vec<Part> },
}

/// A field with a value that is rendered.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(super) key: Vec<u8>,
    pub(super) kind: ScalarKind,
    pub(super) text: Vec<Piece>,
    /// Names of an enumeration with their numbers.
    pub(super) names: Vec<(Vec<u8>, i32)>,
}

impl Part {
    /// Calls `visit` with every expression in it.
    fn walk(&self, visit: &mut impl FnMut(&Node)) {
        match self {
            Self::Fixed(_) => {}
            Self::Message { parts, .. } => parts.iter().for_each(|part| part.walk(visit)),
            Self::Value(field) => field.text.iter().for_each(|piece| {
                if let Piece::Value(node) = piece {
                    node.walk(visit);
                }
            }),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockForm {
    Seconds,
    Millis,
    Iso,
}

/// What an expression yields, as far as it is known before the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Yield {
    Number,
    Text,
    /// Text from outside, which may hold a number.
    Loose,
}

impl Node {
    pub(super) fn yields(&self, vars: &[Yield]) -> Yield {
        match self {
            Self::Int(_) | Self::Float(_) | Self::Negate(_) | Self::Binary(..) | Self::Counter { .. } => {
                Yield::Number
            }
            Self::Uniform(..) | Self::Zipf { .. } | Self::Normal(..) | Self::Exponential(_) => Yield::Number,
            Self::Digest(..) | Self::Worker | Self::Session => Yield::Number,
            Self::Clock(ClockForm::Seconds | ClockForm::Millis) => Yield::Number,
            Self::Var(index) => vars.get(usize::from(*index)).copied().unwrap_or(Yield::Loose),
            Self::Captured(_) | Self::Column { .. } => Yield::Loose,
            Self::Choose(choices) | Self::Weighted { choices, .. } => {
                let mut kinds = choices.iter().map(|choice| choice.yields(vars));
                let first = kinds.next().unwrap_or(Yield::Loose);
                if kinds.all(|kind| kind == first) { first } else { Yield::Loose }
            }
            _ => Yield::Text,
        }
    }

    pub(super) const fn is_constant(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Float(_) | Self::Text(_))
    }

    /// Calls `visit` with this node and all below it.
    pub(crate) fn walk(&self, visit: &mut impl FnMut(&Node)) {
        visit(self);
        match self {
            Self::Negate(a) | Self::Exponential(a) | Self::Convert(_, a) | Self::Digest(_, a) => {
                a.walk(visit);
            }
            Self::Binary(_, a, b)
            | Self::Uniform(a, b)
            | Self::Normal(a, b)
            | Self::Hmac { key: a, message: b }
            | Self::Pad { value: a, width: b, .. } => {
                a.walk(visit);
                b.walk(visit);
            }
            Self::Characters { count: a, .. }
            | Self::OwnCharacters { count: a, .. }
            | Self::KeyedHmac { message: a, .. } => a.walk(visit),
            Self::Choose(choices) | Self::Weighted { choices, .. } => {
                choices.iter().for_each(|choice| choice.walk(visit));
            }
            Self::Message(message) => message.0.iter().for_each(|part| part.walk(visit)),
            _ => {}
        }
    }
}
