//! A fleet whose ends reach a NATS server and not each other: a real server, where one is installed.

use crate::command::{Server, done, good, prony};
use crate::load::{stats, wait_until};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use testkit::nats::NatsServer;

/// A process that ends with the test.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server on loopback that is ready, and its address; `None` where there is none to start.
fn bus(port: &str, options: &[&str]) -> Option<(NatsServer, String)> {
    let server = NatsServer::start(port, options)?;
    let address = server.address().to_owned();
    Some((server, address))
}

/// What a program says later must find an open pipe.
fn drain(lines: impl Iterator<Item = String> + Send + 'static) {
    std::thread::spawn(move || lines.count());
}

/// A folder of keys for agents of these names on a bus.
fn keys(folder: &Path, names: &str, server: &str) -> PathBuf {
    let keys = folder.join("keys");
    let made = good(&["fleet", "keys", keys.to_str().unwrap(), "--agents", names, "--nats", server]);
    assert!(made.out.contains(&format!("prony agent --join {server} --tls")), "{}", made.out);
    keys
}

/// An agent that has joined.
fn join(server: &str, keys: &Path, name: &str) -> Guard {
    let own = keys.join("agents").join(name);
    let args = ["agent", "--join", server, "--tls", own.to_str().unwrap()];
    let mut child = prony(&args).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let agent = Guard(child);
    said.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), format!("joined {server} as {name}"));
    drain(said.lines().map_while(Result::ok));
    agent
}

fn file(keys: &Path) -> String {
    keys.join("fleet.toml").display().to_string()
}

/// Two agents that have joined, and the file of their fleet.
fn two(folder: &Path, server: &str) -> ([Guard; 2], String) {
    let names = ["load-1", "load-2"];
    let keys = keys(folder, &names.join(","), server);
    (names.map(|name| join(server, &keys, name)), file(&keys))
}

/// Without a word of what was taken, an end stops after 2 MiB.
#[test]
fn a_file_longer_than_what_may_be_under_way_reaches_the_agents() {
    let Some((_bus, server)) = bus("-1", &[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (_agents, file) = two(folder.path(), &server);
    let rows: String = (0..400_000).map(|id| format!("{id:015}\n")).collect();
    std::fs::write(folder.path().join("items.csv"), format!("id\n{rows}")).unwrap();
    let scenario = folder.path().join("items.toml");
    let text = "schema = \"prony.scenario/1\"\nname = \"items\"\n[feeders.items]\nfile = \"items.csv\"\n\
                [request]\npath = \"/ping?id=${items.id}\"\n";
    std::fs::write(&scenario, text).unwrap();
    let target = Server::start(&[]);
    let load = ["load", &target.url(""), "--scenario", scenario.to_str().unwrap(), "--fleet", &file];
    good(&[&load[..], &["-c", "2", "-n", "100"]].concat());
    assert_eq!(stats(&target), 100);
}

#[test]
fn a_fleet_on_a_bus_makes_a_load_and_is_drained() {
    let Some((_bus, server)) = bus("-1", &[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (agents, file) = two(folder.path(), &server);
    let target = Server::start(&[]);
    for number in 1..=2 {
        let load =
            ["load", &target.url("/ping"), "--fleet", &file, "-c", "4", "-n", "1000", "--format", "json"];
        let report: Value = serde_json::from_str(&good(&load).out).unwrap();
        assert_eq!(report["requests"]["completed"], 1000);
        assert_eq!(stats(&target), 1000 * number, "the target counts the same");
        assert_eq!(report["fleet"]["agents"][1]["name"], "load-2");
    }
    let drained = good(&["fleet", "drain", &file]);
    assert!(
        drained.out.contains("load-1: ended") && drained.out.contains("load-2: ended"),
        "{}",
        drained.out
    );
    for mut agent in agents {
        assert!(agent.0.wait().unwrap().success());
    }
    let gone = done(&["fleet", "list", &file]);
    assert!(gone.code == 2 && gone.out.contains("no agent called load-1 is on nats://"), "{gone:?}");
}

#[test]
fn a_bus_that_goes_and_comes_back_costs_no_result() {
    let Some((first, server)) = bus("-1", &[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (_agents, file) = two(folder.path(), &server);
    let target = Server::start(&[]);
    let load = ["load", &target.url("/ping"), "--fleet", &file, "-c", "4", "-R", "400", "-n", "2400"];
    let load = prony(&[&load[..], &["--format", "json"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("requests arrive", || stats(&target) > 400);
    drop(first);
    let (_second, again) = bus(server.rsplit(':').next().unwrap(), &[]).unwrap();
    assert_eq!(again, server);
    let ended = load.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    // Where others have the CPUs its numbers are void, and its counts are right.
    assert!(matches!(ended.status.code(), Some(0 | 2)), "{err}");
    let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let requests = &report["requests"];
    assert_eq!((requests["scheduled"].as_u64(), requests["completed"].as_u64()), (Some(2400), Some(2400)));
    assert_eq!(stats(&target), 2400);
    let reconnects = |at: usize| report["fleet"]["agents"][at]["reconnects"].as_u64().unwrap();
    assert!(reconnects(0) > 0 && reconnects(1) > 0, "both streams were cut: {report}");
}

/// The rights that docs/fleet.md calls enough.
const RIGHTS: &str = r#"authorization {
  users = [
    { user: "load-1", password: "secret-a",
      permissions: { subscribe: ["prony.agent.load-1.>"], publish: ["prony.controller.load-1.>", "_INBOX.>"] } }
    { user: "controller", password: "secret-c",
      permissions: { publish: ["prony.agent.>"], subscribe: ["prony.controller.>", "_INBOX.>"] } }
  ]
}
"#;

#[test]
fn a_bus_lets_in_whom_it_knows_with_rights_that_are_enough() {
    let folder = tempfile::tempdir().unwrap();
    let rights = folder.path().join("nats.conf");
    std::fs::write(&rights, RIGHTS).unwrap();
    let Some((_bus, server)) = bus("-1", &["-c", rights.to_str().unwrap()]) else { return };
    let keys = keys(folder.path(), "load-1", &server);
    let (own, controller) = (keys.join("agents/load-1"), keys.join("controller"));
    let refused = done(&["agent", "--join", &server, "--tls", own.to_str().unwrap()]);
    assert!(refused.code == 1 && refused.err.contains("nats.toml beside the keys"), "{refused:?}");
    for (folder, user, password) in [(&own, "load-1", "secret-a"), (&controller, "controller", "secret-c")] {
        let login = folder.join("nats.toml");
        std::fs::write(&login, format!("user = \"{user}\"\npassword = \"{password}\"\n")).unwrap();
        std::fs::set_permissions(&login, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let _agent = join(&server, &keys, "load-1");
    let target = Server::start(&[]);
    let load =
        ["load", &target.url("/ping"), "--fleet", &file(&keys), "-c", "2", "-n", "100", "--format", "json"];
    let loaded = good(&load);
    assert_eq!(stats(&target), 100);
    assert!(!loaded.out.contains("secret"), "results keep no password");
}

#[test]
fn keys_of_another_fleet_open_nothing_on_a_bus() {
    let Some((_bus, server)) = bus("-1", &[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let own = keys(folder.path(), "load-1", &server);
    let _agent = join(&server, &own, "load-1");
    let others = folder.path().join("others");
    std::fs::create_dir(&others).unwrap();
    let theirs = keys(&others, "load-1", &server);
    let target = Server::start(&[]);
    let refused = done(&["load", &target.url("/ping"), "--fleet", &file(&theirs), "-c", "1", "-n", "10"]);
    assert!(refused.code == 2 && refused.err.contains("load-1 on nats://"), "{refused:?}");
    assert!(refused.err.contains("one `prony fleet keys`"), "{refused:?}");
    assert_eq!(stats(&target), 0);
    good(&["load", &target.url("/ping"), "--fleet", &file(&own), "-c", "1", "-n", "10"]);
}

#[test]
fn whoever_publishes_on_a_bus_ties_up_no_agent() {
    let Some((_bus, server)) = bus("-1", &[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(folder.path(), "load-1", &server);
    let _agent = join(&server, &keys, "load-1");
    let mut stranger = TcpStream::connect(server.strip_prefix("nats://").unwrap()).unwrap();
    let answers = BufReader::new(stranger.try_clone().unwrap());
    write!(stranger, "CONNECT {{\"verbose\":false}}\r\nSUB answers 1\r\n").unwrap();
    let streams: Vec<String> = (0..300).map(|number| format!("stream{number:04}")).collect();
    let names = ["", "a.b.c.d.e", "********"].into_iter().chain(streams.iter().map(String::as_str));
    for name in names {
        write!(stranger, "PUB prony.agent.load-1.open answers {}\r\n{name}\r\n", name.len()).unwrap();
    }
    // Neither a piece of a stream nor, as one, anything of TLS.
    for name in &streams {
        write!(stranger, "PUB prony.agent.load-1.{name} 3\r\nxyz\r\n").unwrap();
        write!(stranger, "PUB prony.agent.load-1.{name} 12\r\nD\0\0\0\0\0\0\0\0abc\r\n").unwrap();
    }
    let lines = answers.lines().map_while(Result::ok);
    let heard: Vec<String> = lines.skip_while(|line| !line.starts_with("MSG")).take(2 * 303).collect();
    assert_eq!(heard.iter().filter(|line| line.as_str() == "what names the stream is no name").count(), 3);
    let target = Server::start(&[]);
    good(&["load", &target.url("/ping"), "--fleet", &file(&keys), "-c", "1", "-n", "10"]);
    assert_eq!(stats(&target), 10);
}

#[test]
fn what_cannot_be_joined_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = "nats://127.0.0.1:9";
    let keys = keys(folder.path(), "load-1", nobody);
    let own = keys.join("agents/load-1");
    let own = own.to_str().unwrap();
    for (args, words) in [
        (&["--join", nobody, "--tls", own][..], "nats://127.0.0.1:9: "),
        (&["--join", nobody, "--tls", keys.join("controller").to_str().unwrap()], "another role"),
        (&["--join", "bus:4222", "--tls", own], "write for example nats://bus.internal:4222"),
        (&["--join", "nats://u:secret@bus:4222", "--tls", own], "stand in nats.toml beside the keys"),
        (&["--join", nobody], "--tls"),
    ] {
        let refused = done(&[&["agent"], args].concat());
        assert!(refused.code == 1 && refused.err.contains(words), "{args:?}: {refused:?}");
    }
    let list = done(&["fleet", "list", &file(&keys)]);
    assert!(list.code == 2 && list.out.contains("nats://127.0.0.1:9: "), "{list:?}");
    let text = std::fs::read_to_string(keys.join("fleet.toml")).unwrap();
    for (wrong, words) in [
        (text.replace("tls = \"controller\"\n", ""), "whoever reaches the bus could order loads"),
        (text.replace("nats://127.0.0.1:9", "127.0.0.1:9"), "is no address of a NATS server"),
        (text.replace("[[agent]]", "[[agent]]\ntcp = \"h:1\""), "exactly one of"),
    ] {
        std::fs::write(keys.join("fleet.toml"), wrong).unwrap();
        let refused = done(&["fleet", "list", &file(&keys)]);
        assert!(refused.code == 1 && refused.err.contains(words), "{refused:?}");
    }
    std::fs::write(keys.join("fleet.toml"), text).unwrap();
    let manifest = ["fleet", "manifest", keys.to_str().unwrap(), "--allow", "shop.internal"];
    let unit = good(&[&manifest[..], &["--systemd"]].concat());
    assert!(
        unit.out.contains("agent --join nats://127.0.0.1:9 --tls %d --allow shop.internal"),
        "{}",
        unit.out
    );
    let refused = done(&[&manifest[..], &["--kubernetes", "--image", "prony:1", "--print-keys"]].concat());
    assert!(refused.code == 1 && refused.err.contains("without --nats"), "{refused:?}");
}
