//! What the target counts of itself in a trial, read where the samples begin and where they end, beside what the client
//! had meanwhile (METHOD §9).
//!
//! Invariants: reading happens on a thread of its own, so that a target that answers late holds up neither intervals
//! nor phases; what the client had between border and reading is recorded, so that it can be allowed for; what is not
//! declared is not asked for, and what is declared and cannot be read has its reason.
//! Absent on purpose: judging, which is the analysis' work.

use crate::bring_up::Prepared;
use collect::server_side::{self, Endpoint, Reading};
use schema::experiment::Reference;
use schema::load::ErrorClass;
use schema::plan::TargetSource;
use schema::said::Said;
use schema::server_side::{ClientSide, CountAt, PrometheusAt, ServerSide};
use schema::target::Metrics;
use schema::trial::{IntervalLine, Phase};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use units::{Clock, MonotonicClock, Nanos};

/// Answers per second up to which the reference target's one thread is idle enough to see every request come.
const REFERENCE_RATE_MAX: f64 = 10_000.0;

/// What a target counts: its manifest, or what is known of the reference target, under what the experiment says.
pub(crate) fn metrics_of(target: &Prepared) -> Metrics {
    let known = match (&target.plan.source, &target.manifest) {
        (TargetSource::Reference { law }, _) => of_reference(law),
        (_, Some((manifest, _))) => manifest.metrics.clone(),
        _ => Metrics::default(),
    };
    let said = target.plan.metrics.clone();
    Metrics {
        go_runtime: said.go_runtime.or(known.go_runtime),
        go_expvar: said.go_expvar.or(known.go_expvar),
        node: said.node.or(known.node),
        jvm: said.jvm.or(known.jvm),
        jolokia: said.jolokia.or(known.jolokia),
        php_fpm: said.php_fpm.or(known.php_fpm),
        php_opcache: said.php_opcache.or(known.php_opcache),
        php_runtime: said.php_runtime.or(known.php_runtime),
        swoole: said.swoole.or(known.swoole),
        nginx: said.nginx.or(known.nginx),
        go_pprof: said.go_pprof.or(known.go_pprof),
        requests: said.requests.or(known.requests),
        prometheus: said.prometheus.or(known.prometheus),
        exporters: if said.exporters.is_empty() { known.exporters } else { said.exporters },
    }
}

/// The reference target counts its requests. It times them too, but its clock begins when it reads a request, so it is
/// asked only where it always has time to read: not while it burns CPU time or is frozen, nor near its thread's limit.
/// Several processes on one address count each for themselves.
fn of_reference(law: &Reference) -> Metrics {
    if law.connections_max.is_some() {
        return Metrics::default();
    }
    let mean = law.mean.unwrap_or_default();
    let most = f64::from(law.servers.unwrap_or(1)) / (mean.0 as f64 / 1e9);
    let sees_all = law.burn.unwrap_or_default() == Nanos::ZERO && law.freeze.is_none();
    let is_timed = sees_all && most <= REFERENCE_RATE_MAX;
    Metrics {
        requests: Some(CountAt { path: "/stats".to_owned(), pointer: "/requests".to_owned() }),
        prometheus: is_timed.then(|| PrometheusAt {
            path: "/metrics".to_owned(),
            port: None,
            counter: None,
            histogram: Some("prony_reference_request_seconds".to_owned()),
            labels: BTreeMap::new(),
            unit: None,
            patterns: Vec::new(),
        }),
        ..Metrics::default()
    }
}

/// One reading and when it was over.
struct Moment {
    over: Nanos,
    reading: Reading,
    missing: Vec<Said>,
}

/// The two readings of a trial, and the client's side of the time between them.
pub(crate) struct ServerCounts {
    metrics: Metrics,
    at: Option<Endpoint>,
    thread: Option<(Sender<()>, JoinHandle<Vec<Moment>>)>,
    client: ClientSide,
    /// In flight at the end of the latest interval.
    in_flight: u64,
    /// Begin and length of the samples so far.
    window: Option<(u64, u64)>,
    /// Answers and length of their first interval, in which the target is read.
    first: Option<(u64, u64)>,
}

impl ServerCounts {
    /// `None` where the target counts nothing.
    pub(crate) fn new(metrics: &Metrics, at: Endpoint) -> Option<Self> {
        (server_side::requests_of_a_reading(metrics) > 0).then(|| Self {
            metrics: metrics.clone(),
            at: Some(at),
            thread: None,
            client: ClientSide::default(),
            in_flight: 0,
            window: None,
            first: None,
        })
    }

    /// The trial's time is zero now.
    pub(crate) fn begun(&mut self, clock: MonotonicClock) {
        let Some(at) = self.at.take() else { return };
        let (ask, asked) = channel();
        let metrics = self.metrics.clone();
        let thread = std::thread::spawn(move || read_when_asked(&at, &metrics, clock, &asked));
        self.thread = Some((ask, thread));
    }

    /// A border of the samples: reads now, without waiting for it.
    pub(crate) fn read(&self) {
        if let Some((ask, _)) = &self.thread {
            // The thread lives until the sender is dropped.
            let _ = ask.send(());
        }
    }

    /// Counts what the client had in an interval of the samples.
    pub(crate) fn interval(&mut self, line: &IntervalLine) {
        if line.phase == Some(Phase::Sample) {
            let (begin_ns, length_ns) = self.window.unwrap_or_else(|| {
                self.client.in_flight = self.in_flight;
                (line.start_ns, 0)
            });
            self.window = Some((begin_ns, length_ns + line.end_ns.saturating_sub(line.start_ns)));
            let answers_before = self.client.answers;
            // Each hop of a redirected request is a request to the target.
            self.client.answers += line.completed + line.redirects.values().sum::<u64>();
            for (class, count) in &line.failed {
                match fate(*class) {
                    Fate::Answered => self.client.answers += count,
                    Fate::Unknown => self.client.unanswered += count,
                    Fate::NeverSent => {}
                }
            }
            let length_ns = line.end_ns.saturating_sub(line.start_ns);
            self.first.get_or_insert((self.client.answers - answers_before, length_ns));
        }
        self.in_flight = match line.phase {
            // After the last sample none is sent.
            Some(Phase::Drain) => self.in_flight,
            _ => line.in_flight,
        };
    }

    /// Waits for the readings and takes the difference; `None` where the samples did not end.
    pub(crate) fn finish(mut self) -> Option<ServerSide> {
        let (ask, thread) = self.thread.take()?;
        drop(ask);
        self.told(&thread.join().unwrap_or_default())
    }

    fn told(&self, moments: &[Moment]) -> Option<ServerSide> {
        let ([first, last], (begin_ns, length_ns)) = (moments, self.window?) else { return None };
        let counted = server_side::between(&first.reading, &last.reading);
        let mut missing: Vec<Said> = Vec::new();
        for reason in first.missing.iter().chain(&last.missing).chain(&counted.missing) {
            if !missing.contains(reason) {
                missing.push(reason.clone());
            }
        }
        let late_ns = first.over.0.saturating_sub(begin_ns) as f64;
        let rate_of = |(answers, length_ns): (u64, u64)| answers as f64 / length_ns.max(1) as f64;
        // A host that was held up makes up for it in a burst, which the mean of the samples does not show.
        let rate = rate_of((self.client.answers, length_ns)).max(self.first.map_or(0.0, rate_of));
        // Each is a request a second that the target may count.
        let metrics = &self.metrics;
        let ticking = [&metrics.go_runtime, &metrics.php_opcache, &metrics.php_runtime, &metrics.swoole];
        let ticking = ticking.into_iter().flatten().count() as u64;
        let runtime = ticking * (length_ns.div_ceil(Nanos::SECOND.0) + 1);
        let client = ClientSide {
            in_flight: self.client.in_flight + self.in_flight,
            before_reading: (rate * late_ns).ceil() as u64,
            own: server_side::requests_of_a_reading(&self.metrics) + runtime,
            ..self.client
        };
        Some(ServerSide { requests: counted.requests, p95: counted.p95, client, missing })
    }
}

fn read_when_asked(
    at: &Endpoint,
    metrics: &Metrics,
    clock: MonotonicClock,
    asked: &Receiver<()>,
) -> Vec<Moment> {
    let mut moments = Vec::new();
    while asked.recv().is_ok() {
        let (reading, errors) = server_side::read(at, metrics);
        let missing = errors.iter().map(|error| error.to_string().into()).collect();
        moments.push(Moment { over: clock.now(), reading, missing });
    }
    moments
}

/// What a failed request was to the target.
enum Fate {
    /// It answered in full.
    Answered,
    /// It may have counted the request or not.
    Unknown,
    /// It has seen nothing of it.
    NeverSent,
}

fn fate(class: ErrorClass) -> Fate {
    use ErrorClass as E;
    match class {
        E::UnexpectedStatus | E::WrongBody | E::Check | E::Redirect => Fate::Answered,
        E::Reset
        | E::Timeout
        | E::PrematureClose
        | E::Malformed
        | E::Io
        | E::Tls
        | E::StreamReset
        | E::Goaway
        | E::Protocol
        | E::Flood
        // A proxy may have said these.
        | E::GrpcCancelled
        | E::GrpcUnknown
        | E::GrpcInvalidArgument
        | E::GrpcDeadlineExceeded
        | E::GrpcNotFound
        | E::GrpcAlreadyExists
        | E::GrpcPermissionDenied
        | E::GrpcResourceExhausted
        | E::GrpcFailedPrecondition
        | E::GrpcAborted
        | E::GrpcOutOfRange
        | E::GrpcUnimplemented
        | E::GrpcInternal
        | E::GrpcUnavailable
        | E::GrpcDataLoss
        | E::GrpcUnauthenticated => Fate::Unknown,
        E::Refused
        | E::ConnectTimeout
        | E::Unreachable
        | E::AddressNotAvailable
        | E::DescriptorLimit
        | E::NameResolution
        | E::Deadline
        | E::Script
        | E::Proxy
        | E::RefusedStream => Fate::NeverSent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(phase: Phase, second: u64, completed: u64, in_flight: u64) -> IntervalLine {
        IntervalLine {
            start_ns: second * 1_000_000_000,
            end_ns: (second + 1) * 1_000_000_000,
            phase: Some(phase),
            completed,
            in_flight,
            ..IntervalLine::default()
        }
    }

    fn moment(over_ms: u64, requests: Option<u64>, missing: &[&str]) -> Moment {
        Moment {
            over: Nanos::from_millis(over_ms),
            reading: Reading { requests, buckets: None },
            missing: missing.iter().map(|reason| (*reason).into()).collect(),
        }
    }

    /// Two seconds of samples after one of warm-up, 3 in flight where they begin and 1 where they end.
    fn of_two_seconds() -> ServerCounts {
        let at = Endpoint { addr: ([127, 0, 0, 1], 9).into(), host: String::new(), tls: None };
        let metrics =
            Metrics { go_runtime: Some("/debug".to_owned()), ..of_reference(&Reference::default()) };
        let mut own = ServerCounts::new(&metrics, at).expect("it counts");
        let mut failing = line(Phase::Sample, 1, 1_995, 9);
        failing.failed = BTreeMap::from([
            (ErrorClass::UnexpectedStatus, 5),
            (ErrorClass::Reset, 4),
            (ErrorClass::Refused, 8),
        ]);
        let lines = [
            line(Phase::Warmup, 0, 700, 3),
            failing,
            line(Phase::Sample, 2, 2_000, 1),
            line(Phase::Drain, 3, 50, 0),
        ];
        lines.iter().for_each(|line| own.interval(line));
        own
    }

    #[test]
    fn the_clients_side_is_that_of_the_samples_and_their_borders() {
        let seen = of_two_seconds().told(&[moment(1_010, Some(700), &[]), moment(3_001, Some(4_690), &[])]);
        let seen = seen.expect("both readings are there");
        assert_eq!((seen.requests, &seen.missing[..]), (Some(3_990), &[][..]));
        // 10 ms at 2,000/s; two readings and those of three ticks.
        let client =
            ClientSide { answers: 4_000, unanswered: 4, in_flight: 3 + 1, before_reading: 20, own: 1 + 3 };
        assert_eq!(seen.client, client);
    }

    #[test]
    fn what_comes_in_a_burst_before_the_reading_is_allowed_for() {
        let mut own = of_two_seconds();
        own.interval(&line(Phase::Sample, 3, 100, 1));
        let allowed = |own: &ServerCounts| {
            let moments = [moment(1_010, Some(700), &[]), moment(4_001, Some(4_790), &[])];
            own.told(&moments).expect("both readings are there").client.before_reading
        };
        // 4,100 in three seconds, 2,000 of them in the first.
        assert_eq!(allowed(&own), 20);
        own.first = None;
        assert_eq!(allowed(&own), 14, "by the mean rate of all samples");
    }

    #[test]
    fn what_was_not_read_is_told_once() {
        let own = of_two_seconds();
        let seen = own.told(&[moment(1_000, None, &["no"]), moment(3_000, Some(9), &["no", "never"])]);
        let seen = seen.expect("both readings were tried");
        assert_eq!((seen.requests, seen.missing), (None, vec![Said::from("no"), Said::from("never")]));
        assert_eq!(own.told(&[moment(1_000, None, &[])]), None, "the samples did not end");
        let restarted = own.told(&[moment(1_000, Some(9), &[]), moment(3_000, Some(2), &[])]).expect("both");
        assert!(restarted.requests.is_none() && restarted.missing[0].contains("started again"));
    }

    #[test]
    fn the_reference_target_is_timed_only_where_it_sees_every_request_come() {
        let timed = |change: fn(&mut Reference)| {
            let mut law = Reference::default();
            change(&mut law);
            of_reference(&law).prometheus.is_some()
        };
        assert!(timed(|law| law.mean = Some(Nanos::from_millis(1))));
        assert!(!timed(|_| ()), "at once is beyond its limit");
        assert!(!timed(|law| (law.mean, law.servers) = (Some(Nanos::from_millis(1)), Some(11))));
        assert!(!timed(|law| law.burn = Some(Nanos::from_millis(1))));
        assert!(!timed(|law| (law.mean, law.freeze) = (Some(Nanos::from_millis(1)), Some("1s+1s".into()))));
        let family = Reference { connections_max: Some(units::Count(100_000)), ..Reference::default() };
        assert_eq!(of_reference(&family), Metrics::default());
    }
}
