//! `[[alarm]]`, `--alarm` and `--abort-on`: from a condition such as `p99 > 200ms for 2m` to what is watched.
//!
//! Invariants: a file and a flag read the same grammar, here; a limit is in the unit of its metric, as that of a claim or
//! a threshold is; a metric that only a whole trial has is refused with those that can be watched.

use super::claims::{number, suggestion};
use super::counter;
use schema::alarm::{AlarmPlan, AlarmUse};
use schema::counter_metric::{ClaimMetric, CounterMetric};
use schema::metric::Metric;
use schema::plan::TargetPlan;
use schema::text::{Problem, nearest};
use units::Nanos;

/// Most alarms of one run.
const ALARMS_MAX: usize = 100;
/// Longest time for which a condition must hold.
const FOR_MAX: Nanos = Nanos::from_secs(86_400);
/// What can be watched while a load runs: the name, and the metric.
const WATCHED: [(&str, Metric); 15] = [
    ("p50", Metric::P50),
    ("p90", Metric::P90),
    ("p95", Metric::P95),
    ("p99", Metric::P99),
    ("p99.9", Metric::P999),
    ("p999", Metric::P999),
    ("max", Metric::Max),
    ("errors", Metric::ErrorRate),
    ("error_rate", Metric::ErrorRate),
    ("throughput", Metric::Throughput),
    ("cpu", Metric::Cpu),
    ("cpu_per_request", Metric::CpuPerRequest),
    ("memory", Metric::Memory),
    ("gc_pause_share", Metric::GcPauseShare),
    ("gc_pause_max", Metric::GcPauseMax),
];

/// # Errors
/// A condition that cannot be read or watched, or a target that the file does not have.
pub(super) fn resolve(file: &[AlarmUse], targets: &[TargetPlan]) -> Result<Vec<AlarmPlan>, Problem> {
    if file.len() > ALARMS_MAX {
        let cause = format!("{} alarms are more than {ALARMS_MAX}", file.len());
        return Err(Problem::at("alarm", cause, "keep those that somebody will act on"));
    }
    let of_file = |(place, one): (usize, &AlarmUse)| {
        let names = || targets.iter().map(|target| target.name.as_str());
        if let Some(wrong) = one.of.as_deref().filter(|of| !names().any(|name| name == *of)) {
            let cause = format!("there is no target `{wrong}`");
            return Err(Problem::at(&format!("alarm.{place}.of"), cause, suggestion(wrong, names())));
        }
        let plan = condition(&one.when, &format!("alarm.{place}.when"))?;
        let text = one.text.clone().unwrap_or_else(|| plan.text.clone());
        Ok(AlarmPlan { text, target: one.of.clone(), abort: one.abort, ..plan })
    };
    file.iter().enumerate().map(of_file).collect()
}

/// The alarm of a condition, about all targets, which ends nothing. `key` is where it is written.
///
/// # Errors
/// It has no comparison, a metric that cannot be watched, a limit in another unit, or a time out of range.
pub fn condition(when: &str, key: &str) -> Result<AlarmPlan, Problem> {
    let when = when.trim();
    let (limit, held) = match when.rsplit_once(" for ") {
        Some((limit, held)) => (limit, Some(held)),
        None => (when, None),
    };
    let for_ns = held.map_or(Ok(0), |held| held_for(held, key))?;
    let Some(at) = limit.find(['<', '>']) else {
        let remedy = "write metric, comparison and limit, for example \"p99 > 200ms for 2m\"";
        return Err(Problem::at(key, format!("`{when}` has no comparison"), remedy));
    };
    let metric = metric(limit[..at].trim(), key)?;
    let (comparison, bound) = number(&limit[at..], &metric, false, key)?;
    Ok(AlarmPlan {
        text: when.to_owned(),
        when: when.to_owned(),
        metric,
        comparison,
        bound,
        for_ns,
        target: None,
        abort: false,
    })
}

fn held_for(text: &str, key: &str) -> Result<u64, Problem> {
    let remedy = "write how long it must hold, from 0s to 24h, for example `for 2m`";
    let wrong = |cause: String| Problem::at(key, cause, remedy);
    let held: Nanos = text.trim().parse().map_err(|error| wrong(format!("`{}`: {error}", text.trim())))?;
    if held > FOR_MAX {
        return Err(wrong(format!("{held} is longer than a day")));
    }
    Ok(held.0)
}

/// A metric by its name, or a counter: `SOURCE/NAME`, `SOURCE/NAME per second`.
fn metric(name: &str, key: &str) -> Result<ClaimMetric, Problem> {
    if name.contains('/') {
        let (counter, per) = match name.split_once(" per ") {
            Some((counter, per)) => (counter.trim(), Some(per.trim().to_owned())),
            None => (name, None),
        };
        let counter = CounterMetric { counter: counter.to_owned(), per, higher_is_better: false };
        counter::check(&counter, key)?;
        return Ok(ClaimMetric::Counter(counter));
    }
    if let Some((_, metric)) = WATCHED.iter().find(|(known, _)| *known == name) {
        return Ok(ClaimMetric::Named(*metric));
    }
    let names: Vec<&str> = WATCHED.iter().map(|(known, _)| *known).collect();
    let remedy = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? A counter is written as SOURCE/NAME"),
        None => format!("use one of {}, or a counter as SOURCE/NAME", names.join(", ")),
    };
    Err(Problem::at(key, format!("`{name}` cannot be watched while a load runs"), remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::experiment::experiment;
    use schema::plan::ClaimComparison::{LessThan, MoreThan};

    fn read(when: &str) -> (String, schema::plan::ClaimComparison, f64, u64) {
        let plan = condition(when, "alarm").unwrap_or_else(|problem| panic!("{when}: {problem:?}"));
        (plan.metric.title(), plan.comparison, plan.bound, plan.for_ns)
    }

    #[test]
    fn conditions_have_a_metric_a_limit_in_its_unit_and_a_time() {
        let minutes = 60_000_000_000;
        for (when, bound, comparison, for_ns) in [
            ("p99 > 200ms for 2m", 2e8, MoreThan, 2 * minutes),
            ("p99.9>1s", 1e9, MoreThan, 0),
            ("errors > 1% for 30s", 0.01, MoreThan, minutes / 2),
            ("throughput < 10k for 1m", 1e4, LessThan, minutes),
            ("cpu > 90% for 1m", 0.9, MoreThan, minutes),
            ("memory > 2GiB", 2_147_483_648.0, MoreThan, 0),
            ("gc_pause_share > 10%", 0.1, MoreThan, 0),
            ("go.runtime/goroutines > 10k for 1m", 1e4, MoreThan, minutes),
            ("target.process/cpu_ns per second > 180%", 1.8, MoreThan, 0),
            ("go.runtime/gc_pause_max_ns > 50ms", 5e7, MoreThan, 0),
        ] {
            let (title, got, limit, held) = read(when);
            assert_eq!((got, held), (comparison, for_ns), "{when}: {title}");
            assert!((limit / bound - 1.0).abs() < 1e-12, "{when}: {limit}");
        }
        assert_eq!(read("target.process/cpu_ns per second > 1").0, "target.process/cpu_ns per second");
    }

    #[test]
    fn mistakes_have_a_cause_and_a_remedy() {
        for (when, cause, remedy) in [
            ("p99", "has no comparison", "p99 > 200ms for 2m"),
            ("p98 > 1ms", "`p98` cannot be watched", "did you mean `p9"),
            ("mean > 1ms", "`mean` cannot be watched", "SOURCE/NAME"),
            ("p99 > 5", "p99 is a time", "with its unit"),
            ("errors > 200%", "error_rate is a share", "with its unit"),
            ("p99 > 5ms for ever", "`ever`", "for 2m"),
            ("p99 > 5ms for 25h", "longer than a day", "24h"),
            ("no.such/thing > 5", "no run has a source `no.such`", ""),
            ("> 5ms", "`` cannot be watched", "SOURCE/NAME"),
        ] {
            let problem = condition(when, "--alarm").expect_err(when);
            assert!(problem.cause.contains(cause), "{when}: {}", problem.cause);
            assert!(problem.remedy.contains(remedy), "{when}: {}", problem.remedy);
        }
    }

    #[test]
    fn a_file_has_alarms_and_its_mistakes_have_lines() {
        let resolved = |alarm: &str| {
            let text = format!(
                "[experiment]\nname = \"t\"\n[[target]]\nname = \"a\"\nreference = {{}}\n[scenario]\n\
                 request = {{ path = \"/\" }}\n[[alarm]]\n{alarm}\n"
            );
            let context = Context { project: ".".into(), usable_cpus: vec![0, 1], pin: None };
            experiment("e.toml", &text, &context).map(|plan| plan.alarms).map_err(|error| error.to_string())
        };
        let alarms = resolved("when = \"p99 > 5ms for 1m\"\nof = \"a\"\nabort = true").unwrap();
        assert_eq!((alarms[0].abort, alarms[0].target.as_deref()), (true, Some("a")));
        assert_eq!(alarms[0].text, "p99 > 5ms for 1m");
        for (alarm, parts) in [
            ("when = \"p98 > 5ms\"", ["e.toml:9", "did you mean"]),
            ("when = \"p99 > 5ms\"\nof = \"b\"", ["e.toml:10", "name one of: a"]),
            ("when = \"p99 > 5ms\"\nabortt = true", ["e.toml", "abort"]),
        ] {
            let text = resolved(alarm).expect_err(alarm);
            for part in parts {
                assert!(text.contains(part), "{alarm}: no `{part}` in {text}");
            }
        }
    }
}
