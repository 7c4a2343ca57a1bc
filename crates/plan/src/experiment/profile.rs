//! `[profile]`: what is taken after the last trial.

use schema::experiment::ExperimentFile;
use schema::profile::{ProfilePlan, ProfileUse};
use schema::text::Problem;
use units::Nanos;

/// The window where none is given.
const WINDOW: Nanos = Nanos::from_secs(10);
/// Shortest and longest window: profilers count in seconds, and each kind takes a window of its own.
pub const WINDOWS: (Nanos, Nanos) = (Nanos::SECOND, Nanos::from_secs(300));

pub(super) fn resolve(file: &ExperimentFile) -> Result<Option<ProfilePlan>, Problem> {
    file.profile.as_ref().map(plan).transpose()
}

fn plan(wanted: &ProfileUse) -> Result<ProfilePlan, Problem> {
    let window = wanted.window.unwrap_or(WINDOW);
    if !(WINDOWS.0..=WINDOWS.1).contains(&window) {
        let cause = format!("a window of {window} is out of range");
        return Err(Problem::at(
            "profile.window",
            cause,
            format!("give from {} to {}", WINDOWS.0, WINDOWS.1),
        ));
    }
    let mut kinds = wanted.kinds.clone();
    kinds.sort();
    if let Some(twice) = kinds.windows(2).find(|pair| pair[0] == pair[1]) {
        let cause = format!("`{}` is named twice", twice[0].key());
        return Err(Problem::at("profile.kinds", cause, "name each kind once"));
    }
    Ok(ProfilePlan { kinds: wanted.kinds.clone(), at: wanted.at.unwrap_or_default(), window_ns: window.0 })
}

#[cfg(test)]
mod tests {
    use crate::context::Context;
    use crate::experiment::experiment;
    use schema::plan::ExperimentPlan;
    use schema::profile::{ProfileAt, ProfileKind};

    fn resolved(profile: &str) -> Result<ExperimentPlan, String> {
        let text = format!(
            "[experiment]\nname = \"x\"\n[[target]]\nreference = {{}}\n\
             [scenario]\nrequest = {{ path = \"/\" }}\n{profile}\n"
        );
        let context =
            Context { project: std::env::temp_dir(), usable_cpus: vec![0], pin: Some("off".to_owned()) };
        experiment("x.toml", &text, &context).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_are_filled_in() {
        assert_eq!(resolved("").unwrap().profile, None);
        let plan = resolved("[profile]").unwrap().profile.unwrap();
        assert_eq!((plan.kinds.len(), plan.at, plan.window_ns), (0, ProfileAt::Knee, 10_000_000_000));
        let plan =
            resolved("[profile]\nkinds = [\"perf\", \"off-cpu\"]\nat = \"all\"\nwindow = \"2s\"").unwrap();
        assert_eq!(plan.profile.unwrap().kinds, [ProfileKind::Perf, ProfileKind::OffCpu]);
    }

    #[test]
    fn mistakes_have_their_line_and_remedy() {
        for (text, wanted) in [
            (
                "[profile]\nwindow = \"1h\"",
                "x.toml:8:1: a window of 1h is out of range (key `profile.window`)\n  remedy: give from 1s to 5m",
            ),
            ("[profile]\nkinds = [\"perf\", \"perf\"]", "x.toml:8:1: `perf` is named twice"),
            ("[profile]\nkinds = [\"prf\"]", "did you mean `perf`?"),
            ("[profile]\nwhen = \"knee\"", "unknown key `when`"),
        ] {
            let error = resolved(text).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
