//! `prony audit`: what is printed, how it ends, and what is refused.

use crate::command::{Done, bad, done, good, prony, root};
use schema::audit::{AuditReport, AuditSeverity};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const SOUND: &str = "server,connections,req/s,mean (ms),p50 (ms),p99 (ms),errors\n\
                     gin,100,10050,9.9,9.1,21.0,0\necho,100,11900,8.4,7.8,19.5,0\n";
const FAULTY: &str = "server,connections,req/s,mean (ms),p50 (ms),p99 (ms),errors\n\
                      gin,100,10050,39.9,39.1,41.0,0\necho,100,11900,8.4,7.8,5.5,0\n";

fn written(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("table.csv");
    std::fs::write(&file, text).unwrap();
    file
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

/// Runs with a text on standard input.
fn fed(args: &[&str], text: &str) -> Done {
    let mut command = prony(args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn the_exit_code_says_whether_a_row_is_impossible() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), SOUND);
    let done_well = good(&["audit", path(&file)]);
    assert!(done_well.out.contains("2 rows: 0 impossible"), "{}", done_well.out);
    let file = written(folder.path(), FAULTY);
    let found = done(&["audit", path(&file), "--all"]);
    assert_eq!(found.code, 3, "{}", found.out);
    for part in [
        "row 1 (line 2), gin, 100 connections",
        "✗ impossible: more requests were in flight than there were connections",
        "law  N = X·(R + Z)",
        "with N = 100, X = 10050, R = 39.9",
        "→ look whether",
        "impossible: p50 is above p99",
        "Not checked",
        "by header",
    ] {
        assert!(found.out.contains(part), "no `{part}` in\n{}", found.out);
    }
    assert!(found.out.lines().all(|line| line.chars().count() <= 80), "{}", found.out);
}

#[test]
fn json_is_valid_by_its_schema_and_markdown_has_no_markup_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), &FAULTY.replace("gin", "<b>|x|</b> [l](u)"));
    let json = done(&["audit", path(&file), "--format", "json"]);
    assert_eq!(json.code, 3);
    let value: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&good(&["schema", "audit"]).out).unwrap();
    let errors: Vec<_> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    let report: AuditReport = serde_json::from_str(&json.out).unwrap();
    assert_eq!((report.counts.rows, report.counts.impossible_rows), (2, 2));
    assert_eq!(report.tables[0].rows[0].worst, Some(AuditSeverity::Impossible));
    let out = folder.path().join("audit.md");
    let markdown = done(&["audit", path(&file), "--format", "markdown", "-o", path(&out)]);
    assert_eq!((markdown.code, markdown.out.as_str()), (3, ""));
    let text = std::fs::read_to_string(out).unwrap();
    assert!(text.starts_with("# Audit of ") && text.contains("\\<b\\>\\|x\\|"), "{text}");
}

#[test]
fn standard_input_and_options_of_the_user() {
    let args = [
        "audit",
        "-",
        "--all",
        "--column",
        "a=connections",
        "--column",
        "b=throughput",
        "--given",
        "mean=50ms",
    ];
    let Done { code, out: text, .. } = fed(&args, "a,b\n100,10000\n");
    assert_eq!(code, 3, "{text}");
    assert!(text.starts_with("standard input: ✗") && text.contains("you said so"), "{text}");
}

#[test]
fn what_cannot_be_read_has_cause_place_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.csv");
    for (content, parts) in [
        (&b""[..], &["there is nothing in it", "remedy: "][..]),
        (b"\x7fELF\x02\x01\x01\0\0\0", &["control character", "remedy: "]),
        (b"qps,p99\n1,\xff\xfe\n", &["table.csv:2: it is not UTF-8", "iconv"]),
        (b"qps,p99\n1,2\n1,2,3\n", &["table.csv:3: this row has 3 cells, but its header has 2", "remedy: "]),
        (b"qps\n1\n", &["remedy: "]),
        (b"hello\n", &["no table is found", "--input-format"]),
        (b"a,b\n1,2\n", &["none of its columns is known: `a`, `b`", "--column"]),
    ] {
        std::fs::write(&file, content).unwrap();
        bad(&["audit", path(&file)], 1, parts);
    }
    std::fs::write(&file, "qps,p99\n1,2\n").unwrap();
    bad(&["audit", path(&file), "--column", "tps=throughput"], 1, &["no such column", "`qps`"]);
    bad(&["audit", path(&file), "--column", "qps=troughput"], 1, &["did you mean throughput?"]);
    bad(&["audit", path(&file), "--given", "think=1"], 1, &["unit of think is missing"]);
    bad(&["audit", "/nonexistent/file"], 1, &["cannot read /nonexistent/file"]);
    std::fs::write(&file, "x".repeat((16 << 20) + 10)).unwrap();
    bad(&["audit", path(&file)], 1, &["larger than 16 MiB", "remedy: "]);
}

#[test]
fn the_guide_shows_what_prony_prints() {
    let guide = std::fs::read_to_string(root().join("docs/guides/audit.md")).unwrap();
    let block =
        |begin: &str| guide.split(begin).nth(1).and_then(|rest| rest.split("\n```\n").next()).unwrap();
    let table = block("```markdown\n");
    let shown = block("< article.md\n");
    let done = fed(&["audit", "-", "--all", "--given", "think=0s", "--given", "duration=30s"], table);
    assert_eq!((done.code, done.out.trim_end()), (3, shown.trim_end()), "put the new text into the guide");
}

/// An article as it is published: prose, drawn graphs, tables of words, a ragged table, a wide one and a command.
const ARTICLE: &str = "How we chose a server

We had two servers and a question, and so we measured them both one evening.
Each of them answered a small document from memory.
The servers had four cores, and so had the machine that asked.
We asked as follows:

wrk -t4 -c100 -d30s http://127.0.0.1:8080/ping

| size | Swoole QPS | Gin QPS | Swoole mean (ms) | Gin mean (ms) |
|---|---|---|---|---|
| small | 10,000 | 20,000 | 9.9 | 4.9 |
| large | 5,000 |
9,000 | 19.8 | 11.0 |

The difference is clear, and here is how the runtime works:

graph TD
A[request] -->|cached| B[answer]
A -->|not cached| C[database]

Each model has its own price, and words say it better than figures do:

| model | price | value |
|---|---|---|
| process | memory | isolation |
| coroutine | care | speed |

The errors came in later, and they were copied badly from a slide:

| connections | QPS | p99 (ms) |
|---|---|---|
| 100 | 10,000 | 20 | 3 |

That is all that we have to say about it today.
Thank you for reading it to its end, and write to us.
";

#[test]
fn a_whole_article_is_read_and_nothing_in_it_stops_the_rest() {
    let found = fed(&["audit", "-", "--all"], ARTICLE);
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    for said in [
        "4 rows",
        "Swoole and Gin stand side by side",
        "the row at line 13 is written over 2 lines",
        "taken from line 8: wrk -t4 -c100 -d30s",
        "no figures of a load test: `model`",
        "this row has 4 cells, but its header has 3",
    ] {
        let flat = found.out.replace("\n    ", " ").replace("\n  ", " ");
        assert!(flat.contains(said), "no `{said}` in\n{}", found.out);
    }
    let short = fed(&["audit", "-"], ARTICLE);
    assert!(short.out.contains("2 tables were left out"), "{}", short.out);
}

#[test]
fn an_article_without_results_says_so_and_ends_well() {
    let prose = ARTICLE.split("We asked as follows").next().unwrap().repeat(4);
    let found = fed(&["audit", "-"], &format!("{prose}\ngraph TD\nA -->|yes| B[x]\nA -->|no| C[y]\n"));
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    assert!(found.out.contains("? no table of results is in it"), "{}", found.out);
}
