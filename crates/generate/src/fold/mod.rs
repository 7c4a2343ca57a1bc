//! Sums of a load: over its samples, over the measured window and over the whole, and the report that they make.

use crate::job::LoadJob;
use crate::measured::Measured;
use crate::phases::Phases;
use crate::sent_windows::SentWindows;
use crate::{login, ports, recorded};
use analyze::{Residence, TrialFacts};
use engine::{Account, IntervalData, TokenAnswers, give_way, new_histogram};
use hdrhistogram::Histogram;
use schema::load::{
    ArrivalCheck, BytesMoved, Connections, ErrorClass, Handshakes, Latencies, LatencySummary, LoadReport,
    RequestSummary, Requests, ResolvedLoad, SessionSummary, TokenKind, TokenSummary, Validity, Window,
};
use schema::trial::{IntervalLine, Phase, SampleSummary};
use schema::version::LoadVersion;
use std::collections::BTreeMap;

/// Sums over the measured window and over the whole load.
pub(crate) struct Fold {
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
    pub(crate) fn new(samples_planned: u32) -> Self {
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

    pub(crate) fn add(&mut self, line: &IntervalLine, data: &IntervalData) {
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
    pub(crate) fn close_sample(&mut self) -> &SampleSummary {
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

    pub(crate) fn latencies(&self) -> Latencies {
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

    pub(crate) fn finish(
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
        latency_ns: Latencies::default(),
        generator: schema::load::Generator {
            workers: job.load.workers,
            ..schema::load::Generator::default()
        },
        arrivals: None,
        validity: Validity::default(),
        notes: ports::notes(job),
        instrument_limit: None,
        thresholds: Vec::new(),
        each: None,
        by_request: Vec::new(),
        sessions: None,
        tokens: Vec::new(),
        failed_answers: Vec::new(),
    }
}

pub(crate) fn line(data: &IntervalData, (phase, sample): (Phase, Option<u32>)) -> IntervalLine {
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
