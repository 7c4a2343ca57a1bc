//! Collections of Postman, documents of OpenAPI and scripts of k6: what becomes of each part, and that nothing is dropped
//! without a word.

use import::{Format, Imported, Options, detect, import, to_toml};
use schema::arrival::Think;
use schema::scenario::{Capture, NamedRequest, OnFailure, ScenarioFile, StatusItem};
use serde_json::json;
use std::path::Path;
use units::Nanos;

fn read(format: Format, name: &str, options: &Options) -> Imported {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(detect("x.txt", &text), Some(format));
    let imported = import(format, "x", name, &text, options).unwrap_or_else(|error| panic!("{error}"));
    let written = to_toml(&imported.scenario);
    let again =
        ScenarioFile::from_toml("x.toml", &written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    let value = |scenario: &ScenarioFile| serde_json::to_value(scenario).unwrap();
    assert_eq!(value(&again), value(&imported.scenario), "{written}");
    imported
}

fn refused(format: Format, text: &str, line: Option<usize>, parts: &[&str]) {
    let error = import(format, "x", "f", text, &Options::default()).expect_err(text);
    assert_eq!(error.line, line, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "no `{part}` in {error}");
    }
}

fn request<'a>(imported: &'a Imported, name: &str) -> &'a NamedRequest {
    let names: Vec<&str> = imported.scenario.requests.iter().map(|request| request.name.as_str()).collect();
    let found = imported.scenario.requests.iter().find(|request| request.name == name);
    found.unwrap_or_else(|| panic!("{name} is not among {names:?}"))
}

fn names(imported: &Imported) -> Vec<&str> {
    imported.scenario.requests.iter().map(|request| request.name.as_str()).collect()
}

fn header<'a>(request: &'a NamedRequest, name: &str) -> Option<&'a str> {
    request.headers.get(name).map(String::as_str)
}

fn has_notes(imported: &Imported, wanted: &[&str]) {
    for wanted in wanted {
        assert!(imported.notes.iter().any(|note| note.contains(wanted)), "{wanted}: {:#?}", imported.notes);
    }
}

fn json_at(pointer: &str) -> Capture {
    Capture { json: Some(pointer.to_owned()), ..Capture::default() }
}

#[test]
fn a_collection_becomes_a_session_where_values_are_taken_from_answers() {
    let shop = read(Format::Postman, "shop.postman.json", &Options::default());
    assert_eq!(shop.origin, "http://127.0.0.1:8080");
    assert_eq!(names(&shop), ["Accounts / Log in", "Item", "Buy", "Upload", "Query"]);
    assert_eq!(shop.scenario.session.as_ref().map(|session| session.on_failure), Some(OnFailure::GoOn));
    let login = request(&shop, "Accounts / Log in");
    assert_eq!(login.path, "/login?from={{missing}}");
    assert_eq!(login.body.as_deref(), Some(r#"{"user":"bob","price":"$${5}"}"#));
    assert_eq!(header(login, "Content-Type"), Some("application/json"));
    assert_eq!((header(login, "X-Id"), header(login, "X-Off")), (Some("${uuid4()}"), None));
    assert_eq!(login.expect.status, [StatusItem::Code(200)]);
    assert_eq!(login.expect.json_equals, [("/user/name".to_owned(), json!("bob"))].into());
    assert_eq!(login.capture, [("token".to_owned(), json_at("/token"))].into());
    let item = request(&shop, "Item");
    assert_eq!(
        (item.path.as_str(), header(item, "Authorization")),
        ("/items/42?full=true", Some("Bearer ${token}"))
    );
    let buy = request(&shop, "Buy");
    assert_eq!(buy.path, "/orders?api_key=a+b");
    assert_eq!(buy.form, Some([("item".to_owned(), "42".to_owned())].into()));
    let upload = request(&shop, "Upload");
    assert_eq!(header(upload, "Authorization"), Some("Basic YW5uOnB3"));
    let parts = upload.multipart.as_ref().unwrap();
    assert_eq!((parts[0].text.as_deref(), parts[1].file.as_deref()), (Some("hi"), Some("photo.png")));
    assert_eq!(request(&shop, "Query").body.as_deref(), Some(r#"{"query":"{ me }","variables":{"a":1}}"#));
    has_notes(
        &shop,
        &[
            "variables that nothing in the collection sets, sent as they stand: `{{missing}}`: 1",
            "left out: the prerequest script of `Accounts / Log in`",
            "left out: line 7 of the test script of `Accounts / Log in`, a condition, with all below it: `if (answer.old)",
            "left out: line 13 of the test script of `Accounts / Log in`, prony has no such check",
            "left out: the `oauth2` authorization of `Query`",
            "requests to https://elsewhere.test:443 left out",
            "header fields that prony sets itself left out",
            "the requests are a session in their order",
        ],
    );
}

#[test]
fn a_collection_without_captured_values_is_a_mix_unless_its_order_is_asked_for() {
    let text = |extra: &str| {
        format!(
            r#"{{"info":{{"schema":"https://schema.getpostman.com/json/collection/v2.0.0/collection.json"}},
                "item":[{{"name":"a","request":"{{{{base}}}}/a"}},{{"name":"a","request":{{"url":"http://h/b"{extra}}}}}]}}"#
        )
    };
    let options = Options { origin: Some("http://h".to_owned()), ..Options::default() };
    let mix = import(Format::Postman, "x", "f", &text(""), &options).unwrap();
    assert_eq!((mix.scenario.session.is_none(), names(&mix)), (true, vec!["a", "a 2"]));
    let session =
        import(Format::Postman, "x", "f", &text(""), &Options { session: true, ..options }).unwrap();
    assert!(session.scenario.session.is_some());
    refused(Format::Postman, &text(""), None, &["`a`: the server of `{{base}}/a` is not known", "--origin"]);
    refused(Format::Postman, "{\"item\":\n5}", Some(2), &["no collection of Postman", "v2.1"]);
    refused(Format::Postman, "{\"item\":[]}", None, &["no request"]);
    let deep = format!("{}{}", "{\"item\":[".repeat(200), "]}".repeat(200));
    refused(Format::Postman, &deep, Some(1), &["no collection of Postman"]);
}

#[test]
fn operations_become_requests_with_the_documents_examples() {
    let shop = read(Format::Openapi, "shop.openapi.json", &Options::default());
    assert_eq!(shop.origin, "http://127.0.0.1:8080");
    assert_eq!(names(&shop), ["listItems", "POST /items", "GET /items/{id}", "POST /login"]);
    assert!(shop.scenario.session.is_none());
    let list = request(&shop, "listItems");
    assert_eq!(list.path, "/v1/items?page=1&tags=a+b&tags=c");
    assert_eq!((header(list, "Cookie"), header(list, "Accept")), (Some("lang=en"), Some("application/json")));
    assert_eq!(list.expect.status, [StatusItem::Code(200)]);
    let made = request(&shop, "POST /items");
    assert_eq!(made.body.as_deref(), Some(r#"{"name":"string","price":0.5}"#));
    assert_eq!(header(made, "Content-Type"), Some("application/json; charset=utf-8"));
    assert_eq!(made.expect.status, [StatusItem::Range("2xx".to_owned())]);
    assert_eq!(request(&shop, "GET /items/{id}").path, "/v1/items/a%2F7");
    let login = request(&shop, "POST /login").form.as_ref().unwrap();
    assert_eq!((login["user"].as_str(), login["price"].as_str()), ("bob", "$${5}"));
    has_notes(
        &shop,
        &[
            "left out: DELETE /items/{id}, its query parameter `reason` has no example",
            "left out: POST /photos, its body is `image/png`",
            "header parameters that are not required and have no example left out: `X-Trace` of GET /items",
            "credentials left out, add a header field or a token pool: `key` of POST /items",
            "servers beside the first left out: 1",
        ],
    );
    refused(
        Format::Openapi,
        "{\"openapi\":\"3.1.0\",\"paths\":{\"/a\":{\"get\":{}}}}",
        None,
        &["names no server", "--origin"],
    );
    refused(Format::Openapi, "openapi: 3.0.0\n", Some(1), &["no JSON", "yq -o=json"]);
    refused(Format::Openapi, "{\"swagger\":\"2.0\"}", None, &["this is Swagger 2.0"]);
}

#[test]
fn a_script_becomes_a_session_and_the_arguments_of_its_load() {
    let shop = read(Format::K6, "shop.k6.js", &Options::default());
    assert_eq!(shop.origin, "http://127.0.0.1:8080");
    assert_eq!(names(&shop), ["POST /login", "cart / cart", "PUT /orders", "DELETE /session"]);
    let login = request(&shop, "POST /login");
    assert_eq!(login.body.as_deref(), Some(r#"{"user":"bob","id":"${uuid4()}","n":3}"#));
    assert_eq!(header(login, "Content-Type"), Some("application/json"));
    assert_eq!(
        (&login.expect.status[..], &login.expect.json_has[..]),
        (&[StatusItem::Code(200)][..], &["/token".to_owned()][..])
    );
    assert_eq!(login.expect.json_equals, [("/user/name".to_owned(), json!("bob"))].into());
    let cart = Capture { header: Some("X-Cart".to_owned()), ..Capture::default() };
    assert_eq!(login.capture, [("token".to_owned(), json_at("/token")), ("X_Cart".to_owned(), cart)].into());
    let cart = request(&shop, "cart / cart");
    assert_eq!(
        (cart.path.as_str(), header(cart, "Authorization")),
        ("/cart?q=$${x}", Some("Bearer ${token}"))
    );
    assert_eq!(cart.think, Some(Think::Uniform { from: Some(Nanos::SECOND), to: Nanos::from_secs(3) }));
    assert_eq!(cart.expect.contains, ["\"items\""]);
    let order = request(&shop, "PUT /orders");
    assert_eq!(order.form.as_ref().unwrap()["cart"], "${X_Cart}");
    assert_eq!(
        (order.timeout, &order.expect.status[..]),
        (Some(Nanos::from_secs(5)), &[StatusItem::Range("200-299".to_owned())][..])
    );
    assert_eq!(
        request(&shop, "DELETE /session").think,
        Some(Think::Constant { mean: Nanos::from_millis(500) })
    );
    assert_eq!(
        shop.load,
        [
            "-R 10",
            "-c 50",
            "--max-connections 500",
            "--shape 'piecewise:0s@10,60s@100,240s@100,270s@10'",
            "-d 270s",
            "--fail 'p99>=250ms'",
            "--fail 'errors>=1%'",
            "--insecure"
        ]
    );
    has_notes(
        &shop,
        &[
            "environment variables replaced by their defaults: __ENV.BASE_URL",
            "left out: check `quick` (line 47), a time is limited by --fail",
            "left out: check `odd` (line 53), prony has no such check",
            "left out: if (line 54), a session has no conditions, with all below it: 1",
            "left out: for (line 58), a session has no loops, with all below it: 1",
            "left out: trend.add(…) (line 63)",
            "left out: the threshold `http_req_duration: p(97)<200` (line 11)",
            "left out: the threshold `checkout: avg<100` (line 11)",
            "left out: the option userAgent (line 11)",
            "left out: setup(), prepare the target before the load",
            "requests to https://cdn.example:443 left out",
        ],
    );
}

fn k6(script: &str) -> Imported {
    let text = format!("import http from 'k6/http';\n{script}");
    import(Format::K6, "x", "f", &text, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn options_of_k6_become_arguments() {
    let get = "export default function () { http.get('http://h/'); sleep(1); }";
    for (options, wanted) in [
        ("vus: 5, duration: '1m30s'", "-c 5 -d 90s --think '1s'"),
        ("vus: 5, iterations: 100", "-c 5 -n 100 --think '1s'"),
        (
            "scenarios: { a: { executor: 'per-vu-iterations', vus: 5, iterations: 20 } }",
            "-c 5 -n 100 --think '1s'",
        ),
        (
            "stages: [{ duration: '30s', target: 20 }, { duration: '1m', target: 0 }], noConnectionReuse: true",
            "-c 20 -d 90s --disable-keepalive --think '1s'",
        ),
        (
            "scenarios: { a: { executor: 'constant-arrival-rate', rate: 120, timeUnit: '1m', duration: '1m', preAllocatedVUs: 9 } }",
            "-R 2 -c 9 -d 60s",
        ),
        ("", "--think '1s'"),
    ] {
        let imported = k6(&format!("export const options = {{ {options} }};\n{get}"));
        assert_eq!(imported.load.join(" "), wanted, "{options}");
        assert!(imported.scenario.session.is_none(), "one request needs no session");
    }
    has_notes(
        &k6(&format!("export let options = {{ stages: [{{ duration: '1s', target: 2 }}] }};\n{get}")),
        &["changed: the stages (line 2)"],
    );
}

#[test]
fn scenarios_batches_and_mistakes_of_scripts() {
    let two = "export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', exec: 'one' },\n\
               b: { executor: 'constant-vus', vus: 2, duration: '2s', exec: 'two' } } };\n\
               export function one() { http.get('http://h/1'); }\n\
               export const two = () => { const all = http.batch(['http://h/2', ['POST', 'http://h/3', 'x']]); \
               check(all[1], { ok: (r) => r.status == 201 }); };\n";
    let text = format!("import http from 'k6/http';\n{two}");
    let of = |group: Option<&str>| {
        let options = Options { group: group.map(str::to_owned), ..Options::default() };
        import(Format::K6, "x", "f", &text, &options)
    };
    let both = of(None).unwrap_err();
    assert_eq!((both.line, both.to_string().contains("`a`, `b`")), (Some(2), true), "{both}");
    let second = of(Some("b")).unwrap();
    assert_eq!((names(&second), second.load.join(" ")), (vec!["GET /2", "POST /3"], "-c 2 -d 2s".to_owned()));
    assert_eq!(request(&second, "POST /3").expect.status, [StatusItem::Code(201)]);
    has_notes(&second, &["left out: the scenario `a`", "requests of http.batch, sent one after the other"]);
    assert!(of(Some("c")).unwrap_err().to_string().contains("name one of: `a`, `b`"));
    refused(Format::K6, "import http from 'k6/http';\nlet x = 'a\n", Some(2), &["does not end on its line"]);
    refused(Format::K6, "import http from 'k6/http';", None, &["no function `default`"]);
    refused(
        Format::K6,
        "import http from 'k6/http';\nexport default function () {\n  http.get(`${__ENV.HOST}/a`);\n}",
        Some(3),
        &["is not known before the load", "--origin"],
    );
    let chained =
        k6("export default function () {\n  const token = http.post('http://h/login').json('token');\n  \
                      http.get(`http://h/a?t=${token}`);\n}");
    assert_eq!(
        (names(&chained), chained.scenario.requests[1].path.as_str()),
        (vec!["POST /login", "GET /a"], "/a?t=${token}")
    );
    let endless = "function a() { a(); }\nexport default function () { a(); http.get('http://h/'); }";
    has_notes(&k6(endless), &["a(…) (line 2), functions call each other too deeply"]);
    let late = k6("export default function () { http.get('http://h/' + __VU); }");
    assert_eq!(late.scenario.requests[0].path, "/$${__VU}");
    has_notes(
        &late,
        &["expressions whose value is not known before the load, sent as they stand: `${__VU}`: 1"],
    );
}

#[test]
fn scripts_that_would_never_end_or_fit_are_refused_or_cut() {
    let user = |statements: &str| {
        format!(
            "export default function () {{ http.get('http://h/');\n{statements}\nhttp.post('http://h/b', `${{a}}`); }}"
        )
    };
    // Each line doubles what is there; each makes it one deeper; a text of two is as long as both.
    for line in ["a = [a, a];\n", "a = { x: a, y: a };\n", "a = [a];\n", "a = a + a;\n", "a = `${a}${a}`;\n"]
    {
        let made = k6(&user(&format!("let a = 'abcdefgh';\n{}", line.repeat(20_000))));
        assert!(request_bytes(&made) < 64 << 20, "{line}");
    }
    let arguments = |of: &str| vec![of; 100].join(",");
    let parameters = (0..100).map(|at| format!("p{at}")).collect::<Vec<_>>().join(",");
    let wide = (0..8).map(|at| {
        format!(
            "function f{at}({parameters}) {{ return f{}({}); }}\n",
            at + 1,
            arguments(&format!("f{}()", at + 1))
        )
    });
    let wide = wide.collect::<String>() + &user("f0();");
    refused(Format::K6, &format!("import http from 'k6/http';\n{wide}"), Some(8), &["without end"]);
    // As deep as a script may be, in each of the functions that call each other.
    let deep = |of: &str| format!("{}{of}{}", "g(".repeat(40), ")".repeat(40)) + &".x".repeat(250);
    let chain: String =
        (0..9).map(|at| format!("function f{at}(p) {{ {}; }}\n", deep(&format!("f{}()", at + 1)))).collect();
    let made = k6(&format!("function g(p) {{ return p; }}\n{chain}{}", user("f0();")));
    assert_eq!(made.scenario.requests.len(), 2);
    let long = ".length".repeat(200);
    has_notes(
        &k6(&user(&format!(
            "check(http.get('http://h/'), {{ long: (r) => r.json(){long} == r.body{long} }});"
        ))),
        &["left out: check `long`"],
    );
    let huge = k6(&user(
        "check(http.get('http://h/c'), { l: (r) => r.body.length > 1e300, s: (r) => r.status >= 700 });",
    ));
    assert_eq!(request(&huge, "GET /c").expect.length.unwrap().at_least, Some(u64::MAX));
    has_notes(&huge, &["check `s` (line 3), no status is between its bounds"]);
}

#[test]
fn small_files_of_enormous_values_are_cut() {
    let mut variables = vec![json!({ "key": "v0", "value": "0123456789".repeat(100) })];
    for at in 1..8 {
        variables
            .push(json!({ "key": format!("v{at}"), "value": format!("{{{{v{}}}}}", at - 1).repeat(1_000) }));
    }
    let request = json!({ "method": "POST", "url": "http://h/", "body": { "mode": "raw", "raw": "{{v7}}" } });
    let collection = json!({ "item": [{ "name": "a", "request": request }], "variable": variables });
    let made = import(Format::Postman, "x", "f", &collection.to_string(), &Options::default()).unwrap();
    assert!(request_bytes(&made) < 128 << 20);
    has_notes(&made, &["variables that nothing in the collection sets"]);
    let mut schema = json!({ "type": "string", "minLength": 1_000 });
    for _ in 0..8 {
        schema = json!({ "type": "array", "minItems": 1_024, "items": schema });
    }
    let body = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    let document = json!({ "openapi": "3.1.0", "servers": [{ "url": "http://h" }],
        "paths": { "/a": { "get": {}, "post": { "requestBody": body } } } });
    let made = import(Format::Openapi, "x", "f", &document.to_string(), &Options::default()).unwrap();
    has_notes(&made, &["left out: POST /a, its body has no example"]);
}

fn request_bytes(made: &Imported) -> usize {
    made.scenario.requests.iter().filter_map(|one| Some(one.body.as_ref()?.len())).sum()
}
