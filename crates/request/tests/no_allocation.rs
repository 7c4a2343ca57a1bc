//! Making requests takes no memory once a worker is warm: every function, feeders, tokens and sessions. A test binary
//! of its own, because its allocator counts.

use request::{Captured, Framed, Maker, Program, User};
use schema::plan::{EntryPlan, RequestPlan, ScenarioPlan, SessionPlan};
use schema::scenario::{Capture, Feeder, FeederOrder, TokenAlgorithm, TokenMaker};
use std::sync::Arc;
use std::time::SystemTime;
use wire::Http1;

const WARM: u64 = 500;
const COUNTED: u64 = 500;

fn plan(path: &str, header: &str, body: &str) -> ScenarioPlan {
    let request = RequestPlan {
        method: "POST".into(),
        path: path.into(),
        headers: vec![("X-A".into(), header.into())],
        body: body.as_bytes().to_vec(),
    };
    let entry =
        EntryPlan { name: "a".into(), weight: 1.0, request, is_template: true, ..EntryPlan::default() };
    let other = EntryPlan { name: "b".into(), ..entry.clone() };
    ScenarioPlan { name: "t".into(), requests: vec![entry, other], ..ScenarioPlan::default() }
}

fn check(plan: &ScenarioPlan, what: &str) {
    assert_eq!(allocations(plan), 0, "{what}");
}

/// Allocations of a warm worker.
fn allocations(plan: &ScenarioPlan) -> u64 {
    let program = Arc::new(Program::compile(plan, "h", 1).unwrap());
    let mut maker = Maker::new(Framed::<Http1>::new(&program).unwrap(), 0, 1);
    let mut out = Vec::with_capacity(1 << 16);
    let mut captured = Captured::new(1);
    let mut make = |n: u64| {
        captured.set(0, b"some value");
        let user = User { session: n / 2, step: (n % 2) as u32, captured: &captured, cookies: "a=b" };
        maker.make(n, program.steps().is_some().then_some(&user), &mut out).unwrap();
        if n.is_multiple_of(100) {
            maker.refresh(SystemTime::now());
        }
    };
    (0..WARM).for_each(&mut make);
    allocation_counter::measure(|| (WARM..WARM + COUNTED).for_each(&mut make)).count_total
}

/// Texts that grow with every request cannot do without: the counting works.
#[test]
fn growth_is_seen() {
    assert!(allocations(&plan("/", "x", "${pad('', counter() * 1000)}")) > 0);
}

#[test]
fn functions() {
    for expression in [
        "counter() * 2 % 1000 + worker_counter(1, 2) - worker()",
        "uniform(1, 1000000) / 3",
        "normal(10, 2.5)",
        "exponential(0.1)",
        "zipf(1, 1000000, 1.1)",
        "choose('a', 'b', uniform(1, 2))",
        "weighted('a', 1, 'b', 2.5)",
        "string(20)",
        "string(20, 'abc')",
        "hex(32)",
        "digits(12)",
        "uuid4()",
        "uuid7()",
        "now_s() + now_ms()",
        "now_iso()",
        "sha256(counter())",
        "crc32(hex(9)) + fnv1a(hex(9)) + hash(hex(9))",
        "hmac_sha256('key', hex(9))",
        "hmac_sha256(hex(9), 'text')",
        "base64(hex(10))",
        "base64url(hex(10))",
        "urlencode(base64(hex(10)))",
        "upper(lower(pad(uniform(1, 9), 7)))",
    ] {
        let mut plan = plan("/${value}", "${value}", "${value}");
        plan.vars = vec![("value".into(), expression.into())];
        check(&plan, expression);
    }
}

fn with_feeder(order: FeederOrder, name: &str, text: &str, folder: &tempfile::TempDir) -> ScenarioPlan {
    std::fs::write(folder.path().join(name), text).unwrap();
    let feeder = Feeder { file: name.into(), format: None, delimiter: None, columns: None, order };
    let mut plan = plan("/${rows.id}", "${rows.name}", "${rows.id + 1}");
    plan.feeders.insert("rows".into(), feeder);
    plan.folder = folder.path().to_str().unwrap().into();
    plan
}

#[test]
fn feeders() {
    let folder = tempfile::tempdir().unwrap();
    for order in [FeederOrder::Sequential, FeederOrder::Random, FeederOrder::Shuffled] {
        check(&with_feeder(order, "a.csv", "id,name\n1,Ann\n2,Bob\n3,Cy\n", &folder), "csv");
        check(
            &with_feeder(order, "a.jsonl", "{\"id\":1,\"name\":\"A\"}\n{\"id\":2,\"name\":\"B\"}\n", &folder),
            "jsonl",
        );
    }
}

#[test]
fn tokens() {
    let maker = TokenMaker {
        algorithm: TokenAlgorithm::HS256,
        secret: Some("s".into()),
        secret_env: None,
        key_file: None,
        key_id: None,
        claims: [("sub".to_owned(), "u${counter()}".into())].into(),
        expires_at_least: None,
        expires_at_most: None,
        expired: Some(0.1),
        badly_signed: Some(0.1),
        pool: Some(100),
    };
    let mut plan = plan("/", "Bearer ${token('jwt')}", "");
    plan.tokens.insert("jwt".into(), maker);
    check(&plan, "token");
}

#[test]
fn sessions() {
    let mut plan = plan("/fixed", "x", "fixed");
    plan.requests[1].request.path = "/${id}?s=${session()}".into();
    plan.requests[0].capture.insert("id".into(), Capture::default());
    plan.session = Some(SessionPlan { steps: vec![0, 1], cookies: true, ..SessionPlan::default() });
    check(&plan, "session");
}
