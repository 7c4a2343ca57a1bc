//! Calls from `.proto` files to bytes: what is encoded is what protobuf reads, and every mistake has its key.

use super::Sources;
use super::call::{Called, Wanted, accepted, call as resolve};
use prost_reflect::{DescriptorPool, DynamicMessage};
use request::{Maker, Traffic};
use schema::grpc::{CodeItem, Compression, Grpc};
use schema::plan::{CallPlan, EntryPlan, ScenarioPlan, StreamPlan, Streaming};
use schema::scenario::{Capture, Expect};
use schema::text::Problem;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;
use units::{Nanos, Seed};
use wire::Http2;

const KEYS: (&str, &str) = ("request.grpc", "expect");

const SHOP: &str = r#"
syntax = "proto3";
package shop;
import "kinds.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

message Item {
  int64 id = 1;
  string name = 2;
  double price = 3;
  bytes blob = 4;
  bool is_new = 5;
  Kind kind = 6;
  sint32 delta = 7;
  fixed64 stamp = 8;
  repeated int32 sizes = 9;
  repeated Item parts = 10;
  map<string, int32> counts = 11;
  google.protobuf.Timestamp at = 12;
  google.protobuf.StringValue note = 13;
  float weight = 14;
}
message Reply { bool ok = 1; }
service Cart {
  rpc Add(Item) returns (Reply);
  rpc Echo(Item) returns (Item);
  rpc Watch(Item) returns (stream Reply);
  rpc Fill(stream Item) returns (Reply);
  rpc Chat(stream Item) returns (stream Reply);
}
"#;
const KINDS: &str = "syntax = \"proto3\"; package shop; enum Kind { NONE = 0; FRUIT = 1; TOOL = 7; }";

/// A call without a server.
fn call(grpc: &Grpc, expect: &Expect, keys: (&str, &str), folder: &Path) -> Result<Called, Problem> {
    let wanted = Wanted { expect, capture: &BTreeMap::new(), expect_at: keys.1, request_at: "request" };
    resolve(grpc, keys.0, wanted, Sources { folder, server: None })
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("shop.proto"), SHOP).unwrap();
    std::fs::write(folder.path().join("kinds.proto"), KINDS).unwrap();
    folder
}

fn add() -> Grpc {
    Grpc { method: "shop.Cart/Add".into(), proto: vec!["shop.proto".into()], ..Grpc::default() }
}

fn resolved(grpc: &Grpc) -> Called {
    call(grpc, &Expect::default(), KEYS, folder().path()).unwrap_or_else(|problem| panic!("{problem:?}"))
}

/// Cause and remedy of what is wrong, behind its key.
fn refused(grpc: &Grpc) -> String {
    let problem = call(grpc, &Expect::default(), KEYS, folder().path()).expect_err("it is wrong");
    format!("{}: {}; {}", problem.key.join("."), problem.cause, problem.remedy)
}

/// The message that a server would read, as JSON.
fn read(body: &[u8]) -> Value {
    let pool =
        protox::Compiler::new([folder().path()]).unwrap().open_file("shop.proto").unwrap().descriptor_pool();
    let length = u32::from_be_bytes(body[1..5].try_into().unwrap()) as usize;
    assert_eq!((body[0], body.len()), (0, 5 + length));
    let kind = pool.get_message_by_name("shop.Item").unwrap();
    serde_json::to_value(DynamicMessage::decode(kind, &body[5..]).unwrap()).unwrap()
}

/// The body of the first request of this call.
fn sent(call: Called) -> Vec<u8> {
    let entry = EntryPlan {
        name: "call".into(),
        weight: 1.0,
        request: call.request,
        is_template: call.is_template,
        grpc: Some(call.call),
        ..EntryPlan::default()
    };
    let scenario = ScenarioPlan { name: "calls".into(), requests: vec![entry], ..ScenarioPlan::default() };
    let traffic = Traffic::new(&scenario, "h", Seed(1), &[]).unwrap();
    let framed = traffic.framed_by::<Http2>().unwrap();
    let (mut maker, mut out) = (Maker::new(framed.clone(), 0, 1), Vec::new());
    let made = maker.make(0, None, &mut out).unwrap();
    let parcel = made.bytes.lasting().map_or(out, |range| framed.lasting_bytes()[range].to_vec());
    // A parcel says how long its parts are, and ends with its body.
    parcel[10 + u32::from_le_bytes(parcel[2..6].try_into().unwrap()) as usize..].to_vec()
}

#[test]
fn a_message_that_is_always_the_same_is_encoded_once() {
    let message =
        json!({"id": "7", "name": "pear", "kind": "TOOL", "sizes": [1, 2], "at": "1970-01-01T00:00:01Z"});
    for given in [message.clone(), Value::String(message.to_string())] {
        let called = resolved(&Grpc { message: Some(given), ..add() });
        assert_eq!((&*called.request.method, &*called.request.path), ("POST", "/shop.Cart/Add"));
        assert_eq!((called.is_template, called.call.message.is_none()), (false, true));
        assert_eq!(
            called.call,
            CallPlan { method: "shop.Cart/Add".into(), status: vec![0], ..CallPlan::default() }
        );
        assert_eq!(read(&called.request.body), message);
    }
    assert_eq!(resolved(&add()).request.body, [0; 5], "an empty message");
}

#[test]
fn a_template_means_what_its_texts_say() {
    let template = json!({
        "id": "${counter() + 7}",
        "name": "pear ${counter()}",
        "price": "${counter() + 0.5}",
        "blob": "${base64('hi')}",
        "isNew": "${choose('true', 'true')}",
        "kind": "${choose('TOOL', 'TOOL')}",
        "delta": "${counter() - 3}",
        "stamp": "${counter() + 9}",
        "sizes": [1, "${counter() + 2}", 3],
        "parts": [{"id": "1"}, {"name": "${counter()}"}],
        "counts": {"a": 1, "b": "${counter() + 2}"},
        "at": "1970-01-01T00:00:01Z",
        "note": "n${counter()}",
        "weight": "${counter() + 1.5}",
    });
    let message = json!({
        "id": "7", "name": "pear 0", "price": 0.5, "blob": "aGk=", "isNew": true, "kind": "TOOL", "delta": -3,
        "stamp": "9", "sizes": [1, 2, 3], "parts": [{"id": "1"}, {"name": "0"}], "counts": {"a": 1, "b": 2},
        "at": "1970-01-01T00:00:01Z", "note": "n0", "weight": 1.5,
    });
    let called = resolved(&Grpc { message: Some(template), ..add() });
    assert!(called.is_template && called.request.body.is_empty());
    assert_eq!(read(&sent(called)), message);
    let plain = resolved(&Grpc { message: Some(json!({"name": "$${x}"})), ..add() });
    assert_eq!(read(&sent(plain)), json!({"name": "${x}"}), "an escaped ${{ stays");
}

#[test]
fn fields_of_the_header_section_say_what_is_asked_for() {
    let metadata =
        BTreeMap::from([("trace-bin".to_owned(), "aGk=".to_owned()), ("x-id".into(), "${counter()}".into())]);
    let called = resolved(&Grpc {
        deadline: Some(Nanos::from_millis(500)),
        compress: Some(Compression::Gzip),
        metadata,
        ..add()
    });
    let fields: Vec<String> =
        called.request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let expected = [
        "content-type: application/grpc",
        "te: trailers",
        "grpc-timeout: 500000u",
        "grpc-encoding: gzip",
        "grpc-accept-encoding: gzip",
        "trace-bin: aGk",
        "x-id: ${counter()}",
    ];
    assert_eq!(fields, expected);
    assert!(called.is_template);
    assert_eq!((called.request.body[0], called.timeout_ns()), (1, Some(550_000_000)));
}

#[test]
fn a_descriptor_set_does_as_well() {
    let folder = folder();
    let mut compiler = protox::Compiler::new([folder.path()]).unwrap();
    compiler.include_imports(true).open_file("shop.proto").unwrap();
    std::fs::write(folder.path().join("shop.set"), compiler.encode_file_descriptor_set()).unwrap();
    let grpc = Grpc { proto: vec![], protoset: Some("shop.set".into()), ..add() };
    let called = call(&grpc, &Expect::default(), KEYS, folder.path()).unwrap();
    assert_eq!(called.request.path, "/shop.Cart/Add");
    std::fs::write(folder.path().join("shop.set"), b"\xff").unwrap();
    let problem = call(&grpc, &Expect::default(), KEYS, folder.path()).unwrap_err();
    assert!(problem.cause.contains("no complete descriptor set"), "{problem:?}");
    assert_eq!(DescriptorPool::decode(&b""[..]).unwrap().services().count(), 0);
}

#[test]
fn imports_are_found_in_their_folders() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("api/shop")).unwrap();
    let shop = SHOP.replace("kinds.proto", "shop/kinds.proto");
    std::fs::write(folder.path().join("api/shop/shop.proto"), shop).unwrap();
    std::fs::write(folder.path().join("api/shop/kinds.proto"), KINDS).unwrap();
    for file in ["shop/shop.proto", "api/shop/shop.proto"] {
        let grpc = Grpc { proto: vec![file.into()], import_path: vec!["api".into()], ..add() };
        let called = call(&grpc, &Expect::default(), KEYS, folder.path());
        assert_eq!(called.unwrap().request.path, "/shop.Cart/Add", "{file}");
    }
    let grpc = Grpc { proto: vec!["api/shop/shop.proto".into()], ..add() };
    let problem = call(&grpc, &Expect::default(), KEYS, folder.path()).unwrap_err();
    assert!(problem.cause.contains("shop/kinds.proto"), "{problem:?}");
    assert!(problem.remedy.contains("import_path"), "{problem:?}");
}

#[test]
fn methods_that_stream_have_a_plan_of_their_messages() {
    let folder = folder();
    let of = |grpc: Grpc| call(&grpc, &Expect::default(), KEYS, folder.path()).unwrap().call.stream;
    let method = |name: &str| Grpc { method: name.into(), ..add() };
    assert_eq!(of(add()), None);
    let plan = |streaming| StreamPlan { streaming, ..StreamPlan::default() };
    assert_eq!(of(method("shop.Cart/Watch")), Some(plan(Streaming::Server)));
    let filled = Grpc { messages: Some(9), ..method("shop.Cart/Fill") };
    assert_eq!(of(filled), Some(StreamPlan { messages: Some(9), ..plan(Streaming::Client) }));
    let timed = Grpc {
        message_rate: Some(units::PerSecond(5.0)),
        in_flight: Some(3),
        stream_for: Some(Nanos::SECOND),
        ..method("shop.Cart/Chat")
    };
    let wanted = StreamPlan {
        rate_per_s: Some(5.0),
        in_flight: Some(3),
        lasts_ns: Some(1_000_000_000),
        ..plan(Streaming::Both)
    };
    assert_eq!(of(timed), Some(wanted));
    let looks = Expect { message_has: vec!["/ok".into()], ..Expect::default() };
    let watched = call(&method("shop.Cart/Watch"), &looks, KEYS, folder.path()).unwrap();
    assert_eq!(watched.call.checks.len(), 1, "each message of a stream is checked");
    let taken = Capture { message: Some("/ok".into()), ..Capture::default() };
    let capture = BTreeMap::from([("x".to_owned(), taken)]);
    let expect = Expect::default();
    let wanted = Wanted { expect: &expect, capture: &capture, expect_at: "expect", request_at: "request" };
    let sources = Sources { folder: folder.path(), server: None };
    for name in ["Chat", "Fill"] {
        let called = resolve(&method(&format!("shop.Cart/{name}")), "request.grpc", wanted, sources).unwrap();
        assert_eq!(called.call.captures.len(), 1, "{name}");
    }
}

#[test]
fn mistakes_have_their_key_and_a_remedy() {
    let message = |value: Value| Grpc { message: Some(value), ..add() };
    let method = |name: &str| Grpc { method: name.into(), ..add() };
    let cases = [
        (method("Add"), &["request.grpc.method: `Add` is no method", "package.Service/Method"][..]),
        (method("shop.Cart/Ad"), &["request.grpc.method", "did you mean `Add`?"]),
        (method("shop.Crt/Add"), &["request.grpc.method", "did you mean `shop.Cart`?"]),
        (Grpc { messages: Some(2), ..add() }, &["request.grpc.messages: `shop.Cart/Add` takes one message"]),
        (
            Grpc { stream_for: Some(Nanos::SECOND), ..method("shop.Cart/Watch") },
            &["request.grpc.stream_for: `shop.Cart/Watch` takes one message"],
        ),
        (
            Grpc { in_flight: Some(2), ..method("shop.Cart/Fill") },
            &["request.grpc.in_flight: `shop.Cart/Fill` answers with one message"],
        ),
        (Grpc { messages: Some(0), ..method("shop.Cart/Fill") }, &["request.grpc.messages", "at least 1"]),
        (Grpc { in_flight: Some(0), ..method("shop.Cart/Chat") }, &["request.grpc.in_flight", "1 to 65536"]),
        (
            Grpc { message_rate: Some(units::PerSecond(0.0)), ..method("shop.Cart/Chat") },
            &["request.grpc.message_rate"],
        ),
        (
            Grpc { stream_for: Some(Nanos::ZERO), ..method("shop.Cart/Chat") },
            &["request.grpc.stream_for", "10s"],
        ),
        (Grpc { proto: vec![], ..add() }, &["request.grpc.proto: nothing says"]),
        (
            Grpc { proto: vec!["no.proto".into()], ..add() },
            &["request.grpc.proto: there is no file", "no.proto"],
        ),
        (Grpc { protoset: Some("x".into()), ..add() }, &["request.grpc.protoset", "said twice"]),
        (Grpc { import_path: vec!["no".into()], ..add() }, &["request.grpc.import_path: there is no folder"]),
        (Grpc { deadline: Some(Nanos::ZERO), ..add() }, &["request.grpc.deadline"]),
        (message(json!("{")), &["request.grpc.message: not JSON", "line 1"]),
        (message(json!("{\"id\": ${counter()}}")), &["request.grpc.message: not JSON", "within quotes"]),
        (message(json!([1])), &["request.grpc.message: it does not fit"]),
        (message(json!({"id": "x"})), &["request.grpc.message: it does not fit"]),
        (
            message(json!({"name": "x".repeat(4 << 20)})),
            &["request.grpc.message: the message has 4194", "at most 4 MiB"],
        ),
        (message(json!({"nme": 1})), &["request.grpc.message: it does not fit", "nme"]),
        (message(json!({"nme": "${counter()}"})), &["has no field `nme`", "did you mean `name`?"]),
        (message(json!({"at": "${now_iso()}"})), &["the field `at` is a google.protobuf.Timestamp"]),
        (message(json!({"counts": {"${counter()}": 1}})), &["the name `${counter()}` holds ${…}"]),
        (message(json!({"sizes": "${counter()}"})), &["the field `sizes` is a list"]),
        (message(json!({"counts": ["${counter()}"]})), &["the field `counts` is a map"]),
        (message(json!({"parts": ["${counter()}"]})), &["shop.Item is a message"]),
        (
            Grpc { compress: Some(Compression::Gzip), ..message(json!({"id": "${counter()}"})) },
            &["request.grpc.compress", "cannot be compressed"],
        ),
        (
            Grpc { message_file: Some("m.json".into()), ..message(json!({})) },
            &["request.grpc: the message is given twice"],
        ),
        (
            Grpc { metadata: BTreeMap::from([("te".to_owned(), "x".to_owned())]), ..add() },
            &["request.grpc.metadata: `te` is set by the protocol"],
        ),
    ];
    for (grpc, parts) in cases {
        let said = refused(&grpc);
        for part in parts {
            assert!(said.contains(part), "{said}\nlacks {part}");
        }
    }
}

#[test]
fn a_broken_file_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("shop.proto"),
        "syntax = \"proto3\";\nmessage Item { Nothing x = 1; }\n",
    )
    .unwrap();
    let problem = call(&add(), &Expect::default(), KEYS, folder.path()).unwrap_err();
    assert!(problem.cause.contains("shop.proto:2:"), "{problem:?}");
    assert!(problem.cause.contains("Nothing"), "{problem:?}");
}

#[test]
fn codes_have_names_and_numbers() {
    let name = |text: &str| CodeItem::Name(text.to_owned());
    let codes = accepted(&[name("not_found"), CodeItem::Number(0), name("NOT_FOUND")], "expect.grpc_status");
    assert_eq!(codes.unwrap(), [0, 5]);
    let problem = accepted(&[name("NOT_FUND")], "expect.grpc_status").unwrap_err();
    assert!(problem.remedy.ends_with("did you mean NOT_FOUND?"), "{problem:?}");
    assert!(accepted(&[CodeItem::Number(17)], "expect.grpc_status").is_err());
}

#[test]
fn a_scenario_file_may_hold_calls() {
    let folder = folder();
    let file = folder.path().join("calls.toml");
    let text = r#"
        schema = "prony.scenario/1"
        name = "calls"
        [[requests]]
        name = "add"
        weight = 3
        grpc = { method = "shop.Cart/Add", proto = ["shop.proto"], deadline = "1s", message = { id = 7, name = "${id}" } }
        expect.grpc_status = ["OK", "NOT_FOUND"]
        [[requests]]
        name = "page"
        path = "/"
        [vars]
        id = "counter()"
    "#;
    std::fs::write(&file, text).unwrap();
    let plan = crate::load_scenario_file(&file, None).unwrap();
    let entry = &plan.requests[0];
    let call = entry.grpc.as_ref().unwrap();
    assert_eq!((&call.status[..], call.deadline_ns), (&[0, 5][..], Some(1_000_000_000)));
    assert_eq!((entry.weight, entry.timeout_ns), (3.0, Some(1_100_000_000)));
    assert!(entry.is_template && call.message.is_some() && plan.has_calls());
    assert!(plan.requests[1].grpc.is_none());
}

#[test]
fn a_call_says_all_of_its_request() {
    let write = |extra: &str, path: &Path| {
        let call = "grpc = { method = \"shop.Cart/Add\", proto = [\"shop.proto\"] }";
        let head = "schema = \"prony.scenario/1\"\nname = \"calls\"";
        let text = format!("{head}\n[[requests]]\nname = \"add\"\n{call}\n{extra}\n");
        std::fs::write(path, text).unwrap();
        crate::load_scenario_file(path, None).map(drop).map_err(|error| error.to_string())
    };
    let folder = folder();
    let file = folder.path().join("calls.toml");
    assert_eq!(write("", &file), Ok(()));
    for (extra, words) in [
        ("path = \"/\"", "says this itself"),
        ("method = \"GET\"", "says this itself"),
        ("body = \"x\"", "says this itself"),
        ("headers = { a = \"b\" }", "grpc.metadata"),
        ("expect.status = [200]", "grpc_status"),
        ("expect.contains = [\"x\"]", "no other checks than"),
        ("capture.x = { json = \"/a\" }", "a message of gRPC is no text"),
        ("capture.x = { message = \"/no\" }", "has no field `no`"),
        ("capture.x = { message = \"/ok\", header = \"a\" }", "exactly one place"),
        ("expect.grpc_status = [\"GONE\"]", "is no status of gRPC"),
    ] {
        let said = write(extra, &file).expect_err(extra);
        assert!(said.contains("calls.toml:6") && said.contains(words), "{said}");
    }
}

/// A check: its words, the way to its field, and the encoded value.
type Shown<'a> = (&'a str, &'a [(u32, u32)], Option<&'a [u8]>);

#[test]
fn checks_of_messages_are_numbers_of_fields_and_encoded_values() {
    let grpc = Grpc { method: "shop.Cart/Echo".into(), ..add() };
    let expect = Expect {
        message_has: vec!["/parts/1/name".into()],
        message_equals: BTreeMap::from([
            ("/counts".to_owned(), json!(1)),
            ("/delta".to_owned(), json!(-3)),
            ("/id".to_owned(), json!("0")),
            ("/kind".to_owned(), json!("TOOL")),
            ("/sizes/2".to_owned(), json!(300)),
        ]),
        ..Expect::default()
    };
    let problem = call(&grpc, &expect, KEYS, folder().path()).unwrap_err();
    assert_eq!(problem.key, ["expect", "message_equals"]);
    assert!(problem.cause.contains("is a map"), "{problem:?}");
    let mut right = expect;
    right.message_equals.remove("/counts");
    let checks = call(&grpc, &right, KEYS, folder().path()).unwrap().call.checks;
    let shown: Vec<_> = checks
        .iter()
        .map(|check| (&*check.name, &check.path[..], check.expected.as_ref().map(|encoded| &encoded.0[..])))
        .collect();
    let expected: [Shown; 6] = [
        ("message_has /parts/1/name", &[(10, 1), (2, 0)], None),
        ("message_equals /delta = -3", &[(7, 0)], Some(b"\x38\x05")),
        ("message_equals /id = \"0\"", &[(1, 0)], Some(b"")),
        ("message_equals /kind = \"TOOL\"", &[(6, 0)], Some(b"\x30\x07")),
        // An item that is not there has no value, not even the default one.
        ("message_equals /sizes/2 = 300", &[(9, 2)], None),
        ("message_equals /sizes/2 = 300", &[(9, 2)], Some(b"\x4a\x02\xac\x02")),
    ];
    assert_eq!(shown, expected);
    for (pointer, value, cause) in [
        ("id", json!(1), "does not begin with /"),
        ("/no", json!(1), "has no field `no`"),
        ("/id", json!("x"), "it does not fit"),
        ("/id/0", json!(1), "nothing is within `id`"),
        ("/sizes", json!(1), "say which item, as sizes/0"),
        ("/parts/0", json!(1), "is a message"),
    ] {
        let message_equals = BTreeMap::from([(pointer.to_owned(), value)]);
        let expect = Expect { message_equals, ..Expect::default() };
        let problem = call(&grpc, &expect, KEYS, folder().path()).unwrap_err();
        assert!(problem.cause.contains(cause), "{pointer}: {problem:?}");
    }
    let expect = Expect { message_has: vec!["/id".into()], ..Expect::default() };
    let packed = Grpc { compress: Some(Compression::Gzip), ..grpc };
    assert_eq!(
        call(&packed, &expect, KEYS, folder().path()).unwrap_err().key,
        ["request", "grpc", "compress"]
    );
}

/// A capture: its name, the way to its field, whether it is implied, and how many names its numbers have.
type Taken<'a> = (&'a str, &'a [(u32, u32)], bool, usize);

#[test]
fn captures_of_messages_are_numbers_of_fields() {
    let folder = folder();
    let file = folder.path().join("steps.toml");
    let steps = r#"
        schema = "prony.scenario/1"
        name = "steps"
        [session]
        [[requests]]
        name = "first"
        grpc = { method = "shop.Cart/Echo", proto = ["shop.proto"], message = { id = 7 } }
        capture.id = { message = "/id" }
        capture.kind = { message = "/kind" }
        capture.part = { message = "/parts/1/name", default = "none" }
        capture.note = { message = "/note/value" }
        [[requests]]
        name = "second"
        grpc = { method = "shop.Cart/Echo", proto = ["shop.proto"], message = { name = "${id} ${kind} ${part} ${note}" } }
    "#;
    std::fs::write(&file, steps).unwrap();
    let plan = crate::load_scenario_file(&file, None).unwrap();
    let call = plan.requests[0].grpc.as_ref().unwrap();
    let shown: Vec<_> = call
        .captures
        .iter()
        .map(|capture| (&*capture.name, &capture.path[..], capture.implied, capture.names.len()))
        .collect();
    let expected: [Taken; 4] = [
        ("id", &[(1, 0)], true, 0),
        ("kind", &[(6, 0)], true, 3),
        ("note", &[(13, 0), (1, 0)], true, 0),
        ("part", &[(10, 1), (2, 0)], true, 0),
    ];
    assert_eq!(shown, expected);
    let misplaced = steps.replace(
        "grpc = { method = \"shop.Cart/Echo\", proto = [\"shop.proto\"], message = { id = 7 } }",
        "path = \"/\"",
    );
    std::fs::write(&file, misplaced).unwrap();
    let said = crate::load_scenario_file(&file, None).unwrap_err().to_string();
    assert!(said.contains("only the answer to a call"), "{said}");
}
