//! Expressions: signs between values, members, calls, literals and functions.

use super::{Lost, Parsed, Parser};
use crate::k6::lexer::{TemplatePart, Token, tokens};
use crate::k6::tree::{Entry, Expr, Function, Kind, Statement};

/// Signs between two values, with how strongly they bind.
const BINARY: [(&str, u8); 24] = [
    ("??", 1),
    ("||", 1),
    ("&&", 2),
    ("|", 3),
    ("^", 3),
    ("&", 3),
    ("==", 4),
    ("!=", 4),
    ("===", 4),
    ("!==", 4),
    ("<", 5),
    (">", 5),
    ("<=", 5),
    (">=", 5),
    ("<<", 6),
    (">>", 6),
    (">>>", 6),
    ("+", 7),
    ("-", 7),
    ("*", 8),
    ("/", 8),
    ("%", 8),
    ("**", 9),
    ("in", 5),
];

impl Parser {
    /// An expression without commas.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| {
            if let Some(function) = parser.arrow()? {
                return Ok(function);
            }
            let left = parser.binary(1)?;
            if parser.take("?") {
                parser.expression()?;
                parser.want(":")?;
                parser.expression()?;
                return Ok(Expr::Other);
            }
            let assigns = [
                "+=", "-=", "*=", "/=", "%=", "&&=", "||=", "??=", "**=", "&=", "|=", "^=", "<<=", ">>=",
                ">>>=",
            ];
            if parser.take("=") {
                let value = parser.expression()?;
                return Ok(match left {
                    Expr::Name(name) => Expr::Assign(name, Box::new(value)),
                    _ => Expr::Other,
                });
            }
            if assigns.iter().any(|sign| parser.take(sign)) {
                parser.expression()?;
                return Ok(Expr::Other);
            }
            Ok(left)
        })
    }

    /// `x => …`, `(x, y) => …`, `async …`; nothing where it is none.
    fn arrow(&mut self) -> Parsed<Option<Expr>> {
        let begin = self.at;
        if self.is_word("async") && self.sign_at(1) != Some("=>") && !self.is_function() {
            self.at += 1;
        }
        let parameters = if self.is("(") {
            let open = self.at;
            let is_arrow = self.skip_brackets().is_ok() && self.is("=>");
            self.at = open;
            if !is_arrow {
                self.at = begin;
                return Ok(None);
            }
            self.parameters()?
        } else if matches!(self.token(), Some(Token::Word(_))) && self.sign_at(1) == Some("=>") {
            vec![self.word()?]
        } else {
            self.at = begin;
            return Ok(None);
        };
        self.want("=>")?;
        let line = self.line();
        let body = if self.is("{") {
            self.block()?
        } else {
            vec![Statement { line, kind: Kind::Return(self.expression()?) }]
        };
        Ok(Some(Expr::Function(Box::new(Function { parameters, body }))))
    }

    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        self.chain(|parser| parser.binary_chain(least))
    }

    fn binary_chain(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        loop {
            let found = match self.token() {
                Some(Token::Sign(sign)) => BINARY.iter().find(|(known, _)| known == sign),
                Some(Token::Word(word)) if word == "in" || word == "instanceof" => BINARY.last(),
                _ => None,
            };
            let Some((sign, strength)) = found.copied().filter(|(_, strength)| *strength >= least) else {
                return Ok(left);
            };
            self.at += 1;
            self.link()?;
            let right = self.deeper(|parser| parser.binary(strength + 1))?;
            left = Expr::Binary(sign, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        if self.take("!") {
            return Ok(Expr::Not(Box::new(self.deeper(Self::unary)?)));
        }
        if self.take("-") {
            return Ok(match self.deeper(Self::unary)? {
                Expr::Number(number) => Expr::Number(-number),
                _ => Expr::Other,
            });
        }
        if self.take_word("await") {
            return self.deeper(Self::unary);
        }
        let is_sign = ["+", "~", "++", "--"].iter().any(|sign| self.take(sign));
        if is_sign || ["typeof", "void", "delete"].iter().any(|word| self.take_word(word)) {
            self.deeper(Self::unary)?;
            return Ok(Expr::Other);
        }
        let value = self.chain(|parser| {
            let value = parser.value()?;
            parser.after(value)
        })?;
        if self.take("++") || self.take("--") {
            return Ok(Expr::Other);
        }
        Ok(value)
    }

    /// Members, indices and calls behind a value.
    fn after(&mut self, mut value: Expr) -> Parsed<Expr> {
        loop {
            self.link()?;
            if self.take(".") || self.take("?.") {
                if self.is("(") || self.is("[") {
                    continue;
                }
                value = Expr::Member(Box::new(value), self.word()?);
            } else if self.take("[") {
                let at = self.deeper(Self::expression)?;
                self.want("]")?;
                value = Expr::Index(Box::new(value), Box::new(at));
            } else if self.is("(") {
                value = Expr::Call(Box::new(value), self.arguments()?);
            } else if let Some(Token::Template(_)) = self.token() {
                // `http.url` is the one tag that k6 has: its text.
                value = self.value()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.want("(")?;
        let mut arguments = Vec::new();
        while !self.take(")") {
            let is_spread = self.take("...");
            let argument = self.deeper(Self::expression)?;
            arguments.push(if is_spread { Expr::Other } else { argument });
            if !self.take(",") && !self.is(")") {
                return Err(Lost);
            }
        }
        Ok(arguments)
    }

    fn value(&mut self) -> Parsed<Expr> {
        let Some(token) = self.token().cloned() else { return Err(Lost) };
        match token {
            Token::Text(text) => self.passed(Expr::Text(text)),
            Token::Number(number) => self.passed(Expr::Number(number)),
            Token::Regex => self.passed(Expr::Other),
            Token::Template(parts) => {
                self.at += 1;
                self.template(&parts)
            }
            Token::Word(word) => match word.as_str() {
                "true" | "false" => self.passed(Expr::Bool(word == "true")),
                "null" | "undefined" => self.passed(Expr::Null),
                "function" | "async" if self.is_function() => {
                    match self.deeper(|p| p.named_function(None))? {
                        Kind::Function(_, function) => Ok(Expr::Function(Box::new(function))),
                        _ => Err(Lost),
                    }
                }
                "new" => {
                    self.at += 1;
                    let of = self.deeper(Self::value)?;
                    self.after(of)?;
                    Ok(Expr::Other)
                }
                "class" => Err(Lost),
                _ => self.passed(Expr::Name(word)),
            },
            Token::Sign("(") => {
                self.at += 1;
                let mut inner = self.deeper(Self::expression)?;
                while self.take(",") {
                    inner = self.deeper(Self::expression)?;
                }
                self.want(")")?;
                Ok(inner)
            }
            Token::Sign("[") => self.list(),
            Token::Sign("{") => self.deeper(Self::object),
            Token::Sign(_) => Err(Lost),
        }
    }

    fn passed(&mut self, expr: Expr) -> Parsed<Expr> {
        self.at += 1;
        Ok(expr)
    }

    fn template(&mut self, parts: &[TemplatePart]) -> Parsed<Expr> {
        let mut all = Vec::new();
        for part in parts {
            match part {
                TemplatePart::Text(text) if text.is_empty() => {}
                TemplatePart::Text(text) => all.push(Expr::Text(text.clone())),
                TemplatePart::Code(code, line) => {
                    let tokens = tokens(code, *line).map_err(|_| Lost)?;
                    let mut inner = Self { tokens, at: 0, depth: self.depth, reached: self.reached };
                    all.push(inner.expression()?);
                    self.reached = inner.reached;
                }
            }
        }
        Ok(Expr::Template(all))
    }

    fn list(&mut self) -> Parsed<Expr> {
        self.want("[")?;
        let mut all = Vec::new();
        while !self.take("]") {
            let is_spread = self.take("...");
            let one = self.deeper(Self::expression)?;
            all.push(if is_spread { Expr::Other } else { one });
            if !self.take(",") && !self.is("]") {
                return Err(Lost);
            }
        }
        Ok(Expr::List(all))
    }

    fn object(&mut self) -> Parsed<Expr> {
        self.want("{")?;
        let mut entries = Vec::new();
        while !self.take("}") {
            let line = self.line();
            if self.take("...") {
                self.expression()?;
                entries.push(Entry { name: "...".to_owned(), value: Expr::Other, line });
            } else {
                entries.push(self.entry(line)?);
            }
            if !self.take(",") && !self.is("}") {
                return Err(Lost);
            }
        }
        Ok(Expr::Object(entries))
    }

    fn entry(&mut self, line: usize) -> Parsed<Entry> {
        let name = match self.token().cloned() {
            Some(Token::Word(name) | Token::Text(name)) => {
                self.at += 1;
                name
            }
            Some(Token::Number(number)) => {
                self.at += 1;
                number.to_string()
            }
            // A computed name is known only while the script runs.
            Some(Token::Sign("[")) => {
                self.skip_brackets()?;
                "[…]".to_owned()
            }
            _ => return Err(Lost),
        };
        let value = if self.take(":") {
            self.expression()?
        } else if self.is("(") {
            Expr::Function(Box::new(self.function_rest()?))
        } else {
            Expr::Name(name.clone())
        };
        Ok(Entry { name, value, line })
    }
}
