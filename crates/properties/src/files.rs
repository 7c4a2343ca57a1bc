//! The files besides experiments that people write, scenarios, manifests of targets and of services: any text is a
//! value that survives JSON, or an error with cause, place and remedy.
//!
//! Input: one byte that chooses the kind, then the text.

use crate::Broken;
use crate::experiment::helps;
use schema::scenario::ScenarioFile;
use schema::service::ServiceManifest;
use schema::target::TargetManifest;
use schema::text::{FileError, parse_toml};
use serde::Serialize;
use serde::de::DeserializeOwned;

const FILE: &str = "fuzzed.toml";

/// Reads a text; what it means as JSON, and what that means when it is read again.
type Parser = fn(&str) -> Result<(String, String), FileError>;

/// The kinds of files.
const KINDS: [Parser; 3] =
    [there_and_back::<ScenarioFile>, there_and_back::<TargetManifest>, there_and_back::<ServiceManifest>];

/// The property of the target `files`.
///
/// # Errors
/// A value that changes in JSON, or an error that does not help.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &KINDS)
}

/// [`check`] of any parsers.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], kinds: &[Parser]) -> Result<(), Broken> {
    let (choice, bytes) = input.split_first().map_or((0, input), |(choice, bytes)| (*choice, bytes));
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    match kinds[usize::from(choice) % kinds.len()](text) {
        Ok((once, again)) => Broken::unless(once == again, || format!("{once} became {again}")),
        Err(error) => helps(&error, text),
    }
}

fn there_and_back<T: Serialize + DeserializeOwned>(text: &str) -> Result<(String, String), FileError> {
    let value: T = parse_toml(FILE, text)?;
    let json = |value: &T| serde_json::to_string(value).unwrap_or_else(|error| error.to_string());
    let once = json(&value);
    let again = serde_json::from_str(&once).map_or_else(|error| error.to_string(), |value| json(&value));
    Ok((once, again))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curt_errors_and_changed_values_are_caught() {
        let scenario = b"\0schema = \"prony/scenario/v1\"\nname = \"a\"\n";
        assert_eq!(check(scenario), Ok(()));
        assert_eq!(check(b"\x01name = 3"), Ok(()));
        let changed: Parser = |_| Ok(("1".to_owned(), "2".to_owned()));
        let curt: Parser = |_| {
            let (file, cause) = (FILE.to_owned(), "no".to_owned());
            Err(FileError { file, at: Some((1, 1)), cause, remedy: None })
        };
        for parser in [changed, curt] {
            assert!(check_with(scenario, &[parser]).is_err());
        }
    }
}
