//! What expressions may refer to, and what is known of it before the load.

use super::eval::push_number;
use super::lex::Fault;
use super::node::{Node, Yield};
use super::value::Value;

/// What expressions may refer to.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) vars: &'a [Var],
    /// Names of captured values; absent where there is no session.
    pub(crate) captures: Option<&'a [String]>,
    /// Columns of each feeder in the order of the feeders.
    pub(crate) feeders: &'a [(String, Vec<String>)],
    pub(crate) tokens: &'a [String],
    /// Reads an environment variable.
    pub(crate) env: &'a dyn Fn(&str) -> Option<String>,
}

/// A value of `[vars]`.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) node: Node,
    pub(super) yields: Yield,
}

pub(super) fn yields_of(vars: &[Var]) -> Vec<Yield> {
    vars.iter().map(|var| var.yields).collect()
}

pub(super) fn must_be_number(at: usize, node: &Node, scope: Scope<'_>) -> Result<(), Fault> {
    // The text of an environment variable or a literal is known: it counts by what stands in it.
    let is_number_in_text = |text: &[u8]| {
        std::str::from_utf8(text).is_ok_and(|text| text.trim().parse::<f64>().is_ok_and(f64::is_finite))
    };
    match node {
        Node::Text(text) if is_number_in_text(text) => Ok(()),
        _ if node.yields(&yields_of(scope.vars)) != Yield::Text => Ok(()),
        _ => Err(Fault::new(
            at,
            "a text stands where a number must be",
            "write a number or an expression of one",
        )),
    }
}

/// A name that is not known, with the nearest that is.
pub(super) fn unknown<'a>(
    at: usize,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Fault {
    let remedy = match schema::text::nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => match known.take(40).collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => "none is declared in this scenario".to_owned(),
            list => format!("use one of: {list}"),
        },
    };
    Fault::new(at, format!("unknown {what} `{name}`"), remedy)
}

pub(super) fn constant_text(node: &Node) -> Vec<u8> {
    let mut out = Vec::new();
    match node {
        Node::Int(value) => push_number(&mut out, Value::Int(*value)),
        Node::Float(value) => push_number(&mut out, Value::Float(*value)),
        Node::Text(text) => out.extend_from_slice(text),
        _ => {}
    }
    out
}
