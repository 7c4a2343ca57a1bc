//! What is too young for PELT: did the last six intervals move?
//!
//! PELT sees a step only when five intervals lie after it, and Mann–Kendall does not see a step at all among six
//! values. So throughput and median response time must also pass this: the median of the last three intervals lies
//! within 2 % of the median of the three before, or within three standard errors of what counting alone does to them.

use crate::stats::order::median;
use schema::steady::SteadySeries;
use schema::trial::IntervalLine;

/// Intervals on each side.
const SIDE: usize = 3;
/// Intervals that are looked at.
pub(super) const RECENT: usize = 2 * SIDE;
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

/// The first of throughput and median response time that moved in the last six intervals, and by what ratio less 1.
///
/// The intervals must have answers: what has none is left out, and fewer than six are not judged.
pub(super) fn moved(intervals: &[IntervalLine]) -> Option<(SteadySeries, f64)> {
    let start = intervals.len().checked_sub(RECENT)?;
    let points: Vec<Point> = intervals[start..].iter().map(Point::of).collect::<Option<_>>()?;
    let counts: Vec<f64> = points.iter().map(|point| point.answers).collect();
    let rates: Vec<f64> = points.iter().map(|point| point.rate_per_s).collect();
    let medians: Vec<f64> = points.iter().map(|point| point.p50_ns).collect();
    let throughput = step(&rates, &counts, 1.0).map(|change| (SteadySeries::Throughput, change));
    throughput
        .or_else(|| step(&medians, &counts, MEDIAN_OF_EXPONENTIAL).map(|change| (SteadySeries::P50, change)))
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

/// The ratio, less 1, of the medians of the two sides where it is larger than tolerated. `noise` is the relative
/// standard error of one value times the root of its count.
fn step(values: &[f64], counts: &[f64], noise: f64) -> Option<f64> {
    let side = |series: &[f64]| Some((median(series.get(..SIDE)?)?, median(series.get(SIDE..)?)?));
    let ((before, after), (count_before, count_after)) = (side(values)?, side(counts)?);
    let standard_error = noise * MEDIAN_OF_THREE * (1.0 / count_before + 1.0 / count_after).sqrt();
    let allowed = TOLERANCE.max(STANDARD_ERRORS * standard_error);
    let change = (after / before).ln();
    (change.abs() > allowed).then_some(change.exp_m1())
}
