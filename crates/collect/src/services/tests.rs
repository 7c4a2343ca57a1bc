//! Peers that hang, talk nonsense, go away or repeat what they were sent; and the real services.

use super::*;

const PLANTED: &str = "pl4nted-passw0rd";
const KINDS: [ServiceKind; 3] = [ServiceKind::Mariadb, ServiceKind::Postgres, ServiceKind::Redis];

fn at(kind: ServiceKind, addr: SocketAddr) -> ServiceAt {
    ServiceAt {
        name: "x".to_owned(),
        kind,
        addr,
        user: Some("someone".to_owned()),
        database: None,
        password: Ok(Some(Secret::new(PLANTED.to_owned()))),
    }
}

/// Ticks once; the message of the gap, which holds no password.
fn gap(at: ServiceAt) -> String {
    let mut collector = crate::Collector::new(sources(vec![at]));
    assert!(collector.tick(Nanos(1)).is_empty());
    let (name, error) = collector.last_errors().iter().next().unwrap();
    assert!(name.starts_with("service.x."), "{name}");
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(PLANTED), "{shown}");
    shown
}

#[test]
fn names_and_debug_texts_have_no_password() {
    let addr = ([127, 0, 0, 1], 9).into();
    let names = KINDS.map(|kind| at(kind, addr).source_name());
    assert_eq!(names, ["service.x.db", "service.x.db", "service.x.redis"]);
    assert!(!format!("{:?}", at(ServiceKind::Redis, addr)).contains(PLANTED));
}

#[cfg(not(feature = "databases"))]
#[test]
fn without_the_clients_the_gap_says_so() {
    assert!(gap(at(ServiceKind::Redis, ([127, 0, 0, 1], 9).into())).contains("without the feature"));
}

#[cfg(feature = "databases")]
mod with_clients {
    use super::*;
    use std::fs;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    #[test]
    fn a_service_that_hangs_costs_a_gap_within_its_limit() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        for kind in KINDS {
            let shown = gap(at(kind, listener.local_addr().unwrap()));
            assert!(shown.contains("service x at 127.0.0.1"), "{shown}");
        }
    }

    #[test]
    fn nonsense_and_a_service_that_is_gone_cost_a_gap() {
        for kind in KINDS {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let addr = listener.local_addr().unwrap();
            let peer = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = stream.write_all(&[0xff; 4096]);
            });
            gap(at(kind, addr));
            peer.join().unwrap();
            gap(at(kind, addr));
        }
    }

    #[test]
    fn a_peer_that_repeats_the_password_does_not_get_it_shown() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let peer = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).unwrap();
            let sent = String::from_utf8_lossy(&bytes[..count]).into_owned();
            let reply = format!("-WRONGPASS you sent {PLANTED}\r\n");
            let _ = stream.write_all(reply.repeat(8).as_bytes());
            sent
        });
        let shown = gap(at(ServiceKind::Redis, addr));
        assert!(shown.contains("***") || !shown.contains("you sent"), "{shown}");
        assert!(peer.join().unwrap().contains(PLANTED), "the plant: it was sent");
    }

    #[test]
    fn a_password_that_cannot_be_had_is_the_cause() {
        for kind in KINDS {
            let at = ServiceAt {
                password: Err("the variable P is not set".to_owned()),
                ..at(kind, ([127, 0, 0, 1], 9).into())
            };
            assert!(gap(at).contains("the variable P is not set"));
        }
    }

    #[test]
    fn real_answers() {
        let reading = redis::parse(include_str!("../../fixtures/services/redis-info.txt")).unwrap();
        assert_eq!(
            (reading.gauge("clients"), reading.gauge("memory_max_bytes")),
            (Some(1.0), Some(268_435_456.0))
        );
        assert!(reading.counter("command_ns").unwrap() > 0 && reading.counter("cpu_ns").unwrap() > 0);
        let status = include_str!("../../fixtures/services/mariadb-status.txt");
        let status = status.lines().filter_map(|line| line.split_once('\t'));
        let reading = mariadb::reading(&status.map(|(k, v)| (k.to_owned(), v.to_owned())).collect());
        assert_eq!((reading.gauges.len(), reading.counters.len()), (3, 7), "{reading:?}");
        let row = include_str!("../../fixtures/services/postgres-row.txt").trim_end_matches('\n');
        let row: Vec<_> = row.split('|').map(|text| Some(text).filter(|text| !text.is_empty())).collect();
        let reading = postgres::reading(&row).unwrap();
        assert_eq!(reading.gauge("connections_max"), Some(100.0), "{reading:?}");
        assert!(reading.counters.len() == 6 && reading.gauge("slowest_ns").is_none(), "{reading:?}");
    }

    #[test]
    fn what_is_not_theirs_is_an_error() {
        for text in ["", "nonsense", "connected_clients:x", "used_cpu_sys:NaN", "cmdstat_get:calls=1"] {
            redis::parse(text).expect_err(text);
        }
        assert!(postgres::reading(&[]).is_err() && postgres::reading(&[Some("-1"); 11]).is_err());
        assert_eq!(mariadb::reading(&std::collections::BTreeMap::new()), Reading::default());
    }

    /// A program that is ended with the test.
    struct Running(Child);

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn is_there(program: &str, package: &str) -> bool {
        let found =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if found.is_err() {
            println!("skipped: {program} is not installed (apt-get install {package})");
        }
        found.is_ok()
    }

    fn free_port() -> u16 {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
    }

    fn start(command: &mut Command) -> Running {
        Running(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Ticks until the service is up, then once more; the second line.
    fn second_line(at: ServiceAt) -> CounterLine {
        let mut source = source(at);
        let deadline = std::time::Instant::now() + Duration::from_secs(60);
        loop {
            match source.tick(Nanos(1)) {
                Ok(_) => return source.tick(Nanos(2)).unwrap(),
                Err(error) if std::time::Instant::now() > deadline => panic!("{error}"),
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    #[test]
    #[ignore = "starts a real Redis"]
    fn a_real_redis() {
        if !is_there("redis-server", "redis-server") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let _running = start(
            Command::new("redis-server")
                .args([
                    "--port",
                    &port.to_string(),
                    "--bind",
                    "127.0.0.1",
                    "--save",
                    "",
                    "--requirepass",
                    PLANTED,
                ])
                .arg("--dir")
                .arg(folder.path()),
        );
        let right = ServiceAt { user: None, ..at(ServiceKind::Redis, ([127, 0, 0, 1], port).into()) };
        let line = second_line(right.clone());
        assert_eq!(
            (line.source.as_str(), line.deltas["commands"]),
            ("service.x.redis", 1.0),
            "one INFO since"
        );
        assert!(line.gauges["clients"] >= 1.0);
        let wrong = ServiceAt { password: Ok(Some(Secret::new("other".to_owned()))), ..right };
        let shown = gap(wrong);
        assert!(shown.contains("uthentication"), "{shown}");
    }

    #[test]
    #[ignore = "starts a real MariaDB"]
    fn a_real_mariadb() {
        if !is_there("mariadbd", "mariadb-server") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let data = format!("--datadir={}", folder.path().join("data").display());
        let install = [
            "--no-defaults",
            &data,
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--user=root",
        ];
        let made = Command::new("mariadb-install-db").args(install).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let port = free_port();
        let socket = format!("--socket={}", folder.path().join("s").display());
        let _running = start(Command::new("mariadbd").args([
            "--no-defaults",
            &data,
            &socket,
            "--user=root",
            "--bind-address=127.0.0.1",
            "--skip-name-resolve",
            &format!("--port={port}"),
        ]));
        let root = ServiceAt {
            user: Some("root".to_owned()),
            password: Ok(None),
            ..at(ServiceKind::Mariadb, ([127, 0, 0, 1], port).into())
        };
        let line = second_line(root.clone());
        assert_eq!(line.source, "service.x.db");
        assert!(line.gauges["connections"] >= 1.0 && line.gauges["connections_max"] > 1.0, "{line:?}");
        assert!(line.deltas["statements"] >= 1.0, "{line:?}");
        assert!(gap(at(ServiceKind::Mariadb, root.addr)).contains("Access denied"));
    }

    #[test]
    #[ignore = "starts a real PostgreSQL"]
    fn a_real_postgres() {
        if !is_there("postgres", "postgresql") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let Some((data, as_user)) = postgres_folder(folder.path()) else {
            println!(
                "skipped: PostgreSQL cannot be made here (apt-get install postgresql, which adds its user)"
            );
            return;
        };
        let port = free_port();
        let mut command = as_user("postgres");
        command.args(["-D", &data, "-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        let _running =
            start(command.args(["-c", "unix_socket_directories=", "-c", "dynamic_shared_memory_type=mmap"]));
        let me = ServiceAt {
            user: Some("prony".to_owned()),
            ..at(ServiceKind::Postgres, ([127, 0, 0, 1], port).into())
        };
        let line = second_line(me.clone());
        assert_eq!((line.gauges["connections_max"], line.gauges["connections"]), (100.0, 1.0), "{line:?}");
        assert!(line.deltas.contains_key("transactions"), "{line:?}");
        let wrong = ServiceAt { user: Some("nobody".to_owned()), ..me };
        assert!(gap(wrong).contains("nobody"));
    }

    type AsUser = fn(&str) -> Command;

    /// A new data folder; as root, who may not run PostgreSQL, it belongs to the user postgres.
    fn postgres_folder(folder: &Path) -> Option<(String, AsUser)> {
        let is_root = rustix::process::geteuid().is_root();
        let as_user: AsUser = if is_root {
            |program| {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups", program]);
                command
            }
        } else {
            |program| Command::new(program)
        };
        let data = folder.join("data");
        fs::create_dir(&data).unwrap();
        if is_root && !Command::new("chown").arg("-R").arg("postgres").arg(folder).status().ok()?.success() {
            return None;
        }
        let data = data.display().to_string();
        let made = as_user("initdb")
            .args(["-D", &data, "-A", "trust", "-U", "prony", "--locale=C"])
            .output()
            .ok()?;
        made.status.success().then_some((data, as_user))
    }
}
