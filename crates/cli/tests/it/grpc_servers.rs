//! Calls to real servers of gRPC, found by reflection: what prony counts is what each server counts itself.

use crate::command::{done, is_there, root, turn};
use crate::load::check_report;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A target of gRPC: what it needs, how it is built in its folder and started, as its manifest says.
struct Real {
    name: &'static str,
    needs: &'static [&'static str],
    build: &'static str,
    start: &'static str,
}

const SERVERS: [Real; 4] = [
    Real {
        name: "go/grpc",
        needs: &["go"],
        build: "sh ../common/build.sh {build}/server",
        start: "exec {build}/server",
    },
    Real {
        name: "node/grpc",
        needs: &["node", "npm"],
        build: "sh ../common/build.sh grpc {build}",
        start: "exec node {build}/grpc/src/main.js",
    },
    Real {
        name: "rust/tonic",
        needs: &["cargo", "cc"],
        build: "sh ../common/build.sh {build}",
        start: "exec {build}/server",
    },
    Real {
        name: "jvm/grpc",
        needs: &["java", "mvn"],
        build: "sh ../common/build.sh grpc {build}",
        start: "exec java -jar {build}/grpc/grpc-1.0.0.jar",
    },
];

/// A server; killed by its pid when dropped.
struct Running {
    child: Child,
    addr: String,
}

impl Running {
    fn start(real: &Real, build: &Path) -> Self {
        let folder = root().join("targets").join(real.name);
        let script = |text: &str| text.replace("{build}", build.to_str().unwrap());
        let built =
            Command::new("sh").args(["-ec", &script(real.build)]).current_dir(&folder).output().unwrap();
        assert!(built.status.success(), "{}: {}", real.name, String::from_utf8_lossy(&built.stderr));
        let mut child = Command::new("sh")
            .args(["-ec", &script(real.start)])
            .current_dir(&folder)
            .env("LISTEN", "127.0.0.1:0")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let addr = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, addr }
    }

    /// A load of calls of this method: its report.
    fn load(&self, method: &str, args: &[&str]) -> Value {
        let (url, method) = (format!("http://{}", self.addr), format!("prony.contract.v1.Contract/{method}"));
        let done = done(&[&["load", &url, "--grpc", &method, "--format", "json"], args].concat());
        let report = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
        check_report(&report);
        report
    }

    /// Streams of all three kinds on every driver, with both ledgers as they must be; how many there were.
    fn streams(&self, name: &str) -> u64 {
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
                let report = self.load(method, &[&shape[..], args].concat());
                let messages = &report["messages"];
                assert_eq!(report["requests"]["completed"], STREAMS, "{name} {driver} {method}");
                assert_eq!(
                    (&messages["scheduled"], &messages["completed"]),
                    (&sent.into(), &sent.into()),
                    "{name} {method}"
                );
                assert_eq!(messages["received"], received, "{name} {driver} {method}");
                streams += STREAMS;
            }
        }
        streams
    }

    /// Whether the server says that so many calls have begun.
    fn counts(&self, calls: u64, folder: &Path) -> Result<(), String> {
        let file = folder.join("count.toml");
        let text = format!(
            "schema = \"prony.scenario/1\"\nname = \"count\"\n[request]\n\
             grpc = {{ method = \"prony.contract.v1.Contract/Count\" }}\n[expect]\nmessage_equals = {{ \"/calls\" = {calls} }}\n"
        );
        std::fs::write(&file, text).unwrap();
        let url = format!("http://{}", self.addr);
        let done = done(&["load", &url, "--scenario", file.to_str().unwrap(), "-n", "1", "-c", "1"]);
        if done.is_good() { Ok(()) } else { Err(format!("{done:?}")) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "builds servers of gRPC in several languages, minutes; run by `make test-all`"]
fn real_servers_count_what_prony_counts() {
    let _turn = turn();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for real in &SERVERS {
        if let Some(program) = real.needs.iter().find(|program| !is_there(program)) {
            println!("skipped: {}: {program} is missing (`prony targets` says how to get it)", real.name);
            continue;
        }
        let build = folder.path().join(real.name.replace('/', "-"));
        std::fs::create_dir_all(&build).unwrap();
        let server = Running::start(real, &build);
        let shape = ["-c", "3", "--streams", "7"];
        let records = server.load("Records", &[&["--data", "{\"n\": 2}", "-n", "2000"][..], &shape].concat());
        assert_eq!(records["requests"]["completed"], 2000, "{}", real.name);
        let upload = ["--data", "{\"payload\": \"${base64(hex(512))}\"}", "-n", "500"];
        assert_eq!(server.load("Upload", &[&upload[..], &shape].concat())["requests"]["completed"], 500);
        let wrong = ["--data", "{\"n\": 0}", "-n", "100", "--errors-ok"];
        let wrong = server.load("Records", &[&wrong[..], &shape].concat());
        assert_eq!(wrong["errors"]["grpc_invalid_argument"], 100, "{}", real.name);
        let streams = server.streams(real.name);
        assert_eq!(server.counts(2600 + streams, folder.path()), Ok(()), "{}", real.name);
        assert!(server.counts(2601 + streams, folder.path()).is_err(), "a fault would show in the count");
    }
}
