//! Several origins in one load, from vegeta's targets to the counts of each server.

use super::server::{Server, read};
use crate::command::{bad, done, good};
use crate::load::check_report;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// Requests by their `Host` and whether they had an `Authorization`.
type Seen = Arc<Mutex<BTreeMap<(String, bool), u64>>>;

fn server() -> (Server, Seen) {
    let seen = Seen::default();
    let counts = seen.clone();
    let server = Server::start(move |mut stream| {
        let mut rest = Vec::new();
        while let Some(request) = read(&mut stream, &mut rest) {
            let host = request.field("host").unwrap_or_default().to_owned();
            *counts.lock().unwrap().entry((host, request.field("authorization").is_some())).or_default() += 1;
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                return;
            }
        }
    });
    (server, seen)
}

/// What the server saw: all of it was for `host`, with a login or without.
fn taken(seen: &Seen, host: &str, has_login: bool) -> u64 {
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    let count = seen.values().sum();
    assert_eq!(seen, BTreeMap::from([((host.to_owned(), has_login), count)]));
    count
}

#[test]
fn vegeta_targets_of_three_origins_are_loaded_in_one_run() {
    let servers = [(); 3].map(|()| server());
    let [one, two, three] = servers.each_ref().map(|(server, _)| server.addr.to_string());
    let folder = tempfile::tempdir().unwrap();
    let targets = folder.path().join("targets.txt");
    std::fs::write(
        &targets,
        format!("GET http://{one}/a\nGET http://{two}/a\n\nPOST http://{three}/b\n\nGET http://{one}/c\n"),
    )
    .unwrap();
    let file = folder.path().join("shop.toml");
    let (targets, file) = (targets.to_str().unwrap(), file.to_str().unwrap());
    let imported = good(&["import", targets, "--all-origins", "-o", file]);
    assert!(!imported.err.contains("left out"), "{}", imported.err);
    let url = format!("http://me:secret@{one}");
    for driver in ["epoll", "io_uring"] {
        for pacing in
            [&["-n", "300", "-c", "4", "-t", "2"][..], &["-R", "2000", "-n", "300", "--processes", "2"]]
        {
            let mut all =
                vec!["load", &url, "--scenario", file, "--driver", driver, "--format", "json", "--quiet"];
            all.extend(pacing);
            let done = done(&all);
            let report: Value =
                serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"));
            check_report(&report);
            assert_eq!(
                report["requests"]["completed"], 300,
                "{driver} {pacing:?}: {}",
                report["error_examples"]
            );
            let by_name =
                |place: usize| report["by_request"][place]["requests"]["completed"].as_u64().unwrap();
            let seen = [
                taken(&servers[0].1, &one, true),
                taken(&servers[1].1, &two, false),
                taken(&servers[2].1, &three, false),
            ];
            assert_eq!(seen, [by_name(0) + by_name(3), by_name(1), by_name(2)], "{driver} {pacing:?}");
            assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
            let notes = report["notes"].to_string();
            assert!(notes.contains("requests go to 3 origins"), "{notes}");
        }
    }
}

#[test]
fn what_is_for_one_origin_is_refused_before_anything_is_sent() {
    let (server, seen) = server();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.toml");
    let scenario = |origin: &str| {
        format!(
            "schema = \"prony.scenario/1\"\nname = \"shop\"\n[[requests]]\nname = \"a\"\npath = \"/\"\n\
             [[requests]]\nname = \"b\"\npath = \"/\"\norigin = \"{origin}\"\n"
        )
    };
    let file_path = file.to_str().unwrap();
    let load = |origin: &str, more: &[&str], texts: &[&str]| {
        std::fs::write(&file, scenario(origin)).unwrap();
        let url = server.url("");
        bad(&[&["load", &url, "--scenario", file_path, "-n", "1"][..], more].concat(), 1, texts);
    };
    load("http://127.0.0.1:1", &["--follow"], &["--follow", "2 origins", "remedy"]);
    load("http://127.0.0.1:1", &["--proxy", "http://127.0.0.1:1"], &["--proxy", "2 origins"]);
    load("https://127.0.0.1:1", &[], &["requests.1.origin", "cannot be loaded together"]);
    // An address for documentation (RFC 5737), which is looked at and never connected to.
    load("http://192.0.2.1", &[], &["neither loopback nor private", "--consent 192.0.2.1"]);
    load("http://127.0.0.1:1/x", &[], &["no path"]);
    assert!(seen.lock().unwrap().is_empty());
}
