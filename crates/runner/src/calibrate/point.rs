//! One point of a calibration: a short load against a reference target, and what was seen of the generator.

use super::job::CalibrateJob;
use crate::{RunnerError, reference};
use engine::{IntervalData, new_histogram};
use generate::measure::{Measured, Watch, measure};
use hdrhistogram::Histogram;
use launch::{RunningTarget, Scratch};
use plan::LoadJob;
use schema::arrival::ArrivalPlan;
use schema::experiment::{LoadModel, Reference, ServiceLaw};
use schema::load::Time;
use schema::plan::{DriverChoice, ExpectPlan, LoadPlan, PhasePlan, RequestPlan, ScenarioPlan};
use schema::trial::{IntervalLine, Phase};
use std::fmt;
use std::sync::atomic::Ordering;
use units::Nanos;

/// Rate at which overhead is measured: a request every 2 ms, so that none waits for another.
pub(super) const REFERENCE_RATE_PER_S: u32 = 500;
/// Service time of the second reference target.
const KNOWN: Nanos = Nanos::MILLI;
/// Connections of open loads.
const CONNECTIONS: u32 = 64;
/// Parts of equal length that a load is cut into: one of warm-up, the others measured.
const PARTS: u64 = 5;
/// Bounds of the length of a part.
const PART_NS: (u64, u64) = (10_000_000, 1_000_000_000);
/// What connecting and draining take of a measurement's time.
const AROUND_NS: u64 = 20_000_000;
/// Longest wait for requests in flight.
const DRAIN: Nanos = Nanos::from_millis(100);

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Point {
    /// Closed load as fast as it goes.
    MaxRate { connections: u32 },
    /// Open load, evenly spaced.
    Lag { rate_per_s: u32 },
    /// Few requests to a server whose service time is known.
    Overhead { known_ns: u64 },
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MaxRate { connections: 1 } => write!(f, "maximum rate over 1 connection"),
            Self::MaxRate { connections } => write!(f, "maximum rate over {connections} connections"),
            Self::Lag { rate_per_s } => write!(f, "lag at {rate_per_s}/s"),
            Self::Overhead { known_ns } => write!(f, "overhead on a service time of {}", Nanos(*known_ns)),
        }
    }
}

/// The points of a calibration.
pub(super) fn points(quick: bool) -> Vec<Point> {
    let (connections, rates): (&[u32], &[u32]) = if quick {
        (&[1, 16, 64], &[1_000, 10_000])
    } else {
        (&[1, 4, 16, 64, 256], &[100, 1_000, 5_000, 10_000, 20_000, 50_000])
    };
    let max = connections.iter().map(|connections| Point::MaxRate { connections: *connections });
    let lag = rates.iter().map(|rate_per_s| Point::Lag { rate_per_s: *rate_per_s });
    let known = [Nanos::ZERO, KNOWN].into_iter().map(|known| Point::Overhead { known_ns: known.0 });
    max.chain(lag).chain(known).collect()
}

/// What one measurement showed of the generator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Observation {
    pub(super) requests: u64,
    pub(super) rate_per_s: f64,
    pub(super) cpu_per_request_ns: f64,
    pub(super) busy_share: f64,
    pub(super) lag_p50_ns: f64,
    pub(super) lag_p99_ns: f64,
    pub(super) lag_max_ns: f64,
    pub(super) achieved_share: f64,
    pub(super) service_p50_ns: f64,
}

/// Two reference targets that wait for load: one answers at once, one after [`KNOWN`]. Dropped, both end.
pub(super) struct Bench<'a> {
    job: &'a CalibrateJob,
    at_once: RunningTarget,
    known: RunningTarget,
    scratch: Scratch,
}

impl<'a> Bench<'a> {
    pub(super) fn start(job: &'a CalibrateJob) -> Result<Self, RunnerError> {
        let scratch = Scratch::make().map_err(RunnerError::io("make a folder in", &std::env::temp_dir()))?;
        let start = |name: &str, mean: Nanos| {
            let law = Reference {
                law: Some(ServiceLaw::Constant),
                mean: Some(mean),
                servers: Some(CONNECTIONS),
                ..Reference::default()
            };
            let mut plan = reference::start_plan(&law, false, &scratch.path().join(name), &job.launcher);
            plan.cpus.clone_from(&job.pin.target);
            launch::start(plan)
        };
        let both =
            start("at-once.log", Nanos::ZERO).and_then(|at_once| Ok((at_once, start("known.log", KNOWN)?)));
        match both {
            Ok((at_once, known)) => Ok(Self { job, at_once, known, scratch }),
            Err(error) => {
                scratch.keep();
                Err(error.into())
            }
        }
    }

    /// Ends the targets. Their logs are kept only where this fails, because the error names them.
    pub(super) fn stop(self) -> Result<(), RunnerError> {
        let (at_once, known) = (self.at_once.stop(), self.known.stop());
        if at_once.is_err() || known.is_err() {
            self.scratch.keep();
        }
        Ok(at_once.and(known)?)
    }

    /// Measures a point in about `time_ns`; `None` where not one answer came.
    pub(super) fn measure(
        &self,
        driver: DriverChoice,
        point: Point,
        time_ns: u64,
    ) -> Result<Option<Observation>, RunnerError> {
        let server = match point {
            Point::Overhead { known_ns } if known_ns > 0 => &self.known,
            _ => &self.at_once,
        };
        let generator = &self.job.pin.generator;
        let load = LoadJob {
            further: Vec::new(),
            url: format!("http://{}", server.addr()),
            authority: server.addr().to_string(),
            proxy: None,
            to: server.addr(),
            scenario: ScenarioPlan::single(
                "calibration",
                RequestPlan { method: "GET".into(), path: "/".into(), ..RequestPlan::default() },
                ExpectPlan { status: vec![200], ..ExpectPlan::default() },
            ),
            login: None,
            bodies: Vec::new(),
            load: load_plan(point, driver),
            name: None,
            phases: phases(time_ns),
            requests_max: None,
            arrivals_max: None,
            cpus: generator.as_ref().map(|cpus| cpus.iter().take(1).copied().collect()),
            spin: generator.is_some(),
            network: None,
            each: None,
        };
        let mut watch = Lateness { pacer_lag: new_histogram(), service: new_histogram() };
        let measured = measure(&load.settled(), None, &mut watch, &self.job.stop)?;
        if self.job.stop.load(Ordering::Relaxed) {
            return Err(RunnerError::Interrupted);
        }
        Ok(observation(&measured, &watch))
    }
}

fn load_plan(point: Point, driver: DriverChoice) -> LoadPlan {
    let (connections, rate) = match point {
        Point::MaxRate { connections } => (connections, None),
        Point::Lag { rate_per_s } => (CONNECTIONS, Some(rate_per_s)),
        Point::Overhead { .. } => (CONNECTIONS, Some(REFERENCE_RATE_PER_S)),
    };
    LoadPlan {
        model: if rate.is_some() { LoadModel::Open } else { LoadModel::Closed },
        connections,
        connections_max: connections,
        rate_per_s: rate.map(f64::from),
        arrivals: rate.map(|_| ArrivalPlan::Constant),
        workers: 1,
        connect_timeout_ns: Nanos::from_secs(5).0,
        timeout_ns: Nanos::from_secs(5).0,
        seed: 1,
        driver,
        ..LoadPlan::default()
    }
}

fn phases(time_ns: u64) -> PhasePlan {
    let part_ns = (time_ns.saturating_sub(AROUND_NS) / PARTS).clamp(PART_NS.0, PART_NS.1);
    PhasePlan {
        warmup_at_least_ns: part_ns,
        warmup_at_most_ns: part_ns,
        warmup_also: Default::default(),
        sample_ns: part_ns,
        samples: (PARTS - 1) as u32,
        drain_ns: DRAIN.0,
    }
}

/// Adds up the times of the measured window.
struct Lateness {
    pacer_lag: Histogram<u64>,
    service: Histogram<u64>,
}

impl Watch for Lateness {
    type Error = RunnerError;

    fn interval(&mut self, line: &IntervalLine, data: &IntervalData) -> Result<(), RunnerError> {
        if line.phase != Some(Phase::Warmup) {
            self.pacer_lag
                .add(&data.times[Time::PacerLag])
                .expect("all time histograms have the same bounds");
            self.service.add(&data.times[Time::Service]).expect("all time histograms have the same bounds");
        }
        Ok(())
    }
}

fn observation(measured: &Measured, watch: &Lateness) -> Option<Observation> {
    let report = &measured.report;
    let requests = &report.requests;
    if report.window.answers == 0 || watch.pacer_lag.is_empty() || watch.service.is_empty() {
        return None;
    }
    let ended = requests.completed + requests.failed;
    Some(Observation {
        requests: requests.scheduled,
        rate_per_s: report.throughput_per_s,
        cpu_per_request_ns: report.generator.cpu_s * 1e9 / report.window.answers as f64,
        busy_share: report.generator.busy_share,
        lag_p50_ns: watch.pacer_lag.value_at_quantile(0.5) as f64,
        lag_p99_ns: watch.pacer_lag.value_at_quantile(0.99) as f64,
        lag_max_ns: watch.pacer_lag.max() as f64,
        achieved_share: ended as f64 / requests.scheduled.max(1) as f64,
        service_p50_ns: watch.service.value_at_quantile(0.5) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_fits_its_time() {
        for (time_ns, part_ns) in [(0, 10_000_000), (1_020_000_000, 200_000_000), (u64::MAX, 1_000_000_000)] {
            let phases = phases(time_ns);
            assert_eq!((phases.sample_ns, phases.warmup_at_most_ns, phases.samples), (part_ns, part_ns, 4));
        }
    }

    #[test]
    fn a_quick_calibration_has_every_kind_of_point() {
        for quick in [true, false] {
            let points = points(quick);
            assert!(points.is_sorted());
            let kind = |of: fn(&Point) -> bool| points.iter().filter(|point| of(point)).count();
            assert!(kind(|p| matches!(p, Point::MaxRate { .. })) >= 3);
            assert!(kind(|p| matches!(p, Point::Lag { .. })) >= 2);
            assert_eq!(kind(|p| matches!(p, Point::Overhead { .. })), 2);
        }
        assert_eq!(Point::Overhead { known_ns: KNOWN.0 }.to_string(), "overhead on a service time of 1ms");
    }
}
