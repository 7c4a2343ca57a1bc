//! What a child used: CPU time from its reaping, peak memory from `/proc` while it lives.
//!
//! CPU time is the growth of `getrusage(RUSAGE_CHILDREN)` over the wait for one child, in microseconds: user and
//! system time of all its threads from its first to its last instruction, and of nobody else, because no other child
//! is waited for in between. `ru_maxrss` is not used: across fork and exec it starts at the size of the parent.

use crate::error::BenchError;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// Time between two looks at a running child. Each costs some 20 µs on a core that need not be the generator's.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What one child used, from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Used {
    /// How it ended; absent where it was killed at its deadline.
    pub(crate) exit: Option<ExitStatus>,
    /// CPU time in user mode.
    pub(crate) user_us: u64,
    /// CPU time in the kernel.
    pub(crate) system_us: u64,
    /// From the start to when the end was seen, at most one look late.
    pub(crate) wall: Duration,
    /// Highest resident memory (`VmHWM`) as last seen; absent where it never was.
    pub(crate) peak_rss_bytes: Option<u64>,
}

/// Waits for `child`, looking at it now and then; kills it at `deadline` from now.
///
/// # Errors
/// The system refuses to wait or to tell the usage.
pub(crate) fn watch(child: &mut Child, deadline: Duration) -> Result<Used, BenchError> {
    let failed = |cause: String| BenchError::Accounting(cause);
    let begin = Instant::now();
    let before = children()?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_rss_bytes = None;
    let mut killed = false;
    let exit = loop {
        // The last look is the one that counts: before exec the file would show the parent's memory.
        if let Some(peak) = std::fs::read_to_string(&status_file).ok().and_then(|text| peak_of(&text)) {
            peak_rss_bytes = Some(peak);
        }
        if let Some(exit) = child.try_wait().map_err(|error| failed(error.to_string()))? {
            break exit;
        }
        if begin.elapsed() > deadline && !killed {
            killed = true;
            child.kill().map_err(|error| failed(error.to_string()))?;
        }
        std::thread::sleep(LOOK_EVERY);
    };
    let (after, wall) = (children()?, begin.elapsed());
    Ok(Used {
        exit: (!killed).then_some(exit),
        user_us: after.0.saturating_sub(before.0),
        system_us: after.1.saturating_sub(before.1),
        wall,
        peak_rss_bytes,
    })
}

/// User and system time in microseconds of all children that were waited for.
fn children() -> Result<(u64, u64), BenchError> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)
        .map_err(|error| BenchError::Accounting(format!("getrusage: {error}")))?;
    let us = |time: TimeVal| u64::try_from(time.num_microseconds()).unwrap_or(0);
    Ok((us(usage.user_time()), us(usage.system_time())))
}

/// `VmHWM` of `/proc/PID/status` in bytes; a zombie has none.
fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_peak_is_read() {
        for (status, wanted) in [
            ("Name:\twrk\nVmPeak:\t  9 kB\nVmHWM:\t    3144 kB\nVmRSS:\t 12 kB\n", Some(3144 * 1024)),
            ("Name:\twrk\nState:\tZ (zombie)\n", None),
            ("VmHWM:\t99999999999999999999 kB\n", None),
            ("VmHWM:\t18446744073709551615 kB\n", None),
        ] {
            assert_eq!(peak_of(status), wanted, "{status}");
        }
    }

    #[test]
    fn what_a_child_burned_is_found_and_a_stuck_one_is_killed() {
        // Both in one test: the usage of children is one account for the whole process.
        let mut busy = Command::new("sh");
        let mut busy =
            busy.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]).spawn().unwrap();
        let used = watch(&mut busy, Duration::from_secs(60)).unwrap();
        assert!(used.exit.unwrap().success());
        assert!(used.user_us + used.system_us > 1_000, "{used:?}");

        let mut stuck = Command::new("sleep").arg("600").spawn().unwrap();
        let used = watch(&mut stuck, Duration::ZERO).unwrap();
        assert_eq!(used.exit, None);
        assert!(used.peak_rss_bytes.unwrap() > 0);
    }
}
