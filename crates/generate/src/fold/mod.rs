//! Sums of a load: over its samples, over the measured window and over the whole, and the report that they make.

mod by_request;
mod messages;
mod notable;
mod rate;
mod samples;
mod whole;
mod window;

use crate::measured::Measured;
use crate::phases::Phases;
use crate::sent_windows::SentWindows;
use analyze::{Of, TrialFacts};
use engine::{Account, IntervalData, Stall, give_way};
use hdrhistogram::Histogram;
use plan::{LoadJob, login, recorded};
use samples::Samples;
use schema::load::{
    ArrivalCheck, BytesMoved, Connections, Latencies, LoadReport, RequestSummary, Requests, ResolvedLoad,
    SessionSummary, Time, TokenKind, TokenSummary, Validity, Window,
};
use schema::plan::EntryPlan;
use schema::traced::{NotableRequests, TracePlan};
use schema::trial::{IntervalLine, Phase, SampleSummary, StallSpan};
use schema::version::LoadVersion;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use whole::Whole;
use window::WindowFold;

/// All sums of one load.
pub(crate) struct Fold {
    /// Samples and drain: accounts and times of requests.
    measured: IntervalData,
    /// The same: bytes go on to the end of the drain, as requests do.
    bytes: BytesMoved,
    window: WindowFold,
    whole: Whole,
    samples: Samples,
    sent: SentWindows,
}

impl Fold {
    pub(crate) fn new(samples_planned: u32) -> Self {
        Self {
            measured: IntervalData::default(),
            bytes: BytesMoved::default(),
            window: WindowFold::default(),
            whole: Whole::new(),
            samples: Samples::new(samples_planned),
            sent: SentWindows::default(),
        }
    }

    pub(crate) fn add(&mut self, line: &IntervalLine, data: &IntervalData) {
        self.whole.add(data);
        if line.phase == Some(Phase::Warmup) {
            return;
        }
        self.measured.merge(data);
        self.bytes.read += data.counts.read_bytes;
        self.bytes.written += data.counts.written_bytes;
        if line.phase == Some(Phase::Sample) {
            self.window.add(data);
            self.sent.add(data);
            give_way();
            self.samples.add(line, data);
        }
    }

    /// Ends the open sample, which is empty where there is none.
    pub(crate) fn close_sample(&mut self) -> &SampleSummary {
        self.samples.close()
    }

    /// Requests that count as above every finite value: censored ones and those that timed out (METHOD §1).
    fn beyond(&self) -> u64 {
        self.measured.counts.measured.beyond()
    }

    pub(crate) fn latencies(&self) -> Latencies {
        Latencies::from_fn(|time| {
            let beyond = match time {
                Time::Response | Time::Service => self.beyond(),
                _ => 0,
            };
            let of_requests = || analyze::latency(&self.measured.times[time], beyond, Of::Requests);
            self.whole.latency(time).unwrap_or_else(of_requests)
        })
    }

    /// What was really sent in the samples, against the law that was asked for (METHOD §2).
    fn arrivals(&mut self, job: &LoadJob, phases: &Phases, facts: &TrialFacts) -> Option<ArrivalCheck> {
        let samples = phases.spans.iter().filter(|span| span.phase == Phase::Sample);
        let end_ns = samples.map(|span| span.end_ns).max().unwrap_or_default();
        let windows = std::mem::take(&mut self.sent).finish(end_ns);
        // The file was read before the load; where it is gone since, there is nothing to hold the times against.
        let recorded = recorded::of_load(&job.load).ok().flatten();
        let allowed_ns = analyze::arrivals::lag_allowed_ns(facts);
        analyze::arrivals::check(&windows, &job.load, recorded.as_deref(), allowed_ns)
    }

    /// Results by named request.
    fn by_request(&self, job: &LoadJob) -> Vec<RequestSummary> {
        let all = self.measured.counts.measured.scheduled.max(1) as f64;
        let entries = job.scenario.requests.iter().zip(&self.measured.entries);
        entries
            .map(|(plan, data)| {
                let account = &data.account;
                let beyond = account.beyond();
                RequestSummary {
                    name: plan.name.clone(),
                    share: account.scheduled as f64 / all,
                    requests: requests(account),
                    errors: account.failed_by_class(),
                    status: data
                        .status
                        .iter()
                        .filter(|(_, n)| **n > 0)
                        .map(|(code, n)| (*code, *n))
                        .collect(),
                    response: analyze::latency(&data.response, beyond, Of::Requests),
                    service: analyze::latency(&data.service, beyond, Of::Requests),
                }
            })
            .collect()
    }

    fn sessions(&self, job: &LoadJob) -> Option<SessionSummary> {
        job.scenario.session.as_ref()?;
        let sessions = &self.measured.sessions;
        Some(SessionSummary {
            started: sessions.account.started,
            completed: sessions.account.completed,
            failed: sessions.account.failed,
            censored: sessions.account.censored,
            time: analyze::latency(&sessions.time, sessions.account.censored, Of::Requests),
        })
    }

    fn tokens(&self, job: &LoadJob) -> Vec<TokenSummary> {
        let names: Vec<&String> = job.scenario.tokens.keys().collect();
        let summary = |((maker, kind), status): (&(u8, TokenKind), &BTreeMap<u16, u64>)| TokenSummary {
            name: names.get(usize::from(*maker)).map_or_else(String::new, |name| (*name).clone()),
            kind: *kind,
            status: status.clone(),
        };
        self.whole.tokens.iter().map(summary).collect()
    }

    fn facts(&self) -> TrialFacts {
        let times = &self.measured.times;
        let at = |histogram: &Histogram<u64>, quantile: f64| {
            (!histogram.is_empty()).then(|| histogram.value_at_quantile(quantile))
        };
        TrialFacts {
            pacer_lag_p99_ns: at(&times[Time::PacerLag], 0.99),
            service_p50_ns: at(&times[Time::Service], 0.5),
            response_p99_ns: at(&times[Time::Response], 0.99),
            response_mean_ns: (!times[Time::Response].is_empty()).then(|| times[Time::Response].mean()),
            response_max_ns: (!times[Time::Response].is_empty()).then(|| times[Time::Response].max()),
            messages: messages::lateness(&self.measured),
            answered_all: self.window.answered_all,
            host_steal_share: None,
            canary_drift: None,
            clocks: None,
            competing_share: None,
            arrivals: None,
            residence: Some(self.whole.residence()),
            server: None,
            target_alive: None,
            disturbed: false,
        }
    }

    pub(crate) fn finish(
        mut self,
        job: &LoadJob,
        phases: Phases,
        asked: u64,
        established: u64,
        interrupted: bool,
    ) -> Measured {
        let account = self.measured.counts.measured;
        let mut facts = self.facts();
        facts.arrivals = self.arrivals(job, &phases, &facts);
        let mut report = LoadReport {
            arrivals: facts.arrivals,
            requests: requests(&account),
            errors: account.failed_by_class(),
            error_examples: self.measured.examples.clone(),
            status: self.measured.status_counts(),
            redirects: self.measured.counts.redirects.by_status(),
            throughput_per_s: self.window.throughput_per_s(),
            window: self.window.window(),
            bytes: self.bytes,
            connections: self.whole.connections(asked, established, job.load.tls.is_some()),
            streams: self.whole.streams(&job.load.connection),
            messages: messages::summary(&job.scenario.requests, &self.measured, &self.window),
            latency_ns: self.latencies(),
            by_request: self.by_request(job),
            sessions: self.sessions(job),
            tokens: self.tokens(job),
            failed_answers: self.measured.failed_answers.clone().into_answers(),
            notable: notable::requests(&self.measured.notables, &job.scenario.requests, job.load.trace),
            generator: self.window.generator(job.load.workers, self.measured.counts.nice),
            ..empty_report(job)
        };
        report.notes.extend(report.streams.as_ref().and_then(plan::fewer_streams));
        Measured {
            report,
            facts,
            samples: self.samples.finish(),
            warmup: phases.warmup(),
            phases: phases.spans,
            interrupted,
            stopped_by: None,
            rows_error: None,
        }
    }
}

fn requests(account: &Account) -> Requests {
    Requests {
        scheduled: account.scheduled,
        completed: account.completed,
        failed: account.failed_total(),
        censored: account.censored,
    }
}

/// A report with the plan and no numbers.
pub(crate) fn empty_report(job: &LoadJob) -> LoadReport {
    LoadReport {
        schema: LoadVersion::default(),
        plan: ResolvedLoad {
            url: job.url.clone(),
            address: job.place(),
            scenario: login::masked_scenario(&job.scenario, job.login.as_ref()),
            load: job.load.clone(),
            phases: job.phases.clone(),
            requests_max: job.requests_max,
            driver: String::new(),
        },
        requests: Requests::default(),
        errors: BTreeMap::new(),
        error_examples: BTreeMap::new(),
        status: BTreeMap::new(),
        redirects: BTreeMap::new(),
        throughput_per_s: 0.0,
        window: Window::default(),
        bytes: BytesMoved::default(),
        connections: Connections::default(),
        streams: None,
        messages: None,
        latency_ns: Latencies::default(),
        generator: schema::load::Generator {
            workers: job.load.workers,
            ..schema::load::Generator::default()
        },
        arrivals: None,
        validity: Validity::default(),
        notes: plan::notes(job),
        instrument_limit: None,
        thresholds: Vec::new(),
        each: None,
        by_request: Vec::new(),
        sessions: None,
        tokens: Vec::new(),
        failed_answers: Vec::new(),
        notable: NotableRequests::default(),
        fleet: None,
    }
}

/// The line of an interval; `requests` are the scenario's, and `trace` says which traces they carry.
pub(crate) fn line(
    data: &IntervalData,
    (phase, sample): (Phase, Option<u32>),
    requests: &[EntryPlan],
    trace: Option<TracePlan>,
) -> IntervalLine {
    let counts = &data.counts;
    let mut failed = counts.warm;
    failed.add(&counts.measured);
    let times = &data.times[Time::Response];
    let at = |quantile: f64| (!times.is_empty()).then(|| times.value_at_quantile(quantile));
    IntervalLine {
        start_ns: counts.start_ns,
        end_ns: counts.end_ns,
        phase: Some(phase),
        sample,
        scheduled: counts.warm.scheduled + counts.measured.scheduled,
        completed: counts.answers,
        failed: failed.failed_by_class(),
        status: data.status_counts(),
        redirects: counts.redirects.by_status(),
        read_bytes: counts.read_bytes,
        written_bytes: counts.written_bytes,
        connects: counts.connects,
        backlog: counts.backlog,
        in_flight: counts.in_flight,
        generator_cpu_ns: counts.cpu_ns,
        p50_ns: at(0.5),
        p99_ns: at(0.99),
        stalls: stalls(data),
        origin_unix_ns: None,
        notable: notable::requests(&data.notables, requests, trace),
        messages: messages::interval(requests, data),
        by_request: by_request::lines(&data.entries, requests),
        agents: Vec::new(),
    }
}

/// With fewer in flight a gap between answers is nothing to speak of.
const STALL_IN_FLIGHT_MIN: u64 = 4;
/// Of more than these in an interval the longest are written: between the answers of a slow target are gaps all the time.
const STALLS_MAX: usize = 8;

fn stalls(data: &IntervalData) -> Vec<StallSpan> {
    let told = data.stalls.as_slice().iter().filter(|stall| stall.in_flight >= STALL_IN_FLIGHT_MIN);
    let span = |stall: &Stall| StallSpan {
        start_ns: stall.start_ns,
        end_ns: stall.end_ns,
        in_flight: stall.in_flight,
    };
    let mut spans: Vec<StallSpan> = told.map(span).collect();
    spans.sort_by_key(|span| Reverse(span.end_ns - span.start_ns));
    spans.truncate(STALLS_MAX);
    spans.sort_by_key(|span| span.start_ns);
    spans
}
