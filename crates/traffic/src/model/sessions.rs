//! Sessions: requests of one client with no pause longer than a gap, for gaps of 10, 30 and 60 minutes (METHOD §7).
//!
//! Invariants: at most [`CLIENTS_MAX`] clients are followed at the same time. Where more are active, only those whose
//! address hashes to enough leading zeros are, and the numbers of sessions are scaled up by the share that is followed
//! (distinct sampling: Gibbons, VLDB 2001); lengths and durations are of the followed ones.

use crate::log::Record;
use crate::log::time::SECOND_NS;
use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::HashMap;

/// Clients followed at the same time.
const CLIENTS_MAX: usize = 200_000;
/// The gaps, in minutes, shortest first.
pub(crate) const GAPS_MIN: [u64; 3] = [10, 30, 60];
/// Leading zeros that are distinguished.
const LEVELS: usize = 33;

/// Sessions for one gap.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sessions {
    /// Pause that ends a session, in minutes.
    pub gap_min: u64,
    /// How many sessions.
    pub count: u64,
    /// Mean number of requests.
    pub requests_mean: f64,
    /// Median number of requests, within 1 %.
    pub requests_p50: u64,
    /// 95th percentile of the number of requests, within 1 %.
    pub requests_p95: u64,
    /// Mean time from first to last request.
    pub duration_mean_s: f64,
    /// Median of it, within 1 %.
    pub duration_p50_s: u64,
    /// 95th percentile of it, within 1 %.
    pub duration_p95_s: u64,
    /// Share of the clients that were followed, 1 for all.
    pub followed: f64,
}

/// Sums over ended sessions.
#[derive(Clone, Debug)]
struct Ended {
    requests: Histogram<u64>,
    duration_s: Histogram<u64>,
    requests_sum: u64,
    duration_sum_s: f64,
}

#[derive(Clone, Copy, Debug)]
struct Client {
    last_ns: u64,
    /// Begin and requests so far, for each gap.
    open: [(u64, u64); 3],
}

/// Follows clients.
#[derive(Debug)]
pub(crate) struct Follower {
    clients: HashMap<u64, Client>,
    /// By leading zeros of the client and by gap; made when needed.
    ended: Vec<[Option<Ended>; 3]>,
    level: u32,
    now_ns: u64,
    sweep_at: usize,
}

impl Follower {
    pub(crate) fn new() -> Self {
        Self {
            clients: HashMap::new(),
            ended: vec![[None, None, None]; LEVELS],
            level: 0,
            now_ns: 0,
            sweep_at: 1 << 12,
        }
    }

    pub(crate) fn add(&mut self, record: &Record<'_>) {
        self.now_ns = self.now_ns.max(record.time_ns);
        let zeros = zeros_of(record.client);
        if record.client == 0 || zeros < self.level {
            return;
        }
        if let Some(client) = self.clients.get_mut(&record.client) {
            // A line that is a little late belongs to the moment of the one before it.
            let time_ns = record.time_ns.max(client.last_ns);
            let pause_ns = time_ns - client.last_ns;
            for (gap, open) in client.open.iter_mut().enumerate() {
                if pause_ns > GAPS_MIN[gap] * 60 * SECOND_NS {
                    end(&mut self.ended[zeros as usize][gap], *open, client.last_ns);
                    *open = (time_ns, 0);
                }
                open.1 += 1;
            }
            client.last_ns = time_ns;
            return;
        }
        let fresh = Client { last_ns: record.time_ns, open: [(record.time_ns, 1); 3] };
        self.clients.insert(record.client, fresh);
        if self.clients.len() >= self.sweep_at {
            self.sweep();
        }
    }

    /// Forgets clients whose sessions have ended for every gap, and follows fewer where too many are left.
    fn sweep(&mut self) {
        let longest_ns = GAPS_MIN[GAPS_MIN.len() - 1] * 60 * SECOND_NS;
        let over_ns = self.now_ns.saturating_sub(longest_ns);
        let ended = &mut self.ended;
        self.clients.retain(|address, client| {
            let is_open = client.last_ns >= over_ns;
            if !is_open {
                end_all(ended, *address, client);
            }
            is_open
        });
        while self.clients.len() >= CLIENTS_MAX && (self.level as usize) < LEVELS - 1 {
            self.level += 1;
            self.clients.retain(|address, _| zeros_of(*address) >= self.level);
        }
        self.sweep_at = (2 * self.clients.len()).clamp(1 << 12, CLIENTS_MAX);
    }

    /// Ends all sessions.
    pub(crate) fn finish(mut self) -> Vec<Sessions> {
        for (address, client) in &self.clients {
            end_all(&mut self.ended, *address, client);
        }
        let levels = &self.ended[self.level as usize..];
        let scale = 2_u64.saturating_pow(self.level);
        (0..GAPS_MIN.len()).filter_map(|gap| sum_up(gap, levels, scale)).collect()
    }
}

fn zeros_of(client: u64) -> u32 {
    client.leading_zeros().min(LEVELS as u32 - 1)
}

fn end_all(ended: &mut [[Option<Ended>; 3]], address: u64, client: &Client) {
    for (gap, open) in client.open.iter().enumerate() {
        end(&mut ended[zeros_of(address) as usize][gap], *open, client.last_ns);
    }
}

fn end(sums: &mut Option<Ended>, (begin_ns, requests): (u64, u64), last_ns: u64) {
    if sums.is_none() {
        *sums = Ended::new();
    }
    let Some(sums) = sums else { return };
    let duration_ns = last_ns.saturating_sub(begin_ns);
    // They grow as needed; only what no counter can hold is refused.
    let _ = sums.requests.record(requests);
    let _ = sums.duration_s.record(duration_ns / SECOND_NS);
    sums.requests_sum = sums.requests_sum.saturating_add(requests);
    sums.duration_sum_s += duration_ns as f64 / SECOND_NS as f64;
}

impl Ended {
    /// Histograms that keep two digits and grow as needed.
    fn new() -> Option<Self> {
        let histogram = Histogram::new(2).ok()?;
        Some(Self {
            requests: histogram.clone(),
            duration_s: histogram,
            requests_sum: 0,
            duration_sum_s: 0.0,
        })
    }
}

fn sum_up(gap: usize, levels: &[[Option<Ended>; 3]], scale: u64) -> Option<Sessions> {
    let mut all = Ended::new()?;
    for ended in levels.iter().filter_map(|level| level[gap].as_ref()) {
        all.requests.add(&ended.requests).ok()?;
        all.duration_s.add(&ended.duration_s).ok()?;
        all.requests_sum = all.requests_sum.saturating_add(ended.requests_sum);
        all.duration_sum_s += ended.duration_sum_s;
    }
    let count = all.requests.len();
    (count > 0).then(|| Sessions {
        gap_min: GAPS_MIN[gap],
        count: count.saturating_mul(scale),
        requests_mean: all.requests_sum as f64 / count as f64,
        requests_p50: all.requests.value_at_quantile(0.5),
        requests_p95: all.requests.value_at_quantile(0.95),
        duration_mean_s: all.duration_sum_s / count as f64,
        duration_p50_s: all.duration_s.value_at_quantile(0.5),
        duration_p95_s: all.duration_s.value_at_quantile(0.95),
        followed: 1.0 / scale as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::hash;

    fn record(client: u64, minute: f64) -> Record<'static> {
        Record {
            time_ns: (minute * 60e9) as u64,
            client,
            method: b"GET",
            target: b"/",
            status: 200,
            bytes: None,
            request_ns: None,
            content_type: None,
            body: None,
            key: 0,
        }
    }

    #[test]
    fn pauses_end_sessions_by_each_gap() {
        let mut follower = Follower::new();
        // Client 7: at 100, 105, 125 (20 min), 165 (40 min) and 265 (100 min); client 9 once.
        for (client, minute) in [(7, 100.0), (7, 105.0), (9, 110.0), (7, 125.0), (7, 165.0), (7, 265.0)] {
            follower.add(&record(client, minute));
        }
        let found = follower.finish();
        let counts: Vec<_> = found.iter().map(|sessions| (sessions.gap_min, sessions.count)).collect();
        assert_eq!(counts, [(10, 5), (30, 4), (60, 3)]);
        assert_eq!((found[1].requests_mean, found[1].duration_mean_s), (6.0 / 4.0, 25.0 * 60.0 / 4.0));
        assert_eq!((found[2].requests_p95, found[2].duration_p95_s / 60), (4, 65));
    }

    #[test]
    fn more_clients_than_memory_are_sampled_and_scaled() {
        let mut follower = Follower::new();
        let clients = 3 * CLIENTS_MAX as u64;
        for client in 0..clients {
            let address = hash(&client.to_le_bytes());
            for _ in 0..2 {
                follower.add(&record(address, 100.0 + client as f64 / clients as f64));
            }
        }
        assert!(follower.clients.len() <= CLIENTS_MAX);
        let found = follower.finish();
        assert!(found[1].followed < 1.0);
        assert!((found[1].count as f64 / clients as f64 - 1.0).abs() < 0.02, "{:?}", found[1]);
        assert_eq!(found[1].requests_mean, 2.0);
    }
}
