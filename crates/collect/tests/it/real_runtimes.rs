//! The sources of runtimes against the real thing, started here; ignored, since they need programs and seconds:
//! `cargo test -p collect --test real_runtimes -- --ignored --nocapture`.

use collect::runtimes::sources;
use collect::server_side::Endpoint;
use collect::{Collector, Roots};
use schema::target::Metrics;
use schema::trial::CounterLine;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};
use units::Nanos;

/// A program that is asked to end, and waited for, with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let pid = self.0.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        let _ = self.0.wait();
    }
}

fn is_there(programs: &[&str], packages: &str) -> bool {
    let missing = programs.iter().find(|program| {
        Command::new("which")
            .arg(program)
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| !status.success())
    });
    if let Some(program) = missing {
        println!("skipped: {program} is not installed (apt-get install {packages})");
    }
    missing.is_none()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Ticks until every source has given a line, then once more; those lines.
fn lines(metrics: &str, addr: SocketAddr, pid: u32) -> Vec<CounterLine> {
    let metrics: Metrics = serde_json::from_str(metrics).unwrap();
    let at = Endpoint { addr, host: addr.to_string(), tls: None };
    let root = Arc::new(AtomicU32::new(pid));
    let sources = sources(&metrics, &at, Some(&root), &Roots::default());
    let count = sources.len();
    let mut collector = Collector::new(sources);
    let deadline = Instant::now() + Duration::from_secs(60);
    while collector.tick(Nanos(1)).len() < count {
        assert!(Instant::now() < deadline, "{:?}", collector.last_errors());
        std::thread::sleep(Duration::from_millis(100));
    }
    collector.tick(Nanos(2))
}

fn of<'a>(lines: &'a [CounterLine], source: &str) -> &'a CounterLine {
    lines.iter().find(|line| line.source == source).unwrap_or_else(|| panic!("{source}: {lines:?}"))
}

#[test]
#[ignore = "starts nginx and PHP-FPM"]
fn nginx_fpm_and_the_opcache() {
    if !is_there(&["php", "nginx", "php-fpm8.2"], "php8.2-cli php8.2-fpm nginx-light") {
        return;
    }
    let addr = free_address();
    let target = repository().join("targets/php/fpm");
    let running = Running(
        Command::new("php")
            .arg("bin/serve.php")
            .current_dir(target)
            .env("LISTEN", addr.to_string())
            .env("FPM_CHILDREN", "2")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let metrics = r#"{"php_fpm":"/debug/fpm?json","php_opcache":"/debug/opcache","php_runtime":"/debug/php","nginx":"/debug/nginx"}"#;
    let lines = lines(metrics, addr, running.0.id());
    assert_eq!(of(&lines, "php.fpm").gauges["children_max"], 2.0);
    assert_eq!(of(&lines, "php.opcache").gauges["enabled"], 1.0);
    // No request has counted anything.
    assert_eq!(of(&lines, "php.runtime").deltas["gc_cycles"], 0.0);
    assert!(of(&lines, "nginx.status").deltas["requests"] >= 1.0, "the readings themselves");
}

#[test]
#[ignore = "starts Node"]
fn node() {
    if !is_there(&["node"], "nodejs") {
        return;
    }
    let program = format!(
        "import {{ createServer }} from 'node:http'; \
         import {{ runtimeReader }} from '{}/targets/node/common/src/runtime.js'; \
         const read = runtimeReader(); \
         const server = createServer(async (req, res) => res.end(JSON.stringify(await read(req.url.endsWith('window=new'))))); \
         server.listen(0, '127.0.0.1', () => console.log(server.address().port));",
        repository().canonicalize().unwrap().display()
    );
    let mut running = Running(
        Command::new("node")
            .args(["--input-type=module", "-e", &program])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut port = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let addr = SocketAddr::from(([127, 0, 0, 1], port.trim().parse().unwrap()));
    let metrics: Metrics = serde_json::from_str(r#"{"node":"/"}"#).unwrap();
    let at = Endpoint { addr, host: addr.to_string(), tls: None };
    let mut collector = Collector::new(sources(&metrics, &at, None, &Roots::default()));
    assert_eq!(collector.tick(Nanos(1)).len(), 1, "{:?}", collector.last_errors());
    std::thread::sleep(Duration::from_millis(200));
    let lines = collector.tick(Nanos(2));
    let line = of(&lines, "node.runtime");
    assert!((0.0..=100.0).contains(&line.gauges["loop_utilisation_percent"]), "{line:?}");
    assert!(line.gauges.contains_key("loop_delay_max_ns") && line.gauges["processes"] == 1.0, "{line:?}");
    assert!(collector.gaps().is_empty(), "a program without a pool has no gap");
}

/// The first line of a JVM with this loop for which `is_wanted`.
fn of_a_jvm(body: &str, is_wanted: impl Fn(&CounterLine) -> bool) -> CounterLine {
    let folder = tempfile::tempdir().unwrap();
    let source = format!(
        "public class Waste {{ public static void main(String[] a) throws Exception {{ \
         long end = System.nanoTime() + 60_000_000_000L; Object kept = null; \
         while (System.nanoTime() < end) {{ {body} }} }} }}"
    );
    std::fs::write(folder.path().join("Waste.java"), source).unwrap();
    // As run.sh of targets/jvm/common: the shell's child, so that the JVM is looked for in the tree.
    let running = Running(
        Command::new("sh")
            .args(["-c", "java -Xmx64m Waste.java & wait"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let roots = Roots::default();
    let metrics: Metrics = serde_json::from_str(r#"{"jvm":true}"#).unwrap();
    let at = Endpoint { addr: free_address(), host: String::new(), tls: None };
    let root = Arc::new(AtomicU32::new(running.0.id()));
    let mut collector = Collector::new(sources(&metrics, &at, Some(&root), &roots));
    let deadline = Instant::now() + Duration::from_secs(60);
    let line = loop {
        match collector.tick(Nanos(1)).pop() {
            Some(line) if is_wanted(&line) => break line,
            _ => assert!(Instant::now() < deadline, "{:?}", collector.last_errors()),
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", running.0.id())).unwrap();
    children.split_ascii_whitespace().for_each(|pid| drop(Command::new("kill").arg(pid).status()));
    line
}

/// Whether there were some since the line before.
fn grew(line: &CounterLine, key: &str) -> bool {
    line.deltas.get(key).is_some_and(|increase| *increase > 0.0)
}

#[test]
#[ignore = "starts a JVM"]
fn jvm() {
    if !is_there(&["java", "javac"], "openjdk-17-jdk-headless") {
        return;
    }
    let line = of_a_jvm("kept = new byte[100_000];", |line| grew(line, "gc_cycles"));
    assert!(line.deltas["gc_pause_ns"] > 0.0 && line.gauges["threads"] > 1.0, "{line:?}");
    assert!(line.gauges["heap_max_bytes"] > 6e7 && line.gauges["heap_max_bytes"] < 8e7, "{line:?}");
}

#[test]
#[ignore = "starts a JVM"]
fn full_collections_of_a_jvm_have_their_cause() {
    if !is_there(&["java", "javac"], "openjdk-17-jdk-headless") {
        return;
    }
    const CAUSE: &str = "gc_full_cause_system_gc";
    let line = of_a_jvm("System.gc(); Thread.sleep(50);", |line| grew(line, CAUSE));
    assert_eq!(line.deltas[CAUSE], line.deltas["gc_full_cycles"], "{line:?}");
}
