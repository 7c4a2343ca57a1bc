//! `host.memory`: what is left of the host's memory, from `/proc/meminfo`, and what the kernel does to find more, from
//! `/proc/vmstat` (proc(5)).
//!
//! | key | kind | from | meaning |
//! |---|---|---|---|
//! | `total_bytes`, `free_bytes`, `cached_bytes`, `dirty_bytes` | gauge | MemTotal, MemFree, Cached, Dirty | as named |
//! | `available_bytes` | gauge | MemAvailable | what programs can still have without swapping |
//! | `swap_total_bytes`, `swap_free_bytes` | gauge | SwapTotal, SwapFree | as named |
//! | `swap_in_pages`, `swap_out_pages` | delta | pswpin, pswpout | pages read back, pages written to swap |
//! | `faults`, `major_faults` | delta | pgfault, pgmajfault | page faults; those that waited for a disk |
//! | `direct_scanned_pages` | delta | pgscan_direct | pages that programs had to look at themselves to get memory |
//! | `oom_kills` | delta | oom_kill | processes killed for want of memory, in groups too |

use crate::Roots;
use crate::error::{CollectError, ParseError};
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::text;

/// Name of the source.
pub const NAME: &str = "host.memory";

/// The kernel's key in `meminfo` and prony's.
const GAUGES: [(&str, &str); 7] = [
    ("MemTotal:", "total_bytes"),
    ("MemAvailable:", "available_bytes"),
    ("MemFree:", "free_bytes"),
    ("Cached:", "cached_bytes"),
    ("SwapTotal:", "swap_total_bytes"),
    ("SwapFree:", "swap_free_bytes"),
    ("Dirty:", "dirty_bytes"),
];

/// The kernel's key in `vmstat` and prony's.
const COUNTERS: [(&str, &str); 6] = [
    ("pswpin", "swap_in_pages"),
    ("pswpout", "swap_out_pages"),
    ("pgfault", "faults"),
    ("pgmajfault", "major_faults"),
    ("oom_kill", "oom_kills"),
    ("pgscan_direct", "direct_scanned_pages"),
];

/// Adds the gauges of `/proc/meminfo`.
///
/// # Errors
/// Where MemTotal is missing or a known value is no number of kB.
pub fn parse_meminfo(bytes: &[u8], reading: &mut Reading) -> Result<(), ParseError> {
    for line in text::utf8(bytes)?.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(key), Some(value)) = (words.next(), words.next()) else { continue };
        if let Some((_, name)) = GAUGES.iter().find(|(kernel, _)| *kernel == key) {
            reading.gauges.insert(name, text::scaled(name, value, 1_024)? as f64);
        }
    }
    if reading.gauges.contains_key("total_bytes") { Ok(()) } else { Err(ParseError::Missing("MemTotal")) }
}

/// Adds the counters of `/proc/vmstat`.
///
/// # Errors
/// Where pgfault is missing or a known value is no number.
pub fn parse_vmstat(bytes: &[u8], reading: &mut Reading) -> Result<(), ParseError> {
    for (key, value) in text::utf8(bytes)?.lines().filter_map(|line| line.split_once(' ')) {
        if let Some((_, name)) = COUNTERS.iter().find(|(kernel, _)| *kernel == key) {
            reading.counters.insert(name, text::number(name, value.trim())?);
        }
    }
    if reading.counters.contains_key("faults") { Ok(()) } else { Err(ParseError::Missing("pgfault")) }
}

/// Reads both files under `roots`.
///
/// # Errors
/// Where one cannot be read or understood.
pub fn read(roots: &Roots) -> Result<Reading, CollectError> {
    let mut reading = Reading::default();
    text::read_parsed(&roots.proc.join("meminfo"), |bytes| parse_meminfo(bytes, &mut reading))?;
    text::read_parsed(&roots.proc.join("vmstat"), |bytes| parse_vmstat(bytes, &mut reading))?;
    Ok(reading)
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
        let mut reading = Reading::default();
        parse_meminfo(include_bytes!("../fixtures/proc/meminfo"), &mut reading).unwrap();
        parse_vmstat(include_bytes!("../fixtures/proc/vmstat"), &mut reading).unwrap();
        assert_eq!((reading.gauges.len(), reading.counters.len()), (GAUGES.len(), COUNTERS.len()));
        assert_eq!(reading.gauge("total_bytes"), Some(24_684_092.0 * 1_024.0));
        assert!(reading.gauge("available_bytes") < reading.gauge("total_bytes"));
        assert!(reading.counter("faults") > reading.counter("major_faults"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let meminfo = |text: &str| parse_meminfo(text.as_bytes(), &mut Reading::default());
        let vmstat = |text: &str| parse_vmstat(text.as_bytes(), &mut Reading::default());
        assert_eq!(meminfo("MemFree: 1 kB\n"), Err(ParseError::Missing("MemTotal")));
        assert!(meminfo("MemTotal: 18446744073709551615 kB\n").is_err());
        assert!(meminfo("MemTotal: many kB\n").is_err());
        assert_eq!(meminfo("MemTotal: 1 kB\nSwapTotal:\n"), Ok(()), "a value that is cut off is absent");
        assert_eq!(vmstat("oom_kill 1\n"), Err(ParseError::Missing("pgfault")));
        assert!(vmstat("pgfault -1\n").is_err());
        assert!(parse_vmstat(b"\xff", &mut Reading::default()).is_err());
    }
}
