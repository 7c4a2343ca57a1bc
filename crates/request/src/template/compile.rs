//! From trees to nodes: names and functions are resolved, kinds checked, constants folded.

use super::eval::{Frame, Nothing};
use super::functions::{self, Call};
use super::lex::Fault;
use super::node::{Node, Piece};
use super::parse::{self, Kind, Operator, Part, Tree};
use super::scope::{Scope, Var, constant_text, must_be_number, unknown, yields_of};
use super::value::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use units::Seed;

/// Compiles a text with `${…}`; neighbouring literals and constants are joined.
pub(crate) fn compile_text(text: &[u8], scope: Scope<'_>) -> Result<Vec<Piece>, Fault> {
    let mut pieces: Vec<Piece> = Vec::new();
    for part in parse::text(text)? {
        let piece = match part {
            Part::Literal(literal) => Piece::Literal(literal),
            Part::Expression(tree) => match compile(&tree, scope)? {
                node if node.is_constant() => Piece::Literal(constant_text(&node)),
                node => Piece::Value(node),
            },
        };
        match (pieces.last_mut(), piece) {
            (Some(Piece::Literal(before)), Piece::Literal(more)) => before.extend(more),
            (_, piece) => pieces.push(piece),
        }
    }
    Ok(pieces)
}

/// Compiles `[vars]` in an order in which each comes after those that it uses. A fault comes with the name of its
/// var.
pub(crate) fn compile_vars(vars: &[(String, String)], scope: Scope<'_>) -> Result<Vec<Var>, (String, Fault)> {
    let mut trees = Vec::new();
    for (name, text) in vars {
        trees.push(parse::expression(text).map_err(|fault| (name.clone(), fault))?);
    }
    let places: BTreeMap<&str, usize> =
        vars.iter().enumerate().map(|(place, (name, _))| (name.as_str(), place)).collect();
    let mut order =
        Order { trees: &trees, places: &places, state: vec![State::New; trees.len()], done: vec![] };
    for place in 0..trees.len() {
        if order.state[place] == State::New {
            order.visit(place).map_err(|(at, fault)| (vars[at].0.clone(), fault))?;
        }
    }
    let mut compiled: Vec<Var> = Vec::new();
    for place in order.done {
        let name = vars[place].0.clone();
        let node = compile(&trees[place], Scope { vars: &compiled, ..scope })
            .map_err(|fault| (name.clone(), fault))?;
        let yields = node.yields(&yields_of(&compiled));
        compiled.push(Var { name, node, yields });
    }
    Ok(compiled)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

/// Depth-first order of vars by their use of each other.
struct Order<'a> {
    trees: &'a [Tree],
    places: &'a BTreeMap<&'a str, usize>,
    state: Vec<State>,
    done: Vec<usize>,
}

/// Most vars that use each other in a row.
const CHAIN_MAX: usize = 256;

impl Order<'_> {
    /// A fault comes with the place of the var whose text holds it.
    fn visit(&mut self, place: usize) -> Result<(), (usize, Fault)> {
        self.state[place] = State::Open;
        let mut used = Vec::new();
        self.trees[place].walk(&mut |tree| {
            if let Kind::Name(name) = &tree.kind
                && let Some(other) = self.places.get(name.as_str())
            {
                used.push((tree.at, name, *other));
            }
        });
        for (at, name, other) in used {
            match self.state[other] {
                State::Done => {}
                State::Open => {
                    let cause = format!("`{name}` is used in its own making");
                    let fault = Fault::new(at, cause, "break the circle of vars that use each other");
                    return Err((place, fault));
                }
                State::New
                    if self.state.iter().filter(|state| **state == State::Open).count() > CHAIN_MAX =>
                {
                    let cause = format!("more than {CHAIN_MAX} vars use each other in a row");
                    return Err((place, Fault::new(at, cause, "shorten the chain")));
                }
                State::New => self.visit(other)?,
            }
        }
        self.state[place] = State::Done;
        self.done.push(place);
        Ok(())
    }
}

/// Compiles one expression.
pub(super) fn compile(tree: &Tree, scope: Scope<'_>) -> Result<Node, Fault> {
    let node = match &tree.kind {
        Kind::Int(value) => Node::Int(*value),
        Kind::Float(value) => Node::Float(*value),
        Kind::Text(text) => Node::Text(text.as_bytes().into()),
        Kind::Name(name) => return resolve_name(tree.at, name, scope),
        Kind::Member(feeder, column) => return resolve_column(tree.at, feeder, column, scope),
        Kind::Negate(inner) => Node::Negate(Box::new(compile_number(inner, scope)?)),
        Kind::Binary(operator, left, right) => binary(*operator, left, right, scope)?,
        Kind::Call(name, arguments) => {
            let mut compiled = Vec::new();
            for argument in arguments {
                compiled.push((argument.at, compile(argument, scope)?));
            }
            functions::build(Call { at: tree.at, name, arguments: compiled, scope })?
        }
    };
    fold(tree.at, node)
}

fn binary(operator: Operator, left: &Tree, right: &Tree, scope: Scope<'_>) -> Result<Node, Fault> {
    let left = compile_number(left, scope)?;
    let right = compile_number(right, scope)?;
    Ok(Node::Binary(operator, Box::new(left), Box::new(right)))
}

fn compile_number(tree: &Tree, scope: Scope<'_>) -> Result<Node, Fault> {
    let node = compile(tree, scope)?;
    must_be_number(tree.at, &node, scope)?;
    Ok(node)
}

fn resolve_name(at: usize, name: &str, scope: Scope<'_>) -> Result<Node, Fault> {
    if let Some(place) = scope.vars.iter().position(|var| var.name == name) {
        let var = &scope.vars[place];
        return Ok(if var.node.is_constant() { var.node.clone() } else { Node::Var(place as u16) });
    }
    let captures = scope.captures.unwrap_or_default();
    if let Some(place) = captures.iter().position(|known| known == name) {
        return Ok(Node::Captured(place as u16));
    }
    if let Some((_, columns)) = scope.feeders.iter().find(|(feeder, _)| feeder == name) {
        let remedy = format!("write one of its columns: {}", show_columns(name, columns));
        return Err(Fault::new(at, format!("`{name}` is a feeder, not a value"), remedy));
    }
    let columns: Vec<String> = scope
        .feeders
        .iter()
        .flat_map(|(feeder, columns)| columns.iter().map(move |column| format!("{feeder}.{column}")))
        .collect();
    let calls: Vec<String> = functions::names().map(|name| format!("{name}()")).collect();
    let known = scope.vars.iter().map(|var| &var.name).chain(captures).chain(&columns).chain(&calls);
    Err(unknown(at, "name", name, known.map(String::as_str)))
}

fn resolve_column(at: usize, feeder: &str, column: &str, scope: Scope<'_>) -> Result<Node, Fault> {
    let Some(place) = scope.feeders.iter().position(|(known, _)| known == feeder) else {
        return Err(unknown(at, "feeder", feeder, scope.feeders.iter().map(|(name, _)| name.as_str())));
    };
    let columns = &scope.feeders[place].1;
    match columns.iter().position(|known| known == column) {
        Some(index) => Ok(Node::Column { feeder: place as u16, column: index as u16 }),
        None => Err(unknown(
            at,
            &format!("column of feeder `{feeder}`"),
            column,
            columns.iter().map(String::as_str),
        )),
    }
}

fn show_columns(feeder: &str, columns: &[String]) -> String {
    let shown: Vec<String> = columns.iter().take(5).map(|column| format!("{feeder}.{column}")).collect();
    shown.join(", ")
}

/// Evaluates what does not depend on the request.
fn fold(at: usize, node: Node) -> Result<Node, Fault> {
    let is_pure = match &node {
        Node::Negate(a) | Node::Convert(_, a) | Node::Digest(_, a) => a.is_constant(),
        Node::Binary(_, a, b) | Node::Hmac { key: a, message: b } => a.is_constant() && b.is_constant(),
        Node::KeyedHmac { message, .. } => message.is_constant(),
        Node::Pad { value, width, .. } => value.is_constant() && width.is_constant(),
        _ => false,
    };
    if !is_pure {
        return Ok(node);
    }
    let mut scratch = Vec::new();
    let mut frame = Frame {
        rng: Seed(0).rng(),
        n: 0,
        global: 0,
        worker: 0,
        session: 0,
        captured: None,
        vars: &mut [],
        scratch: &mut scratch,
        outside: Nothing,
        clock: || Duration::ZERO,
        now: None,
        token: None,
    };
    let value = frame.eval(&node);
    Ok(match value.map_err(|cause| Fault::new(at, cause.to_string(), "change the numbers"))? {
        Value::Int(value) => Node::Int(value),
        Value::Float(value) => Node::Float(value),
        Value::Text(span) => Node::Text(scratch[span.range()].into()),
    })
}
