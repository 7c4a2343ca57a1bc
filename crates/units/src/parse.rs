//! Number-with-suffix parsing shared by all quantities.

/// Why a quantity such as `30s` or `10k` could not be read; the text says cause and remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a {what}: {cause}; write for example {example}")]
pub struct ParseQuantityError {
    pub(crate) input: String,
    pub(crate) what: &'static str,
    pub(crate) cause: String,
    pub(crate) example: &'static str,
}

/// What a kind of quantity accepts.
pub(crate) struct Grammar {
    /// The name used in messages, for example `duration`.
    pub(crate) what: &'static str,
    /// Suffixes and the factor to the base unit. The empty suffix must be listed to be accepted.
    pub(crate) suffixes: &'static [(&'static str, f64)],
    pub(crate) example: &'static str,
}

impl Grammar {
    /// Reads `<number><suffix>`, where the number is a plain non-negative decimal without exponent, and returns the
    /// value in the base unit. Underscores between digits are allowed as in TOML.
    pub(crate) fn parse(&self, input: &str) -> Result<f64, ParseQuantityError> {
        let text = input.trim();
        let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
        let (number, suffix) = text.split_at(split);
        let suffix = suffix.trim_start();
        let digits = number.replace('_', "");
        if digits.is_empty() {
            return Err(self.error(input, "it does not begin with a number".into()));
        }
        let value: f64 =
            digits.parse().map_err(|_| self.error(input, format!("`{number}` is not a number")))?;
        let factor =
            self.suffixes.iter().find(|(name, _)| name.eq_ignore_ascii_case(suffix)).map(|(_, f)| *f);
        match factor {
            Some(factor) => Ok(value * factor),
            None if suffix.is_empty() => Err(self.error(input, "the unit is missing".into())),
            None => Err(self.error(input, format!("`{suffix}` is not one of its units ({})", self.names()))),
        }
    }

    /// As [`Grammar::parse`], rounded to a whole number of base units below 2^63.
    pub(crate) fn parse_whole(&self, input: &str) -> Result<u64, ParseQuantityError> {
        let value = self.parse(input)?.round();
        if value >= 9.2e18 {
            return Err(self.error(input, "it is too large".into()));
        }
        Ok(value as u64)
    }

    fn names(&self) -> String {
        self.suffixes
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| !name.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn error(&self, input: &str, cause: String) -> ParseQuantityError {
        ParseQuantityError { input: input.to_owned(), what: self.what, cause, example: self.example }
    }
}
