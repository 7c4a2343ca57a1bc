//! One load from its first connection to its report: phases, intervals, sums. Used by trials and by `prony load`.
//!
//! The validity of the report is left to the caller, who knows more (whether the target lived, steal).

use crate::each::EachPlan;
use crate::login::{self, Login};
use crate::net::HttpUrl;
use crate::origins::{self, Further};
use crate::phases::Phases;
use crate::processes::Source;
use crate::proxy::ProxyUse;
use crate::sent::SentWindows;
use crate::tls;
use crate::{RunnerError, recorded};
use analyze::{Beside, Residence, TrialFacts};
use engine::{
    Account, IntervalData, Job, Lookup, Part, Step, Timeline, TokenAnswers, give_way, new_histogram,
};
use hdrhistogram::Histogram;
use request::Traffic;
use schema::load::{
    ArrivalCheck, BytesMoved, Connections, ErrorClass, Handshakes, Latencies, LatencySummary, LoadReport,
    RequestSummary, Requests, ResolvedLoad, SessionSummary, TokenKind, TokenSummary, Validity, Window,
};
use schema::plan::{LoadPlan, PhasePlan, ScenarioPlan};
use schema::steady::WarmUpEnd;
use schema::trial::{IntervalLine, Phase, PhaseSpan, SampleSummary};
use schema::version::LoadVersion;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::{MonotonicClock, Seed};

/// How often the wish to stop is looked at while the load runs.
const STOP_POLL: Duration = Duration::from_millis(50);

/// A load, resolved and ready. Its serde form goes to generator processes only and into no file.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct LoadJob {
    /// Scheme, host and port as asked for.
    pub url: String,
    /// Value of the Host field.
    pub authority: String,
    /// The address connected to: the proxy's, where there is one.
    pub to: SocketAddr,
    /// Further origins that requests of the scenario go to.
    #[serde(default)]
    pub further: Vec<Further>,
    /// What every connection leads through.
    #[serde(default)]
    pub proxy: Option<ProxyUse>,
    /// What is sent and what right answers are.
    pub scenario: ScenarioPlan,
    /// User and password of the URL; sent by every request that has no Authorization of its own.
    pub login: Option<Login>,
    /// For each request, the bytes that its answers must have, where the check of the contract saw them.
    pub bodies: Vec<Option<Vec<u8>>>,
    /// How it is sent.
    pub load: LoadPlan,
    /// When it is measured.
    pub phases: PhasePlan,
    /// Looked up anew for every connection where present; `to` is then only the first answer.
    pub name: Option<NameLookup>,
    /// End after this many measured requests.
    pub requests_max: Option<u64>,
    /// Open model with `requests_max`: the arrivals of the schedule up to the last of these, warm-up included.
    pub arrivals_max: Option<u64>,
    /// CPUs of the workers.
    pub cpus: Option<Vec<u32>>,
    /// Whether workers may spin before an intended time.
    pub spin: bool,
    /// One script for each worker, where scripts make the requests.
    #[serde(skip)]
    pub scripts: Option<engine::Scripts>,
    /// One row for each request, where somebody wants them.
    pub each: Option<EachPlan>,
}

impl LoadJob {
    /// Servers that the load goes to; `load.connections` are opened to each.
    #[must_use]
    pub fn origins(&self) -> usize {
        1 + self.further.len()
    }

    /// Connections to all origins together.
    #[must_use]
    pub fn connections(&self) -> u64 {
        u64::from(self.load.connections) * self.origins() as u64
    }
}

/// A name that is looked up for every connection, with the consent that its addresses need.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct NameLookup {
    /// Host and port.
    pub url: HttpUrl,
    /// Hosts and addresses that the user consents to.
    pub consent: Vec<String>,
}

/// Listens to a load that runs, on the caller's thread.
pub trait Watch {
    /// So many connections are open; called several times a second while they are being opened.
    fn opening(&mut self, opened: u64) {
        let _ = opened;
    }
    /// The connections are open, as far as they could be; no request has been sent.
    fn connected(&mut self, asked: u64, established: u64) {
        let _ = (asked, established);
    }
    /// The trial's time is zero now.
    fn begun(&mut self, clock: MonotonicClock) -> Result<(), RunnerError> {
        let _ = clock;
        Ok(())
    }
    /// The measured window begins now.
    fn samples_begin(&mut self) {}
    /// The measured window has just ended.
    fn samples_end(&mut self) {}
    /// What was read of the target since the load began, oldest first; asked for at the end of each interval of a
    /// warm-up that may end.
    fn beside(&mut self) -> &[Beside] {
        &[]
    }
    /// Nothing has happened for a moment; called several times a second, so that a clock on a screen can run.
    fn waiting(&mut self) {}
    /// An interval has ended.
    fn interval(&mut self, line: &IntervalLine, data: &IntervalData) -> Result<(), RunnerError>;
    /// A sample is whole; told after its last interval.
    fn sample(&mut self, span: &PhaseSpan, summary: &SampleSummary) -> Result<(), RunnerError> {
        let _ = (span, summary);
        Ok(())
    }
    /// Whether enough has been seen: then the load ends as if its time were over.
    fn is_enough(&self) -> bool {
        false
    }
}

impl LoadJob {
    /// Where connections go: the path of a Unix socket, else address and port.
    #[must_use]
    pub fn place(&self) -> String {
        match (&self.load.connection.unix_socket, &self.proxy) {
            (Some(path), _) => format!("unix:{path}"),
            (None, Some(proxy)) => format!("{} through the proxy {}", proxy.target, proxy.shown()),
            (None, None) => self.to.to_string(),
        }
    }
}

/// A load that has ended.
#[derive(Debug)]
pub struct Measured {
    /// The measured window; its `validity` is not yet filled in.
    pub report: LoadReport,
    /// What validity needs beside the report, as far as the load itself knows.
    pub facts: TrialFacts,
    /// One entry a sample.
    pub samples: Vec<SampleSummary>,
    /// Phases in order.
    pub phases: Vec<PhaseSpan>,
    /// How warm-up ended.
    pub warmup: WarmUpEnd,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Why there is no file of rows although one was wanted.
    pub rows_error: Option<RunnerError>,
}

/// Makes a load until its timeline or budget ends it, or `stop` is set.
///
/// # Errors
/// The request cannot be encoded, the engine failed, or the watch did.
pub fn measure(job: &LoadJob, watch: &mut impl Watch, stop: &AtomicBool) -> Result<Measured, RunnerError> {
    let timeline = timeline(job);
    let mut source = Source::start(job, timeline, &mut |opened| watch.opening(opened))?;
    let (asked, established) = source.connections();
    watch.connected(asked, established);
    let mut phases = Phases::new(&job.phases, timeline);
    let clock = source.begin(phases.from);
    watch.begun(clock)?;
    let mut fold = Fold::new(job.phases.samples);
    let mut warmup = Vec::new();
    let mut sampling = phases.from == Some(0);
    if sampling {
        watch.samples_begin();
    }
    loop {
        if stop.load(Ordering::Relaxed) || watch.is_enough() {
            source.stop();
        }
        let ended = match source.next(STOP_POLL)? {
            Step::Waiting => {
                watch.waiting();
                continue;
            }
            Step::Ended => break,
            Step::Interval(data) => {
                let line = line(data, phases.of(data.counts.index));
                fold.add(&line, data);
                give_way();
                watch.interval(&line, data)?;
                give_way();
                phases.seen(&line);
                if let (true, Some(span)) = (phases.ends_sample(data), phases.spans.last()) {
                    watch.sample(span, fold.close_sample())?;
                }
                let index = data.counts.index;
                if line.phase == Some(Phase::Warmup) {
                    warmup.push(line);
                }
                index
            }
        };
        if phases.is_asking(ended) && phases.may_end_warmup(ended, &warmup, watch.beside()) {
            phases.from = Some(source.measure_soon());
        }
        match phases.from {
            Some(from) if from == ended + 1 => {
                sampling = true;
                watch.samples_begin();
            }
            Some(from) if from.saturating_add(timeline.measured_intervals) == ended + 1 => {
                sampling = false;
                watch.samples_end();
            }
            _ => {}
        }
    }
    if sampling {
        // Stopped before its time.
        watch.samples_end();
    }
    let interrupted = stop.load(Ordering::Relaxed);
    let mut measured = fold.finish(job, phases, asked, established, interrupted);
    measured.report.plan.driver = source.driver().key().to_owned();
    measured.report.generator.peak_rss_bytes = source.peak_rss_bytes();
    match source.finish_rows() {
        Ok(each) => measured.report.each = each,
        Err(error) => measured.rows_error = Some(error),
    }
    Ok(measured)
}

/// The report of a load of which not one connection could be opened: each attempt is a request that failed.
#[must_use]
pub fn nothing_connected(
    job: &LoadJob,
    asked: u64,
    failures: &BTreeMap<ErrorClass, u64>,
    example: &str,
) -> LoadReport {
    let failed = failures.values().sum();
    let first = failures.keys().next().copied();
    LoadReport {
        requests: Requests { scheduled: failed, failed, ..Requests::default() },
        errors: failures.clone(),
        error_examples: first.map(|class| (class, vec![example.to_owned()])).into_iter().collect(),
        connections: Connections { asked, ..Connections::default() },
        latency_ns: Fold::new(1).latencies(),
        ..empty_report(job)
    }
}

/// The engine's orders for one part of a load.
pub(crate) fn engine_job(job: &LoadJob, timeline: Timeline, part: Part) -> Result<Job, RunnerError> {
    let mut load = job.load.clone();
    crate::ports::spread(&mut load, job.to);
    Ok(Job {
        load,
        requests_max: job.arrivals_max.or(job.requests_max),
        recorded: recorded::of_load(&job.load)?,
        to: job.to,
        way: crate::way::of(job)?,
        traffic: traffic(job)?,
        scripts: job.scripts.clone(),
        rows: None,
        timeline,
        tls: tls::of_job(job)?,
        lookup: job.name.clone().map(|name| {
            Lookup::new(move || name.url.resolve(&name.consent).map_err(|error| error.to_string()))
        }),
        cpus: job.cpus.clone(),
        spin: job.spin,
        part,
    })
}

/// What is sent, compiled: every mistake in it is told here, before a connection is opened.
///
/// # Errors
/// A request, an expression, a feeder, a token or a check that cannot be.
pub fn traffic(job: &LoadJob) -> Result<Traffic, RunnerError> {
    let mut scenario = job.scenario.clone();
    if let Some(login) = &job.login {
        login::authorize(&mut scenario, &login.basic());
    }
    origins::name_hosts(&mut scenario, &job.further);
    if !job.load.connection.keepalive {
        for entry in &mut scenario.requests {
            let headers = &mut entry.request.headers;
            if !headers.iter().any(|(have, _)| have.eq_ignore_ascii_case("connection")) {
                headers.push(("Connection".to_owned(), "close".to_owned()));
            }
        }
    }
    Ok(Traffic::new(&scenario, &job.authority, Seed(job.load.seed), &job.bodies)?)
}

/// The grid of a load. A budget without a duration has no end on the clock.
pub(crate) fn timeline(job: &LoadJob) -> Timeline {
    let phases = &job.phases;
    if phases.sample_ns == u64::MAX {
        return Timeline {
            interval_ns: 1_000_000_000,
            measured_intervals: u64::MAX,
            drain_ns: phases.drain_ns,
        };
    }
    Timeline::for_samples(phases.sample_ns, phases.samples, phases.drain_ns)
}

/// Sums over the measured window and over the whole load.
struct Fold {
    /// Samples and drain: accounts and times of requests.
    measured: IntervalData,
    /// Samples only.
    window: Window,
    bytes: BytesMoved,
    cpu_ns: u64,
    put_off_ns: u64,
    busy_share: f64,
    in_system_ns: u64,
    answered_all: u64,
    /// Whole load.
    integral_ns: u128,
    residence_ns: u128,
    connects: u64,
    handshakes: Handshakes,
    connect_times: Histogram<u64>,
    tls_times: Histogram<u64>,
    name_times: Histogram<u64>,
    tokens: TokenAnswers,
    /// Samples that are whole, and the one that is not: histograms of one sample are kept at a time.
    samples: Vec<SampleSummary>,
    open: Option<SampleFold>,
    samples_planned: u32,
    sent: SentWindows,
}

struct SampleFold {
    number: u32,
    duration_ns: u64,
    answers: u64,
    failed: u64,
    response: Histogram<u64>,
}

impl Fold {
    fn new(samples_planned: u32) -> Self {
        Self {
            measured: IntervalData::default(),
            window: Window::default(),
            bytes: BytesMoved::default(),
            cpu_ns: 0,
            put_off_ns: 0,
            busy_share: 0.0,
            in_system_ns: 0,
            answered_all: 0,
            integral_ns: 0,
            residence_ns: 0,
            connects: 0,
            handshakes: Handshakes::default(),
            connect_times: new_histogram(),
            tls_times: new_histogram(),
            name_times: new_histogram(),
            tokens: TokenAnswers::new(),
            samples: Vec::new(),
            open: None,
            samples_planned,
            sent: SentWindows::default(),
        }
    }

    fn add(&mut self, line: &IntervalLine, data: &IntervalData) {
        self.integral_ns += u128::from(data.counts.in_system_ns);
        self.residence_ns += u128::from(data.counts.residence_ns);
        self.connects += data.counts.connects;
        self.handshakes.full += data.counts.tls_full;
        self.handshakes.resumed += data.counts.tls_resumed;
        for (sum, part) in [
            (&mut self.connect_times, &data.times.connect),
            (&mut self.tls_times, &data.times.tls),
            (&mut self.name_times, &data.times.name),
        ] {
            if part.is_empty() {
                continue;
            }
            sum.add(part).expect("all time histograms have the same bounds");
            give_way();
        }
        for (kind, status) in &data.tokens {
            let sum = self.tokens.entry(*kind).or_default();
            status.iter().for_each(|(status, count)| *sum.entry(*status).or_insert(0) += count);
        }
        if line.phase == Some(Phase::Warmup) {
            return;
        }
        self.measured.merge(data);
        // As the counts of requests, those of bytes go on to the end of the drain.
        self.bytes.read += data.counts.read_bytes;
        self.bytes.written += data.counts.written_bytes;
        if line.phase == Some(Phase::Sample) {
            self.add_to_window(data);
            self.sent.add(data);
            give_way();
            self.add_to_sample(line, data);
        }
    }

    fn add_to_window(&mut self, data: &IntervalData) {
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
        self.answered_all += counts.answers + counts.warm.failed_total() + counts.measured.failed_total();
    }

    fn add_to_sample(&mut self, line: &IntervalLine, data: &IntervalData) {
        let number = line.sample.unwrap_or(1).min(self.samples_planned.max(1));
        if self.open.as_ref().is_some_and(|open| open.number != number) {
            self.close_sample();
        }
        let sample = self.open.get_or_insert_with(|| SampleFold::new(number));
        sample.duration_ns += data.counts.end_ns.saturating_sub(data.counts.start_ns);
        sample.answers += data.counts.answers;
        sample.failed += line.failed.values().sum::<u64>();
        sample.response.add(&data.times.response).expect("all time histograms have the same bounds");
    }

    /// Ends the open sample, which is empty where there is none.
    fn close_sample(&mut self) -> &SampleSummary {
        let number = self.samples.len() as u32 + 1;
        let open = self.open.take().unwrap_or_else(|| SampleFold::new(number));
        self.samples.push(open.summary());
        self.samples.last().expect("it was pushed")
    }

    /// Of the samples' time of all workers.
    fn put_off_share(&self, workers: u32) -> f64 {
        let time_ns = self.window.duration_ns as f64 * f64::from(workers.max(1));
        if time_ns > 0.0 { (self.put_off_ns as f64 / time_ns).min(1.0) } else { 0.0 }
    }

    /// Requests that count as above every finite value: censored ones and those that timed out (METHOD §1).
    fn beyond(&self) -> u64 {
        let account = &self.measured.counts.measured;
        account.censored + account.failed[ErrorClass::Timeout.index()]
    }

    fn latencies(&self) -> Latencies {
        let beyond = self.beyond();
        let times = &self.measured.times;
        Latencies {
            response: analyze::latency(&times.response, beyond),
            service: analyze::latency(&times.service, beyond),
            send_lag: analyze::latency(&times.send_lag, 0),
            pacer_lag: analyze::latency(&times.pacer_lag, 0),
            connect: analyze::latency(&self.connect_times, 0),
            name: analyze::latency(&self.name_times, 0),
            tls: analyze::latency(&self.tls_times, 0),
            write: analyze::latency(&times.write, 0),
            first_byte: analyze::latency(&times.first_byte, 0),
            transfer: analyze::latency(&times.transfer, 0),
        }
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
                let beyond = account.censored + account.failed[ErrorClass::Timeout.index()];
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
                    response: analyze::latency(&data.response, beyond),
                    service: analyze::latency(&data.service, beyond),
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
            time: analyze::latency(&sessions.time, sessions.account.censored),
        })
    }

    fn tokens(&self, job: &LoadJob) -> Vec<TokenSummary> {
        let names: Vec<&String> = job.scenario.tokens.keys().collect();
        let summary = |((maker, kind), status): (&(u8, TokenKind), &BTreeMap<u16, u64>)| TokenSummary {
            name: names.get(usize::from(*maker)).map_or_else(String::new, |name| (*name).clone()),
            kind: *kind,
            status: status.clone(),
        };
        self.tokens.iter().map(summary).collect()
    }

    fn facts(&self) -> TrialFacts {
        let times = &self.measured.times;
        let at = |histogram: &Histogram<u64>, quantile: f64| {
            (!histogram.is_empty()).then(|| histogram.value_at_quantile(quantile))
        };
        TrialFacts {
            pacer_lag_p99_ns: at(&times.pacer_lag, 0.99),
            service_p50_ns: at(&times.service, 0.5),
            response_p99_ns: at(&times.response, 0.99),
            response_mean_ns: (!times.response.is_empty()).then(|| times.response.mean()),
            response_max_ns: (!times.response.is_empty()).then(|| times.response.max()),
            answered_all: self.answered_all,
            host_steal_share: None,
            canary_drift: None,
            competing_share: None,
            arrivals: None,
            residence: Some(Residence {
                integral_ns: self.integral_ns as f64,
                sum_ns: self.residence_ns as f64,
            }),
            server: None,
            target_alive: None,
            disturbed: false,
        }
    }

    fn finish(
        mut self,
        job: &LoadJob,
        phases: Phases,
        asked: u64,
        established: u64,
        interrupted: bool,
    ) -> Measured {
        if self.open.is_some() {
            self.close_sample();
        }
        let account = self.measured.counts.measured;
        if self.window.duration_ns > 0 {
            self.window.in_system_mean = self.in_system_ns as f64 / self.window.duration_ns as f64;
        }
        let mut facts = self.facts();
        facts.arrivals = self.arrivals(job, &phases, &facts);
        let report = LoadReport {
            arrivals: facts.arrivals,
            requests: requests(&account),
            errors: account.failed_by_class(),
            error_examples: self.measured.examples.clone(),
            status: self.measured.status_counts(),
            redirects: self.measured.counts.redirects.by_status(),
            throughput_per_s: per_second(self.window.answers, self.window.duration_ns),
            window: self.window,
            bytes: self.bytes,
            connections: Connections {
                asked,
                established,
                reconnects: self.connects.saturating_sub(established),
                handshakes: job.load.tls.as_ref().map(|_| self.handshakes),
            },
            latency_ns: self.latencies(),
            by_request: self.by_request(job),
            sessions: self.sessions(job),
            tokens: self.tokens(job),
            failed_answers: self.measured.failed_answers.clone().into_answers(),
            generator: schema::load::Generator {
                cpu_s: self.cpu_ns as f64 / 1e9,
                workers: job.load.workers,
                busy_share: self.busy_share,
                put_off_share: self.put_off_share(job.load.workers),
                nice: self.measured.counts.nice,
                ..schema::load::Generator::default()
            },
            ..empty_report(job)
        };
        Measured {
            report,
            facts,
            samples: self.samples,
            warmup: phases.warmup(),
            phases: phases.spans,
            interrupted,
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

impl SampleFold {
    fn new(number: u32) -> Self {
        Self { number, duration_ns: 0, answers: 0, failed: 0, response: new_histogram() }
    }

    fn summary(&self) -> SampleSummary {
        let times: LatencySummary = analyze::latency(&self.response, 0);
        SampleSummary {
            sample: self.number,
            throughput_per_s: per_second(self.answers, self.duration_ns),
            answers: self.answers,
            failed: self.failed,
            mean_ns: times.mean,
            p50_ns: times.p50,
            p99_ns: times.p99,
        }
    }
}

/// A report with the plan and no numbers.
fn empty_report(job: &LoadJob) -> LoadReport {
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
        latency_ns: Latencies::default(),
        generator: schema::load::Generator {
            workers: job.load.workers,
            ..schema::load::Generator::default()
        },
        arrivals: None,
        validity: Validity::default(),
        notes: crate::ports::notes(job),
        instrument_limit: None,
        thresholds: Vec::new(),
        each: None,
        by_request: Vec::new(),
        sessions: None,
        tokens: Vec::new(),
        failed_answers: Vec::new(),
    }
}

fn line(data: &IntervalData, (phase, sample): (Phase, Option<u32>)) -> IntervalLine {
    let counts = &data.counts;
    let mut failed = counts.warm;
    failed.add(&counts.measured);
    let times = &data.times.response;
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
    }
}

fn per_second(count: u64, duration_ns: u64) -> f64 {
    if duration_ns == 0 { 0.0 } else { count as f64 * 1e9 / duration_ns as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_samples_only_summaries_and_one_histogram_are_kept() {
        let mut fold = Fold::new(20);
        for index in 0..2_000_u64 {
            let mut data = IntervalData::default();
            data.counts.index = index;
            data.counts.end_ns = 1_000;
            data.counts.answers = 3;
            data.times.response.record(1_000 + index).unwrap();
            let sample = u32::try_from(index / 100).unwrap() + 1;
            fold.add(&line(&data, (Phase::Sample, Some(sample))), &data);
            if index % 100 == 99 {
                assert_eq!(fold.close_sample().answers, 300);
            }
            assert_eq!(fold.samples.len() as u64, (index + 1) / 100);
            assert_eq!(fold.open.is_some(), index % 100 != 99, "at most one sample is open");
        }
        let numbers: Vec<u32> = fold.samples.iter().map(|sample| sample.sample).collect();
        assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
    }
}
