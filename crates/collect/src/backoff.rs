//! Asking an endpoint that keeps failing more and more rarely, so that it holds up few ticks.
//!
//! Invariants: the first failures cost nothing but themselves; one good answer brings back every tick.
//! Absent on purpose: time; what is counted is ticks.

use crate::error::CollectError;

/// After this many failures in a row the endpoint is asked more and more rarely.
const FAILURES_IN_A_ROW: u32 = 3;
/// The longest pause between two attempts, in ticks.
const SKIPPED_TICKS_MAX: u32 = 32;

/// Skips ticks after failures in a row: 1, 2, 4, … up to [`SKIPPED_TICKS_MAX`]. A skipped tick is a gap as well.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
    skip: u32,
}

impl Backoff {
    pub(crate) fn attempt<T>(
        &mut self,
        read: impl FnOnce() -> Result<T, CollectError>,
    ) -> Result<T, CollectError> {
        if self.skip > 0 {
            self.skip -= 1;
            return Err(CollectError::BackedOff { failures: self.failures });
        }
        let result = read();
        self.failures = if result.is_ok() { 0 } else { self.failures.saturating_add(1) };
        if let Some(doublings) = self.failures.checked_sub(FAILURES_IN_A_ROW) {
            self.skip = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX).min(SKIPPED_TICKS_MAX);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_that_keeps_failing_is_asked_more_rarely_and_again_when_it_recovers() {
        let mut backoff = Backoff::default();
        let mut attempts = Vec::new();
        for tick in 0..20 {
            let _ = backoff.attempt(|| {
                attempts.push(tick);
                Err::<(), _>(CollectError::Gone { pid: 1 })
            });
        }
        assert_eq!(attempts, [0, 1, 2, 4, 7, 12]);
        while backoff.attempt(|| Ok(())).is_err() {}
        assert!(backoff.attempt(|| Ok(())).is_ok(), "after one good answer it is asked at every tick");
    }
}
