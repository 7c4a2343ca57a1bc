//! How a soak is cut into windows.

use crate::RunnerError;
use record::segments::WINDOWS_MAX;
use schema::soak::{SoakPlan, StopWhen};
use units::Nanos;

/// Longest window unless another is asked for …
const WINDOW_USUAL: Nanos = Nanos::from_secs(60);
/// … or the soak is so long that there would be more of them than this.
const WINDOWS_USUAL_MAX: u64 = 1_000;
/// A short soak is cut into this many.
const WINDOWS_SHORT: u64 = 60;
/// Shortest window: as the shortest sample of an experiment.
const WINDOW_MIN: Nanos = Nanos::from_millis(100);
/// Longest: as the longest sample.
const WINDOW_MAX: Nanos = Nanos::from_secs(86_400);
/// Readings of the counters in a window, so that its floor is one.
const READINGS: u64 = 60;
/// Shortest and longest time between two readings.
const TICKS: (Nanos, Nanos) = (Nanos::from_millis(100), Nanos::from_secs(60));
/// Horizon in lengths of the soak, unless it is given.
const HORIZON_LENGTHS: u64 = 10;

/// A soak of this length: 60 windows up to an hour, then one a minute, at most 1,000 of them; or windows of the length
/// asked for.
///
/// # Errors
/// A length, window or horizon out of range, with the range.
pub fn soak_plan(
    length: Nanos,
    window: Option<Nanos>,
    horizon: Option<Nanos>,
    stop_when: StopWhen,
) -> Result<SoakPlan, RunnerError> {
    let usual = (length.0 / WINDOWS_SHORT).min(WINDOW_USUAL.0).max(length.0.div_ceil(WINDOWS_USUAL_MAX));
    // In whole milliseconds, so that it can be read.
    let window = window.unwrap_or(Nanos(usual / 1_000_000 * 1_000_000)).0;
    if !(WINDOW_MIN.0..=WINDOW_MAX.0).contains(&window) {
        return Err(RunnerError::Soak {
            cause: format!("windows of {} are out of range", Nanos(window)),
            remedy: format!("give from {WINDOW_MIN} to 1d with --window, or a longer --for"),
        });
    }
    let windows = length.0 / window;
    let range = analyze::WINDOWS_MIN as u64..=WINDOWS_MAX;
    if !range.contains(&windows) {
        return Err(RunnerError::Soak {
            cause: format!("{length} has {windows} windows of {}", Nanos(window)),
            remedy: format!(
                "choose --for and --window so that there are from {} to {}",
                range.start(),
                range.end()
            ),
        });
    }
    let horizon = horizon.unwrap_or(Nanos(length.0.saturating_mul(HORIZON_LENGTHS)));
    if horizon == Nanos(0) {
        return Err(RunnerError::Soak {
            cause: "within a horizon of 0 nothing is ever exhausted".to_owned(),
            remedy: "give a horizon such as 7d".to_owned(),
        });
    }
    Ok(SoakPlan {
        window_ns: window,
        windows: windows as u32,
        tick_ns: (window / READINGS).clamp(TICKS.0.0, TICKS.1.0),
        horizon_ns: horizon.0,
        stop_when,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(length: &str, window: Option<&str>, wanted: &str) {
        let parse = |text: &str| text.parse().unwrap();
        let got = match soak_plan(parse(length), window.map(parse), None, StopWhen::Leak) {
            Ok(plan) => format!("{} × {}", plan.windows, Nanos(plan.window_ns)),
            Err(error) => error.to_string(),
        };
        assert!(got.contains(wanted), "{length} {window:?}: {got}");
    }

    #[test]
    fn windows_follow_the_length() {
        check("8h", None, "480 × 1m");
        check("30m", None, "60 × 30s");
        check("1h", None, "60 × 1m");
        check("30s", None, "60 × 500ms");
        check("7d", None, "1000 × ");
        check("20s", Some("500ms"), "40 × 500ms");
        check("5s", None, "windows of");
        check("10m", Some("1m"), "from 30 to 2000");
        check("1d", Some("1s"), "from 30 to 2000");
        check("1h", Some("0s"), "out of range");
    }

    #[test]
    fn ticks_and_horizon_follow_too() {
        let plan = |length: &str, horizon: Option<&str>| {
            soak_plan(length.parse().unwrap(), None, horizon.map(|h| h.parse().unwrap()), StopWhen::Never)
        };
        let eight = plan("8h", None).unwrap();
        assert_eq!((eight.tick_ns, eight.horizon_ns), (1_000_000_000, 80 * 3600 * 1_000_000_000));
        assert_eq!(plan("30s", None).unwrap().tick_ns, 100_000_000);
        assert_eq!(plan("8h", Some("7d")).unwrap().horizon_ns, 7 * 86_400 * 1_000_000_000);
        assert!(plan("8h", Some("0s")).is_err());
    }
}
