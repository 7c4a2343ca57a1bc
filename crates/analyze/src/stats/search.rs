//! The search for the highest rate that passes (METHOD §6): a geometric bracket, probabilistic bisection on the log of
//! the rate, then fresh confirmations.
//!
//! A pure state machine: [`Search::next`] says what to measure, [`Search::observe`] takes in how it ended. The same
//! answers give the same questions, so a search that was cut off goes on where it was when its trials are given again.
//! 1. *Bracket*: from the start, twice the rate after each pass, half after each failure, until both were seen.
//! 2. *Bisect*: on the bracket widened by a factor of two at both ends, because its own answers may be wrong; until the
//!    middle 90 % of the density is within the tolerance.
//! 3. *Confirm*: two candidates, the 10 % quantile and the median of the density, take turns in a seeded order, so that
//!    each is measured after light and after heavy load. A candidate that fails once is out. Where all are out, the next
//!    is lower by a third of the tolerance. The answer is the highest candidate that passed every time.
//!
//! A rate that could not be judged twice running counts as failed, and the search says so.
//! Absent on purpose: what passing means ([`crate::Objective`]), trials, clocks and budgets.

use super::bisection::Bisection;
use units::Seed;

/// Probability with which an answer is taken to be right. Below the truth except near the limit itself, as Waeber et
/// al. want it; a lower one costs more trials.
const CORRECT: f64 = 0.85;
/// The same for the interval that is reported. Where a limit is soft, an answer near it is right with a probability
/// that falls to one half, and confirmations ask just there: with the one above, intervals of 95 % held 94 % of the
/// limits of `a_noisy_limit_is_found_full_size`.
const CORRECT_TOLD: f64 = 0.8;
/// What the middle of the density must hold within the tolerance.
const SURE: f64 = 0.9;
/// Most trials of the bisection.
const BISECTIONS_MAX: u32 = 25;
/// Times that one rate is tried where it cannot be judged.
const TRIES: u32 = 2;
/// How much lower the next candidate is, as a share of the tolerance: small, so that the answer is not far below the
/// limit where a limit is soft and five passes in a row are rare near it.
const STEP: f64 = 1.0 / 3.0;
/// Factor of the bracket.
const FACTOR: f64 = 2.0;

/// What a search needs to know beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchSettings {
    /// First rate.
    pub start: f64,
    /// Lowest rate that can be judged.
    pub lowest: f64,
    /// Highest rate to be tried.
    pub highest: f64,
    /// Wanted width of the answer as a ratio less 1, for example 0.05.
    pub tolerance: f64,
    /// Passes that make a rate verified; at least 1.
    pub confirmations: u32,
    /// Most trials in all.
    pub trials_max: u32,
    /// Decides the order of confirmations.
    pub seed: u64,
}

/// What a trial is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Finding a rate that passes and one that fails.
    Bracket,
    /// Narrowing.
    Bisect,
    /// Verifying.
    Confirm,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Measure this rate.
    Measure(f64, Purpose),
    /// The search has ended.
    Done(End),
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A rate is verified.
    Verified,
    /// The highest rate of all is verified: the limit lies above it.
    AtHighest,
    /// Even the lowest rate fails.
    NothingPasses,
    /// The trials were used up.
    TrialsSpent,
}

/// A candidate for the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its rate.
    pub rate: f64,
    /// How often it passed in confirmations.
    pub passes: u32,
    /// Whether it failed once.
    pub is_out: bool,
}

/// The state of a search.
#[derive(Clone, Debug)]
pub struct Search {
    settings: SearchSettings,
    passed: Option<f64>,
    failed: Option<f64>,
    density: Option<Bisection>,
    /// The same answers with [`CORRECT_TOLD`].
    told: Option<Bisection>,
    bisections: u32,
    candidates: Vec<Candidate>,
    /// Candidates that are still to be measured in this round.
    round: Vec<f64>,
    rounds: u64,
    trials: u32,
    unjudged: u32,
    /// A rate counted as failed because it could not be judged.
    gave_up_at: Option<f64>,
    next: Next,
}

impl Search {
    /// A search at its beginning. Rates that are not positive and finite, or cross, are put right: `lowest` ≤ `start`
    /// ≤ `highest`.
    #[must_use]
    pub fn new(settings: SearchSettings) -> Self {
        let positive = |rate: f64, other: f64| if rate.is_finite() && rate > 0.0 { rate } else { other };
        let lowest = positive(settings.lowest, 1e-6);
        let highest = positive(settings.highest, 1e9).max(lowest);
        let settings = SearchSettings {
            lowest,
            highest,
            start: positive(settings.start, lowest).clamp(lowest, highest),
            tolerance: positive(settings.tolerance, 0.05).max(1e-4),
            confirmations: settings.confirmations.max(1),
            ..settings
        };
        Self {
            settings,
            passed: None,
            failed: None,
            density: None,
            told: None,
            bisections: 0,
            candidates: Vec::new(),
            round: Vec::new(),
            rounds: 0,
            trials: 0,
            unjudged: 0,
            gave_up_at: None,
            next: Next::Measure(settings.start, Purpose::Bracket),
        }
    }

    /// What to measure now; the same until it is observed.
    #[must_use]
    pub fn next(&self) -> Next {
        match self.next {
            Next::Measure(..) if self.trials >= self.settings.trials_max => Next::Done(End::TrialsSpent),
            next => next,
        }
    }

    /// Takes in how the rate that was asked for ended; `None` where it cannot be judged.
    pub fn observe(&mut self, passed: Option<bool>) {
        let Next::Measure(rate, purpose) = self.next() else { return };
        self.trials += 1;
        let passed = match passed {
            Some(passed) => passed,
            None => {
                self.unjudged += 1;
                if self.unjudged < TRIES {
                    return;
                }
                self.gave_up_at = Some(rate);
                false
            }
        };
        self.unjudged = 0;
        for density in self.density.iter_mut().chain(&mut self.told) {
            density.observe(rate.ln(), passed);
        }
        match purpose {
            Purpose::Bracket => self.bracket(rate, passed),
            Purpose::Bisect => {
                self.bisections += 1;
                self.bisect();
            }
            Purpose::Confirm => self.confirm(rate, passed),
        }
    }

    fn bracket(&mut self, rate: f64, passed: bool) {
        let SearchSettings { lowest, highest, .. } = self.settings;
        let side = if passed { &mut self.passed } else { &mut self.failed };
        *side = Some(rate);
        self.next = match (self.passed, self.failed) {
            (Some(low), Some(high)) => {
                let (from, to) = ((low / FACTOR).max(lowest), (high * FACTOR).min(highest));
                let begun = |correct: f64| {
                    let mut density = Bisection::new(from.ln(), to.ln(), correct);
                    density.observe(low.ln(), true);
                    density.observe(high.ln(), false);
                    Some(density)
                };
                (self.density, self.told) = (begun(CORRECT), begun(CORRECT_TOLD));
                return self.bisect();
            }
            (Some(_), None) if rate >= highest => return self.begin_confirming(&[highest]),
            (Some(_), None) => Next::Measure(round(rate * FACTOR).min(highest), Purpose::Bracket),
            _ if rate <= lowest => Next::Done(End::NothingPasses),
            _ => Next::Measure(round(rate / FACTOR).max(lowest), Purpose::Bracket),
        };
    }

    fn bisect(&mut self) {
        let Some(density) = &self.density else { return };
        let (low, high) = density.interval(SURE);
        if high - low > self.settings.tolerance.ln_1p() && self.bisections < BISECTIONS_MAX {
            self.next = Next::Measure(self.held(density.median().exp()), Purpose::Bisect);
            return;
        }
        let candidates = [self.held(low.exp()), self.held(density.median().exp())];
        self.begin_confirming(&candidates);
    }

    /// Rounded, and within the ends.
    fn held(&self, rate: f64) -> f64 {
        round(rate).clamp(self.settings.lowest, self.settings.highest)
    }

    fn begin_confirming(&mut self, rates: &[f64]) {
        for rate in rates {
            if self.candidates.iter().all(|known| known.rate != *rate) {
                self.candidates.push(Candidate { rate: *rate, passes: 0, is_out: false });
            }
        }
        self.round.clear();
        self.go_on_confirming();
    }

    fn confirm(&mut self, rate: f64, passed: bool) {
        if let Some(candidate) = self.candidates.iter_mut().find(|known| known.rate == rate) {
            if passed { candidate.passes += 1 } else { candidate.is_out = true }
        }
        self.go_on_confirming();
    }

    fn go_on_confirming(&mut self) {
        let wanted = self.settings.confirmations;
        let open: Vec<f64> =
            self.candidates.iter().filter(|c| !c.is_out && c.passes < wanted).map(|c| c.rate).collect();
        self.round.retain(|rate| open.contains(rate));
        if self.round.is_empty() && !open.is_empty() {
            self.round = open;
            Seed(self.settings.seed).derive("confirm", self.rounds).rng().shuffle(&mut self.round);
            self.rounds += 1;
        }
        self.next = match (self.round.pop(), self.verified()) {
            (Some(rate), _) => Next::Measure(rate, Purpose::Confirm),
            (None, Some(rate)) if rate >= self.settings.highest => Next::Done(End::AtHighest),
            (None, Some(_)) => Next::Done(End::Verified),
            (None, None) => return self.step_down(),
        };
    }

    /// All candidates are out: the next is a little lower.
    fn step_down(&mut self) {
        let least = self.candidates.iter().map(|candidate| candidate.rate).fold(f64::INFINITY, f64::min);
        if least <= self.settings.lowest {
            self.next = Next::Done(End::NothingPasses);
            return;
        }
        let lower = self.held(least / (1.0 + STEP * self.settings.tolerance));
        // Rounding must not stop the descent.
        let lower = if lower < least { lower } else { self.settings.lowest };
        self.begin_confirming(&[lower]);
    }

    /// The highest rate that passed every confirmation.
    #[must_use]
    pub fn verified(&self) -> Option<f64> {
        let wanted = self.settings.confirmations;
        let verified = self.candidates.iter().filter(|c| !c.is_out && c.passes >= wanted).map(|c| c.rate);
        verified.reduce(f64::max)
    }

    /// The interval that holds the limit with probability `level`: the rate at which passing turns into failing. Its
    /// ends are rates that were measured, or the ends of what was searched. An end
    /// is `None` where the search saw nothing beyond it; `None` as a whole where there is no bracket.
    #[must_use]
    pub fn interval(&self, level: f64) -> Option<(f64, Option<f64>)> {
        match (&self.told, self.passed) {
            (Some(density), _) => {
                let (low, high) = density.asked_interval(level);
                Some((low.exp(), Some(high.exp())))
            }
            (None, Some(passed)) => Some((passed, None)),
            (None, None) => None,
        }
    }

    /// The candidates, in the order in which they came up.
    #[must_use]
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The rate that counts as failed because it could not be judged; the last one.
    #[must_use]
    pub const fn gave_up_at(&self) -> Option<f64> {
        self.gave_up_at
    }

    /// Trials so far.
    #[must_use]
    pub const fn trials(&self) -> u32 {
        self.trials
    }
}

/// To four significant digits, so that rates can be read and typed.
fn round(rate: f64) -> f64 {
    format!("{rate:.3e}").parse().unwrap_or(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: SearchSettings = SearchSettings {
        start: 100.0,
        lowest: 1.0,
        highest: 1e6,
        tolerance: 0.05,
        confirmations: 5,
        trials_max: 200,
        seed: 1,
    };

    /// Runs a search against an oracle to its end.
    fn run(settings: SearchSettings, mut answer: impl FnMut(f64) -> Option<bool>) -> (Search, End) {
        let mut search = Search::new(settings);
        loop {
            match search.next() {
                Next::Measure(rate, _) => search.observe(answer(rate)),
                Next::Done(end) => return (search, end),
            }
        }
    }

    #[test]
    fn a_sharp_limit_is_found_from_afar() {
        for limit in [1.303_3, 99.123_4, 100.503_7, 4_321.7, 777_777.0] {
            let (search, end) = run(SETTINGS, |rate| Some(rate <= limit));
            assert_eq!(end, End::Verified, "{limit}");
            let verified = search.verified().unwrap();
            assert!(verified <= limit && verified > limit / 1.06, "{verified} of {limit}");
            let (low, high) = search.interval(0.95).unwrap();
            assert!(low <= limit && limit <= high.unwrap(), "{low} to {high:?}, {limit}");
            assert!(search.trials() < 60, "{} trials for {limit}", search.trials());
        }
    }

    /// Passing becomes less likely around the limit: logistic in log rate, 1 % wide.
    fn noisy(limit: f64, runs: u64) -> (u64, u64, u32) {
        let (mut near, mut held, mut most) = (0, 0, 0);
        for run_number in 0..runs {
            let mut rng = Seed(3).derive("noisy", run_number).rng();
            let settings = SearchSettings { seed: run_number, ..SETTINGS };
            let (search, _) =
                run(settings, |rate| Some(rng.unit() < 1.0 / (1.0 + ((rate / limit).ln() / 0.01).exp())));
            let verified = search.verified().unwrap_or(f64::NAN);
            near += u64::from((verified / limit - 1.0).abs() <= 0.05);
            let (low, high) = search.interval(0.95).unwrap();
            held += u64::from(low <= limit && limit <= high.unwrap());
            most = most.max(search.trials());
        }
        (near, held, most)
    }

    #[test]
    fn a_noisy_limit_is_found() {
        let (near, held, most) = noisy(5_000.0, 100);
        assert!(near >= 90 && held >= 90 && most <= 120, "{near} near, {held} held, at most {most} trials");
    }

    #[test]
    #[ignore = "2,000 searches; part of make test-all"]
    fn a_noisy_limit_is_found_full_size() {
        let (near, held, most) = noisy(5_000.0, 2_000);
        println!("{near} of 2000 within 5 %, interval held {held}, at most {most} trials");
        assert!(near >= 1_900 && held >= 1_900, "{near} near, {held} held");
    }

    #[test]
    fn confirmations_take_turns_and_one_failure_is_enough() {
        let mut search = Search::new(SETTINGS);
        let mut confirmed = Vec::new();
        while let Next::Measure(rate, purpose) = search.next() {
            if purpose == Purpose::Confirm {
                confirmed.push(rate);
            }
            search.observe(Some(rate <= 1_000.0 && confirmed.len() != 4));
        }
        let rates: Vec<f64> = search.candidates().iter().map(|candidate| candidate.rate).collect();
        let first: Vec<f64> = confirmed[..2].to_vec();
        assert!(first[0] != first[1], "both candidates in the first round: {confirmed:?}");
        assert!(search.candidates().iter().filter(|c| c.is_out).count() >= 1, "{rates:?}");
        assert!(search.verified().is_some_and(|rate| rate < 1_000.0));
    }

    #[test]
    fn the_ends_are_told() {
        assert_eq!(run(SETTINGS, |_| Some(true)).1, End::AtHighest);
        let (search, end) = run(SETTINGS, |_| Some(false));
        assert_eq!((end, search.verified(), search.interval(0.95)), (End::NothingPasses, None, None));
        let few = SearchSettings { trials_max: 9, ..SETTINGS };
        assert_eq!(run(few, |rate| Some(rate < 5_000.0)).1, End::TrialsSpent);
        let (search, end) = run(SETTINGS, |rate| (rate < 1_000.0).then_some(true));
        assert_eq!(end, End::Verified);
        assert!(search.verified().unwrap() < 1_000.0 && search.gave_up_at().unwrap() >= 1_000.0);
        let odd = SearchSettings {
            start: f64::NAN,
            lowest: -1.0,
            highest: f64::INFINITY,
            tolerance: f64::NAN,
            confirmations: 0,
            ..SETTINGS
        };
        assert_eq!(run(odd, |rate| Some(rate < 10.0)).1, End::Verified);
    }

    #[test]
    fn the_same_answers_give_the_same_questions() {
        let rates = |mut search: Search| {
            let mut asked = Vec::new();
            while let Next::Measure(rate, _) = search.next() {
                assert_eq!(search.next(), search.next());
                asked.push(rate);
                search.observe(Some(rate < 3_333.0));
            }
            asked
        };
        assert_eq!(rates(Search::new(SETTINGS)), rates(Search::new(SETTINGS)));
    }
}
