//! What the host did beside a calibration: others on its CPUs, stolen time, its load before.
//!
//! Invariant: what cannot be read is absent, and disturbs nothing.

use crate::competing::Competing;
use crate::trial::Steal;
use collect::Roots;
use schema::calibration::HostState;
use schema::said;
use schema::said::Said;

/// Share of the usable CPUs that others may use, and share of stolen time: those from which a trial has a reservation.
const COMPETING: f64 = 0.05;
const STEAL: f64 = 0.01;

/// Counts at the begin.
pub(super) struct Beside {
    load_1m: Option<f64>,
    competing: Option<Competing>,
    steal: Option<Steal>,
}

impl Beside {
    pub(super) fn begin() -> Self {
        let load = std::fs::read_to_string(Roots::default().proc.join("loadavg")).ok();
        let first = load.as_deref().and_then(|text| text.split_ascii_whitespace().next());
        Self {
            load_1m: first.and_then(|word| word.parse().ok()),
            competing: Competing::of_this_process(),
            steal: Steal::read(),
        }
    }

    pub(super) fn end(self) -> HostState {
        let steal = self.steal.and_then(|begin| Steal::read()?.share_since(begin));
        let competing_share = self.competing.and_then(Competing::share);
        HostState { load_1m: self.load_1m, competing_share, steal_share: steal }
    }
}

/// Why the host was too busy for limits that can be relied on, in words.
pub(super) fn disturbed(state: &HostState) -> Option<Said> {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let competing = state.competing_share.filter(|share| *share > COMPETING);
    let steal = state.steal_share.filter(|share| *share > STEAL);
    let what = match (competing, steal) {
        (Some(share), _) => {
            said!("calibration.competing", "other processes used {share} of its CPUs", share = percent(share))
        }
        (None, Some(share)) => {
            said!(
                "calibration.steal",
                "its hypervisor gave {share} of its CPU time to others",
                share = percent(share)
            )
        }
        (None, None) => return None,
    };
    Some(said!(
        "calibration.busy",
        "the host was busy: {what} while these limits were measured, so they may be too low",
        what
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_host_marks_its_calibration() {
        let state = |competing: f64, steal: f64| HostState {
            load_1m: Some(0.1),
            competing_share: Some(competing),
            steal_share: Some(steal),
        };
        assert_eq!(disturbed(&HostState::default()), None);
        assert_eq!(disturbed(&state(0.05, 0.01)), None);
        assert!(disturbed(&state(0.9, 0.2)).unwrap().contains("other processes used 90.0 % of its CPUs"));
        assert!(disturbed(&state(0.0, 0.2)).unwrap().contains("hypervisor gave 20.0 %"));
    }
}
