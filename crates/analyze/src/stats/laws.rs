//! The operational laws (Denning & Buzen, Computing Surveys 10, 1978): what throughput, response time and use of a
//! resource can be at all. They hold of every system that is counted whole, whatever its distributions (METHOD §6).
//!
//! Times are seconds, throughput is per second. What is negative or not finite has no law: `None`.

/// Little's law in its interactive form: N = X·(R + Z), the requests in the system and the users that think.
#[must_use]
pub fn concurrency(throughput_per_s: f64, response_s: f64, think_s: f64) -> Option<f64> {
    sound(&[throughput_per_s, response_s, think_s])?;
    finite(throughput_per_s * (response_s + think_s))
}

/// The utilisation law: U = X·D, in units of the resource (CPUs where D is CPU time for each request).
#[must_use]
pub fn utilisation(throughput_per_s: f64, demand_s: f64) -> Option<f64> {
    sound(&[throughput_per_s, demand_s])?;
    finite(throughput_per_s * demand_s)
}

/// The asymptotic bound X ≤ min(1/D_max, N/(Z + D)): the bottleneck's, and that of N users who never wait.
///
/// `demand_max_s` is the time for which a request occupies the bottleneck; `demand_s` the time of a request that waits
/// for nothing. Either may be unknown. `None` where nothing bounds.
#[must_use]
pub fn throughput_bound(
    n: f64,
    think_s: f64,
    demand_s: Option<f64>,
    demand_max_s: Option<f64>,
) -> Option<f64> {
    sound(&[n, think_s])?;
    let bottleneck = demand_max_s.filter(|d| *d > 0.0 && d.is_finite()).map(|d| 1.0 / d);
    let users =
        demand_s.filter(|d| *d >= 0.0 && d.is_finite() && think_s + d > 0.0).map(|d| n / (think_s + d));
    let both = [bottleneck, users].into_iter().flatten().filter(|bound| bound.is_finite());
    both.reduce(f64::min)
}

fn sound(values: &[f64]) -> Option<()> {
    values.iter().all(|value| value.is_finite() && *value >= 0.0).then_some(())
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Denning & Buzen 1978, §§ on response time and bottlenecks as given in Lazowska, Zahorjan, Graham & Sevcik,
    /// Quantitative System Performance, 1984, §3.6 and §5.2.
    #[test]
    fn textbook_systems() {
        // §3.6: 64 users, think time 30 s, throughput 2/s: R = N/X − Z = 2 s.
        assert_eq!(concurrency(2.0, 2.0, 30.0), Some(64.0));
        // §3.4: 40 requests a second of 22.5 ms each keep the disk busy 90 % of the time.
        assert!((utilisation(40.0, 0.0225).unwrap() - 0.9).abs() < 1e-12);
        // §5.2: D = 5, 4 and 3 s, Z = 15 s: X ≤ min(N/27, 1/5).
        assert_eq!(throughput_bound(3.0, 15.0, Some(12.0), Some(5.0)), Some(3.0 / 27.0));
        assert_eq!(throughput_bound(10.0, 15.0, Some(12.0), Some(5.0)), Some(0.2));
    }

    #[test]
    fn what_is_unknown_bounds_nothing() {
        assert_eq!(throughput_bound(3.0, 0.0, None, None), None);
        assert_eq!(throughput_bound(3.0, 0.0, Some(0.0), None), None);
        assert_eq!(throughput_bound(3.0, 1.0, None, Some(0.5)), Some(2.0));
        assert_eq!(throughput_bound(f64::NAN, 1.0, None, Some(0.5)), None);
        assert_eq!(concurrency(-1.0, 1.0, 0.0), None);
        assert_eq!(utilisation(f64::MAX, f64::MAX), None);
    }
}
