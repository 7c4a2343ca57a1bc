//! CPU time that processes outside a measurement took from its CPUs, for the gate `competing_cpu` and for calibrations.
//!
//! What processes used on a set of CPUs, less what those that belong to the measurement used. CPU sets that overlap are
//! one set: which of them a process used there is not known.
//!
//! The kernel's count of work is a sample at each tick. A load of constant arrivals whose pace is a multiple of the tick's
//! is always met at work, or never, so the count is far too high or too low. No work is done in the time that cores were
//! idle, which is measured and not sampled: it bounds the count from above. One that is too low stays so: what is neither
//! idle nor counted is mostly work of interrupts, which belong to nobody.
//! Invariants: read twice, at both ends, never in between; what cannot be read is absent. The kernel counts cores in
//! steps of 10 ms, so [`SPAN_NS_MIN`] is the shortest time that gives a share.
//! Absent on purpose: who the others are, and what their share means (analyze).

use collect::{ProcessTree, Roots};
use schema::plan::PinPlan;
use units::{Clock, MonotonicClock, Nanos};

/// Below this the steps of the kernel's count are too coarse for a share.
const SPAN_NS_MIN: u64 = 200_000_000;

/// CPUs with the processes of the measurement that run on them.
struct Place {
    cpus: Vec<u32>,
    trees: Vec<ProcessTree>,
}

/// Counts at the begin of a measurement.
pub(crate) struct Competing {
    clock: MonotonicClock,
    places: Vec<(Place, Counts)>,
}

/// CPU time so far.
#[derive(Clone, Copy)]
struct Counts {
    at: Nanos,
    all_ns: u64,
    /// In which no process worked.
    away_ns: u64,
    own_ns: u64,
}

impl Competing {
    /// Reads the counts of a trial.
    pub(crate) fn of_trial(pin: &PinPlan, target: u32, services: &[u32]) -> Option<Self> {
        Self::begin(places(pin, target, services, &launch::pin::usable_cpus().ok()?))
    }

    /// Reads the counts of this process and all that it started, on all CPUs that may be used.
    pub(crate) fn of_this_process() -> Option<Self> {
        let trees = vec![ProcessTree::new(&Roots::default(), std::process::id())];
        Self::begin(vec![Place { cpus: launch::pin::usable_cpus().ok()?, trees }])
    }

    fn begin(places: Vec<Place>) -> Option<Self> {
        let clock = MonotonicClock::starting_now();
        let counted = |mut place: Place| {
            let counts = place.counts(clock)?;
            Some((place, counts))
        };
        let places = places.into_iter().map(counted).collect::<Option<Vec<_>>>()?;
        Some(Self { clock, places })
    }

    /// The largest share of a set of CPUs that others took since the begin, 0 to 1.
    pub(crate) fn share(mut self) -> Option<f64> {
        let clock = self.clock;
        let shares = self.places.iter_mut().map(|(place, begin)| place.share_since(*begin, clock));
        shares.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }
}

/// Prony with its generator processes, the target and the services, each on the CPUs that the plan gives it, else on
/// `all`, those of the calling thread.
fn places(pin: &PinPlan, target: u32, services: &[u32], all: &[u32]) -> Vec<Place> {
    let roots = Roots::default();
    let on =
        |cpus: Option<&Vec<u32>>| cpus.filter(|cpus| !cpus.is_empty()).map_or(all, Vec::as_slice).to_vec();
    let started: Vec<u32> = services.iter().copied().chain([target]).collect();
    let own = ProcessTree::new(&roots, std::process::id()).without(started);
    let mut parts = vec![
        Place { cpus: on(pin.generator.as_ref()), trees: vec![own] },
        Place { cpus: on(pin.target.as_ref()), trees: vec![ProcessTree::new(&roots, target)] },
    ];
    let services: Vec<ProcessTree> = services.iter().map(|pid| ProcessTree::new(&roots, *pid)).collect();
    if !services.is_empty() {
        parts.push(Place { cpus: on(pin.of_services()), trees: services });
    }
    merged(parts)
}

impl Place {
    fn counts(&mut self, clock: MonotonicClock) -> Option<Counts> {
        let at = clock.now();
        let cpus = collect::host_cpus::read(&Roots::default()).ok()?;
        let (all_ns, away_ns) = (cpus.process_ns(&self.cpus)?, cpus.away_ns(&self.cpus)?);
        // A service may have ended; what it used is in the count of the cores all the same.
        let own_ns =
            self.trees.iter_mut().filter_map(|tree| tree.read().ok()).map(|usage| usage.cpu_ns).sum();
        Some(Counts { at, all_ns, away_ns, own_ns })
    }

    fn share_since(&mut self, begin: Counts, clock: MonotonicClock) -> Option<f64> {
        share(begin, self.counts(clock)?, self.cpus.len())
    }
}

/// The share of so many CPUs that others took between two counts.
fn share(begin: Counts, end: Counts, cpus: usize) -> Option<f64> {
    let span_ns = end.at.0.checked_sub(begin.at.0).filter(|span_ns| *span_ns >= SPAN_NS_MIN)?;
    let span_ns = span_ns.saturating_mul(cpus.max(1) as u64);
    let counted_ns = end.all_ns.saturating_sub(begin.all_ns);
    let at_most_ns = span_ns.saturating_sub(end.away_ns.saturating_sub(begin.away_ns));
    let own_ns = end.own_ns.saturating_sub(begin.own_ns);
    let others_ns = counted_ns.min(at_most_ns).saturating_sub(own_ns);
    Some((others_ns as f64 / span_ns as f64).clamp(0.0, 1.0))
}

/// Sets that share a CPU become one.
fn merged(parts: Vec<Place>) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for mut part in parts {
        while let Some(at) =
            places.iter().position(|place| place.cpus.iter().any(|cpu| part.cpus.contains(cpu)))
        {
            let met = places.swap_remove(at);
            part.cpus.extend(met.cpus);
            part.trees.extend(met.trees);
        }
        part.cpus.sort_unstable();
        part.cpus.dedup();
        places.push(part);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(at_ms: u64, all_ms: u64, own_ms: u64) -> Counts {
        Counts {
            at: Nanos::from_millis(at_ms),
            all_ns: all_ms * 1_000_000,
            away_ns: 0,
            own_ns: own_ms * 1_000_000,
        }
    }

    fn idle(counts: Counts, away_ms: u64) -> Counts {
        Counts { away_ns: away_ms * 1_000_000, ..counts }
    }

    #[test]
    fn others_used_what_the_cores_did_beyond_the_measurement() {
        let of = |end: Counts, cpus: usize| share(counts(0, 100, 50), end, cpus);
        assert_eq!(of(counts(1_000, 1_100, 550), 1), Some(0.5));
        assert_eq!(of(counts(1_000, 1_100, 550), 2), Some(0.25));
        assert_eq!(of(counts(1_000, 500, 900), 1), Some(0.0), "steps of the count are no negative work");
        assert_eq!(of(counts(100, 200, 50), 1), None, "too short");
    }

    /// As measured: 1,000 arrivals a second and 250 ticks, on one core of a target that worked a quarter of the time.
    #[test]
    fn work_at_the_pace_of_the_ticks_is_bounded_by_idle_time() {
        let of = |end: Counts, cpus: usize| share(counts(0, 0, 0), end, cpus);
        assert_eq!(of(counts(1_000, 900, 250), 1), Some(0.65), "with no idle time to hold it against");
        assert_eq!(of(idle(counts(1_000, 900, 250), 700), 1), Some(0.05));
        assert_eq!(of(idle(counts(1_000, 900, 250), 750), 1), Some(0.0));
        assert_eq!(of(idle(counts(1_000, 1_000, 250), 0), 1), Some(0.75), "others that leave no idle time");
        assert_eq!(of(idle(counts(1_000, 1_900, 250), 1_350), 2), Some(0.2), "of two cores");
        assert_eq!(of(idle(counts(1_000, 900, 250), 1_010), 1), Some(0.0), "steps of the count");
    }

    /// The calling thread is pinned to the generator's CPUs, so those of services without a set of their own are not its.
    #[test]
    fn services_without_cpus_of_their_own_are_on_those_of_the_target() {
        let found = |services: Option<Vec<u32>>| {
            let pin =
                PinPlan { generator: Some(vec![0]), target: Some(vec![1]), services, ..PinPlan::default() };
            let mut found: Vec<(Vec<u32>, usize)> = places(&pin, 10, &[11, 12], &[0])
                .into_iter()
                .map(|place| (place.cpus, place.trees.len()))
                .collect();
            found.sort();
            found
        };
        assert_eq!(found(None), [(vec![0], 1), (vec![1], 3)]);
        assert_eq!(found(Some(vec![2])), [(vec![0], 1), (vec![1], 1), (vec![2], 2)]);
        let free = places(&PinPlan::default(), 10, &[11], &[0, 1]);
        assert_eq!(
            free.iter().map(|place| (place.cpus.clone(), place.trees.len())).collect::<Vec<_>>(),
            [(vec![0, 1], 3)]
        );
    }

    #[test]
    fn overlapping_sets_are_one() {
        let sets = |parts: &[&[u32]]| {
            let parts = parts.iter().map(|cpus| Place { cpus: cpus.to_vec(), trees: Vec::new() });
            let mut found: Vec<Vec<u32>> =
                merged(parts.collect()).into_iter().map(|place| place.cpus).collect();
            found.sort();
            found
        };
        assert_eq!(sets(&[&[0], &[1, 2], &[3]]), [vec![0], vec![1, 2], vec![3]]);
        assert_eq!(sets(&[&[0], &[1, 2], &[2, 3]]), [vec![0], vec![1, 2, 3]]);
        assert_eq!(sets(&[&[0], &[1], &[0, 1]]), [vec![0, 1]]);
    }
}
