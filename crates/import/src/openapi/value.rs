//! The text of a document as a value.

use crate::error::Problem;
use serde_json::Value;

/// # Errors
/// It is no JSON.
pub(super) fn read(text: &str) -> Result<Value, Problem> {
    serde_json::from_str(text).map_err(|error| {
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default().to_owned();
        let remedy =
            "give the document as JSON; one in YAML is converted by `yq -o=json openapi.yaml > openapi.json`";
        Problem::new(format!("this is no JSON: {what}"), remedy).at(error.line().max(1))
    })
}
