//! What the view shows, folded from intervals. Pure: the caller says what time it is.
//!
//! A percentile appears once there are enough requests for it, in an interval as in the whole window (METHOD §4).

use analyze::{Of, latency, quantile_floor};
use engine::{IntervalData, new_histogram};
use hdrhistogram::Histogram;
use plan::LoadJob;
use schema::load::{ErrorClass, LatencySummary, Time};
use schema::trial::{IntervalLine, Phase};
use std::collections::{BTreeMap, VecDeque};
use units::Nanos;

/// Intervals kept for the sparklines: as many as the widest terminal shows.
const KEPT: usize = 200;

/// Four times of an interval in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) p50: Option<u64>,
    pub(super) p90: Option<u64>,
    pub(super) p99: Option<u64>,
    pub(super) max: Option<u64>,
}

/// A load so far.
#[derive(Debug)]
pub(super) struct State {
    pub(super) what: String,
    pub(super) rate_asked: Option<f64>,
    /// Warm-up and measured time; none where requests end the load.
    pub(super) length: Option<Nanos>,
    pub(super) requests_max: Option<u64>,
    /// Since the trial's origin.
    pub(super) elapsed: Nanos,
    pub(super) asked: u64,
    pub(super) established: u64,
    pub(super) phase: Option<Phase>,
    pub(super) now: Times,
    pub(super) rate_now: f64,
    pub(super) in_flight: u64,
    pub(super) backlog: u64,
    pub(super) pacer_lag_p99: Option<u64>,
    /// Messages of the last interval in words; absent where nothing streams.
    pub(super) messages: Option<String>,
    /// Whether keys are heard.
    pub(super) has_keys: bool,
    /// Whether the display is held still.
    pub(super) is_paused: bool,
    /// Since the measured window began.
    response: Histogram<u64>,
    answers: u64,
    /// Those that came before the drain: the rate is theirs.
    answers_under_load: u64,
    window_ns: u64,
    pub(super) failed: u64,
    pub(super) connects: u64,
    pub(super) errors: BTreeMap<ErrorClass, u64>,
    pub(super) status: BTreeMap<u16, u64>,
    /// Answers per second and p99 in nanoseconds of the last intervals.
    pub(super) rates: VecDeque<u64>,
    pub(super) p99s: VecDeque<u64>,
}

impl State {
    pub(super) fn new(job: &LoadJob) -> Self {
        let load = &job.load;
        let phases = &job.phases;
        let length = (phases.sample_ns < u64::MAX)
            .then(|| Nanos(phases.warmup_at_least_ns + phases.sample_ns * u64::from(phases.samples)));
        Self {
            what: job.scenario.words(&job.url),
            rate_asked: load.rate_per_s,
            length,
            requests_max: job.requests_max,
            elapsed: Nanos::ZERO,
            asked: job.connections(),
            established: 0,
            phase: None,
            now: Times::default(),
            rate_now: 0.0,
            in_flight: 0,
            backlog: 0,
            pacer_lag_p99: None,
            messages: None,
            has_keys: false,
            is_paused: false,
            response: new_histogram(),
            answers: 0,
            answers_under_load: 0,
            window_ns: 0,
            failed: 0,
            connects: 0,
            errors: BTreeMap::new(),
            status: BTreeMap::new(),
            rates: VecDeque::new(),
            p99s: VecDeque::new(),
        }
    }

    pub(super) fn connected(&mut self, asked: u64, established: u64) {
        (self.asked, self.established) = (asked, established);
    }

    pub(super) fn interval(&mut self, line: &IntervalLine, data: &IntervalData) {
        let length_ns = line.end_ns.saturating_sub(line.start_ns).max(1);
        // What warm-up did is no part of what is measured.
        if self.phase == Some(Phase::Warmup) && line.phase != Some(Phase::Warmup) {
            self.forget_warmup();
        }
        self.phase = line.phase;
        (self.in_flight, self.backlog) = (line.in_flight, line.backlog);
        self.connects += line.connects;
        self.count(line, data);
        if line.phase == Some(Phase::Drain) {
            return;
        }
        self.window_ns += length_ns;
        self.answers_under_load += line.completed;
        self.rate_now = line.completed as f64 * 1e9 / length_ns as f64;
        self.now = times(&data.times[Time::Response]);
        let lag = &data.times[Time::PacerLag];
        self.pacer_lag_p99 = at(lag, 0.99);
        self.messages = line.messages.as_ref().map(|messages| super::message_words(messages, length_ns));
        keep(&mut self.rates, self.rate_now.round() as u64);
        keep(&mut self.p99s, self.now.p99.unwrap_or(0));
    }

    fn count(&mut self, line: &IntervalLine, data: &IntervalData) {
        self.response.add(&data.times[Time::Response]).expect("all time histograms have the same bounds");
        self.answers += line.completed;
        for (class, n) in &line.failed {
            *self.errors.entry(*class).or_default() += n;
            self.failed += n;
        }
        for (code, n) in &line.status {
            *self.status.entry(*code).or_default() += n;
        }
    }

    pub(super) fn forget_warmup(&mut self) {
        self.response.reset();
        self.errors.clear();
        self.status.clear();
        (self.answers, self.answers_under_load) = (0, 0);
        (self.failed, self.window_ns) = (0, 0);
    }

    /// Right answers in the window so far.
    pub(super) const fn answers(&self) -> u64 {
        self.answers
    }

    /// Right answers per second of the window so far.
    pub(super) fn rate_so_far(&self) -> f64 {
        if self.window_ns == 0 { 0.0 } else { self.answers_under_load as f64 * 1e9 / self.window_ns as f64 }
    }

    /// The fastest and the slowest response so far.
    pub(super) fn range(&self) -> Option<(u64, u64)> {
        (!self.response.is_empty()).then(|| (self.response.min(), self.response.max()))
    }

    /// Responses so far in so many bins, equally wide on a log scale over [`State::range`].
    pub(super) fn bins(&self, count: usize) -> Vec<u64> {
        let mut bins = vec![0; count];
        let Some((low, high)) = self.range().filter(|_| count > 0) else { return bins };
        let (low, high) = ((low.max(1) as f64).ln(), (high.max(1) as f64).ln());
        let last = count - 1;
        for bucket in self.response.iter_recorded() {
            let at = ((bucket.value_iterated_to().max(1) as f64).ln() - low) / (high - low).max(1e-9);
            bins[((at * last as f64).round().max(0.0) as usize).min(last)] += bucket.count_at_value();
        }
        bins
    }

    /// Response times so far, by the rules of the final result.
    pub(super) fn so_far(&self) -> LatencySummary {
        latency(
            &self.response,
            self.errors.iter().filter(|(class, _)| class.is_beyond()).map(|(_, count)| count).sum(),
            Of::Requests,
        )
    }
}

fn times(histogram: &Histogram<u64>) -> Times {
    if histogram.is_empty() {
        return Times::default();
    }
    let max = Some(histogram.max());
    Times { p50: at(histogram, 0.5), p90: at(histogram, 0.9), p99: at(histogram, 0.99), max }
}

/// A percentile where there are enough values for it.
fn at(histogram: &Histogram<u64>, quantile: f64) -> Option<u64> {
    (histogram.len() >= quantile_floor(quantile)).then(|| histogram.value_at_quantile(quantile))
}

fn keep(values: &mut VecDeque<u64>, value: u64) {
    if values.len() == KEPT {
        values.pop_front();
    }
    values.push_back(value);
}
