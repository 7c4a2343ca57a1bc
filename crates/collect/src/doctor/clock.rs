//! How the kernel keeps its clock: adjtimex(2), which anybody may read.
//!
//! Invariants: the clock is read and never changed. Clocks of several hosts are compared by their rates; no response time
//! crosses a clock, so whatever is found here is a note.

use super::fact::{About, Judgement};
use schema::doctor::{Bearing, Fact};
use schema::kernel_clock::{ClockStanding, KernelClock};
use schema::said;
use units::format::sentence as format;

/// The kernel's frequency is in parts of a million with 16 bits after the point (adjtimex(2)).
const PPM: f64 = 65_536.0;
/// Microseconds of a tick that runs at its own rate (kernel: USER_HZ 100), and what one more is worth. chrony corrects
/// by it what `freq` cannot hold.
const TICK_US: i64 = 10_000;
const TICK_PPM: f64 = 100.0;

const SYNC: About = About {
    id: "kernel.clock_sync",
    title: || said!("fact.kernel_clock_sync.title", "The kernel's clock against others"),
    bearing: Bearing::Moment,
    effect: || {
        said!(
            "fact.kernel_clock_sync.effect",
            "clocks that nobody keeps drift apart by some 10 µs a second: it matters where agents of a fleet begin together and where times of two hosts are held against each other, and never for a response time, which one clock measures"
        )
    },
};

pub(super) fn fact(clock: Option<&KernelClock>) -> Fact {
    SYNC.fact(clock.map(judge))
}

fn judge(clock: &KernelClock) -> Judgement {
    let ppm = format!("{:.1}", clock.frequency_ppm);
    match clock.standing() {
        ClockStanding::Kept => Judgement::ok(said!(
            "fact.kernel_clock_sync.kept",
            "synchronised, corrected by {ppm} ppm, at most {error} off",
            ppm,
            error = format::duration(clock.error_max_ns as f64)
        )),
        ClockStanding::Free => Judgement::note(
            said!("fact.kernel_clock_sync.free", "not synchronised, corrected by {ppm} ppm", ppm),
            said!(
                "fact.kernel_clock_sync.remedy_free",
                "for a fleet, or for times of several hosts, let chrony or systemd-timesyncd keep the clock"
            ),
        ),
        ClockStanding::Off => Judgement::note(
            said!(
                "fact.kernel_clock_sync.off",
                "synchronised, still {offset} off and being corrected",
                offset = format::duration(clock.offset_ns.unsigned_abs() as f64)
            ),
            said!(
                "fact.kernel_clock_sync.remedy_off",
                "for a fleet, wait until less than 1 ms is left (chronyc tracking, timedatectl timesync-status)"
            ),
        ),
        ClockStanding::Fast => Judgement::note(
            said!("fact.kernel_clock_sync.fast", "synchronised, corrected by {ppm} ppm", ppm),
            said!(
                "fact.kernel_clock_sync.remedy_fast",
                "more than a crystal needs: look at the clock source, or at what keeps the clock"
            ),
        ),
    }
}

/// How this host's kernel keeps its clock; absent where it does not say.
#[must_use]
pub fn kernel_clock() -> Option<KernelClock> {
    // SAFETY: every field is a number or an array of numbers, for which zero is a value.
    #[expect(unsafe_code, reason = "libc has no other way to make it: its padding is private")]
    let mut found: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `timex` into memory that lives through the call; without modes it changes nothing.
    #[expect(unsafe_code, reason = "no safe wrapper knows this call")]
    let state = unsafe { libc::adjtimex(&raw mut found) };
    (state >= 0).then(|| of(&found))
}

/// In units of this program.
fn of(found: &libc::timex) -> KernelClock {
    let is_nano = found.status & libc::STA_NANO != 0;
    let us = |us: i64| u64::try_from(us).unwrap_or_default().saturating_mul(1000);
    KernelClock {
        is_synchronised: found.status & libc::STA_UNSYNC == 0,
        offset_ns: if is_nano { found.offset } else { found.offset.saturating_mul(1000) },
        error_max_ns: us(found.maxerror),
        error_ns: us(found.esterror),
        frequency_ppm: found.freq as f64 / PPM + (found.tick - TICK_US) as f64 * TICK_PPM,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;
    use schema::doctor::Severity::{Note, Ok};

    /// What a kernel may say, with the rest as in a kernel that is well.
    fn planted(status: i32, offset: i64, freq: i64, tick: i64) -> KernelClock {
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: as above.
        let clean: libc::timex = unsafe { std::mem::zeroed() };
        of(&libc::timex { status, offset, freq, tick, maxerror: 1_500, esterror: 20, ..clean })
    }

    #[test]
    fn what_the_kernel_says_is_read_in_its_units() {
        let kept = planted(libc::STA_PLL | libc::STA_NANO, -4_000, -17 * 65_536 - 32_768, 10_000);
        let wanted = KernelClock {
            is_synchronised: true,
            offset_ns: -4_000,
            error_max_ns: 1_500_000,
            error_ns: 20_000,
            frequency_ppm: -17.5,
        };
        assert_eq!(kept, wanted);
        let free = planted(libc::STA_UNSYNC, 3, 0, 10_002);
        assert!(!free.is_synchronised);
        assert_eq!((free.offset_ns, free.frequency_ppm), (3_000, 200.0), "microseconds, and two ticks");
        assert_eq!(planted(0, i64::MAX, 0, 10_000).offset_ns, i64::MAX, "no sum wraps");
    }

    #[test]
    fn a_clock_that_nobody_keeps_is_a_note_and_so_is_one_that_is_much_corrected() {
        let of = |status, offset, freq, tick| fact(Some(&planted(status, offset, freq, tick)));
        check(&of(libc::STA_NANO, 500, 65_536, 10_000), Ok, Some("synchronised, corrected by 1.0 ppm"));
        check(&of(libc::STA_UNSYNC, 0, 0, 10_000), Note, Some("not synchronised"));
        check(&of(libc::STA_NANO, 2_000_000, 0, 10_000), Note, Some("still 2"));
        check(&of(libc::STA_NANO, 0, 0, 10_003), Note, Some("corrected by 300.0 ppm"));
        check(&fact(None), Note, None);
    }

    #[test]
    fn this_kernel_says_how_it_keeps_its_clock() {
        // Anybody may read it; a filter of system calls may forbid it.
        let Some(clock) = kernel_clock() else { return };
        assert!(clock.frequency_ppm.is_finite() && clock.frequency_ppm.abs() < 100_000.0, "{clock:?}");
    }
}
