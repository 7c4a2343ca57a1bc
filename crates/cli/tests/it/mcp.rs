//! `prony mcp` as a client meets it: the handshake, the tools over a real run, what is refused, and a load within limits.

use crate::command::{Server, bad, done, prony};
use crate::load::{stats, wait_until};
use crate::processes::{children, is_gone};
use crate::run::Lab;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Longest answer, its end of line included.
const ANSWER_BYTES_MAX: usize = 4096;

/// A client with its server.
struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(runs: &Path, more: &[&str]) -> Self {
        let args = [&["mcp", "--runs", runs.to_str().unwrap()][..], more].concat();
        let mut child =
            prony(&args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { child, to, from, next: 0 }
    }

    fn send(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        writeln!(to, "{line}").unwrap();
        to.flush().unwrap();
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        assert!(line.len() <= ANSWER_BYTES_MAX, "{} bytes: {line}", line.len());
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        let answer = self.answer();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(id)), "{answer}");
        answer
    }

    /// The text of a tool, and whether it is an error.
    fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        assert_eq!(result["content"][0]["type"], "text", "{answer}");
        (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == true)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_client_reads_runs_and_can_change_nothing() {
    let lab = Lab::new(
        "[[target]]\nname = \"one\"\nreference = { mean = \"1ms\" }\n[[target]]\nname = \"two\"\nreference = { mean = \"1ms\" }\n",
        "",
        "blocks = 5",
    );
    // Its trials may be void on a busy host; then the tools say so.
    done(&lab.args());
    let run = lab.run();
    let name = run.file_name().unwrap().to_str().unwrap().to_owned();
    let before = files(&run);
    let folder = lab.folder.path();
    let mut client = Client::start(folder, &["--experiments", folder.to_str().unwrap()]);
    let hello = client.ask("initialize", &json!({ "protocolVersion": "2025-03-26", "capabilities": {} }));
    assert_eq!(hello["result"]["protocolVersion"], "2025-03-26", "{hello}");
    assert_eq!(hello["result"]["serverInfo"]["name"], "prony", "{hello}");
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let tools = client.ask("tools/list", &json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["runs", "report", "why", "compare", "plan"]);
    let (runs, _) = client.call("runs", json!({}));
    assert!(runs.contains(&name) && runs.contains("trials ended"), "{runs}");
    let (report, is_error) = client.call("report", json!({ "run": name }));
    assert!(!is_error && report.contains("one") && report.len() > 500, "{report}");
    for (tool, arguments) in [
        ("why", json!({ "run": name })),
        ("compare", json!({ "a": name, "b": name })),
        ("plan", json!({ "experiment": "lab" })),
    ] {
        let (text, is_error) = client.call(tool, arguments);
        assert!(
            !text.is_empty() && (!is_error || text.contains("valid") || text.contains("void")),
            "{tool}: {text}"
        );
    }
    for (tool, arguments, cause) in [
        ("report", json!({ "run": format!("{name}x") }), "did you mean"),
        ("report", json!({ "run": "../../etc" }), "there is no run"),
        ("report", json!({ "run": "--help" }), "there is no run"),
        ("report", json!({}), "there is no run"),
        ("plan", json!({ "experiment": "/etc/passwd" }), "there is no experiment"),
    ] {
        let (text, is_error) = client.call(tool, arguments.clone());
        assert!(is_error && text.contains(cause), "{tool} {arguments}: {text}");
    }
    let refused =
        client.ask("tools/call", &json!({ "name": "load", "arguments": { "url": "http://127.0.0.1/" } }));
    assert_eq!(refused["error"]["code"], -32_602, "{refused}");
    assert_eq!(files(&run), before, "nothing was written");
}

/// Names and sizes of the files of a run.
fn files(run: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(run).unwrap().map(|entry| entry.unwrap());
    let mut all: Vec<(String, u64)> = entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.metadata().unwrap().len()))
        .collect();
    all.sort();
    all
}

#[test]
fn messages_that_are_none_get_errors_and_the_server_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path(), &[]);
    for (line, code) in [
        ("{", -32_700),
        ("[]", -32_600),
        (r#"{"id":1,"method":"ping"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":"a","method":"no/such"}"#, -32_601),
        (r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"rm"}}"#, -32_602),
    ] {
        client.send(line);
        let answer = client.answer();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    for id in [json!("i".repeat(9_000)), json!(["a list"])] {
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string());
        let answer = client.answer();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32_600)));
    }
    client.send(&"x".repeat(3 << 20));
    assert_eq!(client.answer()["error"]["code"], -32_600);
    client.send("");
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    client.to = None;
    assert_eq!(client.child.wait().unwrap().code(), Some(0));
    bad(&["mcp", "--runs", "/nonexistent"], 1, &["there is no folder", "--runs DIR"]);
    bad(&["mcp", "--consent", "h"], 1, &["--allow-load"]);
}

#[test]
fn a_load_needs_consent_at_the_start_and_keeps_its_limits() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--allow-load", "--rate-max", "200", "--duration-max", "2s"];
    let mut client = Client::start(folder.path(), &flags);
    let tools = client.ask("tools/list", &json!({}));
    assert_eq!(tools["result"]["tools"][5]["name"], "load", "{tools}");
    let before = stats(&server);
    for (arguments, cause) in [
        (json!({ "url": "http://10.1.2.3/" }), "may not be loaded"),
        (json!({ "url": server.url("/ping"), "rate": 201 }), "at most 200"),
        (json!({ "url": server.url("/ping"), "seconds": 3 }), "at most 2"),
        (json!({ "url": server.url("/ping"), "duration": 1 }), "it takes url, rate, connections and seconds"),
    ] {
        let (text, is_error) = client.call("load", arguments.clone());
        assert!(is_error && text.contains(cause), "{arguments}: {text}");
    }
    assert_eq!(stats(&server), before, "no request was sent");
    let (text, is_error) = client
        .call("load", json!({ "url": server.url("/ping"), "rate": 100, "seconds": 1, "connections": 2 }));
    assert!(!is_error && text.contains("100"), "{text}");
    let sent = stats(&server) - before;
    assert!((90..=110).contains(&sent), "{sent} requests");
}

#[test]
fn a_load_ends_with_the_server_that_began_it() {
    let target = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path(), &["--allow-load", "--duration-max", "10m"]);
    let load = json!({ "url": target.url("/ping"), "connections": 1, "seconds": 300 });
    let params = json!({ "name": "load", "arguments": load });
    client.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string());
    wait_until("requests arrive", || stats(&target) > 10);
    let loads = children(client.child.id());
    assert_eq!(loads.len(), 1, "{loads:?}");
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    wait_until("the load has ended as well", || is_gone(loads[0].0));
}
