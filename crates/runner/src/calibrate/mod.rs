//! `prony calibrate`: what the instrument itself can do on this host, measured against the reference target, whose
//! service time is known (DESIGN, Trust).
//!
//! Invariants: one worker, on a CPU of its own where there are two; every point is measured [`REPEATS`] times, in an
//! order drawn again for each repeat, so that a drift of the host hits all points alike; nothing is thrown away but
//! measurements without a single answer; the reference targets are gone when it returns, also after an error.
//! Absent on purpose: what the limits mean for a plan (analyze), and words for people (report).

mod beside;
mod fold;
mod host;
mod job;
mod point;
mod store;
mod unloaded;

pub use host::identity;
pub use store::{limit_of, read, state_folder, write};

pub use job::CalibrateJob;

use crate::RunnerError;
use point::{Bench, Point};
use schema::calibration::CalibrationFile;
use schema::plan::DriverChoice;
use schema::version::CalibrationVersion;
use std::sync::atomic::Ordering;
use std::time::Instant;
use units::{Nanos, Seed};

/// Measurements of every point.
pub const REPEATS: u32 = 3;
/// Time of a calibration.
pub const BUDGET: Nanos = Nanos::from_secs(60);
/// Time of a quick one.
pub const BUDGET_QUICK: Nanos = Nanos::from_secs(10);
/// Least and most time of a calibration.
pub const BUDGET_BOUNDS: (Nanos, Nanos) = (Nanos::from_secs(2), Nanos::from_secs(3600));

/// How far a calibration is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Measurements done.
    pub done: usize,
    /// Measurements in total.
    pub total: usize,
    /// What is being measured.
    pub what: String,
}

/// Measures the instrument. Confines the calling thread to the generator's CPUs.
///
/// # Errors
/// The reference target does not start, the engine fails, or `stop` was set ([`RunnerError::Interrupted`]).
pub fn calibrate(
    job: &CalibrateJob,
    progress: &mut dyn FnMut(&Progress),
) -> Result<CalibrationFile, RunnerError> {
    let begin = Instant::now();
    let measured_wall = jiff::Timestamp::now().to_string();
    let host = identity()?;
    if let Some(cpus) = &job.pin.generator {
        launch::pin::confine_this_thread(cpus)
            .map_err(RunnerError::io("run on the CPUs of", "prony".as_ref()))?;
    }
    let beside = beside::Beside::begin();
    let order = order(&engine::drivers(), job.quick, job.seed);
    let bench = Bench::start(job)?;
    let mut unloaded = unloaded::Unloaded::default();
    let mut found = fold::Findings::default();
    for (done, step) in order.iter().enumerate() {
        if job.stop.load(Ordering::Relaxed) {
            return Err(RunnerError::Interrupted);
        }
        let left = job.budget.0.saturating_sub(Nanos::from(begin.elapsed()).0);
        let share_ns = left / (order.len() - done) as u64;
        let what = step.map_or_else(|| "clock and fixed work".to_owned(), |(_, point)| point.to_string());
        progress(&Progress { done, total: order.len(), what });
        match step {
            None => unloaded.measure(job.pin.generator.as_deref(), Nanos(share_ns)),
            Some((driver, point)) => found.add(*driver, *point, bench.measure(*driver, *point, share_ns)?),
        }
    }
    let host_state = beside.end();
    bench.stop()?;
    Ok(CalibrationFile {
        schema: CalibrationVersion::default(),
        host,
        measured_wall,
        took_ns: Nanos::from(begin.elapsed()).0,
        pin: job.pin.clone(),
        repeats: REPEATS,
        seed: job.seed,
        clock: unloaded.clock(),
        histogram: unloaded::histogram_error(),
        fixed_work: unloaded.fixed_work(),
        disturbed: beside::disturbed(&host_state).or_else(|| unloaded::disturbed(&unloaded.fixed_work())),
        host_state: Some(host_state),
        drivers: found.drivers(),
    })
}

/// One measurement: without load, or of a point.
type Step = Option<(DriverChoice, Point)>;

/// All measurements: each repeat visits everything once, in an order of its own (METHOD §3).
fn order(drivers: &[DriverChoice], quick: bool, seed: u64) -> Vec<Step> {
    let points = point::points(quick);
    (0..REPEATS)
        .flat_map(|repeat| {
            let loads = drivers.iter().flat_map(|driver| points.iter().map(|point| Some((*driver, *point))));
            let mut steps: Vec<Step> = std::iter::once(None).chain(loads).collect();
            Seed(seed).derive("calibration", repeat.into()).rng().shuffle(&mut steps);
            steps
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_repeat_visits_everything_once_in_an_order_of_its_own() {
        let drivers = [DriverChoice::Epoll, DriverChoice::IoUring];
        let steps = order(&drivers, true, 7);
        let each = 1 + 2 * point::points(true).len();
        assert_eq!(steps.len(), REPEATS as usize * each);
        let names = |part: &[Step]| part.iter().map(|step| format!("{step:?}")).collect::<Vec<_>>();
        let sorted = |part: &[Step]| {
            let mut names = names(part);
            names.sort();
            names
        };
        let repeats: Vec<_> = steps.chunks(each).collect();
        assert_eq!(sorted(repeats[0]), sorted(repeats[1]));
        assert_ne!(names(repeats[0]), names(repeats[1]));
        let mut once = sorted(repeats[0]);
        once.dedup();
        assert_eq!(once.len(), each);
        assert_eq!(names(&steps), names(&order(&drivers, true, 7)), "a function of the seed");
        assert_ne!(names(&steps), names(&order(&drivers, true, 8)));
    }
}
