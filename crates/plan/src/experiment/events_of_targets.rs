//! Events that ask something of a target's manifest: its `[reload]`, its knobs.

use crate::error::PlanError;
use crate::experiment::knobs;
use crate::wrong::Wrong;
use schema::event::EventAction;
use schema::knob::KnobValue;
use schema::plan::{TargetPlan, TargetSource};
use schema::target::TargetManifest;
use schema::text::Problem;
use std::collections::BTreeMap;
use std::path::Path;

/// The manifest of a target; nothing where it has none.
fn manifest(target: &TargetPlan) -> Result<Option<TargetManifest>, Wrong> {
    match &target.source {
        TargetSource::Manifest { folder, .. } => {
            let (manifest, _) = launch::manifest::load(Path::new(folder)).map_err(PlanError::from)?;
            Ok(Some(manifest))
        }
        _ => Ok(None),
    }
}

/// Every target must have a reload.
pub(super) fn reload(targets: &[TargetPlan], key: &str) -> Result<(), Wrong> {
    for target in targets {
        if manifest(target)?.is_none_or(|manifest| manifest.reload.is_none()) {
            let cause = format!("`{}` has no [reload] in a target.toml", target.name);
            let remedy = "use restart = true, a signal or run, or a target that can reload";
            return Err(Problem::at(&format!("{key}.reload"), cause, remedy).into());
        }
    }
    Ok(())
}

/// Every target must have these knobs, and take their values when it is started.
pub(super) fn knobs(
    given: &BTreeMap<String, KnobValue>,
    targets: &[TargetPlan],
    key: &str,
) -> Result<EventAction, Wrong> {
    let mut values = BTreeMap::new();
    if given.is_empty() {
        return Err(
            Problem::at(&format!("{key}.knob"), "no knob is named", "write knob = { name = value }").into()
        );
    }
    for target in targets {
        let Some(manifest) = manifest(target)? else {
            let cause = format!("`{}` has no knobs", target.name);
            let remedy = "only a target with a target.toml (`use`) has knobs";
            return Err(Problem::at(&format!("{key}.knob"), cause, remedy).into());
        };
        for (name, value) in given {
            let key = format!("{key}.knob.{name}");
            let knob = knobs::find(name, &manifest, &key)?;
            if knob.build_env.is_some() {
                let cause = format!("the knob `{name}` of {} takes effect when it is built", manifest.name);
                let remedy = "vary it as a factor: knobs = { … } of [[target]]";
                return Err(Problem::at(&key, cause, remedy).into());
            }
            let text =
                knob.accept(value).map_err(|refused| Problem::at(&key, refused.cause, refused.remedy))?;
            values.insert(name.clone(), text);
        }
    }
    Ok(EventAction::Knob { values })
}
