//! Writes what is known of sessions: a scenario whose sessions have the fitted length and pauses, and an experiment that
//! begins them as the log did.
//!
//! Steps are drawn by the mix of the log; the paths of a route are drawn from real ones. Absent on purpose: the order of
//! steps, request bodies and header fields, which are not fitted or not logged; this is reported.

use super::Sessions;
use super::laws::{P_LEAST, length, think};
use crate::TrafficError;
use crate::model::FamilyFit;
use crate::verdict::{Advice, Verdict};
use crate::write::{CONNECTIONS_MAX, Experiment, OutFile, Written, checked, quoted, sendable, slug, step_of};
use schema::arrival::{Lengths, Think};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use units::{Nanos, Seed};

/// Real targets of a route that are named in its path: an expression draws one.
const TARGETS_MAX: usize = 32;
/// Most connections of a load.
const USERS_MAX: u64 = 200_000;

/// The files of sessions; `verdict` is on their begins.
///
/// # Errors
/// [`TrafficError::TooLittle`] where no law of lengths or pauses could be fitted.
pub fn files(
    sessions: &Sessions,
    verdict: &Verdict,
    advice: Advice,
    name: &str,
    url: &str,
    seed: Seed,
) -> Result<Written, TrafficError> {
    let name = slug(name);
    let refused = |what: &str, families: &[FamilyFit]| TrafficError::TooLittle {
        cause: format!(
            "no law could be fitted to the {what} of sessions: {}",
            families
                .first()
                .and_then(|family| family.refusal.as_deref())
                .unwrap_or("it is none that can be sent")
        ),
        remedy: "give a longer log, or a key that more requests have",
    };
    let (length, of_length) =
        length(&sessions.length).ok_or_else(|| refused("length", &sessions.length.families))?;
    let (think, of_pause) =
        think(&sessions.pause).ok_or_else(|| refused("pauses", &sessions.pause.families))?;
    let mut notes = doubts(sessions);
    notes.extend(doubt("lengths", of_length));
    notes.extend(doubt("pauses", of_pause));
    let mut files = vec![OutFile {
        path: PathBuf::from(format!("scenarios/{name}.toml")),
        text: scenario(sessions, &name, &length, &think),
    }];
    let experiment = Experiment {
        model: &sessions.starts,
        verdict,
        what: "sessions",
        connections_max: users_max(sessions),
        name: &name,
        url,
    };
    files.extend(experiment.files(advice, seed, &mut notes));
    checked(files, &name, notes)
}

/// Connections that may be needed, one for each user who is there.
fn users_max(sessions: &Sessions) -> u64 {
    let rates = sessions.starts.stretches.iter().map(|stretch| stretch.per_s());
    let per_s = rates.fold(sessions.starts.rate_per_s(), f64::max);
    at_once(per_s, sessions.length.mean, sessions.pause.mean_s)
}

/// Twice the mean number of sessions at a time (Little's law): they come in bursts, and answers take time, too.
fn at_once(per_s: f64, length_mean: f64, pause_mean_s: f64) -> u64 {
    let lasts_s = (length_mean - 1.0).max(0.0) * pause_mean_s;
    ((2.0 * per_s * lasts_s) as u64).clamp(CONNECTIONS_MAX, USERS_MAX)
}

/// A law that is not what made the values.
fn doubt(what: &str, family: &FamilyFit) -> Option<String> {
    let p = family.goodness.filter(|goodness| goodness.p < P_LEAST)?.p;
    Some(format!(
        "no law fits the {what} (the best is {}, p {p:.3}): the load has their mean and spread, not their form",
        family.family.name()
    ))
}

fn doubts(sessions: &Sessions) -> Vec<String> {
    let mut doubts =
        vec!["steps are drawn by the mix of the log, not in the order of its pages: list them where the order matters".to_owned()];
    let with_body: u64 = sessions
        .whole
        .routes
        .iter()
        .filter(|route| !matches!(route.method.as_str(), "GET" | "HEAD" | "OPTIONS"))
        .map(|route| route.count)
        .sum();
    if with_body > 0 {
        doubts.push(format!(
            "{with_body} requests change data on the server, and their bodies are in no access log: add them and run against \
             a copy, or remove them"
        ));
    }
    if sessions.whole.other > 0 {
        doubts.push(format!("{} requests of rare routes are left out of the mix", sessions.whole.other));
    }
    doubts
}

fn scenario(sessions: &Sessions, name: &str, length: &Lengths, think: &Think) -> String {
    let mut text = format!(
        "# Made by `prony model --sessions-by` from {} sessions of {} requests. Bodies and headers are in no access log: add\n\
         # those that matter.\nschema = \"prony.scenario/1\"\nname = {}\ndescription = {}\n\n\
         [session]\norder = \"drawn\"\nlength = {}\nthink = {}\n",
        sessions.sessions,
        sessions.requests,
        quoted(name),
        quoted(&format!("{} sessions of an access log, by {}", sessions.sessions, sessions.key)),
        quoted(&length_text(length)),
        quoted(&think_text(think)),
    );
    let mut names = HashSet::new();
    for route in sessions.whole.routes.iter().filter(|route| route.count > 0) {
        let targets: Vec<String> =
            route.targets.iter().take(TARGETS_MAX).map(|target| in_quotes(target)).collect();
        let path = match &targets[..] {
            [] => sendable(route.path.as_bytes()).replace("${", "$${"),
            [first, rest @ ..] if rest.iter().all(|target| target == first) => {
                sendable(&route.targets[0]).replace("${", "$${")
            }
            _ => format!("${{choose({})}}", targets.join(", ")),
        };
        let _ = write!(text, "\n{}", step_of(route, &path, &mut names));
    }
    text
}

/// A target as a text of an expression.
fn in_quotes(target: &[u8]) -> String {
    let text = sendable(target).replace('\\', "%5C").replace('\'', "%27").replace('"', "%22");
    // An expression ends at its brace.
    format!("'{}'", text.replace('{', "%7B").replace('}', "%7D"))
}

fn length_text(length: &Lengths) -> String {
    match length {
        Lengths::Exponential { mean } => format!("exponential:mean={}", mean.0),
        Lengths::Lognormal { mean, cv } => format!("lognormal:mean={},cv={}", mean.0, cv.0),
        Lengths::Weibull { mean, shape } => format!("weibull:mean={},shape={}", mean.0, shape.0),
        Lengths::Gamma { mean, shape } => format!("gamma:mean={},shape={}", mean.0, shape.0),
    }
}

/// To the microsecond: the laws that are fitted have no others.
fn think_text(think: &Think) -> String {
    let of = |mean: &Nanos| Nanos(mean.0.div_ceil(1000) * 1000);
    match think {
        Think::Exponential { mean } => format!("exponential:mean={}", of(mean)),
        Think::Lognormal { mean, cv: Some(cv), .. } => format!("lognormal:mean={},cv={}", of(mean), cv.0),
        Think::Weibull { mean, shape } => format!("weibull:mean={},shape={}", of(mean), shape.0),
        Think::Gamma { mean, shape } => format!("gamma:mean={},shape={}", of(mean), shape.0),
        Think::Constant { mean } | Think::Normal { mean, .. } | Think::Lognormal { mean, .. } => {
            of(mean).to_string()
        }
        Think::Uniform { to, .. } => of(to).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{CONNECTIONS_MAX, USERS_MAX, at_once};

    #[test]
    fn a_load_may_open_connections_for_twice_the_sessions_at_a_time() {
        assert_eq!(at_once(1.0, 5.0, 18.0), CONNECTIONS_MAX);
        // 100 sessions a second that last 4 pauses of 20 s.
        assert_eq!(at_once(100.0, 5.0, 20.0), 16_000);
        assert_eq!(at_once(1e6, 50.0, 60.0), USERS_MAX);
        assert_eq!(at_once(100.0, 1.0, 0.0), CONNECTIONS_MAX);
    }
}
