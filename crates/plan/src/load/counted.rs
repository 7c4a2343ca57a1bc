//! An open load that ends after a number of requests: when the last of them comes, by its own schedule.
//!
//! Invariant: the window holds exactly the requests that are asked for. It ends just after the last one was intended,
//! and the schedule ends there, so that a request of the same moment is not one too many.

use super::intervals::window_begin_ns;
use pace::{Schedule, Share};
use schema::plan::{LoadPlan, PhasePlan};
use schema::text::Problem;
use units::{Nanos, PerSecond};

/// Most requests: the schedule is made once before the load begins, which takes some 20 ns for each.
const REQUESTS_MAX: u64 = 100_000_000;
/// The begin of the window depends on its length where there is a warm-up; two rounds are usual.
const ROUNDS_MAX: u32 = 20;

const KEY: &str = "requests";

/// When an open load ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// Length of the window.
    pub(crate) sample_ns: u64,
    /// Arrivals up to then, warm-up included; `None` where the time is up before.
    pub(crate) arrivals_max: Option<u64>,
}

/// About how long so many requests take, until the schedule is there.
pub(crate) fn guess(requests: u64, rate: Option<PerSecond>) -> Nanos {
    let rate_per_s = rate.map_or(1.0, |rate| rate.0).max(1e-6);
    Nanos(((requests as f64 / rate_per_s * 1e9) as u64).max(Nanos::MILLI.0))
}

/// The end of `load` after `requests` of its window, or after `longest` where that is sooner.
pub(crate) fn end(
    load: &LoadPlan,
    phases: &PhasePlan,
    requests: u64,
    longest: Option<Nanos>,
) -> Result<End, Problem> {
    if requests > REQUESTS_MAX {
        let cause = format!("{requests} requests at a rate are out of range");
        return Err(Problem::at(KEY, cause, format!("give up to {REQUESTS_MAX}, or end the load by -d")));
    }
    let mut sample_ns = phases.sample_ns;
    for round in 0..ROUNDS_MAX {
        let begin_ns = begin_ns(sample_ns, phases);
        let (arrivals, last_ns) = last(load, begin_ns, requests)?;
        let needed_ns = whole(last_ns - begin_ns + 1);
        if let Some(longest) = longest.filter(|longest| longest.0 <= needed_ns) {
            return Ok(End { sample_ns: longest.0, arrivals_max: None });
        }
        if self::begin_ns(needed_ns, phases) == begin_ns {
            return Ok(End { sample_ns: needed_ns, arrivals_max: Some(arrivals) });
        }
        // A length that moves the begin by less than it is too long is as good: the schedule ends by itself.
        let slack_ns = slack_ns(load, needed_ns);
        if (needed_ns..=needed_ns + slack_ns).contains(&sample_ns) && whole(sample_ns) == sample_ns {
            return Ok(End { sample_ns, arrivals_max: Some(arrivals) });
        }
        sample_ns = whole(needed_ns + slack_ns / u64::from(ROUNDS_MAX) * u64::from(round));
    }
    let warmup = Nanos(phases.warmup_at_least_ns);
    let cause = format!("no window after a warm-up of {warmup} holds {requests} requests");
    Err(Problem::at(KEY, cause, "leave --warmup out, or end by -d"))
}

/// How much too long a window may be: a mean gap and a thousandth.
fn slack_ns(load: &LoadPlan, needed_ns: u64) -> u64 {
    needed_ns / 1000 + (1e9 / load.rate_per_s.unwrap_or(1.0).max(1e-6)) as u64
}

/// Of the arrivals from `begin_ns` on the one with this number: how many there are up to it, and when it comes.
fn last(load: &LoadPlan, begin_ns: u64, requests: u64) -> Result<(u64, u64), Problem> {
    let mut schedule = Schedule::of_load(load, None, Share::WHOLE)
        .map_err(|error| Problem::at("load.rate", error.to_string(), "give other values"))?;
    let (mut arrivals, mut measured) = (0, 0);
    loop {
        let time = schedule.advance();
        if time >= Schedule::NEVER {
            let cause = format!("the schedule ends after {measured} requests");
            return Err(Problem::at(KEY, cause, "give a smaller -n, or another --shape"));
        }
        arrivals += 1;
        measured += u64::from(time.0 >= begin_ns);
        if measured == requests {
            return Ok((arrivals, time.0));
        }
    }
}

/// The first length from `sample_ns` on that its intervals fill without a rest.
const fn whole(sample_ns: u64) -> u64 {
    let intervals = sample_ns.div_ceil(1_000_000_000);
    sample_ns.div_ceil(intervals) * intervals
}

/// The begin of a window of this length.
fn begin_ns(sample_ns: u64, phases: &PhasePlan) -> u64 {
    window_begin_ns(phases.warmup_at_least_ns, sample_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::intervals::interval_ns;
    use schema::arrival::ArrivalPlan;
    use schema::experiment::LoadModel;

    fn load(arrivals: ArrivalPlan, rate: f64) -> LoadPlan {
        LoadPlan {
            model: LoadModel::Open,
            rate_per_s: Some(rate),
            arrivals: Some(arrivals),
            ..LoadPlan::default()
        }
    }

    fn phases(warmup_ms: u64) -> PhasePlan {
        let warmup_ns = Nanos::from_millis(warmup_ms).0;
        PhasePlan {
            warmup_at_least_ns: warmup_ns,
            warmup_at_most_ns: warmup_ns,
            warmup_also: Default::default(),
            sample_ns: 1_000_000_000,
            samples: 1,
            drain_ns: 0,
        }
    }

    #[test]
    fn the_window_holds_exactly_what_is_asked_for() {
        for arrivals in [ArrivalPlan::Constant, ArrivalPlan::Poisson, ArrivalPlan::Uniform { width: 1.0 }] {
            for (requests, warmup_ms) in [(1, 0), (1000, 0), (1234, 700), (5, 2500), (100_000, 100)] {
                let (load, phases) = (load(arrivals.clone(), 1000.0), phases(warmup_ms));
                let end = end(&load, &phases, requests, None).unwrap();
                let begin_ns = begin_ns(end.sample_ns, &phases);
                let intervals = end.sample_ns.div_ceil(1_000_000_000);
                let end_ns = begin_ns + interval_ns(end.sample_ns) * intervals;
                let schedule = Schedule::of_load(&load, None, Share::WHOLE).unwrap();
                let mut schedule = schedule.ending_after(end.arrivals_max.unwrap(), Share::WHOLE);
                let mut measured = 0;
                while schedule.peek() < Nanos(end_ns) {
                    measured += u64::from(schedule.advance().0 >= begin_ns);
                }
                assert_eq!(measured, requests, "{arrivals:?} {warmup_ms}");
                assert_eq!(schedule.peek(), Schedule::NEVER, "nothing comes after the window");
            }
        }
    }

    #[test]
    fn the_sooner_end_counts() {
        let load = load(ArrivalPlan::Constant, 100.0);
        let by_time = end(&load, &phases(0), 1000, Some(Nanos::from_secs(3))).unwrap();
        assert_eq!(by_time, End { sample_ns: 3_000_000_000, arrivals_max: None });
        let by_count = end(&load, &phases(0), 100, Some(Nanos::from_secs(3))).unwrap();
        assert_eq!(by_count.arrivals_max, Some(100));
        assert!(end(&load, &phases(0), REQUESTS_MAX + 1, None).is_err());
    }
}
