//! Who is let in: names, origins, tokens, and requests that try to get elsewhere.

use crate::http::{ask, change, get};
use crate::runs::{Lab, Runs, options};
use serve::{Options, Server};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

const ID: &str = "2026-11-22T05-14-56Z-demo";

fn one_run() -> Runs {
    let runs = Runs::new();
    runs.add(ID, |_| {});
    runs
}

#[test]
fn foreign_names_and_origins_are_refused_and_nothing_is_changed() {
    let runs = one_run();
    let lab = Lab::over(&runs);
    let host = format!("Host: {}", lab.addr);
    ask(lab.addr, "GET", "/api/runs", &["Host: evil.test"], "").refused(421, "this name");
    ask(lab.addr, "GET", "/", &["Host: evil.test"], "").refused(421, "this name");
    ask(lab.addr, "GET", "/api/runs", &[], "").refused(421, "this name");
    ask(lab.addr, "GET", "/api/runs", &[&host, "Host: evil.test"], "").refused(421, "this name");
    let path = format!("/api/runs/{ID}/label");
    let said = "{\"tags\":[\"x\"],\"note\":\"\"}";
    ask(lab.addr, "PUT", &path, &[&host], said).refused(403, "X-Prony");
    let foreign = ["Origin: http://evil.test", "Origin: null", "Sec-Fetch-Site: cross-site"];
    for line in foreign {
        ask(lab.addr, "PUT", &path, &[&host, "X-Prony: 1", line], said).refused(403, "");
        ask(lab.addr, "POST", &format!("/api/runs/{ID}/stop"), &[&host, "X-Prony: 1", line], "")
            .refused(403, "");
    }
    assert!(!runs.path().join(index::LABELS_FILE).exists());
    assert_eq!(change(lab.addr, "PUT", &path, said).status, 200);
}

#[test]
fn every_answer_carries_the_policy_and_pages_have_no_inline_script() {
    let runs = one_run();
    let lab = Lab::over(&runs);
    for path in ["/", "/assets/lab-1.js", "/api/runs", "/api/none"] {
        let answer = get(lab.addr, path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe-eval"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
    }
    assert!(get(lab.addr, "/assets/lab-1.js").header("content-type").unwrap().starts_with("text/javascript"));
    assert_eq!(get(lab.addr, "/assets/none.js").status, 404);
    get(lab.addr, "/nothing").refused(404, "no such address");
    ask(lab.addr, "DELETE", "/api/runs", &[&format!("Host: {}", lab.addr), "X-Prony: 1"], "")
        .refused(405, "method");
    let without = Lab::open(Options { assets: &[], ..options(runs.path()) });
    assert!(get(without.addr, "/").text().contains("make ui"));
}

#[test]
fn a_lab_with_a_token_asks_for_it_and_keeps_it_in_a_cookie() {
    let runs = one_run();
    let token = "0123456789abcdef-token";
    let lab = Lab::open(Options { token: Some(token.to_owned()), ..options(runs.path()) });
    let host = format!("Host: {}", lab.addr);
    assert_eq!(get(lab.addr, "/").status, 200);
    get(lab.addr, "/api/runs").refused(401, "token");
    let bearer = |token: &str| format!("Authorization: Bearer {token}");
    ask(lab.addr, "GET", "/api/runs", &[&host, &bearer("wrong")], "").refused(401, "token");
    assert_eq!(ask(lab.addr, "GET", "/api/runs", &[&host, &bearer(token)], "").status, 200);
    change(lab.addr, "POST", "/api/login", "{\"token\":\"wrong\"}").refused(401, "not the token");
    let login = change(lab.addr, "POST", "/api/login", &format!("{{\"token\":\"{token}\"}}"));
    assert_eq!(login.status, 204);
    let cookie = login.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    assert_eq!(ask(lab.addr, "GET", "/api/runs", &[&host, &cookie], "").status, 200);
    // A cookie alone changes nothing: the mark and the origin are still asked for.
    ask(lab.addr, "PUT", &format!("/api/runs/{ID}/label"), &[&host, &cookie], "{}").refused(403, "X-Prony");
}

#[test]
fn other_addresses_need_a_token_and_a_taken_port_is_told() {
    let runs = one_run();
    let refused = |options: Options| match Server::bind(options) {
        Ok(_) => panic!("it must not open"),
        Err(error) => error.to_string(),
    };
    let wide: SocketAddr = "0.0.0.0:0".parse().unwrap();
    let error = refused(Options { listen: wide, ..options(runs.path()) });
    assert!(error.contains("no token") && error.contains("remedy"), "{error}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = refused(Options { listen: taken.local_addr().unwrap(), ..options(runs.path()) });
    assert!(
        error.contains("cannot listen on 127.0.0.1") && error.contains("remedy: choose another port"),
        "{error}"
    );
    let error = refused(options(&runs.path().join("none")));
    assert!(error.contains("no folder") && error.contains("remedy"), "{error}");
    let lab = Lab::open(Options {
        listen: wide,
        token: Some("0123456789abcdef".to_owned()),
        ..options(runs.path())
    });
    let host = format!("Host: 127.0.0.1:{}", lab.addr.port());
    let addr = SocketAddr::from(([127, 0, 0, 1], lab.addr.port()));
    ask(addr, "GET", "/api/runs", &[&host], "").refused(401, "token");
}

#[test]
fn no_path_leads_out_of_the_list_of_files() {
    let runs = one_run();
    fs::write(runs.path().join("secret.txt"), "secret").unwrap();
    fs::write(runs.run(ID).join("other.txt"), "secret").unwrap();
    let lab = Lab::over(&runs);
    let tries = [
        format!("/api/runs/{ID}/files/other.txt"),
        format!("/api/runs/{ID}/files/..%2Fsecret.txt"),
        format!("/api/runs/{ID}/files/../../secret.txt"),
        format!("/api/runs/{ID}/files/%2e%2e%2fsecret.txt"),
        format!("/api/runs/{ID}/files/run.json%00.txt"),
        format!("/api/runs/{ID}/files//etc/passwd"),
        format!("/api/runs/{ID}/trials/1/files/..%2F..%2Frun.json"),
        format!("/api/runs/{ID}/trials/..%2F1/files/trial.json"),
        format!("/api/runs/{ID}/trials/-1/files/trial.json"),
        "/api/runs/../files/secret.txt".to_owned(),
        "/api/runs/..%2F/files/run.json".to_owned(),
        "/api/runs/%2e%2e/files/run.json".to_owned(),
        "/api/runs/./files/run.json".to_owned(),
        "/api/runs/.prony-index.sqlite/page".to_owned(),
        "/assets/..%2Findex.html".to_owned(),
        "/assets/../index.html".to_owned(),
        "/../../../../etc/passwd".to_owned(),
    ];
    for path in tries {
        let answer = get(lab.addr, &path);
        assert!((400..500).contains(&answer.status), "{path}: {} {}", answer.status, answer.text());
        assert!(!answer.text().contains("secret\n") && !answer.text().contains("root:"), "{path}");
    }
    assert_eq!(get(lab.addr, &format!("/api/runs/{ID}/trials/1/files/trial.json")).status, 200);
}

#[test]
fn links_in_a_run_folder_show_nothing() {
    let runs = one_run();
    let secret = runs.path().join("secret.txt");
    fs::write(&secret, "secret").unwrap();
    let log = runs.run(ID).join("trials/0001/target.log");
    fs::remove_file(&log).unwrap();
    std::os::unix::fs::symlink(&secret, &log).unwrap();
    let lab = Lab::over(&runs);
    get(lab.addr, &format!("/api/runs/{ID}/page")).refused(403, "link");
    get(lab.addr, &format!("/api/runs/{ID}/trials/1")).refused(403, "link");
    let download = get(lab.addr, &format!("/api/runs/{ID}/trials/1/files/target.log"));
    assert!(download.status >= 400 && !download.text().contains("secret\""), "{}", download.text());
}

#[test]
fn requests_that_are_too_large_or_broken_are_ended() {
    let runs = one_run();
    let lab = Lab::over(&runs);
    let path = format!("/api/runs/{ID}/label");
    let long = format!("{{\"tags\":[],\"note\":\"{}\"}}", "n".repeat(100_000));
    change(lab.addr, "PUT", &path, &long).refused(413, "cannot be read");
    change(lab.addr, "PUT", &path, "{\"tags\":1}").refused(400, "not what is wanted");
    change(lab.addr, "PUT", &path, "{\"tags\":[],\"note\":\"\",\"x\":1}").refused(400, "unknown field");
    change(lab.addr, "PUT", &path, "{\"tags\":[\"a,b\"],\"note\":\"\"}").refused(422, "comma");
    for head in ["X".repeat(100_000), format!("GET / HTTP/1.1\r\n{}", "a: b\r\n".repeat(500))] {
        let mut stream = TcpStream::connect(lab.addr).unwrap();
        // It may be closed while this is still being written.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(b"\r\n\r\n"));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.is_empty() || answer.contains(" 431 ") || answer.contains(" 400 "), "{answer}");
    }
    assert_eq!(get(lab.addr, "/api/runs").status, 200);
}
