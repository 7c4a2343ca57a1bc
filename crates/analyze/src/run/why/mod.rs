//! Why: what held each cell back, with its evidence, what was ruled out, and what would confirm it (METHOD §9).
//!
//! Every cause is a rule in a file of its own under `rules`. A rule that is met makes a finding; it is of more than low
//! severity only with an association: the cause's time is a share of the response time, the resource is used up, the
//! system itself stopped or failed the target, or the counter moves together with what users see.
//! Invariants: the generator is looked at first, and where it was the limit nothing else is more than low; findings say
//! "consistent with" and never "because", which takes an intervention; a cause that cannot be read is said to be unread
//! and never ruled out.

mod draft;
mod rules;
mod scene;

use super::data::RunData;
use super::machine;
use crate::stats::circular::{Together, together};
use crate::stats::false_discovery::benjamini_hochberg;
use crate::words::{Noun, count};
use draft::{Draft, Judgement, Link, Rule, Stage, is_explained};
use rules::RULES;
use scene::Scene;
use schema::finding::{
    Association, CellWhy, Certainty, Finding, FindingCause, FindingLevel, FindingSeverity, RuledOut, Unread,
};
use schema::plan::CellPlan;
use schema::said;
use schema::said::Said;
use units::Seed;

/// Shares of the response time, and utilisations, from which a cause is tied to what users see.
const ACCOUNTS_MIN: f64 = 0.1;
const BOUND_MIN: f64 = 0.85;
/// Level of the tests in time, after correction, and of growth.
const Q_MAX: f64 = 0.05;
const GROWTH_P_MAX: f64 = 0.02;
/// Least rank correlation that is worth telling, however sure.
const RHO_MIN: f64 = 0.3;

/// What a rule found in a cell, with the tests of its links in time.
struct Candidate<'r> {
    cell: usize,
    rule: &'r Rule,
    draft: Draft,
    tests: Vec<Option<Together>>,
}

/// The findings of every cell, in plan order.
pub(super) fn why(data: &RunData<'_>) -> Vec<CellWhy> {
    let mut cells: Vec<CellWhy> = data.plan.cells.iter().map(blank).collect();
    let mut candidates = Vec::new();
    let slow = machine::slow(data);
    for (place, cell) in data.plan.cells.iter().enumerate() {
        let scene = Scene::new(data, cell, slow.as_ref());
        cells[place].trials = u32::try_from(scene.trials.len()).unwrap_or(u32::MAX);
        cells[place].void_only = scene.void_only && !scene.trials.is_empty();
        if scene.trials.is_empty() {
            continue;
        }
        for rule in RULES {
            match (rule.judge)(&scene) {
                Judgement::Found(draft) => candidates.push(candidate(place, rule, *draft, &scene)),
                Judgement::RuledOut(text) => {
                    cells[place].ruled_out.push(RuledOut { cause: rule.cause, text });
                }
                Judgement::Unread(text) => {
                    let text = with_endpoint(text, rule, &scene);
                    cells[place].unread.push(Unread { cause: rule.cause, text });
                }
                Judgement::NotAsked => {}
            }
        }
    }
    settle(candidates, &mut cells);
    for cell in &mut cells {
        rank(&mut cell.findings, cell.void_only);
        cell.answer = answer(cell);
    }
    cells
}

/// What could not be read inside the target, with the reason why one of its endpoints gave nothing.
fn with_endpoint(text: Said, rule: &Rule, scene: &Scene<'_>) -> Said {
    match scene.endpoint_error().filter(|_| rule.stage == Stage::Target) {
        Some(error) => said!("why.endpoint_failed", "{text}; {error}", text, error),
        None => text,
    }
}

fn blank(cell: &CellPlan) -> CellWhy {
    CellWhy { cell: cell.id.clone(), label: cell.label.clone(), ..CellWhy::default() }
}

fn candidate<'r>(cell: usize, rule: &'r Rule, draft: Draft, scene: &Scene<'_>) -> Candidate<'r> {
    let seed = Seed(scene.plan.seed).derive("why", cell as u64);
    let test = |link: &Link| match link {
        Link::Time(counter, with) => together(&scene.beside(counter, *with), seed.derive(counter, 0)),
        _ => None,
    };
    let tests = draft.links.iter().map(test).collect();
    Candidate { cell, rule, draft, tests }
}

/// Corrects the tests over the whole run and makes findings of the candidates.
fn settle(candidates: Vec<Candidate<'_>>, cells: &mut [CellWhy]) {
    let p_values: Vec<f64> =
        candidates.iter().flat_map(|found| found.tests.iter().flatten().map(|test| test.p_value)).collect();
    let mut q_values = benjamini_hochberg(&p_values).into_iter();
    for found in candidates {
        let tests: Vec<Option<(Together, f64)>> =
            found.tests.iter().map(|test| test.map(|test| (test, q_values.next().unwrap_or(1.0)))).collect();
        let id = cells[found.cell].cell.clone();
        cells[found.cell].findings.push(finding(id, found.rule, found.draft, &tests));
    }
}

fn finding(cell: String, rule: &Rule, draft: Draft, tests: &[Option<(Together, f64)>]) -> Finding {
    let association = draft
        .links
        .iter()
        .zip(tests)
        .filter_map(|(link, test)| association(link, *test))
        .max_by(|a, b| weight(a).total_cmp(&weight(b)));
    let severity = if association.is_some() { draft.severity } else { FindingSeverity::Low };
    Finding {
        cause: rule.cause,
        level: draft.level,
        severity: if draft.level == FindingLevel::Fact {
            severity.min(FindingSeverity::Medium)
        } else {
            severity
        },
        certainty: Certainty::ConsistentWith,
        cell,
        text: draft.text,
        evidence: draft.evidence,
        association,
        follows: None,
        remedy: (!draft.remedy.is_empty()).then_some(draft.remedy),
        intervention: draft.intervention,
        source: rule.source.to_owned(),
    }
}

/// The association, where the link is strong and sure enough.
fn association(link: &Link, test: Option<(Together, f64)>) -> Option<Association> {
    match link {
        Link::Accounts(share) => (*share >= ACCOUNTS_MIN).then_some(Association::Accounts { share: *share }),
        Link::Bound(used) => {
            (*used >= BOUND_MIN).then_some(Association::Bound { utilisation: used.clamp(0.0, 1.0) })
        }
        Link::Direct(share) => (*share > 0.0).then_some(Association::Direct { share: share.clamp(0.0, 1.0) }),
        Link::Growth(p) => (*p <= GROWTH_P_MAX).then_some(Association::Growth { p: *p }),
        Link::Time(counter, with) => {
            let (test, q) = test?;
            (q <= Q_MAX && test.rho >= RHO_MIN).then(|| Association::Time {
                counter: counter.clone(),
                with: *with,
                rho: test.rho,
                p: test.p_value,
                q,
            })
        }
    }
}

/// How much of what users see an association ties to the cause, for the order among equals.
fn weight(association: &Association) -> f64 {
    match association {
        Association::Accounts { share } => share.min(1.0),
        Association::Bound { utilisation } => *utilisation,
        Association::Direct { share } => 0.5 + share / 2.0,
        Association::Time { rho, .. } => *rho,
        Association::Growth { .. } => 0.5,
    }
}

/// Worst first; a consequence after its cause and never above it; nothing beside a generator that was the limit; and
/// nothing high about a target whose trials are all void.
fn rank(findings: &mut [Finding], void_only: bool) {
    let found: Vec<(FindingCause, FindingSeverity)> =
        findings.iter().map(|finding| (finding.cause, finding.severity)).collect();
    let is_met = |cause: FindingCause| {
        found.iter().any(|(other, severity)| *other == cause && *severity > FindingSeverity::Low)
    };
    let vetoed = found
        .iter()
        .any(|(cause, severity)| stage(*cause) == Stage::Generator && *severity == FindingSeverity::High);
    for finding in findings.iter_mut() {
        finding.follows = RULES
            .iter()
            .map(|rule| rule.cause)
            .find(|by| *by != finding.cause && is_met(*by) && is_explained(RULES, *by, finding.cause));
        if finding.follows.is_some() {
            finding.severity = finding.severity.min(FindingSeverity::Medium);
        }
        if void_only && stage(finding.cause).is_target() {
            finding.severity = finding.severity.min(FindingSeverity::Medium);
        }
        if vetoed && stage(finding.cause) != Stage::Generator {
            finding.severity = FindingSeverity::Low;
        }
    }
    findings.sort_by(|a, b| {
        let key = |finding: &Finding| {
            (finding.severity, finding.follows.is_none(), finding.level == FindingLevel::Finding)
        };
        let size = |finding: &Finding| finding.association.as_ref().map_or(0.0, weight);
        key(b).cmp(&key(a)).then(stage(a.cause).cmp(&stage(b.cause))).then(size(b).total_cmp(&size(a)))
    });
}

fn stage(cause: FindingCause) -> Stage {
    RULES.iter().find(|rule| rule.cause == cause).map_or(Stage::Target, |rule| rule.stage)
}

/// The answer in one sentence.
fn answer(cell: &CellWhy) -> Said {
    let looked = said!(
        "why.looked_at",
        "{causes} looked at and ruled out, {unread} could not be read",
        causes = count(cell.ruled_out.len(), Noun::Cause),
        unread = cell.unread.len()
    );
    let seen = cell.findings.iter().find(|finding| finding.cause == FindingCause::WaitsInside);
    match cell.findings.iter().find(|finding| finding.severity > FindingSeverity::Low) {
        _ if cell.trials == 0 => {
            said!("why.no_trial_this_cell", "no trial of this cell has been loaded, so nothing can be said")
        }
        Some(top) => said!(
            "why.consistent",
            "consistent with {cause}: {text}",
            cause = top.cause.words(),
            text = &top.text
        ),
        None if let Some(seen) = seen => said!(
            "why.only_outside",
            "nothing was found that holds it back: {looked}; seen from outside, {text}",
            looked,
            text = &seen.text
        ),
        None => said!("why.nothing_found", "nothing was found that holds it back: {looked}", looked),
    }
}

/// What matters over all cells: of each target and cause the finding that weighs most, with the other cells named.
pub(super) fn condensed(data: &RunData<'_>, cells: &[CellWhy]) -> Vec<Finding> {
    let target = |cell: &str| data.cell(cell).map(|plan| plan.target.clone()).unwrap_or_default();
    let mut kept: Vec<(String, Finding, Vec<String>)> = Vec::new();
    // Void trials carry no numbers, so what they show of a target is for `prony why` only.
    let is_usable = |cell: &CellWhy, finding: &Finding| !cell.void_only || !stage(finding.cause).is_target();
    let news =
        cells.iter().flat_map(|cell| cell.findings.iter().filter(move |finding| is_usable(cell, finding)));
    for finding in news.filter(|finding| finding.severity > FindingSeverity::Low && finding.follows.is_none())
    {
        let of = target(&finding.cell);
        match kept.iter_mut().find(|(name, known, _)| *name == of && known.cause == finding.cause) {
            None => kept.push((of, finding.clone(), Vec::new())),
            Some((_, known, others)) => {
                let size = |finding: &Finding| finding.association.as_ref().map_or(0.0, weight);
                let is_worse = (finding.severity, size(finding)) > (known.severity, size(known));
                others.push(if is_worse { known.cell.clone() } else { finding.cell.clone() });
                if is_worse {
                    *known = finding.clone();
                }
            }
        }
    }
    let mut findings: Vec<Finding> = kept
        .into_iter()
        .map(|(_, mut finding, others)| {
            if !others.is_empty() {
                finding.text = said!(
                    "why.also_in",
                    "{text}; so also in {cells}",
                    text = &finding.text,
                    cells = count(others.len(), Noun::OtherCell)
                );
            }
            finding
        })
        .collect();
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then(stage(a.cause).cmp(&stage(b.cause))));
    findings
}
