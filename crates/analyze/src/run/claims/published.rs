//! How a measurement answers what somebody published.
//!
//! What counts as the published number is its band: the number with its tolerance, chosen before the run. The whole
//! interval within the band *reproduces* it. An interval wholly beyond the band is another size: in the published
//! direction *exceeded* or *weaker*, and *contradicted* where the interval lies wholly on the other side of no difference
//! or within the margin of it. A direction that was published without a size is contradicted so, too. Where the size is
//! excluded and the interval reaches over no difference, the answer is *weaker or none* (ADR 0034). A plain value has no
//! direction, so that one beyond its band is larger (*exceeded*) or smaller (*weaker*).
//! A replication judged by its own interval and a smallest size of interest: Simonsohn, "Small telescopes" (2015); the
//! bound of no difference is the equivalence margin of METHOD §3.
//! Invariant: a claim's own verdict follows this one, so that exit code 3 never means "reproduced".

use super::judge::Judged;
use crate::measure::Measure;
use crate::words;
use schema::analysis::{ClaimVerdict, Interval};
use schema::plan::{ClaimPlan, ClaimQuantity, ClaimTest};
use schema::published::{Direction, PublishedPlan, PublishedResult, PublishedVerdict, Span};
use schema::said;
use schema::said::Said;

/// Puts the answer to what was published beside the claim's own; `None` for claims of one's own.
pub(super) fn answered(claim: &ClaimPlan, judged: &mut Judged, margin: f64) -> Option<PublishedResult> {
    let published = claim.published.as_ref()?;
    let found = result(published, &claim.test, judged, margin);
    judged.verdict = own(found.verdict);
    judged.evidence = evidence(claim, &found, judged);
    Some(found)
}

fn result(published: &PublishedPlan, test: &ClaimTest, judged: &Judged, margin: f64) -> PublishedResult {
    let (value, band) = match test {
        ClaimTest::Within { span, .. } => (published.value, Some(*span)),
        _ => (None, None),
    };
    let verdict = match (judged.verdict, test, &judged.interval) {
        (ClaimVerdict::Void, ..) => PublishedVerdict::Void,
        (ClaimVerdict::Holds, ..) => PublishedVerdict::Reproduced,
        (ClaimVerdict::Inconclusive, ClaimTest::Ratio { bound, .. }, Some(interval))
            if *bound == 1.0 && is_within(*interval, same(margin)) =>
        {
            PublishedVerdict::Contradicted
        }
        (ClaimVerdict::Inconclusive, ..) => PublishedVerdict::Inconclusive,
        (ClaimVerdict::DoesNotHold, ClaimTest::Within { quantity, span }, Some(interval)) => {
            let neutral = neutral(quantity, margin);
            beyond(*interval, *span, neutral, published.direction)
        }
        (ClaimVerdict::DoesNotHold, ..) => PublishedVerdict::Contradicted,
    };
    PublishedResult { value, band, verdict }
}

/// From where to where there is no difference to speak of; `None` for plain values.
fn neutral(quantity: &ClaimQuantity, margin: f64) -> Option<(f64, f64, f64)> {
    match quantity {
        ClaimQuantity::Ratio { .. } => {
            let (low, high) = same(margin);
            Some((low, 1.0, high))
        }
        ClaimQuantity::Difference { .. } => Some((0.0, 0.0, 0.0)),
        ClaimQuantity::Value { .. } | ClaimQuantity::Knee { .. } => None,
    }
}

/// The ratios that are no difference to speak of (METHOD §3).
fn same(margin: f64) -> (f64, f64) {
    (1.0 / (1.0 + margin), 1.0 + margin)
}

/// Whether an interval lies wholly between two ends.
fn is_within(interval: Interval, (least, most): (f64, f64)) -> bool {
    let (low, high) = words::ends(interval);
    low >= least && high <= most
}

/// Of an interval that lies wholly beyond the band.
fn beyond(
    interval: Interval,
    band: Span,
    neutral: Option<(f64, f64, f64)>,
    direction: Option<Direction>,
) -> PublishedVerdict {
    let (low, high) = words::ends(interval);
    let above = band.high.is_some_and(|end| low > end);
    let Some((same_low, none, same_high)) = neutral else {
        return if above { PublishedVerdict::Exceeded } else { PublishedVerdict::Weaker };
    };
    let is_same = is_within(interval, (same_low, same_high));
    // A two-sided bound says its direction by where it lies.
    let direction = direction.or(match (band.low, band.high) {
        (Some(low), _) if low > none => Some(Direction::More),
        (_, Some(high)) if high < none => Some(Direction::Less),
        _ => None,
    });
    match direction {
        None | Some(Direction::Same) => PublishedVerdict::Contradicted,
        Some(Direction::More) if above => PublishedVerdict::Exceeded,
        Some(Direction::Less) if !above => PublishedVerdict::Exceeded,
        Some(Direction::More) if high < none || is_same => PublishedVerdict::Contradicted,
        Some(Direction::Less) if low > none || is_same => PublishedVerdict::Contradicted,
        Some(Direction::More) if low > none => PublishedVerdict::Weaker,
        Some(Direction::Less) if high < none => PublishedVerdict::Weaker,
        Some(Direction::More | Direction::Less) => PublishedVerdict::WeakerOrNone,
    }
}

/// What the claim itself comes to: another size is not what was published.
const fn own(verdict: PublishedVerdict) -> ClaimVerdict {
    match verdict {
        PublishedVerdict::Reproduced => ClaimVerdict::Holds,
        PublishedVerdict::Exceeded
        | PublishedVerdict::Weaker
        | PublishedVerdict::WeakerOrNone
        | PublishedVerdict::Contradicted => ClaimVerdict::DoesNotHold,
        PublishedVerdict::Inconclusive => ClaimVerdict::Inconclusive,
        PublishedVerdict::Void => ClaimVerdict::Void,
    }
}

fn evidence(claim: &ClaimPlan, found: &PublishedResult, judged: &Judged) -> Said {
    let measured = judged.evidence.clone();
    let answer = verdict_in_words(found.verdict, is_plain_value(&claim.test));
    let is_ratio = matches!(&claim.test, ClaimTest::Within { quantity: ClaimQuantity::Ratio { .. }, .. });
    match found
        .value
        .map(|value| printed(value, claim.metric.as_ref().filter(|_| !is_ratio).map(Measure::from)))
    {
        Some(value) => said!(
            "claims.published.number",
            "{answer} (published {value}): {measured}",
            answer,
            value,
            measured
        ),
        None => said!("claims.published.order", "{answer}: {measured}", answer, measured),
    }
}

fn is_plain_value(test: &ClaimTest) -> bool {
    let ClaimTest::Within { quantity, .. } = test else { return false };
    neutral(quantity, 0.0).is_none()
}

fn verdict_in_words(verdict: PublishedVerdict, plain: bool) -> Said {
    match (verdict, plain) {
        (PublishedVerdict::Reproduced, _) => said!("claims.published.reproduced", "reproduced"),
        (PublishedVerdict::Exceeded, false) => {
            said!("claims.published.exceeded", "same direction, more than published")
        }
        (PublishedVerdict::Weaker, false) => {
            said!("claims.published.weaker", "same direction, less than published")
        }
        (PublishedVerdict::Exceeded, true) => said!("claims.published.larger", "larger than published"),
        (PublishedVerdict::Weaker, true) => said!("claims.published.smaller", "smaller than published"),
        (PublishedVerdict::WeakerOrNone, _) => {
            said!("claims.published.weaker_or_none", "less than published, perhaps no difference")
        }
        (PublishedVerdict::Contradicted, _) => said!("claims.published.contradicted", "contradicted"),
        (PublishedVerdict::Inconclusive, _) => said!("claims.published.inconclusive", "inconclusive"),
        (PublishedVerdict::Void, _) => said!("claims.published.void", "void"),
    }
}

/// `1.11`, `8.00 ms to 12.0 ms`, `> 40`; a ratio without a metric.
fn printed(value: Span, metric: Option<Measure<'_>>) -> Said {
    let one = |value: f64| match metric {
        Some(metric) => words::value(metric, value),
        None => words::ratio(value),
    };
    match (value.low, value.high) {
        (Some(low), Some(high)) if low == high => Said::from(one(low)),
        (Some(low), Some(high)) => {
            said!("claims.published.range", "{low} to {high}", low = one(low), high = one(high))
        }
        (Some(low), None) => Said::from(format!("> {}", one(low))),
        (None, Some(high)) => Said::from(format!("< {}", one(high))),
        (None, None) => Said::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::plan::ClaimComparison;
    use schema::published::{ClaimSource, Conditions};

    fn span(low: f64, high: f64) -> Span {
        Span { low: Some(low), high: Some(high) }
    }

    #[test]
    fn beyond_the_band_the_direction_and_the_margin_decide() {
        use Direction::{Less, More, Same};
        use PublishedVerdict::{Contradicted, Exceeded, Weaker, WeakerOrNone};
        let ratio = Some((1.0 / 1.02, 1.0, 1.02));
        for (low, high, band, direction, wanted) in [
            // Published 2.3 times as much, within 10 %.
            (2.6, 2.8, (2.09, 2.53), Some(More), Exceeded),
            (1.2, 1.4, (2.09, 2.53), Some(More), Weaker),
            (0.8, 0.9, (2.09, 2.53), Some(More), Contradicted),
            (0.99, 1.01, (2.09, 2.53), Some(More), Contradicted),
            (1.005, 1.015, (2.09, 2.53), Some(More), Contradicted),
            (0.9, 1.2, (2.09, 2.53), Some(More), WeakerOrNone),
            // Published half as much.
            (0.3, 0.4, (0.45, 0.55), Some(Less), Exceeded),
            (0.7, 0.8, (0.45, 0.55), Some(Less), Weaker),
            (1.1, 1.2, (0.45, 0.55), Some(Less), Contradicted),
            (0.985, 1.01, (0.45, 0.55), Some(Less), Contradicted),
            (0.7, 1.1, (0.45, 0.55), Some(Less), WeakerOrNone),
            // Published without a difference.
            (1.2, 1.3, (0.9, 1.1), Some(Same), Contradicted),
            (0.5, 0.6, (0.9, 1.1), None, Contradicted),
            // A bound of two sides, without a direction beside it.
            (1.2, 1.3, (1.4, 1.5), None, Weaker),
        ] {
            let interval = Interval { low: Some(low), high: Some(high) };
            let got = beyond(interval, span(band.0, band.1), ratio, direction);
            assert_eq!(got, wanted, "{low} {high} {direction:?}");
        }
        let interval = |low, high| Interval { low: Some(low), high: Some(high) };
        assert_eq!(beyond(interval(5.0, 6.0), span(1.0, 2.0), None, None), Exceeded);
        assert_eq!(beyond(interval(0.5, 0.6), span(1.0, 2.0), None, None), Weaker);
        assert_eq!(beyond(interval(0.5, 0.6), Span { low: Some(1.0), high: None }, None, None), Weaker);
    }

    #[test]
    fn a_direction_without_a_size_is_contradicted_where_nothing_differs() {
        let ratio = |bound| ClaimTest::Ratio {
            numerator: "a".into(),
            denominator: "b".into(),
            comparison: ClaimComparison::MoreThan,
            bound,
        };
        let verdict = |bound, low, high| {
            let interval = Some(Interval { low: Some(low), high: Some(high) });
            let judged =
                Judged { interval, ..Judged::without_interval(ClaimVerdict::Inconclusive, Said::default()) };
            let published = PublishedPlan {
                source: ClaimSource { article: "000".into(), place: "table 1".into() },
                value: None,
                direction: None,
                conditions: Conditions::default(),
            };
            result(&published, &ratio(bound), &judged, 0.02).verdict
        };
        assert_eq!(verdict(1.0, 0.985, 1.015), PublishedVerdict::Contradicted);
        assert_eq!(verdict(1.0, 0.97, 1.015), PublishedVerdict::Inconclusive);
        assert_eq!(verdict(1.0, 0.985, 1.03), PublishedVerdict::Inconclusive);
        assert_eq!(
            verdict(1.01, 0.985, 1.015),
            PublishedVerdict::Inconclusive,
            "another bound is no direction"
        );
    }

    #[test]
    fn what_is_not_reproduced_does_not_hold() {
        use PublishedVerdict::{Contradicted, Exceeded, Weaker, WeakerOrNone};
        for verdict in [Exceeded, Weaker, WeakerOrNone, Contradicted] {
            assert_eq!(own(verdict), ClaimVerdict::DoesNotHold);
        }
        assert_eq!(own(PublishedVerdict::Reproduced), ClaimVerdict::Holds);
    }
}
