//! Findings as they come: the ordinary analysis of the trials that have ended, shown between two trials.
//!
//! Invariants: it is made while no load is on and no target runs, never within a trial; each look is followed by
//! twenty times as long without one, so a run becomes longer by a twentieth at most.
//! Absent on purpose: judging what is news, which is for whoever shows it.

use crate::observer::Observer;
use record::{REST, RunFolder};
use std::time::{Duration, Instant};

/// Looks at what a run has shown, not too often.
#[derive(Default)]
pub(crate) struct Interim {
    rests_until: Option<Instant>,
}

impl Interim {
    /// Tells the findings of the trials that have ended, unless it is too early to look again.
    pub(crate) fn look(&mut self, folder: &RunFolder, observer: &mut dyn Observer) {
        let begun = Instant::now();
        if !self.is_due(begun) {
            return;
        }
        // What cannot be read is reported with its remedy by the analysis at the end; it costs no trial.
        if let Ok((_, analysis)) = record::analysed(folder) {
            observer.found(&analysis.findings);
        }
        self.rest(begun, begun.elapsed());
    }

    fn is_due(&self, now: Instant) -> bool {
        self.rests_until.is_none_or(|until| now >= until)
    }

    /// After a look that `took` so long.
    fn rest(&mut self, begun: Instant, took: Duration) {
        self.rests_until = Some(begun + took * (REST + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_take_less_than_a_twentieth_of_the_time() {
        let (begun, took) = (Instant::now(), Duration::from_millis(700));
        let mut interim = Interim::default();
        assert!(interim.is_due(begun), "nothing was looked at yet");
        interim.rest(begun, took);
        let ended = begun + took;
        assert!(!interim.is_due(ended) && !interim.is_due(ended + took * REST - Duration::from_nanos(1)));
        assert!(interim.is_due(ended + took * REST));
    }
}
