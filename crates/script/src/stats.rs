//! What `done` gets: the summary, and distributions that can be called and indexed.
//!
//! Quantities are wrk's: latency in microseconds, rates per second. A value is the upper end of its histogram bin,
//! as everywhere in prony. `percentile` is wrk 4.1's, by rank ⌊p/100 · n + ½⌉, with one difference: ranks beyond the
//! last give the maximum, where wrk gives 0.

use hdrhistogram::Histogram;
use mlua::{Lua, MetaMethod, Result, Table, UserData, UserDataFields, UserDataMethods};
use units::Nanos;

/// Totals of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How long the load ran.
    pub duration: Nanos,
    /// Complete answers.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// What went wrong.
    pub errors: Errors,
}

/// Counts of what went wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// Connections that could not be opened.
    pub connect: u64,
    /// Failed reads.
    pub read: u64,
    /// Failed writes.
    pub write: u64,
    /// Answers with a status above 399.
    pub status: u64,
    /// Answers that came too late, or never.
    pub timeout: u64,
}

impl Summary {
    /// As the table that `done` gets.
    pub(crate) fn table(&self, lua: &Lua) -> Result<Table> {
        let Errors { connect, read, write, status, timeout } = self.errors;
        let errors = [("connect", connect), ("read", read), ("write", write), ("status", status)];
        let errors = lua.create_table_from(errors.into_iter().chain([("timeout", timeout)]))?;
        let table = lua.create_table()?;
        table.raw_set("duration", self.duration.0 / 1_000)?;
        table.raw_set("requests", self.requests)?;
        table.raw_set("bytes", self.bytes)?;
        table.raw_set("errors", errors)?;
        Ok(table)
    }
}

/// A distribution: its distinct values in ascending order, each with the count up to and with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stats {
    bins: Vec<(u64, u64)>,
    mean: f64,
    stdev: f64,
}

impl Stats {
    /// From a histogram of nanoseconds, in microseconds.
    pub(crate) fn micros(histogram: &Histogram<u64>) -> Self {
        Self::new(histogram, 1_000)
    }

    /// From a histogram as it is.
    pub(crate) fn plain(histogram: &Histogram<u64>) -> Self {
        Self::new(histogram, 1)
    }

    fn new(histogram: &Histogram<u64>, unit: u64) -> Self {
        let mut bins: Vec<(u64, u64)> = Vec::new();
        let (mut total, mut sum) = (0, 0.0);
        let middle = |value| histogram.median_equivalent(value) as f64 / unit as f64;
        for bin in histogram.iter_recorded() {
            total += bin.count_at_value();
            sum += middle(bin.value_iterated_to()) * bin.count_at_value() as f64;
            let value = bin.value_iterated_to() / unit;
            match bins.last_mut() {
                Some(last) if last.0 == value => last.1 = total,
                _ => bins.push((value, total)),
            }
        }
        let mean = if total == 0 { 0.0 } else { sum / total as f64 };
        let squares: f64 = histogram
            .iter_recorded()
            .map(|bin| (middle(bin.value_iterated_to()) - mean).powi(2) * bin.count_at_value() as f64)
            .sum();
        let stdev = if total < 2 { 0.0 } else { (squares / (total - 1) as f64).sqrt() };
        Self { bins, mean, stdev }
    }

    fn count(&self) -> u64 {
        self.bins.last().map_or(0, |bin| bin.1)
    }

    fn percentile(&self, percent: f64) -> u64 {
        let rank = (percent / 100.0 * self.count() as f64 + 0.5).round() as u64;
        let at = self.bins.partition_point(|bin| bin.1 < rank);
        self.bins.get(at).or(self.bins.last()).map_or(0, |bin| bin.0)
    }

    /// The distinct value number `index`, from 1, and how often it occurred; zeros beyond the ends.
    fn at(&self, index: f64) -> (u64, u64) {
        let Some(at) = (index as usize).checked_sub(1) else { return (0, 0) };
        let before = at.checked_sub(1).and_then(|at| self.bins.get(at)).map_or(0, |bin| bin.1);
        self.bins.get(at).map_or((0, 0), |bin| (bin.0, bin.1 - before))
    }
}

impl UserData for Stats {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("min", |_, stats| Ok(stats.bins.first().map_or(0, |bin| bin.0)));
        fields.add_field_method_get("max", |_, stats| Ok(stats.bins.last().map_or(0, |bin| bin.0)));
        fields.add_field_method_get("mean", |_, stats| Ok(stats.mean));
        fields.add_field_method_get("stdev", |_, stats| Ok(stats.stdev));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, stats, percent: f64| Ok(stats.percentile(percent)));
        methods.add_meta_method(MetaMethod::Call, |_, stats, index: f64| Ok(stats.at(index)));
        methods.add_meta_method(MetaMethod::Len, |_, stats, ()| Ok(stats.bins.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Stats {
        let mut histogram = Histogram::new_with_bounds(1, 1_000_000, 5).unwrap();
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        Stats::plain(&histogram)
    }

    #[test]
    fn ranks_are_wrks() {
        let stats = of(&[10, 20, 20, 30, 40, 50, 60, 70, 80, 90]);
        let cases =
            [(0.0, 10), (10.0, 20), (50.0, 50), (90.0, 90), (99.999, 90), (100.0, 90), (f64::NAN, 10)];
        for (percent, expected) in cases {
            assert_eq!(stats.percentile(percent), expected, "{percent}");
        }
        assert_eq!((stats.at(1.0), stats.at(2.0), stats.at(9.0)), ((10, 1), (20, 2), (90, 1)));
        assert_eq!(
            (stats.at(10.0), stats.at(0.0), stats.at(-1.0), stats.at(f64::NAN)),
            ((0, 0), (0, 0), (0, 0), (0, 0))
        );
    }

    #[test]
    fn moments_are_of_the_sample() {
        let stats = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(stats.mean, 5.0);
        assert!((stats.stdev - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!((of(&[3]).mean, of(&[3]).stdev), (3.0, 0.0));
        let none = of(&[]);
        assert_eq!((none.mean, none.stdev, none.percentile(50.0), none.at(1.0)), (0.0, 0.0, 0, (0, 0)));
    }
}
