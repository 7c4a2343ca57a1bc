//! `host.stat`: what all cores of the host did, from `/proc/stat` (proc(5)).
//!
//! | key | kind | meaning |
//! |---|---|---|
//! | `user_ns`, `nice_ns`, `system_ns` | delta | CPU time at work; `user_ns` includes guests |
//! | `idle_ns`, `iowait_ns` | delta | CPU time without work; the kernel lets `iowait` go backwards, then it is absent |
//! | `irq_ns`, `softirq_ns` | delta | CPU time in interrupts; the loopback's packets are in `softirq_ns` |
//! | `steal_ns` | delta | CPU time that the hypervisor gave to others (METHOD §9) |
//! | `ctxt` | delta | context switches |
//! | `processes` | delta | processes and threads made |
//! | `procs_running`, `procs_blocked` | gauge | tasks that run or could run; tasks that wait for a disk |
//! | `cpus` | gauge | cores online |
//!
//! CPU times are sums over all cores in steps of one clock tick (10 ms).

use crate::Roots;
use crate::error::{CollectError, ParseError};
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::text;

/// Name of the source.
pub const NAME: &str = "host.stat";

/// The CPU times in the order of the file.
pub const CPU_FIELDS: [&str; 8] =
    ["user_ns", "nice_ns", "system_ns", "idle_ns", "iowait_ns", "irq_ns", "softirq_ns", "steal_ns"];

/// Parses `/proc/stat`; `tick_ns` is the length of one clock tick.
///
/// # Errors
/// Where the line of all CPUs is missing or a known field is no number.
pub fn parse(bytes: &[u8], tick_ns: u64) -> Result<Reading, ParseError> {
    let mut reading = Reading::default();
    let mut cpus = 0_u32;
    for line in text::utf8(bytes)?.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(key), Some(first)) = (words.next(), words.next()) else { continue };
        match key {
            "cpu" => {
                for (field, word) in CPU_FIELDS.iter().zip(std::iter::once(first).chain(words)) {
                    reading.counters.insert(field, text::scaled(field, word, tick_ns)?);
                }
            }
            "ctxt" => insert(&mut reading, "ctxt", first)?,
            "processes" => insert(&mut reading, "processes", first)?,
            "procs_running" => {
                reading.gauges.insert("procs_running", text::amount("procs_running", first)?);
            }
            "procs_blocked" => {
                reading.gauges.insert("procs_blocked", text::amount("procs_blocked", first)?);
            }
            _ if is_core(key) => cpus += 1,
            _ => {}
        }
    }
    if !reading.counters.contains_key("idle_ns") {
        return Err(ParseError::Missing("the line `cpu` with at least four times"));
    }
    if cpus > 0 {
        reading.gauges.insert("cpus", f64::from(cpus));
    }
    Ok(reading)
}

fn insert(reading: &mut Reading, field: &'static str, word: &str) -> Result<(), ParseError> {
    reading.counters.insert(field, text::number(field, word)?);
    Ok(())
}

fn is_core(key: &str) -> bool {
    key.strip_prefix("cpu")
        .is_some_and(|index| !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()))
}

/// Reads the file under `roots`.
///
/// # Errors
/// Where it cannot be read or understood.
pub fn read(roots: &Roots) -> Result<Reading, CollectError> {
    text::read_parsed(&roots.proc.join("stat"), |bytes| parse(bytes, text::tick_ns()))
}

pub(crate) fn source(roots: &Roots) -> Box<dyn Source> {
    let roots = roots.clone();
    Box::new(Differencing::new(NAME, move || read(&roots)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::delta;

    const FIXTURE: &[u8] = include_bytes!("../fixtures/proc/stat");
    const TICK_NS: u64 = 10_000_000;

    #[test]
    fn a_real_file() {
        let reading = parse(FIXTURE, TICK_NS).unwrap();
        let words = std::str::from_utf8(FIXTURE).unwrap().lines().next().unwrap();
        let ticks: Vec<u64> = words.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
        for (index, field) in CPU_FIELDS.iter().enumerate() {
            assert_eq!(reading.counter(field), Some(ticks[index] * TICK_NS), "{field}");
        }
        assert_eq!(reading.gauge("cpus"), Some(2.0));
        assert!(reading.counter("ctxt").unwrap() > 1_000_000);
        assert!(reading.gauge("procs_running").unwrap() >= 1.0);
    }

    #[test]
    fn stolen_time_shows_as_delta_and_iowait_may_step_back() {
        let previous = parse(b"cpu 10 0 5 100 7 0 0 1\ncpu0 10 0 5 100 7 0 0 1\n", TICK_NS).unwrap();
        let now = parse(b"cpu 15 0 5 190 6 0 0 6\ncpu0 15 0 5 190 6 0 0 6\n", TICK_NS).unwrap();
        let deltas = delta(&previous, &now);
        assert_eq!(deltas["steal_ns"], 50e6);
        assert_eq!(deltas["idle_ns"], 900e6);
        assert!(!deltas.contains_key("iowait_ns"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let check = |input: &[u8], part: &str| {
            let message = parse(input, TICK_NS).unwrap_err().to_string();
            assert!(message.contains(part), "{message} lacks {part}");
        };
        check(b"", "`cpu`");
        check(b"cpu 1 2 3\n", "`cpu`");
        check(b"cpu 1 2 3 x\n", "idle_ns");
        check(b"cpu 1 2 3 18446744073709551615\n", "in range");
        check(b"\xff", "UTF-8");
    }
}
