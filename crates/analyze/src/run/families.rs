//! Which verdicts of a run are one family, and how sure each must be so that all of them together are as sure as the
//! run's confidence says (ADR 0019).
//!
//! A quantity is what an interval is about: the ratio or the difference of two cells in one metric, the value of one
//! cell, or a claim that has no single interval. Each has a fixed part of α, set by the design and never by what was
//! found: what the claims are about first, then the headline metric of each pair, then the rest. Its interval is
//! Student's at 1 − that part, and its verdict is read from that interval. By Bonferroni's inequality all intervals hold
//! their truths together with the run's confidence, whatever depends on what; so the chance of any false verdict is at
//! most α, be it *faster*, *slower* or *equivalent* (the three exclude each other, so one part of α pays for all:
//! Goeman, Solari & Stijnen, Statistics in Medicine 29, 2010).
//! Nothing is passed on from what was decided to what was not: such a step-down method (Holm 1979; Maurer & Bretz 2013)
//! has no intervals that are both two-sided and joint, and could not pay for *equivalent*.
//! A run that waits for its claims looks after every block. Its parts of α are then spent over all looks that it may take
//! (`stats::sequential`), so that whenever it ends, all of the above holds (ADR 0021).
//! Invariant: the hidden control is a family of its own, shared equally; it looks at the instrument.

use super::control;
use super::data::{RunData, interval_name};
use super::pairs::{headline, pairs};
use super::ratio::paired;
use crate::measure::Measure;
use crate::stats::sequential::repeated;
use crate::words::{Noun, count, grouped, percent};
use schema::analysis::{Basis, Family, FamilyPart};
use schema::counter_metric::ClaimMetric;
use schema::family::Share;
use schema::metric::Metric;
use schema::plan::{CellPlan, ClaimMargin, ClaimQuantity, ClaimTest};
use schema::said;
use schema::said::{Joint, Said};

/// What is left of α goes to the first part that is not empty in this share, and so on; the last takes the rest.
const FIRST: f64 = 0.8;

/// What one interval is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Quantity {
    /// Two cells in one metric or counter, the smaller identifier first, on the scale of the answer.
    Pair(String, String, ClaimMetric, Basis),
    /// One cell.
    Value(String, ClaimMetric),
    /// A claim by its place in the plan, which has no interval of its own or several.
    Claim(usize),
}

/// The level of one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Of the interval alone, at least the run's.
    pub(super) confidence: f64,
    /// What it is called: the run's confidence, for all together or for this one alone.
    pub(super) of_all: f64,
    /// Whether it is one of several.
    pub(super) is_joint: bool,
}

impl Level {
    /// The part of α that it takes.
    pub(super) fn alpha(&self) -> f64 {
        1.0 - self.confidence
    }

    /// `95 % interval`, `95 % joint interval`.
    pub(super) fn name(&self) -> Said {
        interval_name(self.of_all, self.is_joint)
    }
}

/// The family of a run.
#[derive(Clone, Debug)]
pub(super) struct Families {
    confidence: f64,
    /// What the claims are about, each once.
    claimed: Vec<Quantity>,
    /// The headline quantities that no claim is about.
    headline: Vec<Quantity>,
    others: usize,
    /// Metrics in which the control is tested.
    controls: usize,
    /// Looks that a run that waits for its claims may take; 1 elsewhere.
    looks: u32,
}

impl Families {
    /// Of a run: what can be tested counts, and every claim as it was written.
    pub(super) fn new(data: &RunData<'_>) -> Self {
        Self::counted(data, |a, b, metric| {
            let paired = paired(data, &a.id, &b.id, metric);
            let basis = paired.basis(metric);
            let is_tested = match basis {
                Basis::Ratio => paired.test.is_ok() && paired.differs,
                Basis::Difference => paired.difference_test.is_ok(),
            };
            is_tested.then_some(basis)
        })
    }

    /// By what is expected to be tested, and on which scale.
    pub(super) fn counted(
        data: &RunData<'_>,
        tested: impl Fn(&CellPlan, &CellPlan, Metric) -> Option<Basis>,
    ) -> Self {
        let mut claimed: Vec<Quantity> = Vec::new();
        for (place, claim) in data.plan.claims.iter().enumerate() {
            let quantity = of_claim(place, claim.metric.as_ref().map(Measure::from), &claim.test);
            if !claimed.contains(&quantity) {
                claimed.push(quantity);
            }
        }
        let (mut headlines, mut others, mut controls) = (Vec::new(), 0, 0);
        for (a, b) in pairs(data) {
            let found: Vec<(Metric, Basis)> =
                Metric::ALL.into_iter().filter_map(|metric| Some((metric, tested(a, b, metric)?))).collect();
            if control::is_control(data, &a.id) || control::is_control(data, &b.id) {
                controls += found.len();
                continue;
            }
            let first =
                headline(data.plan, a).into_iter().find(|first| found.iter().any(|(m, _)| m == first));
            for (metric, basis) in found {
                let quantity = pair(&a.id, &b.id, metric, basis);
                match (claimed.contains(&quantity), Some(metric) == first) {
                    (true, _) => {}
                    (false, true) => headlines.push(quantity),
                    (false, false) => others += 1,
                }
            }
        }
        Self {
            confidence: data.confidence,
            claimed,
            headline: headlines,
            others,
            controls,
            looks: looks(data),
        }
    }

    fn counts(&self) -> [usize; 3] {
        [self.claimed.len(), self.headline.len(), self.others]
    }

    fn level(&self, part: FamilyPart) -> Level {
        let (shares, counts) = (shares(self.counts()), self.counts());
        let place = match part {
            FamilyPart::Claimed => 0,
            FamilyPart::Headline => 1,
            FamilyPart::Other => 2,
            FamilyPart::Control => return self.leveled(1.0, self.controls, self.controls),
        };
        self.leveled(shares[place], counts[place], counts.iter().sum())
    }

    fn leveled(&self, share: f64, count: usize, all: usize) -> Level {
        let alpha = (1.0 - self.confidence) * share / count.max(1) as f64;
        // One alone is as sure as the run asks, to the last digit.
        let confidence = match self.looks {
            0 | 1 if all <= 1 => self.confidence,
            looks => 1.0 - repeated(alpha, looks),
        };
        Level { confidence, of_all: self.confidence, is_joint: all > 1 }
    }

    /// Part and level of a comparison.
    pub(super) fn comparison<'m>(
        &self,
        data: &RunData<'_>,
        (a, b): (&str, &str),
        measure: impl Into<Measure<'m>>,
        basis: Basis,
    ) -> (FamilyPart, Level) {
        let quantity = pair(a, b, measure, basis);
        let part = if control::is_control(data, a) || control::is_control(data, b) {
            FamilyPart::Control
        } else if self.claimed.contains(&quantity) {
            FamilyPart::Claimed
        } else if self.headline.contains(&quantity) {
            FamilyPart::Headline
        } else {
            FamilyPart::Other
        };
        (part, self.level(part))
    }

    /// Level of the value of one cell: that of a claim about it, else its own.
    pub(super) fn value<'m>(&self, cell: &str, measure: impl Into<Measure<'m>>) -> Level {
        match self.claimed.contains(&Quantity::Value(cell.to_owned(), measure.into().owned())) {
            true => self.level(FamilyPart::Claimed),
            false => Level { confidence: self.confidence, of_all: self.confidence, is_joint: false },
        }
    }

    /// Level of every claim.
    pub(super) fn claimed(&self) -> Level {
        self.level(FamilyPart::Claimed)
    }

    /// Confidence of the intervals of knees: that of claims where one is about a knee.
    pub(super) fn knees(&self, data: &RunData<'_>) -> f64 {
        let is_claimed = data.plan.claims.iter().any(|claim| claim.test.is_about_knee());
        if is_claimed { self.claimed().confidence } else { self.confidence }
    }

    /// For the file; `None` where nothing is judged.
    pub(super) fn summary(&self) -> Option<Family> {
        let (counts, shares) = (self.counts(), shares(self.counts()));
        let all: usize = counts.iter().sum();
        let part = |place: usize, part: FamilyPart| Share {
            count: u32::try_from(counts[place]).unwrap_or(u32::MAX),
            share: shares[place],
            level: (counts[place] > 0).then(|| self.level(part).confidence),
        };
        (all > 0).then(|| Family {
            claimed: part(0, FamilyPart::Claimed),
            headline: part(1, FamilyPart::Headline),
            other: part(2, FamilyPart::Other),
            text: self.text(),
        })
    }

    /// `12 comparisons as one family: some verdict false in at most 5 % of runs (4 % for 2 in headline metrics, …)`.
    fn text(&self) -> Said {
        let counts = self.counts();
        let all: usize = counts.iter().sum();
        let most = percent(1.0 - self.confidence);
        if all == 1 {
            return said!(
                "families.one",
                "1 comparison: its verdict is false in at most {most} of runs",
                most
            );
        }
        let shares = shares(counts);
        let part = |place: usize| {
            let most = percent((1.0 - self.confidence) * shares[place]);
            let count = grouped(counts[place] as u64);
            match place {
                0 => said!("families.claimed", "{most} for {count} in claims", most, count),
                1 => said!("families.headline", "{most} for {count} in headline metrics", most, count),
                _ => said!("families.others", "{most} for {count} others", most, count),
            }
        };
        let parts: Vec<Said> = (0..3).filter(|place| counts[*place] > 0).map(part).collect();
        said!(
            "families.all",
            "{all} as one family: some verdict false in at most {most} of runs ({parts})",
            all = count(all, Noun::Comparison),
            most,
            parts = Said::list(Joint::Comma, parts)
        )
    }
}

/// Block borders at which a run that waits for its claims looks: from the pilot to the most blocks.
fn looks(data: &RunData<'_>) -> u32 {
    let stopping = data.plan.design.stopping.as_ref().filter(|stopping| stopping.until_decided);
    stopping.map_or(1, |stopping| stopping.blocks_max.saturating_sub(stopping.blocks_pilot).saturating_add(1))
}

/// Parts of α: what is left goes to each part that is not empty by [`FIRST`], the last takes all of it.
fn shares(counts: [usize; 3]) -> [f64; 3] {
    let last = counts.iter().rposition(|count| *count > 0);
    let (mut left, mut shares) = (1.0, [0.0; 3]);
    for (place, count) in counts.into_iter().enumerate() {
        if count > 0 {
            shares[place] = if Some(place) == last { left } else { left * FIRST };
            left -= shares[place];
        }
    }
    shares
}

fn pair<'m>(a: &str, b: &str, measure: impl Into<Measure<'m>>, basis: Basis) -> Quantity {
    let (first, second) = if a <= b { (a, b) } else { (b, a) };
    Quantity::Pair(first.to_owned(), second.to_owned(), measure.into().owned(), basis)
}

/// What decides a claim. Two claims about the same ratio have the same interval, and count once.
fn of_claim(place: usize, measure: Option<Measure<'_>>, test: &ClaimTest) -> Quantity {
    let Some(measure) = measure else { return Quantity::Claim(place) };
    match test {
        ClaimTest::Ratio { numerator: a, denominator: b, .. }
        | ClaimTest::Equivalent { a, b, margin: ClaimMargin::Ratio(_) }
        | ClaimTest::NoWorse { cell: a, than: b, margin: ClaimMargin::Ratio(_) } => {
            pair(a, b, measure, Basis::Ratio)
        }
        ClaimTest::Difference { minuend: a, subtrahend: b, .. }
        | ClaimTest::Equivalent { a, b, margin: ClaimMargin::Difference(_) }
        | ClaimTest::NoWorse { cell: a, than: b, margin: ClaimMargin::Difference(_) } => {
            pair(a, b, measure, Basis::Difference)
        }
        ClaimTest::Threshold { cell, .. } => Quantity::Value(cell.clone(), measure.owned()),
        // Both sides are judged by one interval.
        ClaimTest::Within { quantity, .. } => match quantity {
            ClaimQuantity::Ratio { numerator: a, denominator: b } => pair(a, b, measure, Basis::Ratio),
            ClaimQuantity::Difference { minuend: a, subtrahend: b } => pair(a, b, measure, Basis::Difference),
            ClaimQuantity::Value { cell } => Quantity::Value(cell.clone(), measure.owned()),
            ClaimQuantity::Knee { .. } => Quantity::Claim(place),
        },
        ClaimTest::Ordering { .. } | ClaimTest::Knee { .. } | ClaimTest::NoLeak { .. } => {
            Quantity::Claim(place)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_goes_down_and_the_last_takes_all() {
        for (counts, wanted) in [
            ([0, 0, 0], [0.0, 0.0, 0.0]),
            ([0, 1, 0], [0.0, 1.0, 0.0]),
            ([0, 3, 12], [0.0, 0.8, 0.2]),
            ([1, 0, 5], [0.8, 0.0, 0.2]),
            ([2, 3, 12], [0.8, 0.16, 0.04]),
            ([4, 0, 0], [1.0, 0.0, 0.0]),
        ] {
            let got = shares(counts);
            assert!(got.iter().zip(wanted).all(|(got, wanted)| (got - wanted).abs() < 1e-12), "{got:?}");
        }
    }

    #[test]
    fn a_ratio_is_the_same_from_both_sides_and_on_one_scale() {
        let of = |a: &str, b: &str, basis| pair(a, b, Metric::P99, basis);
        assert_eq!(of("c1", "c2", Basis::Ratio), of("c2", "c1", Basis::Ratio));
        assert_ne!(of("c1", "c2", Basis::Ratio), of("c1", "c2", Basis::Difference));
    }
}
