//! From an interval to the verdict of a claim.

use crate::run::MIN_TRIALS;
use crate::stats::student::MeanTest;
use schema::analysis::{ClaimVerdict, Interval};
use schema::plan::ClaimComparison;
use schema::said;
use schema::said::Said;

/// What is known of a claim in the end.
pub(super) struct Judged {
    pub(super) verdict: ClaimVerdict,
    pub(super) evidence: Said,
    pub(super) ratio: Option<f64>,
    /// A difference or a value, in the unit of the metric.
    pub(super) value: Option<f64>,
    pub(super) interval: Option<Interval>,
}

impl Judged {
    pub(super) fn void(evidence: Said) -> Self {
        Self::without_interval(ClaimVerdict::Void, evidence)
    }

    pub(super) fn without_interval(verdict: ClaimVerdict, evidence: Said) -> Self {
        Self { verdict, evidence, ratio: None, value: None, interval: None }
    }
}

/// The whole interval must keep the bound, or break it.
pub(super) fn against_bound(low: f64, high: f64, comparison: ClaimComparison, bound: f64) -> ClaimVerdict {
    let (low_keeps, high_keeps) = (comparison.holds(low, bound), comparison.holds(high, bound));
    verdict(low_keeps && high_keeps, !low_keeps && !high_keeps)
}

pub(super) fn verdict(holds: bool, contradicts: bool) -> ClaimVerdict {
    match (holds, contradicts) {
        (true, _) => ClaimVerdict::Holds,
        (_, true) => ClaimVerdict::DoesNotHold,
        _ => ClaimVerdict::Inconclusive,
    }
}

/// The interval of values or differences at `level`. Where all of them are the same there is no spread to make one of;
/// then they themselves decide, as soon as the sign test does: n values on one side of a bound reject that the median
/// lies beyond it at 2⁻ⁿ, which must not be above `alpha`. So five trials without an error show an error rate below 1 %.
pub(super) fn values_interval(
    values: &[f64],
    test: &Result<MeanTest, Said>,
    level: f64,
    alpha: f64,
) -> Result<(f64, f64), Said> {
    let reason = match test {
        Ok(test) => return Ok(test.interval(level)),
        Err(reason) => reason,
    };
    match values {
        [first, rest @ ..] if values.len() >= MIN_TRIALS && rest.iter().all(|value| value == first) => {
            let needed = equal_needed(alpha);
            if values.len() >= needed {
                Ok((*first, *first))
            } else {
                Err(more_needed(reason, needed, values.len()))
            }
        }
        _ => Err(reason.clone()),
    }
}

/// The least n with 2⁻ⁿ at most `alpha`, and [`MIN_TRIALS`] at least.
fn equal_needed(alpha: f64) -> usize {
    let sign_test = (1.0 / alpha.clamp(f64::MIN_POSITIVE, 1.0)).log2().ceil();
    MIN_TRIALS.max(sign_test as usize)
}

fn more_needed(reason: &Said, needed: usize, had: usize) -> Said {
    said!(
        "claims.equal_values_need",
        "{reason}; values that are all the same decide by the sign test, which needs {needed} blocks for this claim: run \
         {more} more block{plural}",
        reason = reason.clone(),
        needed,
        more = needed - had,
        plural = if needed - had == 1 { "" } else { "s" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_interval_must_agree() {
        use ClaimComparison::{AtLeast, AtMost, LessThan, MoreThan};
        use ClaimVerdict::{DoesNotHold, Holds, Inconclusive};
        for (comparison, low, high, wanted) in [
            (AtLeast, 1.0, 1.1, Holds),
            (AtLeast, 0.99, 1.1, Inconclusive),
            (AtLeast, 0.8, 1.0, Inconclusive),
            (AtLeast, 0.8, 0.99, DoesNotHold),
            (MoreThan, 1.0, 1.1, Inconclusive),
            (MoreThan, 1.01, 1.1, Holds),
            (MoreThan, 0.9, 1.0, DoesNotHold),
            (AtMost, 0.9, 1.0, Holds),
            (AtMost, 0.9, 1.01, Inconclusive),
            (AtMost, 1.01, 1.1, DoesNotHold),
            (LessThan, 0.9, 0.99, Holds),
            (LessThan, 0.9, 1.0, Inconclusive),
            (LessThan, 1.0, 1.1, DoesNotHold),
            (LessThan, 0.0, f64::INFINITY, Inconclusive),
        ] {
            assert_eq!(against_bound(low, high, comparison, 1.0), wanted, "{comparison:?} {low} {high}");
        }
    }

    #[test]
    fn equal_values_decide_once_the_sign_test_does() {
        let test = Err("no spread".into());
        assert_eq!(values_interval(&[0.0; 5], &test, 0.95, 0.05), Ok((0.0, 0.0)));
        let said = |values: &[f64], alpha: f64| {
            values_interval(values, &test, 1.0 - alpha, alpha).unwrap_err().to_string()
        };
        assert!(said(&[0.0; 5], 0.01).ends_with("which needs 7 blocks for this claim: run 2 more blocks"));
        // Six claims share 4 %.
        let six = 0.04 / 6.0;
        assert!(said(&[0.0; 7], six).ends_with("needs 8 blocks for this claim: run 1 more block"));
        assert_eq!(values_interval(&[0.0; 8], &test, 1.0 - six, six), Ok((0.0, 0.0)));
        assert_eq!(said(&[0.0; 4], six), "no spread", "five are needed first");
        assert_eq!(values_interval(&[0.0; 7], &test, 0.99, 0.01), Ok((0.0, 0.0)));
        assert!(values_interval(&[0.0; 4], &test, 0.8, 0.2).is_err());
        assert!(values_interval(&[0.0, 0.0, 0.0, 0.0, 1.0], &test, 0.95, 0.05).is_err());
        assert!(values_interval(&[], &test, 0.95, 0.05).is_err());
    }
}
