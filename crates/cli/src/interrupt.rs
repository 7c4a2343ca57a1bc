//! Ctrl-C, SIGTERM and SIGHUP: the first asks for a clean end with the results so far, a second Ctrl-C or SIGTERM
//! ends at once.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A flag that the first signal sets. Targets are ended by their guards even after the second.
///
/// A closing terminal may hang up twice: the kernel and the shell each send SIGHUP. So a second one does not end the
/// process. SIGHUP stays ignored where it was at the start: `nohup prony …` runs on.
pub(crate) fn stop_flag() -> std::io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the shutdown looks at the flag before the same signal sets it.
        flag::register_conditional_shutdown(signal, crate::exit::INTERRUPTED.into(), stop.clone())?;
        flag::register(signal, stop.clone())?;
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !ignores(&status, SIGHUP) {
        flag::register(SIGHUP, stop.clone())?;
    }
    Ok(stop)
}

/// Between two looks of [`wait_until`].
const LOOK: Duration = Duration::from_millis(50);

/// Waits until a moment, until it is stopped, or until something is so. Returns whether that was so.
pub(crate) fn wait_until(end: Instant, stop: &AtomicBool, mut is_so: impl FnMut() -> bool) -> bool {
    loop {
        if is_so() {
            return true;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || stop.load(Ordering::Relaxed) {
            return false;
        }
        std::thread::sleep(LOOK.min(left));
    }
}

/// Whether a process with this `/proc/PID/status` ignores a signal: bit N - 1 of `SigIgn` (proc(5)).
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        let status = "Name:\tprony\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, SIGHUP));
        assert!(!ignores(status, SIGINT));
        assert!(!ignores("SigIgn:\tx\n", SIGHUP) && !ignores("", SIGHUP));
    }
}
