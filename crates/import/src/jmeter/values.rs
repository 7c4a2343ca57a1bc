//! Texts with JMeter's `${…}` as texts of a scenario.
//!
//! A user variable is put in, a column and a captured value become expressions, some functions have one of prony's;
//! what nothing sets, and functions that prony does not have, are sent as they stand, as JMeter sends the former, and
//! are counted in a note by their names.
//!
//! Invariants: no text of the file becomes an expression but by the rules below; variables that grow without end are an
//! error.

use super::names::Names;
use crate::error::{Problem, quoted};
use crate::notes::Notes;
use percent_encoding::{AsciiSet, utf8_percent_encode};
use std::collections::BTreeMap;

/// How deep variables may be made of variables and functions of functions.
const DEPTH_MAX: usize = 20;
/// Pieces and bytes of one text with all of its variables put in.
const PIECES_MAX: usize = 10_000;
const BYTES_MAX: usize = 4 << 20;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(String),
    /// An expression of prony, without `${` and `}`.
    Expression(String),
}

/// What names stand for.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// User variables, as the plan has them.
    pub(super) constants: BTreeMap<String, String>,
    /// Variables that get a value as the plan runs, and the expressions for them.
    pub(super) expressions: BTreeMap<String, String>,
    /// The feeder whose columns are all names that nothing else sets.
    pub(super) columns_of: Option<String>,
    /// Of variables and feeders in expressions.
    names: Names,
    /// Names of captured values.
    captured: BTreeMap<String, String>,
}

/// What a text is read with.
struct Reading<'v> {
    values: &'v mut Values,
    notes: &'v mut Notes,
    pieces: Vec<Piece>,
    bytes: usize,
}

impl Values {
    /// With these user variables.
    pub(super) fn of(constants: BTreeMap<String, String>) -> Self {
        Self { constants, ..Self::default() }
    }

    /// A name for expressions that nothing else has, as close to `name` as they can be written.
    pub(super) fn fresh(&mut self, name: &str) -> String {
        self.names.fresh(identifier(name), '_')
    }

    /// The name of a captured value: every extractor of one variable has the same.
    pub(super) fn captured(&mut self, name: &str) -> String {
        if let Some(known) = self.captured.get(name) {
            return known.clone();
        }
        let fresh = self.fresh(name);
        self.captured.insert(name.to_owned(), fresh.clone());
        fresh
    }

    /// The parts of a text.
    pub(super) fn pieces(&mut self, text: &str, notes: &mut Notes) -> Result<Vec<Piece>, Problem> {
        let mut reading = Reading { values: self, notes, pieces: Vec::new(), bytes: 0 };
        reading.read(text, 0)?;
        Ok(reading.pieces)
    }

    /// A text of the scenario.
    pub(super) fn text(&mut self, text: &str, notes: &mut Notes) -> Result<String, Problem> {
        Ok(joined(&self.pieces(text, notes)?))
    }

    /// A text that is known before the load; `None` where it is not.
    pub(super) fn plain(&mut self, text: &str, notes: &mut Notes) -> Result<Option<String>, Problem> {
        let pieces = self.pieces(text, notes)?;
        let literals = pieces.into_iter().map(|piece| match piece {
            Piece::Literal(text) => Some(text),
            Piece::Expression(_) => None,
        });
        Ok(literals.collect())
    }

    /// A number that is known before the load.
    pub(super) fn number(&mut self, text: &str, notes: &mut Notes) -> Result<Option<f64>, Problem> {
        let plain = self.plain(text, notes)?;
        Ok(plain.and_then(|text| text.trim().parse().ok()).filter(|number: &f64| number.is_finite()))
    }
}

/// Pieces as one text of a scenario.
pub(super) fn joined(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => text += &crate::assemble::escape(literal),
            Piece::Expression(expression) => {
                // `$${` would be a plain `${`.
                if text.ends_with('$') {
                    text.pop();
                    text += "${\"$\"}";
                }
                text += "${";
                text += expression;
                text.push('}');
            }
        }
    }
    text
}

/// The same with all but what `set` leaves out percent-encoded.
pub(super) fn encoded(pieces: &[Piece], set: &'static AsciiSet) -> Vec<Piece> {
    let one = |piece: &Piece| match piece {
        Piece::Literal(literal) => Piece::Literal(utf8_percent_encode(literal, set).to_string()),
        Piece::Expression(expression) => Piece::Expression(format!("urlencode({expression})")),
    };
    pieces.iter().map(one).collect()
}

impl Reading<'_> {
    fn push(&mut self, piece: Piece) -> Result<(), Problem> {
        let (Piece::Literal(text) | Piece::Expression(text)) = &piece;
        self.spend(text.len())?;
        match (self.pieces.last_mut(), piece) {
            (Some(Piece::Literal(before)), Piece::Literal(more)) => before.push_str(&more),
            (_, piece) => self.pieces.push(piece),
        }
        Ok(())
    }

    /// Counts what was put in, so that neither memory nor time grow without end.
    fn spend(&mut self, bytes: usize) -> Result<(), Problem> {
        self.bytes += bytes;
        if self.pieces.len() < PIECES_MAX && self.bytes <= BYTES_MAX {
            return Ok(());
        }
        Err(Problem::new(
            "variables that are made of variables make a text too long to send",
            "look for user variables that hold each other several times",
        ))
    }

    fn read(&mut self, text: &str, depth: usize) -> Result<(), Problem> {
        let mut rest = text;
        while let Some(begin) = rest.find("${") {
            let (before, reference) = rest.split_at(begin);
            let Some(end) = end_of(reference) else { break };
            self.literal(before)?;
            self.reference(&reference[2..end], &reference[..=end], depth)?;
            rest = &reference[end + 1..];
        }
        self.literal(rest)
    }

    fn literal(&mut self, text: &str) -> Result<(), Problem> {
        if text.is_empty() { Ok(()) } else { self.push(Piece::Literal(text.to_owned())) }
    }

    /// `name` or `__function(…)`; `whole` is how it stands in the text.
    fn reference(&mut self, inner: &str, whole: &str, depth: usize) -> Result<(), Problem> {
        if depth >= DEPTH_MAX {
            return Err(Problem::new(
                format!("{} is more than {DEPTH_MAX} deep in other variables", quoted(whole)),
                "look for user variables that hold each other",
            ));
        }
        if inner.starts_with("__") {
            return self.function(inner, whole, depth);
        }
        if let Some(expression) = self.values.expressions.get(inner) {
            let expression = expression.clone();
            return self.push(Piece::Expression(expression));
        }
        if let Some(text) = self.values.constants.get(inner).cloned() {
            self.spend(whole.len())?;
            return self.read(&text, depth + 1);
        }
        if let Some(feeder) = &self.values.columns_of
            && !inner.contains(['"', '\\', '{', '}'])
            && !inner.is_empty()
        {
            let column = column_of(feeder, inner);
            return self.push(Piece::Expression(column));
        }
        self.notes.count(&format!(
            "variables that nothing in the plan sets, sent as they stand: {}",
            quoted(whole)
        ));
        self.literal(whole)
    }

    fn function(&mut self, inner: &str, whole: &str, depth: usize) -> Result<(), Problem> {
        let (name, arguments) = match inner.split_once('(') {
            Some((name, rest)) => (name.trim(), arguments(rest.trim_end().strip_suffix(')').unwrap_or(rest))),
            None => (inner.trim(), Vec::new()),
        };
        let at = |place: usize| arguments.get(place).map(|text| text.trim()).unwrap_or_default();
        let translated = match name {
            // A property that was not given on JMeter's command line has its default.
            "__P" => return self.property(at(0), arguments.get(1).map(String::as_str).unwrap_or("1"), depth),
            "__property" => return self.property(at(0), at(2), depth),
            "__urlencode" => return self.urlencoded(at(0), depth),
            "__Random" => whole_number(at(0))
                .zip(whole_number(at(1)))
                .map(|(low, high)| format!("uniform({low}, {high})")),
            "__RandomString" => whole_number(at(0))
                .filter(|count| (1..=100_000).contains(count))
                .zip(literal_of(if at(1).is_empty() { "abcdefghijklmnopqrstuvwxyz" } else { at(1) }))
                .map(|(count, alphabet)| format!("string({count}, {alphabet})")),
            "__UUID" => Some("uuid4()".to_owned()),
            "__time" if at(0).is_empty() => Some("now_ms()".to_owned()),
            "__time" if at(0) == "/1000" => Some("now_s()".to_owned()),
            // One for all threads.
            "__counter" if at(0).eq_ignore_ascii_case("false") => Some("counter(1, 1)".to_owned()),
            _ => None,
        };
        match translated {
            Some(expression) => self.push(Piece::Expression(expression)),
            None => {
                let note =
                    format!("functions that prony does not have, sent as they stand: {}", quoted(whole));
                self.notes.count(&note);
                self.literal(whole)
            }
        }
    }

    fn property(&mut self, name: &str, default: &str, depth: usize) -> Result<(), Problem> {
        let note = format!(
            "properties replaced by their defaults, as JMeter does where none is given: {}",
            quoted(name)
        );
        self.notes.count(&note);
        self.spend(name.len() + 1)?;
        self.read(default, depth + 1)
    }

    fn urlencoded(&mut self, text: &str, depth: usize) -> Result<(), Problem> {
        let mut inner = Reading {
            values: &mut *self.values,
            notes: &mut *self.notes,
            pieces: Vec::new(),
            bytes: self.bytes,
        };
        inner.read(text, depth + 1)?;
        let pieces = inner.pieces;
        self.bytes = inner.bytes;
        for piece in encoded(&pieces, percent_encoding::NON_ALPHANUMERIC) {
            self.push(piece)?;
        }
        Ok(())
    }
}

/// The place of the `}` that ends the reference with which `text` begins.
fn end_of(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    let mut place = 0;
    while place < bytes.len() {
        match bytes[place] {
            b'\\' => place += 1,
            b'$' if bytes.get(place + 1) == Some(&b'{') => {
                depth += 1;
                place += 1;
            }
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(place);
                }
            }
            _ => {}
        }
        place += 1;
    }
    None
}

/// Arguments at commas that stand in no reference and behind no `\`, which is taken away.
fn arguments(text: &str) -> Vec<String> {
    let mut arguments = vec![String::new()];
    let mut depth = 0_usize;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek().is_some_and(|next| matches!(next, ',' | '\\' | '$')) => {
                let next = characters.next();
                arguments.last_mut().into_iter().for_each(|last| last.extend(next));
                continue;
            }
            '$' if characters.peek() == Some(&'{') => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            _ => {}
        }
        arguments.last_mut().into_iter().for_each(|last| last.push(character));
    }
    arguments
}

fn whole_number(text: &str) -> Option<i64> {
    text.parse().ok().filter(|number: &i64| number.unsigned_abs() < 1 << 52)
}

/// A text as it is written in an expression.
fn literal_of(text: &str) -> Option<String> {
    let is_plain = text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '$' | '{' | '}'));
    is_plain.then(|| format!("\"{text}\""))
}

/// A name as expressions can have it.
fn identifier(name: &str) -> String {
    let mut made: String =
        name.chars().take(60).map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if made.is_empty() || made.starts_with(|first: char| first.is_ascii_digit()) {
        made.insert(0, 'v');
    }
    made
}

/// A column as an expression has it.
pub(super) fn column_of(feeder: &str, column: &str) -> String {
    if identifier(column) == column {
        format!("{feeder}.{column}")
    } else {
        format!("{feeder}[\"{column}\"]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        let constants = [("host", "shop.test"), ("base", "http://${host}"), ("a", "${b}"), ("b", "${a}")];
        let expressions = [("user", "people.user"), ("token", "token")];
        let owned = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
        Values { constants: owned(&constants), expressions: owned(&expressions), ..Values::default() }
    }

    fn check(text: &str, wanted: &str) {
        assert_eq!(values().text(text, &mut Notes::default()).unwrap(), wanted, "{text}");
    }

    #[test]
    fn texts_become_texts_of_a_scenario() {
        check("plain $ {x} ${", "plain $ {x} $${");
        check("${base}/a?u=${user}", "http://shop.test/a?u=${people.user}");
        check("Bearer ${token}", "Bearer ${token}");
        check("$${token}", "${\"$\"}${token}");
        check("${nothing}", "$${nothing}");
        check("${__Random(1,100)}-${__UUID}-${__UUID()}", "${uniform(1, 100)}-${uuid4()}-${uuid4()}");
        check("${__time()} ${__time(/1000,)}", "${now_ms()} ${now_s()}");
        check("${__P(threads,25)} ${__P(none)} ${__property(x,,${host})}", "25 1 shop.test");
        check("${__urlencode(a b${user})}", "a%20b${urlencode(people.user)}");
        check("${__RandomString(4,ab\\,c,)}", "${string(4, \"ab,c\")}");
        check("${__groovy(1+1)}", "$${__groovy(1+1)}");
        check("${__counter(FALSE)} ${__counter(TRUE)}", "${counter(1, 1)} $${__counter(TRUE)}");
        check("${__Random(1,${user})}", "$${__Random(1,$${user})}");
    }

    #[test]
    fn what_is_sent_as_it_stands_is_named() {
        let mut notes = Notes::default();
        values().text("${gone} ${__jexl3(1)} ${gone}", &mut notes).unwrap();
        let notes = notes.into_texts();
        assert!(
            notes
                .iter()
                .any(|note| note.contains("nothing in the plan sets") && note.ends_with("`${gone}`: 2"))
        );
        assert!(notes.iter().any(|note| note.contains("prony does not have") && note.contains("__jexl3")));
    }

    #[test]
    fn variables_that_grow_without_end_are_refused() {
        let problem = values().text("${a}", &mut Notes::default()).unwrap_err();
        assert!(problem.cause.contains("deep"), "{}", problem.cause);
        let mut bomb = Values::default();
        for level in 0..15 {
            let inner = format!("${{v{}}}", level + 1).repeat(30);
            bomb.constants.insert(format!("v{level}"), inner);
        }
        // The last one is empty: nothing is ever put in.
        bomb.constants.insert("v15".into(), String::new());
        let problem = bomb.text("${v0}", &mut Notes::default()).unwrap_err();
        assert!(problem.cause.contains("too long"), "{}", problem.cause);
        // The same where a function reads each of them.
        for level in 0..9 {
            let inner = format!("${{__urlencode(${{v{}}})}}", level + 1).repeat(30);
            bomb.constants.insert(format!("v{level}"), inner);
        }
        bomb.constants.insert("v9".into(), String::new());
        let problem = bomb.text("${v0}", &mut Notes::default()).unwrap_err();
        assert!(problem.cause.contains("too long"), "{}", problem.cause);
    }

    #[test]
    fn plain_texts_are_known_before_the_load() {
        let mut notes = Notes::default();
        assert_eq!(values().plain("${base}", &mut notes).unwrap().as_deref(), Some("http://shop.test"));
        assert_eq!(values().plain("x${user}", &mut notes).unwrap(), None);
        assert_eq!(values().number(" 2.5 ", &mut notes).unwrap(), Some(2.5));
        assert_eq!(values().number("NaN", &mut notes).unwrap(), None);
        assert_eq!(identifier("user name-1"), "user_name_1");
        assert_eq!(identifier("7up"), "v7up");
        let mut values = values();
        let names = ["user-id", "user_id", "user-id"].map(|name| values.captured(name));
        assert_eq!(names, ["user_id", "user_id_2", "user_id"]);
        assert_eq!(values.fresh("user.id"), "user_id_3");
    }
}
