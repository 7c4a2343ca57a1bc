//! What is asked for: which file, in which format, how many of the requests.

use schema::text::nearest;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The endings that say which format is meant.
const ENDINGS: [(&str, EachFormat); 3] =
    [("csv", EachFormat::Csv), ("jsonl", EachFormat::JsonLines), ("ndjson", EachFormat::JsonLines)];

/// How a row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum EachFormat {
    /// A header line, then a line a row (RFC 4180; lines end with a line feed).
    Csv,
    /// A head, then an object a line.
    JsonLines,
}

/// One row for each request.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct EachPlan {
    /// Where to.
    pub file: PathBuf,
    /// As what.
    pub format: EachFormat,
    /// Whether it is compressed by gzip.
    pub is_zipped: bool,
    /// Share of the requests that have rows, above 0 to 1.
    pub share: f64,
    /// Whether it is a generator process's part of the file: without a head, and not compressed.
    pub is_part: bool,
}

/// Why rows cannot be written as asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EachPlanError {
    /// Standard output belongs to the result.
    #[error(
        "`-` is no place for rows: the result goes to standard output\n  remedy: name a file or a named pipe"
    )]
    Stdout,
    /// An ending that no format has.
    #[error(
        "{} has no ending of a format for rows{}\n  remedy: name a file that ends in .csv, .jsonl or .ndjson, \
         or in one of these and .gz", .file.display(), meant(*.near)
    )]
    Ending {
        /// The file.
        file: PathBuf,
        /// The ending that may have been meant.
        near: Option<&'static str>,
    },
    /// A share of nothing, or of more than there is.
    #[error("a share of {0} of the requests cannot be\n  remedy: give more than 0 and at most 100%")]
    Share(f64),
}

fn meant(ending: Option<&'static str>) -> String {
    ending.map_or_else(String::new, |ending| format!("; did you mean .{ending}?"))
}

impl EachPlan {
    /// Rows of `share` of the requests, in the format that the ending of `file` says.
    ///
    /// # Errors
    /// When the ending says none, or there is no such share.
    pub fn new(file: &Path, share: f64) -> Result<Self, EachPlanError> {
        if file == Path::new("-") {
            return Err(EachPlanError::Stdout);
        }
        if !(share > 0.0 && share <= 1.0) {
            return Err(EachPlanError::Share(share));
        }
        let name =
            file.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let (stem, is_zipped) = name.strip_suffix(".gz").map_or((&*name, false), |stem| (stem, true));
        let ending = stem.rsplit_once('.').map_or("", |(_, ending)| ending);
        let Some((_, format)) = ENDINGS.into_iter().find(|(known, _)| *known == ending) else {
            let near = nearest(ending, ENDINGS.map(|(known, _)| known));
            return Err(EachPlanError::Ending { file: file.to_owned(), near });
        };
        Ok(Self { file: file.to_owned(), format, is_zipped, share, is_part: false })
    }

    /// The part of generator process `number`.
    #[must_use]
    pub fn part(&self, number: u32) -> Self {
        let mut file = self.file.clone().into_os_string();
        file.push(format!(".{number}.tmp"));
        Self { file: file.into(), is_zipped: false, is_part: true, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_the_format_and_others_are_refused_with_their_names() {
        let plan = |name: &str| EachPlan::new(Path::new(name), 1.0).map(|plan| (plan.format, plan.is_zipped));
        assert_eq!(plan("rows.csv"), Ok((EachFormat::Csv, false)));
        assert_eq!(plan("a.b/Rows.CSV.GZ"), Ok((EachFormat::Csv, true)));
        assert_eq!(plan("rows.jsonl"), Ok((EachFormat::JsonLines, false)));
        assert_eq!(plan("rows.ndjson.gz"), Ok((EachFormat::JsonLines, true)));
        for (name, said) in [
            ("rows.json", "did you mean .jsonl?"),
            ("rows.txt", ".csv, .jsonl or .ndjson"),
            ("rows", ".csv, .jsonl or .ndjson"),
            ("rows.gz", ".csv, .jsonl or .ndjson"),
            ("-", "standard output"),
        ] {
            let error = plan(name).unwrap_err().to_string();
            assert!(error.contains(said) && error.contains("remedy:"), "{name}: {error}");
        }
    }

    #[test]
    fn only_shares_of_something_are_taken() {
        for (share, is_taken) in
            [(1.0, true), (1e-9, true), (0.0, false), (-0.1, false), (1.01, false), (f64::NAN, false)]
        {
            assert_eq!(EachPlan::new(Path::new("r.csv"), share).is_ok(), is_taken, "{share}");
        }
    }
}
