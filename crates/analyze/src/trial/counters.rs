//! Every counter of one trial over all of its time, for charts: gauges as they stand, increases per second.
//!
//! The rules of what belongs to which interval are those of [`super::signals`]. Intervals of a long trial are joined,
//! so that a chart has at most [`SPANS_MAX`] points.
//! Invariants: every value is finite; a counter that was never read is left out; the number of counters and of points
//! is bounded.

use super::signals::SignalsMaker;
use schema::counter_name::counter_unit;
use schema::page::{CounterCurve, CounterKind};
use schema::trial::{CounterLine, IntervalLine};
use std::collections::{BTreeMap, BTreeSet};

/// Most points of a chart: as many as a wide screen has pixels to tell apart.
const SPANS_MAX: usize = 600;
/// Digits that are kept of a value: a chart shows fewer, and a page has hundreds of thousands of values.
const DIGITS: i32 = 6;

/// Takes lines in order of time.
#[derive(Clone, Debug)]
pub struct CounterCurves {
    spans: Vec<(u64, u64)>,
    maker: SignalsMaker,
    sources: BTreeSet<String>,
}

impl CounterCurves {
    /// For all intervals of a trial, warm-up and drain too.
    #[must_use]
    pub fn new(intervals: &[IntervalLine]) -> Self {
        let spans = joined(intervals);
        Self { maker: SignalsMaker::on(spans.clone()), spans, sources: BTreeSet::new() }
    }

    /// Takes one line.
    pub fn add(&mut self, line: &CounterLine) {
        if !self.sources.contains(&line.source) {
            self.sources.insert(line.source.clone());
        }
        self.maker.add(line);
    }

    /// Ends of the spans that the values belong to.
    #[must_use]
    pub fn ends_ns(&self) -> Vec<u64> {
        self.spans.iter().map(|(_, end)| *end).collect()
    }

    /// What came together, by source and name.
    #[must_use]
    pub fn finish(self) -> Vec<CounterCurve> {
        let Self { spans, maker, sources } = self;
        let signals = maker.finish();
        let per_s = |(value, (start, end)): (Option<f64>, &(u64, u64))| {
            value.map(|value| value * 1e9 / (end - start) as f64)
        };
        let rates = |values: Vec<Option<f64>>| values.into_iter().zip(&spans).map(per_s).collect();
        let gauges = curves(signals.gauges, CounterKind::Gauge, &sources, |values| values);
        let deltas = curves(signals.deltas, CounterKind::Delta, &sources, rates);
        let mut all: Vec<CounterCurve> = gauges.into_iter().chain(deltas).collect();
        all.sort_by(|a, b| (&a.source, &a.name, a.kind).cmp(&(&b.source, &b.name, b.kind)));
        all
    }
}

fn curves(
    found: BTreeMap<String, Vec<Option<f64>>>,
    kind: CounterKind,
    sources: &BTreeSet<String>,
    scaled: impl Fn(Vec<Option<f64>>) -> Vec<Option<f64>>,
) -> Vec<CounterCurve> {
    let curve = |(key, values): (String, Vec<Option<f64>>)| {
        let (source, name) = parts(&key, sources)?;
        let values: Vec<_> = scaled(values).into_iter().map(|value| value.and_then(rounded)).collect();
        let is_read = values.iter().any(Option::is_some);
        let unit = counter_unit(name);
        is_read.then(|| CounterCurve { source: source.to_owned(), name: name.to_owned(), kind, unit, values })
    };
    found.into_iter().filter_map(curve).collect()
}

/// `source/name` taken apart; either may hold a `/` itself.
fn parts<'a>(key: &'a str, sources: &BTreeSet<String>) -> Option<(&'a str, &'a str)> {
    let mut borders = key.rmatch_indices('/').map(|(at, _)| (&key[..at], &key[at + 1..]));
    borders.find(|(source, _)| sources.contains(*source))
}

/// Six digits are kept.
fn rounded(value: f64) -> Option<f64> {
    if value == 0.0 || !value.is_finite() {
        return value.is_finite().then_some(0.0);
    }
    let place = DIGITS - 1 - value.abs().log10().floor() as i32;
    // Beyond these powers of ten the value itself is all that can be said.
    if !(-300..=300).contains(&place) {
        return Some(value);
    }
    let scale = 10_f64.powi(place.abs());
    let kept = if place >= 0 { (value * scale).round() / scale } else { (value / scale).round() * scale };
    kept.is_finite().then_some(kept)
}

/// The intervals as spans, as many neighbours as needed joined into one.
fn joined(intervals: &[IntervalLine]) -> Vec<(u64, u64)> {
    let mut spans: Vec<(u64, u64)> = intervals
        .iter()
        .filter(|line| line.end_ns > line.start_ns)
        .map(|line| (line.start_ns, line.end_ns))
        .collect();
    spans.sort_unstable();
    let each = spans.len().div_ceil(SPANS_MAX).max(1);
    spans.chunks(each).map(|chunk| (chunk[0].0, chunk[chunk.len() - 1].1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::page::CounterUnit;

    const S: u64 = 1_000_000_000;

    fn intervals(count: u64, length_ns: u64) -> Vec<IntervalLine> {
        let line = |at| IntervalLine {
            start_ns: at * length_ns,
            end_ns: (at + 1) * length_ns,
            ..IntervalLine::default()
        };
        (0..count).map(line).collect()
    }

    fn line(source: &str, t_ns: u64, gauge: f64, delta: f64) -> CounterLine {
        CounterLine {
            t_ns,
            source: source.to_owned(),
            gauges: BTreeMap::from([("rss_bytes".to_owned(), gauge)]),
            deltas: BTreeMap::from([("cpu_ns".to_owned(), delta)]),
            ..CounterLine::default()
        }
    }

    #[test]
    fn increases_are_per_second_and_gauges_as_they_stand() {
        let mut curves = CounterCurves::new(&intervals(2, S / 2));
        assert_eq!(curves.ends_ns(), [S / 2, S]);
        for (at, gauge, delta) in [(0, 1.0, 9.0), (S / 2, 2.0, 10.0), (S, 1.0 / 3.0, 20.0)] {
            curves.add(&line("a/b", at, gauge, delta));
        }
        let found = curves.finish();
        let told: Vec<_> = found.iter().map(|one| (&*one.source, &*one.name, one.kind, one.unit)).collect();
        assert_eq!(
            told,
            [
                ("a/b", "cpu_ns", CounterKind::Delta, Some(CounterUnit::Ns)),
                ("a/b", "rss_bytes", CounterKind::Gauge, Some(CounterUnit::Bytes))
            ]
        );
        assert_eq!(found[0].values, [Some(20.0), Some(40.0)]);
        assert_eq!(found[1].values, [Some(2.0), Some(0.333_333)]);
    }

    #[test]
    fn long_trials_have_no_more_points_and_what_was_not_read_is_absent() {
        let curves = CounterCurves::new(&intervals(36_001, S));
        assert!(curves.ends_ns().len() <= SPANS_MAX && curves.ends_ns().last() == Some(&(36_001 * S)));
        assert_eq!(curves.finish(), []);
        let mut curves = CounterCurves::new(&[]);
        curves.add(&line("s", S, 1.0, 1.0));
        assert_eq!(curves.finish(), []);
    }

    #[test]
    fn rounding_never_makes_a_value_that_is_not_finite() {
        for (value, expected) in [
            (1_234_567.0, Some(1_234_570.0)),
            (-0.001_234_567_8, Some(-0.001_234_57)),
            (0.0, Some(0.0)),
            (f64::NAN, None),
            (f64::INFINITY, None),
            (5e-324, Some(5e-324)),
        ] {
            assert_eq!(rounded(value), expected);
        }
        assert!(rounded(f64::MAX).is_none_or(f64::is_finite));
    }
}
