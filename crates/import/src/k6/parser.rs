//! Tokens as a tree.
//!
//! A statement that is not understood is skipped to its end and named; so is every statement that a load has no equal
//! of, with all below it. Depth is limited.

use super::lexer::{TemplatePart, Token, tokens};
use super::tree::{Entry, Expr, Function, Kind, Statement};
use crate::error::Problem;

/// Expressions and blocks within each other.
const DEPTH_MAX: usize = 100;
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

/// Reads a script.
///
/// # Errors
/// Text that cannot be JavaScript.
pub(super) fn parse(text: &str) -> Result<Vec<Statement>, Problem> {
    let mut parser = Parser { tokens: tokens(text, 1)?, at: 0, depth: 0 };
    let mut statements = Vec::new();
    while parser.at < parser.tokens.len() {
        statements.push(parser.statement_or_rest());
    }
    Ok(statements)
}

/// It is not understood from here on.
struct Lost;

type Parsed<T> = Result<T, Lost>;

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn token(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, line)| *line)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.token(), Some(Token::Sign(found)) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.token(), Some(Token::Word(found)) if found == word)
    }

    fn sign_at(&self, further: usize) -> Option<&'static str> {
        match self.tokens.get(self.at + further) {
            Some((Token::Sign(sign), _)) => Some(sign),
            _ => None,
        }
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn want(&mut self, sign: &str) -> Parsed<()> {
        if self.take(sign) { Ok(()) } else { Err(Lost) }
    }

    fn word(&mut self) -> Parsed<String> {
        match self.token() {
            Some(Token::Word(word)) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            _ => Err(Lost),
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH_MAX {
            return Err(Lost);
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// A statement, or, where it is not understood, its name and its end.
    fn statement_or_rest(&mut self) -> Statement {
        let (begin, line, depth) = (self.at, self.line(), self.depth);
        if let Ok(statement) = self.deeper(Self::statement) {
            return statement;
        }
        self.depth = depth;
        self.at = begin;
        self.skip_statement();
        // Whatever it is, go on.
        self.at = self.at.max(begin + 1);
        Statement { line, kind: Kind::Other("a statement that is not understood".to_owned()) }
    }

    /// To behind the next `;` outside of brackets, or to a new line that nothing leads over to.
    fn skip_statement(&mut self) {
        let mut open = 0_usize;
        while let Some((token, line)) = self.tokens.get(self.at) {
            let (token, line) = (token.clone(), *line);
            match token {
                Token::Sign("(" | "[" | "{") => open += 1,
                Token::Sign(")" | "]" | "}") if open == 0 => return,
                Token::Sign(")" | "]" | "}") => open -= 1,
                _ => {}
            }
            self.at += 1;
            let is_over = open == 0
                && (token == Token::Sign(";")
                    || (matches!(
                        token,
                        Token::Sign("}" | ")") | Token::Word(_) | Token::Text(_) | Token::Number(_)
                    ) && self.tokens.get(self.at).is_some_and(|(_, next)| *next > line)));
            if is_over {
                return;
            }
        }
    }

    /// A pair of brackets with what is in it.
    fn skip_brackets(&mut self) -> Parsed<()> {
        let mut open = 0_usize;
        while let Some(token) = self.token() {
            match token {
                Token::Sign("(" | "[" | "{") => open += 1,
                Token::Sign(")" | "]" | "}") => open = open.checked_sub(1).ok_or(Lost)?,
                _ if open == 0 => return Err(Lost),
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return Ok(());
            }
        }
        Err(Lost)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let line = self.line();
        let kind = self.kind()?;
        self.take(";");
        Ok(Statement { line, kind })
    }

    fn kind(&mut self) -> Parsed<Kind> {
        if self.is(";") {
            return Ok(Kind::Nothing);
        }
        if self.is("{") {
            return self.block().map(Kind::Block);
        }
        let Some(Token::Word(word)) = self.token().cloned() else { return self.expression().map(Kind::Run) };
        match word.as_str() {
            "import" if self.sign_at(1) != Some("(") => {
                while !matches!(self.token(), Some(Token::Text(_)) | None) {
                    self.at += 1;
                }
                self.at += 1;
                Ok(Kind::Nothing)
            }
            "export" => self.export(),
            "const" | "let" | "var" => self.declaration(),
            "async" | "function" if self.is_function() => self.named_function(None),
            "return" => {
                let line = self.line();
                self.at += 1;
                let ends = self.is(";") || self.is("}") || self.token().is_none() || self.line() > line;
                Ok(Kind::Return(if ends { Expr::Null } else { self.expression()? }))
            }
            "if" | "for" | "while" | "switch" | "with" => {
                self.at += 1;
                self.take_word("await");
                self.skip_brackets()?;
                self.below()?;
                while self.take_word("else") {
                    if self.take_word("if") {
                        self.skip_brackets()?;
                    }
                    self.below()?;
                }
                Ok(Kind::Other(word))
            }
            "do" => {
                self.at += 1;
                self.below()?;
                self.take_word("while");
                self.skip_brackets()?;
                Ok(Kind::Other(word))
            }
            "try" => {
                self.at += 1;
                self.skip_brackets()?;
                while self.take_word("catch") || self.take_word("finally") {
                    if self.is("(") {
                        self.skip_brackets()?;
                    }
                    self.skip_brackets()?;
                }
                Ok(Kind::Other(word))
            }
            "class" => {
                while !self.is("{") && self.token().is_some() {
                    self.at += 1;
                }
                self.skip_brackets()?;
                Ok(Kind::Other(word))
            }
            "throw" | "break" | "continue" => {
                self.skip_statement();
                Ok(Kind::Other(word))
            }
            _ => self.expression().map(Kind::Run),
        }
    }

    /// What stands below a condition or loop: a block, or one statement.
    fn below(&mut self) -> Parsed<()> {
        if self.is("{") { self.skip_brackets() } else { self.deeper(Self::statement).map(drop) }
    }

    fn is_function(&self) -> bool {
        let after = usize::from(self.is_word("async"));
        matches!(self.tokens.get(self.at + after), Some((Token::Word(word), _)) if word == "function")
    }

    fn export(&mut self) -> Parsed<Kind> {
        self.at += 1;
        if !self.take_word("default") {
            return self.kind();
        }
        if self.is_function() {
            return self.named_function(Some("default"));
        }
        Ok(match self.expression()? {
            Expr::Function(function) => Kind::Function("default".to_owned(), *function),
            other => Kind::Declare("default".to_owned(), other),
        })
    }

    fn declaration(&mut self) -> Parsed<Kind> {
        self.at += 1;
        let mut all = Vec::new();
        loop {
            let line = self.line();
            if self.is("{") || self.is("[") {
                self.skip_brackets()?;
                self.want("=")?;
                self.expression()?;
                all.push(Statement { line, kind: Kind::Other("a pattern".to_owned()) });
            } else {
                let name = self.word()?;
                let value = if self.take("=") { self.expression()? } else { Expr::Null };
                all.push(Statement { line, kind: Kind::Declare(name, value) });
            }
            if !self.take(",") {
                break;
            }
        }
        Ok(if all.len() == 1 { all.remove(0).kind } else { Kind::Block(all) })
    }

    fn named_function(&mut self, known: Option<&str>) -> Parsed<Kind> {
        self.take_word("async");
        self.at += 1;
        self.take("*");
        let own = if self.is("(") { String::new() } else { self.word()? };
        let function = self.function_rest()?;
        Ok(Kind::Function(known.map_or(own, str::to_owned), function))
    }

    /// Parameters and body.
    fn function_rest(&mut self) -> Parsed<Function> {
        let parameters = self.parameters()?;
        Ok(Function { parameters, body: self.block()? })
    }

    fn parameters(&mut self) -> Parsed<Vec<String>> {
        self.want("(")?;
        let mut parameters = Vec::new();
        while !self.take(")") {
            self.take("...");
            if self.is("{") || self.is("[") {
                self.skip_brackets()?;
                parameters.push(String::new());
            } else {
                parameters.push(self.word()?);
            }
            if self.take("=") {
                self.deeper(Self::expression)?;
            }
            if !self.take(",") && !self.is(")") {
                return Err(Lost);
            }
        }
        Ok(parameters)
    }

    fn block(&mut self) -> Parsed<Vec<Statement>> {
        self.want("{")?;
        let mut statements = Vec::new();
        while !self.take("}") {
            if self.token().is_none() {
                return Err(Lost);
            }
            statements.push(self.statement_or_rest());
        }
        Ok(statements)
    }

    /// An expression without commas.
    fn expression(&mut self) -> Parsed<Expr> {
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
        let value = self.value()?;
        let value = self.after(value)?;
        if self.take("++") || self.take("--") {
            return Ok(Expr::Other);
        }
        Ok(value)
    }

    /// Members, indices and calls behind a value.
    fn after(&mut self, mut value: Expr) -> Parsed<Expr> {
        loop {
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
                    let of = self.value()?;
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
                    let mut inner = Self { tokens, at: 0, depth: self.depth };
                    all.push(inner.expression()?);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<String> {
        let Ok(statements) = parse(text) else { panic!("{text}") };
        let kind = |statement: &Statement| match &statement.kind {
            Kind::Declare(name, value) => format!("{name} = {}", value.shown()),
            Kind::Function(name, function) => {
                format!("{name}({}) of {}", function.parameters.join(","), function.body.len())
            }
            Kind::Run(expr) => expr.shown(),
            Kind::Return(expr) => format!("return {}", expr.shown()),
            Kind::Block(inner) => format!("block of {}", inner.len()),
            Kind::Other(what) => format!("{what} at {}", statement.line),
            Kind::Nothing => String::new(),
        };
        statements.iter().map(kind).collect()
    }

    #[test]
    fn statements_are_read_and_the_rest_is_named() {
        let text = "import http from 'k6/http'\nimport { check } from \"k6\";\n\
            export const options = { vus: 2, stages: [{ duration: '1m', target: 5 }], };\n\
            const a = 1, b = x => x.y\n\
            export default async function (data) {\n  if (a) { b() } else c()\n  return\n}\n\
            function f(x, { y }, z = 3) { return await x?.z[0](1) }\n\
            for (const i of [1]) {\n  http.get(i)\n}\n\
            let q = `a${b}c`; w = /x/.test(y) ? 1 : 2;\n\
            (function () {})()\n";
        assert_eq!(
            kinds(text),
            [
                "",
                "",
                "options = {…}",
                "block of 2",
                "default(data) of 2",
                "f(x,,z) of 1",
                "for at 10",
                "q = `a${b}c`",
                "w = …",
                "() => …(…)",
            ]
            .map(str::to_owned)
        );
        assert_eq!(kinds("a ) b;\nc()")[2..], ["b".to_owned(), "c(…)".to_owned()][..]);
    }

    #[test]
    fn signs_bind_as_in_javascript() {
        for (text, wanted) in [
            ("a + b * c === d && !e || f", "a + b * c === d && !e || f"),
            ("(a + b) * -2", "a + b * -2"),
            ("r.json('x').y['z']", "r.json(…).y['z']"),
        ] {
            assert_eq!(kinds(text), [wanted]);
        }
        let Kind::Run(Expr::Binary(sign, left, _)) = &parse("a + b * c === d").ok().unwrap()[0].kind else {
            panic!()
        };
        assert_eq!((*sign, left.shown().as_str()), ("===", "a + b * c"));
    }

    #[test]
    fn depth_is_limited_and_no_text_panics() {
        for text in [
            "(".repeat(5_000),
            "[".repeat(5_000),
            "{a:".repeat(5_000),
            "!".repeat(5_000),
            "a=>".repeat(5_000),
        ] {
            let _ = parse(&text);
        }
        for text in [
            "}", ")", "if", "for (", "export", "const", "x?.", "`${", "function", "=>", "do", "class A",
            "new",
        ] {
            let _ = parse(text);
        }
    }
}
