//! What a reload of a target takes in, by a copy of the target whose files change while it runs: `picks_up` of a
//! `target.toml` is held to it. Skipped where the target's programs are not installed.

use crate::command::root;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// For a start, a reload or a stop.
const LONGEST: Duration = Duration::from_secs(20);

/// Ended by its own signal when dropped.
struct Running(Child);

impl Running {
    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, signal).expect("it runs");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal(rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("it can be read") {
        let path = entry.expect("an entry").path();
        let place = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &place);
        } else {
            std::fs::copy(&path, &place).expect("it can be copied");
            // OPcache keeps no file that is younger than two seconds.
            let file = std::fs::File::options().write(true).open(&place).expect("it is ours");
            file.set_modified(SystemTime::now() - Duration::from_secs(60)).expect("a time");
        }
    }
}

/// The last line of the answer; empty where there is none.
fn ask(port: u16, path: &str) -> String {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return String::new() };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    let _ = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
    answer
}

fn until(port: u16, path: &str, text: &str) {
    let end = Instant::now() + LONGEST;
    while !ask(port, path).contains(text) {
        assert!(Instant::now() < end, "{path} never answered {text}: {}", ask(port, path));
    }
}

fn can(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Changes code and configuration of a copy, reloads it by `signal`, and asks before and after.
fn reloads(target: &str, arguments: &[&str], signal: rustix::process::Signal) {
    let folder = tempfile::tempdir().expect("a folder");
    for part in [target, "common"] {
        copy(&root().join("targets/php").join(part), &folder.path().join(part));
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("one").port();
    let child = Command::new("php")
        .args(arguments)
        .arg("bin/serve.php")
        .current_dir(folder.path().join(target))
        .env("LISTEN", format!("127.0.0.1:{port}"))
        .env("OPCACHE_VALIDATE", "false")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("php is there");
    let running = Running(child);
    until(port, "/ping", "\"msg\":\"ok\"");
    until(port, "/json/1001", "400");
    let change = |file: &str, from: &str, to: &str| {
        let path = folder.path().join("common").join(file);
        let text = std::fs::read_to_string(&path).expect("it can be read");
        assert!(text.contains(from), "{file} has no {from}");
        std::fs::write(&path, text.replace(from, to)).expect("it can be written");
    };
    change("src/Http/Response.php", "'msg' => 'ok'", "'msg' => 'changed'");
    assert!(ask(port, "/ping").contains("\"msg\":\"ok\""), "code is not taken in before the reload");
    running.signal(signal);
    until(port, "/ping", "\"msg\":\"changed\"");
}

#[test]
fn a_reload_takes_in_changed_code() {
    if can("php", &["-v"]) && can("nginx", &["-v"]) && (can("php-fpm8.2", &["-v"]) || can("php-fpm", &["-v"]))
    {
        reloads("fpm", &[], rustix::process::Signal::USR2);
    }
    if can("php", &["-r", "exit(extension_loaded('swoole') ? 0 : 1);"]) {
        let cached = ["-d", "opcache.enable_cli=1", "-d", "opcache.revalidate_freq=0"];
        reloads("swoole", &cached, rustix::process::Signal::USR1);
    }
}
