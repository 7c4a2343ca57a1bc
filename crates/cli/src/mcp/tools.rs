//! The tools and their arguments, as clients read them.

use anyhow::{Result, bail};
use schema::text::nearest;
use serde_json::{Value, json};

/// Longest name of an argument that is printed again.
const NAME_CHARS_MAX: usize = 40;

/// Names of the tools, in the order in which they are listed.
const READING: [&str; 5] = ["runs", "report", "why", "compare", "plan"];
const LOAD: &str = "load";

pub(super) fn names(may_load: bool) -> impl Iterator<Item = &'static str> {
    READING.into_iter().chain(may_load.then_some(LOAD))
}

/// All tools, `load` where the user allowed it.
pub(super) fn list(may_load: bool) -> Vec<Value> {
    names(may_load).map(tool).collect()
}

/// Refuses what a tool does not take: a load that ignored its length would be another than was asked for.
///
/// # Errors
/// The first argument that is none, with those that are.
pub(super) fn check(name: &str, asked: &Value) -> Result<()> {
    let taken = &tool(name)["inputSchema"]["properties"];
    let names: Vec<&str> = taken.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let mut given = asked.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let Some(wrong) = given.find(|key| !names.contains(key)) else { return Ok(()) };
    let shown: String = wrong.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
    let meant = nearest(wrong, names.iter().copied()).map(|near| format!("did you mean `{near}`? "));
    bail!(
        "{name} has no argument `{shown}`\n  remedy: {}it takes {}",
        meant.unwrap_or_default(),
        units::format::listed(&names)
    )
}

fn tool(name: &str) -> Value {
    let run = json!({ "type": "string", "description": "Name of a run, as `runs` lists it" });
    let (about, properties, required) = match name {
        "runs" => (
            "List the newest runs with their question, and whether they ended",
            json!({ "limit": { "type": "integer", "minimum": 1, "maximum": 50 } }),
            vec![],
        ),
        "report" => (
            "The report of a run as Markdown: answer, claims, cells with intervals, reservations",
            json!({ "run": run }),
            vec!["run"],
        ),
        "why" => (
            "What held the targets of a run back, with the counters that show it",
            json!({ "run": run }),
            vec!["run"],
        ),
        "compare" => (
            "Compare two runs of one experiment, cell by cell, with intervals",
            json!({ "a": run, "b": run }),
            vec!["a", "b"],
        ),
        "plan" => (
            "How many blocks and minutes an experiment needs, and what it can show",
            json!({ "experiment": { "type": "string", "description": "Name of a file of experiments without .toml" } }),
            vec!["experiment"],
        ),
        _ => (
            "Load one URL of an allowed host, and report what it did",
            json!({
                "url": { "type": "string" },
                "rate": { "type": "number", "description": "Requests per second" },
                "connections": { "type": "integer" },
                "seconds": { "type": "number" },
            }),
            vec!["url"],
        ),
    };
    json!({
        "name": name,
        "description": about,
        "inputSchema": { "type": "object", "properties": properties, "required": required, "additionalProperties": false },
        "annotations": { "readOnlyHint": name != LOAD, "openWorldHint": name == LOAD },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_no_tool_takes_are_refused_with_those_that_it_takes() {
        check("load", &json!({ "url": "http://127.0.0.1/", "seconds": 1 })).unwrap();
        check("runs", &Value::Null).unwrap();
        let error = check("load", &json!({ "url": "u", "second": 1 })).unwrap_err().to_string();
        assert!(
            error.contains("no argument `second`") && error.contains("did you mean `seconds`?"),
            "{error}"
        );
        let error = check("report", &json!({ "\u{1b}duration": "5m" })).unwrap_err().to_string();
        assert!(error.contains("no argument `duration`\n  remedy: it takes run"), "{error}");
    }

    #[test]
    fn the_list_fits_into_an_answer_and_is_read_only_without_consent() {
        let all = list(true);
        assert!(
            json!(all).to_string().len() < super::super::ANSWER_BYTES_MAX - 200,
            "{}",
            json!(all).to_string().len()
        );
        assert!(list(false).iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
        assert_eq!((list(false).len(), all.len()), (5, 6));
    }
}
