//! Ctrl-C, SIGTERM and SIGHUP: the first asks for a clean end with the results so far, a second Ctrl-C or SIGTERM
//! ends at once.

use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::process::{Child, ExitStatus};
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

/// Ends this process as by SIGTERM once the thread that started it is gone, however that ended.
pub(crate) fn go_with_parent() -> std::io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::TERM))?)
}

/// Waits for a process in a group of its own, and passes the first signal on to it: what ends one process only, such as
/// `kill`, must end both, and Ctrl-C must not reach it twice, which would end it without its results.
pub(crate) fn wait_for(child: &mut Child, stop: &AtomicBool) -> std::io::Result<ExitStatus> {
    let mut is_passed_on = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) && !is_passed_on {
            is_passed_on = true;
            // It has not been waited for, so the number is its own.
            kill_process(Pid::from_child(child), Signal::TERM)?;
        }
        std::thread::sleep(LOOK);
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
