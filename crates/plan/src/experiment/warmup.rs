//! `[phases] warmup`: its shortest and longest length, and what it waits for.
//!
//! Invariant: a warm-up of one length waits for nothing, and a condition that could never be seen to hold is an error
//! here, not a warm-up that always runs out.

use crate::defaults;
use schema::experiment::{Warmup, WarmupUntil};
use schema::plan::{TargetPlan, TargetSource};
use schema::steady::WarmUpConditions;
use schema::text::Problem;
use std::path::Path;
use units::Nanos;

const KEY: &str = "phases.warmup";
/// Six readings of the target's CPU time, one a second, need seven seconds of load.
const CPU_NEEDS: Nanos = Nanos::from_secs(7);

/// A warm-up, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Resolved {
    pub(super) at_least: Nanos,
    /// Equal to `at_least` where the length is fixed.
    pub(super) at_most: Nanos,
    pub(super) also: WarmUpConditions,
}

/// # Errors
/// Bounds that contradict each other or `until`, and conditions that the bounds or the targets do not allow.
pub(super) fn resolve(file: &Warmup, targets: &[TargetPlan]) -> Result<Resolved, Problem> {
    let (at_least, at_most) = bounds(file)?;
    let also = WarmUpConditions {
        gc_at_most_every_ns: file.gc_at_most_every.map(|every| every.0),
        cpu_within: file.cpu_within,
    };
    if at_least == at_most && !also.is_empty() {
        let cause = "a warm-up of one length waits for nothing, so its condition would not be looked at";
        return Err(Problem::at(KEY, cause, "make at_most longer than at_least, or remove the condition"));
    }
    file.gc_at_most_every.map_or(Ok(()), |every| collections(every, at_most, targets))?;
    file.cpu_within.map_or(Ok(()), |within| cpu(within, at_most, targets))?;
    Ok(Resolved { at_least, at_most, also })
}

fn bounds(file: &Warmup) -> Result<(Nanos, Nanos), Problem> {
    if file.until == Some(WarmupUntil::Fixed) {
        let length = file.at_least.or(file.at_most).unwrap_or(defaults::WARMUP_AT_LEAST);
        if file.at_most.is_some_and(|at_most| at_most != length) {
            let remedy = "give at_least only, or write until = \"steady\"";
            return Err(Problem::at(KEY, "a fixed warm-up has one length, but at_most is another", remedy));
        }
        return Ok((length, length));
    }
    let at_least = file.at_least.unwrap_or(defaults::WARMUP_AT_LEAST);
    let at_most = file.at_most.unwrap_or(defaults::WARMUP_AT_MOST.max(at_least));
    if at_most < at_least {
        let cause = format!("warm-up of at most {at_most} is shorter than at least {at_least}");
        return Err(Problem::at(KEY, cause, "make at_most the larger one"));
    }
    if at_least == at_most && file.until == Some(WarmupUntil::Steady) {
        let cause = "at_least and at_most are one time, so nothing can be waited for";
        return Err(Problem::at(KEY, cause, "make at_most longer, or write until = \"fixed\""));
    }
    Ok((at_least, at_most))
}

fn collections(every: Nanos, at_most: Nanos, targets: &[TargetPlan]) -> Result<(), Problem> {
    let key = format!("{KEY}.gc_at_most_every");
    // Two readings more than the time itself, one at each end.
    let needed = Nanos(every.0.saturating_add(2 * Nanos::SECOND.0));
    if every < Nanos::SECOND || needed > at_most {
        let cause = format!("{every} cannot be seen within a warm-up of at most {at_most}");
        return Err(Problem::at(&key, cause, "give at least 1s, and an at_most that is 2s longer than it"));
    }
    match targets.iter().find(|target| !has_go_runtime(target)) {
        None => Ok(()),
        Some(target) => {
            let cause = format!("nothing tells when {} collects garbage", target.name);
            let remedy = "use it for targets whose target.toml names metrics.go_runtime, or remove it";
            Err(Problem::at(&key, cause, remedy))
        }
    }
}

/// Whether the experiment or the target's manifest names the endpoint of its Go runtime's counters. A manifest that
/// cannot be read is reported where it is first needed.
fn has_go_runtime(target: &TargetPlan) -> bool {
    if target.metrics.go_runtime.is_some() {
        return true;
    }
    let TargetSource::Manifest { folder, .. } = &target.source else { return false };
    launch::manifest::load(Path::new(folder)).is_ok_and(|(manifest, _)| manifest.metrics.go_runtime.is_some())
}

fn cpu(within: f64, at_most: Nanos, targets: &[TargetPlan]) -> Result<(), Problem> {
    let key = format!("{KEY}.cpu_within");
    if !(within > 0.0 && within <= 1.0) {
        return Err(Problem::at(
            &key,
            format!("{within} is out of range"),
            "give a share above 0, such as 0.05",
        ));
    }
    if at_most < CPU_NEEDS {
        let cause = format!("six seconds of CPU time cannot be seen within a warm-up of at most {at_most}");
        return Err(Problem::at(&key, cause, format!("make at_most at least {CPU_NEEDS}")));
    }
    match targets.iter().find(|target| matches!(target.source, TargetSource::Url { .. })) {
        None => Ok(()),
        Some(target) => {
            let cause = format!("the CPU time of {} cannot be read: prony did not start it", target.name);
            Err(Problem::at(&key, cause, "let prony start the target on this machine, or remove it"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn target(source: TargetSource) -> TargetPlan {
        TargetPlan {
            name: "t".to_owned(),
            source,
            env: BTreeMap::new(),
            knobs: BTreeMap::new(),
            variant: None,
            metrics: Default::default(),
        }
    }

    fn command() -> TargetPlan {
        target(TargetSource::Command {
            command: vec!["server".to_owned()],
            folder: None,
            build: Vec::new(),
            ready: Default::default(),
            stop: Default::default(),
        })
    }

    fn url() -> TargetPlan {
        target(TargetSource::Url { url: "http://127.0.0.1:1/".to_owned(), tls: None })
    }

    fn check(text: &str, target: &TargetPlan) -> Result<(u64, u64), String> {
        let file: Warmup = schema::text::parse_toml("warmup", text).map_err(|error| error.to_string())?;
        let resolved = resolve(&file, std::slice::from_ref(target)).map_err(|error| format!("{error:?}"))?;
        Ok((resolved.at_least.0 / 1_000_000_000, resolved.at_most.0 / 1_000_000_000))
    }

    #[test]
    fn bounds_and_until() {
        for (text, wanted) in [
            ("", (3, 20)),
            ("at_least = \"30s\"", (30, 30)),
            ("at_least = \"2s\"\nat_most = \"8s\"", (2, 8)),
            ("at_least = \"5s\"\nat_most = \"5s\"", (5, 5)),
            ("until = \"steady\"", (3, 20)),
            ("until = \"fixed\"", (3, 3)),
            ("until = \"fixed\"\nat_most = \"7s\"", (7, 7)),
            ("until = \"fixed\"\nat_least = \"7s\"\nat_most = \"7s\"", (7, 7)),
        ] {
            assert_eq!(check(text, &command()), Ok(wanted), "{text}");
        }
        for (text, wanted) in [
            ("at_least = \"9s\"\nat_most = \"8s\"", "make at_most the larger one"),
            ("until = \"fixed\"\nat_least = \"2s\"\nat_most = \"8s\"", "a fixed warm-up has one length"),
            ("until = \"steady\"\nat_least = \"2s\"\nat_most = \"2s\"", "nothing can be waited for"),
            ("until = \"never\"", "never"),
            ("untill = \"fixed\"", "untill"),
        ] {
            let error = check(text, &command()).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn conditions_need_time_and_a_target_that_tells() {
        assert_eq!(check("cpu_within = 0.05", &command()), Ok((3, 20)));
        for (text, target, wanted) in [
            ("cpu_within = 0.05", url(), "prony did not start it"),
            ("cpu_within = 0.0", command(), "out of range"),
            ("cpu_within = 1.5", command(), "out of range"),
            ("cpu_within = nan", command(), "out of range"),
            ("cpu_within = 0.05\nat_most = \"5s\"", command(), "cannot be seen"),
            ("cpu_within = 0.05\nuntil = \"fixed\"", command(), "waits for nothing"),
            ("gc_at_most_every = \"10s\"", command(), "nothing tells when t collects garbage"),
            ("gc_at_most_every = \"10s\"", url(), "nothing tells"),
            ("gc_at_most_every = \"30s\"", command(), "cannot be seen"),
            ("gc_at_most_every = \"0s\"", command(), "cannot be seen"),
        ] {
            let error = check(text, &target).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn a_go_target_tells() {
        let project = tempfile::tempdir().unwrap();
        let folder = project.path().join("go/a");
        std::fs::create_dir_all(&folder).unwrap();
        let manifest = |metrics: &str| {
            let text = format!(
                "schema = \"prony.target/1\"\nname = \"go/a\"\ndescription = \"d\"\nlanguage = \"go\"\n[build]\n\
                 command = [\"make\"]\n[run]\ncommand = [\"{{build}}/s\", \"{{port}}\"]\n{metrics}"
            );
            std::fs::write(folder.join("target.toml"), text).unwrap();
        };
        let source = TargetSource::Manifest { name: "go/a".to_owned(), folder: folder.display().to_string() };
        let mut target = target(source);
        manifest("[metrics]\ngo_runtime = \"/debug/runtime\"\n");
        assert_eq!(check("gc_at_most_every = \"10s\"", &target), Ok((3, 20)));
        manifest("");
        assert!(check("gc_at_most_every = \"10s\"", &target).unwrap_err().contains("nothing tells"));
        target.metrics.go_runtime = Some("/debug/runtime".to_owned());
        assert_eq!(check("gc_at_most_every = \"10s\"", &target), Ok((3, 20)));
    }
}
