//! `host.load`: competition for the host's cores, from `/proc/loadavg` and, where the kernel has it,
//! `/proc/pressure/cpu` (proc(5), Documentation/accounting/psi.rst).
//!
//! | key | kind | meaning |
//! |---|---|---|
//! | `load_1m`, `load_5m`, `load_15m` | gauge | tasks that ran, could run or waited for a disk, decaying means |
//! | `tasks_runnable`, `tasks` | gauge | tasks that could run now; all tasks |
//! | `cpu_some_avg10_percent` | gauge | share of the last 10 s in which some task waited for a core |
//! | `cpu_some_ns` | delta | time in which some task waited for a core |

use crate::Roots;
use crate::error::{CollectError, ParseError};
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::text;

/// Name of the source.
pub const NAME: &str = "host.load";

/// Parses `/proc/loadavg`, and `/proc/pressure/cpu` where there is one.
///
/// # Errors
/// Where a field is missing or no number.
pub fn parse(loadavg: &[u8], pressure: Option<&[u8]>) -> Result<Reading, ParseError> {
    let mut reading = Reading::default();
    let mut words = text::utf8(loadavg)?.split_ascii_whitespace();
    for field in ["load_1m", "load_5m", "load_15m"] {
        let word = words.next().ok_or(ParseError::Missing("one of the three load averages"))?;
        reading.gauges.insert(field, text::amount(field, word)?);
    }
    let tasks =
        words.next().and_then(|word| word.split_once('/')).ok_or(ParseError::Missing("`runnable/tasks`"))?;
    reading.gauges.insert("tasks_runnable", text::amount("tasks_runnable", tasks.0)?);
    reading.gauges.insert("tasks", text::amount("tasks", tasks.1)?);
    if let Some(pressure) = pressure {
        parse_pressure(text::utf8(pressure)?, &mut reading)?;
    }
    Ok(reading)
}

/// The line `some avg10=0.27 avg60=0.85 avg300=1.97 total=40203439`, total in microseconds.
fn parse_pressure(pressure: &str, reading: &mut Reading) -> Result<(), ParseError> {
    let some = pressure
        .lines()
        .find_map(|line| line.strip_prefix("some "))
        .ok_or(ParseError::Missing("the line `some` of the pressure file"))?;
    for (key, value) in some.split_ascii_whitespace().filter_map(|word| word.split_once('=')) {
        match key {
            "avg10" => {
                reading.gauges.insert("cpu_some_avg10_percent", text::amount("avg10", value)?);
            }
            "total" => {
                reading.counters.insert("cpu_some_ns", text::scaled("total", value, 1_000)?);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads both files under `roots`; a kernel without pressure stall information gives the load averages only.
///
/// # Errors
/// Where `/proc/loadavg` cannot be read or one of the files cannot be understood.
pub fn read(roots: &Roots) -> Result<Reading, CollectError> {
    let pressure = text::read_optional(&roots.proc.join("pressure/cpu"));
    text::read_parsed(&roots.proc.join("loadavg"), |loadavg| parse(loadavg, pressure.as_deref()))
}

pub(crate) fn source(roots: &Roots) -> Box<dyn Source> {
    let roots = roots.clone();
    Box::new(Differencing::new(NAME, move || read(&roots)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_files() {
        let loadavg = include_bytes!("../fixtures/proc/loadavg");
        let pressure = include_bytes!("../fixtures/proc/pressure/cpu");
        let with = parse(loadavg, Some(pressure)).unwrap();
        assert!(with.gauge("load_1m").is_some() && with.gauge("tasks").unwrap() > 10.0);
        assert!(with.counter("cpu_some_ns").unwrap() > 1_000_000_000);
        let without = parse(loadavg, None).unwrap();
        assert!(without.counters.is_empty() && without.gauge("cpu_some_avg10_percent").is_none());
    }

    #[test]
    fn microseconds_become_nanoseconds() {
        let reading =
            parse(b"0.50 0.25 0.10 3/120 99\n", Some(b"some avg10=1.25 avg60=0 avg300=0 total=7\n"));
        let reading = reading.unwrap();
        assert_eq!(reading.counter("cpu_some_ns"), Some(7_000));
        assert_eq!(reading.gauge("cpu_some_avg10_percent"), Some(1.25));
        assert_eq!((reading.gauge("tasks_runnable"), reading.gauge("tasks")), (Some(3.0), Some(120.0)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(parse(b"0.1 0.2", None).is_err());
        assert!(parse(b"0.1 NaN 0.2 1/2 3", None).is_err());
        assert!(parse(b"0.1 0.2 0.3 12 3", None).is_err());
        assert!(parse(b"0.1 0.2 0.3 1/2 3", Some(b"full total=1")).is_err());
    }
}
