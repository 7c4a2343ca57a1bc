//! From single measurements to medians with their spread. Pure.

use super::point::{Observation, Point, REFERENCE_RATE_PER_S};
use schema::calibration::{DriverLimits, LagAtRate, MaxRate, Overhead, Spread};
use schema::plan::DriverChoice;

/// A worker that is less busy than this waited for something else: the server.
const BUSY: f64 = 0.9;

/// Everything that was measured under load.
#[derive(Debug, Default)]
pub(super) struct Findings {
    all: Vec<(DriverChoice, Point, Observation)>,
}

impl Findings {
    /// Adds one; a measurement without a single answer tells nothing.
    pub(super) fn add(&mut self, driver: DriverChoice, point: Point, seen: Option<Observation>) {
        self.all.extend(seen.map(|seen| (driver, point, seen)));
    }

    /// One entry a driver, by name; points ascending.
    pub(super) fn drivers(&self) -> Vec<DriverLimits> {
        let mut drivers: Vec<DriverChoice> = Vec::new();
        for (driver, ..) in &self.all {
            if !drivers.contains(driver) {
                drivers.push(*driver);
            }
        }
        drivers.sort_by_key(|driver| format!("{driver:?}"));
        drivers.into_iter().map(|driver| self.of(driver)).collect()
    }

    fn of(&self, driver: DriverChoice) -> DriverLimits {
        let mine = || self.all.iter().filter(move |(of, ..)| *of == driver);
        let mut points: Vec<Point> = Vec::new();
        for (_, point, _) in mine() {
            if !points.contains(point) {
                points.push(*point);
            }
        }
        points.sort();
        let mut limits = DriverLimits {
            driver,
            max_rate_by_connections: Vec::new(),
            lag_by_rate: Vec::new(),
            overhead_per_request: Vec::new(),
        };
        for point in points {
            let seen: Vec<Observation> =
                mine().filter(|(_, at, _)| *at == point).map(|(_, _, seen)| *seen).collect();
            match point {
                Point::MaxRate { connections } => {
                    limits.max_rate_by_connections.extend(max_rate(connections, &seen));
                }
                Point::Lag { rate_per_s } => limits.lag_by_rate.extend(lag(rate_per_s, &seen)),
                Point::Overhead { known_ns } => limits.overhead_per_request.extend(overhead(known_ns, &seen)),
            }
        }
        limits
    }
}

fn max_rate(connections: u32, seen: &[Observation]) -> Option<MaxRate> {
    let rate_per_s = of(seen, |one| one.rate_per_s)?;
    let cpu_per_request_ns = of(seen, |one| one.cpu_per_request_ns)?;
    let busy_share = of(seen, |one| one.busy_share)?;
    let server_limited = busy_share.median < BUSY;
    let by_cpu = 1e9 / cpu_per_request_ns.median.max(1.0);
    let limit_per_s = if server_limited { by_cpu.max(rate_per_s.median) } else { rate_per_s.median };
    Some(MaxRate { connections, rate_per_s, cpu_per_request_ns, busy_share, server_limited, limit_per_s })
}

fn lag(rate_per_s: u32, seen: &[Observation]) -> Option<LagAtRate> {
    Some(LagAtRate {
        rate_per_s: rate_per_s.into(),
        requests: seen.iter().map(|one| one.requests).min()?,
        lag_p50_ns: of(seen, |one| one.lag_p50_ns)?,
        lag_p99_ns: of(seen, |one| one.lag_p99_ns)?,
        lag_max_ns: of(seen, |one| one.lag_max_ns)?,
        achieved_share: of(seen, |one| one.achieved_share)?,
    })
}

fn overhead(known_ns: u64, seen: &[Observation]) -> Option<Overhead> {
    Some(Overhead {
        known_service_ns: known_ns,
        rate_per_s: REFERENCE_RATE_PER_S.into(),
        service_p50_ns: of(seen, |one| one.service_p50_ns)?,
        overhead_ns: of(seen, |one| one.service_p50_ns - known_ns as f64)?,
    })
}

fn of(seen: &[Observation], read: impl Fn(&Observation) -> f64) -> Option<Spread> {
    spread(seen.iter().map(read).collect())
}

/// Median, smallest and largest; of an even number the lower of the two middle ones, which was really seen.
pub(super) fn spread(mut values: Vec<f64>) -> Option<Spread> {
    values.retain(|value| value.is_finite());
    values.sort_unstable_by(f64::total_cmp);
    let median = *values.get(values.len().checked_sub(1)? / 2)?;
    Some(Spread { median, min: *values.first()?, max: *values.last()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(rate_per_s: f64, busy_share: f64) -> Observation {
        Observation {
            requests: 100,
            rate_per_s,
            cpu_per_request_ns: 1e9 * busy_share / rate_per_s,
            busy_share,
            lag_p50_ns: 1_000.0,
            lag_p99_ns: rate_per_s,
            lag_max_ns: 9_000.0,
            achieved_share: 1.0,
            service_p50_ns: 1_030_000.0,
        }
    }

    #[test]
    fn a_spread_is_the_median_with_its_ends() {
        let of = |values: &[f64]| spread(values.to_vec()).map(|found| (found.median, found.min, found.max));
        assert_eq!(of(&[3.0, 1.0, 2.0]), Some((2.0, 1.0, 3.0)));
        assert_eq!(of(&[4.0, 1.0]), Some((1.0, 1.0, 4.0)));
        assert_eq!(of(&[f64::NAN, 5.0]), Some((5.0, 5.0, 5.0)));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn an_idle_worker_means_that_the_server_was_the_limit() {
        let fast = max_rate(64, &[seen(50_000.0, 0.99), seen(52_000.0, 0.98), seen(40_000.0, 0.97)]).unwrap();
        assert_eq!((fast.server_limited, fast.limit_per_s, fast.rate_per_s.min), (false, 50_000.0, 40_000.0));
        // Half busy at 20,000/s: with the CPU to itself it could do 40,000/s.
        let half = max_rate(1, &[seen(20_000.0, 0.5)]).unwrap();
        assert!(half.server_limited && (half.limit_per_s - 40_000.0).abs() < 1e-6, "{half:?}");
    }

    #[test]
    fn measurements_are_gathered_by_point_ascending_and_empty_ones_left_out() {
        let mut found = Findings::default();
        let epoll = DriverChoice::Epoll;
        for rate in [30_000.0, 10_000.0, 20_000.0] {
            found.add(epoll, Point::Lag { rate_per_s: 1_000 }, Some(seen(rate, 0.1)));
        }
        found.add(epoll, Point::MaxRate { connections: 64 }, Some(seen(1.0, 1.0)));
        found.add(epoll, Point::MaxRate { connections: 1 }, Some(seen(1.0, 1.0)));
        found.add(epoll, Point::Lag { rate_per_s: 100 }, None);
        found.add(epoll, Point::Overhead { known_ns: 1_000_000 }, Some(seen(1.0, 1.0)));
        let drivers = found.drivers();
        let [limits] = drivers.as_slice() else { panic!("one driver: {drivers:?}") };
        let connections: Vec<u32> =
            limits.max_rate_by_connections.iter().map(|point| point.connections).collect();
        assert_eq!(connections, [1, 64]);
        assert_eq!(limits.lag_by_rate.len(), 1);
        assert_eq!(limits.lag_by_rate[0].lag_p99_ns.median, 20_000.0);
        assert_eq!(limits.overhead_per_request[0].overhead_ns.median, 30_000.0);
        assert_eq!(Findings::default().drivers(), []);
    }
}
