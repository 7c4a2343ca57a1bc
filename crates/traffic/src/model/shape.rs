//! The rate over time as at most [`STRETCHES_MAX`] stretches of one rate.
//!
//! Neighbouring minutes are put together from the bottom up, the pair that loses the least likelihood first, until the
//! next pair differs by more than chance or the stretches are few enough (likelihood ratio of two Poisson counts; a
//! pair is kept apart where twice its logarithm is above 2 ln n + 8, so that of n pairs hardly one is by chance).
//! Counts that are bursty look different more often, so a bursty log gets more stretches than it has changes of rate.

use serde::Serialize;

/// Stretches at most.
pub const STRETCHES_MAX: usize = 200;
/// Minutes are put together in equal parts first where there are more.
const PARTS_MAX: usize = 3000;

/// A part of the log with one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stretch {
    /// Since the begin of the log.
    pub begin_s: u64,
    /// Above 0.
    pub length_s: u64,
    /// Arrivals.
    pub count: u64,
}

impl Stretch {
    /// Arrivals per second.
    #[must_use]
    pub fn per_s(&self) -> f64 {
        self.count as f64 / self.length_s as f64
    }
}

/// The stretches of counts per bin of `bin_s` seconds; the last bin may be shorter, so that all take `span_s`.
pub(crate) fn stretches(counts: &[u64], bin_s: u64, span_s: u64) -> Vec<Stretch> {
    let each = counts.len().div_ceil(PARTS_MAX).max(1);
    let mut parts: Vec<Stretch> = (0_u64..)
        .zip(counts.chunks(each))
        .map(|(index, group)| {
            let begin_s = index * each as u64 * bin_s;
            let length_s = (group.len() as u64 * bin_s).min(span_s.saturating_sub(begin_s)).max(1);
            Stretch { begin_s, length_s, count: group.iter().sum() }
        })
        .collect();
    let limit = 2.0 * (parts.len() as f64).max(1.0).ln() + 8.0;
    let mut losses: Vec<f64> = parts.windows(2).map(|pair| loss(&pair[0], &pair[1])).collect();
    while let Some((at, least)) = losses.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) {
        if least > limit && parts.len() <= STRETCHES_MAX {
            break;
        }
        let right = parts.remove(at + 1);
        parts[at].length_s += right.length_s;
        parts[at].count += right.count;
        losses.remove(at);
        if at > 0 {
            losses[at - 1] = loss(&parts[at - 1], &parts[at]);
        }
        if let Some(next) = parts.get(at + 1) {
            losses[at] = loss(&parts[at], next);
        }
    }
    parts
}

/// Twice the logarithm of the likelihood ratio of two rates against one.
fn loss(a: &Stretch, b: &Stretch) -> f64 {
    let part = |count: u64, length_s: u64| {
        if count == 0 { 0.0 } else { count as f64 * (count as f64 / length_s as f64).ln() }
    };
    let both = part(a.count + b.count, a.length_s + b.length_s);
    (2.0 * (part(a.count, a.length_s) + part(b.count, b.length_s) - both)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn chance_makes_no_stretches_and_changes_do() {
        let mut rng = Seed(2).rng();
        let mut minute = |mean: f64| (mean + mean.sqrt() * rng.normal()).round().max(0.0) as u64;
        let flat: Vec<u64> = (0..500).map(|_| minute(600.0)).collect();
        assert_eq!(stretches(&flat, 60, 500 * 60).len(), 1);
        let steps: Vec<u64> = (0..300).map(|i| minute([600.0, 900.0, 0.0][i / 100])).collect();
        let found = stretches(&steps, 60, 300 * 60 - 7);
        assert_eq!(found.iter().map(|s| s.begin_s).collect::<Vec<_>>(), [0, 6000, 12_000]);
        assert_eq!(found.iter().map(|s| s.length_s).sum::<u64>(), 300 * 60 - 7);
        assert_eq!(found.iter().map(|s| s.count).sum::<u64>(), steps.iter().sum::<u64>());
    }

    #[test]
    fn there_are_never_too_many() {
        let wild: Vec<u64> = (0..100_000).map(|i| if i % 2 == 0 { 5 } else { 5000 }).collect();
        let found = stretches(&wild, 60, 6_000_000);
        assert!(found.len() <= STRETCHES_MAX);
        assert_eq!(found.iter().map(|s| s.count).sum::<u64>(), wild.iter().sum::<u64>());
        assert_eq!(stretches(&[3], 60, 7), [Stretch { begin_s: 0, length_s: 7, count: 3 }]);
        assert!(stretches(&[], 60, 0).is_empty());
    }
}
