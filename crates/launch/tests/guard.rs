//! The guard as a process: nothing of a target survives its stop, its own end, or the death of prony.
//!
//! This binary has no test harness: it starts itself as the guard (`guard`, `guard-exec`), as a small server
//! (`serve PORT`) and as a prony that is killed (`parent LOG`); otherwise it runs the table of cases.
//! Every target carries a marker in its environment, by which its processes are found in `/proc`.

mod confine;

use launch::{RunningTarget, StartPlan, TargetError, start};
use schema::target::{Ready, Stop, TargetManifest};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use units::Nanos;

/// Waiting for another process ends here; a whole run needs about two seconds.
const DEADLINE: Duration = Duration::from_secs(30);
const MARKER: &str = "PRONY_GUARD_TEST";

type Case = (&'static str, fn(&Bench));

const CASES: &[Case] = &[
    ("a_target_starts_answers_and_stops", starts_answers_and_stops),
    ("the_target_sees_only_its_log", sees_only_its_log),
    ("a_target_may_say_goodbye", may_say_goodbye),
    ("a_target_that_ignores_term_is_killed", ignores_term),
    ("daemons_of_the_target_are_ended", daemons_are_ended),
    ("a_killed_prony_leaves_nothing", killed_prony),
    ("a_killed_guard_takes_the_target_along", killed_guard),
    ("the_guard_does_not_heed_terminal_signals", terminal_signals),
    ("a_dropped_target_is_ended", dropped),
    ("a_restart_keeps_the_address_and_changes_the_environment", restarts),
    ("a_restart_that_fails_is_told", restart_fails),
    ("an_early_end_shows_the_log", early_end),
    ("a_death_in_use_is_reported", death_in_use),
    ("a_target_that_never_listens_is_given_up", never_listens),
    ("a_taken_port_is_tried_again", taken_port_once),
    ("a_port_taken_for_ever_is_an_error", taken_port_for_ever),
    ("a_missing_program_is_named", missing_program),
    ("a_program_that_cannot_be_executed_is_explained", unexecutable_program),
    ("the_target_is_confined_to_its_cpus", confined),
    ("limits_hold_from_inside", confine::limits_hold_from_inside),
    ("confinement_outlives_a_restart", confine::confinement_outlives_a_restart),
    ("limits_of_a_running_target_can_be_changed", confine::limits_of_a_running_target_can_be_changed),
    ("the_generator_has_a_network_of_its_own", confine::the_generator_has_a_network_of_its_own),
    ("an_isolated_target_reaches_a_service", confine::an_isolated_target_reaches_a_service),
    ("networks_do_not_see_each_other", confine::networks_do_not_see_each_other),
    ("a_greedy_target_is_killed", confine::a_greedy_target_is_killed_and_the_error_names_it),
    ("a_quota_throttles", confine::a_quota_throttles),
    ("a_killed_prony_leaves_no_confinement", confine::a_killed_prony_leaves_no_group_network_or_table),
    ("a_killed_guard_is_swept_up_after", confine::a_killed_guard_is_swept_up_after),
    ("a_build_succeeds_fails_and_is_called_off", builds),
];

fn main() -> ExitCode {
    if let Some(code) = launch::guard::dispatch(std::env::args_os()) {
        return code;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("serve") => serve(&format!("127.0.0.1:{}", args[1])),
        Some("serve-at") => serve(&args[1]),
        Some("greedy") => confine::greedy(),
        Some("confined-parent") => confine::parent(Path::new(&args[1]), &args[2]),
        Some("parent") => parent(Path::new(&args[1]), &args[2]),
        _ => run_cases(args.iter().find(|arg| !arg.starts_with('-')).map_or("", String::as_str)),
    }
}

fn run_cases(filter: &str) -> ExitCode {
    let chosen: Vec<&Case> = CASES.iter().filter(|(name, _)| name.contains(filter)).collect();
    println!("\nrunning {} tests", chosen.len());
    let mut failed = 0;
    for (name, case) in &chosen {
        let passed = catch_unwind(AssertUnwindSafe(|| case(&Bench::new(name)))).is_ok();
        failed += usize::from(!passed);
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {result}. {} passed; {failed} failed\n", chosen.len() - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Answers every connection with 200 until it is ended.
fn serve(address: &str) -> ExitCode {
    let listener = TcpListener::bind(address).expect("the port is free");
    eprintln!("listening on {}", address.rsplit(':').next().unwrap_or_default());
    for mut stream in listener.incoming().map_while(Result::ok) {
        let mut request = [0; 1024];
        let _ = stream.read(&mut request);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    }
    ExitCode::SUCCESS
}

/// A prony that starts a target, says its process identifier and waits to be killed.
fn parent(log: &Path, marker: &str) -> ExitCode {
    let me = exe();
    let script = format!("(setsid sleep 1000 &); exec {me} serve {{port}}");
    let mut plan = StartPlan::from_command(&sh(&script), log, Path::new(&me));
    plan.env.insert(MARKER.into(), marker.into());
    let running = start(plan).expect("the target starts");
    println!("{}", running.pid());
    let _ = std::io::stdin().read(&mut [0]);
    drop(running);
    ExitCode::SUCCESS
}

fn exe() -> String {
    std::env::current_exe().unwrap().to_str().unwrap().to_owned()
}

fn sh(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

/// What one case works with.
struct Bench {
    folder: tempfile::TempDir,
    marker: String,
}

impl Bench {
    fn new(name: &str) -> Self {
        let marker = format!("{}-{name}", std::process::id());
        Self { folder: tempfile::tempdir().unwrap(), marker }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("target.log")
    }

    fn log_text(&self) -> String {
        fs::read_to_string(self.log()).unwrap_or_default()
    }

    fn plan(&self, command: &[String]) -> StartPlan {
        let mut plan = StartPlan::from_command(command, &self.log(), Path::new(&exe()));
        plan.env.insert(MARKER.into(), self.marker.clone());
        plan.ready =
            Ready { path: Some("/".into()), timeout: Some(Nanos::from_secs(20)), ..Ready::default() };
        plan
    }

    /// A plan for a shell script in which `SERVE` starts the server.
    fn script(&self, script: &str) -> StartPlan {
        self.plan(&sh(&script.replace("SERVE", &format!("{} serve {{port}}", exe()))))
    }

    fn started(&self) -> RunningTarget {
        start(self.script("exec SERVE")).unwrap()
    }

    fn refused(&self, plan: StartPlan) -> TargetError {
        let error = start(plan).expect_err("must not start");
        assert!(self.processes().is_empty(), "left: {:?}", self.processes());
        error
    }

    /// Every living process that has this case's marker in its environment.
    fn processes(&self) -> Vec<u32> {
        let wanted = format!("{MARKER}={}", self.marker);
        let pids = fs::read_dir("/proc").unwrap().flatten();
        pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid: &u32| {
                let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
            })
            .collect()
    }
}

/// Looks again and again until it is so.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {DEADLINE:?}: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A field of `/proc/PID/status`.
fn status(pid: u32, field: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.unwrap_or_default().trim().to_owned()
}

fn guard_of(pid: u32) -> u32 {
    status(pid, "PPid").parse().unwrap()
}

fn is_gone(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists() || status(pid, "State").starts_with('Z')
}

fn send(signal: rustix::process::Signal, pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

fn starts_answers_and_stops(bench: &Bench) {
    let target = bench.started();
    assert!(target.is_alive() && target.exit().is_none());
    assert!(target.ready_ns() > 0);
    assert!(bench.processes().contains(&target.pid()));
    let addr = target.addr();
    assert!(addr.ip().is_loopback());
    let mut answer = String::new();
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("ok"), "{answer}");
    let guard = guard_of(target.pid());
    target.stop().unwrap();
    assert!(bench.processes().is_empty());
    assert!(is_gone(guard));
    TcpListener::bind(addr).expect("the port is free again");
    assert_eq!(bench.log_text(), format!("listening on {}\n", addr.port()));
}

fn sees_only_its_log(bench: &Bench) {
    // What the surroundings of this test leak into every process is not the guard's.
    let inherited = pipes(std::process::id());
    let target = bench.started();
    let link = |fd: &str| fs::read_link(format!("/proc/{}/fd/{fd}", target.pid())).unwrap();
    assert_eq!(link("0"), Path::new("/dev/null"));
    assert_eq!((link("1"), link("2")), (bench.log(), bench.log()));
    let foreign: Vec<_> = pipes(target.pid()).into_iter().filter(|pipe| !inherited.contains(pipe)).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    target.stop().unwrap();
}

/// Pipes that a process holds.
fn pipes(pid: u32) -> Vec<PathBuf> {
    let fds = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let links = fds.filter_map(|fd| fs::read_link(fd.path()).ok());
    links.filter(|link| link.to_string_lossy().starts_with("pipe:")).collect()
}

fn may_say_goodbye(bench: &Bench) {
    let target = start(bench.script("trap 'sleep 0.05; echo goodbye; exit 0' TERM; SERVE & wait")).unwrap();
    target.stop().unwrap();
    let log = bench.log_text();
    assert!(log.ends_with("goodbye\n"), "{log}");
    assert!(bench.processes().is_empty());
}

fn ignores_term(bench: &Bench) {
    let mut plan = bench.script("trap '' TERM; exec SERVE");
    plan.stop = Stop { signal: None, timeout: Some(Nanos::from_millis(50)) };
    start(plan).unwrap().stop().unwrap();
    assert!(bench.processes().is_empty());
    let log = bench.log_text();
    assert!(log.ends_with("prony guard: killed, did not end within 50 ms of TERM\n"), "{log}");
}

fn daemons_are_ended(bench: &Bench) {
    // Out of the process group, out of the session, and adopted by whoever is the reaper.
    let target =
        start(bench.script("(setsid sleep 1000 &); (setsid sh -c 'sleep 1001 & sleep 1002' &); exec SERVE"))
            .unwrap();
    eventually("four daemon processes", || bench.processes().len() >= 5);
    let guard = guard_of(target.pid());
    let adopted =
        || bench.processes().iter().filter(|pid| status(**pid, "PPid") == guard.to_string()).count();
    eventually("the guard adopts the orphans", || adopted() == 3);
    target.stop().unwrap();
    assert!(bench.processes().is_empty(), "left: {:?}", bench.processes());
}

fn killed_prony(bench: &Bench) {
    let mut prony = Command::new(exe())
        .arg("parent")
        .arg(bench.log())
        .arg(&bench.marker)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(prony.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let target: u32 = line.trim().parse().expect("the parent says the target's pid");
    let guard = guard_of(target);
    eventually("the daemon runs too", || bench.processes().len() >= 2);
    prony.kill().unwrap();
    prony.wait().unwrap();
    eventually("guard, target and daemon are gone", || is_gone(guard) && bench.processes().is_empty());
}

fn killed_guard(bench: &Bench) {
    let target = bench.started();
    let pid = target.pid();
    send(rustix::process::Signal::KILL, guard_of(pid));
    eventually("the kernel ends the target", || is_gone(pid));
    eventually("the loss is seen", || !target.is_alive());
    let error = target.stop().unwrap_err();
    assert!(matches!(error, TargetError::GuardLost { .. }), "{error}");
    assert!(error.to_string().contains("signal: 9"), "{error}");
}

fn terminal_signals(bench: &Bench) {
    use rustix::process::Signal;
    let target = bench.started();
    let guard = guard_of(target.pid());
    let group = rustix::process::getpgid(rustix::process::Pid::from_raw(guard.cast_signed())).unwrap();
    assert_ne!(group, rustix::process::getpgrp(), "Ctrl-C here must not reach the guard");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        send(signal, guard);
    }
    // A guard that had heeded one of them could not end the target in order.
    target.stop().unwrap();
    assert!(bench.processes().is_empty());
}

fn dropped(bench: &Bench) {
    let target = bench.started();
    let guard = guard_of(target.pid());
    drop(target);
    eventually("guard and target are gone", || is_gone(guard) && bench.processes().is_empty());
}

fn restarts(bench: &Bench) {
    let running = bench.started();
    let (addr, before) = (running.addr(), running.pid());
    let env = BTreeMap::from([("PRONY_CHANGED".to_owned(), "yes".to_owned())]);
    let kill = Stop { signal: Some(schema::target::StopSignal::Kill), timeout: None };
    for how in [None, Some(&kill)] {
        let ready_ns = running.restart(how, env.clone()).expect("it starts again");
        assert!(ready_ns > 0 && running.is_alive() && running.addr() == addr);
        assert!(running.answers(DEADLINE));
    }
    let now = running.pid();
    assert!(now != before && is_gone(before));
    let environment = fs::read(format!("/proc/{now}/environ")).unwrap();
    assert!(String::from_utf8_lossy(&environment).contains("PRONY_CHANGED=yes"));
    running.stop().expect("it stops");
    assert!(bench.processes().is_empty());
}

/// The second start finds its program gone.
fn restart_fails(bench: &Bench) {
    let program = bench.folder.path().join("program");
    fs::write(&program, format!("#!/bin/sh\nexec {} serve $1\n", exe())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let running =
        start(bench.plan(&[program.to_str().unwrap().to_owned(), "{port}".to_owned()])).expect("it starts");
    fs::remove_file(&program).unwrap();
    let text = running.restart(None, BTreeMap::new()).unwrap_err().to_string();
    assert!(text.contains("program"), "{text}");
    assert!(!running.is_alive(), "it stays down");
    drop(running);
    eventually("the guard is gone", || bench.processes().is_empty());
}

fn early_end(bench: &Bench) {
    let script = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo line $i; done; echo no database >&2; exit 7";
    let mut plan = bench.script(script);
    plan.env.insert("WHERE".into(), "{port}".into());
    let text = bench.refused(plan).to_string();
    assert!(text.starts_with("the target ended before it was ready: `sh -c"), "{text}");
    assert!(text.contains("exited with code 7"), "{text}");
    assert!(text.ends_with("| line 40\n  | no database") && !text.contains("line 11\n"), "{text}");
    // Its children go with it.
    let mut plan = bench.script("(setsid sleep 1000 &); exit 0");
    plan.env.insert("WHERE".into(), "{port}".into());
    assert!(matches!(bench.refused(plan), TargetError::EndedEarly { .. }));
}

fn death_in_use(bench: &Bench) {
    let target = bench.started();
    send(rustix::process::Signal::KILL, target.pid());
    eventually("the death is seen", || !target.is_alive());
    assert_eq!(target.exit(), Some(launch::Exit::Signal(9)));
    let text = target.stop().unwrap_err().to_string();
    assert!(text.contains("the target ended on its own") && text.contains("signal 9"), "{text}");
    assert!(text.contains("| listening on"), "{text}");
}

fn never_listens(bench: &Bench) {
    let mut plan = bench.plan(&sh("echo {port} is not for me; exec sleep 1000"));
    plan.ready.timeout = Some(Nanos::from_millis(60));
    let error = bench.refused(plan);
    let text = error.to_string();
    assert!(matches!(error, TargetError::NotReady { .. }), "{text}");
    assert!(
        text.starts_with("the target was not ready within 60ms: GET /: no connection to 127.0.0.1:"),
        "{text}"
    );
    assert!(text.ends_with("is not for me"), "{text}");
}

fn taken_port_once(bench: &Bench) {
    let flag = bench.folder.path().join("flag");
    let script = format!(
        "if [ ! -e {0} ]; then touch {0}; echo 'bind: Address already in use'; exit 1; fi; exec SERVE",
        flag.display()
    );
    let target = start(bench.script(&script)).unwrap();
    target.stop().unwrap();
    let log = bench.log_text();
    assert!(log.starts_with("bind: Address already in use\nlistening on"), "{log}");
}

fn taken_port_for_ever(bench: &Bench) {
    let error = bench.refused(bench.script("echo Error: listen EADDRINUSE: {port}; exit 1"));
    assert!(matches!(error, TargetError::PortTaken { attempts: 3, .. }), "{error}");
    assert_eq!(bench.log_text().lines().count(), 3);
}

fn missing_program(bench: &Bench) {
    let command = ["no-such-program", "{port}"].map(str::to_owned);
    let text = bench.refused(bench.plan(&command)).to_string();
    assert!(
        text.starts_with("`no-such-program` is not found") && text.contains("remedy: install it"),
        "{text}"
    );
    let mut plan = bench.plan(&["{build}/server".into(), "{port}".into()]);
    plan.folder = Some(bench.folder.path().to_owned());
    plan.build = Some(bench.folder.path().join(".build"));
    let text = bench.refused(plan).to_string();
    assert!(text.contains("remedy: build the target first"), "{text}");
}

fn unexecutable_program(bench: &Bench) {
    let program = bench.folder.path().join("server");
    fs::write(&program, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut plan = bench.plan(&["./server".into(), "{port}".into()]);
    plan.folder = Some(bench.folder.path().to_owned());
    let error = bench.refused(plan);
    assert!(matches!(error, TargetError::Launch { .. }), "{error}");
    assert!(error.to_string().contains("No such file or directory"), "{error}");
}

fn confined(bench: &Bench) {
    let usable = launch::pin::usable_cpus().unwrap();
    let last = *usable.last().unwrap();
    let mut plan = bench.script("exec SERVE");
    plan.cpus = Some(vec![last]);
    let target = start(plan).unwrap();
    assert_eq!(status(target.pid(), "Cpus_allowed_list"), last.to_string());
    assert_eq!(status(guard_of(target.pid()), "Cpus_allowed_list"), launch::pin::list(&usable));
    target.stop().unwrap();
    let mut plan = bench.script("exec SERVE");
    plan.cpus = Some(vec![1023]);
    assert!(bench.refused(plan).to_string().contains("cannot be confined to CPU 1023"));
}

fn builds(bench: &Bench) {
    let never = AtomicBool::new(false);
    let build = |script: &str, cancelled: &AtomicBool| {
        let manifest = manifest(script);
        launch::build(bench.folder.path(), &manifest, &bench.log(), Path::new(&exe()), cancelled)
    };
    let versions = build("echo made > {build}/server", &never).unwrap();
    assert_eq!(versions, BTreeMap::from([("sh".to_owned(), "shell 1.0".to_owned())]));
    assert_eq!(fs::read_to_string(bench.folder.path().join(".build/server")).unwrap(), "made\n");

    let text = build("echo main.c:1: error; exit 2", &never).unwrap_err().to_string();
    assert!(text.starts_with("the build of x failed: `sh -c"), "{text}");
    assert!(text.contains("exited with code 2") && text.ends_with("| main.c:1: error"), "{text}");

    let cancelled = AtomicBool::new(true);
    let marked = format!("export {MARKER}={}; sh -c 'setsid sleep 1000' & sleep 1000", bench.marker);
    assert!(matches!(build(&marked, &cancelled), Err(TargetError::Cancelled(_))));
    assert!(cancelled.load(Ordering::Relaxed) && bench.processes().is_empty());
}

fn manifest(script: &str) -> TargetManifest {
    let text = format!(
        "schema = \"prony.target/1\"\nname = \"x\"\ndescription = \"d\"\nlanguage = \"l\"\n[build]\n\
         command = [\"sh\", \"-c\", {script:?}]\n[[build.needs]]\nprogram = \"sh\"\n\
         version = [\"echo\", \"shell 1.0\"]\ninstall = \"-\"\n[run]\ncommand = [\"s\", \"{{port}}\"]\n"
    );
    schema::text::parse_toml("target.toml", &text).unwrap()
}
