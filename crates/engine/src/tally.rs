//! Counts of times as a worker keeps them: the buckets of a METHOD §10 histogram, in pages that exist once a time fell
//! into them.
//!
//! A histogram of 1 ns to 1 h has 33,792 buckets, of which one second of a load touches a few octaves. Emptying or adding
//! whole histograms once a second took the worker's CPU for longer than most answers take, so a tally empties and adds
//! only what was touched.
//!
//! Invariant: [`AddTo`] adds to a histogram just what recording every time into it would have. Memory is taken once for
//! each octave that ever occurs, at most 132 KiB, and kept.

use crate::standing::give_way;
use hdrhistogram::Histogram;
use units::{TIME_DIGITS, TIME_NS_MAX};

/// Buckets of a page: one octave at 3 significant digits (HdrHistogram's half of 2,048 sub-buckets).
const PAGE_BITS: u32 = 10;
const PAGE: usize = 1 << PAGE_BITS;
/// Pages up to [`TIME_NS_MAX`]: its 42 bits less the 11 of the first two pages, and those two.
const PAGES: usize = 33;

/// How often each time occurred.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pages: [Option<Box<[u32; PAGE]>>; PAGES],
    /// A bit for each page that is not empty.
    touched: u64,
    count: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self { pages: [const { None }; PAGES], touched: 0, count: 0 }
    }
}

/// An empty histogram of METHOD §10: 3 significant digits, 1 ns to 1 h.
#[must_use]
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, TIME_NS_MAX, TIME_DIGITS).expect("the bounds are valid")
}

/// Something that holds times and can be emptied.
pub trait Store {
    /// One without times.
    fn empty() -> Self;
    /// Records `count` times of `time_ns`; longer ones than an hour count as an hour.
    fn note(&mut self, time_ns: u64, count: u32);
    /// Empties it, keeping its memory.
    fn clear(&mut self);
}

/// Something whose times can be added to `Sum`. The order of additions does not matter.
pub trait AddTo<Sum> {
    /// Adds every time of `self` to `sum`.
    fn add_to(&self, sum: &mut Sum);
}

impl Tally {
    /// Page and place of a time, as HdrHistogram's buckets are laid out: the first 1,024 nanoseconds one by one, then
    /// each octave in 1,024 steps.
    #[inline]
    const fn place(time_ns: u64) -> (usize, usize) {
        let octave = (u64::BITS - (time_ns >> PAGE_BITS).leading_zeros()) as usize;
        let shift = octave.saturating_sub(1);
        (octave, (time_ns >> shift) as usize & (PAGE - 1))
    }

    /// The lowest time of a place.
    const fn time_ns(page: usize, place: usize) -> u64 {
        match page {
            0 => place as u64,
            _ => ((PAGE + place) as u64) << (page - 1),
        }
    }

    /// How many times it holds.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// The first use of a page since the tally was emptied.
    #[cold]
    fn touch(&mut self, page: usize) -> &mut [u32; PAGE] {
        self.touched |= 1 << page;
        self.pages[page].get_or_insert_with(|| Box::new([0; PAGE]))
    }

    fn touched_pages(&self) -> impl Iterator<Item = (usize, &[u32; PAGE])> {
        let is_touched = |(page, _): &(usize, _)| self.touched >> page & 1 == 1;
        self.pages.iter().enumerate().filter(is_touched).filter_map(|(n, page)| Some((n, page.as_deref()?)))
    }
}

impl Store for Tally {
    fn empty() -> Self {
        Self::default()
    }

    #[inline]
    fn note(&mut self, time_ns: u64, count: u32) {
        let (page, place) = Self::place(time_ns.min(TIME_NS_MAX));
        let counts = match &mut self.pages[page] {
            Some(counts) if self.touched >> page & 1 == 1 => &mut **counts,
            _ => self.touch(page),
        };
        counts[place] = counts[place].saturating_add(count);
        self.count += u64::from(count);
    }

    fn clear(&mut self) {
        for (n, page) in self.pages.iter_mut().enumerate() {
            if let (1, Some(page)) = (self.touched >> n & 1, page) {
                page.fill(0);
            }
        }
        (self.touched, self.count) = (0, 0);
    }
}

impl AddTo<Tally> for Tally {
    fn add_to(&self, sum: &mut Tally) {
        for (n, page) in self.touched_pages() {
            let mine = sum.touch(n);
            mine.iter_mut().zip(page).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
        }
        sum.count += self.count;
    }
}

impl AddTo<Histogram<u64>> for Tally {
    fn add_to(&self, sum: &mut Histogram<u64>) {
        for (n, page) in self.touched_pages() {
            for (place, count) in page.iter().enumerate().filter(|(_, count)| **count > 0) {
                sum.note(Self::time_ns(n, place), *count);
            }
            give_way();
        }
    }
}

impl Store for Histogram<u64> {
    fn empty() -> Self {
        new_histogram()
    }

    fn note(&mut self, time_ns: u64, count: u32) {
        // Not the library's saturating way: of a histogram that grows it takes the end of today for the longest time.
        self.record_n(time_ns.min(TIME_NS_MAX), u64::from(count))
            .expect("a histogram of times holds an hour");
    }

    fn clear(&mut self) {
        if !self.is_empty() {
            self.reset();
            give_way();
        }
    }
}

impl AddTo<Self> for Histogram<u64> {
    fn add_to(&self, sum: &mut Self) {
        if !self.is_empty() {
            sum.add(self).expect("all time histograms have the same bounds");
            give_way();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Times of every size, the borders of octaves among them.
    fn times() -> impl Strategy<Value = u64> {
        prop_oneof![
            (0..64_u32, 0..3_u64).prop_map(|(bits, by)| (1_u64 << bits).wrapping_add(by).wrapping_sub(1)),
            any::<u64>(),
            0..5_000_u64,
            Just(TIME_NS_MAX),
        ]
    }

    fn histogram(tally: &Tally) -> Histogram<u64> {
        let mut sum = new_histogram();
        tally.add_to(&mut sum);
        sum
    }

    fn check(tally: &Tally, wanted: &Histogram<u64>) {
        let found = histogram(tally);
        assert!(&found == wanted, "{} and {} times", found.len(), wanted.len());
        assert_eq!((found.min(), found.max(), found.len()), (wanted.min(), wanted.max(), wanted.len()));
        assert_eq!(tally.count(), wanted.len());
    }

    proptest! {
        #[test]
        fn a_tally_is_the_histogram_of_its_times(
            first in prop::collection::vec((times(), 1..4_u32), 0..200),
            second in prop::collection::vec((times(), 1..4_u32), 0..200),
        ) {
            let mut tallies = [Tally::default(), Tally::default()];
            let mut both = new_histogram();
            for (tally, times) in tallies.iter_mut().zip([&first, &second]) {
                let mut alone = new_histogram();
                for (time_ns, count) in times {
                    tally.note(*time_ns, *count);
                    alone.note(*time_ns, *count);
                }
                check(tally, &alone);
                alone.add_to(&mut both);
            }
            let [mut sum, part] = tallies;
            part.add_to(&mut sum);
            check(&sum, &both);
            sum.clear();
            check(&sum, &new_histogram());
            // Used again, nothing of before is left in its pages.
            part.add_to(&mut sum);
            prop_assert_eq!(histogram(&sum), histogram(&part));
        }
    }
}
