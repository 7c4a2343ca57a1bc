//! How each command of the documents is checked: what is run, what is run dry, and what is only read, with the reason.
//!
//! The tables here decide the *way* of a check, never its outcome. A command that is only read still goes through
//! prony's own argument parser, so an unknown flag, a bad value or a missing argument trips.

/// A command line cut into words, programs and the shell's operators between them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) words: Vec<String>,
    /// What joins it with the next one; the last has none.
    pub(super) then: Option<String>,
}

/// How one call of prony is checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Way {
    /// It is run, with other ports and shorter times.
    Run,
    /// It is run with `--dry-run`, which checks the file and the plan.
    Dry,
    /// It is started until it says where it listens, and ended.
    Serve,
    /// Its arguments are read and nothing more; the reason is printed.
    Read(&'static str),
}

/// Programs that documents call beside prony, and that a line is run with. One that is missing costs the line its run.
pub(super) const BESIDE: [&str; 7] = ["jq", "rm", "cp", "ls", "mkdir", "cat", "head"];

/// Programs that a reader has and a test cannot use.
pub(super) const ELSEWHERE: [(&str, &str); 15] = [
    ("git", "fetches a repository"),
    ("cd", "has no meaning for the one line alone"),
    ("cargo", "builds for minutes"),
    ("java", "starts the reader's own service"),
    ("wrk", "another tool's run"),
    ("hey", "another tool's run"),
    ("vegeta", "another tool's run"),
    ("curl", "asks a server that another line started"),
    ("pbpaste", "the clipboard of a desktop"),
    ("xdg-open", "the browser of a desktop"),
    ("apt-get", "installs packages"),
    ("ssh", "another host"),
    ("skopeo", "another host"),
    ("podman", "a container engine, which a test has not"),
    ("scripts/pictures.sh", "starts a browser and measures for minutes"),
];

/// Exit codes beside 0 that are right in a short run against the reference target.
pub(super) const OTHER_CODES: [(&str, &str, i32, &str); 8] = [
    ("load", "--fail", 3, "a short load leaves a limit undecided"),
    ("load", "--scenario", 2, "the reference target is not that service"),
    ("load", "--compat", 2, "a busy machine"),
    ("load", "--think", 2, "nobody has thought to the end"),
    ("replay", "--fail", 3, "a short load leaves a limit undecided"),
    ("audit", "", 3, "a row is impossible"),
    ("compare", "", 2, "on a busy machine every trial may be void"),
    ("calibrate", "--show", 1, "tests keep no calibration"),
];

/// The line as steps; quotes and comments as a shell reads them.
pub(super) fn steps(line: &str) -> Result<Vec<Step>, String> {
    let words = shlex::split(line).ok_or("a quote is not closed")?;
    let mut steps = vec![Step { words: Vec::new(), then: None }];
    for word in words {
        let last = steps.last_mut().expect("there is always one");
        if ["&&", "|", ";"].contains(&word.as_str()) {
            last.then = Some(word);
            steps.push(Step { words: Vec::new(), then: None });
        } else {
            last.words.push(word);
        }
    }
    if steps.iter().any(|step| step.words.is_empty()) {
        return Err("a command is missing beside an operator".into());
    }
    Ok(steps)
}

/// The arguments of a call of prony; none where another program is called.
pub(super) fn arguments(step: &Step) -> Option<&[String]> {
    let words = match step.words.split_first() {
        Some((first, rest)) if first == "sudo" => rest,
        _ => &step.words,
    };
    let (program, rest) = words.split_first()?;
    // A redirection is the shell's, not prony's.
    let end = rest.iter().position(|word| word == ">" || word == "<").unwrap_or(rest.len());
    (program == "prony" || program == "target/release/prony").then(|| &rest[..end])
}

/// The way in which a call of prony is checked.
pub(super) fn way(arguments: &[String]) -> Result<Way, String> {
    let has = |flag: &str| arguments.iter().any(|word| word == flag);
    let sub = arguments.get(1).map(String::as_str);
    Ok(match arguments.first().map(String::as_str) {
        Some("agent") => Way::Read("it waits for a controller; tests/it/fleet.rs runs it"),
        Some("fleet") if sub == Some("up") => Way::Read("it stays until Ctrl-C; tests/it/fleet.rs runs it"),
        Some("fleet") if sub == Some("keys") => Way::Read("it makes keys; tests/it/fleet_keys.rs runs it"),
        Some("fleet") if sub == Some("manifest") => {
            Way::Read("it needs a folder of keys; tests/it/fleet_manifest.rs runs it")
        }
        Some("fleet" | "load" | "run") if has("fleet.toml") => {
            Way::Read("it needs agents on other hosts; tests/it/fleet.rs runs some")
        }
        Some("ci") => Way::Read("its repository is the reader's own; tests/it/ci.rs runs it"),
        Some("run") if has("--tune") => Way::Read("it changes settings of the host"),
        Some("run") if has("--junit") => Way::Read("a whole experiment"),
        Some("run") if has("--resume") || has("--dry-run") => Way::Run,
        Some("run") => Way::Dry,
        Some("knee") if has("--dry-run") => Way::Run,
        Some("knee") => Way::Dry,
        Some("init") if arguments.len() == 1 => Way::Read("it asks at a terminal; tests/it/init.rs runs it"),
        Some("init") if !has("http://127.0.0.1:8080") && !has("http://127.0.0.1:8080/api") => {
            Way::Read("its services are the reader's own; tests/it/init.rs runs it")
        }
        Some("plan") => Way::Read("it needs earlier runs; tests/it/design.rs runs it"),
        Some("load") if has("--grpc") || has("ghz") => {
            Way::Read("its .proto is the reader's own; tests/it/grpc.rs runs some")
        }
        Some("soak") => Way::Read("hours of load"),
        Some("profile") => Way::Read("a load under profilers"),
        Some("selfcheck") => Way::Read("it computes for minutes; tests/it/selfcheck.rs runs it"),
        Some("ledger") if sub == Some("run") && !has("--dry-run") => {
            Way::Read("hours of load; tests/it/ledger.rs runs one")
        }
        Some("intervene") => Way::Read("it needs a run with a finding"),
        Some("why") if has("--spans") => Way::Read("it needs a target's spans; tests/it/traces.rs runs it"),
        Some("verify-monitoring") => {
            Way::Read("it needs a Prometheus; tests/it/verify_monitoring.rs runs it")
        }
        Some("mcp") => Way::Read("it answers until its client ends; tests/it/mcp.rs runs it"),
        Some("export") => Way::Read("it needs a result of its own; tests/it/export.rs runs it"),
        Some("metrics") if has("--remote-write") => {
            Way::Read("it needs a store; tests/it/monitoring.rs runs it")
        }
        Some("metrics") if has("--otlp") => Way::Read("it needs a collector; tests/it/monitoring.rs runs it"),
        Some("calibrate") if !has("--show") => Way::Read("it measures the host for up to minutes"),
        Some("doctor") if (has("--tune") && !has("--dry-run")) || has("--restore") => {
            Way::Read("it changes settings of the host")
        }
        Some("targets") if matches!(sub, Some("check" | "build" | "new")) => {
            Way::Read("it builds targets; tests/it/targets.rs runs it")
        }
        Some("load") if has("--proxy") => Way::Read("it needs a proxy; tests/it/way/proxy.rs runs it"),
        Some("services") if matches!(sub, Some("check" | "up")) => {
            Way::Read("it starts databases; tests/it/services.rs runs it")
        }
        // A shape that a short load would not reach is refused.
        Some("load") if arguments.iter().any(|word| word.contains(",at=") || word.contains(",each=")) => {
            Way::Read("a load as long as its shape; tests/it/shape.rs runs one")
        }
        Some("load" | "metrics") if has("--metrics-push") || has("--push") => {
            Way::Read("it needs a Pushgateway; tests/it/monitoring.rs pushes to one")
        }
        Some("metrics") if has("--listen") => Way::Serve,
        Some("record") => Way::Read("it records until it is ended; tests/it/recorder.rs runs it"),
        Some("reference") if has("--list-faults") => Way::Run,
        Some("reference" | "serve") => Way::Serve,
        Some(
            "init" | "load" | "fleet" | "replay" | "shape" | "import" | "model" | "audit" | "report" | "why"
            | "compare" | "history" | "targets" | "services" | "doctor" | "calibrate" | "completions"
            | "ledger" | "schema" | "metrics" | "--version" | "--help",
        ) => Way::Run,
        other => return Err(format!("no way to check `prony {}`", other.unwrap_or_default())),
    })
}

/// The same load, but short, small and against the servers of the test.
pub(super) fn shortened(arguments: &[String], plain: &str, tls: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let is_load = matches!(arguments.first().map(String::as_str), Some("load" | "replay"));
    for word in arguments {
        let before = out.last().map(String::as_str).unwrap_or_default();
        let word = match before {
            "-d" | "--duration" | "-z" if is_load => "200ms".to_owned(),
            "--warmup" if is_load => "100ms".to_owned(),
            "-n" | "--requests" if is_load => "50".to_owned(),
            "-c" | "--connections" if is_load => smaller(word, 8),
            "--max-connections" if is_load => smaller(word, 16),
            "-R" | "--rate" if is_load => smaller(word, 500),
            _ => word
                .replace("127.0.0.1:8080", plain)
                .replace("127.0.0.1:8081", plain)
                .replace("localhost:8080", plain)
                .replace("127.0.0.1:8443", tls)
                .replace("localhost:8443", tls)
                .replace("127.0.0.1:9464", "127.0.0.1:0"),
        };
        let glued = is_load && word.len() > 2 && word.as_bytes()[2].is_ascii_digit();
        out.push(match word.get(..2) {
            Some("-d") if glued => "-d200ms".to_owned(),
            Some("-c") if glued => "-c4".to_owned(),
            _ => word,
        });
    }
    let is_untimed =
        arguments.first().is_some_and(|word| word == "load") && !arguments.iter().any(|word| is_length(word));
    if is_untimed {
        out.splice(1..1, ["-d", "200ms"].map(str::to_owned));
    }
    out
}

/// Whether a word says how long a load is; another tool's flags have a length of their own.
fn is_length(word: &str) -> bool {
    const LENGTHS: [&str; 5] = ["--duration", "-n", "--requests", "--compat", "--help"];
    word.starts_with("-d")
        || LENGTHS.iter().any(|flag| word == *flag || word.starts_with(&format!("{flag}=")))
}

/// A count that is written plainly and is above the most; everything else stays.
fn smaller(word: &str, most: u64) -> String {
    match word.trim_end_matches(['k', 'm']).parse::<u64>() {
        Ok(count) if count > most || word.ends_with(['k', 'm']) => most.to_string(),
        _ => word.to_owned(),
    }
}

#[test]
fn a_line_is_read_as_a_shell_reads_it() {
    let read = steps("sudo prony model 'a b' --out r && prony run r/x.toml   # both").unwrap();
    assert_eq!(arguments(&read[0]).unwrap(), ["model", "a b", "--out", "r"]);
    assert_eq!(read[0].then.as_deref(), Some("&&"));
    assert_eq!(arguments(&read[1]).unwrap(), ["run", "r/x.toml"]);
    assert_eq!(arguments(&steps("prony audit - < a.md").unwrap()[0]).unwrap(), ["audit", "-"]);
    assert!(steps("prony load 'a").is_err() && steps("prony x &&").is_err());
    assert_eq!(arguments(&steps("jq . a.json").unwrap()[0]), None);
}

#[test]
fn loads_are_made_short_and_nothing_else_is() {
    let short = |line: &str| {
        let step = steps(line).unwrap().remove(0);
        shortened(arguments(&step).unwrap(), "127.0.0.1:1", "127.0.0.1:2").join(" ")
    };
    assert_eq!(
        short("prony load http://127.0.0.1:8080/x -c 10k -d 30s -R 1000 -t2 -c64 -d30s"),
        "load http://127.0.0.1:1/x -c 8 -d 200ms -R 500 -t2 -c4 -d200ms"
    );
    assert_eq!(short("prony shape -R 1k -d 30s"), "shape -R 1k -d 30s");
    assert_eq!(short("prony load http://127.0.0.1:8080/ -c 4"), "load -d 200ms http://127.0.0.1:1/ -c 4");
    assert_eq!(short("prony load -n 5 http://127.0.0.1:8080/"), "load -n 50 http://127.0.0.1:1/");
    assert_eq!(short("prony load --compat wrk -- -c 2"), "load --compat wrk -- -c 2");
}
