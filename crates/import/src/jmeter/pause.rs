//! Timers as think times.
//!
//! JMeter waits for all timers in the scope of a sampler, one after the other, before it sends. Their sum keeps its law
//! where at most one of them varies; of several that vary, mean and standard deviation are kept, under a normal law.

use schema::arrival::Think;
use units::Nanos;

/// One timer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Timer {
    /// Always so long.
    Constant { ms: f64 },
    /// Evenly between the two.
    Uniform { from_ms: f64, to_ms: f64 },
    /// Mean and standard deviation.
    Normal { mean_ms: f64, sd_ms: f64 },
}

impl Timer {
    /// Milliseconds that follow Poisson's law with this mean, and an offset. From some dozens on it is normal, with the
    /// root of the mean as its deviation.
    pub(super) fn poisson(offset_ms: f64, mean_ms: f64) -> Self {
        Self::Normal { mean_ms: offset_ms + mean_ms, sd_ms: mean_ms.max(0.0).sqrt() }
    }

    fn mean_ms(self) -> f64 {
        match self {
            Self::Constant { ms } => ms,
            Self::Uniform { from_ms, to_ms } => f64::midpoint(from_ms, to_ms),
            Self::Normal { mean_ms, .. } => mean_ms,
        }
    }

    fn variance(self) -> f64 {
        match self {
            Self::Constant { .. } => 0.0,
            Self::Uniform { from_ms, to_ms } => (to_ms - from_ms).powi(2) / 12.0,
            Self::Normal { sd_ms, .. } => sd_ms * sd_ms,
        }
    }

    /// The same, so much later.
    fn after(self, by_ms: f64) -> Self {
        match self {
            Self::Constant { ms } => Self::Constant { ms: ms + by_ms },
            Self::Uniform { from_ms, to_ms } => {
                Self::Uniform { from_ms: from_ms + by_ms, to_ms: to_ms + by_ms }
            }
            Self::Normal { mean_ms, sd_ms } => Self::Normal { mean_ms: mean_ms + by_ms, sd_ms },
        }
    }
}

/// The sum of timers; `None` where there is nothing to wait for.
pub(super) fn sum(timers: &[Timer]) -> Option<Timer> {
    let (varying, constant): (Vec<Timer>, Vec<Timer>) =
        timers.iter().copied().partition(|timer| timer.variance() > 0.0);
    let constant_ms: f64 = constant.into_iter().map(Timer::mean_ms).sum();
    let whole = match varying[..] {
        [] => Timer::Constant { ms: constant_ms },
        [only] => only.after(constant_ms),
        ref several => Timer::Normal {
            mean_ms: constant_ms + several.iter().map(|timer| timer.mean_ms()).sum::<f64>(),
            sd_ms: several.iter().map(|timer| timer.variance()).sum::<f64>().sqrt(),
        },
    };
    (whole.mean_ms() > 0.0).then_some(whole)
}

/// Whether a sum had several timers that vary, so that its law is not theirs.
pub(super) fn is_approximate(timers: &[Timer]) -> bool {
    timers.iter().filter(|timer| timer.variance() > 0.0).count() > 1
}

/// Longest pause: prony's longest mean is a day.
const PAUSE_MAX_MS: f64 = 86_400_000.0;
/// Largest deviation over mean of a normal law of prony.
const CV_MAX: f64 = 1.0;
/// Smallest; below, it is constant.
const CV_MIN: f64 = 0.001;

/// The think time of a timer, and whether it had to be changed to be one.
pub(super) fn think(timer: Timer) -> (Think, bool) {
    let nanos = |ms: f64| Nanos((ms.clamp(0.0, PAUSE_MAX_MS) * 1e6).round() as u64);
    let is_long = timer.mean_ms() > PAUSE_MAX_MS;
    match timer {
        Timer::Constant { ms } => (Think::Constant { mean: nanos(ms) }, is_long),
        Timer::Uniform { from_ms, to_ms } => {
            let from = (from_ms > 0.0).then(|| nanos(from_ms));
            (Think::Uniform { from, to: nanos(to_ms) }, is_long || from_ms < 0.0 || to_ms > PAUSE_MAX_MS)
        }
        Timer::Normal { mean_ms, sd_ms } => {
            let cv = sd_ms / mean_ms;
            if cv < CV_MIN {
                return (Think::Constant { mean: nanos(mean_ms) }, is_long);
            }
            let sd = nanos(mean_ms.min(PAUSE_MAX_MS) * cv.min(CV_MAX));
            (Think::Normal { mean: nanos(mean_ms), sd: Some(sd), cv: None }, is_long || cv > CV_MAX)
        }
    }
}

/// As an argument of `--think`.
pub(super) fn argument(think: &Think) -> String {
    match think {
        Think::Constant { mean } => mean.to_string(),
        Think::Uniform { from, to } => format!("uniform:from={},to={to}", from.unwrap_or_default()),
        Think::Normal { mean, sd, .. } => format!("normal:mean={mean},sd={}", sd.unwrap_or_default()),
        Think::Exponential { mean } => format!("exponential:mean={mean}"),
        // No timer makes these.
        Think::Lognormal { mean, .. } | Think::Weibull { mean, .. } | Think::Gamma { mean, .. } => {
            mean.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(timers: &[Timer], wanted: &str) {
        let sum = sum(timers).map(|timer| argument(&think(timer).0));
        assert_eq!(sum.as_deref().unwrap_or("none"), wanted, "{timers:?}");
    }

    #[test]
    fn sums_keep_their_law_or_their_moments() {
        let constant = Timer::Constant { ms: 300.0 };
        let uniform = Timer::Uniform { from_ms: 100.0, to_ms: 500.0 };
        let normal = Timer::Normal { mean_ms: 2000.0, sd_ms: 300.0 };
        check(&[], "none");
        check(&[Timer::Constant { ms: 0.0 }], "none");
        check(&[constant, constant], "600ms");
        check(&[constant, uniform], "uniform:from=400ms,to=800ms");
        check(&[normal, constant], "normal:mean=2300ms,sd=300ms");
        check(&[Timer::poisson(100.0, 2500.0)], "normal:mean=2600ms,sd=50ms");
        assert!(is_approximate(&[uniform, normal]) && !is_approximate(&[constant, normal]));
        // Variances of independent pauses add up: 400²/12 and 300².
        let Some(Timer::Normal { mean_ms, sd_ms }) = sum(&[uniform, normal, constant]) else { panic!() };
        assert_eq!(mean_ms, 2600.0);
        assert!((sd_ms * sd_ms - (400.0_f64.powi(2) / 12.0 + 90_000.0)).abs() < 1e-6);
    }

    #[test]
    fn what_no_think_time_can_be_is_bounded_and_said() {
        for (timer, text) in [
            (Timer::Constant { ms: 1e12 }, "24h"),
            (Timer::Normal { mean_ms: 100.0, sd_ms: 900.0 }, "normal:mean=100ms,sd=100ms"),
            (Timer::Uniform { from_ms: -50.0, to_ms: 150.0 }, "uniform:from=0s,to=150ms"),
        ] {
            let (found, is_changed) = think(timer);
            assert!(is_changed, "{timer:?}");
            assert_eq!(argument(&found), text);
        }
        assert_eq!(
            think(Timer::Normal { mean_ms: 1e6, sd_ms: 0.5 }).0,
            Think::Constant { mean: Nanos::from_secs(1000) }
        );
    }
}
