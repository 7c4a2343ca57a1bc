//! `knobs` of `[[target]]`: values held to the manifest; lists become one target for each combination.
//!
//! Invariant: the values of a plan are all that are in force, those left at their default included.

use launch::knobs::Values;
use schema::experiment::{OneOrMany, TargetUse};
use schema::knob::Knob;
use schema::target::TargetManifest;
use schema::text::{Problem, nearest};

/// Most combinations of one `[[target]]`.
const COMBINATIONS_MAX: usize = 1000;

/// One combination of values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Setting {
    /// ` gogc=50 json=std`: the knobs that were given a list; empty where there is none.
    pub(super) suffix: String,
    /// All values in force.
    pub(super) values: Values,
    /// The values of those that were given a list.
    pub(super) listed: Values,
}

/// Every combination of the values that `wanted` gives to the knobs of its manifest; `key` is where it stands.
pub(super) fn settings(
    wanted: &TargetUse,
    manifest: &TargetManifest,
    key: &str,
) -> Result<Vec<Setting>, Problem> {
    refuse_hidden(wanted, manifest, key)?;
    let mut settings = vec![Setting { values: launch::knobs::defaults(manifest), ..Setting::default() }];
    for (name, given) in &wanted.knobs {
        let key = format!("{key}.knobs.{name}");
        let knob = find(name, manifest, &key)?;
        let values = values(knob, given, &key)?;
        if settings.len().saturating_mul(values.len()) > COMBINATIONS_MAX {
            let cause = format!("the knobs have more than {COMBINATIONS_MAX} combinations");
            return Err(Problem::at(&key, cause, "use shorter lists"));
        }
        let is_list = matches!(given, OneOrMany::Many(_));
        settings = settings
            .iter()
            .flat_map(|setting| values.iter().map(|value| with(setting, name, value, is_list)))
            .collect();
    }
    Ok(settings)
}

/// The knob of this name; `key` is where it is named.
pub(super) fn find<'a>(name: &str, manifest: &'a TargetManifest, key: &str) -> Result<&'a Knob, Problem> {
    manifest.knob.iter().find(|knob| knob.name == name).ok_or_else(|| unknown(name, manifest, key))
}

fn with(setting: &Setting, name: &str, value: &str, is_list: bool) -> Setting {
    let mut next = setting.clone();
    next.values.insert(name.to_owned(), value.to_owned());
    if is_list {
        next.suffix += &format!(" {name}={value}");
        next.listed.insert(name.to_owned(), value.to_owned());
    }
    next
}

fn values(
    knob: &Knob,
    given: &OneOrMany<schema::knob::KnobValue>,
    key: &str,
) -> Result<Vec<String>, Problem> {
    let mut accepted: Vec<String> = Vec::new();
    for value in given.levels() {
        let text = knob.accept(&value).map_err(|refused| Problem::at(key, refused.cause, refused.remedy))?;
        if accepted.contains(&text) {
            let cause = format!("the list has `{text}` twice");
            return Err(Problem::at(key, cause, "give each value once"));
        }
        accepted.push(text);
    }
    if accepted.is_empty() {
        return Err(Problem::at(key, "the list is empty", format!("write {}", knob.wanted())));
    }
    Ok(accepted)
}

fn unknown(name: &str, manifest: &TargetManifest, key: &str) -> Problem {
    let names = || manifest.knob.iter().map(|knob| knob.name.as_str());
    let list = names().collect::<Vec<_>>().join(", ");
    let remedy = match nearest(name, names()) {
        _ if list.is_empty() => format!("remove it: {} has no knobs", manifest.name),
        Some(near) => format!("did you mean `{near}`? There are: {list}"),
        None => format!("use one of: {list}"),
    };
    Problem::at(key, format!("{} has no knob `{name}`", manifest.name), remedy)
}

/// A variable set behind a knob's back would make the plan's value a lie.
fn refuse_hidden(wanted: &TargetUse, manifest: &TargetManifest, key: &str) -> Result<(), Problem> {
    let hidden = manifest.knob.iter().find_map(|knob| {
        let variable = knob.env.as_ref().filter(|variable| wanted.env.contains_key(*variable))?;
        Some((knob, variable))
    });
    let Some((knob, variable)) = hidden else { return Ok(()) };
    let cause = format!("{variable} belongs to the knob `{}`", knob.name);
    let remedy = format!("write knobs = {{ {} = … }} instead", knob.name);
    Err(Problem::at(&format!("{key}.env.{variable}"), cause, remedy))
}
