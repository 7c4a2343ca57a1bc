//! The tools and their arguments, as clients read them.

use serde_json::{Value, json};

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
