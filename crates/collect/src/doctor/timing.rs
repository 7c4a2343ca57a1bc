//! Facts from the fixed-work canary (METHOD §9): how steady time is on each CPU, and whether all CPUs are as fast.
//!
//! Absent on purpose: the work itself, which the caller does on one CPU after the other.

use super::fact::{About, Judgement, percent};
use schema::calibration::FixedWork;
use schema::doctor::{Bearing, Fact, Severity};
use schema::said;

/// METHOD §9: more than this between two readings of the canary is a covariate.
const SPEED_TOLERANCE: f64 = 0.02;
/// From here on a trial depends more on its CPU than on what is compared.
const SPREAD_WARNING: f64 = 0.05;
/// Standard deviation over mean of the same work on one CPU.
const NOISE_NOTE: f64 = 0.05;
const NOISE_WARNING: f64 = 0.25;

const SPEED: About = About {
    id: "cpu.speed",
    title: || said!("fact.cpu_speed.title", "Time of a fixed amount of work"),
    bearing: Bearing::Numbers,
    effect: || {
        said!(
            "fact.cpu_speed.effect",
            "CPUs that need different times give a trial another speed on each; between two hosts it says which is faster, and by how much"
        )
    },
};
const NOISE: About = About {
    id: "host.timing",
    title: || said!("fact.host_timing.title", "Steadiness of a fixed amount of work"),
    bearing: Bearing::Moment,
    effect: || {
        said!(
            "fact.host_timing.effect",
            "what makes the same work take other times from one moment to the next does so to every request: latency has this noise in it whatever the target does"
        )
    },
};

/// The facts that readings of the canary tell, one reading a CPU; facts without values where there is none.
#[must_use]
pub fn timing(readings: &[(u32, FixedWork)]) -> Vec<Fact> {
    vec![SPEED.fact(speed(readings)), NOISE.fact(noise(readings))]
}

fn speed(readings: &[(u32, FixedWork)]) -> Option<Judgement> {
    let mut times_ns: Vec<(f64, u32)> = readings
        .iter()
        .filter(|(_, work)| work.median_ns.is_finite() && work.median_ns > 0.0)
        .map(|(cpu, work)| (work.median_ns, *cpu))
        .collect();
    times_ns.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (fastest, slowest) = (times_ns.first()?, times_ns.last()?);
    let middle_ns = times_ns[times_ns.len() / 2].0;
    let spread = slowest.0 / fastest.0 - 1.0;
    let us = |ns: f64| format!("{:.1} µs", ns / 1e3);
    let value = if times_ns.len() == 1 {
        said!("fact.cpu_speed.one", "{time} on CPU {cpu}", time = us(fastest.0), cpu = fastest.1)
    } else {
        said!(
            "fact.cpu_speed.range",
            "{fastest} (CPU {fast_cpu}) to {slowest} (CPU {slow_cpu}) on {cpus} CPUs: {spread} apart",
            fastest = us(fastest.0),
            fast_cpu = fastest.1,
            slowest = us(slowest.0),
            slow_cpu = slowest.1,
            cpus = times_ns.len(),
            spread = percent(spread, 1)
        )
    };
    let severity = match spread {
        spread if spread > SPREAD_WARNING => Severity::Warning,
        spread if spread > SPEED_TOLERANCE => Severity::Note,
        _ => Severity::Ok,
    };
    let remedy = said!(
        "fact.cpu_speed.remedy",
        "stop other programs and run prony doctor again; if it stays, set the governor to performance, leave the slow CPUs out (--pin), or use another host"
    );
    Some(Judgement::of(severity, value, remedy).amounting(middle_ns, SPEED_TOLERANCE))
}

/// That of the noisiest CPU.
fn noise(readings: &[(u32, FixedWork)]) -> Option<Judgement> {
    let usable = readings.iter().filter(|(_, work)| work.runs > 0 && work.variation.is_finite());
    let (cpu, work) = usable.max_by(|a, b| a.1.variation.total_cmp(&b.1.variation))?;
    let value = said!(
        "fact.host_timing.noise",
        "varies by {variation}, the slowest hundredth takes {times} times the median (CPU {cpu}, the noisiest)",
        variation = percent(work.variation, 1),
        times = format!("{:.2}", work.p99_over_median),
        cpu
    );
    let severity = match work.variation {
        noise if noise > NOISE_WARNING => Severity::Warning,
        noise if noise > NOISE_NOTE => Severity::Note,
        _ => Severity::Ok,
    };
    let remedy = said!(
        "fact.host_timing.remedy",
        "stop other programs, set the governor to performance, keep interrupts off these CPUs, or use a host with dedicated cores"
    );
    Some(Judgement::of(severity, value, remedy))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;
    use Severity::{Note, Ok, Warning};

    fn reading(cpu: u32, median_ns: f64, variation: f64) -> (u32, FixedWork) {
        (cpu, FixedWork { runs: 100, mean_ns: median_ns, median_ns, variation, p99_over_median: 1.5 })
    }

    #[test]
    fn a_slow_cpu_is_found_and_named() {
        let of = |times: &[f64]| {
            let cpus = times.iter().enumerate();
            timing(&cpus.map(|(cpu, ns)| reading(cpu as u32, *ns, 0.0)).collect::<Vec<_>>()).remove(0)
        };
        check(&of(&[100_000.0]), Ok, Some("100.0 µs on CPU 0"));
        check(&of(&[100_000.0, 101_000.0]), Ok, Some("1.0 % apart"));
        check(&of(&[103_000.0, 100_000.0]), Note, Some("103.0 µs (CPU 0) on 2 CPUs: 3.0 % apart"));
        let slow = of(&[100_000.0, 100_000.0, 230_000.0]);
        check(&slow, Warning, Some("230.0 µs (CPU 2)"));
        assert_eq!(slow.amount.unwrap().value, 100_000.0);
        check(&of(&[]), Note, None);
        check(&of(&[f64::NAN, 0.0]), Note, None);
    }

    #[test]
    fn the_noisiest_cpu_counts() {
        let of = |noise: [f64; 2]| timing(&[reading(0, 1.0, noise[0]), reading(1, 1.0, noise[1])]).remove(1);
        check(&of([0.01, 0.02]), Ok, Some("varies by 2.0 %"));
        check(&of([0.01, 0.10]), Note, Some("CPU 1"));
        check(&of([0.40, 0.10]), Warning, Some("1.50 times the median (CPU 0"));
        check(&timing(&[]).remove(1), Note, None);
        check(&timing(&[(0, FixedWork::default())]).remove(1), Note, None);
    }
}
