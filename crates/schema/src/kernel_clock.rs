//! How a kernel keeps its clock, as adjtimex(2) has it.
//!
//! Invariant: it is a note and never a gate. No response time is computed from two clocks, and CLOCK_MONOTONIC is not set:
//! only its rate follows what is found here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a kernel keeps its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct KernelClock {
    /// Whether something (chrony, ntpd, systemd-timesyncd, the hypervisor) keeps it at the time of others.
    pub is_synchronised: bool,
    /// What the kernel has still to correct, by making its clock a little faster or slower.
    pub offset_ns: i64,
    /// Largest error, as whoever keeps it says. The kernel lets it grow by 500 ns a millisecond without a word from there.
    pub error_max_ns: u64,
    /// Likely error, as whoever keeps it says.
    pub error_ns: u64,
    /// How much faster than its own oscillator it runs, in parts of a million; negative where slower.
    pub frequency_ppm: f64,
}

/// What a kernel's clock is worth beside the clocks of other hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockStanding {
    /// It is kept, and little is corrected.
    Kept,
    /// Nobody keeps it: it goes its own way, as its oscillator does.
    Free,
    /// It is further off than the clocks of a fleet may be unknown.
    Off,
    /// It is corrected by more than a crystal needs.
    Fast,
}

impl KernelClock {
    /// As much as a clock of a fleet may be unknown (`fleet::BOUND_MAX_NS`): more is corrected while a load runs.
    pub const OFFSET_MAX_NS: u64 = 1_000_000;
    /// METHOD §9, gate `clock_rate`: more than a crystal needs. RFC 5905 corrects at most 500.
    pub const FREQUENCY_MAX_PPM: f64 = 100.0;

    /// The first that applies, the worst first.
    #[must_use]
    pub fn standing(&self) -> ClockStanding {
        if !self.is_synchronised {
            ClockStanding::Free
        } else if self.offset_ns.unsigned_abs() > Self::OFFSET_MAX_NS {
            ClockStanding::Off
        } else if self.frequency_ppm.abs() > Self::FREQUENCY_MAX_PPM {
            ClockStanding::Fast
        } else {
            ClockStanding::Kept
        }
    }

    /// What people should know of an agent with this clock; nothing where it is kept well.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        match self.standing() {
            ClockStanding::Kept => None,
            ClockStanding::Free => Some("the kernel's clock is not synchronised".to_owned()),
            ClockStanding::Off => {
                let off_ms = self.offset_ns as f64 / 1e6;
                Some(format!("the kernel's clock is {off_ms:.1} ms off and is being corrected"))
            }
            ClockStanding::Fast => {
                Some(format!("the kernel's clock is corrected by {:.0} ppm", self.frequency_ppm))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_not_kept_or_much_corrected_has_a_note() {
        let kept = KernelClock { is_synchronised: true, frequency_ppm: -17.5, ..KernelClock::default() };
        let of = |clock: KernelClock| (clock.standing(), clock.note().unwrap_or_default());
        assert_eq!(of(kept), (ClockStanding::Kept, String::new()));
        let edge = KernelClock { offset_ns: -1_000_000, frequency_ppm: 100.0, ..kept };
        assert_eq!(edge.standing(), ClockStanding::Kept);
        let (standing, note) = of(KernelClock { offset_ns: -2_500_000, ..kept });
        assert!(standing == ClockStanding::Off && note.contains("-2.5 ms"), "{note}");
        let (standing, note) = of(KernelClock { frequency_ppm: -230.4, ..kept });
        assert!(standing == ClockStanding::Fast && note.contains("-230 ppm"), "{note}");
        let (standing, note) = of(KernelClock { is_synchronised: false, offset_ns: i64::MIN, ..kept });
        assert!(standing == ClockStanding::Free && note.contains("not synchronised"), "{note}");
    }
}
