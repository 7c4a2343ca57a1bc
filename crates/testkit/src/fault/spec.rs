//! Which fault, and which requests meet it: `NAME` or `NAME@PATTERN`, as the user writes it.

use super::{Fault, Unit};
use schema::text::nearest;
use std::fmt;
use std::str::FromStr;

/// Which requests meet the fault, by number. Requests are counted from 1 over all connections, in the order in which
/// their first byte is seen; faults of connections count connections in the order in which they are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pattern {
    /// All of them.
    #[default]
    Always,
    /// Every n-th: n, 2n, 3n, …; n is at least 1.
    Every(u64),
    /// The first n; n is at least 1.
    First(u64),
}

impl Pattern {
    /// Whether the fault meets number `number`, counted from 1.
    #[must_use]
    pub const fn hits(self, number: u64) -> bool {
        match self {
            Self::Always => true,
            Self::Every(n) => n > 0 && number.is_multiple_of(n),
            Self::First(n) => number <= n,
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => write!(out, "always"),
            Self::Every(n) => write!(out, "every:{n}"),
            Self::First(n) => write!(out, "first:{n}"),
        }
    }
}

impl FromStr for Pattern {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let wrong = || SpecError::Pattern(text.to_owned());
        if text == "always" {
            return Ok(Self::Always);
        }
        let (word, number) = text.split_once(':').ok_or_else(wrong)?;
        let number = number.parse().ok().filter(|number| *number > 0).ok_or_else(wrong)?;
        match word {
            "every" => Ok(Self::Every(number)),
            "first" => Ok(Self::First(number)),
            _ => Err(wrong()),
        }
    }
}

/// A fault and the requests that meet it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The fault.
    pub fault: Fault,
    /// Who meets it; always [`Pattern::Always`] where the fault is one of the whole listener.
    pub pattern: Pattern,
    /// Whether a fault of HTTP/2 is played over TLS.
    pub over_tls: bool,
}

/// Why a text names no fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// There is no such fault.
    #[error("there is no fault `{name}`; {}", did_you_mean(.near))]
    Fault {
        /// What was written.
        name: String,
        /// The nearest name, if any is near.
        near: Option<&'static str>,
    },
    /// Not a pattern.
    #[error("`{0}` is not a pattern; write always, every:N or first:N with N from 1")]
    Pattern(String),
    /// A pattern for a fault of the whole listener.
    #[error("{0} is a fault of the whole listener, so it takes no pattern; leave out what follows the @")]
    Whole(&'static str),
    /// TLS for a fault that is none of HTTP/2.
    #[error(
        "{0} is no fault of HTTP/2, which alone are played over TLS; leave --tls out, faults of TLS speak it as they are"
    )]
    Tls(&'static str),
}

fn did_you_mean(near: &Option<&'static str>) -> String {
    match near {
        Some(name) => format!("did you mean `{name}`?"),
        None => "`prony reference --list-faults` lists them".to_owned(),
    }
}

impl Spec {
    /// A fault and its pattern.
    ///
    /// # Errors
    /// A pattern other than [`Pattern::Always`] for a fault of the whole listener.
    pub fn new(fault: Fault, pattern: Pattern) -> Result<Self, SpecError> {
        if fault.entry().unit == Unit::Listener && pattern != Pattern::Always {
            return Err(SpecError::Whole(fault.name()));
        }
        Ok(Self { fault, pattern, over_tls: false })
    }

    /// The same over TLS.
    ///
    /// # Errors
    /// Faults of TLS speak it as they are, and those of HTTP/1.1 in plain text only.
    pub fn over_tls(self) -> Result<Self, SpecError> {
        if self.fault.is_http2() {
            Ok(Self { over_tls: true, ..self })
        } else {
            Err(SpecError::Tls(self.fault.name()))
        }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.fault.name(), self.pattern)
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (name, pattern) = match text.split_once('@') {
            Some((name, pattern)) => (name, pattern.parse()?),
            None => (text, Pattern::Always),
        };
        let fault = Fault::named(name).ok_or_else(|| SpecError::Fault {
            name: name.to_owned(),
            near: nearest(name, Fault::ALL.iter().map(|fault| fault.name())),
        })?;
        Self::new(fault, pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_patterns_are_read_as_they_are_written() {
        for fault in Fault::ALL {
            let spec: Spec = fault.name().parse().unwrap();
            assert_eq!(spec, Spec { fault: *fault, pattern: Pattern::Always, over_tls: false });
            assert_eq!(spec.to_string().parse(), Ok(spec));
        }
        let spec: Spec = "reset-mid-body@every:3".parse().unwrap();
        assert_eq!(spec, Spec { fault: Fault::ResetMidBody, pattern: Pattern::Every(3), over_tls: false });
        assert_eq!(spec.to_string(), "reset-mid-body@every:3");
        assert_eq!("first:2".parse(), Ok(Pattern::First(2)));
    }

    #[test]
    fn mistakes_are_told_with_a_remedy() {
        let error = |text: &str| text.parse::<Spec>().unwrap_err().to_string();
        assert_eq!(
            error("reset-midbody"),
            "there is no fault `reset-midbody`; did you mean `reset-mid-body`?"
        );
        assert!(error("qqqqqqqqqqqq").contains("--list-faults"));
        assert!(error("drip@every:0").contains("every:N"));
        assert!(error("drip@every").contains("every:N"));
        assert!(error("drip@sometimes:2").contains("`sometimes:2` is not a pattern"));
        assert!(error("refused@every:2").contains("whole listener"));
    }

    #[test]
    fn patterns_choose_by_number_alone() {
        let hits = |pattern: Pattern| (1..=7).filter(|number| pattern.hits(*number)).collect::<Vec<u64>>();
        assert_eq!(hits(Pattern::Always), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(hits(Pattern::Every(3)), [3, 6]);
        assert_eq!(hits(Pattern::First(2)), [1, 2]);
        assert!(!Pattern::Every(0).hits(0));
    }
}
