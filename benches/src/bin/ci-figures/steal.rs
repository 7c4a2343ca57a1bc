//! CPU time that is taken away in bursts, as neighbours of a hosted runner do: a process that computes on one CPU for a
//! while, then rests.
//!
//! Invariant: a function of its seed, apart from the scheduler; it dies with its parent, however that ends.

use launch::pin;
use rustix::process::Signal;
use std::hint;
use std::io;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use units::{Rng, Seed};

/// First argument of the process.
const WORD: &str = "steal";
/// Length of a burst.
const BURST_MS: std::ops::Range<u64> = 20..200;
/// Mean of the above.
const BURST_MEAN_MS: f64 = 110.0;

/// A running process; it ends with this value.
pub(crate) struct Steal(Child);

impl Steal {
    /// Starts it, to take this share of the time; none for a share of 0.
    ///
    /// # Errors
    /// This program cannot be started again.
    pub(crate) fn start(share: f64, seed: Seed) -> io::Result<Option<Self>> {
        if share <= 0.0 {
            return Ok(None);
        }
        let mut command = Command::new(std::env::current_exe()?);
        command.args([WORD, &share.to_string(), &seed.0.to_string()]).stdin(Stdio::null());
        Ok(Some(Self(command.spawn()?)))
    }
}

impl Drop for Steal {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Is that process; `None` where the arguments (program name first) ask for something else.
pub(crate) fn dispatch(args: impl Iterator<Item = String>) -> Option<ExitCode> {
    let words: Vec<String> = args.skip(1).collect();
    let [word, share, seed] = &words[..] else { return None };
    if word != WORD {
        return None;
    }
    let (Ok(share), Ok(seed)) = (share.parse(), seed.parse()) else { return Some(ExitCode::from(1)) };
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    match take(share, Seed(seed)) {
        Ok(never) => match never {},
        Err(error) => {
            eprintln!("ci-figures steal: {error}");
            Some(ExitCode::from(2))
        }
    }
}

fn take(share: f64, seed: Seed) -> io::Result<std::convert::Infallible> {
    let cpus = pin::usable_cpus()?;
    let mut rng = seed.derive("ci-figures.steal", 0).rng();
    loop {
        let burst = next(share, cpus.len(), &mut rng);
        sleep(burst.rest);
        pin::confine_this_thread(&[cpus[burst.cpu]])?;
        let end = Instant::now() + burst.length;
        while Instant::now() < end {
            hint::spin_loop();
        }
    }
}

struct Burst {
    /// Before it.
    rest: Duration,
    length: Duration,
    /// Which of those that may be used.
    cpu: usize,
}

/// Rests are exponential, so a burst is as likely at any moment.
fn next(share: f64, cpus: usize, rng: &mut Rng) -> Burst {
    let rest_ms = BURST_MEAN_MS * (1.0 - share) / share * rng.exponential();
    let length_ms = BURST_MS.start as f64 + rng.unit() * (BURST_MS.end - BURST_MS.start) as f64;
    Burst {
        rest: Duration::from_secs_f64(rest_ms / 1e3),
        length: Duration::from_secs_f64(length_ms / 1e3),
        cpu: rng.below(cpus as u64) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_take_the_share_that_was_asked_for_on_every_cpu() {
        let mut rng = Seed(1).rng();
        let bursts: Vec<Burst> = (0..20_000).map(|_| next(0.1, 2, &mut rng)).collect();
        let taken: f64 = bursts.iter().map(|burst| burst.length.as_secs_f64()).sum();
        let all: f64 = taken + bursts.iter().map(|burst| burst.rest.as_secs_f64()).sum::<f64>();
        assert!((0.097..0.103).contains(&(taken / all)), "{}", taken / all);
        assert!(bursts.iter().all(|burst| (20..=200).contains(&burst.length.as_millis())));
        let first = bursts.iter().filter(|burst| burst.cpu == 0).count();
        assert!((9_500..10_500).contains(&first), "{first}");
    }
}
