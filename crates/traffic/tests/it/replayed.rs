//! Replay keeps times and order.

use crate::made::{self, BEGIN_S};
use schema::scenario::ScenarioFile;
use schema::text::parse_toml;
use traffic::replay::{Replay, Wanted, prepare};
use units::Seed;

fn prepared(text: &str) -> Result<(Replay, Vec<String>), String> {
    prepared_of(text, Wanted::Reads)
}

fn prepared_of(text: &str, wanted: Wanted) -> Result<(Replay, Vec<String>), String> {
    let folder = tempfile::tempdir().unwrap();
    let log = made::write(folder.path(), "access.log", text);
    let rows = folder.path().join("rows.jsonl");
    let replay = prepare(&[log], None, &rows, Seed(1), wanted).map_err(|error| error.to_string())?;
    let rows = std::fs::read_to_string(rows).unwrap();
    Ok((replay, rows.lines().map(str::to_owned).collect()))
}

fn json(at_ms: u64, request: &str, status: u16) -> String {
    let at_ms = BEGIN_S * 1000 + at_ms;
    format!(
        "{{\"msec\":{}.{:03},\"request\":\"{request} HTTP/1.1\",\"status\":{status}}}\n",
        at_ms / 1000,
        at_ms % 1000
    )
}

#[test]
fn times_and_paths_are_exact_and_in_order() {
    let text = [
        json(1000, "GET /a,b", 200),
        json(1500, "GET /late", 404),
        json(1250, "GET /early?x=1", 200),
        json(1500, "HEAD /same", 200),
        json(1600, "POST /no", 200),
        json(1700, "DELETE /no/1", 200),
        "garbage\n".to_owned(),
        json(4000, "GET /last one", 200),
    ];
    let (replay, rows) = prepared(&text.concat()).unwrap();
    assert_eq!(replay.times_ns, [0, 250_000_000, 500_000_000, 500_000_000, 3_000_000_000]);
    let wanted = [
        r#"{"request":"GET","path":"/a,b","body":""}"#,
        r#"{"request":"GET","path":"/early?x=1","body":""}"#,
        r#"{"request":"GET","path":"/late","body":""}"#,
        r#"{"request":"HEAD","path":"/same","body":""}"#,
        r#"{"request":"GET","path":"/last%20one","body":""}"#,
    ];
    assert_eq!(rows, wanted);
    let notes = replay.notes.join("\n");
    for part in ["1 of 8 lines", "left out: 1 DELETE, 1 POST", "--writes"] {
        assert!(notes.contains(part), "{part} in {notes}");
    }
    let text = replay.scenario_text("replay", "rows.jsonl");
    let scenario = parse_toml::<ScenarioFile>("s.toml", &text).unwrap();
    assert_eq!((scenario.requests.len(), scenario.feeders["log"].file.as_str()), (2, "rows.jsonl"));
    assert!(text.contains("path = \"${log.path}\"") && text.contains(", 404]"), "{text}");
}

/// As nginx writes it with `escape=json`.
fn with_body(at_ms: u64, request: &str, content_type: &str, body: &str) -> String {
    let line = json(at_ms, request, 200);
    let more = serde_json::json!({ "content_type": content_type, "request_body": body }).to_string();
    format!("{},{}\n", line.trim_end().trim_end_matches('}'), more.trim_start_matches('{'))
}

#[test]
fn bodies_and_methods_are_sent_where_they_are_asked_for_and_logged() {
    let long = "x".repeat(traffic::replay::BODY_BYTES_MAX + 1);
    let text = [
        with_body(1000, "POST /a", "application/json", "{\"n\": \"${1}\\n\"}"),
        json(1100, "POST /unknown", 200),
        with_body(1200, "GET /b", "", ""),
        with_body(1300, "DELETE /c", "", ""),
        with_body(1400, "PUT /d", "", "plain"),
        with_body(1500, "POST /e", "text/plain", ""),
        with_body(1600, "POST /f", "text/plain", &long),
    ]
    .concat();
    let (replay, rows) = prepared_of(&text, Wanted::All).unwrap();
    let wanted = [
        r#"{"request":"POST application/json","path":"/a","body":"{\"n\": \"${1}\\n\"}"}"#,
        r#"{"request":"GET","path":"/b","body":""}"#,
        r#"{"request":"DELETE","path":"/c","body":""}"#,
        r#"{"request":"PUT with a body","path":"/d","body":"plain"}"#,
        r#"{"request":"POST","path":"/e","body":""}"#,
    ];
    assert_eq!(rows, wanted);
    let notes = replay.notes.join("\n");
    assert!(notes.contains("left out: 1 POST; the log does not have their bodies"), "{notes}");
    assert!(notes.contains("left out: 1 with a body of more than 64 KiB"), "{notes}");
    let names: Vec<String> = ScenarioFile::from_toml("s.toml", &replay.scenario_text("replay", "rows.jsonl"))
        .unwrap()
        .requests
        .into_iter()
        .map(|request| request.name)
        .collect();
    assert_eq!(names, ["DELETE", "GET", "POST", "POST application/json", "PUT with a body"]);
    let (reads, _) = prepared_of(&(text + &json(1700, "GET /g", 200)), Wanted::Reads).unwrap();
    assert!(reads.notes.iter().any(|note| note.contains("1 DELETE, 4 POST, 1 PUT")), "{:?}", reads.notes);
}

#[test]
fn whole_seconds_are_spread_over_their_second_alike_each_time() {
    let lines = made::poisson(120.0, 50.0, |_| 50.0, Seed(2));
    let text = made::combined(&lines);
    let (replay, rows) = prepared(&text).unwrap();
    let gets: Vec<_> = lines.iter().filter(|line| line.method == "GET").collect();
    assert_eq!((replay.times_ns.len(), rows.len()), (gets.len(), gets.len()));
    assert!(replay.times_ns.is_sorted());
    assert!(rows.iter().zip(&gets).all(|(row, line)| row.contains(&format!("\"path\":\"{}\"", line.target))));
    // Up to the part of a second before the first.
    let first_ns = gets[0].at_ns;
    for (time_ns, line) in replay.times_ns.iter().zip(&gets) {
        assert!((*time_ns as i64 - (line.at_ns - first_ns) as i64).abs() <= 2_000_000_000);
    }
    assert!(replay.notes.iter().any(|note| note.contains("whole seconds")));
    assert_eq!(prepared(&text).unwrap().0.times_ns, replay.times_ns);
}

#[test]
fn nothing_to_replay_is_refused() {
    let error = prepared(&[json(0, "POST /a", 200), json(9, "POST /b", 200)].concat()).unwrap_err();
    assert!(error.contains("0 requests that can be replayed") && error.contains("remedy"), "{error}");
}
