//! What a load asks of the instrument against what a calibration says that it can give.
//!
//! A calibration knows one worker. N workers are taken for N times as much, as far as each has a CPU of its own:
//! workers share nothing while load runs. Between calibrated points, limits are interpolated linearly over the
//! logarithm of connections or rate; beyond the ends the nearest point holds, because a line drawn further is a guess.
//! A closed load names no rate, so nothing is said of it beforehand: the gate `generator_cpu` judges it afterwards.

use crate::run::load_in_words;
use crate::trial::PACER_LAG_NS;
use crate::words::{Noun, count, duration, number};
use schema::calibration::{
    CalibrationFile, CalibrationSummary, DriverLimits, HostIdentity, InstrumentError, LagAtRate, Lateness,
    Shortfall, Spread,
};
use schema::plan::{DriverChoice, LoadPlan};
use schema::said;
use schema::said::{Arg, Said};

/// What is asked for times this must be within the limit. At four fifths of what a worker can do, four of five random
/// arrivals find it busy and 1.6 wait on average (M/D/1: ρ²/2(1−ρ)); beyond, lag grows without bound.
const RESERVE: f64 = 1.25;
/// METHOD §1: pacer lag is allowed up to this share of the p99 response time.
const LAG_SHARE: f64 = 0.05;
/// A calibrated rate counts as kept from this share on (METHOD §1).
const KEPT: f64 = 0.99;

/// What has changed on the host since it was calibrated, in words; empty where the calibration holds.
#[must_use]
pub fn stale(then: &HostIdentity, now: &HostIdentity) -> Vec<Said> {
    let cpus = |host: &HostIdentity| host.cpus.to_string();
    [
        (Arg::from("prony"), then.prony.clone(), now.prony.clone()),
        (said!("stale.kernel", "the kernel").into(), then.kernel.clone(), now.kernel.clone()),
        (said!("stale.cpus", "the number of usable CPUs").into(), cpus(then), cpus(now)),
    ]
    .into_iter()
    .filter(|(_, then, now)| then != now)
    .map(|(what, then, now)| said!("stale.was", "{what} was {then} and is {now}", what, then, now))
    .collect()
}

/// The limits for these loads, the first of which has to be there, with what they ask beyond them. `generator_cpus` is
/// how many CPUs the workers may use. `None` where the driver was not calibrated.
#[must_use]
pub fn instrument_limit(
    file: &CalibrationFile,
    stale: Vec<Said>,
    driver: DriverChoice,
    generator_cpus: usize,
    loads: &[&LoadPlan],
) -> Option<CalibrationSummary> {
    let limits = file.drivers.iter().find(|limits| limits.driver == driver)?;
    let most = *loads.iter().rev().max_by_key(|load| load.connections)?;
    let of = |load| Ability::new(limits, generator_cpus, load);
    let fastest = loads.iter().rev().max_by(|a, b| rate(a).total_cmp(&rate(b)));
    let asked = fastest.filter(|load| rate(load) > 0.0);
    let (lag_rate_per_s, lag_p99_ns) = match asked {
        Some(load) => (Some(rate(load)), of(load).lag_p99_ns(rate(load))),
        None => of(most).best_kept().unzip(),
    };
    let ability = of(most);
    let mut shortfalls = Vec::new();
    // Limits of a busy host are those of the host: what they would say of the instrument is not said.
    let is_quiet = file.disturbed.is_none();
    for found in loads.iter().flat_map(|load| of(load).shortfalls(load)) {
        // Cells that differ in their targets only ask for the same.
        let found = if is_quiet { found } else { calibrated_when_busy(file) };
        if !shortfalls.contains(&found) {
            shortfalls.push(found);
        }
    }
    Some(CalibrationSummary {
        fingerprint: file.host.fingerprint.clone(),
        measured_wall: file.measured_wall.clone(),
        driver,
        workers: most.workers,
        connections: most.connections,
        max_rate_per_s: ability.max_rate_per_s,
        max_rate_derived: ability.derived,
        lag_rate_per_s,
        lag_p99_ns,
        error: Some(error(file, asked.and_then(|load| of(load).lateness(rate(load))))),
        disturbed: file.disturbed.clone(),
        stale,
        shortfalls,
    })
}

/// How far off a recorded time may be: medians of the calibration's repeats.
fn error(file: &CalibrationFile, late: Option<Lateness>) -> InstrumentError {
    InstrumentError {
        clock_ns: file.clock.step_ns.median + file.clock.read_ns.median,
        histogram_share: file.histogram.relative_max,
        wake_p99_ns: file.clock.wake_late_p99_ns.median,
        late,
    }
}

/// In place of what limits measured on a busy host would say.
fn calibrated_when_busy(file: &CalibrationFile) -> Shortfall {
    let why = file.disturbed.clone().unwrap_or_default();
    Shortfall {
        text: said!(
            "instrument.calibrated_when_busy",
            "the calibration cannot say whether the instrument gives what is asked for: the host was busy then ({why})",
            why
        ),
        remedy: said!(
            "instrument.calibrate_when_quiet",
            "run `prony calibrate` again while the host is quiet"
        ),
    }
}

/// The rate asked for; 0 for a closed load.
fn rate(load: &LoadPlan) -> f64 {
    load.rate_per_s.filter(|rate| rate.is_finite()).unwrap_or_default()
}

/// What the instrument can give for one load.
struct Ability<'a> {
    limits: &'a DriverLimits,
    /// Workers that have a CPU of their own.
    workers: f64,
    max_rate_per_s: Option<f64>,
    /// One of the points between which it was found is derived from CPU time.
    derived: bool,
}

impl<'a> Ability<'a> {
    fn new(limits: &'a DriverLimits, generator_cpus: usize, load: &LoadPlan) -> Self {
        let cpus = u32::try_from(generator_cpus).unwrap_or(u32::MAX);
        let workers = f64::from(load.workers.min(cpus).max(1));
        let each = f64::from(load.connections) / f64::from(load.workers.max(1));
        let points = || limits.max_rate_by_connections.iter();
        let curve: Vec<(f64, f64)> =
            points().map(|point| (point.connections.into(), point.limit_per_s)).collect();
        let below = points().rev().find(|point| f64::from(point.connections) <= each);
        let above = points().find(|point| f64::from(point.connections) >= each);
        Self {
            limits,
            workers,
            max_rate_per_s: interpolate(&curve, each).map(|limit| limit * workers),
            derived: below.into_iter().chain(above).any(|point| point.server_limited),
        }
    }

    /// p99 lag at a rate of all workers together; `None` beyond the highest calibrated rate.
    fn lag_p99_ns(&self, rate_per_s: f64) -> Option<f64> {
        self.lag(rate_per_s, |point| point.lag_p99_ns)
    }

    /// Mean, p99 and longest lateness at a rate of all workers together; `None` beyond the highest calibrated rate.
    fn lateness(&self, rate_per_s: f64) -> Option<Lateness> {
        let p99_ns = self.lag_p99_ns(rate_per_s)?;
        let p50_ns = self.lag(rate_per_s, |point| point.lag_p50_ns)?;
        let max_ns = self.lag(rate_per_s, |point| point.lag_max_ns)?;
        Some(Lateness { mean_ns: 0.5 * p50_ns + 0.49 * p99_ns + 0.01 * max_ns, p99_ns, max_ns })
    }

    fn lag(&self, rate_per_s: f64, of: impl Fn(&LagAtRate) -> Spread) -> Option<f64> {
        let curve: Vec<(f64, f64)> =
            self.limits.lag_by_rate.iter().map(|point| (point.rate_per_s, of(point).median)).collect();
        let each = rate_per_s / self.workers;
        curve.last().filter(|(highest, _)| each <= *highest)?;
        interpolate(&curve, each)
    }

    /// The highest calibrated rate that was kept, all workers together, with its p99 lag.
    fn best_kept(&self) -> Option<(f64, f64)> {
        let kept = self.limits.lag_by_rate.iter().rev().find(|point| point.achieved_share.median >= KEPT)?;
        Some((kept.rate_per_s * self.workers, kept.lag_p99_ns.median))
    }

    fn shortfalls(&self, load: &LoadPlan) -> Vec<Shortfall> {
        let rate = rate(load);
        if rate <= 0.0 {
            return Vec::new();
        }
        [self.rate_shortfall(load, rate), self.lag_shortfall(load, rate)].into_iter().flatten().collect()
    }

    fn rate_shortfall(&self, load: &LoadPlan, rate: f64) -> Option<Shortfall> {
        let limit = self.max_rate_per_s.filter(|limit| *limit > 0.0)?;
        if rate * RESERVE <= limit {
            return None;
        }
        let by_how_much = if rate > limit {
            said!("instrument.times_that", "{times} times that is asked for", times = number(rate / limit))
        } else {
            said!(
                "instrument.reserve",
                "that leaves {times} times of reserve where {needed} are needed",
                times = number(limit / rate),
                needed = RESERVE
            )
        };
        let workers = (rate * RESERVE * self.workers / limit).ceil();
        Some(Shortfall {
            text: said!(
                "instrument.rate_shortfall",
                "{load} with {workers}: the instrument gives at most {limit} per second there, {by_how_much}",
                load = load_in_words(load),
                workers = count(load.workers as usize, Noun::Worker),
                limit = number(limit),
                by_how_much
            ),
            remedy: said!(
                "instrument.more_workers",
                "use {workers} workers, each on a CPU of its own, or more machines, or ask for at most {rate} per second",
                workers = number(workers),
                rate = number(limit / RESERVE)
            ),
        })
    }

    fn lag_shortfall(&self, load: &LoadPlan, rate: f64) -> Option<Shortfall> {
        let lag = self.lag_p99_ns(rate).filter(|lag| *lag > PACER_LAG_NS)?;
        Some(Shortfall {
            text: said!(
                "instrument.lag_shortfall",
                "{load} with {workers}: the instrument itself is {lag} late there (p99), {allowed} is always allowed; trials \
                 are void unless the target's p99 response time is above {from}",
                load = load_in_words(load),
                workers = count(load.workers as usize, Noun::Worker),
                lag = duration(lag),
                allowed = duration(PACER_LAG_NS),
                from = duration(lag / LAG_SHARE)
            ),
            remedy: said!(
                "instrument.lower_rate",
                "use more workers, each on a CPU of its own, a quieter machine, or a lower rate"
            ),
        })
    }
}

/// Linear in the logarithm of x between `points` (x ascending and above 0); the nearest point beyond the ends.
fn interpolate(points: &[(f64, f64)], x: f64) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    if x <= first.0 {
        return Some(first.1);
    }
    if x >= last.0 {
        return Some(last.1);
    }
    let at = points.iter().position(|point| point.0 >= x)?;
    let ((x0, y0), (x1, y1)) = (points[at.checked_sub(1)?], points[at]);
    let share = (x / x0).ln() / (x1 / x0).ln();
    Some(if share.is_finite() { y0 + share * (y1 - y0) } else { y0.min(y1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_between_points_lie_on_the_logarithm() {
        let points = [(1.0, 10.0), (100.0, 30.0), (10_000.0, 20.0)];
        for (x, wanted) in
            [(0.1, 10.0), (1.0, 10.0), (10.0, 20.0), (100.0, 30.0), (1_000.0, 25.0), (1e9, 20.0)]
        {
            assert_eq!(interpolate(&points, x), Some(wanted), "{x}");
        }
        assert_eq!(interpolate(&[], 1.0), None);
        assert_eq!(interpolate(&[(5.0, 1.0), (5.0, 2.0)], 5.0), Some(1.0));
    }
}
