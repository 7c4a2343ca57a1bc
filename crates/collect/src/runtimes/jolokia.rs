//! `jvm.runtime` of Jolokia: MBeans of the platform as JSON over HTTP, by its agent or its servlet.
//!
//! | key | kind | MBean |
//! |---|---|---|
//! | `heap_used_bytes`, `heap_committed_bytes`, `heap_max_bytes` | gauge | `java.lang:type=Memory`, `HeapMemoryUsage` |
//! | `threads` | gauge | `java.lang:type=Threading`, `ThreadCount` |
//! | `gc_cycles` | delta | `java.lang:type=GarbageCollector,*`, `CollectionCount`, summed |
//! | `gc_pause_ns` | delta | the same, `CollectionTime`, summed: milliseconds |
//!
//! All are asked for with one GET. A number that the JVM does not know is −1 there and absent here.
//! Absent on purpose: pools, whose MBeans tell how many wait and not how long; writes and calls, which Jolokia allows too.

use crate::error::ParseError;
use crate::reading::Reading;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What is asked for, below the path of Jolokia.
const QUESTION: &str = "read/java.lang:*/CollectionCount,CollectionTime,HeapMemoryUsage,ThreadCount";
const MS_NS: u64 = 1_000_000;
/// Counts beyond 2^53 are no counts; sums of a few of them cannot overflow.
const COUNT_MAX: i64 = 1 << 53;

#[derive(Deserialize)]
struct Answer {
    status: u16,
    #[serde(default)]
    error: String,
    #[serde(default)]
    value: BTreeMap<String, Bean>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Bean {
    collection_count: Option<i64>,
    collection_time: Option<i64>,
    heap_memory_usage: Option<Usage>,
    thread_count: Option<i64>,
}

#[derive(Deserialize)]
struct Usage {
    used: Option<i64>,
    committed: Option<i64>,
    max: Option<i64>,
}

/// The path of the question.
pub(super) fn path(jolokia: &str) -> String {
    format!("{}/{QUESTION}", jolokia.trim_end_matches('/'))
}

/// Parses one answer.
///
/// # Errors
/// It is no JSON of Jolokia, says that it failed, or has none of these MBeans.
pub fn parse(body: &[u8]) -> Result<Reading, ParseError> {
    let answer: Answer = serde_json::from_slice(body).map_err(|error| ParseError::Json(error.to_string()))?;
    if answer.status != 200 {
        return Err(ParseError::Json(format!("Jolokia answers {}: {}", answer.status, answer.error)));
    }
    let mut reading = Reading::default();
    for bean in answer.value.values() {
        let mut count = |name, value: Option<i64>, unit: u64| {
            if let Some(value) = known(value) {
                let sum: &mut u64 = reading.counters.entry(name).or_default();
                *sum = sum.saturating_add(value.saturating_mul(unit));
            }
        };
        count("gc_cycles", bean.collection_count, 1);
        count("gc_pause_ns", bean.collection_time, MS_NS);
        let usage = bean.heap_memory_usage.as_ref();
        let gauges = [
            ("heap_used_bytes", usage.and_then(|usage| usage.used)),
            ("heap_committed_bytes", usage.and_then(|usage| usage.committed)),
            ("heap_max_bytes", usage.and_then(|usage| usage.max)),
            ("threads", bean.thread_count),
        ];
        reading
            .gauges
            .extend(gauges.into_iter().filter_map(|(name, value)| Some((name, known(value)? as f64))));
    }
    if reading == Reading::default() {
        return Err(ParseError::Missing("the MBeans java.lang:type=Memory, Threading and GarbageCollector"));
    }
    Ok(reading)
}

fn known(value: Option<i64>) -> Option<u64> {
    value.filter(|value| *value <= COUNT_MAX).and_then(|value| u64::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXTURE: &[u8] = include_bytes!("../../fixtures/exporters/jolokia.json");

    #[test]
    fn a_real_answer() {
        let jvm = parse(FIXTURE).unwrap();
        assert!(jvm.counter("gc_cycles") > Some(0) && jvm.counter("gc_pause_ns") > Some(MS_NS));
        assert!(jvm.gauge("heap_used_bytes") > Some(1e6) && jvm.gauge("threads") > Some(1.0), "{jvm:?}");
        assert!(jvm.gauge("heap_max_bytes") > jvm.gauge("heap_committed_bytes"));
    }

    #[test]
    fn what_a_jvm_does_not_know_is_absent_and_collectors_are_summed() {
        let body = br#"{"status":200,"value":{"a":{"CollectionCount":3,"CollectionTime":-1},
            "b":{"CollectionCount":4},"c":{"HeapMemoryUsage":{"used":7,"max":-1}}}}"#;
        let jvm = parse(body).unwrap();
        assert_eq!((jvm.counter("gc_cycles"), jvm.counter("gc_pause_ns")), (Some(7), None));
        assert_eq!((jvm.gauge("heap_used_bytes"), jvm.gauge("heap_max_bytes")), (Some(7.0), None));
    }

    #[test]
    fn refusals_and_other_things_are_told() {
        let refused = parse(br#"{"status":403,"error":"Reading is forbidden"}"#).unwrap_err().to_string();
        assert!(refused.contains("403") && refused.contains("forbidden"), "{refused}");
        assert!(parse(br#"{"status":200,"value":{}}"#).is_err());
        assert!(parse(b"# HELP jvm_threads_live").is_err());
        assert!(parse(br#"{"status":200,"value":{"a":{"ThreadCount":"many"}}}"#).is_err());
    }

    #[test]
    fn the_path_may_end_with_a_slash() {
        assert_eq!(path("/jolokia/"), path("/jolokia"));
    }
}
