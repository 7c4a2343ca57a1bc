//! Texts with `${…}` and single expressions, parsed into trees.
//!
//! Invariants: any bytes give a tree or a fault, never a panic; a tree's depth is bounded, so that nothing which
//! walks it can exhaust the stack. Absent on purpose: the meaning of names and functions (see `compile`).

use super::lex::{Fault, Lexer, Token};

/// Deepest tree; also the longest chain such as `a + b + c + …`.
const DEPTH_MAX: u16 = 64;
/// Most arguments of one call; `choose` takes many.
const ARGUMENTS_MAX: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// An expression; `at` is its byte offset in the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    pub(super) at: usize,
    depth: u16,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Int(i128),
    Float(f64),
    Text(String),
    Name(String),
    /// A column of a feeder.
    Member(String, String),
    Call(String, Vec<Tree>),
    Negate(Box<Tree>),
    Binary(Operator, Box<Tree>, Box<Tree>),
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Literal(Vec<u8>),
    Expression(Tree),
}

/// Parses a text with `${…}`; `$${` stands for a plain `${`.
pub(super) fn text(bytes: &[u8]) -> Result<Vec<Part>, Fault> {
    let mut parts = Vec::new();
    let mut literal = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"$${") {
            literal.extend_from_slice(b"${");
            at += 3;
        } else if rest.starts_with(b"${") {
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            let mut parser = Parser::new(bytes, at + 2)?;
            let tree = parser.sum()?;
            if parser.token != Token::Symbol(b'}') {
                return Err(parser.expected("`}`", at));
            }
            at = parser.lexer.at;
            parts.push(Part::Expression(tree));
        } else {
            literal.push(bytes[at]);
            at += 1;
        }
    }
    if !literal.is_empty() {
        parts.push(Part::Literal(literal));
    }
    Ok(parts)
}

/// Parses a text that is one expression.
pub(super) fn expression(text: &str) -> Result<Tree, Fault> {
    let mut parser = Parser::new(text.as_bytes(), 0)?;
    let tree = parser.sum()?;
    match parser.token {
        Token::End => Ok(tree),
        _ => Err(parser.expected("an operator or the end", parser.at)),
    }
}

impl Tree {
    /// Calls `visit` with this tree and all below it.
    pub(super) fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Tree)) {
        visit(self);
        match &self.kind {
            Kind::Call(_, arguments) => arguments.iter().for_each(|argument| argument.walk(visit)),
            Kind::Negate(inner) => inner.walk(visit),
            Kind::Binary(_, left, right) => {
                left.walk(visit);
                right.walk(visit);
            }
            _ => {}
        }
    }
}

/// Recursive descent with one token ahead.
struct Parser<'a> {
    lexer: Lexer<'a>,
    at: usize,
    token: Token,
    nesting: u16,
}

impl<'a> Parser<'a> {
    fn new(bytes: &'a [u8], at: usize) -> Result<Self, Fault> {
        let mut lexer = Lexer { bytes, at };
        let (at, token) = lexer.next()?;
        Ok(Self { lexer, at, token, nesting: 0 })
    }

    /// Takes the current token and reads the next.
    fn advance(&mut self) -> Result<Token, Fault> {
        let (at, next) = self.lexer.next()?;
        self.at = at;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn take(&mut self, symbol: u8) -> Result<bool, Fault> {
        let is_it = self.token == Token::Symbol(symbol);
        if is_it {
            self.advance()?;
        }
        Ok(is_it)
    }

    fn expected(&self, wanted: &str, at: usize) -> Fault {
        let at = if self.token == Token::End { at } else { self.at };
        Fault::new(
            at,
            format!("{wanted} was expected, {} found", self.token.show()),
            format!("write {wanted}"),
        )
    }

    fn tree(&self, at: usize, below: u16, kind: Kind) -> Result<Tree, Fault> {
        if below >= DEPTH_MAX {
            return Err(too_deep(at));
        }
        Ok(Tree { at, depth: below + 1, kind })
    }

    fn sum(&mut self) -> Result<Tree, Fault> {
        self.nesting += 1;
        if self.nesting > DEPTH_MAX {
            return Err(too_deep(self.at));
        }
        let mut left = self.product()?;
        while let Token::Symbol(symbol @ (b'+' | b'-')) = self.token {
            self.advance()?;
            let right = self.product()?;
            let operator = if symbol == b'+' { Operator::Add } else { Operator::Subtract };
            left = self.binary(operator, left, right)?;
        }
        self.nesting -= 1;
        Ok(left)
    }

    fn product(&mut self) -> Result<Tree, Fault> {
        let mut left = self.factor()?;
        while let Token::Symbol(symbol @ (b'*' | b'/' | b'%')) = self.token {
            self.advance()?;
            let right = self.factor()?;
            let operator = match symbol {
                b'*' => Operator::Multiply,
                b'/' => Operator::Divide,
                _ => Operator::Remainder,
            };
            left = self.binary(operator, left, right)?;
        }
        Ok(left)
    }

    fn binary(&self, operator: Operator, left: Tree, right: Tree) -> Result<Tree, Fault> {
        let depth = left.depth.max(right.depth);
        self.tree(left.at, depth, Kind::Binary(operator, Box::new(left), Box::new(right)))
    }

    fn factor(&mut self) -> Result<Tree, Fault> {
        let at = self.at;
        let mut signs = 0_u16;
        let mut is_negative = false;
        while let Token::Symbol(symbol @ (b'-' | b'+')) = self.token {
            self.advance()?;
            is_negative ^= symbol == b'-';
            signs += 1;
            if signs > DEPTH_MAX {
                return Err(too_deep(at));
            }
        }
        let inner = self.primary()?;
        match (is_negative, &inner.kind) {
            (false, _) => Ok(inner),
            (true, Kind::Int(value)) => self.tree(at, 0, Kind::Int(-value)),
            (true, Kind::Float(value)) => self.tree(at, 0, Kind::Float(-value)),
            (true, _) => self.tree(at, inner.depth, Kind::Negate(Box::new(inner))),
        }
    }

    fn primary(&mut self) -> Result<Tree, Fault> {
        let at = self.at;
        if !matches!(
            self.token,
            Token::Int(_) | Token::Float(_) | Token::Text(_) | Token::Name(_) | Token::Symbol(b'(')
        ) {
            return Err(self.expected("a number, a name, a text or `(`", at));
        }
        match self.advance()? {
            Token::Int(value) => self.tree(at, 0, Kind::Int(value)),
            Token::Float(value) => self.tree(at, 0, Kind::Float(value)),
            Token::Text(value) => self.tree(at, 0, Kind::Text(value)),
            Token::Name(name) => self.named(at, name),
            _ => {
                let inner = self.sum()?;
                if !self.take(b')')? {
                    return Err(self.expected("`)`", at));
                }
                Ok(inner)
            }
        }
    }

    /// After a name: a call, a column, or the name alone.
    fn named(&mut self, at: usize, name: String) -> Result<Tree, Fault> {
        if self.take(b'(')? {
            let arguments = self.arguments(at)?;
            let depth = arguments.iter().map(|argument| argument.depth).max().unwrap_or(0);
            return self.tree(at, depth, Kind::Call(name, arguments));
        }
        if self.take(b'.')? {
            let Token::Name(column) = self.token.clone() else {
                return Err(self.expected("the name of a column", at));
            };
            self.advance()?;
            return self.tree(at, 0, Kind::Member(name, column));
        }
        if self.take(b'[')? {
            let Token::Text(column) = self.token.clone() else {
                return Err(self.expected("the name of a column in quotes", at));
            };
            self.advance()?;
            if !self.take(b']')? {
                return Err(self.expected("`]`", at));
            }
            return self.tree(at, 0, Kind::Member(name, column));
        }
        self.tree(at, 0, Kind::Name(name))
    }

    fn arguments(&mut self, at: usize) -> Result<Vec<Tree>, Fault> {
        let mut arguments = Vec::new();
        if self.take(b')')? {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.sum()?);
            if arguments.len() > ARGUMENTS_MAX {
                let cause = format!("more than {ARGUMENTS_MAX} arguments");
                return Err(Fault::new(at, cause, "put the values into a file and use a feeder"));
            }
            if self.take(b')')? {
                return Ok(arguments);
            }
            if !self.take(b',')? {
                return Err(self.expected("`,` or `)`", at));
            }
        }
    }
}

fn too_deep(at: usize) -> Fault {
    let cause = format!("the expression is nested more than {DEPTH_MAX} deep");
    Fault::new(at, cause, "split it: give its parts names under [vars]")
}
