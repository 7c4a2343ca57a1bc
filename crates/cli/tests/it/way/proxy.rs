//! Loads through a proxy of CONNECT, whose own counts are held against prony's, and proxies that open no tunnel.

use super::server::{Request, Server, read};
use crate::command::{self, bad, prony};
use crate::load::check_report;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a proxy does once it was asked for a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// Opens it.
    Opens,
    /// Opens it, and answers byte by byte, after an interim answer.
    Drips,
    /// Opens it for a user with a password.
    Asks,
    /// Answers this and keeps the connection open.
    Answers(&'static str),
    /// Answers without an end.
    Floods,
    /// Closes.
    Closes,
    /// Says nothing.
    Hangs,
}

#[derive(Debug, Default)]
struct Counts {
    asked: AtomicU64,
    opened: AtomicU64,
}

/// A proxy whose tunnels all lead to `target`, whatever it is asked for.
fn proxy(does: Does, target: SocketAddr) -> (Server, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let seen = counts.clone();
    let server = Server::start(move |mut stream| {
        let mut rest = Vec::new();
        let Some(request) = read(&mut stream, &mut rest) else { return };
        seen.asked.fetch_add(1, Ordering::Relaxed);
        let is_connect = request.line().starts_with("CONNECT ") && request.line().ends_with(" HTTP/1.1");
        assert!(is_connect && rest.is_empty(), "{} and {} bytes", request.head, rest.len());
        assert_eq!(request.line().split(' ').nth(1), request.field("host"), "{}", request.head);
        answer(does, &mut stream, &request, target, &seen);
    });
    (server, counts)
}

fn answer(does: Does, stream: &mut TcpStream, request: &Request, target: SocketAddr, counts: &Counts) {
    let opened = b"HTTP/1.1 200 Connection established\r\nContent-Length: 9\r\n\r\n";
    let sent = match does {
        Does::Asks if request.field("proxy-authorization") != Some("Basic dTpzZWNyZXQ=") => {
            let _ = stream.write_all(b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n");
            return until_closed(stream);
        }
        Does::Opens | Does::Asks => stream.write_all(opened),
        Does::Drips => [&b"HTTP/1.1 103 Early\r\n\r\n"[..], opened]
            .concat()
            .iter()
            .try_for_each(|byte| stream.write_all(&[*byte])),
        Does::Answers(text) => {
            let _ = stream.write_all(text.as_bytes());
            return until_closed(stream);
        }
        Does::Floods => {
            let line = format!("X-Pad: {}\r\n", "p".repeat(1000));
            let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{}", line.repeat(20)).as_bytes());
            return until_closed(stream);
        }
        Does::Closes => return,
        Does::Hangs => return until_closed(stream),
    };
    if sent.is_ok() {
        counts.opened.fetch_add(1, Ordering::Relaxed);
        lead_on(stream, target);
    }
}

fn until_closed(stream: &mut TcpStream) {
    let mut buffer = [0; 256];
    while stream.read(&mut buffer).is_ok_and(|taken| taken > 0) {}
}

/// Copies both ways until both have ended.
fn lead_on(stream: &TcpStream, target: SocketAddr) {
    let upstream = TcpStream::connect(target).expect("the target listens");
    upstream.set_nodelay(true).expect("a socket may send at once");
    let copy = |mut from: &TcpStream, mut to: &TcpStream| {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| copy(stream, &upstream));
        copy(&upstream, stream);
        let _ = stream.shutdown(Shutdown::Both);
    });
}

/// A target that counts requests, and its count.
fn target() -> (Server, Arc<AtomicU64>) {
    let requests = Arc::new(AtomicU64::new(0));
    let seen = requests.clone();
    let server = Server::start(move |mut stream| {
        let mut rest = Vec::new();
        while let Some(request) = read(&mut stream, &mut rest) {
            seen.fetch_add(1, Ordering::Relaxed);
            let is_last = request.field("connection") == Some("close");
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() || is_last {
                return;
            }
        }
    });
    (server, requests)
}

/// The report of a load, and everything that was printed.
fn run(args: &[&str], environment: &[(&str, &str)]) -> (Value, String) {
    let mut command = prony(&["load", "--format", "json", "--quiet"]);
    command.args(args).envs(environment.iter().copied());
    let output = command.output().expect("prony starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let report = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
    check_report(&report);
    (report, format!("{out}{err}"))
}

#[test]
fn both_sides_of_a_proxy_count_what_prony_counts() {
    for does in [Does::Opens, Does::Drips] {
        for driver in ["epoll", "io_uring"] {
            for keeping in [&[][..], &["--disable-keepalive"], &["--pipeline", "4"]] {
                let (target, requests) = target();
                let (proxy, counts) = proxy(does, target.addr);
                let at = proxy.url("");
                let url = target.url("/");
                let args = [&url, "--proxy", &at, "-n", "60", "-c", "4", "--driver", driver];
                let (report, _) = run(&[&args[..], keeping].concat(), &[]);
                assert_eq!(report["requests"]["completed"], 60, "{does:?} {driver} {keeping:?}");
                assert_eq!(requests.load(Ordering::Relaxed), 60);
                let count = |key: &str| report["connections"][key].as_u64().unwrap();
                let opened = counts.opened.load(Ordering::Relaxed);
                assert_eq!(count("established") + count("reconnects"), opened, "{report}");
            }
        }
    }
}

#[test]
fn tls_goes_through_a_tunnel() {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem").display().to_string();
    let secure = command::Server::start(&["--tls", "--tls-ca-out", &ca]);
    let url = secure.url("/ping").replace("http://", "https://");
    for does in [Does::Opens, Does::Drips] {
        for driver in ["epoll", "io_uring"] {
            for keeping in [&[][..], &["--disable-keepalive"]] {
                let (proxy, counts) = proxy(does, secure.addr);
                let at = proxy.url("");
                let args = [&url, "--cacert", &ca, "--proxy", &at, "-n", "40", "-c", "4", "--driver", driver];
                let (report, _) = run(&[&args[..], keeping].concat(), &[]);
                assert_eq!(report["requests"]["completed"], 40, "{does:?} {driver} {keeping:?}: {report}");
                let shakes = &report["connections"]["handshakes"];
                let shakes = shakes["full"].as_u64().unwrap() + shakes["resumed"].as_u64().unwrap();
                assert_eq!(shakes, counts.opened.load(Ordering::Relaxed));
            }
        }
    }
}

#[test]
fn a_proxy_that_opens_no_tunnel_is_named_with_what_it_said() {
    let (target, requests) = target();
    for (does, class, text) in [
        (Does::Asks, "proxy", "answered 407 to CONNECT: it wants a user and a password"),
        (Does::Answers("HTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\n"), "proxy", "answered 403 to CONNECT"),
        (Does::Answers("HTTP/1.0 502 Bad\r\n\r\n<html>"), "proxy", "it could not reach the target"),
        (Does::Answers("HTTP/1.1 302 Go\r\nLocation: /\r\n\r\n"), "proxy", "answered 302 to CONNECT"),
        (Does::Answers("SSH-2.0-x\r\n"), "proxy", "did not answer CONNECT in HTTP"),
        (Does::Floods, "proxy", "with more than 16 KiB"),
        (Does::Closes, "proxy", "closed the connection instead"),
        (Does::Hangs, "connect_timeout", "the proxy opened no tunnel"),
    ] {
        for driver in ["epoll", "io_uring"] {
            let (proxy, counts) = proxy(does, target.addr);
            let (at, url) = (proxy.url(""), target.url("/"));
            let timeout = if does == Does::Hangs { "100ms" } else { "30s" };
            let args = [&url, "--proxy", &at, "-n", "4", "-c", "2", "--driver", driver];
            let (report, _) = run(&[&args[..], &["--connect-timeout", timeout]].concat(), &[]);
            assert_eq!(report["requests"]["completed"], 0);
            let said = report["error_examples"][class][0].as_str().unwrap_or_default();
            assert!(said.contains(text), "{does:?} {driver}: {}", report["error_examples"]);
            assert_eq!(counts.asked.load(Ordering::Relaxed), 2, "{does:?}: each attempt asks once");
        }
    }
    assert_eq!(requests.load(Ordering::Relaxed), 0);
}

#[test]
fn a_password_reaches_the_proxy_and_nobody_else() {
    let (target, requests) = target();
    let (proxy, _) = proxy(Does::Asks, target.addr);
    let at = format!("http://u:secret@{}", proxy.addr);
    let (report, printed) = run(&[&target.url("/"), "--proxy", &at, "-n", "5", "-c", "1"], &[]);
    assert_eq!(report["requests"]["completed"], 5);
    assert_eq!(requests.load(Ordering::Relaxed), 5);
    assert!(!printed.contains("secret") && !printed.contains("dTpz"), "{printed}");
    assert!(report["plan"]["address"].as_str().unwrap().contains("through the proxy http://***@127.0.0.1:"));
}

#[test]
fn the_environment_names_a_proxy_but_never_for_loopback() {
    let (target, _) = target();
    let (proxy, counts) = proxy(Does::Opens, target.addr);
    let at = proxy.url("");
    let environment = [("http_proxy", at.as_str()), ("no_proxy", "spared.invalid")];
    run(&[&target.url("/"), "-n", "3", "-c", "1"], &environment);
    assert_eq!(counts.asked.load(Ordering::Relaxed), 0);
    // A name that only the proxy can resolve.
    let named = ["http://target.invalid:81/", "-n", "3", "-c", "1", "--consent", "target.invalid"];
    let (report, _) = run(&named, &environment);
    assert_eq!(report["requests"]["completed"], 3);
    assert_eq!(counts.asked.load(Ordering::Relaxed), 1);
    let notes = report["notes"].to_string();
    assert!(notes.contains("named by http_proxy in the environment"), "{notes}");
    let refused = prony(&["load", named[0], "-n", "1"]).envs(environment).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && said.contains("--consent target.invalid"), "{said}");
    let spared = prony(&["load", "http://spared.invalid/", "-n", "1"]).envs(environment).output().unwrap();
    assert!(String::from_utf8_lossy(&spared.stderr).contains("does not resolve"));
    assert_eq!(counts.asked.load(Ordering::Relaxed), 1);
}

#[test]
fn what_cannot_go_through_a_proxy_is_refused() {
    let url = "http://127.0.0.1:1/";
    for (args, text) in [
        (&["--proxy", "socks5://u:secret@127.0.0.1:1"][..], "SOCKS proxies are not supported"),
        (&["--proxy", "https://127.0.0.1:1"], "proxies over TLS"),
        (&["--proxy", "127.0.0.1:1", "--unix-socket", "/tmp/x"], "a proxy cannot reach a Unix socket"),
        (&["--proxy", "127.0.0.1:1", "--resolve", "each"], "resolves the name"),
        (&["--proxy", "8.8.8.8:1"], "--consent 8.8.8.8"),
    ] {
        bad(&[&["load", url, "-n", "1"][..], args].concat(), 1, &[text]);
    }
    bad(&["load", "http://8.8.8.8/", "--proxy", "127.0.0.1:1", "-n", "1"], 1, &["--consent 8.8.8.8"]);
}
