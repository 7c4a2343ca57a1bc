//! `host.pressure`: time in which tasks waited for a core, for memory or for a disk, from `/proc/pressure/*`
//! (Documentation/accounting/psi.rst).
//!
//! | key | kind | meaning |
//! |---|---|---|
//! | `cpu_some_avg10_percent`, `memory_some_…`, `io_some_…` | gauge | share of the last 10 s in which some task waited |
//! | `memory_full_avg10_percent`, `io_full_avg10_percent` | gauge | share in which all tasks that had work waited |
//! | `cpu_some_ns`, `memory_some_ns`, `io_some_ns` | delta | time in which some task waited |
//! | `memory_full_ns`, `io_full_ns` | delta | time in which all tasks that had work waited |
//!
//! A kernel without pressure stall information (or with `psi=0`) has no such source: that is no gap. What one of the
//! three files does not tell is absent. `full` of the CPU means nothing for a whole host and is left out.

use crate::Roots;
use crate::error::{CollectError, ParseError};
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::text;

/// Name of the source.
pub const NAME: &str = "host.pressure";

/// Names of one line of a file: the kernel's word, the gauge, the counter.
type Line = (&'static str, &'static str, &'static str);

/// What is taken of each file.
const FILES: [(&str, &[Line]); 3] = [
    ("cpu", &[("some", "cpu_some_avg10_percent", "cpu_some_ns")]),
    (
        "memory",
        &[
            ("some", "memory_some_avg10_percent", "memory_some_ns"),
            ("full", "memory_full_avg10_percent", "memory_full_ns"),
        ],
    ),
    (
        "io",
        &[("some", "io_some_avg10_percent", "io_some_ns"), ("full", "io_full_avg10_percent", "io_full_ns")],
    ),
];

/// Adds what `/proc/pressure/<resource>` tells, for the resources `cpu`, `memory` and `io`; nothing for others.
///
/// # Errors
/// Where the line `some` is missing or a known value is no number.
pub fn parse(resource: &str, bytes: &[u8], reading: &mut Reading) -> Result<(), ParseError> {
    let text = text::utf8(bytes)?;
    let lines = FILES.iter().find(|(file, _)| *file == resource).map(|(_, lines)| *lines).unwrap_or_default();
    for (word, gauge, counter) in lines {
        let line = text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        let Some(line) = line else {
            // Kernels before 5.13 have no `full` of the CPU, and any may leave it out elsewhere.
            if *word == "some" {
                return Err(ParseError::Missing("the line `some` of the pressure file"));
            }
            continue;
        };
        for (key, value) in line.split_ascii_whitespace().filter_map(|word| word.split_once('=')) {
            match key {
                "avg10" => {
                    reading.gauges.insert(gauge, text::amount(gauge, value)?);
                }
                "total" => {
                    reading.counters.insert(counter, text::scaled(counter, value, 1_000)?);
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Reads the files under `roots` that are there.
///
/// # Errors
/// Where none can be read, or one cannot be understood.
pub fn read(roots: &Roots) -> Result<Reading, CollectError> {
    let mut reading = Reading::default();
    let mut missing = None;
    for (resource, _) in FILES {
        let path = roots.proc.join("pressure").join(resource);
        match text::read_parsed(&path, |bytes| parse(resource, bytes, &mut reading)) {
            Err(error @ CollectError::Read { .. }) => missing = Some(error),
            other => other?,
        }
    }
    match missing {
        Some(error) if reading == Reading::default() => Err(error),
        _ => Ok(reading),
    }
}

/// The source, where the kernel has it.
pub(crate) fn source(roots: &Roots) -> Option<Box<dyn Source>> {
    read(roots).ok()?;
    let roots = roots.clone();
    Some(Box::new(Differencing::new(NAME, move || read(&roots))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn fixtures() -> Roots {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
        Roots { proc: format!("{folder}/proc").into(), sys: format!("{folder}/sys").into() }
    }

    #[test]
    fn real_files() {
        let reading = read(&fixtures()).unwrap();
        assert_eq!((reading.gauges.len(), reading.counters.len()), (5, 5));
        assert_eq!(reading.counter("memory_full_ns"), Some(71_071_000));
        assert_eq!(reading.gauge("cpu_some_avg10_percent"), Some(0.08));
        assert!(reading.counter("io_some_ns") > reading.counter("io_full_ns"));
    }

    #[test]
    fn a_kernel_without_it_has_no_source_and_one_file_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().into(), sys: folder.path().into() };
        assert!(source(&roots).is_none());
        fs::create_dir(folder.path().join("pressure")).unwrap();
        fs::write(folder.path().join("pressure/cpu"), "some avg10=0.00 total=1\n").unwrap();
        assert_eq!(read(&roots).unwrap().counter("cpu_some_ns"), Some(1_000));
        assert!(source(&roots).is_some());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let check = |resource: &str, bytes: &[u8]| parse(resource, bytes, &mut Reading::default());
        assert!(check("io", b"full avg10=0 total=1\n").is_err());
        assert!(check("io", b"some avg10=NaN\n").is_err());
        assert!(check("io", b"some total=18446744073709551615\n").is_err(), "too large in nanoseconds");
        assert!(check("io", b"\xff").is_err());
        assert_eq!(check("cpu", b"some\n"), Err(ParseError::Missing("the line `some` of the pressure file")));
        assert_eq!(check("other", b""), Ok(()));
    }
}
