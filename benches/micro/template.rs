//! What one rendered request costs, by kind of expression: to be held against the few microseconds of a whole request.
//!
//! `cargo bench -p bench --bench template`

use divan::{Bencher, black_box};
use request::{Framed, Maker, Program};
use schema::plan::{EntryPlan, RequestPlan, ScenarioPlan};
use std::sync::Arc;
use wire::Http1;

fn main() {
    divan::main();
}

const EXPRESSIONS: [&str; 18] = [
    "counter()",
    "uniform(1, 1000000)",
    "uniform(1, 1000000) % 1000",
    "zipf(1, 100000, 1.1)",
    "normal(100, 10)",
    "exponential(5)",
    "choose(\"a\", \"b\", \"c\")",
    "weighted(\"a\", 3, \"b\", 1)",
    "string(16)",
    "uuid4()",
    "uuid7()",
    "now_ms()",
    "now_iso()",
    "hash(counter())",
    "sha256(uniform(1, 1000))",
    "hmac_sha256(\"key\", counter())",
    "base64url(counter())",
    "env(\"PATH\")",
];

/// A scenario whose only request has this in a header field.
fn program(value: &str) -> Arc<Framed<Http1>> {
    let request = RequestPlan {
        method: "GET".to_owned(),
        path: "/ping".to_owned(),
        headers: vec![("X-Value".to_owned(), value.to_owned())],
        ..RequestPlan::default()
    };
    let entry =
        EntryPlan { name: "one".to_owned(), weight: 1.0, request, is_template: true, ..EntryPlan::default() };
    let plan = ScenarioPlan { name: "one".to_owned(), requests: vec![entry], ..ScenarioPlan::default() };
    let program = Program::compile(&plan, "127.0.0.1:8080", 1).expect("the expression compiles");
    Framed::new(&Arc::new(program)).expect("it is short")
}

/// The request with this expression.
#[divan::bench(args = EXPRESSIONS)]
fn render(bencher: Bencher<'_, '_>, expression: &str) {
    let program = program(&format!("${{{expression}}}"));
    let mut maker = Maker::new(program.clone(), 0, 1);
    let (mut n, mut out) = (0_u64, Vec::new());
    bencher.bench_local(|| {
        n += 1;
        maker.make(black_box(n), None, &mut out).is_ok()
    });
}
