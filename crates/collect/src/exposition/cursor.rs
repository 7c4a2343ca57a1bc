//! A place in a line of text, and the few things that can stand there.

/// What is left of a line.
pub(super) struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(line: &'a str) -> Self {
        Self { rest: line }
    }

    pub(super) const fn rest(&self) -> &'a str {
        self.rest
    }

    /// Passes over spaces and tabs.
    pub(super) fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    pub(super) fn is_at(&self, wanted: char) -> bool {
        self.rest.starts_with(wanted)
    }

    /// Passes over `wanted` where it stands here.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A bare name: letters, digits, `_` and `:`, not beginning with a digit. Empty where there is none.
    pub(super) fn name(&mut self) -> &'a str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let end = if self.rest.starts_with(|c: char| c.is_ascii_digit()) { 0 } else { end };
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    /// A text in double quotes, with `\\`, `\"` and `\n` undone.
    pub(super) fn quoted(&mut self) -> Result<String, &'static str> {
        if !self.take('"') {
            return Err("a quoted text is missing");
        }
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => text.push(match letters.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, same @ ('\\' | '"'))) => same,
                    _ => return Err("a quoted text has an escape other than \\\\, \\\" and \\n"),
                }),
                other => text.push(other),
            }
        }
        Err("a quoted text does not end")
    }
}
