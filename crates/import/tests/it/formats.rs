//! Every format from a realistic file, and what is refused, with its place and remedy.

use import::{Format, Imported, Options, detect, import, to_toml};
use schema::arrival::Think;
use schema::scenario::{NamedRequest, ScenarioFile};
use std::path::Path;
use units::Nanos;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn imported_with(format: Format, name: &str, options: &Options) -> Imported {
    let text = fixture(name);
    assert_eq!(detect(name, &text), Some(format));
    let imported = import(format, "x", name, &text, options).unwrap_or_else(|error| panic!("{error}"));
    round_trip(&imported.scenario);
    imported
}

fn imported(format: Format, name: &str) -> Imported {
    imported_with(format, name, &Options::default())
}

/// Written and read again, a scenario is the same.
fn round_trip(scenario: &ScenarioFile) {
    let text = to_toml(scenario);
    let again: ScenarioFile =
        schema::text::parse_toml("x.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let value = |scenario: &ScenarioFile| serde_json::to_value(scenario).unwrap();
    assert_eq!(value(&again), value(scenario), "{text}");
    assert_eq!(to_toml(&again), text);
}

fn request<'a>(imported: &'a Imported, name: &str) -> &'a NamedRequest {
    let names: Vec<&str> = imported.scenario.requests.iter().map(|request| request.name.as_str()).collect();
    let found = imported.scenario.requests.iter().find(|request| request.name == name);
    found.unwrap_or_else(|| panic!("{name} is not among {names:?}"))
}

fn header<'a>(request: &'a NamedRequest, name: &str) -> Option<&'a str> {
    request.headers.get(name).map(String::as_str)
}

fn has_note(imported: &Imported, note: &str) {
    assert!(imported.notes.iter().any(|known| known.contains(note)), "{note}: {:#?}", imported.notes);
}

fn names(imported: &Imported) -> Vec<&str> {
    imported.scenario.requests.iter().map(|request| request.name.as_str()).collect()
}

#[test]
fn vegeta_targets() {
    let imported = imported(Format::Vegeta, "targets.vegeta");
    assert_eq!(imported.origin, "http://127.0.0.1:8080");
    assert_eq!(
        names(&imported),
        ["GET /items", "GET /items 2", "POST /orders", "PUT /orders/7", "DELETE /orders/7"]
    );
    let first = request(&imported, "GET /items");
    assert_eq!((first.path.as_str(), first.weight), ("/items?page=1", Some(1.0)));
    assert_eq!((header(first, "Accept"), header(first, "X-Trace")), (Some("application/json"), Some("a, b")));
    let second = request(&imported, "GET /items 2");
    assert_eq!((second.path.as_str(), second.weight), ("/items?page=2", Some(2.0)));
    let order = request(&imported, "POST /orders");
    assert_eq!(order.body_file.as_deref(), Some("bodies/order.json"));
    assert_eq!(order.headers.len(), 1, "{:?}", order.headers);
    let put = request(&imported, "PUT /orders/7");
    assert_eq!(header(put, "Authorization"), Some("Basic dXNlcjpzZWNyZXQ="));
    assert_eq!(header(put, "X-Template"), Some("$${not.ours}"));
    assert_eq!(put.method.as_deref(), Some("PUT"));
    has_note(&imported, "requests to http://127.0.0.2:8080 left out, --all-origins keeps those of a mix: 1");
    has_note(&imported, "that prony sets itself left out (Host, Content-Length, Connection and the like): 2");
    has_note(&imported, "bodies named as files");
}

#[test]
fn vegeta_targets_as_json() {
    let imported = imported(Format::VegetaJson, "targets.vegeta.json");
    assert_eq!(imported.origin, "http://shop.test:80");
    assert_eq!(names(&imported), ["GET /a", "POST /b", "POST /blob"]);
    assert_eq!(request(&imported, "GET /a").weight, Some(2.0));
    // A Host that is not the origin's decides what is answered, so it stays.
    assert_eq!(header(request(&imported, "GET /a"), "Host"), Some("inner.test"));
    assert_eq!(request(&imported, "POST /b").body.as_deref(), Some(r#"{"a":"$${x}"}"#));
    assert_eq!(request(&imported, "POST /blob").body_file.as_deref(), Some("x-body-1.bin"));
    assert_eq!(imported.bodies, [("x-body-1.bin".to_owned(), vec![0xff, 0xfe, 0, 1])]);
}

#[test]
fn url_lists_of_siege() {
    let imported = imported(Format::Urls, "urls.txt");
    assert_eq!(imported.origin, "http://127.0.0.1:9000");
    assert_eq!(
        names(&imported),
        [
            "GET /index.html",
            "GET /browse.jsp",
            "POST /cgi-bin/foo.cgi",
            "POST /upload",
            "GET /relative",
            "PUT /thing"
        ]
    );
    assert_eq!(request(&imported, "GET /index.html").weight, Some(3.0));
    let form = request(&imported, "POST /cgi-bin/foo.cgi");
    assert_eq!(form.body.as_deref(), Some("first=bart&last=simpson"));
    assert_eq!(header(form, "Content-Type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(request(&imported, "POST /upload").body_file.as_deref(), Some("data/upload.txt"));
    has_note(&imported, "https://cdn.example:443");
}

#[test]
fn url_lists_of_h2load() {
    let imported = imported(Format::Urls, "h2load.txt");
    assert_eq!(imported.origin, "https://example.test:443");
    assert_eq!(names(&imported), ["GET /", "GET /style.css", "GET /app.js"]);
    assert!(imported.scenario.requests.iter().all(|request| request.weight.is_none()));
    assert!(imported.notes.is_empty(), "{:?}", imported.notes);
    let options = Options { origin: Some("http://10.0.0.1:81".to_owned()), ..Options::default() };
    let paths = import(Format::Urls, "x", "-", "/a\n/b\n", &options).unwrap();
    assert_eq!((paths.origin.as_str(), names(&paths)), ("http://10.0.0.1:81", vec!["GET /a", "GET /b"]));
}

#[test]
fn curl_command_lines() {
    let imported = imported(Format::Curl, "browser.sh");
    assert_eq!(imported.origin, "http://shop.test:8080");
    let cart = request(&imported, "GET /api/cart");
    assert_eq!(cart.path, "/api/cart?id=7&full=1");
    assert_eq!(cart.headers.len(), 3);
    assert_eq!(header(cart, "cookie"), Some("sid=abc; theme=dark"));
    assert_eq!(header(cart, "Accept-Encoding"), Some("deflate, gzip, br, zstd"));
    let patch = request(&imported, "PATCH /api/cart");
    assert_eq!(patch.body.as_deref(), Some(r#"{"note":"it's $${mine}!"}"#));
    assert_eq!(header(patch, "content-type"), Some("application/json"));
    let me = request(&imported, "GET /me");
    assert_eq!(header(me, "Authorization"), Some("Basic Ym9iOnMzIGNyZXQ="));
    assert_eq!((header(me, "User-Agent"), header(me, "Referer")), (Some("agent/1"), Some("http://from/")));
    assert_eq!(me.timeout, Some(Nanos(2_500_000_000)));
    let search = request(&imported, "GET /search");
    assert_eq!((search.path.as_str(), search.body.as_deref()), ("/search?q=1&text=a%20b%26c", None));
    assert!(search.headers.is_empty());
    let json = request(&imported, "POST /json");
    assert_eq!(
        (header(json, "Content-Type"), header(json, "Accept")),
        (Some("application/json"), Some("application/json"))
    );
    assert_eq!(request(&imported, "HEAD /two").method.as_deref(), Some("HEAD"));
    let raw = request(&imported, "POST /raw");
    assert_eq!((raw.body_file.as_deref(), raw.headers.len()), (Some("body.bin"), 1));
    assert_eq!(request(&imported, "POST /form").body.as_deref(), Some("a=1&b=2"));
    has_note(&imported, "prony load -k: 1");
    has_note(&imported, "requests that follow redirects");
    has_note(&imported, "requests to http://other.test:80 left out");
}

#[test]
fn curl_forms_are_multipart() {
    let imported = imported(Format::Curl, "browser.sh");
    let upload = request(&imported, "POST /upload");
    assert!(upload.headers.is_empty(), "the boundary is prony's: {:?}", upload.headers);
    let parts = upload.multipart.as_ref().unwrap();
    assert_eq!(
        (parts[0].text.as_deref(), parts[0].content_type.as_deref()),
        (Some("my text"), Some("text/plain"))
    );
    assert_eq!(
        (parts[1].file.as_deref(), parts[1].filename.as_deref()),
        (Some("files/a.pdf"), Some("x y.pdf"))
    );
}

#[test]
fn har_as_a_mix() {
    let imported = imported(Format::Har, "shop.har");
    assert_eq!(imported.origin, "https://shop.test:443");
    let weights: Vec<(&str, Option<f64>)> =
        imported.scenario.requests.iter().map(|request| (request.name.as_str(), request.weight)).collect();
    assert_eq!(
        weights,
        [
            ("GET /", Some(1.0)),
            ("GET /app.css", Some(2.0)),
            ("POST /login", Some(1.0)),
            ("GET /items", Some(2.0)),
            ("PUT /note", Some(1.0)),
            ("POST /upload", Some(1.0)),
        ]
    );
    let home = request(&imported, "GET /");
    assert_eq!(
        (header(home, "accept-encoding"), header(home, "cookie")),
        (Some("gzip, deflate, br"), Some("consent=1"))
    );
    assert_eq!(home.headers.len(), 2);
    assert_eq!(request(&imported, "GET /app.css").headers.len(), 1);
    let login = request(&imported, "POST /login");
    assert_eq!(login.body.as_deref(), Some("user=bob+smith&pw=%24%7Bpw%7D"));
    assert_eq!(request(&imported, "GET /items").path, "/items?page=1&q=a+b");
    let note = request(&imported, "PUT /note");
    assert_eq!((note.body.as_deref(), header(note, "Content-Type")), (Some("hello"), Some("text/plain")));
    let parts = request(&imported, "POST /upload").multipart.as_ref().unwrap();
    assert_eq!((parts[0].filename.as_deref(), parts[1].text.as_deref()), (Some("a.pdf"), Some("v")));
    assert_eq!(imported.think, None);
    for note in [
        "recorded over HTTP/2 or 3, sent by HTTP/1.1: 1",
        "requests to https://cdn.test:443 left out, --all-origins keeps those of a mix: 1",
        "WebSocket entries left out: 1",
        "data:, blob: and the like) left out: 1",
        "browser's cache answered left out: 1",
        "uploaded files whose content is not in the HAR, sent empty: 1",
        "requests with recorded cookies, which may be secrets or have expired: 3",
    ] {
        has_note(&imported, note);
    }
}

#[test]
fn har_as_a_session() {
    let options = Options { session: true, ..Options::default() };
    let imported = imported_with(Format::Har, "shop.har", &options);
    let session = imported.scenario.session.as_ref().unwrap();
    // The second style sheet was asked for before the items, though it stands after them in the file.
    assert_eq!(
        names(&imported),
        [
            "GET /",
            "GET /app.css",
            "POST /login",
            "GET /app.css 2",
            "GET /items",
            "GET /items 2",
            "PUT /note",
            "POST /upload"
        ]
    );
    assert_eq!(session.steps, None);
    assert!(imported.scenario.requests.iter().all(|request| request.weight.is_none()));
    let millis = |ms: u64| Nanos(ms * 1_000_000);
    // From the end of the answers before it: 0.2 s − 120.5 ms, then 5 s − 230 ms, and so on.
    let pauses = [
        Nanos(0),
        Nanos(79_500_000),
        millis(4770),
        millis(800),
        millis(2180),
        millis(760),
        millis(460),
        millis(90),
    ];
    assert_eq!(imported.think.as_deref(), Some(&pauses[..]));
    assert_eq!(imported.scenario.requests[0].think, None);
    assert_eq!(imported.scenario.requests[2].think, Some(Think::Constant { mean: millis(4770) }));
    // sid was set by an answer, consent was not.
    assert_eq!(header(request(&imported, "GET /app.css"), "Cookie"), Some("consent=1"));
    has_note(&imported, "recorded cookies are left to the answers that set them: 2");
}

#[test]
fn equal_steps_of_a_session_are_one_request() {
    let options = Options { session: true, ..Options::default() };
    let imported = import(Format::Urls, "x", "-", "http://h/a\nhttp://h/b\nhttp://h/a\n", &options).unwrap();
    round_trip(&imported.scenario);
    assert_eq!(names(&imported), ["GET /a", "GET /b"]);
    let steps = imported.scenario.session.unwrap().steps.unwrap();
    assert_eq!(steps, ["GET /a", "GET /b", "GET /a"]);
}

#[test]
fn pauses_below_ten_milliseconds_are_none() {
    let har = r#"{"log":{"entries":[
        {"startedDateTime":"2026-01-01T00:00:00Z","time":5,"request":{"method":"GET","url":"http://h/a"}},
        {"startedDateTime":"2026-01-01T00:00:00.0149Z","time":5,"request":{"method":"GET","url":"http://h/b"}},
        {"startedDateTime":"2026-01-01T00:00:00.0299Z","time":-1,"request":{"method":"GET","url":"http://h/c"}}
    ]}}"#;
    let options = Options { session: true, ..Options::default() };
    let imported = import(Format::Har, "x", "-", har, &options).unwrap();
    assert_eq!(imported.think, Some(vec![Nanos(0), Nanos(0), Nanos(10_000_000)]));
    assert_eq!(imported.scenario.requests[1].think, None);
}

#[test]
fn the_wished_origin_decides() {
    let options = Options { origin: Some("http://127.0.0.2:8080".to_owned()), ..Options::default() };
    let imported = imported_with(Format::Vegeta, "targets.vegeta", &options);
    assert_eq!(names(&imported), ["GET /elsewhere"]);
    has_note(&imported, "requests to http://127.0.0.1:8080 left out, --all-origins keeps those of a mix: 6");
}

fn refused(format: Format, text: &str, options: &Options, expected: &str) {
    let error = import(format, "x", "f", text, options).expect_err(text);
    let shown = error.to_string();
    assert!(shown.starts_with(expected), "{shown}\n  expected {expected}");
    assert!(!error.remedy.is_empty());
}

#[test]
fn mistakes_have_place_cause_and_remedy() {
    use Format::{Curl, Har, Urls, Vegeta, VegetaJson};
    let entry = |more: &str| format!("{{\"log\":{{\"entries\":[\n{{\"request\":{{{more}}}}}]}}}}");
    for (format, text, expected) in [
        (Vegeta, "", "f: there is no request in it\n  remedy: "),
        (Vegeta, "GET http://h/\nX: y\n\nX: y\n", "f:4: `X: y` is no target"),
        (Vegeta, "GET http://h/\nnonsense\n", "f:2: `nonsense` is neither"),
        (Vegeta, "GET http://h/\n@a\nX: y\n", "f:3: `X: y` comes after the body"),
        (Vegeta, "GET h/\n", "f:1: `h/` is no URL"),
        (Vegeta, "GET http://h/\na b: c\n", "f:1: `a b` is no name"),
        (VegetaJson, "\n{\"method\":\"GET\"}\n", "f:2: the line is no target: missing field `url`"),
        (
            VegetaJson,
            "{\"method\":\"GET\",\"url\":\"http://h/\",\"headers\":{}}",
            "f:1: the line is no target: unknown field `headers`",
        ),
        (
            VegetaJson,
            "{\"method\":\"GET\",\"url\":\"http://h/\",\"body\":\"%\"}",
            "f:1: the body is not base64",
        ),
        (VegetaJson, "{\"a\u{7f}\":1}", "f:1: the line is no target: unknown field `a\u{fffd}`"),
        (
            Vegeta,
            "GET http://[f*80::2]/\n",
            "f:1: `http://[f*80::2]/` is no URL of HTTP: what stands in [brackets]",
        ),
        (VegetaJson, "{\"method\":\"G T\",\"url\":\"http://h/\"}", "f:1: `G T` is no method"),
        (
            VegetaJson,
            "{\"method\":\"GET\",\"url\":\"http://h/\",\"header\":{\"A\":[\"x\\r\\nB: y\"]}}",
            "f:1: the value of header field A",
        ),
        (
            Urls,
            "HOST=h\nhttp://$(HOTS)/\n",
            "f:2: the variable `HOTS` has no value\n  remedy: did you mean HOST?",
        ),
        (Urls, "http://h/a b\n", "f:1: `b` stands after the URL"),
        (Urls, "/a\n", "f:1: `/a` is a path, and no origin is known\n  remedy: say where it is: --origin"),
        (Urls, "http://h/ POST <\n", "f:1: the body's file has no name"),
        (Curl, "curl http://h/\nwget http://h/\n", "f:2: the command is `wget`, not curl"),
        (
            Curl,
            "\ncurl --heder x http://h/\n",
            "f:2: the flag `--heder` of curl is not known here\n  remedy: did you mean --header?",
        ),
        (Curl, "curl -d a=1\n", "f:1: the command has no URL"),
        (Curl, "curl 'http://h/[1-9]'", "f:1: curl would make several URLs"),
        (Curl, "curl http://h/ -d @a -d b", "f:1: one body of a file and a text"),
        (Curl, "curl http://h/ -d a -F b=c", "f:1: -d and -F exclude each other"),
        (Curl, "curl http://h/ -d @-", "f:1: -d reads standard input"),
        (Curl, "curl http://h/ -u bob", "f:1: -u has no password"),
        (Curl, "curl http://h/ -b jar.txt", "f:1: -b `jar.txt` names a file"),
        (Curl, "curl http://h/ -H 'a b'", "f:1: `a b` is no header field"),
        (Curl, "curl http://h/ -m x", "f:1: `x` is no time"),
        (Curl, "curl http://h/ -F 'a=<f'", "f:1: -F a=<FILE"),
        (Curl, "curl http://h/ --data-urlencode n@f", "f:1: --data-urlencode from a file"),
        (Curl, "curl ^\n  http://h/", "f:1: the line is quoted for cmd.exe"),
        (Har, "{\"log\":{\"version\":\"1.2\",\n\"entries\":[]}}", "f: the HAR has no entries\n  remedy: "),
        (Har, "{\n\"logs\":{}}", "f:2: this is no HAR: missing field `log`"),
        (Har, "{\"log\":{\"entries\":[\n{\"request\":", "f:2: this is no HAR: EOF"),
        (Har, "", "f:1: this is no HAR"),
        (
            Har,
            &entry("\"method\":\"GET\",\"url\":\"ftp://h/\""),
            "f:2: entry 1: `ftp://h/` is no URL of HTTP: only http:// and https://",
        ),
        (Har, &entry("\"method\":\"\",\"url\":\"http://h/\""), "f:2: entry 1: `` is no method"),
        (
            Har,
            &entry(
                "\"method\":\"P\",\"url\":\"http://h/\",\"postData\":{\"text\":\"%\",\"encoding\":\"base64\"}",
            ),
            "f:2: entry 1: its body is not base64",
        ),
    ] {
        refused(format, text, &Options::default(), expected);
    }
}

#[test]
fn mistakes_of_options_are_told_too() {
    let session = Options { session: true, ..Options::default() };
    let har = r#"{"log":{"entries":[
        {"startedDateTime":"soon","request":{"method":"GET","url":"http://h/"}}]}}"#;
    refused(Format::Har, har, &session, "f:2: entry 1: startedDateTime is `soon`");
    let elsewhere = Options { origin: Some("http://x".to_owned()), ..Options::default() };
    refused(
        Format::Urls,
        "http://h/",
        &elsewhere,
        "f: no request goes to http://x\n  remedy: leave the origin out, or give the commonest one: http://h:80",
    );
    let bad = Options { origin: Some("x".to_owned()), ..Options::default() };
    refused(Format::Urls, "http://h/", &bad, "f: `x` is no URL of HTTP");
}

#[test]
fn floods_are_refused_or_merged() {
    let distinct: String = (0..6000).map(|number| format!("http://h/{number}\n")).collect();
    refused(
        Format::Urls,
        &distinct,
        &Options::default(),
        "f:5001: there are more than 5000 different requests",
    );
    let same = "http://h/a\n".repeat(100_000);
    let imported = import(Format::Urls, "x", "f", &same, &Options::default()).unwrap();
    assert_eq!(imported.scenario.requests.len(), 1);
    let session = Options { session: true, ..Options::default() };
    refused(Format::Urls, &same, &session, "f:20001: the session has more than 20000 steps");
    let doubling: String = (0..40).map(|n| format!("A{}=$(A{n})$(A{n})\n", n + 1)).collect();
    refused(
        Format::Urls,
        &format!("A0=xxxxxxxx\n{doubling}"),
        &Options::default(),
        "f:14: with its variables",
    );
}

#[test]
fn names_are_unique_and_short() {
    let long = format!("http://h/{}", "x".repeat(200));
    let text = format!("http://h/a?1\nhttp://h/a?2\n{long}?1\n{long}?2\n");
    let imported = import(Format::Urls, "x", "f", &text, &Options::default()).unwrap();
    let names = names(&imported);
    assert_eq!(&names[..2], ["GET /a", "GET /a 2"]);
    assert!(
        names[2].ends_with('…') && names[3].ends_with("… 2") && names[3].chars().count() < 90,
        "{names:?}"
    );
}

#[test]
fn formats_are_read_by_their_keys() {
    for format in Format::ALL {
        assert_eq!(format.key().parse(), Ok(format));
    }
    assert!("gatling".parse::<Format>().unwrap_err().to_string().contains("vegeta-json"));
}

/// All that the schema can say, though no import makes it: `to_toml` is for any scenario.
#[test]
fn every_key_is_written_so_that_it_is_read_again() {
    let text = r#"
schema = "prony.scenario/1"
name = "full"
description = "quotes \" and \\ and 'both' '''three''' \u007f \t"
[vars]
"odd key\n\u007f" = "zipf(1, 100, 1.1)"
id = "uuid4()"
[feeders.users]
file = "users.csv"
columns = []
order = "unique"
[tokens.t]
algorithm = "HS256"
secret = "s"
claims = { sub = "${id}", roles = ["a", "b"], deep = { list = [], n = 1.0 } }
expires_at_least = "30s"
[session]
steps = []
think = { law = "normal", mean = "1s", sd = "200ms" }
connection = "pool"
on_failure = "go_on"
[[requests]]
name = "one"
path = "/a"
weight = 0.5
form = {}
body = """
two
lines ''' and \"\"\" """
timeout = "1s"
think = "250ms"
[requests.headers]
Accept = "a very long value that makes the table long: text/html, application/xhtml+xml, application/xml;q=0.9"
X-Empty = ""
[requests.expect]
status = [200, "3xx"]
contains = ["x"]
json_equals = { "/a" = 1, "/b" = [1.5, "x", { c = true }] }
length = { at_least = 1 }
[requests.capture]
token = { json = "/token", default = "" }
[[requests]]
name = "call"
grpc = { method = "p.S/M", proto = ["p.proto"], message = { id = "${id}" }, metadata = { a = "b" }, deadline = "1s", compress = "gzip" }
expect = { grpc_status = ["OK", 5] }
[[requests]]
name = "two"
path = "/b"
multipart = [{ name = "f", file = "a.bin" }, { name = "t", text = "x" }]
"#;
    let scenario: ScenarioFile =
        schema::text::parse_toml("x.toml", text).unwrap_or_else(|error| panic!("{error}"));
    round_trip(&scenario);
    let single =
        "schema = \"prony.scenario/1\"\nname = \"s\"\n[request]\npath = \"/\"\n[expect]\nbody = \"\"\n";
    round_trip(&schema::text::parse_toml("x.toml", single).unwrap());
}

/// The guide's scenario is one, and says what its k6 script says.
#[test]
fn the_scenario_of_the_guide_is_read() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/from-other-tools.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let (_, after) = guide.split_once("```toml\n").unwrap();
    let text = after.split("```").next().unwrap();
    let scenario: ScenarioFile = schema::text::parse_toml("guide", text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scenario.requests[1].think, Some(Think::Constant { mean: Nanos(1_000_000_000) }));
    assert!(scenario.requests[0].capture.contains_key("token") && scenario.session.is_some());
    round_trip(&scenario);
    let (_, shape) = guide.split_once("--shape 'piecewise").unwrap();
    let shape = format!("piecewise{}", shape.split('\'').next().unwrap());
    shape.parse::<schema::arrival::Shape>().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn pauses_are_written_short() {
    let options = Options { session: true, ..Options::default() };
    let text = to_toml(&imported_with(Format::Har, "shop.har", &options).scenario);
    assert!(text.contains("\nthink = \"4770ms\"\n"), "{text}");
}

#[test]
fn the_text_is_for_people() {
    let text = to_toml(&imported(Format::VegetaJson, "targets.vegeta.json").scenario);
    let expected = fixture("expected.toml");
    assert_eq!(text, expected, "{text}");
}

#[test]
fn entries_of_a_har_without_an_answer_are_left_out_and_counted() {
    let entry = |path: &str, response: &str| {
        format!(r#"{{"request":{{"method":"GET","url":"http://h/{path}"}}{response}}}"#)
    };
    let entries = [
        entry("taken", r#","response":{"status":200}"#),
        entry("aborted", r#","response":{"status":0}"#),
        entry("blocked", r#","response":{"status":-1}"#),
        entry("no-response", ""),
    ];
    let text = format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(","));
    let imported = import::import(Format::Har, "x", "x.har", &text, &Options::default()).unwrap();
    let paths: Vec<&str> = imported.scenario.requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/taken", "/no-response"]);
    has_note(&imported, "entries without an answer (aborted or blocked, status 0) left out: 2");
}

/// Both forms of a configuration of ghz say the same; what has no equal is named.
#[test]
fn configurations_of_ghz_are_calls() {
    let json = r#"{
        "call": "shop.Cart.Add", "proto": "cart.proto", "import-paths": ["api"], "insecure": true,
        "host": "127.0.0.1:50051", "total": 1000, "concurrency": 40, "connections": 4, "rps": 50,
        "data": {"id": 7, "name": "${x}"}, "metadata": {"X-Id": "1"}, "timeout": "500ms", "output": "r.html"
    }"#;
    let toml = "call = \"shop.Cart.Add\"\nproto = \"cart.proto\"\nimport-paths = [\"api\"]\ninsecure = true\n\
        host = \"127.0.0.1:50051\"\ntotal = 1000\nconcurrency = 40\nconnections = 4\nrps = 50\n\
        timeout = \"500ms\"\noutput = \"r.html\"\n[data]\nid = 7\nname = \"${x}\"\n[metadata]\nX-Id = \"1\"\n";
    for (file, text) in [("ghz.json", json), ("ghz.toml", toml)] {
        assert_eq!(detect(file, text), Some(Format::Ghz), "{file}");
        let imported = import(Format::Ghz, "cart", file, text, &Options::default()).unwrap();
        round_trip(&imported.scenario);
        assert_eq!(imported.origin, "http://127.0.0.1:50051");
        assert_eq!(imported.load.join(" "), "-c 4 --streams 10 -n 1000 -R 50");
        let grpc = request(&imported, "Add").grpc.clone().unwrap();
        assert_eq!(
            (&*grpc.method, &grpc.proto[..], &grpc.import_path[..]),
            ("shop.Cart.Add", &["cart.proto".to_owned()][..], &["api".to_owned()][..])
        );
        assert_eq!(grpc.message, Some(serde_json::Value::String(r#"{"id":7,"name":"$${x}"}"#.into())));
        assert_eq!(grpc.metadata["x-id"], "1");
        assert_eq!(grpc.deadline, Some(units::Nanos::from_millis(500)));
        assert_eq!((grpc.messages, grpc.message_rate, grpc.stream_for), (None, None, None));
        has_note(&imported, "left out: `output`: 1");
    }
    let stream = r#"{"call": "shop.Cart.Chat", "proto": "cart.proto", "stream-call-count": 9, "stream-interval": "20ms",
        "stream-call-duration": "3s"}"#;
    let imported = import(Format::Ghz, "cart", "ghz.json", stream, &Options::default()).unwrap();
    let grpc = request(&imported, "Chat").grpc.clone().unwrap();
    let seconds = Some(units::Nanos::from_millis(3_000));
    assert_eq!(
        (grpc.messages, grpc.message_rate.map(|rate| rate.0), grpc.stream_for),
        (Some(9), Some(50.0), seconds)
    );
    let none = stream.replace('9', "0").replace("20ms", "0").replace("3s", "0s");
    let imported = import(Format::Ghz, "cart", "ghz.json", &none, &Options::default()).unwrap();
    let grpc = request(&imported, "Chat").grpc.clone().unwrap();
    assert_eq!(
        (grpc.messages, grpc.message_rate, grpc.stream_for),
        (None, None, None),
        "zeros are ghz's defaults"
    );
    for (text, cause) in [
        ("{", "f:1: not JSON"),
        ("a =", "f:1: not TOML"),
        ("{}", "f: there is no `call`"),
        (r#"{"call": 1}"#, "f: `call` is"),
        (r#"{"call": "p.S/M", "data": [{}]}"#, "f: `data` is a list of messages"),
        (r#"{"call": "p.S/M", "data": "{{.UUID}}"}"#, "f: `{{.UUID}}` holds a template of Go"),
        (r#"{"call": "p.S/M", "total": 0}"#, "f: `total` is"),
        (r#"{"call": "p.S/M", "timeout": "soon"}"#, "f: `timeout` is"),
        (r#"{"call": "p.S/M", "host": "a b"}"#, "f: `https://a b` is no URL of HTTP"),
        (r#"{"call": "p.S/M", "metadata": {"a": 1}}"#, "f: `a` is"),
    ] {
        refused(Format::Ghz, text, &Options::default(), cause);
    }
}
