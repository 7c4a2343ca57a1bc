//! What a source shows at one moment, and the difference between two moments.
//!
//! Invariants: a counter that is missing on either side, or that went backwards (a restart), has no delta; integers
//! are subtracted before they become floating point, so no precision is lost on hosts that run for years.
//! Absent on purpose: time; a rate is the analyze crate's division.

use std::collections::BTreeMap;

/// Named values as `counters.ndjson` stores them.
pub type Values = BTreeMap<String, f64>;

/// One reading of a source of plain counters and gauges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Values as they stand.
    pub gauges: BTreeMap<&'static str, f64>,
    /// Totals that only grow while the source lives.
    pub counters: BTreeMap<&'static str, u64>,
}

impl Reading {
    /// A counter of this reading, absent where the source does not have it.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.counters.get(name).copied()
    }

    /// A gauge of this reading, absent where the source does not have it.
    #[must_use]
    pub fn gauge(&self, name: &str) -> Option<f64> {
        self.gauges.get(name).copied()
    }
}

/// A reading whose names are made while it is read: of CPUs, devices. Its reader bounds their number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedReading {
    /// Values as they stand.
    pub gauges: Values,
    /// Totals that only grow while the source lives.
    pub counters: BTreeMap<String, u64>,
}

/// Increase of every counter that both readings have and that did not go backwards.
#[must_use]
pub fn delta(previous: &Reading, now: &Reading) -> Values {
    now.counters
        .iter()
        .filter_map(|(name, value)| {
            let increase = value.checked_sub(previous.counter(name)?)?;
            Some(((*name).to_owned(), increase as f64))
        })
        .collect()
}

/// The gauges under the names of the file.
#[must_use]
pub(crate) fn named(gauges: &BTreeMap<&'static str, f64>) -> Values {
    gauges.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(pairs: &[(&'static str, u64)]) -> Reading {
        Reading { counters: pairs.iter().copied().collect(), ..Reading::default() }
    }

    #[test]
    fn a_delta_needs_both_sides_and_no_step_back() {
        let previous = counters(&[("steady", 5), ("grew", 5), ("restarted", 5), ("went", 5)]);
        let now = counters(&[("steady", 5), ("grew", 12), ("restarted", 4), ("came", 9)]);
        let expected = [("steady", 0.0), ("grew", 7.0)].map(|(name, value)| (name.to_owned(), value));
        assert_eq!(delta(&previous, &now), Values::from(expected));
    }

    #[test]
    fn subtraction_keeps_integers_beyond_the_precision_of_a_float() {
        let large = (1 << 60) + 1;
        let difference = delta(&counters(&[("ns", large)]), &counters(&[("ns", large + 1)]));
        assert_eq!(difference["ns"], 1.0);
    }
}
