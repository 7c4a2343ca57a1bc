//! `studies/*.toml`: one published article, claim by claim, with what decides each: an experiment, an audit, or the reason
//! why nothing can here.
//!
//! Invariants (`StudyFile::check`): a claim has an experiment, an audit or a reason, and no reason beside an experiment; a
//! thing that the article uses names what shows it here, or has a reason.
//! Absent on purpose: sentences of the article (claims are in our own words), and what was measured (`ledger`).

use crate::published::Conditions;
use crate::text::{FileError, Problem, parse_toml};
use crate::version::StudyVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One article.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyFile {
    /// Format and version.
    pub schema: StudyVersion,
    /// Name of the article, which claims of experiments give as their source.
    pub article: String,
    /// What it is about.
    pub title: Words,
    /// Under which conditions its numbers were published, unless a claim says otherwise.
    #[serde(default)]
    pub conditions: Conditions,
    /// Tables as printed, for audits.
    #[serde(default)]
    pub table: Vec<StudyTable>,
    /// Its quantitative claims.
    pub claim: Vec<StudyClaim>,
    /// What it uses, step by step: methods, settings, systems and tools.
    #[serde(default)]
    pub thing: Vec<StudyThing>,
}

/// Something that an article uses, and what of prony does it; or the reason why nothing does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyThing {
    /// What the article uses.
    pub text: Words,
    /// What does it here, each `KIND NAME` (`ShownKind`): `"experiment ladder"`, `"knob php/fpm jit"`.
    #[serde(default)]
    pub shows: Vec<String>,
    /// Why nothing here does it.
    pub reason: Option<ReasonCode>,
    /// The reason in words, or in what it differs from the article.
    pub note: Option<Words>,
}

/// What may show that a thing is there. A test of the project looks each of them up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownKind {
    /// A file under `experiments/`, without its ending.
    Experiment,
    /// A file under `scenarios/`, without its ending.
    Scenario,
    /// A folder under `services/`.
    Service,
    /// A folder under `targets/`.
    Target,
    /// A knob: folder of the target and name.
    Knob,
    /// A command, and options of it.
    Command,
    /// A key of an experiment file, with its table before it where it has one: `limits cpus`.
    Key,
    /// A rule of `prony why`.
    Rule,
    /// A metric of claims.
    Metric,
    /// A kind of profile.
    Profile,
    /// A fact of `prony doctor`.
    Fact,
    /// A file of the project, and a text in it.
    File,
}

impl ShownKind {
    const NAMES: [(&'static str, Self); 12] = [
        ("experiment", Self::Experiment),
        ("scenario", Self::Scenario),
        ("service", Self::Service),
        ("target", Self::Target),
        ("knob", Self::Knob),
        ("command", Self::Command),
        ("key", Self::Key),
        ("rule", Self::Rule),
        ("metric", Self::Metric),
        ("profile", Self::Profile),
        ("fact", Self::Fact),
        ("file", Self::File),
    ];

    /// The kind and the rest of `KIND NAME`; `None` where there is no such kind or no name.
    #[must_use]
    pub fn read(shown: &str) -> Option<(Self, &str)> {
        let (kind, name) = shown.split_once(' ')?;
        let (_, kind) = Self::NAMES.into_iter().find(|(word, _)| *word == kind)?;
        (!name.trim().is_empty()).then_some((kind, name))
    }
}

/// A text in both languages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

/// A table of figures as printed.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyTable {
    /// Name, unique within the article.
    pub name: String,
    /// Figures of all rows that stand beside the table, as `prony audit --given` takes them.
    #[serde(default)]
    pub given: Vec<String>,
    /// What columns are, as `prony audit --column` takes it.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The table, as `prony audit` reads it.
    pub text: String,
}

/// A published quantitative claim.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyClaim {
    /// Number in the ledger, unique over all articles.
    pub number: u32,
    /// The claim.
    pub text: Words,
    /// Its numbers as printed.
    pub printed: String,
    /// Section or table.
    pub place: String,
    /// Name of the experiment file that tests it, without its ending.
    pub experiment: Option<String>,
    /// The claims of the experiment that decide, by their `id`; all of them must agree.
    #[serde(default)]
    pub claims: Vec<String>,
    /// The table and law that decide.
    pub audit: Option<StudyAudit>,
    /// Why nothing here can decide.
    pub reason: Option<ReasonCode>,
    /// The reason in words, or what a measurement here cannot show.
    pub note: Option<Words>,
    /// Where they differ from those of the article.
    #[serde(default)]
    pub conditions: Conditions,
}

/// A claim that a law decides.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyAudit {
    /// Name of the table.
    pub table: String,
    /// The rule that must find it impossible; any where absent.
    pub rule: Option<String>,
    /// Rows that the claim is about, from 1; all where absent.
    #[serde(default)]
    pub rows: Vec<u32>,
}

/// Why a claim cannot be tested here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// It needs a machine, a network or disks that are not here.
    Hardware,
    /// A version or a product cannot be had, or may not be kept here.
    SoftwareNotAvailable,
    /// It was measured on a system of which nothing is published.
    PrivateSystem,
    /// No number, or no setting under which it would hold, is printed.
    NotQuantified,
    /// prony has no counter, route or protocol for it yet: for a thing that an article uses. Every claim has an answer.
    NotYet,
}

impl StudyFile {
    /// Reads a study.
    ///
    /// # Errors
    /// Every mistake in the file, with its line.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, FileError> {
        let study: Self = parse_toml(file, text)?;
        study.check().map_err(|problem| problem.locate(file, text))?;
        Ok(study)
    }

    /// Every claim is decided by something, every thing is shown by something or has a reason.
    fn check(&self) -> Result<(), Problem> {
        self.check_claims()?;
        self.thing.iter().enumerate().try_for_each(|(at, thing)| thing.check(at))
    }

    fn check_claims(&self) -> Result<(), Problem> {
        let tables: BTreeSet<&str> = self.table.iter().map(|table| table.name.as_str()).collect();
        let mut numbers = BTreeSet::new();
        for (at, claim) in self.claim.iter().enumerate() {
            let key = |name: &str| format!("claim.{at}.{name}");
            if !numbers.insert(claim.number) {
                let cause = format!("two claims have the number {}", claim.number);
                return Err(Problem::at(&key("number"), cause, "give each its own"));
            }
            if claim.experiment.is_none() && claim.audit.is_none() && claim.reason.is_none() {
                let cause = format!("nothing decides claim {}", claim.number);
                let remedy = "name an experiment with its claims, an audit, or a reason";
                return Err(Problem::at(&key("number"), cause, remedy));
            }
            if claim.experiment.is_some() == claim.claims.is_empty() {
                let cause = "an experiment and the claims in it go together";
                return Err(Problem::at(&key("number"), cause, "give both, or neither"));
            }
            if claim.reason.is_some() && (claim.experiment.is_some() || claim.note.is_none()) {
                let cause = "a reason excludes an experiment, and needs a note that says it in words";
                return Err(Problem::at(
                    &key("reason"),
                    cause,
                    "remove one, or add note = { en = \"…\", zh = \"…\" }",
                ));
            }
            if let Some(audit) = claim.audit.as_ref().filter(|audit| !tables.contains(audit.table.as_str())) {
                let cause = format!("there is no table `{}`", audit.table);
                return Err(Problem::at(&key("audit"), cause, "name one of the [[table]] above"));
            }
        }
        Ok(())
    }
}

impl StudyThing {
    /// Whether prony does it.
    #[must_use]
    pub const fn is_real(&self) -> bool {
        self.reason.is_none()
    }

    fn check(&self, at: usize) -> Result<(), Problem> {
        let key = |name: &str| format!("thing.{at}.{name}");
        let name = &self.text.en;
        if self.shows.is_empty() == self.reason.is_none() {
            let cause = format!("`{name}` has {}", if self.reason.is_none() { "neither" } else { "both" });
            let remedy = "say what shows it (shows), or why nothing does (reason)";
            return Err(Problem::at(&key("text"), cause + " of shows and reason", remedy));
        }
        if self.reason.is_some() && self.note.is_none() {
            let cause = format!("the reason of `{name}` needs a note that says it in words");
            return Err(Problem::at(&key("reason"), cause, "add note = { en = \"…\", zh = \"…\" }"));
        }
        match self.shows.iter().find(|shown| ShownKind::read(shown).is_none()) {
            None => Ok(()),
            Some(shown) => {
                let kinds: Vec<&str> = ShownKind::NAMES.iter().map(|(word, _)| *word).collect();
                let remedy = format!("write KIND NAME, the kind one of: {}", kinds.join(", "));
                Err(Problem::at(&key("shows"), format!("`{shown}` names nothing"), remedy))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(claim: &str) -> Result<StudyFile, FileError> {
        let text = format!(
            "schema = \"prony.study/1\"\narticle = \"x\"\ntitle = {{ en = \"a\", zh = \"b\" }}\n[[table]]\nname = \"t\"\n\
             text = \"|a|\"\n[[claim]]\nnumber = 1\ntext = {{ en = \"a\", zh = \"b\" }}\nprinted = \"2\"\nplace = \"p\"\n{claim}"
        );
        StudyFile::from_toml("x.toml", &text)
    }

    #[test]
    fn a_claim_that_nothing_decides_is_refused() {
        for (claim, expected) in [
            ("", "nothing decides claim 1"),
            ("experiment = \"e\"", "go together"),
            ("claims = [\"c\"]\nreason = \"hardware\"", "go together"),
            ("reason = \"hardware\"", "needs a note"),
            (
                "experiment = \"e\"\nclaims = [\"c\"]\nreason = \"hardware\"\nnote = { en = \"a\", zh = \"b\" }",
                "excludes",
            ),
            ("audit = { table = \"u\" }", "no table `u`"),
            ("reason = \"tired\"", "hardware"),
        ] {
            let error = study(claim).expect_err(claim).to_string();
            assert!(error.contains(expected), "{claim}: {error}");
        }
        for (thing, expected) in [
            ("", "neither of shows and reason"),
            ("shows = [\"rule stalls\"]\nreason = \"hardware\"", "both of shows and reason"),
            ("reason = \"hardware\"", "needs a note"),
            ("shows = [\"stalls\"]", "names nothing"),
            ("shows = [\"magic stalls\"]", "names nothing"),
        ] {
            let text = format!(
                "audit = {{ table = \"t\" }}\n[[thing]]\ntext = {{ en = \"a\", zh = \"b\" }}\n{thing}"
            );
            let error = study(&text).expect_err(thing).to_string();
            assert!(error.contains(expected), "{thing}: {error}");
        }
        assert!(study("audit = { table = \"t\" }").is_ok());
        assert!(study("reason = \"hardware\"\nnote = { en = \"a\", zh = \"b\" }").is_ok());
        assert!(study("experiment = \"e\"\nclaims = [\"c\"]\naudit = { table = \"t\" }").is_ok());
    }
}
