//! What a rule says of a cell, before it is known whether its cause moves what users see.

use super::scene::Scene;
use schema::finding::{Change, Evidence, FindingCause, FindingLevel, FindingSeverity, Intervention, Watched};
use schema::metric::Metric;
use schema::said::Said;

/// Who is looked at; the order in which findings are reported (METHOD §9: the generator vetoes all others).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Generator,
    Environment,
    Target,
    /// The target as its clients see it, where nothing inside was read.
    Outside,
}

impl Stage {
    /// Whether what is found there is the target's own.
    pub(super) const fn is_target(self) -> bool {
        matches!(self, Self::Target | Self::Outside)
    }
}

/// One cause: what it reads and when it holds.
pub(super) struct Rule {
    pub(super) cause: FindingCause,
    pub(super) stage: Stage,
    /// Where the rule comes from.
    pub(super) source: &'static str,
    /// Causes that are consequences of this one where both are found.
    pub(super) explains: &'static [FindingCause],
    pub(super) judge: fn(&Scene<'_>) -> Judgement,
}

/// The answer of a rule.
pub(super) enum Judgement {
    Found(Box<Draft>),
    /// It is not this; the number that says so.
    RuledOut(Said),
    /// What is missing to tell.
    Unread(Said),
    /// The question does not arise, such as the garbage collector of a program that has none.
    NotAsked,
}

/// A finding whose association is still to be looked at.
pub(super) struct Draft {
    pub(super) text: Said,
    pub(super) evidence: Vec<Evidence>,
    /// Any of them is enough.
    pub(super) links: Vec<Link>,
    /// What it is where a link holds.
    pub(super) severity: FindingSeverity,
    pub(super) level: FindingLevel,
    pub(super) remedy: Said,
    pub(super) intervention: Option<Intervention>,
}

/// What may tie a cause to what users see.
pub(super) enum Link {
    /// Time for each request over the mean response time.
    Accounts(f64),
    /// Busy over available.
    Bound(f64),
    /// The system stopped or failed the target itself, for this share.
    Direct(f64),
    /// Moves together with what users see.
    Time(String, Watched),
    /// p of no rise.
    Growth(f64),
}

impl Draft {
    pub(super) fn new(text: Said, severity: FindingSeverity, remedy: Said) -> Self {
        Self {
            text,
            evidence: Vec::new(),
            links: Vec::new(),
            severity,
            level: FindingLevel::Finding,
            remedy,
            intervention: None,
        }
    }

    /// A number that it rests on: what, its value, the limit of the rule, and where it was read.
    pub(super) fn evidence(
        mut self,
        what: Said,
        value: impl Into<Said>,
        limit: Option<Said>,
        from: &str,
    ) -> Self {
        self.evidence.push(Evidence { what, value: value.into(), limit, from: from.to_owned() });
        self
    }

    pub(super) fn link(mut self, link: Link) -> Self {
        self.links.push(link);
        self
    }

    pub(super) fn asked_for(mut self) -> Self {
        self.level = FindingLevel::Fact;
        self
    }

    pub(super) fn try_this(mut self, change: Change, text: Said, (metric, ratio): (Metric, f64)) -> Self {
        self.intervention = Some(Intervention { change, text, metric, ratio });
        self
    }

    pub(super) fn found(self) -> Judgement {
        Judgement::Found(Box::new(self))
    }
}

/// Found with these as cause and consequence.
pub(super) fn is_explained(rules: &[Rule], by: FindingCause, what: FindingCause) -> bool {
    let of = |cause: FindingCause| rules.iter().find(|rule| rule.cause == cause);
    let Some(rule) = of(by) else { return false };
    // What clients see says that there is something; what was read inside says what.
    let is_outside = |rule: &Rule| rule.stage == Stage::Outside;
    let is_sight = of(what).is_some_and(is_outside) && !is_outside(rule) && !SLOW.contains(&by);
    is_sight || rule.explains.contains(&what)
}

/// Causes that neither bound how many requests are served at a time nor make a target stand still.
const SLOW: &[FindingCause] = &[
    FindingCause::ClockDrift,
    FindingCause::SlowReplica,
    FindingCause::ThreadGrowth,
    FindingCause::MemoryGrowth,
    FindingCause::DescriptorLeak,
    FindingCause::ColdCode,
    FindingCause::UnevenWorkers,
    FindingCause::ConnectionChurn,
    FindingCause::Errors,
];
