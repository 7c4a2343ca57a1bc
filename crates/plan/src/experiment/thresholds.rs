//! `[[threshold]]`: from a metric or counter and a bound to a limit in the unit of the metric.
//!
//! Invariant: a mistake is reported at its key, with the nearest name that would do.

use super::claims::{number, suggestion};
use super::counter;
use schema::counter_metric::ClaimMetric;
use schema::plan::TargetPlan;
use schema::text::Problem;
use schema::threshold::{ThresholdPlan, ThresholdUse};

/// Most thresholds of one run: each counter of one is kept in every window of a soak.
const THRESHOLDS_MAX: usize = 100;

/// # Errors
/// A counter that no run can have, a target that the file does not have, or a bound in another unit.
pub(super) fn resolve(file: &[ThresholdUse], targets: &[TargetPlan]) -> Result<Vec<ThresholdPlan>, Problem> {
    if file.len() > THRESHOLDS_MAX {
        let cause = format!("{} thresholds are more than {THRESHOLDS_MAX}", file.len());
        return Err(Problem::at("threshold", cause, "keep those that matter"));
    }
    file.iter()
        .enumerate()
        .map(|(place, one)| threshold(one, targets, &format!("threshold.{place}")))
        .collect()
}

fn threshold(one: &ThresholdUse, targets: &[TargetPlan], key: &str) -> Result<ThresholdPlan, Problem> {
    if let ClaimMetric::Counter(counter) = &one.metric {
        counter::check(counter, &format!("{key}.metric"))?;
    }
    let names = || targets.iter().map(|target| target.name.as_str());
    if let Some(wrong) = one.of.as_deref().filter(|of| !names().any(|name| name == *of)) {
        let cause = format!("there is no target `{wrong}`");
        return Err(Problem::at(&format!("{key}.of"), cause, suggestion(wrong, names())));
    }
    let (comparison, bound) = number(&one.is, &one.metric, false, &format!("{key}.is"))?;
    // Keys, which every language reads alike.
    let name = match &one.metric {
        ClaimMetric::Named(metric) => metric.key().to_owned(),
        ClaimMetric::Counter(counter) => counter.title(),
    };
    let text = one.text.clone().unwrap_or_else(|| format!("{name} {}", one.is.trim()));
    let (metric, target) = (one.metric.clone(), one.of.clone());
    Ok(ThresholdPlan { text, metric, target, comparison, bound })
}

#[cfg(test)]
mod tests {
    use crate::context::Context;
    use crate::experiment::{KneeWishes, experiment};
    use schema::plan::ClaimComparison;
    use schema::threshold::ThresholdPlan;

    fn resolved(threshold: &str) -> Result<ThresholdPlan, String> {
        let text = format!(
            "[experiment]\nname = \"t\"\n[[target]]\nname = \"a\"\nreference = {{}}\n[scenario]\n\
             request = {{ path = \"/\" }}\n[[threshold]]\n{threshold}\n"
        );
        let context = Context { project: ".".into(), usable_cpus: vec![0, 1], pin: None };
        let plan = experiment("e.toml", &text, &context).map_err(|error| error.to_string())?;
        Ok(plan.thresholds.into_iter().next().expect("there is one"))
    }

    #[test]
    fn metrics_and_counters_have_bounds_in_their_unit() {
        let switches = "metric = { counter = \"target.process/involuntary_switches\", per = \"second\" }";
        let plan = resolved(&format!("{switches}\nis = \"<= 10k\"")).unwrap();
        assert_eq!((plan.comparison, plan.bound), (ClaimComparison::AtMost, 10_000.0));
        assert_eq!(plan.text, "target.process/involuntary_switches per second <= 10k");
        let plan = resolved("metric = \"p99\"\nof = \"a\"\nis = \"< 50ms\"\ntext = \"It is quick\"").unwrap();
        assert_eq!((plan.bound, plan.target.as_deref(), plan.text.as_str()), (5e7, Some("a"), "It is quick"));
        let plan =
            resolved("metric = { counter = \"go.runtime/pool_wait_p95_ns\" }\nis = \"<= 5ms\"").unwrap();
        assert_eq!(plan.bound, 5e6);
    }

    #[test]
    fn a_ladder_goes_beyond_health_on_purpose() {
        let text = "[experiment]\nname = \"t\"\n[[target]]\nname = \"a\"\nreference = {}\n[scenario]\n\
                    request = { path = \"/\" }\n[load]\nmodel = \"closed\"\nconnections = [1, 2, 4]\n\
                    [[threshold]]\nmetric = \"p99\"\nis = \"< 5ms\"\n";
        let context = Context { project: ".".into(), usable_cpus: vec![0, 1], pin: None };
        assert_eq!(experiment("e.toml", text, &context).unwrap().thresholds.len(), 1);
        let plan = crate::experiment::capacity("e.toml", text, &context, &KneeWishes::default()).unwrap();
        assert_eq!(plan.thresholds, []);
    }

    #[test]
    fn mistakes_are_refused_with_file_line_and_key() {
        for (threshold, parts) in [
            ("metric = \"p98\"\nis = \"< 5ms\"", ["e.toml:9", "did you mean `p9"]),
            ("metric = \"p99\"\nis = \"< 5\"", ["threshold.0.is", "unit"]),
            ("metric = \"p99\"\nis = \"5ms\"", ["threshold.0.is", "no comparison"]),
            ("metric = \"p99\"\nof = \"b\"\nis = \"< 5ms\"", ["threshold.0.of", "name one of: a"]),
            ("metric = { counter = \"x\" }\nis = \"< 5\"", ["threshold.0.metric.counter", "is no counter"]),
            ("metric = \"p99\"\nbetter = \"a\"\nis = \"< 5ms\"", ["e.toml", "better"]),
        ] {
            let text = resolved(threshold).expect_err(threshold);
            for part in parts {
                assert!(text.contains(part), "{threshold}: no `{part}` in {text}");
            }
        }
    }
}
