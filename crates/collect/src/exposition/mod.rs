//! Prometheus' text format (0.0.4) and OpenMetrics 1.0, as far as counters and histograms need it.
//!
//! Invariants: strict, because a series that is silently left out would make a wrong count: a line that is no sample
//! and no comment is an error with its number, and so is a text that ends within a line; whatever the bytes are, nothing
//! panics and memory is bounded by the text and [`SAMPLES_MAX`].
//! Absent on purpose: native histograms, which have no text form; time stamps and exemplars, which are passed over.
//!
//! Formats: prometheus.io/docs/instrumenting/exposition_formats, OpenMetrics 1.0 (github.com/prometheus/OpenMetrics).

mod cursor;
mod families;
mod series;

pub use families::{FAMILIES_MAX, Families, families};
pub use series::Buckets;

use crate::error::ParseError;
use crate::text::utf8;
use cursor::Cursor;
use std::collections::BTreeMap;

/// Most samples that are kept of one text.
pub const SAMPLES_MAX: usize = 50_000;
/// Most labels of one sample.
const LABELS_MAX: usize = 64;

/// What was asked for of one text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exposition {
    samples: Vec<Sample>,
    /// Types of the families asked for, as declared.
    kinds: BTreeMap<String, String>,
}

/// One sample line.
#[derive(Clone, Debug, PartialEq)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

/// Reads the samples of these families: of their own name, and of it with `_bucket`.
///
/// # Errors
/// The text is in neither format, ends within a line, or has too many of the samples.
pub fn parse(body: &[u8], families: &[&str]) -> Result<Exposition, ParseError> {
    let is_sample = |name: &str| {
        let rest = |family: &&str| name.strip_prefix(*family);
        families.iter().filter_map(rest).any(|rest| rest.is_empty() || rest == "_bucket")
    };
    // OpenMetrics declares the family without the `_total` of its sample.
    let is_family = |name: &str| {
        families.iter().any(|family| *family == name || family.strip_suffix("_total") == Some(name))
    };
    read(body, &is_sample, &is_family)
}

/// Reads all samples whose name is wanted, and the types of all families whose name is.
fn read(
    body: &[u8],
    is_sample: &dyn Fn(&str) -> bool,
    is_family: &dyn Fn(&str) -> bool,
) -> Result<Exposition, ParseError> {
    let text = utf8(body)?;
    let mut found = Exposition::default();
    let mut is_over = false;
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let at = |cause| ParseError::Line { line: index + 1, cause };
        if is_over {
            return Err(at("the text goes on after # EOF"));
        }
        let line = whole.strip_suffix('\n');
        if whole == "# EOF" || line == Some("# EOF") {
            is_over = true;
            continue;
        }
        let line = line.ok_or_else(|| at("the text ends within this line"))?;
        found.line(line, is_sample, is_family).map_err(at)?;
    }
    Ok(found)
}

impl Exposition {
    fn line(
        &mut self,
        line: &str,
        is_sample: &dyn Fn(&str) -> bool,
        is_family: &dyn Fn(&str) -> bool,
    ) -> Result<(), &'static str> {
        let line = line.trim_matches([' ', '\t']);
        if let Some(comment) = line.strip_prefix('#') {
            self.comment(comment, is_family);
            return Ok(());
        }
        if line.is_empty() {
            return Ok(());
        }
        let sample = sample(line)?;
        if is_sample(&sample.name) {
            if self.samples.len() == SAMPLES_MAX {
                return Err("there are too many series of this name");
            }
            self.samples.push(sample);
        }
        Ok(())
    }

    /// Keeps `# TYPE name kind` of a family; every other comment says nothing that is needed.
    fn comment(&mut self, comment: &str, is_family: &dyn Fn(&str) -> bool) {
        let mut words = comment.split_ascii_whitespace();
        let (Some("TYPE"), Some(name), Some(kind)) = (words.next(), words.next(), words.next()) else {
            return;
        };
        if is_family(name) {
            self.kinds.insert(name.to_owned(), kind.to_owned());
        }
    }

    fn kind_of(&self, family: &str) -> Option<&str> {
        let bare = family.strip_suffix("_total").unwrap_or(family);
        self.kinds.get(family).or_else(|| self.kinds.get(bare)).map(String::as_str)
    }
}

/// `name{label="value",…} value [time] [# exemplar]`, or with the name quoted as the first thing in the braces.
fn sample(line: &str) -> Result<Sample, &'static str> {
    let mut cursor = Cursor::new(line);
    let mut name = cursor.name().to_owned();
    let mut labels = BTreeMap::new();
    let is_parted = cursor.is_at(' ') || cursor.is_at('\t');
    cursor.blanks();
    let has_labels = cursor.take('{');
    if has_labels {
        labels_of(&mut cursor, &mut name, &mut labels)?;
    }
    if name.is_empty() {
        return Err("a sample begins with a name");
    }
    if !has_labels && !is_parted {
        return Err("the value is missing");
    }
    // A `#` in a label is behind us: what is left holds numbers only.
    let rest = cursor.rest();
    let mut words = rest.split('#').next().unwrap_or_default().split_ascii_whitespace();
    let value = words.next().ok_or("the value is missing")?.parse().map_err(|_| "the value is no number")?;
    if let Some(time) = words.next() {
        time.parse::<f64>().map_err(|_| "the time stamp is no number")?;
    }
    match words.next() {
        None => Ok(Sample { name, labels, value }),
        Some(_) => Err("there is more than a value and a time stamp"),
    }
}

/// Labels up to the closing brace.
fn labels_of(
    cursor: &mut Cursor<'_>,
    name: &mut String,
    labels: &mut BTreeMap<String, String>,
) -> Result<(), &'static str> {
    loop {
        cursor.blanks();
        if cursor.take('}') {
            return Ok(());
        }
        let is_quoted = cursor.is_at('"');
        let key = if is_quoted { cursor.quoted()? } else { cursor.name().to_owned() };
        cursor.blanks();
        if cursor.take('=') {
            cursor.blanks();
            let value = cursor.quoted()?;
            if key.is_empty() || labels.len() == LABELS_MAX || labels.insert(key, value).is_some() {
                return Err("a label has no name, stands twice, or is one of too many");
            }
        } else if is_quoted && name.is_empty() && labels.is_empty() {
            *name = key;
        } else {
            return Err("a label has no value");
        }
        cursor.blanks();
        if !cursor.take(',') && !cursor.is_at('}') {
            return Err("labels are not parted by commas");
        }
    }
}

#[cfg(test)]
mod tests;
