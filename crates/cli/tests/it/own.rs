//! Services as somebody else would write them (`tests/own`): nothing in them knows of prony, and all that they report is
//! what standard libraries report. Each of twelve faults must be named first from that and from outside.
//!
//! What they ask runs on the generator's CPU, whose load is small, so that the fault is theirs and not a shared core.

use crate::command::{done, is_there, prony, root, turn};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A service, and how it is built; `{own}` is its folder, `{build}` where its build goes.
struct Service {
    name: &'static str,
    needs: &'static [&'static str],
    build: &'static str,
    /// The command of its target, and its metrics.
    command: &'static str,
    metrics: &'static str,
}

const GO: Service = Service {
    name: "go",
    needs: &["go"],
    build: "go build -trimpath -o {build}/shop .",
    command: r#"["{build}/shop"]"#,
    metrics: r#"exporters = [{ path = "/metrics" }]"#,
};
const NODE: Service = Service {
    name: "node",
    needs: &["node", "npm"],
    build: "cp package.json package-lock.json server.js {build} && cd {build} && npm ci --no-audit --no-fund --silent",
    command: r#"["node", "{build}/server.js"]"#,
    metrics: r#"exporters = [{ path = "/metrics" }]"#,
};
const JVM: Service = Service {
    name: "jvm",
    needs: &["mvn", "java"],
    build: "mvn -q -B -ntp -Dshop.build={build} package",
    command: r#"["java", "-XX:+UseSerialGC", "-Xmx160m", "-Xmn16m", "-Dsun.net.httpserver.nodelay=true", "-cp", "{build}/shop.jar:{build}/lib/*", "Shop"]"#,
    metrics: r#"exporters = [{ path = "/metrics" }]"#,
};
const PHP: Service = Service {
    name: "php",
    needs: &["php-fpm8.2", "nginx"],
    build: "cp shop.php serve.sh {build}",
    command: r#"["{build}/serve.sh"]"#,
    metrics: r#"php_fpm = "/status?json""#,
};

struct Case {
    name: &'static str,
    service: &'static Service,
    path: &'static str,
    /// Any of them is right.
    causes: &'static [&'static str],
    /// Of the target's environment, `NAME=value`.
    env: &'static [&'static str],
    /// More of the experiment: limits, and what differs in the load.
    more: &'static str,
    load: &'static str,
}

const LEVELS: &str = "model = \"closed\"\nconnections = [1, 16]";

const fn case(
    name: &'static str,
    service: &'static Service,
    path: &'static str,
    causes: &'static [&'static str],
) -> Case {
    Case { name, service, path, causes, env: &[], more: "", load: LEVELS }
}

const CASES: &[Case] = &[
    case("pool", &GO, "/orders", &["pool_wait"]),
    case("lock", &GO, "/stock", &["lock_contention"]),
    case("disk", &GO, "/journal", &["disk_wait"]),
    case("downstream", &GO, "/prices", &["downstream_wait"]),
    case("event loop", &NODE, "/invoice", &["event_loop_blocked"]),
    Case {
        load: "model = \"open\"\nrate = 300\nconnections = 8",
        ..case("leak", &NODE, "/cart", &["memory_growth"])
    },
    case("retry storm", &NODE, "/delivery", &["retry_storm"]),
    Case {
        env: &["CATALOGUE=1"],
        load: "model = \"closed\"\nconnections = 8",
        ..case("collector", &JVM, "/catalogue", &["gc_pauses", "allocation_pressure"])
    },
    Case {
        more: "limits = { cpus = 0.4 }",
        load: "model = \"closed\"\nconnections = 8",
        ..case("quota", &JVM, "/search", &["throttling"])
    },
    Case {
        env: &["BACKLOG=1"],
        load: "model = \"closed\"\nconnections = 64\nconnection = { requests = 35, ramp = 200 }",
        ..case("accept queue", &JVM, "/welcome", &["accept_queue"])
    },
    case("CPU", &PHP, "/login", &["cpu_saturated"]),
    Case {
        load: "model = \"closed\"\nconnections = 4",
        ..case("N+1", &PHP, "/wishes", &["downstream_calls"])
    },
];
/// Of these so many.
const NAMED_MIN: usize = 9;

#[test]
#[ignore = "builds services in four languages and runs twelve experiments, five minutes; run by `make test-all`"]
fn what_services_of_ones_own_lack_is_named() {
    let _turn = turn();
    // Not in a file system in memory, which has no disk to wait for.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut built: BTreeMap<&str, Result<PathBuf, String>> = BTreeMap::new();
    let missing = CASES.iter().flat_map(|case| case.service.needs).find(|program| !is_there(program));
    let database =
        ["mariadbd", "mariadb", "mariadb-install-db", "taskset"].iter().find(|program| !is_there(program));
    if let Some(program) = missing.or(database) {
        println!("skipped: {} cases: {program} is missing (`prony targets` says how to get it)", CASES.len());
        return;
    }
    for case in CASES {
        built.entry(case.service.name).or_insert_with(|| build(case.service, folder.path()));
    }
    let shop = built["go"].as_ref().unwrap().join("shop");
    let backend = Backend::start(&shop);
    let database = Database::start();
    let wrong: Vec<String> = CASES
        .iter()
        .filter_map(|case| {
            let build = built[case.service.name].as_ref().unwrap();
            judge(case, build, &folder.path().join(case.path.trim_matches('/')), &backend, &database).err()
        })
        .collect();
    println!("{} of {} causes named", CASES.len() - wrong.len(), CASES.len());
    assert!(CASES.len() - wrong.len() >= NAMED_MIN, "{wrong:#?}");
}

fn build(service: &Service, folder: &Path) -> Result<PathBuf, String> {
    let own = root().join("crates/cli/tests/own").join(service.name);
    let build = folder.join(format!("build-{}", service.name));
    std::fs::create_dir_all(&build).unwrap();
    let script = service.build.replace("{build}", build.to_str().unwrap());
    let done = Command::new("sh").args(["-ec", &script]).current_dir(own).output().unwrap();
    match done.status.success() {
        true => Ok(build),
        false => Err(format!("{}: {}", service.name, String::from_utf8_lossy(&done.stderr))),
    }
}

fn judge(
    case: &Case,
    build: &Path,
    folder: &Path,
    backend: &Backend,
    database: &Database,
) -> Result<(), String> {
    std::fs::create_dir_all(folder).unwrap();
    let file = folder.join("experiment.toml");
    std::fs::write(&file, experiment(case, build, folder, backend, database)).unwrap();
    let runs = folder.join("runs");
    let ran = done(&["run", file.to_str().unwrap(), "--runs", runs.to_str().unwrap()]);
    let run = std::fs::read_dir(&runs).ok().and_then(|mut entries| entries.next()?.ok());
    let Some(run) = run else { return Err(format!("{}: no run: {}\n{}", case.name, ran.out, ran.err)) };
    let why = done(&["why", run.path().to_str().unwrap(), "--format", "json"]);
    assert_eq!(why.code, 0, "{}: {}\n{}", case.name, why.out, why.err);
    let why: Value = serde_json::from_str(&why.out).expect("`prony why` writes JSON");
    let cell = why["cells"].as_array().unwrap().last().unwrap().clone();
    let findings = cell["findings"].as_array().unwrap();
    let all: Vec<String> = findings
        .iter()
        .map(|found| {
            let text = found["text"]["text"].as_str().unwrap_or("?");
            format!(
                "{} ({}): {text}",
                found["cause"].as_str().unwrap_or("?"),
                found["severity"].as_str().unwrap_or("?")
            )
        })
        .collect();
    // Time that a hypervisor took away is the host's, and is rightly told first.
    let findings: Vec<&Value> = findings.iter().filter(|found| found["cause"] != "steal").collect();
    let is_right = findings.first().is_some_and(|first| {
        first["severity"] != "low" && case.causes.iter().any(|cause| first["cause"] == *cause)
    });
    println!("{:14} {} {}", case.name, if is_right { "named" } else { "MISSED" }, all.join("\n    "));
    if is_right { Ok(()) } else { Err(format!("{}: {all:#?}\n{}", case.name, cell["answer"])) }
}

fn experiment(case: &Case, build: &Path, folder: &Path, backend: &Backend, database: &Database) -> String {
    let fixed = [
        "LISTEN=\"{host}:{port}\"".to_owned(),
        format!("BACKEND=\"http://{}\"", backend.address),
        format!("JOURNAL={folder:?}"),
    ];
    let database = match case.service.name {
        "php" => vec![
            format!("DSN=\"mysql:host={};port={}\"", database.host, database.port),
            "DB_USER=\"prony\"".to_owned(),
            "DB_PASSWORD=\"prony\"".to_owned(),
        ],
        _ => vec![format!("DSN=\"prony:prony@tcp({}:{})/\"", database.host, database.port)],
    };
    let own = case.env.iter().map(|pair| {
        let (name, value) = pair.split_once('=').unwrap();
        format!("{name}=\"{value}\"")
    });
    let env: Vec<String> = fixed.into_iter().chain(database).chain(own).collect();
    format!(
        "[experiment]\nname = \"own\"\nblocks = 2\n[[target]]\nname = \"shop\"\ncommand = {command}\n\
         env = {{ {env} }}\nready = {{ path = \"/health\", timeout = \"20s\" }}\n{more}\n[target.metrics]\n{metrics}\n\
         [scenario]\nrequest = {{ path = \"{path}\" }}\nexpect = {{ status = [200] }}\n\
         [load]\n{load}\n[phases]\nwarmup = {{ at_least = \"2s\", at_most = \"2s\" }}\n\
         sample = \"5s\"\nsamples = 1\n",
        command = case.service.command.replace("{build}", build.to_str().unwrap()),
        env = env.join(", "),
        more = case.more,
        metrics = case.service.metrics,
        path = case.path,
        load = case.load,
    )
}

/// The service that others ask, on the generator's CPU.
struct Backend {
    process: Child,
    address: String,
}

impl Backend {
    fn start(shop: &Path) -> Self {
        let mut process = Command::new("taskset")
            .args(["-c", "0", shop.to_str().unwrap()])
            .envs([("ROLE", "backend"), ("LISTEN", "127.0.0.1:0")])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { process, address: address.trim().to_owned() }
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}

/// MariaDB as `prony services up` starts it, on the generator's CPU.
struct Database {
    process: Child,
    host: String,
    port: String,
}

impl Database {
    fn start() -> Self {
        let prony = prony(&["services", "up", "mariadb"]);
        let mut process = Command::new("taskset")
            .args(["-c", "0"])
            .arg(prony.get_program())
            .args(prony.get_args())
            .current_dir(root())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut value = |name: &str| {
            let line = lines.find(|line| line.contains(name)).expect("the service tells its address");
            line.split_once('=').unwrap().1.trim_matches(|c| c == '\'' || c == '"').to_owned()
        };
        let (host, port) = (value("MARIADB_HOST="), value("MARIADB_PORT="));
        Self { process, host, port }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}

/// Ended when asked: prony stops what it started.
fn end(process: &mut Child) {
    let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
    let _ = process.wait();
}
