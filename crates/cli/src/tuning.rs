//! Tuning as `prony run` and `prony doctor` do it: what dead runs left tuned is put back first, and every change is
//! reported.
//!
//! Invariant: all of it goes to standard error, so that results on standard output keep their format.

use anyhow::{Context as _, Result};
use runner::tune::{Hold, Restored, TuneError, Tuned, Tuner, why, written_to};
use schema::tuning::{PutBack, PutBackOutcome};
use units::format::counted;

/// The tuning of one run; what it says goes to standard error.
pub(crate) struct RunTuning(Option<Hold>);

/// Puts back what runs that died left tuned; then tunes, where that is asked for.
pub(crate) fn begin(tune: bool, turbo_off: bool) -> Result<RunTuning> {
    recover();
    if !tune {
        return Ok(RunTuning(None));
    }
    let (tuned, hold) = here()?.hold(turbo_off)?;
    tell_tuned(&tuned);
    Ok(RunTuning(Some(hold)))
}

impl RunTuning {
    /// Puts the host back. A run that ends with an error before does so as well, when this is dropped.
    pub(crate) fn end(self) {
        if let Some(hold) = self.0 {
            tell_restored(&hold.end(), "");
        }
    }
}

/// This host's tuner.
pub(crate) fn here() -> Result<Tuner> {
    Tuner::here().ok_or(TuneError::NoPlace).context("--tune")
}

/// Puts back what processes that died had changed.
pub(crate) fn recover() -> Restored {
    let restored = Tuner::here().map(|tuner| tuner.recover()).unwrap_or_default();
    tell_restored(&restored, ", which a prony that died had set");
    restored
}

pub(crate) fn tell_tuned(tuned: &Tuned) {
    for change in &tuned.changed {
        crate::output::say!("tuned {}: {} → {} ({})", change.name, change.old, change.new, why(&change.name));
    }
    tell_refused(tuned);
    if tuned.changed.is_empty() && tuned.refused.is_empty() {
        crate::output::say!("nothing to tune: all settings are as they should be");
    }
}

/// Each write that tuning would make, with its file.
pub(crate) fn tell_would_tune(tuned: &Tuned) {
    for change in &tuned.changed {
        let file = written_to(&change.name).unwrap_or_default();
        let why = why(&change.name);
        crate::output::say!("would write {}: {} → {} ({why})", file.display(), change.old, change.new);
    }
    tell_refused(tuned);
    crate::output::say!("{} would be written, and nothing was", counted(tuned.changed.len() as u64, "file"));
}

fn tell_refused(tuned: &Tuned) {
    for refused in &tuned.refused {
        crate::output::say!("not tuned {}: stays {} ({})", refused.name, refused.value, refused.cause);
    }
}

/// `after` says more about the value that is put back.
pub(crate) fn tell_restored(restored: &Restored, after: &str) {
    restored
        .settings
        .iter()
        .filter_map(|setting| words(setting, after))
        .for_each(|line| crate::output::say!("{line}"));
    for problem in &restored.problems {
        crate::output::say!("not put back: {problem}");
    }
}

/// Nothing is said of what needed nothing.
fn words(setting: &PutBack, after: &str) -> Option<String> {
    let PutBack { name, old, new, .. } = setting;
    let found = setting.found.as_deref().unwrap_or("unreadable");
    match setting.outcome {
        PutBackOutcome::Untouched => None,
        PutBackOutcome::Restored => Some(format!("put back {name}: {new}{after} → {old}")),
        PutBackOutcome::Foreign => Some(format!(
            "left alone {name}: somebody else has set {found} since prony changed {old} to {new}"
        )),
        PutBackOutcome::Failed => Some(format!(
            "not put back {name}: it is {found} and was {old} ({}); it is tried again at the next start",
            setting.cause.as_deref().unwrap_or("unknown cause")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_a_setting_is_said_in_a_line() {
        let of = |outcome, found: &str, cause: Option<&str>| {
            let setting = PutBack {
                name: "vm.swappiness".into(),
                old: "60".into(),
                new: "1".into(),
                found: Some(found.into()),
                outcome,
                cause: cause.map(Into::into),
            };
            words(&setting, ", left by a dead run")
        };
        assert_eq!(of(PutBackOutcome::Untouched, "60", None), None);
        let back = of(PutBackOutcome::Restored, "1", None).unwrap();
        assert_eq!(back, "put back vm.swappiness: 1, left by a dead run → 60");
        let foreign = of(PutBackOutcome::Foreign, "30", None).unwrap();
        assert!(foreign.contains("set 30 since prony changed 60 to 1"), "{foreign}");
        let failed = of(PutBackOutcome::Failed, "1", Some("not allowed")).unwrap();
        assert!(failed.contains("(not allowed)") && failed.contains("next start"), "{failed}");
    }
}
