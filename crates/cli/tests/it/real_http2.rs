//! Real servers of HTTP/2 in plain text: what prony counts is what each server counts itself, in its log of requests or, where
//! the server drops lines under load, in its own counters.
//!
//! Servers of gRPC are in `grpc_servers`. One that is not installed is skipped, and said so.

use crate::built::Target;
use crate::command::{Server, done, is_there, turn};
use crate::load::{check_report, wait_until};
use crate::program::{Program, body, get};
use serde_json::Value;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

/// Requests of each load.
const REQUESTS: u64 = 2_000;

/// A server that logs each request.
struct Real {
    name: &'static str,
    /// Its program, and the package that has it.
    needs: (&'static str, &'static str),
    /// Writes its files into the folder and says how it is started there; `log` is in the folder, too. The second address is
    /// that of a server behind it.
    start: fn(&Path, SocketAddr, SocketAddr) -> Command,
    /// Requests that it has counted, from what is in the folder.
    counted: fn(&Path) -> u64,
    /// Whether it redirects `/old`.
    redirects: bool,
}

/// One that redirects nothing.
const fn real(
    name: &'static str,
    needs: (&'static str, &'static str),
    start: fn(&Path, SocketAddr, SocketAddr) -> Command,
    counted: fn(&Path) -> u64,
) -> Real {
    Real { name, needs, start, counted, redirects: false }
}

const SERVERS: [Real; 7] = [
    real("nghttpd", ("nghttpd", "nghttp2-server"), nghttpd, |folder| lines(folder, ":path: /ping")),
    Real {
        redirects: true,
        ..real("nginx", ("nginx", "nginx-light"), nginx, |folder| lines(folder, "GET /ping HTTP/2.0"))
    },
    Real {
        redirects: true,
        ..real("Caddy", ("caddy", "caddy"), caddy, |folder| lines(folder, "\"uri\":\"/ping\""))
    },
    real("h2o", ("h2o", "h2o"), h2o, |folder| lines(folder, "GET /ping HTTP/2")),
    real("HAProxy", ("haproxy", "haproxy"), haproxy, haproxy_requests),
    real("Node", ("node", "nodejs"), node, |folder| lines(folder, "/ping")),
    real("hypercorn", ("hypercorn", "python3-hypercorn"), hypercorn, |folder| lines(folder, "GET /ping 2")),
];

/// Lines of the log with this mark.
fn lines(folder: &Path, mark: &str) -> u64 {
    let log = fs::read(folder.join("log")).unwrap_or_default();
    String::from_utf8_lossy(&log).lines().filter(|line| line.contains(mark)).count() as u64
}

/// A shell that becomes the server, which writes to the log.
fn shell(folder: &Path, line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-ec", line]).current_dir(folder).env("HOME", folder);
    command
}

fn nghttpd(folder: &Path, at: SocketAddr, _: SocketAddr) -> Command {
    fs::write(folder.join("ping"), "ok").unwrap();
    shell(folder, &format!("exec nghttpd --no-tls -v -a 127.0.0.1 -d . {} >log", at.port()))
}

/// It ends each connection after 300 requests, and says so by GOAWAY.
fn nginx(folder: &Path, at: SocketAddr, _: SocketAddr) -> Command {
    let configuration = format!(
        "daemon off; pid nginx.pid; error_log error.log; worker_processes 1;
        events {{}}
        http {{
            access_log log;
            client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi; scgi_temp_path scgi;
            server {{
                listen {at} http2; keepalive_requests 300;
                location / {{ return 200 'ok'; }}
                location = /old {{ return 302 /ping; }}
            }}
        }}"
    );
    fs::write(folder.join("nginx.conf"), configuration).unwrap();
    let here = folder.display();
    shell(folder, &format!("exec nginx -p {here} -c {here}/nginx.conf -e {here}/error.log"))
}

fn caddy(folder: &Path, at: SocketAddr, _: SocketAddr) -> Command {
    let configuration = format!(
        "{{\n admin off\n auto_https off\n servers {{\n  protocols h1 h2 h2c\n }}\n}}\n\
         http://{at} {{\n log {{\n  output file {}/log {{\n   roll_disabled\n  }}\n  format json\n }}\n redir /old /ping 302\n respond \"ok\" 200\n}}\n",
        folder.display()
    );
    fs::write(folder.join("Caddyfile"), configuration).unwrap();
    shell(folder, "exec caddy run --config Caddyfile --adapter caddyfile")
}

fn h2o(folder: &Path, at: SocketAddr, _: SocketAddr) -> Command {
    fs::write(folder.join("ping"), "ok").unwrap();
    let configuration = format!(
        "listen:\n  host: 127.0.0.1\n  port: {}\nnum-threads: 1\nhosts:\n  default:\n    paths:\n      /:\n        \
         file.dir: {here}\naccess-log: {here}/log\nerror-log: {here}/error.log\npid-file: {here}/pid\n",
        at.port(),
        here = folder.display()
    );
    fs::write(folder.join("h2o.conf"), configuration).unwrap();
    // Else it would give up root, and with it this folder.
    shell(folder, "echo user: $(id -un) >>h2o.conf; exec h2o -c h2o.conf")
}

/// Before prony's own reference target, over HTTP/1.1. Under load it drops lines of its log (`DroppedLogs`), so its counters
/// are read.
fn haproxy(folder: &Path, at: SocketAddr, behind: SocketAddr) -> Command {
    let configuration = format!(
        "global\n stats socket {here}/stats\ndefaults\n mode http\n timeout connect 5s\n timeout client 30s\n \
         timeout server 30s\nfrontend f\n bind {at} proto h2\n default_backend b\nbackend b\n server s {behind}\n",
        here = folder.display()
    );
    fs::write(folder.join("haproxy.cfg"), configuration).unwrap();
    shell(folder, "exec haproxy -db -f haproxy.cfg")
}

/// `req_tot` of the frontend.
fn haproxy_requests(folder: &Path) -> u64 {
    let mut socket = UnixStream::connect(folder.join("stats")).unwrap();
    socket.write_all(b"show stat\n").unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let column = rows.next().unwrap().iter().position(|name| *name == "req_tot").unwrap();
    let frontend = rows.find(|row| row.starts_with(&["f", "FRONTEND"])).unwrap();
    frontend[column].parse().unwrap()
}

fn node(folder: &Path, at: SocketAddr, _: SocketAddr) -> Command {
    let program = format!(
        "const log = require('fs').openSync('log', 'a');
        require('http2').createServer((request, response) => {{
            require('fs').writeSync(log, request.url + '\\n');
            response.end('ok');
        }}).listen({}, '127.0.0.1');",
        at.port()
    );
    fs::write(folder.join("server.js"), program).unwrap();
    shell(folder, "exec node server.js")
}

fn hypercorn(folder: &Path, at: SocketAddr, _: SocketAddr) -> Command {
    let program = "async def app(scope, receive, send):
    if scope['type'] != 'http':
        return
    await send({'type': 'http.response.start', 'status': 200, 'headers': [(b'content-length', b'2')]})
    await send({'type': 'http.response.body', 'body': b'ok'})
";
    fs::write(folder.join("app.py"), program).unwrap();
    let format = "%(m)s %(U)s %(H)s";
    shell(
        folder,
        &format!("exec hypercorn --bind {at} --access-logfile log --access-logformat '{format}' app:app"),
    )
}

/// A load without a failure: its report.
fn load(at: &str, path: &str, shape: &[&str]) -> Value {
    let (url, count) = (format!("http://{at}{path}"), REQUESTS.to_string());
    let load = ["load", &url, "--http", "2", "-n", &count, "--format", "json"];
    let done = done(&[&load[..], shape].concat());
    let report: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
    check_report(&report);
    assert_eq!(report["requests"]["completed"], REQUESTS, "{url} {shape:?}: {}", report["error_examples"]);
    report
}

/// Loads of three shapes, an open one among them; how many answers they had. What a server gave back without processing it
/// is not in its count.
fn load_shapes(at: &str) -> u64 {
    let shapes = [
        &["-c", "1", "--streams", "1"][..],
        &["-c", "4", "--streams", "25"],
        &["-c", "2", "--streams", "50", "-R", "1000"],
    ];
    for shape in shapes {
        load(at, "/ping", shape);
    }
    REQUESTS * shapes.len() as u64
}

const TARGETS: [Target; 2] = [
    Target {
        name: "go/nethttp",
        needs: &["go"],
        build: "sh ../common/build.sh {build}/server",
        start: "exec {build}/server",
    },
    Target {
        name: "jvm/netty",
        needs: &["java", "mvn"],
        build: "sh ../common/build.sh netty {build}",
        start: "exec sh ../common/run.sh {build}/netty/netty-1.0.0.jar",
    },
];

/// Requests by the target's own count, which leaves out those below `/debug`.
fn own_count(at: &str) -> u64 {
    let answer = get(at, "/debug/runtime");
    let page: Value = serde_json::from_str(body(&answer)).unwrap_or_else(|error| panic!("{error}: {answer}"));
    page["requests"].as_u64().unwrap_or_else(|| panic!("{page}"))
}

#[test]
#[ignore = "builds targets in Go and Java, minutes; run by `make test-all`"]
fn targets_count_what_prony_counts() {
    let _turn = turn();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for target in TARGETS.iter().filter(|target| target.is_possible()) {
        let server = target.start(folder.path(), &[("HTTP2", "true")]);
        let before = own_count(&server.addr);
        let wanted = load_shapes(&server.addr);
        assert_eq!(own_count(&server.addr) - before, wanted, "{}", target.name);
        println!("{}: {wanted} requests by its own count, as many as prony has answers", target.name);
    }
}

impl Real {
    /// Its own count after loads of three shapes, an open one among them, and of redirects; none where it is not installed.
    fn check(&self) -> Option<()> {
        let (program, package) = self.needs;
        if !is_there(program) {
            println!(
                "skipped: {}, because {program} is not installed (apt-get install {package})",
                self.name
            );
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let behind = Server::start(&[]);
        let server = Program::start(Stdio::null(), |at| (self.start)(folder.path(), at, behind.addr));
        wait_until(&format!("{} listens", self.name), || TcpStream::connect(server.addr).is_ok());
        let at = server.addr.to_string();
        let mut wanted = load_shapes(&at);
        if self.redirects {
            let report = load(&at, "/old", &["-c", "4", "--streams", "25", "--follow"]);
            assert_eq!(report["redirects"]["302"], REQUESTS, "{}: {}", self.name, report["redirects"]);
            wanted += REQUESTS;
        }
        let counted = || (self.counted)(folder.path());
        wait_until(&format!("{} has counted all", self.name), || counted() >= wanted);
        assert_eq!(counted(), wanted, "{}", self.name);
        println!("{}: {wanted} requests by its own count, as many as prony has answers", self.name);
        Some(())
    }
}

#[test]
#[ignore = "starts servers of others, some of which are seldom installed; run by `make test-all`"]
fn real_servers_count_what_prony_counts() {
    let _turn = turn();
    let checked = SERVERS.iter().filter_map(Real::check).count();
    assert!(checked > 0, "no server of HTTP/2 is installed: apt-get install nghttp2-server nginx-light");
}
