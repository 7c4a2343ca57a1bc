//! A histogram that takes its memory with the first time that is added to it.
//!
//! A METHOD §10 histogram has 264 KiB, all of which is written when it is made. Of the times of an interval several never
//! occur in most loads (names, TLS, sessions, wrong answers), and sums exist of each. Most others are far below an hour,
//! so a histogram here ends at the octave of its longest time and grows with it: times of 10 ms need 120 KiB, lags of
//! 10 µs 40.
//!
//! Invariant: holds and answers what a histogram of METHOD §10 would, also before it has memory of its own. Only the
//! highest value that it could hold differs, which `record::hlog` writes as an hour, and a copy is compared by bytes.

use crate::tally::{AddTo, Store, Tally};
use hdrhistogram::Histogram;
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;
use units::TIME_DIGITS;

/// Read in place of every histogram that has no memory yet.
static EMPTY: LazyLock<Histogram<u64>> = LazyLock::new(growing);

/// Empty, and as small as a histogram of METHOD §10's digits can be. It grows with what is recorded or added.
fn growing() -> Histogram<u64> {
    Histogram::new(TIME_DIGITS).expect("the digits are valid")
}

/// A histogram of METHOD §10. To change it is to give it memory, which it keeps.
#[derive(Clone, Debug, Default)]
pub struct LazyHistogram(Option<Box<Histogram<u64>>>);

impl Deref for LazyHistogram {
    type Target = Histogram<u64>;

    fn deref(&self) -> &Histogram<u64> {
        self.0.as_deref().unwrap_or_else(|| &EMPTY)
    }
}

impl DerefMut for LazyHistogram {
    fn deref_mut(&mut self) -> &mut Histogram<u64> {
        self.0.get_or_insert_with(|| Box::new(growing()))
    }
}

impl PartialEq for LazyHistogram {
    fn eq(&self, other: &Self) -> bool {
        // The library looks for every bucket of the left one in the right one, which may have fewer.
        let (short, long) = if self.high() < other.high() { (self, other) } else { (other, self) };
        **short == **long
    }
}

impl From<Histogram<u64>> for LazyHistogram {
    fn from(histogram: Histogram<u64>) -> Self {
        Self(Some(Box::new(histogram)))
    }
}

impl Store for LazyHistogram {
    fn empty() -> Self {
        Self::default()
    }

    fn note(&mut self, time_ns: u64, count: u32) {
        (**self).note(time_ns, count);
    }

    fn clear(&mut self) {
        if let Some(histogram) = &mut self.0 {
            Store::clear(&mut **histogram);
        }
    }
}

impl AddTo<LazyHistogram> for Tally {
    fn add_to(&self, sum: &mut LazyHistogram) {
        if self.count() > 0 {
            self.add_to(&mut **sum);
        }
    }
}

impl AddTo<Self> for LazyHistogram {
    fn add_to(&self, sum: &mut Self) {
        if !self.is_empty() {
            AddTo::<Histogram<u64>>::add_to(&**self, &mut **sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::new_histogram;

    #[test]
    fn memory_comes_with_the_first_time_and_changes_no_number() {
        let (mut lazy, mut plain) = (LazyHistogram::default(), new_histogram());
        assert_eq!(*lazy, plain);
        Store::clear(&mut lazy);
        Tally::default().add_to(&mut lazy);
        LazyHistogram::default().add_to(&mut lazy);
        assert!(lazy.0.is_none(), "nothing was added");
        let mut short = LazyHistogram::default();
        short.note(1_500, 1);
        assert!(short.high() < 4_096, "it ends at the octave of its longest time: {}", short.high());
        let mut tally = Tally::default();
        for (time_ns, count) in [(0, 3), (1_500, 1), (u64::MAX, 2)] {
            Store::note(&mut plain, time_ns, count);
            tally.note(time_ns, count);
        }
        tally.add_to(&mut lazy);
        assert_eq!((&*lazy, lazy.max(), lazy.min()), (&plain, plain.max(), plain.min()));
        let mut sum = LazyHistogram::default();
        lazy.add_to(&mut sum);
        assert_eq!(*sum, plain);
        Store::clear(&mut sum);
        assert_eq!(sum, LazyHistogram::default());
    }
}
