//! What an expression comes to: a value that is known before the load, a place in an answer, or nothing that is known.

use super::tree::Expr;
use crate::notes::Notes;
use crate::texts::{Piece, identifier};
use schema::scenario::{Capture, NamedRequest};
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeMap;

/// Texts that are put together grow; this is more than anybody sends.
const PIECES_MAX: usize = 4_096;
/// Most bytes of all values of a script together: `a = [a, a]`, forty times, would fill any memory.
const VALUES_BYTES_MAX: usize = 256 << 20;
/// What a value costs beside its texts.
const VALUE_BYTES: usize = 64;
/// Values within values that a name may stand for.
const DEPTH_MAX: usize = 64;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Val {
    Text(Vec<Piece>),
    Number(f64),
    Bool(bool),
    Null,
    Object(Vec<(String, Val)>),
    List(Vec<Val>),
    /// The answer to a request, by its place; absent where that was left out.
    Answer(Option<usize>),
    /// A part of an answer.
    Part(Option<usize>, Place),
    /// Known only while the script runs; as it stands there.
    Unknown(String),
}

/// Where in an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// A JSON pointer into the body; empty for all of it.
    Json(String),
    Body,
    Headers,
    Header(String),
    Cookie(String),
}

/// Names and what they stand for.
#[derive(Debug)]
pub(super) struct Scope {
    /// Those of the script, then those of each function that is being followed.
    layers: Vec<BTreeMap<String, Val>>,
    /// Bytes that values may still come to; at 0 nothing more is known.
    left: Cell<usize>,
}

impl Default for Scope {
    fn default() -> Self {
        Self { layers: vec![BTreeMap::new()], left: Cell::new(VALUES_BYTES_MAX) }
    }
}

impl Scope {
    pub(super) fn put(&mut self, name: &str, value: Val) {
        if let Some(innermost) = self.layers.last_mut() {
            innermost.insert(name.to_owned(), value);
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Val> {
        self.layers.iter().rev().find_map(|layer| layer.get(name))
    }

    /// A function begins, with its parameters.
    pub(super) fn enter(&mut self, parameters: BTreeMap<String, Val>) {
        self.layers.push(parameters);
    }

    /// It ends; what it set is forgotten.
    pub(super) fn leave(&mut self) {
        self.layers.pop();
    }

    /// Whether so many bytes were left; else nothing is left.
    fn take(&self, bytes: usize) -> bool {
        let left = self.left.get().checked_sub(bytes);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// A value once more; nothing where it is too large or too deep.
    fn copy(&self, value: &Val) -> Option<Val> {
        let weighed = self.weigh(value, 0);
        weighed.then(|| value.clone())
    }

    fn weigh(&self, value: &Val, depth: usize) -> bool {
        let bytes = match value {
            Val::Text(pieces) => pieces.iter().map(|piece| VALUE_BYTES + piece.source().len()).sum(),
            Val::Part(_, Place::Json(text) | Place::Header(text) | Place::Cookie(text))
            | Val::Unknown(text) => text.len(),
            _ => 0,
        };
        depth < DEPTH_MAX
            && self.take(VALUE_BYTES + bytes)
            && match value {
                Val::Object(entries) => {
                    entries.iter().all(|(name, value)| self.take(name.len()) && self.weigh(value, depth + 1))
                }
                Val::List(all) => all.iter().all(|value| self.weigh(value, depth + 1)),
                _ => true,
            }
    }

    /// A name, or a member of one, where it stands: only what is asked for is copied.
    fn place(&self, expr: &Expr) -> Option<&Val> {
        match expr {
            Expr::Name(name) => self.get(name),
            Expr::Member(of, name) => match self.place(of)? {
                Val::Object(entries) => {
                    entries.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What an expression comes to.
    pub(super) fn value(&self, expr: &Expr, notes: &mut Notes) -> Val {
        let text_bytes = if let Expr::Text(text) = expr { text.len() } else { 0 };
        if !self.take(VALUE_BYTES + text_bytes) {
            return Val::Unknown("…".to_owned());
        }
        let unknown = || Val::Unknown(expr.shown());
        if let Some(value) = self.place(expr) {
            return self.copy(value).unwrap_or_else(unknown);
        }
        match expr {
            Expr::Text(text) => Val::Text(vec![Piece::Literal(text.clone())]),
            Expr::Number(number) => Val::Number(*number),
            Expr::Bool(is) => Val::Bool(*is),
            Expr::Null => Val::Null,
            Expr::Template(parts) => {
                let parts: Vec<Val> = parts.iter().map(|part| self.value(part, notes)).collect();
                joined(&parts)
            }
            Expr::Member(of, name) => member(self.value(of, notes), name).unwrap_or_else(unknown),
            Expr::Index(of, at) => {
                let name = match self.value(at, notes) {
                    Val::Text(pieces) => crate::texts::plain(&pieces),
                    Val::Number(number) => Some(number.to_string()),
                    _ => None,
                };
                let of = self.value(of, notes);
                name.and_then(|name| member(of, &name)).unwrap_or_else(unknown)
            }
            Expr::Object(entries) => Val::Object(
                entries.iter().map(|one| (one.name.clone(), self.value(&one.value, notes))).collect(),
            ),
            Expr::List(all) => Val::List(all.iter().map(|one| self.value(one, notes)).collect()),
            Expr::Binary(sign, left, right) => self.binary(sign, left, right, notes).unwrap_or_else(unknown),
            Expr::Call(..) => self.call(expr, notes).unwrap_or_else(unknown),
            Expr::Name(_) | Expr::Function(_) | Expr::Not(_) | Expr::Assign(..) | Expr::Other => unknown(),
        }
    }

    fn binary(&self, sign: &str, left: &Expr, right: &Expr, notes: &mut Notes) -> Option<Val> {
        let left_value = self.value(left, notes);
        if matches!(sign, "||" | "??") {
            return Some(match left_value {
                // `__ENV.HOST || 'http://…'`: what the script takes where nothing is given.
                Val::Unknown(name) if name.starts_with("__ENV") => {
                    let right = self.value(right, notes);
                    notes.count(&format!("environment variables replaced by their defaults: {name}"));
                    right
                }
                Val::Null => self.value(right, notes),
                known => known,
            });
        }
        let right = self.value(right, notes);
        match (sign, &left_value, &right) {
            ("+", Val::Number(a), Val::Number(b)) => Some(Val::Number(a + b)),
            ("-", Val::Number(a), Val::Number(b)) => Some(Val::Number(a - b)),
            ("*", Val::Number(a), Val::Number(b)) => Some(Val::Number(a * b)),
            ("/", Val::Number(a), Val::Number(b)) if *b != 0.0 => Some(Val::Number(a / b)),
            ("+", Val::Text(_), _) | ("+", _, Val::Text(_)) => Some(joined(&[left_value, right])),
            _ => None,
        }
    }

    fn call(&self, expr: &Expr, notes: &mut Notes) -> Option<Val> {
        let Expr::Call(callee, arguments) = expr else { return None };
        let mut argument = |at: usize| arguments.get(at).map(|argument| self.value(argument, notes));
        let expression = |text: String| Some(Val::Text(vec![Piece::Expression(text)]));
        if let Expr::Name(name) = &**callee {
            return match (name.as_str(), argument(0), argument(1)) {
                ("uuidv4", None, None) => expression("uuid4()".to_owned()),
                ("randomIntBetween", Some(Val::Number(low)), Some(Val::Number(high))) if low <= high => {
                    expression(format!("uniform({},{})", low as i64, high as i64))
                }
                ("String" | "encodeURI", Some(value), None) => Some(joined(&[value])),
                ("encodeURIComponent", Some(value), None) => {
                    let Val::Text(pieces) = joined(&[value]) else { return None };
                    let plain = crate::texts::plain(&pieces)?;
                    let set = percent_encoding::NON_ALPHANUMERIC;
                    let encoded = percent_encoding::utf8_percent_encode(&plain, set).to_string();
                    Some(Val::Text(vec![Piece::Literal(encoded)]))
                }
                _ => None,
            };
        }
        let Expr::Member(of, method) = &**callee else { return None };
        match (&**of, method.as_str()) {
            (Expr::Name(of), "stringify") if of == "JSON" => Some(Val::Text(json_text(&argument(0)?))),
            (Expr::Name(of), "parse") if of == "JSON" => match argument(0)? {
                Val::Part(place, Place::Body) => Some(Val::Part(place, Place::Json(String::new()))),
                _ => None,
            },
            (Expr::Name(of), "now") if of == "Date" => expression("now_ms()".to_owned()),
            (of, method) => {
                let first = argument(0);
                match (self.value(of, notes), method, first) {
                    (Val::Answer(place), "json", None) => Some(Val::Part(place, Place::Json(String::new()))),
                    (Val::Answer(place), "json", Some(Val::Text(path))) => {
                        Some(Val::Part(place, Place::Json(pointer(&crate::texts::plain(&path)?))))
                    }
                    (value @ (Val::Text(_) | Val::Number(_)), "toString", None) => Some(joined(&[value])),
                    _ => None,
                }
            }
        }
    }
}

/// A member of a value.
fn member(of: Val, name: &str) -> Option<Val> {
    match of {
        Val::Object(entries) => {
            entries.into_iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
        }
        Val::List(all) => all.into_iter().nth(name.parse().ok()?),
        Val::Answer(place) => match name {
            "body" => Some(Val::Part(place, Place::Body)),
            "headers" => Some(Val::Part(place, Place::Headers)),
            "cookies" => Some(Val::Part(place, Place::Cookie(String::new()))),
            _ => None,
        },
        Val::Part(place, Place::Json(path)) => Some(Val::Part(
            place,
            Place::Json(format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))),
        )),
        Val::Part(place, Place::Headers) => Some(Val::Part(place, Place::Header(name.to_owned()))),
        // `cookies.NAME[0].value`
        Val::Part(place, Place::Cookie(cookie)) if cookie.is_empty() => {
            Some(Val::Part(place, Place::Cookie(name.to_owned())))
        }
        cookie @ Val::Part(_, Place::Cookie(_)) if name == "0" || name == "value" => Some(cookie),
        _ => None,
    }
}

/// k6's path into JSON (`a.b.0`, of the library gjson) as a JSON pointer.
pub(super) fn pointer(path: &str) -> String {
    path.split('.')
        .filter(|part| !part.is_empty())
        .fold(String::new(), |pointer, part| pointer + "/" + &part.replace('~', "~0").replace('/', "~1"))
}

/// Values one after the other as a text. Parts of answers stay unknown until they are captured.
fn joined(parts: &[Val]) -> Val {
    let mut pieces: Vec<Piece> = Vec::new();
    for part in parts {
        match part {
            Val::Text(more) => pieces.extend(more.iter().cloned()),
            Val::Number(number) => pieces.push(Piece::Literal(number.to_string())),
            Val::Bool(is) => pieces.push(Piece::Literal(is.to_string())),
            Val::Null => pieces.push(Piece::Literal("null".to_owned())),
            Val::Part(place, at) => pieces.push(Piece::Unknown(marked(*place, at))),
            Val::Unknown(text) => pieces.push(Piece::Unknown(format!("${{{text}}}"))),
            Val::Object(_) | Val::List(_) => pieces.extend(json_text(part)),
            Val::Answer(_) => pieces.push(Piece::Unknown("${…}".to_owned())),
        }
        if pieces.len() > PIECES_MAX {
            break;
        }
    }
    Val::Text(pieces)
}

/// JSON of a value, as `JSON.stringify` writes it.
fn json_text(value: &Val) -> Vec<Piece> {
    let literal = |text: String| vec![Piece::Literal(text)];
    match value {
        Val::Text(pieces) => {
            // Expressions stand within the quotes.
            let quoted = |piece: &Piece| match piece {
                Piece::Literal(text) => Piece::Literal(escaped(text)),
                other => other.clone(),
            };
            let inner = pieces.iter().map(quoted);
            literal("\"".to_owned()).into_iter().chain(inner).chain(literal("\"".to_owned())).collect()
        }
        Val::Number(number) => literal(number.to_string()),
        Val::Bool(is) => literal(is.to_string()),
        Val::Null => literal("null".to_owned()),
        Val::Object(entries) => {
            let mut pieces = literal("{".to_owned());
            for (at, (name, value)) in entries.iter().enumerate() {
                let comma = if at > 0 { "," } else { "" };
                pieces.push(Piece::Literal(format!("{comma}\"{}\":", escaped(name))));
                pieces.extend(json_text(value));
            }
            pieces.push(Piece::Literal("}".to_owned()));
            pieces
        }
        Val::List(all) => {
            let mut pieces = literal("[".to_owned());
            for (at, value) in all.iter().enumerate() {
                pieces.extend((at > 0).then(|| Piece::Literal(",".to_owned())));
                pieces.extend(json_text(value));
            }
            pieces.push(Piece::Literal("]".to_owned()));
            pieces
        }
        // A captured value is a text, or a number that reads as one.
        Val::Part(place, at) => {
            let mut pieces = literal("\"".to_owned());
            pieces.push(Piece::Unknown(marked(*place, at)));
            pieces.push(Piece::Literal("\"".to_owned()));
            pieces
        }
        Val::Answer(_) | Val::Unknown(_) => {
            let Val::Text(pieces) = joined(std::slice::from_ref(value)) else { return Vec::new() };
            pieces
        }
    }
}

/// The inside of a JSON text.
fn escaped(text: &str) -> String {
    let whole = Value::String(text.to_owned()).to_string();
    whole[1..whole.len() - 1].to_owned()
}

/// A part of an answer within a text, until it is captured: begins with a character that no script has.
fn marked(place: Option<usize>, at: &Place) -> String {
    let (kind, name) = match at {
        Place::Json(pointer) => ("json", pointer.as_str()),
        Place::Header(name) => ("header", name.as_str()),
        Place::Cookie(name) => ("cookie", name.as_str()),
        Place::Body => ("body", ""),
        Place::Headers => ("headers", ""),
    };
    match place {
        Some(place) => format!("{MARK}{place}\u{1}{kind}\u{1}{name}"),
        None => format!("${{{kind} {name}}}"),
    }
}

const MARK: char = '\u{2}';

/// A text in its pieces, in which parts of answers are captured from the requests before it.
pub(super) fn pieces(value: &Val, requests: &mut [NamedRequest]) -> Vec<Piece> {
    let Val::Text(pieces) = joined(std::slice::from_ref(value)) else { return Vec::new() };
    let captured = |piece: Piece| match piece {
        Piece::Unknown(text) => capture(&text, requests),
        other => other,
    };
    pieces.into_iter().map(captured).collect()
}

fn capture(text: &str, requests: &mut [NamedRequest]) -> Piece {
    let Some(mark) = text.strip_prefix(MARK) else { return Piece::Unknown(text.to_owned()) };
    let parts: Vec<&str> = mark.splitn(3, '\u{1}').collect();
    let [place, kind, name] = parts[..] else { return Piece::Unknown(String::new()) };
    let owned = || Some(name.to_owned());
    let capture = match kind {
        "json" if !name.is_empty() => Capture { json: owned(), ..Capture::default() },
        "header" => Capture { header: owned(), ..Capture::default() },
        "cookie" if !name.is_empty() => Capture { cookie: owned(), ..Capture::default() },
        _ => return Piece::Unknown(format!("${{{kind}}}")),
    };
    let Some(at) = place.parse().ok().filter(|at: &usize| *at < requests.len()) else {
        return Piece::Unknown(format!("${{{kind} {name}}}"));
    };
    if let Some((known, _)) = requests[at].capture.iter().find(|(_, known)| **known == capture) {
        return Piece::Expression(known.clone());
    }
    let taken: Vec<String> = requests.iter().flat_map(|request| request.capture.keys().cloned()).collect();
    let base = identifier(name.rsplit('/').next().unwrap_or(name));
    let numbered = (2..).map(|n| format!("{base}_{n}"));
    let free =
        std::iter::once(base.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(base);
    requests[at].capture.insert(free.clone(), capture);
    Piece::Expression(free)
}
