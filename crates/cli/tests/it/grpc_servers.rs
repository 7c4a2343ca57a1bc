//! Calls to real servers of gRPC: what prony counts is what each server counts itself. Those of the targets are found by
//! reflection; Python's grpcio is called by a file.

use crate::built::Target;
use crate::command::{done, root, turn};
use crate::load::{check_report, wait_until};
use crate::program::Program;
use serde_json::Value;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

const TARGETS: [Target; 4] = [
    Target {
        name: "go/grpc",
        needs: &["go"],
        build: "sh ../common/build.sh {build}/server",
        start: "exec {build}/server",
    },
    Target {
        name: "node/grpc",
        needs: &["node", "npm"],
        build: "sh ../common/build.sh grpc {build}",
        start: "exec node {build}/grpc/src/main.js",
    },
    Target {
        name: "rust/tonic",
        needs: &["cargo", "cc"],
        build: "sh ../common/build.sh {build}",
        start: "exec {build}/server",
    },
    Target {
        name: "jvm/grpc",
        needs: &["java", "mvn"],
        build: "sh ../common/build.sh grpc {build}",
        start: "exec java -jar {build}/grpc/grpc-1.0.0.jar",
    },
];

/// A load of calls of this method: its report.
fn load(addr: &str, method: &str, args: &[&str]) -> Value {
    let (url, method) = (format!("http://{addr}"), format!("prony.contract.v1.Contract/{method}"));
    let done = done(&[&["load", &url, "--grpc", &method, "--format", "json"], args].concat());
    let report = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
    check_report(&report);
    report
}

/// Streams of all three kinds on every driver, with both ledgers as they must be; how many there were.
fn streams(addr: &str, name: &str) -> u64 {
    const STREAMS: u64 = 100;
    let payload = ["--data", "{\"payload\": \"aGVsbG8=\"}", "--messages", "20"];
    let kinds = [
        ("Watch", &["--data", "{\"n\": 2}"][..], STREAMS, 16 * STREAMS),
        ("Fill", &payload, 20 * STREAMS, STREAMS),
        ("Echo", &[&payload[..], &["--in-flight", "4"]].concat(), 20 * STREAMS, 20 * STREAMS),
    ];
    let mut streams = 0;
    for driver in ["epoll", "auto"] {
        for (method, args, sent, received) in kinds {
            let shape = ["-c", "3", "--streams", "5", "-n", "100", "--driver", driver];
            let report = load(addr, method, &[&shape[..], args].concat());
            let messages = &report["messages"];
            assert_eq!(report["requests"]["completed"], STREAMS, "{name} {driver} {method}");
            let (scheduled, completed) = (&messages["scheduled"], &messages["completed"]);
            assert_eq!((scheduled, completed), (&sent.into(), &sent.into()), "{name} {method}");
            assert_eq!(messages["received"], received, "{name} {driver} {method}");
            streams += STREAMS;
        }
    }
    streams
}

/// Whether the server says that so many calls have begun.
fn counts(addr: &str, calls: u64, folder: &Path) -> Result<(), String> {
    let file = folder.join("count.toml");
    let text = format!(
        "schema = \"prony.scenario/1\"\nname = \"count\"\n[request]\n\
         grpc = {{ method = \"prony.contract.v1.Contract/Count\" }}\n[expect]\nmessage_equals = {{ \"/calls\" = {calls} }}\n"
    );
    std::fs::write(&file, text).unwrap();
    let url = format!("http://{addr}");
    let done = done(&["load", &url, "--scenario", file.to_str().unwrap(), "-n", "1", "-c", "1"]);
    if done.is_good() { Ok(()) } else { Err(format!("{done:?}")) }
}

#[test]
#[ignore = "builds servers of gRPC in several languages, minutes; run by `make test-all`"]
fn real_servers_count_what_prony_counts() {
    let _turn = turn();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for target in TARGETS.iter().filter(|target| target.is_possible()) {
        let (server, name) = (target.start(folder.path(), &[]), target.name);
        let addr = &server.addr;
        let shape = ["-c", "3", "--streams", "7"];
        let records = load(addr, "Records", &[&["--data", "{\"n\": 2}", "-n", "2000"][..], &shape].concat());
        assert_eq!(records["requests"]["completed"], 2000, "{name}");
        let upload = ["--data", "{\"payload\": \"${base64(hex(512))}\"}", "-n", "500"];
        let upload = load(addr, "Upload", &[&upload[..], &shape].concat());
        assert_eq!(upload["requests"]["completed"], 500, "{name}");
        let wrong = ["--data", "{\"n\": 0}", "-n", "100", "--errors-ok"];
        let wrong = load(addr, "Records", &[&wrong[..], &shape].concat());
        assert_eq!(wrong["errors"]["grpc_invalid_argument"], 100, "{name}");
        let streams = streams(addr, name);
        assert_eq!(counts(addr, 2600 + streams, folder.path()), Ok(()), "{name}");
        assert!(counts(addr, 2601 + streams, folder.path()).is_err(), "a fault would show in the count");
    }
}

/// Answers every call with the message that came, which Upload and Echo take for theirs, and logs a line for each.
const GRPCIO: &str = "import sys, grpc
from concurrent import futures
def answer(request, context):
    log.write('call\\n')
    return request
def echo(requests, context):
    log.write('call\\n')
    yield from requests
log = open('log', 'a', buffering=1)
server = grpc.server(futures.ThreadPoolExecutor(16))
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler('prony.contract.v1.Contract', {
    'Ping': grpc.unary_unary_rpc_method_handler(answer),
    'Echo': grpc.stream_stream_rpc_method_handler(echo),
})])
assert server.add_insecure_port(sys.argv[1])
server.start()
server.wait_for_termination()
";

/// A Python that has grpcio: the one on PATH, or the distribution's.
fn python() -> Option<&'static str> {
    let has_grpcio = |python: &&str| {
        Command::new(python).args(["-c", "import grpc"]).output().is_ok_and(|done| done.status.success())
    };
    ["python3", "/usr/bin/python3"].into_iter().find(has_grpcio)
}

#[test]
#[ignore = "needs Python's grpcio; run by `make test-all`"]
fn grpcio_counts_what_prony_counts() {
    let Some(python) = python() else {
        println!("skipped: grpcio is not installed (apt-get install python3-grpcio)");
        return;
    };
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("server.py"), GRPCIO).unwrap();
    let server = Program::start(Stdio::null(), |at| {
        let mut command = Command::new(python);
        command.args(["server.py", &at.to_string()]).current_dir(folder.path());
        command
    });
    wait_until("grpcio listens", || TcpStream::connect(server.addr).is_ok());
    let (addr, proto) = (server.addr.to_string(), root().join("targets/proto/contract.proto"));
    let mut wanted = 0;
    for (method, args, calls) in [
        ("Ping", &["-c", "1", "--streams", "1"][..], 500),
        ("Ping", &["-c", "3", "--streams", "7"], 2000),
        ("Ping", &["-c", "2", "--streams", "50", "-R", "500"], 500),
        ("Echo", &["-c", "2", "--streams", "4", "--messages", "20", "--in-flight", "4"], 100),
    ] {
        let count = calls.to_string();
        let common = ["--proto", proto.to_str().unwrap(), "-n", &count];
        let report = load(&addr, method, &[&common[..], args].concat());
        assert_eq!(report["requests"]["completed"], calls, "{method} {args:?}: {}", report["error_examples"]);
        wanted += calls;
    }
    let counted = || {
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        log.lines().count() as u64
    };
    wait_until("grpcio has counted all", || counted() >= wanted);
    assert_eq!(counted(), wanted);
    println!("grpcio: {wanted} calls by its own count, as many as prony has answers");
}
