//! Real servers of HTTP/2 in plain text: what prony counts is what each server counts itself, in its log of requests.
//!
//! Go, Netty, grpc-go, grpc-java, grpc-js and tonic are in `grpc_servers` and in the checks of targets. One that is not
//! installed is skipped, and said so.

use crate::command::{Server, done, is_there};
use crate::load::check_report;
use crate::program::Program;
use serde_json::Value;
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Requests of each load.
const REQUESTS: u64 = 2_000;
/// Longest time until a server listens, and until its log has everything.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server that logs each request.
struct Real {
    name: &'static str,
    /// Its program, and the package that has it.
    needs: (&'static str, &'static str),
    /// Writes its files into the folder and says how it is started there; `log` is in the folder, too. The second address is
    /// that of a server behind it.
    start: fn(&Path, SocketAddr, SocketAddr) -> Command,
    /// What a request is in the log.
    mark: &'static str,
}

const SERVERS: [Real; 7] = [
    Real { name: "nghttpd", needs: ("nghttpd", "nghttp2-server"), start: nghttpd, mark: ":path: /ping" },
    Real { name: "nginx", needs: ("nginx", "nginx-light"), start: nginx, mark: "GET /ping HTTP/2.0" },
    Real { name: "Caddy", needs: ("caddy", "caddy"), start: caddy, mark: "\"uri\":\"/ping\"" },
    Real { name: "h2o", needs: ("h2o", "h2o"), start: h2o, mark: "GET /ping HTTP/2" },
    Real { name: "HAProxy", needs: ("haproxy", "haproxy"), start: haproxy, mark: "/ping HTTP/2.0" },
    Real { name: "Node", needs: ("node", "nodejs"), start: node, mark: "/ping" },
    Real {
        name: "hypercorn",
        needs: ("hypercorn", "python3-hypercorn"),
        start: hypercorn,
        mark: "GET /ping 2",
    },
];

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

/// It ends each connection after a thousand requests, and says so by GOAWAY.
fn nginx(folder: &Path, at: SocketAddr, _: SocketAddr) -> Command {
    let configuration = format!(
        "daemon off; pid nginx.pid; error_log error.log; worker_processes 1;
        events {{}}
        http {{
            access_log log;
            client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi; scgi_temp_path scgi;
            server {{ listen {at} http2; keepalive_requests 300; location / {{ return 200 'ok'; }} }}
        }}"
    );
    fs::write(folder.join("nginx.conf"), configuration).unwrap();
    let here = folder.display();
    shell(folder, &format!("exec nginx -p {here} -c {here}/nginx.conf -e {here}/error.log"))
}

fn caddy(folder: &Path, at: SocketAddr, _: SocketAddr) -> Command {
    let configuration = format!(
        "{{\n admin off\n auto_https off\n servers {{\n  protocols h1 h2 h2c\n }}\n}}\n\
         http://{at} {{\n log {{\n  output file {}/log {{\n   roll_disabled\n  }}\n  format json\n }}\n respond \"ok\" 200\n}}\n",
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

/// Before prony's own reference target, over HTTP/1.1.
fn haproxy(folder: &Path, at: SocketAddr, behind: SocketAddr) -> Command {
    let configuration = format!(
        "global\n log stdout format raw local0\ndefaults\n mode http\n log global\n option httplog\n timeout connect 5s\n \
         timeout client 30s\n timeout server 30s\nfrontend f\n bind {at} proto h2\n default_backend b\nbackend b\n \
         server s {behind}\n"
    );
    fs::write(folder.join("haproxy.cfg"), configuration).unwrap();
    shell(folder, "exec haproxy -db -f haproxy.cfg >log")
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

/// Waits, bounded, until something is so.
fn until(is_so: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while !is_so() {
        if begin.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

impl Real {
    /// Its own count after loads of three shapes, an open one among them; none where it is not installed.
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
        assert!(until(|| TcpStream::connect(server.addr).is_ok()), "{} does not listen", self.name);
        let url = format!("http://{}/ping", server.addr);
        let count = REQUESTS.to_string();
        let mut wanted = 0;
        for shape in [
            &["-c", "1", "--streams", "1"][..],
            &["-c", "4", "--streams", "25"],
            &["-c", "2", "--streams", "50", "-R", "4000"],
        ] {
            let load = ["load", &url, "--http", "2", "-n", &count, "--format", "json"];
            let done = done(&[&load[..], shape].concat());
            let report: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
            check_report(&report);
            let requests = &report["requests"];
            assert_eq!(
                requests["completed"], REQUESTS,
                "{} {shape:?}: {}",
                self.name, report["error_examples"]
            );
            // What a server gave back without processing it is not in its log.
            wanted += REQUESTS;
        }
        let counted = || {
            let log = fs::read(folder.path().join("log")).unwrap_or_default();
            String::from_utf8_lossy(&log).lines().filter(|line| line.contains(self.mark)).count() as u64
        };
        until(|| counted() >= wanted);
        assert_eq!(counted(), wanted, "{}", self.name);
        println!("{}: {wanted} requests in its log, as many as prony has answers", self.name);
        Some(())
    }
}

#[test]
#[ignore = "starts servers of others, some of which are seldom installed; run by `make test-all`"]
fn real_servers_count_what_prony_counts() {
    let checked = SERVERS.iter().filter_map(Real::check).count();
    assert!(checked > 0, "no server of HTTP/2 is installed: apt-get install nghttp2-server nginx-light");
}
