//! Intervals whose parts come from several sources (threads, processes, later agents), put together in order.
//!
//! Invariants: an interval is given out once, after all earlier ones, with the part of every source that has not ended
//! before it. A source that says nothing for too long is named instead of being waited for without end.

use crate::control::Timeline;
use std::collections::BTreeMap;
use std::time::Duration;

/// Beyond the longest time in which a healthy source may have nothing to say.
const GRACE: Duration = Duration::from_secs(10);

/// Parts of intervals, by interval.
#[derive(Debug)]
pub struct Assembly<T> {
    parts: BTreeMap<u64, Vec<(usize, T)>>,
    /// By source, whether it has ended.
    ended: Vec<bool>,
    /// How many have not.
    running: usize,
    silence_max: Duration,
    silence: Duration,
}

/// Sources that have said nothing for too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overdue {
    /// Their numbers, in order; at least one.
    pub sources: Vec<usize>,
    /// How long nothing came that was waited for.
    pub silence: Duration,
}

impl<T> Assembly<T> {
    /// For the sources of one load.
    #[must_use]
    pub fn on(timeline: &Timeline) -> Self {
        Self::new(Duration::from_nanos(timeline.interval_ns), Duration::from_nanos(timeline.drain_ns))
    }

    /// For sources that end an interval at least every `interval`, and may be silent for `drain` at the end.
    #[must_use]
    pub(crate) fn new(interval: Duration, drain: Duration) -> Self {
        let silence_max = interval.saturating_add(drain).saturating_add(GRACE);
        Self { parts: BTreeMap::new(), ended: Vec::new(), running: 0, silence_max, silence: Duration::ZERO }
    }

    /// A further source; returns its number, counted from 0.
    pub fn join(&mut self) -> usize {
        self.ended.push(false);
        self.running += 1;
        self.ended.len() - 1
    }

    /// A source has ended interval `index`.
    pub fn put(&mut self, source: usize, index: u64, part: T) {
        self.parts.entry(index).or_default().push((source, part));
    }

    /// A source has nothing more to give.
    pub fn end(&mut self, source: usize) {
        if !std::mem::replace(&mut self.ended[source], true) {
            self.running -= 1;
        }
    }

    /// Whether every source has ended; intervals may be left.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.running == 0
    }

    /// The earliest interval, once each source has given its part or has ended: parts by source, in the order in which
    /// they came.
    pub fn take(&mut self) -> Option<(u64, Vec<(usize, T)>)> {
        let (_, parts) = self.parts.first_key_value()?;
        // Most calls end with the first comparison: there may be thousands of sources.
        if parts.len() < self.running || !self.missing(parts).is_empty() {
            return None;
        }
        self.silence = Duration::ZERO;
        self.parts.pop_first()
    }

    /// Nothing came while the caller waited for this long. Only such waiting counts: where the whole machine stood
    /// still, nobody is late.
    ///
    /// # Errors
    /// The sources that everything waits for, once they have been silent for too long.
    pub fn waited(&mut self, time: Duration) -> Result<(), Overdue> {
        self.silence += time;
        if self.silence <= self.silence_max {
            return Ok(());
        }
        let given = self.parts.first_key_value().map_or(&[][..], |(_, parts)| parts);
        Err(Overdue { sources: self.missing(given), silence: self.silence })
    }

    /// Sources that have not ended and are not among `given`.
    fn missing(&self, given: &[(usize, T)]) -> Vec<usize> {
        let mut is_there = self.ended.clone();
        given.iter().for_each(|(source, _)| is_there[*source] = true);
        is_there.iter().enumerate().filter(|(_, is_there)| !**is_there).map(|(source, _)| source).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn of(sources: usize) -> Assembly<&'static str> {
        let mut assembly = Assembly::new(SECOND, 5 * SECOND);
        (0..sources).for_each(|number| assert_eq!(assembly.join(), number));
        assembly
    }

    #[test]
    fn an_interval_waits_for_every_source_and_for_those_before_it() {
        let mut assembly = of(2);
        assembly.put(1, 0, "b0");
        assembly.put(1, 1, "b1");
        assert_eq!(assembly.take(), None);
        assembly.put(0, 0, "a0");
        assert_eq!(assembly.take(), Some((0, vec![(1, "b0"), (0, "a0")])));
        assert_eq!(assembly.take(), None);
        assembly.end(0);
        assert_eq!(assembly.take(), Some((1, vec![(1, "b1")])), "who has ended is not waited for");
        assert!(!assembly.has_ended());
        assembly.end(1);
        assert!(assembly.has_ended() && assembly.take().is_none());
    }

    #[test]
    fn who_is_silent_for_too_long_is_named() {
        let mut assembly = of(3);
        assembly.put(1, 0, "b0");
        assembly.end(2);
        for _ in 0..16 {
            assert_eq!(assembly.waited(SECOND), Ok(()));
        }
        assert_eq!(assembly.waited(SECOND), Err(Overdue { sources: vec![0], silence: 17 * SECOND }));
        assembly.put(0, 0, "a0");
        assert!(assembly.take().is_some());
        assert_eq!(assembly.waited(SECOND), Ok(()), "an interval ends the silence");
        let silent = (0..17).find_map(|_| assembly.waited(SECOND).err()).unwrap();
        assert_eq!(silent.sources, [0, 1], "nothing has come of the next interval");
    }

    proptest! {
        #[test]
        fn every_part_comes_out_once_and_in_order(
            lengths in prop::collection::vec(0..6_u64, 1..5),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 40),
        ) {
            let mut assembly = Assembly::new(SECOND, SECOND);
            lengths.iter().for_each(|_| { assembly.join(); });
            let mut next = vec![0; lengths.len()];
            let (mut found, mut picks) = (Vec::new(), picks.into_iter());
            while !assembly.has_ended() {
                let running: Vec<usize> = (0..lengths.len()).filter(|one| !assembly.ended[*one]).collect();
                let source = picks.next().map_or(running[0], |pick| *pick.get(&running));
                if next[source] == lengths[source] {
                    assembly.end(source);
                } else {
                    assembly.put(source, next[source], ());
                    next[source] += 1;
                }
                found.extend(std::iter::from_fn(|| assembly.take()));
            }
            found.extend(std::iter::from_fn(|| assembly.take()));
            let longest = *lengths.iter().max().unwrap();
            prop_assert_eq!(found.iter().map(|(index, _)| *index).collect::<Vec<_>>(), (0..longest).collect::<Vec<_>>());
            for (index, parts) in found {
                let mut sources: Vec<usize> = parts.into_iter().map(|(source, ())| source).collect();
                sources.sort_unstable();
                let wanted: Vec<usize> = (0..lengths.len()).filter(|one| lengths[*one] > index).collect();
                prop_assert_eq!(sources, wanted);
            }
        }
    }
}
