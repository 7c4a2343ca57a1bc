//! Tokens as a tree.
//!
//! A statement that is not understood is skipped to its end and named; so is every statement that a load has no equal
//! of, with all below it. Depth is limited, that of what is read and that of the tree: whoever walks through a tree goes as
//! deep as it is.

mod expressions;
mod statements;

use super::lexer::{Token, tokens};
use super::tree::Statement;
use crate::error::Problem;

/// Expressions and blocks within each other.
const DEPTH_MAX: usize = 100;
/// The same of the tree, in which `a + b + c` and `a.b.c` are deeper with each link.
const TREE_DEPTH_MAX: usize = 300;

/// Reads a script.
///
/// # Errors
/// Text that cannot be JavaScript.
pub(super) fn parse(text: &str) -> Result<Vec<Statement>, Problem> {
    let mut parser = Parser { tokens: tokens(text, 1)?, at: 0, depth: 0, reached: 0 };
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
    /// How deep the tree of the chain that is being read is.
    reached: usize,
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
        self.reached = self.reached.max(self.depth);
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Reads a chain, whose first value is below all its links.
    fn chain<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let around = std::mem::replace(&mut self.reached, self.depth);
        let read = read(self);
        self.reached = self.reached.max(around);
        read
    }

    /// One link more: all that the chain has so far is one deeper.
    fn link(&mut self) -> Parsed<()> {
        self.reached += 1;
        if self.reached > TREE_DEPTH_MAX { Err(Lost) } else { Ok(()) }
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

    fn is_function(&self) -> bool {
        let after = usize::from(self.is_word("async"));
        matches!(self.tokens.get(self.at + after), Some((Token::Word(word), _)) if word == "function")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k6::tree::{Expr, Kind};

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
            "`${".repeat(5_000) + &"}`".repeat(5_000),
            "export ".repeat(100_000),
            "new ".repeat(100_000),
            "if (a) ".repeat(100_000),
            "a.".repeat(100_000) + "a",
            "a()".repeat(100_000),
            "a[0]\n".repeat(100_000),
            "a + ".repeat(100_000) + "a",
            "a && ".repeat(100_000) + "a",
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
