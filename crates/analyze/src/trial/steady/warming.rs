//! When a live warm-up ends, on made-up starts whose truth is known: a step after twelve seconds, an approach with a time
//! constant of 20 s, and a flat start, under noise that remembers. Only in tests.

use super::synthetic::{autoregressive_by, counted, rng};
use super::warmth;
use schema::steady::WarmUpConditions;

/// What the starts of one kind came to.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    runs: usize,
    /// Ended before the step, or with more than 2 % of bias in the next 15 s.
    early: usize,
    /// Lasted as long as they may.
    ran_out: usize,
    /// Sum of lengths.
    seconds: usize,
}

/// Noise of each second: standard deviation and autocorrelation.
type Noise = (f64, f64);

fn ends(name: &str, (sd, phi): Noise, allowed: usize, runs: u64, truth: impl Fn(usize) -> f64) -> Ends {
    let mut found = Ends { runs: runs as usize, ..Ends::default() };
    for run in 0..runs {
        let mut rng = rng(name, run * 1_000 + (100.0 * (sd + phi)) as u64);
        let noise = autoregressive_by(allowed, sd, phi, &mut rng);
        let speed: Vec<f64> = noise.iter().enumerate().map(|(at, noise)| truth(at) * noise).collect();
        let lines = counted(&speed, 20_000.0, &mut rng);
        let is_warm =
            |until: &usize| warmth(&lines[..*until], &[], &WarmUpConditions::default(), allowed).is_warm;
        // Two intervals before its end is the last look, as the next border is the first that all workers keep.
        let end = (1..=allowed - 2).find(is_warm);
        let cut = end.map_or(allowed, |end| end + 1);
        let bias = (cut..cut + 15).map(|at| 1.0 - truth(at)).sum::<f64>() / 15.0;
        found.early += usize::from(bias > 0.02);
        found.ran_out += usize::from(end.is_none());
        found.seconds += cut;
    }
    found
}

const NOISES: [Noise; 6] = [(0.01, 0.0), (0.01, 0.7), (0.03, 0.0), (0.03, 0.7), (0.05, 0.0), (0.05, 0.7)];

fn step(at: usize) -> f64 {
    if at < 12 { 0.7 } else { 1.0 }
}

fn approach(at: usize) -> f64 {
    1.0 - 0.3 * (-(at as f64) / 20.0).exp()
}

fn show(kind: &str, (sd, phi): Noise, found: Ends) -> Ends {
    println!(
        "{kind}, noise {:.0} %, φ {phi}: too early in {} of {}, ran out in {}, {:.1} s on average",
        100.0 * sd,
        found.early,
        found.runs,
        found.ran_out,
        found.seconds as f64 / found.runs as f64
    );
    found
}

/// Shares of starts ended too early that are allowed: of steps, of approaches by noise. Flat ones last as long as ADR 0028
/// states at noise of 1 %, without memory and with.
fn check(runs: u64, noises: &[Noise], (steps, approaches): (f64, &[f64])) {
    for (noise, approaches) in noises.iter().zip(approaches) {
        let all = runs as f64;
        let stepped = show("step after 12 s", *noise, ends("step", *noise, 20, runs, step));
        let climbed = show("approach, 20 s", *noise, ends("approach", *noise, 90, runs, approach));
        let _ = show("flat, at most 20 s", *noise, ends("flat", *noise, 20, runs, |_| 1.0));
        let flat = show("flat, at most 90 s", *noise, ends("flat", *noise, 90, runs, |_| 1.0));
        assert!(stepped.early as f64 <= steps * all, "{noise:?} {stepped:?}");
        assert!(climbed.early as f64 <= approaches * all, "{noise:?} {climbed:?}");
        let flat_s = if noise.1 > 0.0 { 21.0 } else { 18.0 };
        assert!(flat.seconds as f64 <= flat_s * all || noise.0 > 0.01, "{noise:?} {flat:?}");
    }
}

#[test]
fn warm_ups_end_in_time() {
    check(12, &[(0.01, 0.0), (0.03, 0.0)], (0.0, &[0.09, 0.17]));
}

#[test]
#[ignore = "minutes: 200 starts of four kinds at six noises"]
fn warm_ups_end_in_time_at_full_size() {
    check(200, &NOISES, (0.01, &[0.03, 0.03, 0.04, 0.20, 0.15, 0.40]));
}
