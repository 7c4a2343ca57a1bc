//! `[counters]`: how often counters are read beside the load.

use schema::counters::{Counters, CountersPlan};
use schema::text::Problem;
use units::Nanos;

/// A reading takes some milliseconds of a core, which must stay a small share of it.
const TICK_MIN: Nanos = Nanos::from_millis(100);
/// Rarer readings would show nothing of a usual trial.
const TICK_MAX: Nanos = Nanos::from_secs(60);

/// The pace of the counters.
///
/// # Errors
/// A tick out of range.
pub(super) fn resolve(file: &Counters) -> Result<CountersPlan, Problem> {
    match file.tick {
        None => Ok(CountersPlan::default()),
        Some(tick) if (TICK_MIN..=TICK_MAX).contains(&tick) => Ok(CountersPlan { tick_ns: tick.0 }),
        Some(tick) => {
            let cause = format!("a tick of {tick} is out of range");
            Err(Problem::at("counters.tick", cause, "give from 100ms to 60s"))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::context::Context;
    use crate::experiment::experiment;

    fn resolved(counters: &str) -> Result<u64, String> {
        let text = format!(
            "[experiment]\nname = \"t\"\n{counters}\n[[target]]\nname = \"a\"\nreference = {{}}\n[scenario]\n\
             request = {{ path = \"/\" }}\n"
        );
        let context = Context { project: ".".into(), usable_cpus: vec![0, 1], pin: None };
        let plan = experiment("e.toml", &text, &context).map_err(|error| error.to_string())?;
        Ok(plan.counters.tick_ns)
    }

    #[test]
    fn the_tick_is_a_second_or_what_is_asked_for() {
        assert_eq!(resolved(""), Ok(1_000_000_000));
        assert_eq!(resolved("[counters]"), Ok(1_000_000_000));
        assert_eq!(resolved("[counters]\ntick = \"100ms\""), Ok(100_000_000));
        assert_eq!(resolved("[counters]\ntick = \"1m\""), Ok(60_000_000_000));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for tick in ["99ms", "61s"] {
            let told = resolved(&format!("[counters]\ntick = \"{tick}\"")).unwrap_err();
            for part in ["e.toml:4", "counters.tick", "out of range", "100ms to 60s"] {
                assert!(told.contains(part), "{told} lacks {part}");
            }
        }
        let told = resolved("[counters]\ntik = \"1s\"").unwrap_err();
        assert!(told.contains("tick"), "the nearest key is named: {told}");
    }
}
