//! Claims whose texts may hold `${…}`, rendered for each token by its number.

use crate::program::{MakeCause, ProgramError};
use crate::template::eval::{Frame, Nothing, push_number};
use crate::template::node::Node;
use crate::template::value::Value;
use crate::template::{Piece, Scope, Var, compile_text};
use schema::scenario::TokenMaker;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use std::time::Duration;
use units::Rng;

/// Compiled claims with the vars that they use.
#[derive(Debug)]
pub(super) struct Claims {
    claims: Vec<(String, Claim)>,
    vars: Vec<Var>,
    /// Places of the vars in use, in an order in which they can be drawn.
    used: BTreeSet<u16>,
}

#[derive(Debug)]
enum Claim {
    Fixed(Json),
    Text(Vec<Piece>),
    List(Vec<Claim>),
    Object(Vec<(String, Claim)>),
}

impl Claims {
    pub(super) fn compile(
        plan: &TokenMaker,
        key: &str,
        vars: &[Var],
        scope: Scope<'_>,
    ) -> Result<Self, ProgramError> {
        // Tokens are made ahead of requests: there is no row, no session and no other token yet.
        let scope = Scope { vars, captures: None, feeders: &[], tokens: &[], ..scope };
        let mut claims = Vec::new();
        let mut used = BTreeSet::new();
        for (name, value) in &plan.claims {
            let place = format!("{key}.claims.{name}");
            if name == "iat" || name == "exp" {
                let remedy = "leave it out; set expires_at_least and expires_at_most";
                return Err(ProgramError::new(place, format!("claim `{name}` is set by prony"), remedy));
            }
            let claim = Claim::compile(value, &place, scope)?;
            let mut bound = None;
            claim.walk(&mut |node| note_bound(node, vars, &mut used, &mut bound));
            if let Some(what) = bound {
                let cause = format!("a claim uses {what}, but tokens are made before requests");
                return Err(ProgramError::new(place, cause, "use functions and vars of functions alone"));
            }
            claims.push((name.clone(), claim));
        }
        Ok(Self { claims, vars: vars.to_vec(), used })
    }

    /// The claims of token `number` with its times, in seconds since the Unix epoch.
    pub(super) fn render(
        &self,
        number: u64,
        rng: Rng,
        clock: fn() -> Duration,
        issued_s: u64,
        expires_s: u64,
    ) -> Result<String, MakeCause> {
        let mut values = vec![Value::Int(0); self.vars.len()];
        let mut scratch = Vec::new();
        let mut frame = Frame {
            rng,
            n: number,
            global: number,
            worker: 0,
            session: 0,
            captured: None,
            vars: &mut values,
            scratch: &mut scratch,
            outside: Nothing,
            clock,
            now: None,
            token: None,
        };
        for index in &self.used {
            let index = usize::from(*index);
            frame.vars[index] = frame.eval(&self.vars[index].node)?;
        }
        let mut object = Map::new();
        for (name, claim) in &self.claims {
            object.insert(name.clone(), claim.render(&mut frame)?);
        }
        object.insert("iat".into(), issued_s.into());
        object.insert("exp".into(), expires_s.into());
        Ok(Json::Object(object).to_string())
    }
}

/// Notes which vars a node uses, and what it needs that exists only while a request is made.
fn note_bound(node: &Node, vars: &[Var], used: &mut BTreeSet<u16>, bound: &mut Option<&'static str>) {
    match node {
        Node::Column { .. } => *bound = Some("a feeder"),
        Node::Captured(_) => *bound = Some("a captured value"),
        Node::Token(_) => *bound = Some("a token"),
        Node::Session => *bound = Some("the session"),
        Node::Worker => *bound = Some("the worker"),
        Node::Var(index) if used.insert(*index) => {
            vars[usize::from(*index)].node.walk(&mut |below| note_bound(below, vars, used, bound));
        }
        _ => {}
    }
}

impl Claim {
    fn compile(value: &Json, place: &str, scope: Scope<'_>) -> Result<Self, ProgramError> {
        Ok(match value {
            Json::String(text) => {
                let pieces = compile_text(text.as_bytes(), scope);
                match pieces.map_err(|fault| ProgramError::fault(place, text.as_bytes(), fault))? {
                    pieces if pieces.iter().all(|piece| matches!(piece, Piece::Literal(_))) => {
                        Self::Fixed(Json::String(literal(&pieces)))
                    }
                    pieces => Self::Text(pieces),
                }
            }
            Json::Array(items) => Self::List(
                items.iter().map(|item| Self::compile(item, place, scope)).collect::<Result<_, _>>()?,
            ),
            Json::Object(items) => {
                let claim = |(name, item): (&String, &Json)| {
                    Ok::<_, ProgramError>((name.clone(), Self::compile(item, place, scope)?))
                };
                Self::Object(items.iter().map(claim).collect::<Result<_, _>>()?)
            }
            fixed => Self::Fixed(fixed.clone()),
        })
    }

    fn walk(&self, visit: &mut impl FnMut(&Node)) {
        match self {
            Self::Fixed(_) => {}
            Self::Text(pieces) => {
                for piece in pieces {
                    if let Piece::Value(node) = piece {
                        node.walk(visit);
                    }
                }
            }
            Self::List(items) => items.iter().for_each(|item| item.walk(visit)),
            Self::Object(items) => items.iter().for_each(|(_, item)| item.walk(visit)),
        }
    }

    fn render(&self, frame: &mut Frame<'_, Nothing>) -> Result<Json, MakeCause> {
        Ok(match self {
            Self::Fixed(value) => value.clone(),
            Self::Text(pieces) => Json::String(render_text(pieces, frame)?),
            Self::List(items) => {
                Json::Array(items.iter().map(|item| item.render(frame)).collect::<Result<_, _>>()?)
            }
            Self::Object(items) => {
                let mut object = Map::new();
                for (name, item) in items {
                    object.insert(name.clone(), item.render(frame)?);
                }
                Json::Object(object)
            }
        })
    }
}

fn literal(pieces: &[Piece]) -> String {
    let mut text = Vec::new();
    for piece in pieces {
        if let Piece::Literal(literal) = piece {
            text.extend_from_slice(literal);
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn render_text(pieces: &[Piece], frame: &mut Frame<'_, Nothing>) -> Result<String, MakeCause> {
    let mut text = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => text.extend_from_slice(literal),
            Piece::Value(node) => match frame.eval(node)? {
                Value::Text(span) => text.extend_from_slice(&frame.scratch[span.range()]),
                number => push_number(&mut text, number),
            },
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
