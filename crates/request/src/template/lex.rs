//! The tokens of an expression, each with its place. Works on bytes, for a body need not be text.
//!
//! Absent on purpose: precedence and meaning (see `parse` and `compile`).

/// What is wrong with an expression; `at` is the byte offset in the text that holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) cause: String,
    pub(crate) remedy: String,
}

impl Fault {
    pub(super) fn new(at: usize, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { at, cause: cause.into(), remedy: remedy.into() }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Int(i128),
    Float(f64),
    Text(String),
    Name(String),
    /// One of `+ - * / % ( ) [ ] , . }`.
    Symbol(u8),
    End,
}

impl Token {
    /// For messages.
    pub(super) fn show(&self) -> String {
        match self {
            Self::Int(value) => format!("`{value}`"),
            Self::Float(value) => format!("`{value}`"),
            Self::Text(_) => "a text".to_owned(),
            Self::Name(name) => format!("`{name}`"),
            Self::Symbol(symbol) => format!("`{}`", *symbol as char),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Reads tokens from `bytes` on from `at`.
pub(super) struct Lexer<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl Lexer<'_> {
    /// The next token and where it begins.
    pub(super) fn next(&mut self) -> Result<(usize, Token), Fault> {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
        let from = self.at;
        let token = match self.peek() {
            None => Token::End,
            Some(b'0'..=b'9') => self.number()?,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
                Token::Name(self.while_in(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
            }
            Some(quote @ (b'"' | b'\'')) => self.text(quote)?,
            Some(symbol) if b"+-*/%()[],.}".contains(&symbol) => {
                self.at += 1;
                Token::Symbol(symbol)
            }
            Some(_) => {
                let rest = String::from_utf8_lossy(&self.bytes[from..self.bytes.len().min(from + 4)]);
                let shown = rest.chars().next().unwrap_or('?').escape_debug().to_string();
                let remedy = "use numbers, names, \"texts\", functions and + - * / % ( )";
                return Err(Fault::new(from, format!("`{shown}` has no meaning here"), remedy));
            }
        };
        Ok((from, token))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn while_in(&mut self, is_in: impl Fn(u8) -> bool) -> String {
        let from = self.at;
        while self.peek().is_some_and(&is_in) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.bytes[from..self.at]).into_owned()
    }

    /// Digits, perhaps with `_` between them, a fraction, an exponent. A fraction or an exponent makes a float.
    fn number(&mut self) -> Result<Token, Fault> {
        let from = self.at;
        let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'_';
        let mut text = self.while_in(is_digit);
        let mut is_float = false;
        let digit_at = |at: usize| self.bytes.get(at).is_some_and(u8::is_ascii_digit);
        if self.peek() == Some(b'.') && digit_at(self.at + 1) {
            is_float = true;
            self.at += 1;
            text = format!("{text}.{}", self.while_in(is_digit));
        }
        let sign = usize::from(matches!(self.bytes.get(self.at + 1), Some(b'+' | b'-')));
        let has_exponent = self.bytes.get(self.at + 1 + sign).is_some_and(u8::is_ascii_digit);
        if matches!(self.peek(), Some(b'e' | b'E')) && has_exponent {
            is_float = true;
            let minus = if self.bytes[self.at + 1] == b'-' { "-" } else { "" };
            self.at += 1 + sign;
            text = format!("{text}e{minus}{}", self.while_in(is_digit));
        }
        let text = text.replace('_', "");
        let too_large = || Fault::new(from, format!("`{text}` is too large"), "write a smaller number");
        if is_float {
            let value: f64 = text.parse().map_err(|_| too_large())?;
            return if value.is_finite() { Ok(Token::Float(value)) } else { Err(too_large()) };
        }
        // Far from the ends of i128, so that a sum of literals does not overflow by chance.
        text.parse().ok().filter(|value| *value <= i128::from(u64::MAX)).map(Token::Int).ok_or_else(too_large)
    }

    fn text(&mut self, quote: u8) -> Result<Token, Fault> {
        let from = self.at;
        self.at += 1;
        let mut value = Vec::new();
        loop {
            let Some(byte) = self.peek() else {
                let cause = format!("the text that begins with {} does not end", quote as char);
                return Err(Fault::new(from, cause, format!("close it with {}", quote as char)));
            };
            self.at += 1;
            match byte {
                b'\\' => value.push(self.escape()?),
                _ if byte == quote => break,
                _ => value.push(byte),
            }
        }
        let no_text = |_| Fault::new(from, "this text is not UTF-8", "save the file as UTF-8");
        String::from_utf8(value).map(Token::Text).map_err(no_text)
    }

    fn escape(&mut self) -> Result<u8, Fault> {
        let at = self.at - 1;
        let meant = match self.peek() {
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(same @ (b'\\' | b'"' | b'\'')) => same,
            _ => {
                return Err(Fault::new(
                    at,
                    "unknown escape after `\\`",
                    "use \\n, \\r, \\t, \\\\, \\\" or \\'",
                ));
            }
        };
        self.at += 1;
        Ok(meant)
    }
}
