//! Real answers of `targets/go/nethttp`: fresh, and after 300 requests of 1,000 records.

use super::*;
use std::net::TcpListener;

const FIRST: &[u8] = include_bytes!("../../fixtures/go/first.json");
const SECOND: &[u8] = include_bytes!("../../fixtures/go/second.json");

fn histogram(bounds: &[f64], counts: &[u64]) -> Histogram {
    Histogram { bounds: bounds.to_vec(), counts: counts.to_vec() }
}

#[test]
fn real_answers() {
    let (first, second) = (parse(FIRST).unwrap(), parse(SECOND).unwrap());
    let gauges = second.gauges(Some(&first));
    assert_eq!(gauges.len(), GAUGES.len() + 2, "every gauge of the runtime, the latency and the pauses");
    let (p99, longest) = (gauges["gc_pause_p99_ns"], gauges["gc_pause_max_ns"]);
    assert!(1e3 <= p99 && p99 <= longest && longest <= 1e7, "{p99} {longest}");
    assert_eq!((gauges["goroutines"], gauges["heap_live_bytes"]), (16.0, 5_933_344.0));
    assert!((1e3..1e9).contains(&gauges["sched_latency_p99_ns"]), "{gauges:?}");

    let deltas = delta(&first, &second);
    assert_eq!(deltas["gc_cycles"], 120.0);
    assert_eq!(deltas["gc_pauses"], 240.0, "two pauses a cycle");
    assert_eq!(deltas["goroutines_created"], 305.0);
    assert_eq!(deltas["alloc_bytes"], f64::from(591_075_488 - 113_920));
    assert_eq!(deltas["gc_cpu_ns"], 259_528_229.0);
    assert!(
        deltas["total_cpu_ns"] > deltas["gc_cpu_ns"] && deltas.contains_key("mutex_wait_ns"),
        "{deltas:?}"
    );
    // 240 pauses between 1 µs and 10 ms each.
    assert!((240e3..2.4e9).contains(&deltas["gc_pause_ns"]), "{}", deltas["gc_pause_ns"]);
    assert_eq!(second.go_version.as_deref(), Some("go1.26.8"));
    assert!(second.dependencies.contains_key("prony.dev/targets/common"));
}

#[test]
fn the_first_line_has_no_latency_and_a_restart_no_deltas() {
    let (first, second) = (parse(FIRST).unwrap(), parse(SECOND).unwrap());
    assert!(!first.gauges(None).contains_key("sched_latency_p99_ns"));
    let restarted = delta(&second, &first);
    for name in ["gc_cycles", "alloc_bytes", "gc_pauses", "gc_pause_ns", "gc_cpu_ns"] {
        assert!(!restarted.contains_key(name), "{name} went backwards");
    }
    assert!(!first.gauges(Some(&second)).contains_key("sched_latency_p99_ns"));
}

#[test]
fn a_target_may_count_its_queue_and_its_breaker() {
    let counted = |done: u64| {
        let text = format!(
            r#"{{"orders_waiting":4,"orders_done":{done},"guarded_calls":{done},"fallbacks":1,"breaker_opened":0}}"#
        );
        parse(text.as_bytes()).unwrap()
    };
    let (first, second) = (counted(3), counted(8));
    assert_eq!(second.gauges(Some(&first))["orders_waiting"], 4.0);
    let deltas = delta(&first, &second);
    assert_eq!((deltas["orders_done"], deltas["guarded_calls"], deltas["fallbacks"]), (5.0, 5.0, 0.0));
    assert!(!deltas.contains_key("orders_failed"), "what is not counted is absent");
}

#[test]
fn without_a_collection_the_cpu_estimates_are_absent() {
    let second = parse(SECOND).unwrap();
    let deltas = delta(&second, &second);
    assert_eq!(deltas["gc_cycles"], 0.0);
    assert!(GO_AT_CYCLE_END.iter().all(|name| !deltas.contains_key(*name)), "{deltas:?}");
    let gauges = second.gauges(Some(&second));
    for name in ["sched_latency_p99_ns", "gc_pause_p99_ns", "gc_pause_max_ns"] {
        assert!(!gauges.contains_key(name), "no values, no {name}");
    }
}

#[test]
fn pauses_count_as_the_middle_of_their_bucket() {
    let pauses = histogram(&[f64::NEG_INFINITY, 0.0, 1.0, 3.0, f64::INFINITY], &[1, 2, 3, 4]);
    assert_eq!(pauses.sum_of_middles(), 2.0 * 0.5 + 3.0 * 2.0 + 4.0 * 3.0);
}

#[test]
fn pauses_are_told_by_bucket() {
    let (first, second) = (parse(FIRST).unwrap(), parse(SECOND).unwrap());
    let pauses = second.pauses(&first);
    assert_eq!(pauses.iter().map(|one| one.count).sum::<u64>(), 240, "as many as are counted: {pauses:?}");
    assert!(pauses.iter().all(|one| one.count > 0 && one.from_ns < one.to_ns), "{pauses:?}");
    // A bucket is at most a quarter of its lower bound wide, and each pause took from 1 µs to 10 ms.
    assert!(pauses.iter().all(|one| one.to_ns <= one.from_ns + one.from_ns / 4 + 1), "{pauses:?}");
    assert!(pauses.iter().all(|one| (1_000..10_000_000).contains(&one.from_ns)), "{pauses:?}");
    assert_eq!(first.pauses(&second), [], "a restart");
    assert_eq!(second.pauses(&second), [], "no pause, no bucket");
    let outer = histogram(&[f64::NEG_INFINITY, 1e-6, f64::INFINITY], &[1, 2]);
    let ends = outer.by_length().into_iter().map(|one| (one.from_ns, one.to_ns, one.count));
    assert_eq!(ends.collect::<Vec<_>>(), [(1_000, 1_000, 1), (1_000, 1_000, 2)]);
}

#[test]
fn histograms_with_other_bounds_are_not_compared() {
    let before = histogram(&[0.0, 1.0, 2.0], &[1, 1]);
    assert_eq!(histogram(&[0.0, 1.0, 3.0], &[2, 2]).since(&before), None);
    assert_eq!(histogram(&[0.0, 1.0, 2.0], &[2, 1]).since(&before).map(|h| h.counts), Some(vec![1, 0]));
}

#[test]
fn a_quantile_is_the_upper_bound_of_its_bucket() {
    let check = |counts: &[u64], expected: Option<f64>| {
        let latencies = histogram(&[f64::NEG_INFINITY, 0.0, 1.0, 3.0, f64::INFINITY], counts);
        assert_eq!(latencies.quantile(0.99), expected, "{counts:?}");
    };
    check(&[0, 99, 1, 0], Some(1.0));
    check(&[0, 98, 2, 0], Some(3.0));
    check(&[0, 0, 0, 5], Some(3.0));
    check(&[0, 1, 0, 0], Some(1.0));
    check(&[0, 0, 0, 0], None);
}

#[test]
fn what_is_not_the_agreed_json_is_an_error() {
    let check = |body: &str, part: &str| {
        let message = parse(body.as_bytes()).unwrap_err().to_string();
        assert!(message.contains(part), "{message} lacks {part}");
    };
    check("[1]", "agreed JSON");
    check(r#"{"/sched/goroutines:goroutines":"many"}"#, "/sched/goroutines:goroutines");
    check(r#"{"/gc/heap/allocs:bytes":-1}"#, "/gc/heap/allocs:bytes");
    check(r#"{"/sched/latencies:seconds":{"buckets":[0,1],"counts":[1,2]}}"#, "one bound more");
    check(r#"{"/sched/latencies:seconds":{"buckets":[0,null,1],"counts":[1,2]}}"#, "rising");
    check(r#"{"/sched/latencies:seconds":{"buckets":[1,0],"counts":[1]}}"#, "rising");
    check(r#"{"/sched/latencies:seconds":7}"#, "/sched/latencies:seconds");
    assert_eq!(parse(b"{}").unwrap(), GoReading::default(), "what a runtime lacks is absent");
}

#[test]
fn the_pool_of_connections_is_part_of_an_answer() {
    let body = br#"{"pool":{"max":100,"open":7,"in_use":5,"idle":2,"waits":9,"wait_ns":1500}}"#;
    let pool = parse(body).unwrap().pool.unwrap();
    assert_eq!((pool.gauge("pool_max"), pool.gauge("pool_in_use")), (Some(100.0), Some(5.0)));
    assert_eq!((pool.counter("pool_waits"), pool.counter("pool_wait_ns")), (Some(9), Some(1_500)));
    assert_eq!(parse(br#"{"pool":null}"#).unwrap().pool, None);
    assert!(parse(br#"{"pool":{"open":-1}}"#).is_err());
}

#[test]
fn a_dead_endpoint_is_an_error_that_names_it() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let message = read(address, "/debug/runtime").unwrap_err().to_string();
    assert!(message.contains(&format!("http://{address}/debug/runtime")), "{message}");
}

#[test]
fn the_wait_for_the_pool_has_its_95th_percentile_since_the_line_before() {
    let answer = |counts: [u64; 4]| {
        let body = format!(
            r#"{{"pool-wait:seconds":{{"buckets":[0,0.00001,0.001,0.004,null],"counts":{counts:?}}}}}"#
        );
        parse(body.as_bytes()).unwrap()
    };
    let p95 = |before: &GoReading, now: &GoReading| now.gauges(Some(before)).get("pool_wait_p95_ns").copied();
    let first = answer([1_000, 0, 0, 0]);
    assert_eq!(first.gauges(None), Values::new());
    assert_eq!(p95(&first, &first), None, "nobody asked for one");
    // 94 of 100 at once; the others wait, so the bound of their bucket is the 95th percentile.
    assert_eq!(p95(&first, &answer([1_094, 0, 6, 0])), Some(4e6));
    assert_eq!(p95(&first, &answer([1_095, 0, 5, 0])), Some(1e4));
    assert_eq!(p95(&first, &answer([1_000, 0, 0, 3])), Some(4e6), "beyond the last bound at least that");
    assert!(parse(br#"{"pool-wait:seconds":{"buckets":[0],"counts":[1]}}"#).is_err());
}
