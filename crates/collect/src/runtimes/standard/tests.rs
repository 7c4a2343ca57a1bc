//! Standard names in real answers: client_golang 1.23.2, prom-client 15, Micrometer 1.14.5 with HikariCP 6.2.1, and texts
//! in the form of the JMX exporter's, php-fpm_exporter's and redis_exporter's documentation.

use super::*;
use crate::reading;
use crate::runtimes::expvar;

const CLIENT_GOLANG: &[u8] = include_bytes!("../../../fixtures/exporters/client-golang.txt");
const EXPVAR: &[u8] = include_bytes!("../../../fixtures/exporters/expvar.json");
const MICROMETER: &[u8] = include_bytes!("../../../fixtures/exporters/micrometer.txt");
const PROM_CLIENT: &[u8] = include_bytes!("../../../fixtures/exporters/prom-client.txt");

const JMX_OLD: &str = "# TYPE jvm_memory_bytes_used gauge\njvm_memory_bytes_used{area=\"heap\",} 3.0E7\n\
    jvm_memory_bytes_used{area=\"nonheap\",} 9.0E7\n# TYPE jvm_threads_current gauge\njvm_threads_current 21.0\n\
    # TYPE jvm_threads_state gauge\njvm_threads_state{state=\"BLOCKED\",} 3.0\njvm_threads_state{state=\"RUNNABLE\",} 7.0\n\
    # TYPE jvm_gc_collection_seconds summary\njvm_gc_collection_seconds_count{gc=\"G1 Young Generation\",} 8.0\n\
    jvm_gc_collection_seconds_sum{gc=\"G1 Young Generation\",} 0.05\n\
    jvm_gc_collection_seconds_count{gc=\"G1 Old Generation\",} 1.0\n\
    jvm_gc_collection_seconds_sum{gc=\"G1 Old Generation\",} 0.15\n";
const FPM_EXPORTER: &str = "# TYPE go_goroutines gauge\ngo_goroutines 9\n# TYPE phpfpm_active_processes gauge\n\
    phpfpm_active_processes{pool=\"www\",scrape_uri=\"tcp://127.0.0.1:9000/status\"} 4\n\
    # TYPE phpfpm_total_processes gauge\nphpfpm_total_processes{pool=\"www\",scrape_uri=\"x\"} 4\n\
    # TYPE phpfpm_listen_queue gauge\nphpfpm_listen_queue{pool=\"www\",scrape_uri=\"x\"} 7\n\
    # TYPE phpfpm_max_children_reached counter\nphpfpm_max_children_reached{pool=\"www\",scrape_uri=\"x\"} 2\n";
const REDIS_EXPORTER: &str = "# TYPE go_goroutines gauge\ngo_goroutines 9\n\
    # TYPE redis_commands_duration_seconds_total counter\nredis_commands_duration_seconds_total{cmd=\"get\"} 0.25\n\
    redis_commands_duration_seconds_total{cmd=\"set\"} 0.5\n# TYPE redis_keyspace_hits_total counter\n\
    redis_keyspace_hits_total 12\n# TYPE redis_keyspace_misses_total counter\nredis_keyspace_misses_total 3\n";

fn source<'a>(standard: &'a Standard, name: &str) -> &'a Reading {
    standard.get(name).unwrap_or_else(|| panic!("no {name} in {standard:?}"))
}

#[test]
fn client_golang_with_all_runtime_metrics_and_a_pool() {
    let standard = parse(CLIENT_GOLANG).unwrap();
    let (go, pool) = (source(&standard, GO), source(&standard, GO_POOL));
    for gauge in ["goroutines", "threads", "gomaxprocs", "heap_bytes", "heap_goal_bytes", "total_bytes"] {
        assert!(go.gauge(gauge).is_some_and(|value| value >= 1.0), "{gauge}: {go:?}");
    }
    for counter in ["gc_cycles", "gc_pauses", "gc_pause_ns", "alloc_bytes", "alloc_objects"] {
        assert!(go.counter(counter).is_some_and(|value| value > 0), "{counter}: {go:?}");
    }
    assert!(go.counter("mutex_wait_ns").unwrap() > 10_000_000, "requests waited for a lock: {go:?}");
    assert_eq!(pool.gauge("pool_max"), Some(4.0));
    assert!(
        pool.counter("pool_waits").unwrap() > 0 && pool.counter("pool_wait_ns").unwrap() > 10_000_000,
        "{pool:?}"
    );
}

#[test]
fn expvar_has_memory_and_collections() {
    let go = expvar::parse(EXPVAR).unwrap();
    assert!(
        go.gauge("heap_bytes").unwrap() > 0.0 && go.gauge("total_bytes") > go.gauge("heap_bytes"),
        "{go:?}"
    );
    assert!(go.counter("gc_cycles").unwrap() > 0 && go.counter("gc_pause_ns").unwrap() > 0, "{go:?}");
    assert!(go.counter("alloc_bytes").unwrap() as f64 >= go.gauge("heap_bytes").unwrap(), "{go:?}");
    expvar::parse(b"{\"cmdline\":[]}").expect_err("a program without memstats");
}

#[test]
fn micrometer_with_hikari() {
    let standard = parse(MICROMETER).unwrap();
    let (jvm, pool) = (source(&standard, JVM), source(&standard, JVM_POOL));
    assert_eq!((jvm.gauge("threads"), jvm.gauge("threads_blocked")), (Some(71.0), Some(0.0)));
    assert_eq!(
        jvm.gauge("heap_used_bytes"),
        Some(8_388_608.0 + 3_415_040.0 + 2_097_152.0),
        "nothing outside the heap"
    );
    assert_eq!((jvm.counter("gc_cycles"), jvm.counter("gc_pause_ns")), (Some(3), Some(27_000_000)));
    assert_eq!((pool.gauge("pool_max"), pool.gauge("pool_open")), (Some(4.0), Some(4.0)));
    assert_eq!((pool.counter("pool_waits"), pool.counter("pool_wait_ns")), (Some(30), Some(5_285_531_154)));
}

#[test]
fn the_jmx_exporter_with_its_older_names() {
    let standard = parse(JMX_OLD.as_bytes()).unwrap();
    let jvm = source(&standard, JVM);
    assert_eq!((jvm.gauge("heap_used_bytes"), jvm.gauge("threads_blocked")), (Some(3e7), Some(3.0)));
    assert_eq!((jvm.counter("gc_cycles"), jvm.counter("gc_pause_ns")), (Some(9), Some(200_000_000)));
}

#[test]
fn prom_client_without_the_period_of_nodes_timer() {
    let standard = parse(PROM_CLIENT).unwrap();
    let node = source(&standard, NODE);
    let p99 = node.gauge("loop_delay_p99_ns").unwrap();
    assert!((p99 - (16_769_023.0 - 9_150_464.0)).abs() < 2.0, "{node:?}");
    assert_eq!(node.gauge(LOOP_MIN), None);
    assert_eq!((node.counter("gc_cycles"), node.gauge("heap_used_bytes")), (Some(5), Some(7_093_088.0)));
    // A loop that is never idle has no small delay; no more than the timer is taken off.
    let busy = "nodejs_eventloop_lag_min_seconds 0.5\nnodejs_eventloop_lag_p99_seconds 0.6\n";
    let p99 = parse(busy.as_bytes()).unwrap()[NODE].gauge("loop_delay_p99_ns").unwrap();
    assert!((p99 - 590e6).abs() < 1.0, "{p99}");
}

#[test]
fn exporters_beside_the_target_do_not_speak_of_their_own_runtime() {
    let standard = parse(FPM_EXPORTER.as_bytes()).unwrap();
    let fpm = source(&standard, FPM);
    assert_eq!((fpm.gauge("active"), fpm.gauge("listen_queue")), (Some(4.0), Some(7.0)));
    assert_eq!(fpm.counter("max_children_reached"), Some(2));
    assert!(!standard.contains_key(GO), "these are the exporter's own goroutines");
    let standard = parse(REDIS_EXPORTER.as_bytes()).unwrap();
    let redis = source(&standard, REDIS);
    assert_eq!((redis.counter("command_ns"), redis.counter("hits")), (Some(750_000_000), Some(12)));
    assert!(!standard.contains_key(GO));
}

#[test]
fn a_text_without_any_standard_name_says_which_there_are() {
    let error = parse(b"my_requests_total 7\n").unwrap_err().to_string();
    assert!(error.contains("hikaricp_*") && error.contains("nodejs_*"), "{error}");
    parse(b"<html>").unwrap_err();
    parse(b"{\"memstats\":{}}").unwrap_err();
}

#[test]
fn hostile_values_are_absent() {
    let text = "go_goroutines NaN\ngo_threads -1\ngo_memstats_sys_bytes 1e300\ngo_memstats_mallocs_total -7\n\
                go_sched_gomaxprocs_threads 2\n";
    let standard = parse(text.as_bytes()).unwrap();
    assert_eq!(standard[GO], Reading { gauges: [("gomaxprocs", 2.0)].into(), ..Reading::default() });
}

#[test]
fn increases_come_of_two_answers() {
    let later = std::str::from_utf8(MICROMETER).unwrap().replace(
        "hikaricp_connections_acquire_seconds_sum{pool=\"HikariPool-1\"} 5.285531154",
        "hikaricp_connections_acquire_seconds_sum{pool=\"HikariPool-1\"} 6.285531154",
    );
    let (first, second) = (parse(MICROMETER).unwrap(), parse(later.as_bytes()).unwrap());
    let deltas = reading::delta(&first[JVM_POOL], &second[JVM_POOL]);
    assert!((deltas["pool_wait_ns"] - 1e9).abs() < 2.0, "{deltas:?}");
}
