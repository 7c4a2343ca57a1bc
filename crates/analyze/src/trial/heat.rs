//! Times of one trial over its course, as counts: a row a time span, a column a range of times.
//!
//! Counts come in one interval after the other. They are kept in fine columns, some to a doubling; in the end the range
//! that is used is divided into at most [`COLUMNS_MAX`] columns of equal width on a logarithmic axis.
//! Invariants: no count is lost; memory does not grow with the length of the trial: when there are too many rows,
//! neighbours are joined.

use schema::page::Heat;

/// Most columns.
const COLUMNS_MAX: usize = 40;
/// Most rows.
const ROWS_MAX: usize = 300;
/// Fine columns in a doubling of time.
pub(super) const FINE: u32 = 16;
/// Where the fine columns begin. Nothing over a socket is faster.
const SHORTEST_NS: f64 = 1_000.0;
/// Doublings that they cover: to beyond an hour.
const DOUBLINGS: u32 = 32;

#[derive(Clone, Debug)]
struct Row {
    start_ns: u64,
    end_ns: u64,
    counts: Vec<u64>,
}

/// Takes intervals in order of time.
#[derive(Clone, Debug)]
pub struct HeatMaker {
    /// Lower limits of the fine columns, and the end of the last.
    fine_ns: Vec<u64>,
    rows: Vec<Row>,
    /// Intervals that make one row.
    each: usize,
    /// Intervals in the last row.
    filled: usize,
}

impl Default for HeatMaker {
    fn default() -> Self {
        Self::new()
    }
}

impl HeatMaker {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::with(FINE)
    }

    /// With so many fine columns in a doubling, where times are not known more finely.
    pub(super) fn with(fine: u32) -> Self {
        let edge = |at: u32| (SHORTEST_NS * (f64::from(at) / f64::from(fine)).exp2()).round() as u64;
        Self { fine_ns: (0..=DOUBLINGS * fine).map(edge).collect(), rows: Vec::new(), each: 1, filled: 0 }
    }

    /// Begins the next interval. One that does not lie after the last is counted into it.
    pub fn interval(&mut self, start_ns: u64, end_ns: u64) {
        let before = self.rows.last().map_or(start_ns, |row| row.end_ns);
        if end_ns <= before && !self.rows.is_empty() {
            return;
        }
        // Where nothing was answered for a while there is a row without counts, so that rows have no gaps.
        if start_ns > before {
            self.span(before, start_ns);
        }
        self.span(start_ns.max(before), end_ns.max(start_ns));
    }

    /// Counts answers, or pauses, of the interval begun last.
    pub fn count(&mut self, response_ns: u64, answers: u64) {
        let at = self.fine_ns.partition_point(|edge| *edge <= response_ns).saturating_sub(1);
        let at = at.min(self.fine_ns.len() - 2);
        if let Some(row) = self.rows.last_mut() {
            row.counts[at] = row.counts[at].saturating_add(answers);
        }
    }

    fn span(&mut self, start_ns: u64, end_ns: u64) {
        if let Some(last) = self.rows.last_mut()
            && self.filled < self.each
        {
            last.end_ns = end_ns;
            self.filled += 1;
            return;
        }
        if self.rows.len() == ROWS_MAX {
            self.join();
            return self.span(start_ns, end_ns);
        }
        self.rows.push(Row { start_ns, end_ns, counts: vec![0; self.fine_ns.len() - 1] });
        self.filled = 1;
    }

    /// Two rows become one.
    fn join(&mut self) {
        let mut joined: Vec<Row> = Vec::with_capacity(ROWS_MAX);
        for (at, row) in std::mem::take(&mut self.rows).into_iter().enumerate() {
            match joined.last_mut() {
                Some(last) if at % 2 == 1 => {
                    last.end_ns = row.end_ns;
                    add(&mut last.counts, &row.counts);
                }
                _ => joined.push(row),
            }
        }
        self.rows = joined;
        // There were as many as can be, an even number, and each was full.
        self.each *= 2;
        self.filled = self.each;
    }

    /// The map; `None` where nothing was counted.
    #[must_use]
    pub fn finish(self) -> Option<Heat> {
        let is_used = |at: &usize| self.rows.iter().any(|row| row.counts[*at] > 0);
        let all = 0..self.fine_ns.len() - 1;
        let (first, last) = (all.clone().find(is_used)?, all.rev().find(is_used)?);
        let width = (last + 1 - first).div_ceil(COLUMNS_MAX);
        let columns = (last + 1 - first).div_ceil(width);
        // The last column is as wide as the others, also where that is beyond what was used.
        let edge = |column: usize| {
            let at = first + column * width;
            self.fine_ns.get(at).copied().unwrap_or_else(|| self.fine_ns[self.fine_ns.len() - 1])
        };
        let coarse = |row: &Row| -> Vec<u64> {
            row.counts[first..=last].chunks(width).map(|fine| fine.iter().fold(0, sum)).collect()
        };
        let rows: Vec<Vec<u64>> = self.rows.iter().map(coarse).collect();
        Some(Heat {
            start_ns: self.rows.first()?.start_ns,
            t_ns: self.rows.iter().map(|row| row.end_ns).collect(),
            edges_ns: (0..=columns).map(edge).collect(),
            count_max: rows.iter().flatten().copied().max().unwrap_or_default(),
            rows,
        })
    }
}

fn add(to: &mut [u64], from: &[u64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = to.saturating_add(*from));
}

fn sum(sum: u64, count: &u64) -> u64 {
    sum.saturating_add(*count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn total(heat: &Heat) -> u64 {
        heat.rows.iter().flatten().sum()
    }

    #[test]
    fn counts_are_where_they_belong() {
        let mut maker = HeatMaker::new();
        assert_eq!(maker.clone().finish(), None);
        maker.interval(0, S);
        maker.count(100_000, 5);
        maker.count(0, 1);
        maker.interval(2 * S, 3 * S);
        maker.count(10_000_000, 7);
        maker.count(u64::MAX, 2);
        let heat = maker.finish().unwrap();
        assert_eq!((heat.start_ns, &heat.t_ns[..]), (0, &[S, 2 * S, 3 * S][..]), "the gap is a row too");
        assert_eq!(heat.rows[1].iter().sum::<u64>(), 0);
        assert_eq!((total(&heat), heat.count_max), (15, 7));
        assert!(heat.edges_ns.is_sorted() && heat.edges_ns.len() <= COLUMNS_MAX + 1);
        for (row, time, count) in [(0, 100_000, 5), (2, 10_000_000, 7)] {
            let column = heat.edges_ns.partition_point(|edge| *edge <= time) - 1;
            assert_eq!(heat.rows[row][column], count);
        }
        assert_eq!((heat.rows[0][0], heat.rows[2].last()), (1, Some(&2)), "the ends hold what is beyond");
        assert!(heat.rows.iter().all(|row| row.len() + 1 == heat.edges_ns.len()));
    }

    #[test]
    fn a_narrow_range_has_fine_columns_and_a_long_trial_few_rows() {
        let mut maker = HeatMaker::new();
        for second in 0..10_007 {
            maker.interval(second * S, (second + 1) * S);
            maker.count(1_000_000 + second * 10, 1);
        }
        // One that does not follow is not lost.
        maker.interval(5, 6);
        maker.count(1_000_000, 1);
        let heat = maker.finish().unwrap();
        assert!(heat.rows.len() <= ROWS_MAX && heat.rows.len() > ROWS_MAX / 2 - 1, "{}", heat.rows.len());
        assert_eq!((total(&heat), heat.t_ns.last()), (10_008, Some(&(10_007 * S))));
        assert!(heat.edges_ns.len() <= 4, "{:?}", heat.edges_ns);
        assert!(heat.t_ns.windows(2).all(|pair| pair[0] < pair[1]));
        let lengths: Vec<u64> = heat.t_ns.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(lengths[..lengths.len() - 1].iter().all(|length| *length == lengths[0]), "{lengths:?}");
    }
}
