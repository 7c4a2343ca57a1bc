//! CPU time that an answer costs, as this thread's clock has it.

use rustix::time::{ClockId, clock_gettime};
use units::Nanos;

/// Pauses of the CPU between two looks at its clock, about a microsecond.
const BURN_STEPS: u32 = 25;

/// Computes until this thread has used so much CPU time: being stopped or waiting for a core does not count.
pub(super) fn burn(time: Nanos) {
    if time == Nanos::ZERO {
        return;
    }
    let used_ns = || {
        let used = clock_gettime(ClockId::ThreadCPUTime);
        used.tv_sec.unsigned_abs() * 1_000_000_000 + used.tv_nsec.unsigned_abs()
    };
    let until_ns = used_ns() + time.0;
    while used_ns() < until_ns {
        for _ in 0..BURN_STEPS {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burning_uses_the_cpu_time_that_was_asked_for() {
        let used = || clock_gettime(ClockId::ThreadCPUTime);
        let before = used();
        burn(Nanos::from_millis(3));
        let after = used();
        let ns = (after.tv_sec - before.tv_sec) * 1_000_000_000 + after.tv_nsec - before.tv_nsec;
        assert!(ns >= 3_000_000, "{ns}");
    }
}
