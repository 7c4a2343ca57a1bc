//! `metric = { counter = … }`: what can be known of a counter before anything was counted.
//!
//! Invariant: a name that no run can have is refused here, with its key; one that only this run lacks is found by the
//! analysis, which knows what was counted.

use schema::counter_metric::CounterMetric;
use schema::counter_name::{GO_AT_CYCLE_END, is_percentile};
use schema::text::{Problem, nearest};

/// What the names of sources begin with (`crates/collect`).
const GROUPS: [&str; 12] =
    ["target", "generator", "host", "tcp", "go", "jvm", "node", "php", "swoole", "nginx", "service", "prony"];
/// What an increase is divided by, beside another counter.
const PER: [&str; 3] = ["second", "request", "total"];

/// # Errors
/// A name that is no `SOURCE/NAME`, or of no source that there is; a `per` that is neither a word nor a counter; a percentile
/// over another counter, whose mean over the trial would be one of percentiles; a rate of what has none.
pub(super) fn check(counter: &CounterMetric, key: &str) -> Result<(), Problem> {
    name(&counter.counter, &format!("{key}.counter"))?;
    let key = format!("{key}.per");
    match counter.per.as_deref() {
        None | Some("total") => Ok(()),
        Some(per) if is_of_cycles(&counter.counter) != is_of_cycles(per) => {
            let cause =
                "Go brings CPU times up to date at the end of a collection only, so they have no rate";
            Err(Problem::at(&key, cause, "divide one by another, for example by go.runtime/total_cpu_ns"))
        }
        Some(word) if PER.contains(&word) => Ok(()),
        Some(other) if other == counter.counter => {
            Err(Problem::at(&key, "a counter over itself is always 1", "name another one"))
        }
        Some(other) if is_percentile(&counter.counter) || is_percentile(other) => {
            let cause = format!("`{}` per `{other}` would be a mean of percentiles", counter.counter);
            Err(Problem::at(&key, cause, "name the percentile alone: of several its largest value counts"))
        }
        Some(other) if other.contains('/') => name(other, &key),
        Some(word) => {
            let remedy = match nearest(word, PER) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write {}, or another counter as SOURCE/NAME", PER.join(", ")),
            };
            Err(Problem::at(&key, format!("`{word}` is nothing to divide by"), remedy))
        }
    }
}

fn is_of_cycles(counter: &str) -> bool {
    counter.strip_prefix("go.runtime/").is_some_and(|name| GO_AT_CYCLE_END.contains(&name))
}

fn name(counter: &str, key: &str) -> Result<(), Problem> {
    let parts = counter.split_once('/').filter(|(source, name)| !source.is_empty() && !name.is_empty());
    let Some((source, _)) = parts else {
        let remedy = "write source and name as a report lists them, for example go.runtime/goroutines";
        return Err(Problem::at(key, format!("`{counter}` is no counter"), remedy));
    };
    let group = source.split('.').next().unwrap_or_default();
    if GROUPS.contains(&group) {
        return Ok(());
    }
    let remedy = match nearest(group, GROUPS) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("sources begin with one of {}", GROUPS.join(", ")),
    };
    Err(Problem::at(key, format!("no run has a source `{source}`"), remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn checked(counter: &str, per: Option<&str>) -> Result<(), String> {
        let counter =
            CounterMetric { counter: counter.into(), per: per.map(str::to_owned), higher_is_better: false };
        check(&counter, "claim.0.metric").map_err(|problem| format!("{problem:?}"))
    }

    #[test]
    fn names_that_a_run_can_have_are_taken() {
        for (counter, per) in [
            ("go.runtime/goroutines", None),
            ("service.mariadb.db/threads_running", None),
            ("target.process/voluntary_switches", Some("request")),
            ("go.runtime/gc_cpu_ns", Some("go.runtime/total_cpu_ns")),
            ("go.runtime/gc_cpu_ns", Some("total")),
            ("go.runtime/pool_wait_p95_ns", None),
            ("go.pool/pool_in_use", Some("go.pool/pool_max")),
            ("go.runtime/fallbacks", Some("go.runtime/guarded_calls")),
        ] {
            assert_eq!(checked(counter, per), Ok(()), "{counter}");
        }
    }

    #[test]
    fn the_others_are_refused_with_what_was_meant() {
        for (counter, per, parts) in [
            ("goroutines", None, ["\"counter\"", "for example go.runtime/goroutines"]),
            (
                "targt.process/threads",
                None,
                ["no run has a source `targt.process`", "did you mean `target`?"],
            ),
            ("app/queue", None, ["no run has a source `app`", "sources begin with"]),
            ("go.runtime/gc_cycles", Some("secnd"), ["\"per\"", "did you mean `second`?"]),
            ("go.runtime/gc_cycles", Some("kilobyte"), ["\"per\"", "another counter as SOURCE/NAME"]),
            ("go.runtime/gc_cycles", Some("go.runtime/gc_cycles"), ["\"per\"", "always 1"]),
            (
                "go.runtime/pool_wait_p95_ns",
                Some("go.pool/pool_max"),
                ["a mean of percentiles", "its largest value"],
            ),
            ("go.runtime/gc_cpu_ns", Some("second"), ["\"per\"", "by go.runtime/total_cpu_ns"]),
            ("go.runtime/gc_pause_ns", Some("go.runtime/total_cpu_ns"), ["\"per\"", "have no rate"]),
            ("go.runtime/gc_cycles", Some("g/calls"), ["\"per\"", "no run has a source `g`"]),
        ] {
            let text = checked(counter, per).unwrap_err();
            for part in parts {
                assert!(text.contains(part), "{counter} per {per:?}: {text}");
            }
        }
    }

    /// Names of sources in the code of the collectors: `const NAME: &str = "go.runtime";`.
    fn sources(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("the crate is there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, found);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let literals =
                text.lines().filter_map(|line| line.trim().split_once(": &str = \"")?.1.strip_suffix("\";"));
            found.extend(
                literals.filter(|name| name.contains('.') && !name.contains(['/', ' '])).map(str::to_owned),
            );
        }
    }

    #[test]
    fn every_source_that_is_read_can_be_named() {
        let mut found = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../collect/src"), &mut found);
        assert!(found.len() > 30 && found.iter().any(|name| name == "go.runtime"), "{found:?}");
        for source in found {
            assert_eq!(checked(&format!("{source}/n"), None), Ok(()));
        }
    }
}
