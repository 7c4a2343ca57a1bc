//! Change points of a series by E-divisive (Matteson and James, Journal of the American Statistical Association 109,
//! 2014; R package `ecp`, function `e.divisive` with alpha = 1).
//!
//! With X the values of a segment before τ and Y those from τ to κ, n and m of them, the divergence is
//! Q = nm/(n+m) · (2/(nm) Σ|x−y| − 2/(n(n−1)) Σ|x−x'| − 2/(m(m−1)) Σ|y−y'|), each pair once; the best split is where Q
//! is largest over τ and κ. It stands if few permutations within the segments give as large a Q: p = (b+1)/(r+1).
//! Then both parts are split in their turn, until the best split left does not stand.
//! Invariant: no law is assumed; only the order of the values is permuted, from the seed handed in.

use super::{Refusal, check_values};
use units::Seed;

/// Fewest values of a segment: the divergence needs pairs within it.
const SEGMENT_MIN: usize = 2;
/// Most values: the work grows with their square for each permutation.
pub const VALUES_MAX: usize = 1_000;

/// How change points are looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Fewest values between two change points; 2 or more.
    pub segment_min: usize,
    /// Permutations for each p; 1 or more.
    pub permutations: u32,
    /// p up to which a change point stands, 0 to 1.
    pub significance: f64,
    /// Seed of the permutations.
    pub seed: Seed,
}

/// A place where a series changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value after the change.
    pub at: usize,
    /// The divergence Q of the split.
    pub divergence: f64,
    /// p of the permutation test.
    pub p_value: f64,
}

/// The change points of `values`, in the order of the series.
///
/// # Errors
/// [`Refusal`] with fewer than two segments of values, more than [`VALUES_MAX`], a value that is not finite, or values
/// that do not differ.
pub fn e_divisive(values: &[f64], settings: &Settings) -> Result<Vec<ChangePoint>, Refusal> {
    let segment = settings.segment_min.max(SEGMENT_MIN);
    check_values(values, 2 * segment)?;
    if values.len() > VALUES_MAX {
        return Err(Refusal::TooMany { most: VALUES_MAX, had: values.len() });
    }
    if values.iter().all(|value| *value == values[0]) {
        return Err(Refusal::NoSpread { had: values.len() });
    }
    let mut found: Vec<ChangePoint> = Vec::new();
    let mut borders = vec![0, values.len()];
    while let Some((at, divergence)) = best_split(values, &borders, segment) {
        let p_value = permuted(values, &borders, segment, divergence, settings);
        if p_value > settings.significance {
            break;
        }
        found.push(ChangePoint { at, divergence, p_value });
        borders.push(at);
        borders.sort_unstable();
    }
    found.sort_unstable_by_key(|point| point.at);
    Ok(found)
}

/// The largest divergence over all segments and where it is; `None` where no segment is long enough.
fn best_split(values: &[f64], borders: &[usize], segment: usize) -> Option<(usize, f64)> {
    let of_segment = |pair: &[usize]| {
        let (at, divergence) = Distances::of(&values[pair[0]..pair[1]]).best(segment)?;
        Some((pair[0] + at, divergence))
    };
    borders.windows(2).filter_map(of_segment).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
}

/// The share of permutations within segments whose best split is as good, the series itself counted in.
fn permuted(values: &[f64], borders: &[usize], segment: usize, divergence: f64, settings: &Settings) -> f64 {
    let permutations = settings.permutations.max(1);
    let mut as_good = 0_u32;
    for index in 0..permutations {
        let stream = ((borders.len() as u64) << 32) | u64::from(index);
        let mut rng = settings.seed.derive("e-divisive", stream).rng();
        let mut shuffled = values.to_vec();
        for pair in borders.windows(2) {
            rng.shuffle(&mut shuffled[pair[0]..pair[1]]);
        }
        // The same values in another order sum with other rounding.
        let enough = divergence * (1.0 - 1e-12);
        as_good +=
            u32::from(best_split(&shuffled, borders, segment).is_some_and(|(_, found)| found >= enough));
    }
    f64::from(as_good + 1) / (f64::from(permutations) + 1.0)
}

/// Sums of distances between values of one segment: `sums[i][j]` is Σ |x_a − x_b| over a < i, b < j.
struct Distances {
    n: usize,
    sums: Vec<f64>,
}

impl Distances {
    fn of(values: &[f64]) -> Self {
        let n = values.len();
        let width = n + 1;
        let mut sums = vec![0.0; width * width];
        for (row, first) in values.iter().enumerate() {
            let mut line = 0.0;
            for (column, second) in values.iter().enumerate() {
                line += (first - second).abs();
                sums[(row + 1) * width + column + 1] = sums[row * width + column + 1] + line;
            }
        }
        Self { n, sums }
    }

    /// Σ |x_a − x_b| over a in `from..to` and b in `low..high`.
    fn between(&self, (from, to): (usize, usize), (low, high): (usize, usize)) -> f64 {
        let at = |row: usize, column: usize| self.sums[row * (self.n + 1) + column];
        at(to, high) - at(from, high) - at(to, low) + at(from, low)
    }

    /// The best split: the first index of its second part, and its divergence.
    fn best(&self, segment: usize) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for split in segment..=self.n.checked_sub(segment)? {
            let before = self.between((0, split), (0, split));
            for end in split + segment..=self.n {
                let (n, m) = (split as f64, (end - split) as f64);
                let across = self.between((0, split), (split, end));
                let after = self.between((split, end), (split, end));
                // Sums within a part hold each pair twice.
                let energy = 2.0 * across / (n * m) - before / (n * (n - 1.0)) - after / (m * (m - 1.0));
                let divergence = n * m / (n + m) * energy;
                if best.is_none_or(|(_, most)| divergence > most) {
                    best = Some((split, divergence));
                }
            }
        }
        best
    }
}

#[cfg(test)]
#[path = "e_divisive_tests.rs"]
mod tests;
