//! What the user says about a table beyond what stands in it: `--column`, `--given`.

use crate::error::quoted;
use crate::figure::Figure;
use crate::kind::Kind;
use crate::number::{Cell, read};
use crate::read::InputForm;
use crate::unit::Dimension;
use schema::audit::AuditLoad;
use schema::text::nearest;
use std::str::FromStr;

/// What the user may say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// How the text is written.
    pub input: InputForm,
    /// What columns mean, instead of the guess.
    pub columns: Vec<ColumnChoice>,
    /// Figures of all rows that the table does not state.
    pub given: Vec<Given>,
    /// How the load was made; found from the table where it is not said.
    pub load: Option<AuditLoad>,
}

/// An option that is written wrongly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}; {remedy}")]
pub struct OptionError {
    /// What is wrong.
    pub cause: String,
    /// What to do about it.
    pub remedy: String,
}

fn wrong(cause: impl Into<String>, remedy: impl Into<String>) -> OptionError {
    OptionError { cause: cause.into(), remedy: remedy.into() }
}

/// What one column means: `HEADER=KIND[:UNIT]`, where the header may be the number of the column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnChoice {
    /// The header, or the number from 1.
    pub(crate) column: String,
    pub(crate) kind: Kind,
    pub(crate) unit: Option<String>,
}

impl FromStr for ColumnChoice {
    type Err = OptionError;
    fn from_str(text: &str) -> Result<Self, OptionError> {
        let example = "write HEADER=KIND or HEADER=KIND:UNIT, for example 'QPS=throughput:/s' or '3=p99:ms'";
        let Some((column, meaning)) = text.rsplit_once('=') else {
            return Err(wrong(format!("{} has no =", quoted(text)), example));
        };
        let (name, unit) = match meaning.split_once(':') {
            Some((name, unit)) => (name, Some(unit)),
            None => (meaning, None),
        };
        if column.trim().is_empty() {
            return Err(wrong(format!("{} names no column", quoted(text)), example));
        }
        let kind = kind_named(name)?;
        if let Some(unit) = unit {
            check_unit(kind, unit)?;
        }
        Ok(Self { column: column.trim().to_owned(), kind, unit: unit.map(str::to_owned) })
    }
}

fn kind_named(name: &str) -> Result<Kind, OptionError> {
    Kind::named(name).ok_or_else(|| {
        let all: Vec<_> = Kind::names().collect();
        let near =
            nearest(name, Kind::names()).map_or(String::new(), |near| format!("did you mean {near}? "));
        wrong(format!("{} is no kind of column", quoted(name)), format!("{near}one of: {}", all.join(", ")))
    })
}

fn check_unit(kind: Kind, unit: &str) -> Result<(), OptionError> {
    let units = match kind.dimension() {
        Some(dimension) if dimension.factor(unit).is_some() => return Ok(()),
        Some(Dimension::Time) => "ns, us, ms, s, min or h",
        Some(Dimension::Rate) => "/s, k/s, m/s, 万/s or /min",
        Some(Dimension::Share) => "% or share",
        Some(Dimension::Cpu) => "% (of one core) or cores",
        Some(Dimension::Count) => "k or m, or leave the unit out",
        None => "no unit",
    };
    Err(wrong(format!("{} is no unit of {}", quoted(unit), kind.name()), format!("use {units}")))
}

/// A figure that all rows share: `KIND=VALUE`, for example `think=0s`.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    pub(crate) kind: Kind,
    pub(crate) figure: Figure,
    pub(crate) unit: String,
}

impl FromStr for Given {
    type Err = OptionError;
    fn from_str(text: &str) -> Result<Self, OptionError> {
        let example = "write KIND=VALUE, for example connections=1000, think=0s, duration=30s or cores=4";
        let Some((name, value)) = text.split_once('=') else {
            return Err(wrong(format!("{} has no =", quoted(text)), example));
        };
        let kind = kind_named(name.trim())?;
        let Some(dimension) = kind.dimension() else {
            return Err(wrong(format!("{} has no value", kind.name()), example));
        };
        let Cell::Number(number) = read(value, false) else {
            return Err(wrong(format!("{} is no number", quoted(value)), example));
        };
        check_unit_of_given(kind, dimension, &number.unit)?;
        let unit = if number.unit.is_empty() { default_unit(dimension) } else { &number.unit };
        let factor = dimension.factor(unit).unwrap_or(1.0);
        if number.value < 0.0 {
            return Err(wrong(format!("{} is negative", quoted(text)), example));
        }
        // What is said here is not rounded.
        let figure = Figure::new(&number, factor, true, value.trim());
        Ok(Self { kind, figure, unit: unit.to_owned() })
    }
}

fn check_unit_of_given(kind: Kind, dimension: Dimension, unit: &str) -> Result<(), OptionError> {
    if unit.is_empty() && matches!(dimension, Dimension::Time) {
        return Err(wrong(
            format!("the unit of {} is missing", kind.name()),
            "write for example 30s or 250ms",
        ));
    }
    if unit.is_empty() { Ok(()) } else { check_unit(kind, unit) }
}

/// The unit of figures that have none.
pub(crate) const fn default_unit(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Time => "ms",
        Dimension::Rate => "/s",
        Dimension::Share | Dimension::Cpu => "%",
        Dimension::Count => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_said_by_name_or_number() {
        let choice: ColumnChoice = "QPS=throughput:/s".parse().unwrap();
        assert_eq!((choice.column.as_str(), choice.kind), ("QPS", Kind::Throughput));
        assert_eq!("a=b=p99.9".parse::<ColumnChoice>().unwrap().column, "a=b");
        for (text, part) in [
            ("QPS", "has no ="),
            ("=p99", "names no column"),
            ("QPS=troughput", "did you mean throughput?"),
            ("QPS=throughput:ms", "is no unit of throughput"),
            ("x=p99:MB", "use ns, us, ms"),
        ] {
            let error = text.parse::<ColumnChoice>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn figures_are_given_with_units() {
        let given: Given = "think=250ms".parse().unwrap();
        assert_eq!((given.kind, given.figure.value), (Kind::Think, 0.25));
        assert_eq!("connections=1k".parse::<Given>().unwrap().figure.value, 1000.0);
        for (text, part) in [
            ("think=1", "unit of think is missing"),
            ("think=x", "is no number"),
            ("label=1", "has no value"),
            ("connections=-1", "is negative"),
            ("cores=4MB", "is no unit of cores"),
            ("nothing=1", "is no kind"),
        ] {
            let error = text.parse::<Given>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
