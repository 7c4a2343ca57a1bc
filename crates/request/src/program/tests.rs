//! Whole programs: determinism over workers, framing, mixes, sessions.

use super::*;
use proptest::prelude::*;
use schema::plan::{RequestPlan, SessionPlan};
use schema::scenario::{Feeder, FeederOrder};
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::Http1;

pub(crate) fn entry(name: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> EntryPlan {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let request =
        RequestPlan { method: method.into(), path: path.into(), headers, body: body.as_bytes().to_vec() };
    EntryPlan { name: name.into(), weight: 1.0, request, is_template: true, ..EntryPlan::default() }
}

pub(crate) fn plan(requests: Vec<EntryPlan>, vars: &[(&str, &str)]) -> ScenarioPlan {
    let vars = vars.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    ScenarioPlan { name: "test".into(), requests, vars, ..ScenarioPlan::default() }
}

pub(crate) fn compile(plan: &ScenarioPlan) -> Result<Arc<Framed<Http1>>, ProgramError> {
    let env = |name: &str| (name == "STAGE").then(|| "test".to_owned());
    let surroundings =
        Surroundings { env: &env, clock: || Duration::from_millis(1_700_000_000_123), tracing: None };
    let program = Program::compile_in(plan, "h:1", 42, &surroundings)?;
    Framed::new(&Arc::new(program))
}

/// The first `count` requests in global order, made by `workers`.
pub(crate) fn made(program: &Arc<Framed<Http1>>, workers: u32, count: u64) -> Vec<Vec<u8>> {
    let mut makers: Vec<Maker<Http1>> =
        (0..workers).map(|worker| Maker::new(program.clone(), worker, workers)).collect();
    let lasting = program.lasting_bytes();
    let mut out = Vec::new();
    (0..count)
        .map(|global| {
            let maker = &mut makers[(global % u64::from(workers)) as usize];
            let made = maker.make(global / u64::from(workers), None, &mut out).unwrap();
            made.bytes.lasting().map_or_else(|| out.clone(), |range| lasting[range].to_vec())
        })
        .collect()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn the_number_of_workers_changes_no_byte() {
    let mut requests = vec![
        entry("read", "GET", "/user/${user_id % 1000}?k=${key}", &[], ""),
        entry(
            "write",
            "POST",
            "/u",
            &[("X-Id", "${uuid4()} ${uuid7()}")],
            "{\"n\":${counter()},\"z\":${zipf(1,99,1.1)}}",
        ),
        entry("fixed", "GET", "/fixed", &[], ""),
    ];
    requests[0].weight = 3.0;
    let plan = plan(requests, &[("key", "sha256(user_id % 1000)"), ("user_id", "uniform(1, 1000000)")]);
    let one = made(&compile(&plan).unwrap(), 1, 300);
    for workers in [2, 5] {
        assert_eq!(made(&compile(&plan).unwrap(), workers, 300), one, "{workers} workers");
    }
    let other_seed = Framed::new(&Arc::new(Program::compile(&plan, "h:1", 43).unwrap())).unwrap();
    assert_ne!(made(&other_seed, 1, 300), one);
    let user = |request: &[u8]| text(request).strip_prefix("GET /user/").map(|rest| rest[..3].to_owned());
    let users: BTreeSet<_> = one.iter().filter_map(|request| user(request)).collect();
    assert!(users.len() > 100, "requests differ: {}", users.len());
}

#[test]
fn a_var_is_drawn_once_for_each_request() {
    let plan = plan(vec![entry("a", "GET", "/${id}/${id}", &[("X", "${id}")], "")], &[("id", "hex(16)")]);
    for request in made(&compile(&plan).unwrap(), 1, 20) {
        let request = text(&request);
        let id = &request[5..21];
        assert_eq!(request, format!("GET /{id}/{id} HTTP/1.1\r\nHost: h:1\r\nX: {id}\r\n\r\n"));
    }
}

#[test]
fn counters_never_repeat() {
    let paths = "/${counter()}/${worker_counter()}/${worker()}";
    let program = compile(&plan(vec![entry("a", "GET", paths, &[], "")], &[])).unwrap();
    let requests = made(&program, 3, 100);
    for (global, request) in requests.iter().enumerate() {
        let expected = format!("GET /{}/{}/{} ", global, global / 3, global % 3);
        assert!(text(request).starts_with(&expected), "{} {expected}", text(request));
    }
}

#[test]
fn a_mix_follows_its_weights() {
    let mut requests: Vec<_> =
        (0..4).map(|i| entry(&i.to_string(), "GET", &format!("/{i}"), &[], "")).collect();
    for (request, weight) in requests.iter_mut().zip([0.0, 3.0, 0.0, 1.0]) {
        request.weight = weight;
    }
    let program = compile(&plan(requests.clone(), &[])).unwrap();
    let requests_made = made(&program, 2, 8000);
    let count = |path: &str| requests_made.iter().filter(|request| text(request).starts_with(path)).count();
    assert_eq!(count("GET /0") + count("GET /2"), 0, "a weight of 0 is never chosen");
    // Five standard deviations of a binomial count.
    assert!((count("GET /1") as f64 - 6000.0).abs() < 5.0 * (8000.0_f64 * 0.75 * 0.25).sqrt());
    assert!(program.constant().is_none());
    requests[1].weight = 0.0;
    let program = compile(&plan(requests, &[])).unwrap();
    assert_eq!(program.constant().map(|made| made.entry), Some(3), "only one can be chosen");
}

#[test]
fn bad_weights_are_refused() {
    for (weights, key) in [
        ([0.0, 0.0], "requests.0.weight"),
        ([1.0, -1.0], "requests.1.weight"),
        ([f64::NAN, 1.0], "requests.0.weight"),
    ] {
        let mut requests = vec![entry("a", "GET", "/", &[], ""), entry("b", "GET", "/", &[], "")];
        requests.iter_mut().zip(weights).for_each(|(request, weight)| request.weight = weight);
        assert_eq!(compile(&plan(requests, &[])).unwrap_err().key, key);
    }
    assert_eq!(compile(&plan(vec![], &[])).unwrap_err().key, "requests");
}

/// Entries whose expressions yield constants must be those that `wire` encodes.
#[test]
fn rendered_requests_are_framed_as_fixed_ones() {
    for (method, path, headers, body) in [
        ("GET", "/", &[][..], ""),
        ("POST", "/a", &[("X-A", "b"), ("Cookie", "c=d")], ""),
        ("POST", "/a", &[], "body"),
        ("DELETE", "/a", &[("host", "other")], "x"),
        ("PUT", "/a", &[("Content-Length", "1")], "x"),
    ] {
        let fixed = compile(&plan(vec![entry("a", method, path, headers, body)], &[])).unwrap();
        assert!(fixed.constant().is_some(), "{method}");
        // `worker()` is 0 here, but not known when compiling.
        let open_path = format!("{path}${{lower(pad('', worker()))}}");
        let open = compile(&plan(vec![entry("a", method, &open_path, headers, body)], &[])).unwrap();
        assert!(open.constant().is_none());
        assert_eq!(made(&open, 1, 1), made(&fixed, 1, 1), "{method} {path}");
        if headers.iter().all(|(name, _)| *name != "Content-Length") && !body.is_empty() {
            let open_body = format!("{body}${{lower(pad('', worker()))}}");
            let open = compile(&plan(vec![entry("a", method, path, headers, &open_body)], &[])).unwrap();
            assert_eq!(made(&open, 1, 1), made(&fixed, 1, 1), "{method} {path}");
        }
    }
}

#[test]
fn fixed_requests_last_and_literals_stay() {
    let mut plain = entry("plain", "HEAD", "/${no}", &[], "");
    plain.is_template = false;
    plain.timeout_ns = Some(5);
    let program =
        compile(&plan(vec![plain, entry("env", "GET", "/$${x}${env('STAGE')}", &[], "")], &[])).unwrap();
    assert_eq!(
        text(&program.lasting_bytes()),
        "HEAD /${no} HTTP/1.1\r\nHost: h:1\r\n\r\nGET /${x}test HTTP/1.1\r\nHost: h:1\r\n\r\n"
    );
    assert_eq!((program.program().is_head(0), program.program().is_head(1)), (true, false));
    assert_eq!(
        (program.program().timeout_ns(0), program.program().timeout_ns(1), program.program().timeout_ns(9)),
        (Some(5), None, None)
    );
    assert_eq!(program.program().names(), ["plain", "env"]);
    let mut out = b"untouched".to_vec();
    Maker::new(program.clone(), 0, 1).make(0, None, &mut out).unwrap();
    assert_eq!(out, b"untouched", "lasting bytes are not copied");
}

#[test]
fn what_would_break_the_framing_is_refused_or_encoded() {
    let evil = "choose(\"a b\\r\\nX: y\\t\u{e4}\")";
    let program = compile(&plan(vec![entry("a", "GET", &format!("/${{{evil}}}"), &[], "")], &[])).unwrap();
    assert!(text(&made(&program, 1, 1)[0]).starts_with("GET /a%20b%0D%0AX:%20y%09%C3%A4 HTTP/1.1\r\n"));
    let header = format!("${{{evil}}}");
    let program = compile(&plan(vec![entry("a", "GET", "/", &[("X-A", &header)], "")], &[])).unwrap();
    let error = Maker::new(program.clone(), 0, 1).make(0, None, &mut Vec::new()).unwrap_err();
    assert_eq!(error, MakeError { entry: 0, cause: MakeCause::ControlInHeader });
    assert_eq!(
        program.program().explain(&error),
        "request `a`: a rendered header value has a control character"
    );
    for (path, is_good) in [("${choose('/a')}", true), ("${choose('a')}", false), ("${choose('')}", false)] {
        let program = compile(&plan(vec![entry("a", "GET", path, &[], "")], &[])).unwrap();
        let result = Maker::new(program.clone(), 0, 1).make(0, None, &mut Vec::new());
        assert_eq!(
            result.map_err(|error| error.cause).err(),
            (!is_good).then_some(MakeCause::NotAPath),
            "{path}"
        );
    }
}

#[test]
fn mistakes_name_their_key() {
    let check = |entry: EntryPlan, vars: &[(&str, &str)], key: &str, cause: &str| {
        let error = compile(&plan(vec![entry], vars)).unwrap_err();
        assert!(error.key == key && error.cause.contains(cause), "{error}");
    };
    check(entry("a", "GET", "/ä${worker()}", &[], ""), &[], "requests.0.path", "not a valid request target");
    check(entry("a", "GET", "x${worker()}", &[], ""), &[], "requests.0.path", "not a valid request target");
    check(entry("a", "G T", "/", &[], ""), &[], "requests.0.method", "not a valid method");
    check(
        entry("a", "GET", "/", &[("X Y", "${worker()}")], ""),
        &[],
        "requests.0.headers.X Y",
        "not a valid header",
    );
    check(entry("a", "GET", "/", &[("X", "a\nb${worker()}")], ""), &[], "requests.0.headers.X", "control");
    check(
        entry("a", "GET", "/", &[("X", "${wrker()}")], ""),
        &[],
        "requests.0.headers.X",
        "column 3: unknown function",
    );
    check(
        entry("a", "POST", "/", &[], "{\n \"ä\": ${oops}}"),
        &[],
        "requests.0.body",
        "line 2, column 9: unknown name",
    );
    check(
        entry("a", "POST", "/", &[("content-length", "3")], "${worker()}"),
        &[],
        "requests.0.headers.Content-Length",
        "differs",
    );
    check(entry("a", "GET", "/", &[], ""), &[("v", "uniform(1")], "vars.v", "column 1: `,` or `)`");
    check(entry("a", "GET", "/", &[], ""), &[("bad-name", "1")], "vars.bad-name", "cannot be written");
    let error = compile(&plan(vec![entry("a", "GET", "/${unifrom(1,2)}", &[], "")], &[])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column 4: unknown function `unifrom` (key `requests.0.path`)\n  remedy: did you mean `uniform`?"
    );
}

pub(crate) fn in_session(mut plan: ScenarioPlan, steps: &[u32], captures: &[(usize, &str)]) -> ScenarioPlan {
    plan.session = Some(SessionPlan { steps: steps.to_vec(), cookies: true, ..SessionPlan::default() });
    for (entry, name) in captures {
        plan.requests[*entry].capture.insert((*name).to_owned(), schema::scenario::Capture::default());
    }
    plan
}

#[test]
fn sessions_take_steps_captured_values_and_cookies() {
    let requests = vec![
        entry("login", "POST", "/login", &[], "u=${session()}"),
        entry("item", "GET", "/item/${id}?r=${uniform(1, 1000000)}", &[("X-T", "${tok}")], ""),
        entry("fixed", "GET", "/bye", &[], ""),
        entry("own", "GET", "/own", &[("Cookie", "a=b")], ""),
    ];
    let plan = in_session(plan(requests, &[]), &[0, 1, 2, 3], &[(0, "tok"), (0, "id")]);
    let program = compile(&plan).unwrap();
    assert_eq!(program.program().steps(), Some(&[0, 1, 2, 3][..]));
    assert_eq!(program.program().captures(), ["id", "tok"]);
    assert!(program.constant().is_none());
    let mut captured = Captured::new(2);
    let mut out = Vec::new();
    let mut make = |worker: u32, n: u64, session: u64, step: u32, captured: &Captured, cookies: &str| {
        let user = User { session, step, captured, cookies };
        let made = Maker::new(program.clone(), worker, 4).make(n, Some(&user), &mut out)?;
        let bytes =
            made.bytes.lasting().map_or_else(|| out.clone(), |range| program.lasting_bytes()[range].to_vec());
        Ok::<_, MakeError>((made.entry, String::from_utf8(bytes).unwrap()))
    };
    assert_eq!(
        make(0, 0, 77, 0, &captured, "").unwrap(),
        (0, "POST /login HTTP/1.1\r\nHost: h:1\r\nContent-Length: 4\r\n\r\nu=77".to_owned())
    );
    assert_eq!(make(0, 1, 77, 1, &captured, "").unwrap_err().cause, MakeCause::NotCaptured(0));
    captured.set(0, b"9 9");
    captured.set(1, b"t\r\nEvil: 1");
    assert_eq!(make(0, 1, 77, 1, &captured, "").unwrap_err().cause, MakeCause::ControlInHeader);
    captured.set(1, b"t");
    let (_, item) = make(0, 1, 77, 1, &captured, "").unwrap();
    assert!(item.starts_with("GET /item/9%209?r=") && item.contains("\r\nX-T: t\r\n"), "{item}");
    assert_eq!(
        make(3, 900, 77, 1, &captured, "").unwrap().1,
        item,
        "random values belong to session and step"
    );
    assert_ne!(make(0, 1, 78, 1, &captured, "").unwrap().1, item);
    assert_eq!(make(0, 2, 77, 2, &captured, "").unwrap().1, "GET /bye HTTP/1.1\r\nHost: h:1\r\n\r\n");
    assert_eq!(
        make(0, 2, 77, 2, &captured, "s=1; t=2").unwrap().1,
        "GET /bye HTTP/1.1\r\nHost: h:1\r\nCookie: s=1; t=2\r\n\r\n"
    );
    assert_eq!(
        make(0, 3, 77, 3, &captured, "s=1").unwrap().1,
        "GET /own HTTP/1.1\r\nHost: h:1\r\nCookie: a=b; s=1\r\n\r\n"
    );
    assert_eq!(make(0, 3, 77, 3, &captured, "s=\n").unwrap_err().cause, MakeCause::ControlInHeader);
    assert_eq!(make(0, 4, 77, 4, &captured, "").unwrap_err().cause, MakeCause::NoUser, "no such step");
    assert_eq!(
        Maker::new(program.clone(), 0, 1).make(0, None, &mut Vec::new()).unwrap_err().cause,
        MakeCause::NoUser
    );
}

#[test]
fn bad_sessions_are_refused() {
    let requests = || vec![entry("a", "GET", "/", &[], ""), entry("b", "GET", "/${id}", &[], "")];
    for (steps, captures, key) in [
        (&[][..], &[(0, "id")][..], "session.steps"),
        (&[0, 1, 2], &[(0, "id")], "session.steps"),
        (&[0, 1], &[], "requests.1.path"),
        (&[1, 0], &[(0, "id")], "requests.1"),
        (&[0, 1], &[(1, "id")], "requests.1"),
    ] {
        let plan = in_session(plan(requests(), &[]), steps, captures);
        assert_eq!(compile(&plan).unwrap_err().key, key, "{steps:?}");
    }
    let clash = in_session(plan(requests(), &[("id", "1")]), &[0], &[(0, "id")]);
    assert_eq!(compile(&clash).unwrap_err().key, "vars.id");
}

fn with_feeder(mut plan: ScenarioPlan, folder: &tempfile::TempDir, order: FeederOrder) -> ScenarioPlan {
    std::fs::write(folder.path().join("u.csv"), "id,first name\n1,Ann\n2,Bob\n3,Cy\n").unwrap();
    let feeder = Feeder { file: "u.csv".into(), format: None, delimiter: None, columns: None, order };
    plan.feeders.insert("users".into(), feeder);
    plan.folder = folder.path().to_str().unwrap().into();
    plan
}

#[test]
fn a_request_sees_one_row_and_workers_share_rows_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let row = "/${users.id}/${users[\"first name\"]}/${users.id * 10}";
    for order in [FeederOrder::Sequential, FeederOrder::Random, FeederOrder::Shuffled] {
        let plan = with_feeder(plan(vec![entry("a", "GET", row, &[], "")], &[]), &folder, order);
        let one = made(&compile(&plan).unwrap(), 1, 60);
        let rows = ["GET /1/Ann/10 ", "GET /2/Bob/20 ", "GET /3/Cy/30 "];
        assert!(one.iter().all(|request| rows.iter().any(|row| text(request).starts_with(row))));
        for workers in [2, 5] {
            assert_eq!(made(&compile(&plan).unwrap(), workers, 60), one, "{order:?}, {workers} workers");
        }
    }
    let lost = entry("a", "GET", "/${users.name}", &[], "");
    let error = compile(&with_feeder(plan(vec![lost], &[]), &folder, FeederOrder::Random)).unwrap_err();
    assert!(
        error.key == "requests.0.path" && error.cause.contains("unknown column of feeder `users` `name`"),
        "{error}"
    );
    let bare = entry("a", "GET", "/${users}", &[], "");
    let error = compile(&with_feeder(plan(vec![bare], &[]), &folder, FeederOrder::Random)).unwrap_err();
    assert!(error.cause.contains("is a feeder") && error.remedy.contains("users.id"), "{error}");
}

#[test]
fn unique_rows_belong_to_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let requests =
        vec![entry("a", "GET", "/${users.id}", &[], ""), entry("b", "GET", "/b/${users.id}", &[], "")];
    let plan = with_feeder(in_session(plan(requests, &[]), &[0, 1], &[]), &folder, FeederOrder::Unique);
    let program = compile(&plan).unwrap();
    let captured = Captured::new(0);
    let mut maker = Maker::new(program.clone(), 0, 1);
    let mut out = Vec::new();
    for (n, session, step, start) in [(0, 1, 0, "GET /2 "), (1, 0, 0, "GET /1 "), (2, 1, 1, "GET /b/2 ")] {
        maker.make(n, Some(&User { session, step, captured: &captured, cookies: "" }), &mut out).unwrap();
        assert!(text(&out).starts_with(start), "{}", text(&out));
    }
    let user = User { session: 3, step: 0, captured: &captured, cookies: "" };
    let error = maker.make(3, Some(&user), &mut out).unwrap_err();
    assert_eq!(error.cause, MakeCause::Exhausted(0));
    assert_eq!(program.program().explain(&error), "request `a`: all rows of a feeder are used: `users`");
}

/// The bytes of the only request.
fn rendered(entry: EntryPlan) -> Result<String, ProgramError> {
    let program = compile(&plan(vec![entry], &[]))?;
    let mut out = Vec::new();
    let made = Maker::new(program.clone(), 0, 1).make(7, None, &mut out).unwrap();
    let bytes = made.bytes.lasting().map_or(out, |range| program.lasting_bytes()[range].to_vec());
    Ok(String::from_utf8(bytes).unwrap())
}

#[test]
fn bodies_are_chunked_where_that_is_asked_for() {
    let chunked = |path: &str, headers: &[(&str, &str)], body: &str| {
        let entry = entry("a", "POST", path, headers, body);
        rendered(EntryPlan { chunk_bytes: Some(4), ..entry })
    };
    let head =
        |path: &str| format!("POST {path} HTTP/1.1\r\nHost: h:1\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (path, sent) in [("/a", "/a"), ("/${counter()}", "/7")] {
        for (body, framed) in [
            ("abcdef", "4\r\nabcd\r\n2\r\nef\r\n0\r\n\r\n"),
            ("", "0\r\n\r\n"),
            ("n=${counter()}!!", "4\r\nn=7!\r\n1\r\n!\r\n0\r\n\r\n"),
        ] {
            assert_eq!(chunked(path, &[], body).unwrap(), head(sent) + framed, "{path} {body}");
        }
    }
    for path in ["/a", "/${counter()}"] {
        let error = chunked(path, &[("Content-Length", "2")], "hi").unwrap_err();
        assert_eq!(error.key, "requests.0.headers.Content-Length");
        assert!(error.cause.contains("contradicts a chunked body"), "{error}");
    }
}

/// The body after the head, whose Content-Length must be the body's.
fn parse(request: &[u8]) -> (usize, BTreeMap<String, Vec<u8>>) {
    let mut fields = [httparse::EMPTY_HEADER; 16];
    let mut parsed = httparse::Request::new(&mut fields);
    let head = parsed.parse(request).unwrap().unwrap();
    let fields: BTreeMap<_, _> =
        parsed.headers.iter().map(|field| (field.name.to_lowercase(), field.value.to_vec())).collect();
    assert_eq!(parsed.headers.len(), fields.len(), "no field comes twice");
    (request.len() - head, fields)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever a captured value holds, a request that is made is one request with the right length.
    #[test]
    fn rendered_requests_always_parse(
        path in proptest::collection::vec(any::<u8>(), 0..40),
        field in proptest::collection::vec(any::<u8>(), 0..40),
        body in proptest::collection::vec(any::<u8>(), 0..400),
        cookies in "[ -~\r\n]{0,20}",
    ) {
        let request = entry("a", "POST", "/p${p}?q=${urlencode(p)}", &[("X-F", "v${f}")], "<${b}>${base64(b)}");
        let requests = vec![entry("b", "GET", "/", &[], ""), request];
        let plan = in_session(plan(requests, &[]), &[0, 1], &[(0, "p"), (0, "f"), (0, "b")]);
        let program = compile(&plan).unwrap();
        let mut captured = Captured::new(3);
        for (index, value) in [&body, &field, &path].into_iter().enumerate() {
            captured.set(index, value);
        }
        let mut out = Vec::new();
        let user = User { session: 0, step: 1, captured: &captured, cookies: &cookies };
        if let Ok(made) = Maker::new(program.clone(), 0, 1).make(0, Some(&user), &mut out) {
            prop_assert_eq!(made.bytes, Bytes::Rendered);
            let (body_bytes, fields) = parse(&out);
            prop_assert_eq!(fields["content-length"].clone(), body_bytes.to_string().into_bytes());
            prop_assert_eq!(fields.len(), 3 + usize::from(!cookies.is_empty()));
        } else {
            let is_control = |byte: &u8| (*byte < b' ' && *byte != b'\t') || *byte == 0x7f;
            prop_assert!(field.iter().chain(cookies.as_bytes()).any(is_control));
        }
    }
}

#[test]
fn rows_choose_the_request_whatever_the_number_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    let rows = ["read", "write", "write", "read", "gone", "read"];
    let lines: String = rows.iter().enumerate().map(|(n, name)| format!("{name},{n}\n")).collect();
    std::fs::write(folder.path().join("log.csv"), format!("request,id\n{lines}")).unwrap();
    let feeder = Feeder {
        file: "log.csv".into(),
        format: None,
        delimiter: None,
        columns: None,
        order: FeederOrder::Sequential,
    };
    let read = entry("read", "GET", "/r/${log.id}", &[], "");
    let write = entry("write", "PUT", "/w", &[], "${log.id}");
    let chosen = |choose: &str, feeder: &Feeder| {
        let mut plan = plan(vec![read.clone(), write.clone()], &[]);
        plan.choose = Some(choose.to_owned());
        plan.feeders = BTreeMap::from([("log".to_owned(), feeder.clone())]);
        plan.folder = folder.path().display().to_string();
        compile(&plan)
    };
    let program = chosen("log.request", &feeder).unwrap();
    for workers in 1..4_u32 {
        let mut makers: Vec<Maker<Http1>> =
            (0..workers).map(|worker| Maker::new(program.clone(), worker, workers)).collect();
        let mut out = Vec::new();
        for (global, name) in (0..12_u64).zip(rows.iter().cycle()) {
            let maker = &mut makers[(global % u64::from(workers)) as usize];
            let n = global / u64::from(workers);
            let row = global % 6;
            let entry = maker.entry(n);
            let made = maker.make(n, None, &mut out);
            match *name {
                "gone" => assert_eq!(made.unwrap_err().cause, MakeCause::NoSuchRequest(0)),
                "read" => assert!(text(&out).starts_with(&format!("GET /r/{row} ")), "{}", text(&out)),
                _ => assert!(text(&out).starts_with("PUT /w ") && text(&out).ends_with(&row.to_string())),
            }
            assert_eq!(entry, u16::from(*name == "write"), "the entry is known before the request is made");
        }
    }
    let explained = program.program().explain(&MakeError { entry: 0, cause: MakeCause::NoSuchRequest(0) });
    assert!(explained.contains("`log`"), "{explained}");
    for (choose, part) in
        [("log", "names no column"), ("lok.request", "did you mean `log`"), ("log.x", "request, id")]
    {
        let error = chosen(choose, &feeder).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("choose"), "{error}");
    }
}
