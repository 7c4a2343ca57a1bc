//! Sums over the measured window: its samples without the drain.

use super::rate::per_second;
use engine::{IntervalData, MessageCounts};
use schema::load::{Generator, Window};

/// The sums.
#[derive(Default)]
pub(super) struct WindowFold {
    window: Window,
    cpu_ns: u64,
    put_off_ns: u64,
    busy_share: f64,
    in_system_ns: u64,
    pub(super) answered_all: u64,
    /// Messages on streams.
    pub(super) messages: MessageCounts,
}

impl WindowFold {
    pub(super) fn add(&mut self, data: &IntervalData) {
        let counts = &data.counts;
        let length_ns = counts.end_ns.saturating_sub(counts.start_ns);
        // The share of the whole window is the mean of its intervals' shares, weighted by their lengths.
        let before_ns = self.window.duration_ns as f64;
        self.busy_share = (self.busy_share * before_ns + counts.busy_share * length_ns as f64)
            / (before_ns + length_ns as f64).max(1.0);
        self.window.duration_ns += length_ns;
        self.window.answers += counts.answers;
        self.window.backlog_max = self.window.backlog_max.max(counts.backlog);
        self.in_system_ns += counts.in_system_ns;
        self.cpu_ns += counts.cpu_ns;
        self.put_off_ns += counts.put_off_ns;
        self.messages.add(&counts.messages);
        self.answered_all += counts.answers + counts.warm.failed_total() + counts.measured.failed_total();
    }

    pub(super) fn window(&self) -> Window {
        let mut window = self.window;
        if window.duration_ns > 0 {
            window.in_system_mean = self.in_system_ns as f64 / window.duration_ns as f64;
        }
        window
    }

    pub(super) fn throughput_per_s(&self) -> f64 {
        per_second(self.window.answers, self.window.duration_ns)
    }

    /// What `workers` of the priority `nice` used; memory is not known here.
    pub(super) fn generator(&self, workers: u32, nice: i32) -> Generator {
        Generator {
            cpu_s: self.cpu_ns as f64 / 1e9,
            workers,
            busy_share: self.busy_share,
            put_off_share: self.put_off_share(workers),
            nice,
            ..Generator::default()
        }
    }

    /// Of the samples' time of all workers.
    fn put_off_share(&self, workers: u32) -> f64 {
        let time_ns = self.window.duration_ns as f64 * f64::from(workers.max(1));
        if time_ns > 0.0 { (self.put_off_ns as f64 / time_ns).min(1.0) } else { 0.0 }
    }
}
