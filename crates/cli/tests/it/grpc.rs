//! `prony load --grpc`: calls against a server that frames by hand; what is counted, what is said of failures, what is
//! refused before a connection is made.

use crate::command::{Done, bad, done};
use crate::load::check_report;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::Ordering::SeqCst;
use tempfile::TempDir;
use testkit::http2::{Act, Raw, call_answer};

const SHOP: &str = "syntax = \"proto3\";
package shop;
message Item { int64 id = 1; string name = 2; }
message Reply { bool ok = 1; }
service Cart { rpc Add(Item) returns (Reply); rpc Watch(Item) returns (stream Reply); }
";

fn serving(frames: fn(u32) -> Vec<u8>) -> Raw {
    Raw::start(vec![vec![Act::Settings(vec![(3, 100)]), Act::ServeFrames(frames)]])
}

/// A folder with the file that says what is called.
struct Shop {
    _folder: TempDir,
    proto: PathBuf,
}

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let proto = folder.path().join("shop.proto");
        std::fs::write(&proto, SHOP).unwrap();
        Self { _folder: folder, proto }
    }

    fn load(&self, peer: &Raw, args: &[&str]) -> Done {
        let url = format!("http://{}", peer.addr());
        let call = ["load", &url, "--grpc", "shop.Cart/Add", "--proto", self.proto.to_str().unwrap()];
        done(&[&call[..], args].concat())
    }
}

#[test]
fn calls_are_counted_as_the_server_counts_them() {
    let shop = Shop::new();
    for driver in ["epoll", "auto"] {
        for data in ["{\"id\": 7, \"name\": \"pear\"}", "{\"id\": \"${counter()}\", \"name\": \"${hex(8)}\"}"]
        {
            let peer = serving(|stream| call_answer(stream, b"\x08\x01", "0"));
            let args = [
                "--data",
                data,
                "--streams",
                "5",
                "-c",
                "2",
                "-n",
                "200",
                "--driver",
                driver,
                "--format",
                "json",
            ];
            let done = shop.load(&peer, &args);
            assert!(done.is_good(), "{done:?}");
            let report: Value = serde_json::from_str(&done.out).unwrap();
            check_report(&report);
            assert_eq!(report["requests"]["completed"], 200);
            assert_eq!(peer.seen().requests.load(SeqCst), 200);
            let plan = &report["plan"]["scenario"]["requests"][0];
            assert_eq!(plan["grpc"]["method"], "shop.Cart/Add");
            assert_eq!(report["plan"]["load"]["connection"]["http"], "2", "calls take HTTP/2 by themselves");
        }
    }
}

#[test]
fn a_status_is_a_class_with_its_name() {
    let shop = Shop::new();
    let peer = serving(|stream| call_answer(stream, b"", if stream % 4 == 1 { "14" } else { "0" }));
    let done = shop.load(&peer, &["-c", "1", "-n", "100", "--format", "json", "--errors-ok"]);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    check_report(&report);
    assert_eq!(report["requests"]["completed"], 50, "{done:?}");
    assert_eq!(report["errors"]["grpc_unavailable"], 50, "{done:?}");
    let done = shop.load(&peer, &["-c", "1", "-n", "10", "--format", "text", "--errors-ok"]);
    assert!(done.out.contains("grpc-status 14 UNAVAILABLE"), "{}", done.out);
    assert!(done.out.contains("calls of shop.Cart/Add at http://"), "{}", done.out);
    let args =
        ["--expect-grpc", "UNAVAILABLE", "--expect-grpc", "0", "-c", "1", "-n", "10", "--format", "json"];
    let done = shop.load(&peer, &args);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(report["requests"]["completed"], 10, "{done:?}");
}

#[test]
fn generator_processes_make_calls_too() {
    let shop = Shop::new();
    let peer = serving(|stream| call_answer(stream, b"\x08\x01", "0"));
    let args =
        ["--data", "{\"id\": \"${counter()}\"}", "--processes", "2", "-t", "2", "-c", "2", "-n", "100"];
    let done = shop.load(&peer, &[&args[..], &["--format", "json"]].concat());
    assert!(done.is_good(), "{done:?}");
    let report: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(report["requests"]["completed"], 100);
    assert_eq!(peer.seen().requests.load(SeqCst), 100);
}

#[test]
fn mistakes_are_named_before_a_connection_is_made() {
    let shop = Shop::new();
    let peer = serving(|stream| call_answer(stream, b"", "0"));
    let (url, proto) = (format!("http://{}", peer.addr()), shop.proto.to_str().unwrap());
    let call = |method: &'static str| ["load", &*url, "--grpc", method, "--proto", proto].map(str::to_owned);
    for (method, args, cause) in [
        ("shop.Cart/Ad", &[][..], "--grpc: there is no method of shop.Cart called `Ad`"),
        ("shop.Cart/Add", &["--messages", "2"], "--messages: `shop.Cart/Add` takes one message"),
        ("shop.Cart/Add", &["--data", "{"], "--data: not JSON"),
        ("shop.Cart/Add", &["--data", "{\"idd\": 1}"], "--data: it does not fit"),
        ("shop.Cart/Add", &["--data", "{\"id\": \"${no}\"}"], "--data: column"),
        ("shop.Cart/Add", &["--data-file", "/nonexistent"], "--data-file: /nonexistent cannot be read"),
        ("shop.Cart/Add", &["--import-path", "/nonexistent"], "--import-path: there is no folder"),
        ("shop.Cart/Add", &["--metadata", "x"], "--metadata: `x` has no value"),
        ("shop.Cart/Add", &["--metadata", "te=x"], "--metadata: `te` is set by the protocol"),
        ("shop.Cart/Add", &["--call-deadline", "0s"], "--call-deadline"),
        ("shop.Cart/Add", &["--expect-grpc", "GONE"], "--expect-grpc: `GONE` is no status of gRPC"),
        ("shop.Cart/Add", &["--http", "1.1"], "--http: calls of gRPC take HTTP/2"),
        ("shop.Cart/Add", &["-m", "POST"], "cannot be used with"),
    ] {
        let line: Vec<String> =
            call(method).into_iter().chain(args.iter().map(|arg| (*arg).to_owned())).collect();
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        bad(&line, 1, &[cause]);
    }
    bad(&["load", &url, "--data", "{}"], 1, &["--grpc"]);
    bad(
        &["load", &format!("{url}/path"), "--grpc", "shop.Cart/Add", "--proto", proto],
        1,
        &["names the method"],
    );
    assert_eq!(peer.seen().connections.load(SeqCst), 0);
}

/// A field of protobuf that is text, bytes or a message; shorter than 128 bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
}

/// The answer of a server's reflection: the file of `shop.Cart`, with the message `Item` of the file `item.proto`.
fn shop_file() -> Vec<u8> {
    let method = [field(1, b"Add"), field(2, b".shop.Item"), field(3, b".shop.Item")].concat();
    let service = [field(1, b"Cart"), field(2, &method)].concat();
    let file = [field(1, b"shop.proto"), field(2, b"shop"), field(3, b"item.proto"), field(6, &service)];
    field(4, &field(1, &[file.concat(), field(12, b"proto3")].concat()))
}

fn item_file() -> Vec<u8> {
    let id = [field(1, b"id"), vec![0x18, 1, 0x20, 1, 0x28, 3]].concat();
    let item = [field(1, b"Item"), field(2, &id)].concat();
    let file = [field(1, b"item.proto"), field(2, b"shop"), field(4, &item), field(12, b"proto3")];
    field(4, &field(1, &file.concat()))
}

/// The script of the connection on which the server is asked: nothing in the newer version, then these answers.
fn asked(answers: &[Vec<u8>]) -> Vec<Act> {
    let mut script = vec![Act::Settings(vec![(3, 100)]), Act::Await(1), Act::Send(call_answer(1, b"", "12"))];
    for (stream, answer) in (3..).step_by(2).zip(answers) {
        script.extend([Act::Await(1), Act::Send(call_answer(stream, answer, "0"))]);
    }
    script.push(Act::Hold);
    script
}

#[test]
fn without_files_the_server_is_asked() {
    let calls =
        vec![Act::Settings(vec![(3, 100)]), Act::ServeFrames(|stream| call_answer(stream, b"\x08\x01", "0"))];
    let peer = Raw::start(vec![asked(&[shop_file(), item_file()]), calls]);
    let url = format!("http://{}", peer.addr());
    let args = [
        "load",
        &url,
        "--grpc",
        "shop.Cart/Add",
        "--data",
        "{\"id\": \"${counter()}\"}",
        "-c",
        "1",
        "-n",
        "50",
    ];
    let done = done(&[&args[..], &["--format", "json"]].concat());
    assert!(done.is_good(), "{done:?}");
    let report: Value = serde_json::from_str(&done.out).unwrap();
    check_report(&report);
    assert_eq!(report["requests"]["completed"], 50);
    assert_eq!(peer.seen().requests.load(SeqCst), 3 + 50, "three questions, and the calls");
    assert_eq!(peer.seen().connections.load(SeqCst), 2);
}

#[test]
fn a_server_that_does_not_say_it_is_named_with_the_remedy() {
    let unimplemented: fn(u32) -> Vec<u8> = |stream| call_answer(stream, b"", "12");
    let peer = serving(unimplemented);
    let url = format!("http://{}", peer.addr());
    let call = ["load", &*url, "--grpc", "shop.Cart/Add"];
    bad(
        &call,
        1,
        &["--proto: nothing says what the messages", "the server has no reflection", "name the .proto files"],
    );
    let peer = serving(|stream| call_answer(stream, b"\x22\x00", "0"));
    let url = format!("http://{}", peer.addr());
    bad(&["load", &url, "--grpc", "shop.Cart/Add"], 1, &["--grpc", "shop.Cart"]);
    let peer = Raw::start(vec![vec![Act::Send(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), Act::Hold]]);
    let url = format!("http://{}", peer.addr());
    bad(
        &["load", &url, "--grpc", "shop.Cart/Add"],
        1,
        &["--proto: the server cannot be asked", "speaks HTTP/1"],
    );
    // Consent comes before the first byte.
    bad(
        &["load", "http://192.0.2.1:1", "--grpc", "shop.Cart/Add"],
        1,
        &["--proto", "192.0.2.1", "--consent 192.0.2.1"],
    );
}
