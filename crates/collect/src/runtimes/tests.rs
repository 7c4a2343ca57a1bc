//! The sources against scripted peers: one that answers well, and those that hang, talk nonsense or go away.

use super::*;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;
use units::Nanos;

const FPM: &str = include_str!("../../fixtures/php/fpm.json");
const GO: &str = include_str!("../../fixtures/go/first.json");

fn metrics(text: &str) -> Metrics {
    serde_json::from_str(text).unwrap()
}

fn endpoint_at(addr: SocketAddr) -> Endpoint {
    Endpoint { addr, host: addr.to_string(), tls: None }
}

fn sources_of(text: &str, addr: SocketAddr) -> Vec<Box<dyn Source>> {
    sources(&metrics(text), &endpoint_at(addr), None, &Roots::default())
}

/// Answers each request with the next text, then goes away; gives what was asked.
fn peer(answers: Vec<String>) -> (SocketAddr, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let count = stream.read(&mut request).unwrap();
            let line =
                String::from_utf8_lossy(&request[..count]).lines().next().unwrap_or_default().to_owned();
            asked.push(line);
            let _ = stream.write_all(answer.as_bytes());
        }
        asked
    });
    (addr, thread)
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

#[test]
fn only_what_is_named_is_asked_for() {
    let addr = ([127, 0, 0, 1], 9).into();
    assert!(sources_of("{}", addr).is_empty());
    assert!(
        sources_of(r#"{"jvm":true}"#, addr).is_empty(),
        "a server that prony did not start has no processes"
    );
    let counts = r#"{"prometheus":{"path":"/m","counter":"c"}}"#;
    assert!(
        sources_of(counts, addr).is_empty(),
        "what is held against the client is read at the borders only"
    );
    let all = r#"{"go_runtime":"/g","node":"/n","php_fpm":"/f","php_opcache":"/o","php_runtime":"/p","swoole":"/s","nginx":"/x",
        "prometheus":{"path":"/m","patterns":["*"]}}"#;
    let names: Vec<String> = sources_of(all, addr).iter().map(|source| source.name().to_owned()).collect();
    let expected = [
        "go.runtime",
        "go.pool",
        "node.runtime",
        "node.pool",
        "php.fpm",
        "php.opcache",
        "php.runtime",
        "swoole.server",
        "nginx.status",
        "target.prometheus",
    ];
    assert_eq!(names, expected);
}

#[test]
fn one_get_of_an_exporter_gives_all_that_it_has_and_nothing_of_what_it_has_not() {
    let text = |pause: f64| {
        format!("go_goroutines 7\ngo_gc_duration_seconds_sum {pause}\ngo_sql_max_open_connections 4\n")
    };
    let broken =
        "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned();
    let (addr, thread) = peer(vec![ok(&text(0.25)), broken, ok(&text(0.5))]);
    let mut all = sources_of(r#"{"exporters":[{"path":"/metrics"}]}"#, addr);
    let mut tick = |at: u64| {
        let lines = all.iter_mut().map(|source| (source.name().to_owned(), source.tick(Nanos(at))));
        lines.collect::<std::collections::BTreeMap<_, _>>()
    };
    let first = tick(1);
    assert_eq!(first["target.exporter"].as_ref().unwrap().gauges["sources"], 2.0);
    assert_eq!(first["go.runtime"].as_ref().unwrap().gauges["goroutines"], 7.0);
    assert_eq!(first["go.pool"].as_ref().unwrap().gauges["pool_max"], 4.0);
    assert!(first["jvm.runtime"].as_ref().unwrap().gauges.is_empty(), "there is no JVM");
    let second = tick(2);
    assert!(second["target.exporter"].is_err() && second["go.runtime"].is_err(), "a gap");
    assert!(second["jvm.runtime"].is_ok(), "what was never there has none");
    let third = tick(3);
    assert_eq!(
        third["go.runtime"].as_ref().unwrap().deltas["gc_pause_ns"],
        250e6,
        "the increase over the gap"
    );
    assert_eq!(thread.join().unwrap(), ["GET /metrics HTTP/1.1"; 3]);
}

#[test]
fn an_endpoint_that_talks_nonsense_or_goes_away_costs_gaps_and_comes_back() {
    let later = FPM.replace("\"accepted conn\":4", "\"accepted conn\":9");
    let answers = vec![
        ok(FPM),
        ok("garbage"),
        "nonsense\r\n\r\n".to_owned(),
        ok(&later),
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".to_owned(),
    ];
    let (addr, peer) = peer(answers);
    let mut source = sources_of(r#"{"php_fpm":"/debug/fpm?json"}"#, addr).remove(0);
    assert!(source.tick(Nanos(1)).unwrap().deltas.is_empty());
    source.tick(Nanos(2)).unwrap_err();
    source.tick(Nanos(3)).unwrap_err();
    let line = source.tick(Nanos(4)).unwrap();
    assert_eq!((line.source.as_str(), line.deltas["accepted"]), ("php.fpm", 5.0), "the gap is made up for");
    assert!(source.tick(Nanos(5)).unwrap_err().to_string().contains("502"));
    assert!(peer.join().unwrap().iter().all(|line| line.starts_with("GET /debug/fpm?json ")));
    source.tick(Nanos(6)).expect_err("nobody listens any more");
}

#[test]
fn an_endpoint_that_hangs_costs_a_gap_within_its_limit() {
    // The kernel takes the connection; nobody ever answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for text in [r#"{"node":"/n"}"#, r#"{"nginx":"/x"}"#, r#"{"prometheus":{"path":"/m","patterns":["*"]}}"#]
    {
        let mut source = sources_of(text, listener.local_addr().unwrap()).remove(0);
        let error = source.tick(Nanos(1)).unwrap_err().to_string();
        assert!(error.contains("no whole answer within 1s"), "{error}");
    }
}

#[test]
fn an_endless_answer_is_refused() {
    let endless = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 1_u64 << 40);
    let (addr, peer) = peer(vec![endless]);
    let mut source = sources_of(r#"{"swoole":"/s"}"#, addr).remove(0);
    let error = source.tick(Nanos(1)).unwrap_err().to_string();
    assert!(error.contains("more than"), "{error}");
    peer.join().unwrap();
}

#[test]
fn node_is_asked_for_a_new_window() {
    let (addr, peer) = peer(vec![ok("{}"), ok("{}")]);
    for path in ["/debug/runtime", "/d?x=1"] {
        sources_of(&format!("{{\"node\":\"{path}\"}}"), addr).remove(0).tick(Nanos(1)).unwrap_err();
    }
    let asked = peer.join().unwrap();
    assert!(
        asked[0].contains("/debug/runtime?window=new ") && asked[1].contains("/d?x=1&window=new "),
        "{asked:?}"
    );
}

#[test]
fn a_pool_has_a_line_where_the_target_tells_of_one_and_no_gap_where_it_does_not() {
    let with_pool = |waits: u32| {
        let pool = format!(
            "\"pool\":{{\"max\":100,\"open\":3,\"in_use\":1,\"idle\":2,\"waits\":{waits},\"wait_ns\":8}},"
        );
        ok(&GO.replacen('{', &format!("{{{pool}"), 1))
    };
    let (addr, peer) = peer(vec![ok(GO), with_pool(1), with_pool(5)]);
    let mut collector = crate::Collector::new(sources_of(r#"{"go_runtime":"/g"}"#, addr));
    let mut names = |now| collector.tick(Nanos(now)).into_iter().map(|line| line.source).collect::<Vec<_>>();
    assert_eq!(names(1), ["go.runtime"]);
    assert_eq!(names(2), ["go.runtime", "go.pool"]);
    let lines = collector.tick(Nanos(3));
    assert_eq!((lines[1].gauges["pool_max"], lines[1].deltas["pool_waits"]), (100.0, 4.0));
    assert!(collector.gaps().is_empty());
    peer.join().unwrap();
    assert!(collector.tick(Nanos(4)).is_empty());
    assert_eq!(collector.gaps().len(), 2, "without an answer neither has a line");
}
