//! A script as a tree: what a load may be made of, and names for the rest.

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Text(String),
    Number(f64),
    Bool(bool),
    /// `null` and `undefined`.
    Null,
    /// Texts and expressions, put together.
    Template(Vec<Expr>),
    Name(String),
    Member(Box<Expr>, String),
    Index(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    Object(Vec<Entry>),
    List(Vec<Expr>),
    Function(Box<Function>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    /// `name = value`
    Assign(String, Box<Expr>),
    /// What no load is made of: conditions, classes, regular expressions and the like.
    Other,
}

/// `name: value` of an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) value: Expr,
    pub(super) line: usize,
}

/// A function of any form.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Function {
    /// Names of its parameters; one that is a pattern is empty.
    pub(super) parameters: Vec<String>,
    pub(super) body: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Statement {
    pub(super) line: usize,
    pub(super) kind: Kind,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// `const name = value`, exported or not.
    Declare(String, Expr),
    /// A function with its name; that of `export default` is `default`.
    Function(String, Function),
    Run(Expr),
    Return(Expr),
    Block(Vec<Statement>),
    /// `if`, `for`, `while`, `switch`, `try`, `class` …: what it is, and what is below it.
    Other(String),
    /// Says nothing: imports.
    Nothing,
}

impl Expr {
    /// Name and arguments where it is `OBJECT.METHOD(…)` of a plain name.
    pub(super) fn method_of(&self, object: &str) -> Option<(&str, &[Self])> {
        let Self::Call(callee, arguments) = self else { return None };
        match &**callee {
            Self::Member(of, method) if **of == Self::Name(object.to_owned()) => Some((method, arguments)),
            _ => None,
        }
    }

    /// The arguments where it is a call of a plain name.
    pub(super) fn call_of(&self, name: &str) -> Option<&[Self]> {
        match self {
            Self::Call(callee, arguments) if **callee == Self::Name(name.to_owned()) => Some(arguments),
            _ => None,
        }
    }

    /// In short, for a note.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(text) => format!("'{text}'"),
            Self::Number(number) => number.to_string(),
            Self::Bool(is) => is.to_string(),
            Self::Null => "null".to_owned(),
            Self::Template(parts) => {
                let part = |part: &Self| match part {
                    Self::Text(text) => text.clone(),
                    other => format!("${{{}}}", other.shown()),
                };
                format!("`{}`", parts.iter().map(part).collect::<String>())
            }
            Self::Name(name) => name.clone(),
            Self::Member(of, name) => format!("{}.{name}", of.shown()),
            Self::Index(of, at) => format!("{}[{}]", of.shown(), at.shown()),
            Self::Call(callee, _) => format!("{}(…)", callee.shown()),
            Self::Object(_) => "{…}".to_owned(),
            Self::List(_) => "[…]".to_owned(),
            Self::Function(_) => "() => …".to_owned(),
            Self::Binary(sign, left, right) => format!("{} {sign} {}", left.shown(), right.shown()),
            Self::Not(of) => format!("!{}", of.shown()),
            Self::Assign(name, value) => format!("{name} = {}", value.shown()),
            Self::Other => "…".to_owned(),
        }
    }
}
