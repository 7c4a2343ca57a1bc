//! `prony verify-monitoring` on a real Prometheus, through a proxy that plants what can be wrong with a chain.

use crate::command::{bad, done, is_there, prony};
use crate::load::check_schema;
use crate::prometheus::Prometheus;
use schema::monitoring::{MonitoringFaultKind, MonitoringFile};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What a proxy does between the Prometheus and the page.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Planted {
    Nothing,
    /// Each fifth scrape is closed without an answer.
    Dropped,
    /// Each fifth is asked for, and its answer thrown away.
    Unkept,
    /// Each is held up before it is asked for.
    Late,
    /// The counter begins anew at the tenth.
    Reset,
}

const LATE: Duration = Duration::from_millis(20);

/// Passes scrapes on, one after the other.
struct Proxy {
    addr: SocketAddr,
}

impl Proxy {
    /// The page's address is known once the command says it.
    fn begin(planted: Planted, page: Arc<std::sync::Mutex<Option<SocketAddr>>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let count = AtomicU32::new(0);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let Some(page) = *page.lock().unwrap() else { continue };
                let at = count.fetch_add(1, Ordering::Relaxed);
                pass(stream, page, planted, at);
            }
        });
        Self { addr }
    }
}

fn pass(mut stream: TcpStream, page: SocketAddr, planted: Planted, at: u32) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) && !line.ends_with("\r\n\r\n") {}
    if planted == Planted::Dropped && at % 5 == 4 {
        return;
    }
    if planted == Planted::Late {
        // The fault itself, not a way to wait for something.
        std::thread::sleep(LATE);
    }
    let Ok(mut to) = TcpStream::connect(page) else { return };
    let _ = write!(
        to,
        "GET /metrics HTTP/1.1\r\nHost: {page}\r\nAccept: text/plain\r\nConnection: close\r\n\r\n"
    );
    let mut answer = String::new();
    let _ = to.read_to_string(&mut answer);
    if planted == Planted::Unkept && at % 5 == 4 {
        return;
    }
    if planted == Planted::Reset && at >= 10 {
        answer = with_ramp(&answer, f64::from(at));
    }
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
}

fn with_ramp(answer: &str, value: f64) -> String {
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((name, _)) if name.starts_with("prony_chain_ramp_total") => format!("{name} {value}\n"),
        _ => format!("{line}\n"),
    };
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    format!("{head}\r\n\r\n{}", body.lines().map(line).collect::<String>())
}

/// One check through a proxy of its own.
fn checked(
    prometheus: SocketAddr,
    page: &Arc<std::sync::Mutex<Option<SocketAddr>>>,
    interval: &str,
) -> MonitoringFile {
    let url = format!("http://{prometheus}");
    let words = [
        "verify-monitoring",
        &url,
        "--listen",
        "127.0.0.1:0",
        "--for",
        "4s",
        "--interval",
        interval,
        "--format",
        "json",
    ];
    let mut child = prony(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let addr = said
        .find_map(|line| Some(line.strip_prefix("shown at http://")?.split_once("/metrics")?.0.to_owned()));
    *page.lock().unwrap() = Some(addr.expect("it says where").parse().expect("an address"));
    std::thread::spawn(move || said.count());
    let ended = child.wait_with_output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("JSON");
    check_schema("verify-monitoring", &json);
    let file: MonitoringFile = serde_json::from_value(json).unwrap();
    let code = if file.faults.is_empty() { 0 } else { 3 };
    assert_eq!(ended.status.code(), Some(code), "{file:?}");
    file
}

/// Each planted fault, and how many clean chains, all at once; what a busy host adds is late and lost, and never more.
fn all(clean: usize) -> Vec<(Planted, &'static str, MonitoringFile)> {
    let mut wanted = vec![
        (Planted::Dropped, "100ms"),
        (Planted::Unkept, "100ms"),
        (Planted::Late, "100ms"),
        (Planted::Reset, "100ms"),
        (Planted::Nothing, "250ms"),
    ];
    wanted.extend(std::iter::repeat_n((Planted::Nothing, "100ms"), clean));
    let pages: Vec<_> = wanted.iter().map(|_| Arc::new(std::sync::Mutex::new(None))).collect();
    let begin =
        |((planted, _), page): (&(Planted, &str), &Arc<_>)| Proxy::begin(*planted, Arc::clone(page)).addr;
    let scraped: Vec<SocketAddr> = wanted.iter().zip(&pages).map(begin).collect();
    let folder = tempfile::tempdir().unwrap();
    let prometheus = Prometheus::start(folder.path(), &scraped, "100ms");
    let addr = prometheus.addr;
    std::thread::scope(|scope| {
        let checks: Vec<_> = wanted
            .iter()
            .zip(&pages)
            .map(|((planted, interval), page)| {
                scope.spawn(move || (*planted, *interval, checked(addr, page, interval)))
            })
            .collect();
        checks.into_iter().map(|check| check.join().unwrap()).collect()
    })
}

fn has(file: &MonitoringFile, kind: MonitoringFaultKind) -> bool {
    file.faults.iter().any(|fault| fault.kind == kind)
}

#[test]
fn planted_faults_of_a_chain_are_found_on_a_real_prometheus() {
    use MonitoringFaultKind::{Counter, Delay, Interval, LostScrapes, Reset};
    if !is_there("prometheus") {
        println!(
            "skipped: a chain of monitoring, because Prometheus is missing (apt-get install prometheus)"
        );
        return;
    }
    for (planted, interval, file) in all(1) {
        let found = match (planted, interval) {
            (Planted::Dropped | Planted::Unkept, _) => has(&file, LostScrapes),
            (Planted::Late, _) => has(&file, Delay),
            (Planted::Reset, _) => has(&file, Reset),
            (Planted::Nothing, "250ms") => has(&file, Interval),
            // A busy host may lose scrapes and be late; it does not change values.
            (Planted::Nothing, _) => ![Reset, Counter].iter().any(|kind| has(&file, *kind)),
        };
        assert!(found, "{planted:?} {interval}: {file:?}");
    }
}

/// For a host that is otherwise idle: it takes times as pass marks.
#[test]
#[ignore = "slow: twenty clean chains on a quiet host; make test-all"]
fn twenty_clean_chains_are_called_clean() {
    if !is_there("prometheus") {
        println!(
            "skipped: a chain of monitoring, because Prometheus is missing (apt-get install prometheus)"
        );
        return;
    }
    let mut wrong = Vec::new();
    for _ in 0..20 {
        let files = all(1)
            .into_iter()
            .filter(|(planted, interval, _)| *planted == Planted::Nothing && *interval == "100ms");
        wrong.extend(files.filter(|(.., file)| !file.faults.is_empty()).map(|(.., file)| file));
    }
    println!("clean chains called bad: {} of 20: {wrong:?}", wrong.len());
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_is_no_prometheus_and_what_never_scrapes_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", taken.local_addr().unwrap());
    drop(taken);
    bad(&["verify-monitoring", &nobody], 1, &["was not asked anything else"]);
    bad(&["verify-monitoring", "https://127.0.0.1:9090"], 1, &["speaks TLS"]);
    bad(&["verify-monitoring", "http://192.0.2.1:9090"], 1, &["neither loopback nor private"]);
    if !is_there("prometheus") {
        println!(
            "skipped: a Prometheus that never scrapes, because it is missing (apt-get install prometheus)"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let prometheus = Prometheus::start(folder.path(), &[], "100ms");
    let url = format!("http://{}", prometheus.addr);
    bad(&["verify-monitoring", &url, "--listen", "0.0.0.0:0"], 1, &["no loopback address"]);
    let ended = done(&["verify-monitoring", &url, "--listen", "127.0.0.1:0", "--wait", "300ms"]);
    assert!(ended.code == 2 && ended.err.contains("job_name: prony-chain"), "{} {}", ended.code, ended.err);
}
