//! Windows of what was really sent, for the goodness-of-fit check: joined over intervals, each complete in itself.

use analyze::arrivals::Sent;
use engine::IntervalData;

/// Requests that are kept at most, but for those of the interval in which there are so many; more say no more.
pub(crate) const KEPT_MAX: usize = 200_000;

/// Gathers the stamps of the measured intervals.
#[derive(Debug, Default)]
pub(crate) struct SentWindows {
    windows: Vec<Vec<Sent>>,
    kept: usize,
    /// Whether the last window is complete up to the end of its interval, so that the next one goes on with it.
    is_open: bool,
}

impl SentWindows {
    /// Adds a measured interval.
    pub(crate) fn add(&mut self, data: &IntervalData) {
        let sent = &data.sent;
        if sent.stamps.is_empty() || self.kept >= KEPT_MAX {
            self.is_open = false;
            return;
        }
        if !self.is_open {
            self.windows.push(Vec::new());
        }
        let (begin_ns, goes_on) = (data.counts.start_ns, self.is_open);
        let window = self.windows.last_mut().expect("a window was opened");
        // What was intended before a window's begin and written late in it has neighbours that are not in it.
        let stamps = sent.stamps.iter().filter(|(intended_ns, _)| goes_on || *intended_ns >= begin_ns);
        let before = window.len();
        window.extend(stamps.map(|&(intended_ns, written_ns)| Sent { intended_ns, written_ns }));
        self.kept += window.len() - before;
        self.is_open = sent.complete_to_ns >= data.counts.end_ns;
        if !self.is_open {
            trim(window, sent.complete_to_ns);
        }
    }

    /// The windows; the last is cut where late requests may be missing.
    pub(crate) fn finish(mut self, end_ns: u64) -> Vec<Vec<Sent>> {
        if let (true, Some(window)) = (self.is_open, self.windows.last_mut()) {
            trim(window, end_ns);
        }
        self.windows
    }
}

/// Drops the requests near the end of a window that ends at `end_ns`: others of their time may have been written after
/// it.
fn trim(window: &mut Vec<Sent>, end_ns: u64) {
    let lag_ns =
        window.iter().map(|sent| sent.written_ns.saturating_sub(sent.intended_ns)).max().unwrap_or(0);
    window.retain(|sent| sent.intended_ns + lag_ns <= end_ns);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(start_ns: u64, end_ns: u64, complete_to_ns: u64, stamps: &[(u64, u64)]) -> IntervalData {
        let mut data = IntervalData::default();
        (data.counts.start_ns, data.counts.end_ns) = (start_ns, end_ns);
        data.sent = engine::Sent { stamps: stamps.to_vec(), complete_to_ns };
        data
    }

    fn intended(windows: &[Vec<Sent>]) -> Vec<Vec<u64>> {
        windows.iter().map(|window| window.iter().map(|sent| sent.intended_ns).collect()).collect()
    }

    #[test]
    fn complete_intervals_join_and_cut_ones_end_a_window() {
        let mut all = SentWindows::default();
        all.add(&interval(0, 100, 100, &[(10, 11), (90, 91)]));
        all.add(&interval(100, 200, 150, &[(99, 101), (120, 121), (149, 150)]));
        all.add(&interval(200, 300, 300, &[(198, 203), (210, 211), (250, 255), (299, 300)]));
        // 149 may have neighbours written after 150; 198 has neighbours in the gap; 299 some after the end.
        assert_eq!(intended(&all.finish(300)), [vec![10, 90, 99, 120], vec![210, 250]]);
    }
}
