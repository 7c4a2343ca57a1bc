//! `prony selfcheck`: the table of proofs, as text and as JSON.

use crate::command::{bad, good};

#[test]
fn selfcheck_counts_and_says_what_is_right() {
    let text = good(&["selfcheck", "--runs", "2"]).out;
    for part in ["p99 of a queue at 85 % within its interval", "93.0 to 97.0 %", "at most 5.0 %", "seed 1"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&good(&["selfcheck", "--runs", "2", "--seed", "7", "--format", "json"]).out)
            .unwrap();
    assert_eq!((json["schema"].as_str(), json["seed"].as_u64()), (Some("prony.selfcheck/1"), Some(7)));
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 18, "{json:#}");
    assert!(rows.iter().all(|row| row["runs"] == 2 && row["passes"] == true), "{json:#}");
    bad(&["selfcheck", "--runs", "0"], 1, &["--runs"]);
}
