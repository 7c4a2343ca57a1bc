//! A fleet with keys of its own: the folder that is made, loads over TLS, and agents that are drained and stopped.

use crate::command::{Server, done, good, prony};
use crate::load::{stats, wait_until};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};

pub(crate) fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn keys_are_secret_and_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    let made = ["fleet", "keys", keys.to_str().unwrap(), "--agents", "load-1,load-2"];
    let first = good(&[&made[..], &["--hosts", "10.0.0.1,h:9"]].concat());
    for words in ["tcp = \"10.0.0.1:7411\"", "tcp = \"h:9\"", "tls = \"controller\"", "--tls load-2"] {
        assert!(first.out.contains(words), "{words}: {}", first.out);
    }
    for own in ["", "controller", "agents", "agents/load-1"] {
        assert_eq!(mode(&keys.join(own)), 0o700, "{own}");
    }
    for file in
        ["authority.key", "controller/key.pem", "agents/load-2/key.pem", "agents/load-2/authority.pem"]
    {
        assert_eq!(mode(&keys.join(file)), 0o600, "{file}");
    }
    let before = std::fs::read(keys.join("authority.key")).unwrap();
    let again = done(&made);
    assert!(again.code == 1 && again.err.contains("never written over"), "{again:?}");
    let add = ["fleet", "keys", keys.to_str().unwrap(), "--add", "load-3"];
    good(&add);
    let twice = done(&add);
    assert!(twice.code == 1 && twice.err.contains("has keys already"), "{twice:?}");
    assert_eq!(std::fs::read(keys.join("authority.key")).unwrap(), before);
    let fleet = std::fs::read_to_string(keys.join("fleet.toml")).unwrap();
    assert_eq!(fleet.matches("[[agent]]").count(), 3, "{fleet}");
    for (wrong, words) in [
        (&["--agents", "A"][..], "cannot be the name"),
        (&["--agents", "a,a"], "two agents"),
        (&["--agents", "a", "--hosts", "b,c"], "one host for each agent"),
        (&["--agents", "a", "--hosts", "b:x"], "no host with a port"),
    ] {
        let other = folder.path().join("other");
        let refused = done(&[&["fleet", "keys", other.to_str().unwrap()], wrong].concat());
        assert!(
            refused.code == 1 && refused.err.contains(words) && refused.err.contains("remedy: "),
            "{refused:?}"
        );
        assert!(!other.exists(), "nothing is left of it");
    }
}

/// Two agents with keys, and the fleet file that names them.
fn fleet(folder: &Path) -> (Vec<Child>, String) {
    let keys = folder.join("keys");
    good(&["fleet", "keys", keys.to_str().unwrap(), "--agents", "load-1,load-2"]);
    let file = keys.join("fleet.toml");
    let mut text = std::fs::read_to_string(&file).unwrap();
    let mut agents = Vec::new();
    for name in ["load-1", "load-2"] {
        let own = keys.join("agents").join(name);
        let args = ["agent", "--listen", "127.0.0.1:0", "--tls", own.to_str().unwrap()];
        let mut agent = prony(&args).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(agent.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap();
        text = text.replace(&format!("{name}:7411"), address);
        agents.push(agent);
    }
    std::fs::write(&file, text).unwrap();
    (agents, file.to_str().unwrap().to_owned())
}

#[test]
fn a_fleet_with_keys_makes_a_load_over_tls_and_is_drained() {
    let folder = tempfile::tempdir().unwrap();
    let (server, (agents, file)) = (Server::start(&[]), fleet(folder.path()));
    let load = ["load", &server.url("/ping"), "--fleet", &file, "-c", "4", "-n", "1000", "--format", "json"];
    let report: Value = serde_json::from_str(&good(&load).out).unwrap();
    assert_eq!((report["requests"]["completed"].as_u64(), stats(&server)), (Some(1000), 1000));
    let listed: Value =
        serde_json::from_str(&good(&["fleet", "list", &file, "--format", "json"]).out).unwrap();
    crate::load::check_schema("fleet-list", &listed);
    assert_eq!(listed["agents"][1]["name"], "load-2");
    assert_eq!(listed["agents"][1]["state"]["is_ending"], false);
    let drained = good(&["fleet", "drain", &file]);
    for words in ["load-1: ending, idle", "load-1: ended", "load-2: ended"] {
        assert!(drained.out.contains(words), "{}", drained.out);
    }
    for mut agent in agents {
        assert!(agent.wait().unwrap().success());
    }
    let gone = done(&["fleet", "list", &file]);
    assert!(gone.code == 2 && gone.out.contains("agent load-1 cannot be reached"), "{gone:?}");
    let gone = done(&["fleet", "drain", &file]);
    assert!(gone.code == 2 && gone.out.contains("agent load-2 cannot be reached"), "{gone:?}");
}

#[test]
fn a_fleet_that_is_stopped_ends_its_load_with_the_results() {
    let folder = tempfile::tempdir().unwrap();
    let (server, (agents, file)) = (Server::start(&[]), fleet(folder.path()));
    let load = ["load", &server.url("/ping"), "--fleet", &file, "-c", "4", "-R", "200", "-d", "10m"];
    let load = prony(&load).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("requests arrive", || stats(&server) > 50);
    let busy = good(&["fleet", "list", &file]);
    assert!(busy.out.contains("busy for") && busy.out.contains(&server.url("")), "{}", busy.out);
    good(&["fleet", "stop", &file]);
    let ended = load.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(err.contains("was stopped by `prony fleet stop`"), "{err}");
    assert!(out.contains("load-1") && out.contains("load-2"), "the results are kept: {out}");
    for mut agent in agents {
        assert!(agent.wait().unwrap().success());
    }
}
