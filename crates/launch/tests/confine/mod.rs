//! Confinement as a process sees it: limits hold from inside, and nothing of them is left after any end.
//!
//! Where this host does not allow a control, the cases that need it are skipped and print the weakness that was
//! reported instead, which is itself checked to be there.

use super::{Bench, MARKER, eventually, exe, sh};
use launch::{RunningTarget, StartPlan, TargetError, start};
use rustix::process::{Pid, Signal, kill_process};
use schema::limits::{Confinement, DelayedBy, GeneratorPlan, LimitsPlan, MemoryLock, NetworkMode};
use schema::said::{Joint, Said};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// In each direction.
const DELAY_NS: u64 = 3_000_000;

fn everything() -> LimitsPlan {
    LimitsPlan {
        cpus: Some(0.5),
        memory_bytes: Some(64 << 20),
        memory_lock: Some(MemoryLock::Bytes(32 << 10)),
        network: NetworkMode::Isolated,
        sysctls: BTreeMap::from([
            ("net.ipv4.tcp_tw_reuse".to_owned(), "1".to_owned()),
            ("net.ipv4.ip_local_port_range".to_owned(), "2000 3000".to_owned()),
        ]),
        rate_bits_per_s: Some(1_000_000_000),
        loss: Some(0.01),
        delay_ns: Some(DELAY_NS),
        generator: Some(GeneratorPlan {
            sysctls: BTreeMap::from([
                ("net.ipv4.tcp_tw_reuse".to_owned(), "0".to_owned()),
                ("net.ipv4.ip_local_port_range".to_owned(), "4000 4099".to_owned()),
            ]),
        }),
        ..LimitsPlan::default()
    }
}

fn serving(bench: &Bench, limits: LimitsPlan) -> StartPlan {
    let script = format!("exec {} serve-at {{host}}:{{port}}", exe());
    StartPlan { limits, ..bench.plan(&sh(&script)) }
}

/// What the host shows of anything of prony's that is not a process: groups, devices, tables, mounts of namespaces.
fn traces() -> Vec<String> {
    let mut found = Vec::new();
    let groups = Command::new("find").args(["/sys/fs/cgroup", "-name", "prony-*", "-type", "d"]).output();
    found.extend(
        groups
            .map(|out| String::from_utf8_lossy(&out.stdout).into_owned())
            .unwrap_or_default()
            .lines()
            .map(str::to_owned),
    );
    for entry in fs::read_dir("/sys/class/net").unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        found.extend(name.starts_with("prony").then_some(name));
    }
    let tables = Command::new("nft").args(["list", "tables"]).output();
    let tables = tables.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
    found.extend(tables.lines().filter(|line| line.contains("prony_")).map(str::to_owned));
    found
}

/// Traces whose name has this guard's process identifier.
fn traces_of(guard: u32) -> Vec<String> {
    let marks = [format!("prony-{guard}-"), format!("prony_{guard}_"), format!("prony{guard}")];
    traces().into_iter().filter(|found| marks.iter().any(|mark| found.contains(mark))).collect()
}

fn guard_of(held: &Confinement) -> u32 {
    held.name.split('-').nth(1).unwrap().parse().unwrap()
}

/// The confinement, or nothing and the reason where this host does not allow all of it.
fn all_held(running: &RunningTarget) -> Option<Confinement> {
    let held = running.confinement().expect("limits were asked for");
    if held.weaknesses.is_empty() {
        return Some(held);
    }
    println!("  skipped here: {}", Said::list(Joint::Semicolon, &held.weaknesses));
    None
}

pub(super) fn limits_hold_from_inside(bench: &Bench) {
    let mut plan = serving(bench, everything());
    plan.cpus = Some(vec![*launch::pin::usable_cpus().unwrap().last().unwrap()]);
    let running = start(plan).unwrap();
    // Any host allows less locked memory, so this one is never skipped.
    let weaknesses = running.confinement().unwrap().weaknesses;
    let is_of_lock = |text: &Said| text.contains("may lock") || text.contains("locked memory");
    assert!(!weaknesses.iter().any(is_of_lock), "{weaknesses:?}");
    let Some(held) = all_held(&running) else { return running.stop().unwrap() };
    assert_eq!((held.cpus, held.memory_bytes), (Some(0.5), Some(64 << 20)));
    assert_eq!(held.memory_lock, Some(MemoryLock::Bytes(32 << 10)));
    let network = held.network.clone().unwrap();
    assert_eq!(running.addr().ip(), std::net::IpAddr::from(network.target_address));
    assert_eq!((network.rate_bits_per_s, network.loss), (Some(1_000_000_000), Some(0.01)));
    assert_eq!(network.time_wait_at_start, Some(0), "the network is new");
    assert_eq!(network.sysctls["net.ipv4.tcp_tw_reuse"], "1");
    assert_eq!(network.sysctls["net.ipv4.ip_local_port_range"], "2000 3000");
    let proc = Path::new("/proc").join(running.pid().to_string());
    let own_limits = fs::read_to_string(proc.join("limits")).unwrap();
    let lock = own_limits.lines().find(|line| line.starts_with("Max locked memory")).unwrap();
    assert_eq!(lock.matches("32768").count(), 2, "soft and hard: {lock}");
    let groups = fs::read_to_string(proc.join("cgroup")).unwrap();
    for controller in held.groups.keys() {
        assert!(
            groups.lines().any(|line| line.contains(controller.as_str()) && line.ends_with(&held.name)),
            "{groups}"
        );
    }
    let devices = fs::read_to_string(proc.join("net/dev")).unwrap();
    let has = |device: &str| devices.contains(device);
    assert!(has("eth0:") && has("load0:") && devices.lines().count() == 5, "its own devices only: {devices}");
    let (guard, own) = (guard_of(&held), proc.join("ns/net"));
    assert_ne!(fs::read_link(own).unwrap(), fs::read_link("/proc/self/ns/net").unwrap());
    assert!(!traces_of(guard).is_empty());
    running.stop().unwrap();
    assert_eq!(traces_of(guard), [""; 0]);
}

pub(super) fn confinement_outlives_a_restart(bench: &Bench) {
    let running = start(serving(bench, everything())).unwrap();
    let Some(held) = all_held(&running) else { return running.stop().unwrap() };
    running.restart(None, BTreeMap::new()).unwrap();
    assert_eq!(running.confinement(), Some(held));
    running.stop().unwrap();
}

/// Quota and loss of a running target change, also over a restart, and go with it.
pub(super) fn limits_of_a_running_target_can_be_changed(bench: &Bench) {
    let running = start(serving(bench, everything())).unwrap();
    let Some(held) = all_held(&running) else { return running.stop().unwrap() };
    let cpu = Path::new(&held.groups["cpu"]);
    let quota = || {
        let text = fs::read_to_string(cpu.join("cpu.cfs_quota_us"))
            .or_else(|_| fs::read_to_string(cpu.join("cpu.max")));
        text.unwrap().split_ascii_whitespace().next().unwrap().to_owned()
    };
    let table = held.name.replace('-', "_");
    let is_by_relay = held.network.as_ref().and_then(|network| network.delay).map(|delay| delay.by)
        == Some(DelayedBy::Relay);
    if is_by_relay {
        println!("  without netem a relay loses packets, and no table of nftables");
        assert_eq!((quota().as_str(), running.set_drop(0.5).unwrap()), ("50000", 0.5));
        assert_eq!((running.set_cpus(0.25).unwrap(), quota().as_str()), (0.25, "25000"));
        return running.stop().unwrap();
    }
    let lost = || {
        let shown = Command::new("nft").args(["list", "table", "ip", &table]).output().unwrap();
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        let (_, rest) = text.split_once("mod 1000000 < ").unwrap();
        assert_eq!(text.matches("drop").count(), 1, "one rule at a time: {text}");
        rest.split_ascii_whitespace().next().unwrap().to_owned()
    };
    assert_eq!((quota().as_str(), lost().as_str()), ("50000", "10000"));
    assert_eq!(running.set_cpus(0.25).unwrap(), 0.25);
    assert_eq!(running.set_drop(0.5).unwrap(), 0.5);
    // Neither of two independent drops: 1 − 0.99 · 0.5.
    assert_eq!((quota().as_str(), lost().as_str()), ("25000", "505000"));
    running.set_drop(0.0).unwrap();
    running.restart(None, BTreeMap::new()).unwrap();
    assert_eq!((quota().as_str(), lost().as_str()), ("25000", "10000"));
    let error = running.set_cpus(0.0001).unwrap_err().to_string();
    assert!(error.contains("cannot be changed while the target runs"), "{error}");
    running.stop().unwrap();
    assert!(!cpu.exists());
    let free = start(serving(bench, LimitsPlan::default())).unwrap();
    assert!(free.set_cpus(0.5).unwrap_err().to_string().contains("no limits that could be changed"));
    free.stop().unwrap();
}

/// Does something on a thread inside the generator's network.
fn from_the_generator<T: Send>(held: &Confinement, work: impl FnOnce() -> T + Send) -> T {
    use std::os::fd::AsFd;
    let file = fs::File::open(&held.generator.as_ref().unwrap().namespace).unwrap();
    std::thread::scope(|scope| {
        let inside = scope.spawn(|| {
            rustix::thread::move_into_link_name_space(file.as_fd(), None).unwrap();
            work()
        });
        inside.join().unwrap()
    })
}

/// The load's side: its addresses, its settings, the way to the target, and nothing of it on the host.
pub(super) fn the_generator_has_a_network_of_its_own(bench: &Bench) {
    let limits = LimitsPlan { loss: None, ..everything() };
    let on_the_host = || fs::read_to_string("/proc/sys/net/ipv4/tcp_tw_reuse").unwrap();
    let before = on_the_host();
    let running = start(serving(bench, limits)).unwrap();
    let Some(held) = all_held(&running) else { return running.stop().unwrap() };
    let own = held.generator.clone().unwrap();
    assert_eq!(own.sysctls["net.ipv4.tcp_tw_reuse"], "0");
    let addr = running.addr();
    from_the_generator(&held, || {
        let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
        assert_eq!(range.split_ascii_whitespace().collect::<Vec<_>>(), ["4000", "4099"]);
        let begun = std::time::Instant::now();
        let stream = std::net::TcpStream::connect(addr).unwrap();
        let local = stream.local_addr().unwrap();
        assert_eq!(local.ip(), std::net::IpAddr::from(own.address));
        assert!((4000..=4099).contains(&local.port()), "{local}");
        // There and back: no way is shorter than its delay.
        assert!(begun.elapsed().as_nanos() >= 2 * u128::from(DELAY_NS) * 9 / 10);
        let elsewhere = std::net::SocketAddr::from(([127, 0, 0, 1], addr.port()));
        assert!(std::net::TcpStream::connect(elsewhere).is_err(), "its loopback is its own");
    });
    let delay = held.network.as_ref().unwrap().delay.unwrap();
    println!("  delayed by {:?}: {delay:?}", delay.by);
    assert_eq!(delay.delay_ns, DELAY_NS);
    assert!(delay.trips >= 3 && delay.error_p50_ns <= delay.error_max_ns, "{delay:?}");
    let relayed = running.relayed();
    assert_eq!(relayed.is_some(), delay.by == DelayedBy::Relay);
    if let Some(usage) = relayed {
        assert!(usage.packets >= 2 * u64::from(delay.trips) && usage.lost == 0, "{usage:?}");
        assert_eq!(running.relayed().unwrap().packets, 0, "it starts again at zero");
        running.set_drop(1.0).unwrap();
        from_the_generator(&held, || {
            let timeout = std::time::Duration::from_millis(200);
            assert!(std::net::TcpStream::connect_timeout(&addr, timeout).is_err(), "every packet is lost");
        });
        let usage = running.relayed().unwrap();
        // What was under way before may have arrived.
        assert!(usage.lost >= 1, "{usage:?}");
    }
    assert_eq!(on_the_host(), before);
    let guard = guard_of(&held);
    running.stop().unwrap();
    assert_eq!(traces_of(guard), [""; 0]);
    assert!(!own.namespace.exists(), "the guard held it");
}

/// A target in a network of its own reaches a service that has one, too, and both go their ways.
pub(super) fn an_isolated_target_reaches_a_service(bench: &Bench) {
    let isolated = LimitsPlan { network: NetworkMode::Isolated, ..LimitsPlan::default() };
    let service = start(serving(bench, isolated.clone())).unwrap();
    if all_held(&service).is_none() {
        return service.stop().unwrap();
    }
    let std::net::IpAddr::V4(address) = service.addr().ip() else { panic!("not of IPv4") };
    let namespace = format!("/proc/{}/ns/net", service.pid()).into();
    let mut plan = serving(bench, isolated);
    plan.services = vec![launch::confine::ServicePlace { namespace, address }];
    let target = start(plan).unwrap();
    let held = target.confinement().unwrap();
    assert_eq!(held.network.clone().unwrap().services, [address]);
    let inside = fs::File::open(format!("/proc/{}/ns/net", target.pid())).unwrap();
    let to = service.addr();
    std::thread::scope(|scope| {
        let connects = scope.spawn(|| {
            use std::os::fd::AsFd;
            rustix::thread::move_into_link_name_space(inside.as_fd(), None).unwrap();
            std::net::TcpStream::connect(to).unwrap().local_addr().unwrap()
        });
        let from = connects.join().unwrap();
        assert_ne!(from.ip(), target.addr().ip(), "over the pair with the service, not over the host");
    });
    let devices = |pid: u32| fs::read_to_string(format!("/proc/{pid}/net/dev")).unwrap();
    let own = format!("prony{}:", guard_of(&held));
    assert!(devices(service.pid()).contains(&own));
    target.stop().unwrap();
    assert!(!devices(service.pid()).contains(&own), "it goes with the target");
    service.stop().unwrap();
}

/// Two targets one after the other, many short connections to the first.
pub(super) fn networks_do_not_see_each_other(bench: &Bench) {
    let isolated = LimitsPlan { network: NetworkMode::Isolated, ..LimitsPlan::default() };
    let first = start(serving(bench, isolated.clone())).unwrap();
    if all_held(&first).is_none() {
        return first.stop().unwrap();
    }
    for _ in 0..50 {
        let mut stream = std::net::TcpStream::connect(first.addr()).unwrap();
        let _ = std::io::Write::write_all(&mut stream, b"GET / HTTP/1.1\r\n\r\n");
        let _ = std::io::Read::read_to_end(&mut stream, &mut Vec::new());
    }
    let inside = fs::read_to_string(format!("/proc/{}/net/sockstat", first.pid())).unwrap();
    assert!(!inside.contains(" tw 0 "), "the server closes first, so its side waits: {inside}");
    first.stop().unwrap();
    let second = start(serving(bench, isolated)).unwrap();
    assert_eq!(second.confinement().unwrap().network.unwrap().time_wait_at_start, Some(0));
    second.stop().unwrap();
}

pub(super) fn a_greedy_target_is_killed_and_the_error_names_it(bench: &Bench) {
    let limits = LimitsPlan { memory_bytes: Some(32 << 20), swap: Some(false), ..LimitsPlan::default() };
    let script = format!(": {{port}}; exec {} greedy", exe());
    let error = start(StartPlan { limits, ..bench.plan(&sh(&script)) }).unwrap_err();
    match &error {
        TargetError::OutOfMemory { kills, .. } => assert_eq!(*kills, 1),
        other => {
            // Without a limit it ends by itself, having taken a bounded amount.
            assert!(matches!(other, TargetError::EndedEarly { .. }), "{other}");
            println!("  skipped here: the memory limit cannot be set");
            return;
        }
    }
    let text = error.to_string();
    assert!(text.contains("OOM kill") && text.contains("32MiB") && text.contains("limits.memory"), "{text}");
}

pub(super) fn a_quota_throttles(bench: &Bench) {
    let limits = LimitsPlan { cpus: Some(0.2), ..LimitsPlan::default() };
    // One process serves, another burns.
    let script = format!("(while :; do :; done) & exec {} serve-at {{host}}:{{port}}", exe());
    let running = start(StartPlan { limits, ..bench.plan(&sh(&script)) }).unwrap();
    let Some(held) = all_held(&running) else { return running.stop().unwrap() };
    let stat = Path::new(&held.groups["cpu"]).join("cpu.stat");
    eventually("the quota stops it", || {
        let text = fs::read_to_string(&stat).unwrap();
        text.lines().any(|line| line.strip_prefix("nr_throttled ").is_some_and(|count| count.trim() != "0"))
    });
    running.stop().unwrap();
}

/// Takes up to 256 MiB and ends.
pub(super) fn greedy() -> ExitCode {
    let mut held: Vec<Vec<u8>> = Vec::new();
    for step in 0..64 {
        held.push(vec![step; 4 << 20]);
    }
    ExitCode::from(u8::from(held.is_empty()))
}

/// A prony that starts a confined target, says its guard and waits to be killed.
pub(super) fn parent(log: &Path, marker: &str) -> ExitCode {
    let me = exe();
    let script = format!("(setsid sleep 1000 &); exec {me} serve-at {{host}}:{{port}}");
    let mut plan = StartPlan::from_command(&sh(&script), log, Path::new(&me));
    plan.env.insert(MARKER.into(), marker.into());
    plan.limits = everything();
    let running = start(plan).expect("the target starts");
    println!("{}", guard_of(&running.confinement().unwrap()));
    let _ = std::io::stdin().read_line(&mut String::new());
    drop(running);
    ExitCode::SUCCESS
}

/// Starts [`parent`]; the process and its guard.
fn confined_parent(bench: &Bench) -> (std::process::Child, u32) {
    let mut child = Command::new(exe())
        .args(["confined-parent", bench.log().to_str().unwrap(), &bench.marker])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let guard = line.trim().parse().unwrap();
    (child, guard)
}

pub(super) fn a_killed_prony_leaves_no_group_network_or_table(bench: &Bench) {
    let (mut parent, guard) = confined_parent(bench);
    parent.kill().unwrap();
    parent.wait().unwrap();
    eventually("all processes are gone", || bench.processes().is_empty());
    eventually("nothing is left", || traces_of(guard).is_empty());
}

pub(super) fn a_killed_guard_is_swept_up_after(bench: &Bench) {
    let (mut parent, guard) = confined_parent(bench);
    kill_process(Pid::from_raw(guard.cast_signed()).unwrap(), Signal::KILL).unwrap();
    parent.kill().unwrap();
    parent.wait().unwrap();
    eventually("the sweep finds all", || {
        let _ = launch::confine::sweep();
        traces_of(guard).is_empty()
    });
    // The daemon that the target made is in no group only where groups cannot be had; then it is ended here.
    let left = bench.processes();
    if launch::confine::sweep().left.is_empty() && !left.is_empty() {
        for pid in &left {
            let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL);
        }
        println!("  without control groups a daemon outlives its killed guard");
    }
}
