//! How many digits the ends of an interval need: as few as tell them apart.
//!
//! `ratio 1.1 (95 % interval 1.1 to 1.1)` looks like a mistake, so ends that differ are shown with the digits in which
//! they do. Every style asks here.

/// Ends that differ only beyond this many more digits than usual are one number.
const MORE_MAX: usize = 3;

/// How many more digits than usual tell the ends apart, from 0 to 3; none where no such number does, or where the ends
/// are equal. `text` gives an end with so many more digits.
#[must_use]
pub fn more_digits((low, high): (f64, f64), text: impl Fn(f64, usize) -> String) -> usize {
    let differ = |more: &usize| text(low, *more) != text(high, *more);
    if low == high { 0 } else { (0..=MORE_MAX).find(differ).unwrap_or(0) }
}

/// An estimate with the ends of its interval, all with the digits that tell the ends apart. Without an estimate,
/// `unknown`.
#[must_use]
pub fn apart(
    estimate: Option<f64>,
    (low, high): (f64, f64),
    text: impl Fn(f64, usize) -> String,
) -> [String; 3] {
    let more = more_digits((low, high), &text);
    [estimate.map_or("unknown".to_owned(), |value| text(value, more)), text(low, more), text(high, more)]
}
