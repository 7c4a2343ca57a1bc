//! JavaScript as tokens, each with its line.
//!
//! Enough of the language for scripts of k6. What is not a token of it is an error with its line; a regular expression is
//! one token, whose text nobody needs.

use crate::error::{Problem, quoted};

/// Most tokens; a script of a megabyte has fewer.
const TOKENS_MAX: usize = 1_000_000;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name or a keyword.
    Word(String),
    Number(f64),
    Text(String),
    /// Texts and, between them, the sources of expressions with their lines.
    Template(Vec<TemplatePart>),
    Regex,
    /// One of the signs of the language, the longest that fits.
    Sign(&'static str),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TemplatePart {
    Text(String),
    /// What stands between `${` and `}`.
    Code(String, usize),
}

/// Signs, longer ones first.
const SIGNS: [&str; 52] = [
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=",
    ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>",
    "**", "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "+", "-", "*", "/", "%", "=", "!", "?", ":",
];
const MORE_SIGNS: [&str; 6] = [".", "&", "|", "^", "~", "@"];

/// Reads a script.
///
/// # Errors
/// A text, comment or template that does not end, or a character that the language does not have.
pub(super) fn tokens(text: &str, first_line: usize) -> Result<Vec<(Token, usize)>, Problem> {
    let mut lexer = Lexer { text, at: 0, line: first_line, tokens: Vec::new() };
    if text.starts_with("#!") {
        lexer.skip_line();
    }
    while lexer.one()? {
        if lexer.tokens.len() > TOKENS_MAX {
            return Err(Problem::new("the script is too long to read", "import a shorter one"));
        }
    }
    Ok(lexer.tokens)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    tokens: Vec<(Token, usize)>,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip(&mut self, bytes: usize) {
        self.line += self.text[self.at..self.at + bytes].matches('\n').count();
        self.at += bytes;
    }

    fn skip_line(&mut self) {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        self.skip(length);
    }

    fn push(&mut self, token: Token, bytes: usize) {
        let line = self.line;
        self.skip(bytes);
        self.tokens.push((token, line));
    }

    fn wrong(&self, cause: String) -> Problem {
        Problem::new(cause, "give a script that k6 runs").at(self.line)
    }

    /// One token or gap; false at the end.
    fn one(&mut self) -> Result<bool, Problem> {
        let Some(first) = self.rest().chars().next() else { return Ok(false) };
        if first.is_whitespace() || first == '\u{feff}' {
            self.skip(first.len_utf8());
        } else if self.rest().starts_with("//") {
            self.skip_line();
        } else if self.rest().starts_with("/*") {
            let end =
                self.rest().find("*/").ok_or_else(|| self.wrong("a comment does not end".to_owned()))?;
            self.skip(end + 2);
        } else if first.is_alphabetic() || matches!(first, '_' | '$' | '#') {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#');
            let length = self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
            let word = self.rest()[..length].to_owned();
            self.push(Token::Word(word), length);
        } else if first.is_ascii_digit()
            || (first == '.' && self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            self.number()?;
        } else if matches!(first, '"' | '\'') {
            self.quoted(first)?;
        } else if first == '`' {
            self.template()?;
        } else if first == '/' && self.is_regex_here() {
            self.regex()?;
        } else {
            let sign = SIGNS.iter().chain(&MORE_SIGNS).find(|sign| self.rest().starts_with(**sign));
            let Some(sign) = sign else {
                return Err(self.wrong(format!("{} is no sign of JavaScript", quoted(&first.to_string()))));
            };
            self.push(Token::Sign(sign), sign.len());
        }
        Ok(true)
    }

    fn number(&mut self) -> Result<(), Problem> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
        let mut length = self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
        let is_decimal = !self.rest().starts_with("0x");
        if is_decimal
            && self.rest()[..length].ends_with(['e', 'E'])
            && self.rest()[length..].starts_with(['-', '+'])
        {
            let more = self.rest()[length + 1..].find(|c: char| !c.is_ascii_digit());
            length += 1 + more.unwrap_or(self.rest().len() - length - 1);
        }
        let text = self.rest()[..length].replace('_', "");
        let number = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok().map(|number| number as f64),
            None => text.trim_end_matches('n').parse().ok(),
        };
        let Some(number) = number else { return Err(self.wrong(format!("{} is no number", quoted(&text)))) };
        self.push(Token::Number(number), length);
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Result<(), Problem> {
        let mut text = String::new();
        let mut chars = self.rest()[1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                c if c == quote => {
                    self.push(Token::Text(text), at + 2);
                    return Ok(());
                }
                '\\' => escape(&mut chars, &mut text),
                '\n' => break,
                c => text.push(c),
            }
        }
        Err(self.wrong("a text does not end on its line".to_owned()))
    }

    fn template(&mut self) -> Result<(), Problem> {
        let (mut parts, mut text) = (Vec::new(), String::new());
        let mut line = self.line;
        let rest = self.rest();
        let mut chars = rest[1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '`' => {
                    parts.push(TemplatePart::Text(text));
                    self.push(Token::Template(parts), at + 2);
                    return Ok(());
                }
                '\\' => escape(&mut chars, &mut text),
                '$' if rest[1 + at + 1..].starts_with('{') => {
                    let begin = 1 + at + 2;
                    let Some(length) = code_length(&rest[begin..]) else { break };
                    parts.push(TemplatePart::Text(std::mem::take(&mut text)));
                    let code = &rest[begin..begin + length];
                    parts.push(TemplatePart::Code(code.to_owned(), line));
                    line += code.matches('\n').count();
                    // To behind the `}`.
                    while chars.offset() < begin + length {
                        chars.next();
                    }
                }
                c => {
                    line += usize::from(c == '\n');
                    text.push(c);
                }
            }
        }
        Err(self.wrong("a template does not end".to_owned()))
    }

    /// Whether a `/` begins a regular expression: where a value may begin, which is not after one.
    fn is_regex_here(&self) -> bool {
        match self.tokens.last() {
            None => true,
            Some((Token::Word(word), _)) => {
                matches!(word.as_str(), "return" | "typeof" | "case" | "in" | "of")
            }
            Some((Token::Sign(sign), _)) => !matches!(*sign, ")" | "]" | "}" | "++" | "--"),
            Some(_) => false,
        }
    }

    fn regex(&mut self) -> Result<(), Problem> {
        let mut is_escaped = false;
        let mut in_class = false;
        for (at, c) in self.rest().char_indices().skip(1) {
            match c {
                '\n' => break,
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => {
                    let flags = self.rest()[at + 1..].find(|c: char| !c.is_ascii_alphabetic());
                    let length = at + 1 + flags.unwrap_or(self.rest().len() - at - 1);
                    self.push(Token::Regex, length);
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(self.wrong("a regular expression does not end on its line".to_owned()))
    }
}

/// What follows a backslash.
fn escape(chars: &mut std::str::CharIndices<'_>, text: &mut String) {
    let Some((_, c)) = chars.next() else { return };
    let hex = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    match c {
        'n' => text.push('\n'),
        't' => text.push('\t'),
        'r' => text.push('\r'),
        '0' => text.push('\0'),
        '\n' => {}
        'x' | 'u' => {
            let rest = chars.as_str();
            let (digits, skip) = match rest.strip_prefix('{') {
                Some(braced) => {
                    let digits = braced.split('}').next().unwrap_or_default();
                    (digits, digits.len() + 2)
                }
                None => {
                    let length = if c == 'x' { 2 } else { 4 };
                    (rest.get(..length).unwrap_or_default(), length)
                }
            };
            text.extend(hex(digits));
            let skip = skip.min(rest.len());
            while chars.as_str().len() > rest.len() - skip {
                chars.next();
            }
        }
        c => text.push(c),
    }
}

/// Length of the code before the `}` that ends it; braces within it, and in its texts, come in pairs.
fn code_length(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') if depth == 0 => return Some(at),
            (None, '}') => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_become_tokens_with_their_lines() {
        let found =
            tokens("// a\nconst x = 'a\\u0041\\n' + 1e3; /* b\n */ r => /[/]x/i\n`a${b({})}c`", 1).unwrap();
        let word = |text: &str| Token::Word(text.to_owned());
        let template = vec![
            TemplatePart::Text("a".to_owned()),
            TemplatePart::Code("b({})".to_owned(), 4),
            TemplatePart::Text("c".to_owned()),
        ];
        assert_eq!(
            found,
            [
                (word("const"), 2),
                (word("x"), 2),
                (Token::Sign("="), 2),
                (Token::Text("aA\n".to_owned()), 2),
                (Token::Sign("+"), 2),
                (Token::Number(1000.0), 2),
                (Token::Sign(";"), 2),
                (word("r"), 3),
                (Token::Sign("=>"), 3),
                (Token::Regex, 3),
                (Token::Template(template), 4),
            ]
        );
        for (text, line) in [("\n'a", 2), ("/* a", 1), ("`a${b", 1), ("a § b", 1), ("1x", 1), ("x = /a", 1)]
        {
            assert_eq!(tokens(text, 1).expect_err(text).line, Some(line), "{text}");
        }
    }
}
