//! Texts of a scenario, made of what is known before the load and of expressions.
//!
//! Invariants: what a foreign file has as plain text never becomes an expression; what stands for something that nobody
//! knows is written as it stood, and is counted in a note.

use crate::assemble::escape;
use crate::error::{Problem, quoted};
use crate::notes::Notes;
use crate::url::{Origin, Url};

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// Sent as it is.
    Literal(String),
    /// Between `${` and `}`.
    Expression(String),
    /// What nobody knows before the load, as the foreign file has it.
    Unknown(String),
}

impl Piece {
    /// What it holds.
    pub(crate) fn source(&self) -> &str {
        match self {
            Self::Literal(text) | Self::Expression(text) | Self::Unknown(text) => text,
        }
    }
}

/// The text of a scenario. What is unknown is named as `what`.
pub(crate) fn text(pieces: &[Piece], what: &str, notes: &mut Notes) -> String {
    let mut made = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => made.push_str(&escape(literal)),
            Piece::Expression(expression) => push(&mut made, expression),
            Piece::Unknown(name) => {
                notes.count(&format!("{what}, sent as they stand: {}", quoted(name)));
                made.push_str(&escape(name));
            }
        }
    }
    made
}

fn push(made: &mut String, expression: &str) {
    // `$${` would stand for a plain `${`.
    if made.ends_with('$') {
        made.pop();
        made.push_str("${\"$\"}");
    }
    made.push_str("${");
    made.push_str(expression);
    made.push('}');
}

/// The text where all of it is known.
pub(crate) fn plain(pieces: &[Piece]) -> Option<String> {
    pieces.iter().try_fold(String::new(), |made, piece| match piece {
        Piece::Literal(literal) => Some(made + literal),
        _ => None,
    })
}

/// A URL whose path may hold expressions. Where its server is known only during the load, `origin` is taken.
///
/// # Errors
/// No URL of HTTP, or a server that nobody names.
pub(crate) fn url(
    pieces: &[Piece],
    origin: Option<&Origin>,
    what: &str,
    notes: &mut Notes,
) -> Result<Url, Problem> {
    let begins = match pieces.first() {
        Some(Piece::Literal(literal)) => literal.as_str(),
        _ => "",
    };
    let is_absolute = begins.contains("://");
    let rest = match pieces.first() {
        Some(Piece::Unknown(_) | Piece::Expression(_)) => &pieces[1..],
        _ => pieces,
    };
    let whole = text(if is_absolute { pieces } else { rest }, what, notes);
    if is_absolute {
        return Url::parse(&whole);
    }
    // Without a scheme, as Postman allows it: a host, which has a point, a port or is this one.
    let host = begins.split(['/', '?', ':']).next().unwrap_or_default();
    if host == "localhost" || host.contains('.') {
        return Url::parse(&format!("http://{whole}"));
    }
    let Some(origin) = origin else {
        let shown: String = pieces.iter().map(shown).collect();
        return Err(Problem::new(
            format!("the server of {} is not known before the load", quoted(&shown)),
            "name it: --origin http://127.0.0.1:8080",
        ));
    };
    let slash = if whole.starts_with('/') || whole.is_empty() { "" } else { "/" };
    Url::parse(&format!("{origin}{slash}{whole}"))
}

fn shown(piece: &Piece) -> String {
    match piece {
        Piece::Literal(text) | Piece::Unknown(text) => text.clone(),
        Piece::Expression(expression) => format!("${{{expression}}}"),
    }
}

/// A name as expressions can have it.
pub(crate) fn identifier(name: &str) -> String {
    let mut made: String =
        name.chars().take(60).map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if made.is_empty() || made.starts_with(|first: char| first.is_ascii_digit()) {
        made.insert(0, 'v');
    }
    made
}

/// A number as people write it.
pub(crate) fn digits(number: f64) -> String {
    let rounded: f64 = format!("{number:.5e}").parse().unwrap_or(number);
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &str) -> Piece {
        Piece::Literal(text.to_owned())
    }

    #[test]
    fn plain_texts_never_become_expressions() {
        let mut notes = Notes::default();
        let pieces =
            [literal("a ${b} $"), Piece::Expression("c".to_owned()), Piece::Unknown("{{d}}".to_owned())];
        assert_eq!(text(&pieces, "variables", &mut notes), "a $${b} ${\"$\"}${c}{{d}}");
        assert_eq!(notes.into_texts(), ["variables, sent as they stand: `{{d}}`: 1"]);
        assert_eq!((plain(&pieces), plain(&pieces[..1])), (None, Some("a ${b} $".to_owned())));
        assert_eq!(
            (identifier("a-b"), identifier("1"), identifier("")),
            ("a_b".into(), "v1".into(), "v".into())
        );
    }

    #[test]
    fn urls_are_absolute_or_those_of_the_origin() {
        let origin = Origin::parse("http://h:81").unwrap();
        let unknown = || Piece::Unknown("{{base}}".to_owned());
        for (pieces, wanted) in [
            (vec![literal("https://x/a?b=1")], "https://x:443/a?b=1"),
            (vec![literal("localhost:8080/a")], "http://localhost:8080/a"),
            (vec![literal("example.test/a")], "http://example.test:80/a"),
            (vec![unknown(), literal("/a/"), Piece::Expression("id".to_owned())], "http://h:81/a/${id}"),
            (vec![literal("/a")], "http://h:81/a"),
            (vec![unknown()], "http://h:81/"),
        ] {
            let url = url(&pieces, Some(&origin), "variables", &mut Notes::default()).unwrap();
            assert_eq!(format!("{}{}", url.origin, url.path), wanted);
        }
        let problem = url(&[unknown(), literal("/a")], None, "variables", &mut Notes::default()).unwrap_err();
        assert!(problem.cause.contains("{{base}}/a") && problem.remedy.contains("--origin"));
    }
}
