//! Real profiles, taken on one host: of targets/go/nethttp under load by its own pprof and by perf, of a Node.js server,
//! and of a small Java program.

use profile::{Folded, cpuprofile, differential, flame_graph, jfr, perf_script, pprof, top};
use schema::profile::ProfileUnit;
use std::fs;
use std::path::Path;

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

/// The sample types of a Go profile by name.
fn go(name: &str, sample_type: &str) -> Folded {
    let types = pprof::read(&fixture(name)).unwrap();
    let found = types.iter().find(|one| one.name == sample_type);
    found.unwrap_or_else(|| panic!("{name} has no {sample_type}")).folded.clone()
}

fn has(folded: &Folded, part: &str) -> bool {
    folded.stacks().any(|(stack, _)| stack.contains(part))
}

#[test]
fn go_cpu_time_is_in_the_handler() {
    let cpu = go("go-cpu.pb.gz", "cpu");
    assert_eq!(cpu.unit, ProfileUnit::CpuNs);
    // Three seconds on two CPUs, shared with the generator.
    assert!((300_000_000..=6_000_000_000).contains(&cpu.total()), "{}", cpu.total());
    assert!(has(&cpu, "net/http.(*conn).serve") && has(&cpu, "main.target.records"), "{}", cpu.text());
    let serve =
        top(&cpu, usize::MAX).into_iter().find(|one| one.function == "net/http.(*conn).serve").unwrap();
    assert!(serve.cumulative_share > 0.5 && serve.flat_share < 0.05, "{serve:?}");
}

#[test]
fn go_memory_has_bytes_and_objects() {
    let (bytes, objects) = (go("go-allocs.pb.gz", "alloc_space"), go("go-allocs.pb.gz", "alloc_objects"));
    assert_eq!((bytes.unit, objects.unit), (ProfileUnit::Bytes, ProfileUnit::Objects));
    assert!(bytes.total() > objects.total() && objects.total() > 0);
    assert!(has(&bytes, "main.target.records"), "{}", bytes.text());
    assert_eq!(go("go-heap.pb.gz", "inuse_space").unit, ProfileUnit::Bytes);
}

#[test]
fn go_waits_and_goroutines_are_read() {
    let block = go("go-block.pb.gz", "delay");
    assert!(block.unit == ProfileUnit::BlockedNs && block.total() > 0);
    // What `go tool trace -pprof=sched` makes of an execution trace.
    let sched = go("go-sched.pb.gz", "delay");
    assert!(sched.unit == ProfileUnit::BlockedNs && sched.total() > 0);
    let goroutines = go("go-goroutine.pb.gz", "goroutine");
    assert!(goroutines.unit == ProfileUnit::Goroutines && (9..100).contains(&goroutines.total()));
}

#[test]
fn perf_samples_become_cpu_time_by_thread() {
    let folded = perf_script::read(&fixture("perf-script.txt")).unwrap();
    assert_eq!(folded.total(), 20 * 5_025_125);
    assert!(folded.stacks().all(|(stack, _)| stack.starts_with("pf_nethttp;")), "{}", folded.text());
    assert!(has(&folded, "encoding/json"));
}

#[test]
fn v8_functions_have_their_place() {
    let folded = cpuprofile::read(&fixture("node.cpuprofile")).unwrap();
    assert!(has(&folded, "work") && !has(&folded, "(idle)") && !has(&folded, "(root)"), "{}", folded.text());
}

#[test]
fn java_threads_run_allocate_and_wait() {
    let recorded = jfr::read(&fixture("jfr.txt")).unwrap();
    assert_eq!(recorded.samples.total(), 96);
    assert!(has(&recorded.samples, "Pf.lambda$main$0;Pf.spin"), "{}", recorded.samples.text());
    assert!(has(&recorded.allocated, "Pf.allocate;long[]"), "{}", recorded.allocated.text());
    // Four threads for three seconds, most of which they waited for one monitor and then for one lock.
    assert!((4_000_000_000..12_000_000_000).contains(&recorded.waits.total()), "{}", recorded.waits.text());
    assert!(has(&recorded.waits, "Pf.monitor;waits for java.lang.Object"), "{}", recorded.waits.text());
    assert!(has(&recorded.waits, "waits for java.util.concurrent.locks.ReentrantLock$NonfairSync"));
    assert!(!has(&recorded.waits, "ThreadPoolExecutor.getTask"), "waits for work");
}

#[test]
fn real_profiles_are_drawn_alike_every_time() {
    let cpu = go("go-cpu.pb.gz", "cpu");
    let drawn = flame_graph(&cpu, "cpu of go/nethttp").unwrap();
    assert_eq!(drawn, flame_graph(&go("go-cpu.pb.gz", "cpu"), "cpu of go/nethttp").unwrap());
    let text = String::from_utf8(drawn).unwrap();
    assert!(text.contains("net/http.(*conn).serve") && text.contains("ns of CPU time"));
    let same = differential(&cpu, &cpu, "a against a").unwrap();
    assert!(!String::from_utf8(same).unwrap().contains("%; +"));
}
