//! Is the target warm? A plain rule on the last six intervals, until PELT and MSER-5 take over (METHOD §5).
//!
//! The rule, for throughput and for the median response time alike:
//! 1. The median of the last three intervals lies within 2 % of the median of the three before, or within three
//!    standard errors of what counting alone does to them.
//! 2. The six do not all rise or all fall by more than 2 % in total: six independent values do that once in 360
//!    times, so a climb cannot hide behind few requests.

use crate::stats::order::median;
use schema::trial::IntervalLine;

/// Intervals on each side.
const SIDE: usize = 3;
/// Difference that counts as none.
const TOLERANCE: f64 = 0.02;
/// Standard errors that counting noise may take.
const STANDARD_ERRORS: f64 = 3.0;
/// Standard deviation of the median of three normal values, in units of theirs: √(1 − √3/π) (David & Nagaraja, *Order
/// Statistics*, 3rd ed. 2003, §3.2).
const MEDIAN_OF_THREE: f64 = 0.67;
/// Relative standard error of a sample median times √n, for the exponential law: 1/ln 2. Services near their limit
/// come close to it, steadier ones have less.
const MEDIAN_OF_EXPONENTIAL: f64 = 1.443;

/// Whether throughput and median response time have stopped moving, by the rule in this file's header.
///
/// False with fewer than six intervals, and where one of the last six is empty: no data is not level.
#[must_use]
pub fn is_level(intervals: &[IntervalLine]) -> bool {
    let Some(start) = intervals.len().checked_sub(2 * SIDE) else { return false };
    let Some(points) = intervals[start..].iter().map(Point::of).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let counts: Vec<f64> = points.iter().map(|point| point.answers).collect();
    let rates: Vec<f64> = points.iter().map(|point| point.rate_per_s).collect();
    let medians: Vec<f64> = points.iter().map(|point| point.p50_ns).collect();
    series_is_level(&rates, &counts, 1.0) && series_is_level(&medians, &counts, MEDIAN_OF_EXPONENTIAL)
}

/// One interval with answers in it.
struct Point {
    answers: f64,
    rate_per_s: f64,
    p50_ns: f64,
}

impl Point {
    fn of(line: &IntervalLine) -> Option<Self> {
        let length_ns = line.end_ns.checked_sub(line.start_ns).filter(|length| *length > 0)?;
        let answers = (line.completed > 0).then_some(line.completed as f64)?;
        // A median below the clock's step reads 0; half a nanosecond stands for it.
        let p50_ns = (line.p50_ns? as f64).max(0.5);
        Some(Self { answers, rate_per_s: answers / (length_ns as f64 / 1e9), p50_ns })
    }
}

/// `noise` is the relative standard error of one value times the root of its count.
fn series_is_level(values: &[f64], counts: &[f64], noise: f64) -> bool {
    let side = |series: &[f64]| Some((median(series.get(..SIDE)?)?, median(series.get(SIDE..)?)?));
    let (Some((before, after)), Some((count_before, count_after))) = (side(values), side(counts)) else {
        return false;
    };
    let standard_error = noise * MEDIAN_OF_THREE * (1.0 / count_before + 1.0 / count_after).sqrt();
    let allowed = TOLERANCE.max(STANDARD_ERRORS * standard_error);
    (after / before).ln().abs() <= allowed && !is_monotone(values)
}

/// All steps go the same way and lead further than the tolerance.
fn is_monotone(values: &[f64]) -> bool {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return false };
    let rises = values.windows(2).all(|pair| pair[1] > pair[0]);
    let falls = values.windows(2).all(|pair| pair[1] < pair[0]);
    (rises || falls) && (last / first).ln().abs() > TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    fn line(second: u64, completed: u64, p50_ns: Option<u64>) -> IntervalLine {
        let start_ns = second * 1_000_000_000;
        IntervalLine {
            start_ns,
            end_ns: start_ns + 1_000_000_000,
            completed,
            p50_ns,
            ..IntervalLine::default()
        }
    }

    fn check(name: &str, counts: &[u64], p50s_ns: &[u64], level: bool) {
        let lines: Vec<_> = (0..)
            .zip(counts.iter().zip(p50s_ns))
            .map(|(at, (count, p50))| line(at, *count, Some(*p50)))
            .collect();
        assert_eq!(is_level(&lines), level, "{name}");
    }

    #[test]
    fn shapes() {
        let flat = [1_000_000; 6];
        check("flat", &[100_000; 6], &flat, true);
        check("five intervals", &[100_000; 5], &flat, false);
        check("small wobble", &[100_000, 101_000, 99_000, 100_500, 99_500, 100_200], &flat, true);
        check("slow ramp", &[100_000, 100_600, 101_200, 101_800, 102_400, 103_000], &flat, false);
        check("ramp of p50", &[100_000; 6], &[900_000, 890_000, 880_000, 870_000, 860_000, 850_000], false);
        check("step", &[100_000, 100_000, 100_000, 110_000, 110_000, 110_000], &flat, false);
        check(
            "step long past",
            &[50_000, 100_000, 100_000, 100_000, 100_000, 100_000, 100_000],
            &[1_000_000; 7],
            true,
        );
        check("one outlier", &[100_000, 100_000, 100_000, 60_000, 100_000, 100_000], &flat, true);
        check("noise of small counts", &[95, 110, 88, 104, 91, 107], &flat, true);
        check("climb of small counts", &[80, 90, 95, 101, 108, 121], &flat, false);
        check("doubling of small counts", &[100, 92, 108, 205, 190, 199], &flat, false);
        check("zero throughput", &[0; 6], &flat, false);
        check("stalled once", &[100_000, 100_000, 0, 100_000, 100_000, 100_000], &flat, false);
        check("p50 of zero", &[100_000; 6], &[0; 6], true);
    }

    #[test]
    fn empty_lines_and_broken_clocks_are_not_level() {
        assert!(!is_level(&[]));
        let no_median: Vec<_> = (0..6).map(|at| line(at, 100, None)).collect();
        assert!(!is_level(&no_median));
        let mut backwards: Vec<_> = (0..6).map(|at| line(at, 100, Some(5))).collect();
        assert!(is_level(&backwards));
        backwards[3].end_ns = backwards[3].start_ns;
        assert!(!is_level(&backwards));
        backwards[3].end_ns = 0;
        assert!(!is_level(&backwards));
    }

    #[test]
    fn poisson_noise_is_level_in_nearly_every_window() {
        for mean in [30.0_f64, 1_000.0, 50_000.0] {
            let mut rng = Seed(11).derive("level", mean as u64).rng();
            let level = (0..500)
                .filter(|_| {
                    let lines: Vec<_> = (0..6)
                        .map(|at| {
                            let count: f64 = mean + mean.sqrt() * rng.normal();
                            let p50 = 1e6 * (1.0 + MEDIAN_OF_EXPONENTIAL / mean.sqrt() * rng.normal());
                            line(at, count.max(1.0) as u64, Some(p50.max(1.0) as u64))
                        })
                        .collect();
                    is_level(&lines)
                })
                .count();
            assert!(level >= 485, "{level} of 500 at {mean} a second");
        }
    }
}
