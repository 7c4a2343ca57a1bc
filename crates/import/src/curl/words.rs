//! Command lines as a POSIX shell splits them, for as much of the shell as "Copy as cURL" and documentation use.
//!
//! `shlex` splits words. Before it, this file ends commands at line ends and `;`, turns ANSI-C quoting (`$'…'`, which
//! browsers write and `shlex` does not know) into plain quoting, and refuses what would need a shell to be known:
//! variables, substitutions, pipes and redirections.

use crate::error::{Problem, quoted};
use std::iter::Peekable;
use std::str::CharIndices;

/// One command.
#[derive(Debug)]
pub(crate) struct Command {
    /// Where it begins, counted from 1.
    pub(crate) line: usize,
    pub(crate) words: Vec<String>,
}

/// All commands of a text that have words.
pub(crate) fn commands(text: &str) -> Result<Vec<Command>, Problem> {
    let mut scanner = Scanner { chars: text.char_indices().peekable(), line: 1, posix: String::new() };
    let mut commands = Vec::new();
    while scanner.chars.peek().is_some() {
        let line = scanner.skip_blank();
        scanner.posix.clear();
        scanner.command().map_err(|problem| problem.at(scanner.line))?;
        let words = shlex::split(&scanner.posix).ok_or_else(|| {
            Problem::new("a quote is not closed", "close it with the same kind of quote").at(line)
        })?;
        if !words.is_empty() {
            commands.push(Command { line, words });
        }
    }
    Ok(commands)
}

struct Scanner<'a> {
    chars: Peekable<CharIndices<'a>>,
    line: usize,
    /// The present command, in what `shlex` reads.
    posix: String,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<char> {
        let char = self.chars.next().map(|(_, char)| char);
        if char == Some('\n') {
            self.line += 1;
        }
        char
    }

    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, char)| *char)
    }

    /// Goes to the first character of a command; gives its line.
    fn skip_blank(&mut self) -> usize {
        while self.peek().is_some_and(|char| char.is_whitespace() || char == ';') {
            self.next();
        }
        self.line
    }

    /// Copies one command, up to its end outside quotes.
    fn command(&mut self) -> Result<(), Problem> {
        let mut is_word_begin = true;
        while let Some(char) = self.next() {
            let was_word_begin = std::mem::replace(&mut is_word_begin, char.is_whitespace());
            match char {
                '\n' | ';' => return Ok(()),
                '\r' => self.posix.push(' '),
                '#' if was_word_begin => return self.comment(),
                '\\' => self.backslash(),
                '\'' => self.single()?,
                '"' => self.double()?,
                '$' => self.dollar()?,
                '&' if self.peek() == Some('&') => {
                    self.next();
                    return Ok(());
                }
                '&' | '|' | '>' | '<' | '`' | '(' | ')' => return Err(shell(char)),
                _ => self.posix.push(char),
            }
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<(), Problem> {
        while self.next().is_some_and(|char| char != '\n') {}
        Ok(())
    }

    fn backslash(&mut self) {
        match self.next() {
            // Line continuation, on Windows too.
            Some('\r') if self.peek() == Some('\n') => {
                self.next();
            }
            Some('\n') => {}
            Some(char) => {
                self.posix.push('\\');
                self.posix.push(char);
            }
            None => self.posix.push('\\'),
        }
    }

    fn single(&mut self) -> Result<(), Problem> {
        self.posix.push('\'');
        while let Some(char) = self.next() {
            self.posix.push(char);
            if char == '\'' {
                return Ok(());
            }
        }
        Err(unclosed('\''))
    }

    fn double(&mut self) -> Result<(), Problem> {
        self.posix.push('"');
        while let Some(char) = self.next() {
            match char {
                '\\' => {
                    self.posix.push('\\');
                    let escaped = self.next();
                    self.posix.extend(escaped);
                    continue;
                }
                '`' => return Err(shell('`')),
                '$' => self.refuse_variable()?,
                _ => {}
            }
            self.posix.push(char);
            if char == '"' {
                return Ok(());
            }
        }
        Err(unclosed('"'))
    }

    /// `$'…'`, or a plain dollar sign.
    fn dollar(&mut self) -> Result<(), Problem> {
        match self.peek() {
            Some('\'') => {
                self.next();
                let text = self.ansi_c()?;
                let word = shlex::try_quote(&text).map_err(|_| {
                    Problem::new("a text has a NUL byte", "put it into a file: --data-binary @FILE")
                })?;
                self.posix.push_str(&word);
                Ok(())
            }
            Some('"') => Ok(()),
            _ => {
                self.refuse_variable()?;
                self.posix.push_str("\\$");
                Ok(())
            }
        }
    }

    fn refuse_variable(&mut self) -> Result<(), Problem> {
        let is_variable = |char: char| {
            char.is_ascii_alphanumeric() || matches!(char, '_' | '{' | '(' | '?' | '@' | '*' | '$')
        };
        match self.peek() {
            Some(next) if is_variable(next) => {
                let name: String = self.chars.clone().map(|(_, char)| char).take(20).collect();
                let name = name.split([' ', '"', '\'', '\n', '/']).next().unwrap_or_default();
                Err(Problem::new(
                    format!("the value of {} is known to the shell only", quoted(&format!("${name}"))),
                    "write its value, or put '…' around text that has a plain $",
                ))
            }
            _ => Ok(()),
        }
    }

    /// The text of `$'…'` (bash, "ANSI-C Quoting"), its opening already taken.
    fn ansi_c(&mut self) -> Result<String, Problem> {
        let mut bytes = Vec::new();
        loop {
            match self.next() {
                None => return Err(unclosed('\'')),
                Some('\'') => break,
                Some('\\') => self.escape(&mut bytes)?,
                Some(char) => push(&mut bytes, char),
            }
        }
        String::from_utf8(bytes).map_err(|_| {
            Problem::new("a text in $'…' is not UTF-8", "put the body into a file: --data-binary @FILE")
        })
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), Problem> {
        let Some(char) = self.next() else { return Err(unclosed('\'')) };
        match char {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            'a' => bytes.push(0x07),
            'b' => bytes.push(0x08),
            'e' | 'E' => bytes.push(0x1b),
            'f' => bytes.push(0x0c),
            'v' => bytes.push(0x0b),
            '\\' | '\'' | '"' | '?' => push(bytes, char),
            'x' => bytes.push(self.digits(16, 2, 0) as u8),
            '0'..='7' => bytes.push(self.digits(8, 2, char.to_digit(8).unwrap_or_default()) as u8),
            'u' | 'U' => self.unicode(if char == 'u' { 4 } else { 8 }, bytes)?,
            other => {
                bytes.push(b'\\');
                push(bytes, other);
            }
        }
        Ok(())
    }

    /// `\uHHHH`; browsers write characters above U+FFFF as two surrogates.
    fn unicode(&mut self, digits: usize, bytes: &mut Vec<u8>) -> Result<(), Problem> {
        let mut code = self.digits(16, digits, 0);
        if (0xd800..0xdc00).contains(&code) {
            let mut ahead = self.chars.clone();
            let is_pair = ahead.next().is_some_and(|(_, char)| char == '\\')
                && ahead.next().is_some_and(|(_, char)| char == 'u');
            if is_pair {
                self.next();
                self.next();
                let low = self.digits(16, 4, 0);
                code = 0x10000 + ((code - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
            }
        }
        let char = char::from_u32(code).ok_or_else(|| {
            Problem::new(format!("\\u{code:x} is no character"), "write the character itself")
        })?;
        push(bytes, char);
        Ok(())
    }

    fn digits(&mut self, radix: u32, at_most: usize, start: u32) -> u32 {
        let mut value = start;
        for _ in 0..at_most {
            let Some(digit) = self.peek().and_then(|char| char.to_digit(radix)) else { break };
            self.next();
            value = value.wrapping_mul(radix).wrapping_add(digit);
        }
        value
    }
}

fn push(bytes: &mut Vec<u8>, char: char) {
    bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

fn unclosed(quote: char) -> Problem {
    Problem::new(format!("a {quote} is not closed"), "close it with the same kind of quote")
}

fn shell(char: char) -> Problem {
    Problem::new(
        format!("{char} outside quotes is for a shell"),
        "put '…' around the URL or text that it belongs to, or leave the pipe or redirection out",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&[&str]]) {
        let found: Vec<Vec<String>> =
            commands(text).unwrap().into_iter().map(|command| command.words).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn commands_are_split_as_a_shell_splits_them() {
        check(
            "curl a\ncurl b; curl c && curl d",
            &[&["curl", "a"], &["curl", "b"], &["curl", "c"], &["curl", "d"]],
        );
        check("# don't read this\ncurl a # nor 'this\n", &[&["curl", "a"]]);
        check("curl \\\n  'a\nb' \\\r\n  -X \"P\\\"X\"\r\n", &[&["curl", "a\nb", "-X", "P\"X"]]);
        check("$ curl a#b 'x'\"y\"z\\ w", &[&["$", "curl", "a#b", "xyz w"]]);
        check(" \n;\n", &[]);
    }

    #[test]
    fn ansi_c_quoting_is_read() {
        check(
            r"curl $'it\'s\n\x41\101\u0021 \u00e4 \ud83d\ude00 \q $HOME ${x}'",
            &[&["curl", "it's\nAA! ä 😀 \\q $HOME ${x}"]],
        );
    }

    #[test]
    fn what_needs_a_shell_is_refused_with_its_line() {
        for (text, line, cause) in [
            ("curl a\ncurl http://h/?a=1&b=2", 2, "& outside quotes"),
            ("curl a | jq .", 1, "| outside quotes"),
            ("curl -H \"A: $TOKEN\" a", 1, "`$TOKEN`"),
            ("curl ${HOST}/a", 1, "`${HOST}`"),
            ("curl \"`id`\"", 1, "` outside"),
            ("curl 'a\n\n", 3, "' is not closed"),
            ("curl $'a", 1, "' is not closed"),
            ("curl \"a", 1, "\" is not closed"),
            ("curl $'\\xff'", 1, "not UTF-8"),
            ("curl $'\\ud800'", 1, "no character"),
            ("curl a\\", 1, "not closed"),
        ] {
            let problem = commands(text).expect_err(text);
            assert_eq!(problem.line, Some(line), "{text}: {}", problem.cause);
            assert!(problem.cause.contains(cause), "{text}: {}", problem.cause);
        }
    }
}
