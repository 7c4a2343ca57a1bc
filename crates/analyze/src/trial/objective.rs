//! Objectives: `p99 < 50ms and errors < 0.1%` says when a trial of a search has passed (METHOD §6).
//!
//! Besides the written conditions a trial passes only where the target kept up: it answered at least 99 % of what was
//! offered, inside the window and in all, and what waits did not grow. Invariant: a trial that cannot be judged,
//! because it is void through no fault of the target or too short for a percentile, is neither passed nor failed, and
//! says why.

use super::threshold::{Threshold, ThresholdError};
use crate::stats::by_position::slope;
use crate::stats::rank::trend;
use crate::words::{Noun, count, number, percent};
use schema::load::LoadReport;
use schema::said;
use schema::said::Said;
use schema::trial::{IntervalLine, Phase, TrialFile, TrialOutcome};
use std::str::FromStr;

/// Goodput over offered below which the target does not keep up (METHOD §6).
const GOODPUT: f64 = 0.99;
/// Two-sided p below which a backlog is taken to rise: five intervals that rise without exception just make it, and of
/// the trials whose backlog only flickers one in a hundred does.
const RISES_P: f64 = 0.02;
/// A rise below this share of the offered requests, or of so few requests, is the flicker of what is in flight.
const RISES_SHARE: f64 = 0.001;
const RISES_REQUESTS: f64 = 10.0;
/// Intervals below which a trend cannot be detected.
const INTERVALS: usize = 5;
/// Most conditions, and the longest text: an objective is typed by hand.
const CONDITIONS: usize = 8;
const TEXT_BYTES: usize = 400;
/// Fewest requests for a goodput that is good to 1 %.
const REQUESTS: u64 = 200;
/// Gates that a target fails by itself.
const OF_THE_TARGET: [&str; 2] = ["target_alive", "answers"];

/// Conditions that must all hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    conditions: Vec<Threshold>,
}

/// How a trial ended under an objective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// `None` where it cannot be judged.
    pub passed: Option<bool>,
    /// The numbers it was judged by, in words; where it failed, what failed.
    pub reasons: Vec<Said>,
}

/// Whether one condition holds, and its number in words.
type Judged = (Option<bool>, Said);

impl FromStr for Objective {
    type Err = ThresholdError;

    /// Conditions parted by `and`, each a metric, a comparison and a limit.
    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let wrong = |expression: &str, cause: String| ThresholdError {
            expression: expression.to_owned(),
            cause,
            remedy: "write for example 'p99 < 50ms and errors < 0.1%'".to_owned(),
        };
        if text.len() > TEXT_BYTES {
            return Err(wrong("…", "it is too long".to_owned()));
        }
        let conditions = parts(text)
            .into_iter()
            .map(|part| part.parse::<Threshold>())
            .collect::<Result<Vec<_>, ThresholdError>>()?;
        if conditions.is_empty() || conditions.len() > CONDITIONS {
            return Err(wrong(text, format!("an objective has 1 to {CONDITIONS} conditions")));
        }
        Ok(Self { conditions })
    }
}

/// The texts between the words `and`, in any case.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![Vec::new()];
    for word in text.split_whitespace() {
        if word.eq_ignore_ascii_case("and") || word == "&&" {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(word);
        }
    }
    parts.into_iter().map(|words| words.join(" ")).filter(|part| !part.is_empty()).collect()
}

impl Objective {
    /// The conditions as written.
    #[must_use]
    pub fn conditions(&self) -> Vec<String> {
        self.conditions.iter().map(ToString::to_string).collect()
    }

    /// Fewest requests for which a trial can be judged: those of its highest percentile (METHOD §4).
    #[must_use]
    pub fn requests_needed(&self) -> u64 {
        let needed = self.conditions.iter().filter_map(Threshold::quantile).map(super::quantile_floor);
        needed.fold(REQUESTS, u64::max)
    }

    /// Judges a trial of an open load.
    #[must_use]
    pub fn judge(&self, trial: &TrialFile, intervals: &[IntervalLine]) -> Judgement {
        let Some(load) = trial.load.as_ref().filter(|_| trial.outcome != TrialOutcome::Failed) else {
            return Judgement { passed: None, reasons: trial.reasons.clone() };
        };
        if trial.outcome == TrialOutcome::Void {
            let broken = &load.validity.reasons;
            let is_the_targets = |gate: &str| OF_THE_TARGET.contains(&gate);
            let target = !broken.is_empty() && broken.iter().all(|found| is_the_targets(&found.gate));
            return Judgement { passed: target.then_some(false), reasons: trial.reasons.clone() };
        }
        let found = [goodput(load), backlog(load, intervals)].into_iter().flatten();
        let found: Vec<Judged> =
            found.chain(self.conditions.iter().map(|condition| holds(condition, load))).collect();
        let any = |wanted: Option<bool>| found.iter().any(|(passed, _)| *passed == wanted);
        // What failed has failed, whatever else is unknown.
        let passed = match (any(Some(false)), any(None)) {
            (true, _) => Some(false),
            (false, true) => None,
            (false, false) => Some(true),
        };
        let told = |of: &Option<bool>| passed == Some(true) || *of == passed;
        Judgement {
            passed,
            reasons: found.into_iter().filter(|(of, _)| told(of)).map(|(_, text)| text).collect(),
        }
    }
}

/// Whether a condition holds; a bound that requests which never ended leave open has failed.
fn holds(condition: &Threshold, load: &LoadReport) -> Judged {
    let found = condition.check(load);
    // A threshold "fails" where its comparison is true; here it has to be true.
    let passed = match (found.decided, condition.is_bound_by_unended(load)) {
        (true, _) => Some(found.failed),
        (false, true) => Some(false),
        (false, false) => None,
    };
    let (condition, found) = (found.expression, found.text);
    let text = match passed {
        Some(true) => said!("objective.holds", "{condition} holds: {found}", condition, found),
        Some(false) => said!("objective.fails", "{condition} does not hold: {found}", condition, found),
        None => said!("objective.unknown", "{condition} is unknown: {found}", condition, found),
    };
    (passed, text)
}

/// Right answers over offered requests: those that came within the window, and those of its own requests. A queue that
/// the drain empties shows in the first, answers to the warm-up's queue in the second.
fn goodput(load: &LoadReport) -> Option<Judged> {
    let scheduled = load.requests.scheduled as f64;
    if scheduled == 0.0 {
        return Some((None, said!("objective.nothing_offered", "no request was offered: measure longer")));
    }
    let share = (load.window.answers as f64).min(load.requests.completed as f64) / scheduled;
    let text = said!(
        "objective.goodput",
        "goodput is {share} of what was offered, {needed} needed",
        share = percent(share),
        needed = percent(GOODPUT)
    );
    Some((Some(share >= GOODPUT), text))
}

/// Whether what waits or is in flight grows over the samples; `None` where it does not, or that is unknown.
fn backlog(load: &LoadReport, intervals: &[IntervalLine]) -> Option<Judged> {
    let waiting: Vec<f64> = intervals
        .iter()
        .filter(|line| line.phase == Some(Phase::Sample))
        .map(|line| line.backlog as f64 + line.in_flight as f64)
        .collect();
    if waiting.len() < INTERVALS {
        return None;
    }
    let found = trend(&waiting).ok().filter(|found| found.rho > 0.0 && found.p_value < RISES_P)?;
    let rise = slope(&waiting) * (waiting.len() - 1) as f64;
    let material = (RISES_SHARE * load.requests.scheduled as f64).max(RISES_REQUESTS);
    (rise > material).then(|| {
        let text = said!(
            "objective.backlog",
            "the backlog rose by {requests} over the samples (Spearman {rho}, p = {p})",
            requests = count(rise as usize, Noun::Request),
            rho = number(found.rho),
            p = format!("{:.3}", found.p_value)
        );
        (Some(false), text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_are_read_and_mistakes_explained() {
        let objective: Objective = "p99 < 50ms AND errors<0.1%".parse().unwrap();
        assert_eq!(objective.conditions(), ["p99 < 50ms", "errors<0.1%"]);
        assert_eq!(objective.requests_needed(), 368);
        assert_eq!("errors < 1%".parse::<Objective>().unwrap().requests_needed(), REQUESTS);
        assert_eq!("p99.9<1s and p50<1s".parse::<Objective>().unwrap().requests_needed(), 3_688);
        for (text, part) in [
            ("", "1 to 8 conditions"),
            ("and and", "1 to 8 conditions"),
            ("p98 < 5ms", "no metric `p98`"),
            ("p99 5ms", "no comparison"),
            ("p99 < 5", "unit is missing"),
            ("fast", "no comparison"),
        ] {
            let error = text.parse::<Objective>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        let long = format!("p99 < 5ms and {}", "p50 < 5ms and ".repeat(40));
        assert!(long.parse::<Objective>().unwrap_err().to_string().contains("too long"));
        let many = ["p50<1s"; 9].join(" and ");
        assert!(many.parse::<Objective>().unwrap_err().to_string().contains("1 to 8"));
    }
}
