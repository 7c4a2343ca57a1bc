//! Sums over a whole load, its warm-up and drain included: what belongs to connections and not to requests.

use analyze::{Of, Residence};
use engine::{IntervalData, LazyHistogram, StreamCounts, TokenAnswers, give_way};
use schema::load::{Connections, Handshakes, LatencySummary, StreamSummary, Time};
use schema::plan::{ConnectionPlan, HttpVersion};

/// The sums; 0 before the first interval.
pub(super) struct Whole {
    integral_ns: u128,
    residence_ns: u128,
    connects: u64,
    handshakes: Handshakes,
    streams: StreamCounts,
    /// Each of [`Whole::TIMES`].
    times: [LazyHistogram; Self::TIMES.len()],
    pub(super) tokens: TokenAnswers,
}

impl Whole {
    /// Times that a connection has once. In a steady load it is opened before the samples begin.
    const TIMES: [Time; 3] = [Time::Name, Time::Connect, Time::Tls];

    pub(super) fn new() -> Self {
        Self {
            integral_ns: 0,
            residence_ns: 0,
            connects: 0,
            handshakes: Handshakes::default(),
            streams: StreamCounts::default(),
            times: std::array::from_fn(|_| LazyHistogram::default()),
            tokens: TokenAnswers::new(),
        }
    }

    pub(super) fn add(&mut self, data: &IntervalData) {
        self.integral_ns += u128::from(data.counts.in_system_ns);
        self.residence_ns += u128::from(data.counts.residence_ns);
        self.connects += data.counts.connects;
        self.streams.add(&data.counts.streams);
        self.handshakes.full += data.counts.tls_full;
        self.handshakes.resumed += data.counts.tls_resumed;
        for (sum, time) in self.times.iter_mut().zip(Self::TIMES) {
            let part = &data.times[time];
            if !part.is_empty() {
                sum.add(part).expect("all time histograms have the same bounds");
                give_way();
            }
        }
        for (kind, status) in &data.tokens {
            let sum = self.tokens.entry(*kind).or_default();
            status.iter().for_each(|(status, count)| *sum.entry(*status).or_insert(0) += count);
        }
    }

    /// A time that a connection has once; absent for those of requests.
    pub(super) fn latency(&self, time: Time) -> Option<LatencySummary> {
        let place = Self::TIMES.iter().position(|one| *one == time)?;
        Some(analyze::latency(&self.times[place], 0, Of::Connections))
    }

    /// Requests in the system as their integral over time, and as the sum of their own times.
    pub(super) fn residence(&self) -> Residence {
        Residence { integral_ns: self.integral_ns as f64, sum_ns: self.residence_ns as f64 }
    }

    /// What became of streams; absent where connections have none.
    pub(super) fn streams(&self, plan: &ConnectionPlan) -> Option<StreamSummary> {
        let StreamCounts { granted_min, requeued, goaways, resets, stalls } = self.streams;
        (plan.http == HttpVersion::V2).then_some(StreamSummary {
            asked: plan.streams,
            granted: granted_min,
            requeued,
            goaways,
            resets,
            stalls,
        })
    }

    /// Of those that were asked for, so many were open when the load began.
    pub(super) fn connections(&self, asked: u64, established: u64, is_tls: bool) -> Connections {
        Connections {
            asked,
            established,
            reconnects: self.connects.saturating_sub(established),
            handshakes: is_tls.then_some(self.handshakes),
        }
    }
}
