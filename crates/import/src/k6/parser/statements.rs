//! Statements: declarations, functions, blocks, and those that are named and left out.

use super::{Lost, Parsed, Parser};
use crate::k6::lexer::Token;
use crate::k6::tree::{Expr, Function, Kind, Statement};

impl Parser {
    /// A statement, or, where it is not understood, its name and its end.
    pub(super) fn statement_or_rest(&mut self) -> Statement {
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

    fn export(&mut self) -> Parsed<Kind> {
        self.at += 1;
        if !self.take_word("default") {
            return self.deeper(Self::kind);
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

    pub(super) fn named_function(&mut self, known: Option<&str>) -> Parsed<Kind> {
        self.take_word("async");
        self.at += 1;
        self.take("*");
        let own = if self.is("(") { String::new() } else { self.word()? };
        let function = self.function_rest()?;
        Ok(Kind::Function(known.map_or(own, str::to_owned), function))
    }

    /// Parameters and body.
    pub(super) fn function_rest(&mut self) -> Parsed<Function> {
        let parameters = self.parameters()?;
        Ok(Function { parameters, body: self.block()? })
    }

    pub(super) fn parameters(&mut self) -> Parsed<Vec<String>> {
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

    pub(super) fn block(&mut self) -> Parsed<Vec<Statement>> {
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
}
