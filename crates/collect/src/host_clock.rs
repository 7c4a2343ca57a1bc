//! `host.clock`: how fast the cores run and how hot they are, from sysfs (Documentation/admin-guide/pm/cpufreq.rst,
//! Documentation/driver-api/thermal/sysfs-api.rst).
//!
//! | key | kind | from | meaning |
//! |---|---|---|---|
//! | `frequency_mean_hz`, `frequency_min_hz`, `frequency_max_hz` | gauge | `cpu<N>/cpufreq/scaling_cur_freq` | over the cores at this moment |
//! | `temperature_max_celsius` | gauge | `class/thermal/thermal_zone<N>/temp` | of the hottest zone |
//! | `thermal_throttles` | delta | `cpu<N>/thermal_throttle/core_throttle_count` | times that cores were slowed down because of heat, added up |
//!
//! Which files there are is found out once; a host without any (most virtual machines) has no such source, and that is
//! no gap. Absent on purpose: `cpu MHz` of `/proc/cpuinfo`, which virtual machines invent.

use crate::error::CollectError;
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::{Roots, text};
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the source.
pub const NAME: &str = "host.clock";
/// Most cores that are read.
const CPUS_MAX: usize = 256;
/// Most thermal zones that are read.
const ZONES_MAX: usize = 64;
/// Hotter than any sensor of a computer that is not broken.
const CELSIUS_MAX: f64 = 200.0;

/// The files of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    frequencies: Vec<PathBuf>,
    temperatures: Vec<PathBuf>,
    throttles: Vec<PathBuf>,
}

impl Files {
    /// Finds what there is under `roots`.
    #[must_use]
    pub fn find(roots: &Roots) -> Self {
        let cpus = numbered(&roots.sys.join("devices/system/cpu"), "cpu", CPUS_MAX);
        let zones = numbered(&roots.sys.join("class/thermal"), "thermal_zone", ZONES_MAX);
        let of = |folders: &[PathBuf], file: &str| -> Vec<PathBuf> {
            folders.iter().map(|folder| folder.join(file)).filter(|path| path.is_file()).collect()
        };
        Self {
            frequencies: of(&cpus, "cpufreq/scaling_cur_freq"),
            temperatures: of(&zones, "temp"),
            throttles: of(&cpus, "thermal_throttle/core_throttle_count"),
        }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Folders whose name is `prefix` and a number, in order of their names.
fn numbered(folder: &Path, prefix: &str, most: usize) -> Vec<PathBuf> {
    let is_wanted = |path: &PathBuf| {
        let number = path.file_name().and_then(|name| name.to_str()?.strip_prefix(prefix));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries.filter(is_wanted).collect();
    found.sort();
    found.truncate(most);
    found
}

/// The number in a file of sysfs; nothing where there is none. Sensors that are off answer with an error.
#[must_use]
pub fn parse(bytes: &[u8]) -> Option<i64> {
    text::utf8(bytes).ok()?.trim().parse().ok()
}

/// What the numbers mean: frequencies in kHz, temperatures in thousandths of a degree, counts of throttling.
#[must_use]
pub fn reading(kilohertz: &[i64], millidegrees: &[i64], throttles: &[i64]) -> Reading {
    let mut reading = Reading::default();
    let hertz: Vec<f64> = kilohertz.iter().filter(|khz| **khz > 0).map(|khz| *khz as f64 * 1e3).collect();
    if let (Some(least), Some(most)) =
        (hertz.iter().copied().min_by(f64::total_cmp), hertz.iter().copied().max_by(f64::total_cmp))
    {
        let mean = hertz.iter().sum::<f64>() / hertz.len() as f64;
        reading.gauges.extend([
            ("frequency_mean_hz", mean),
            ("frequency_min_hz", least),
            ("frequency_max_hz", most),
        ]);
    }
    let celsius = millidegrees.iter().map(|millis| *millis as f64 / 1e3);
    let hottest = celsius.filter(|degrees| degrees.abs() < CELSIUS_MAX).max_by(f64::total_cmp);
    reading.gauges.extend(hottest.map(|degrees| ("temperature_max_celsius", degrees)));
    if !throttles.is_empty() {
        let counts = throttles.iter().filter_map(|count| u64::try_from(*count).ok());
        reading.counters.insert("thermal_throttles", counts.fold(0, u64::saturating_add));
    }
    reading
}

/// Reads all files once. One that cannot be read now is left out.
#[must_use]
pub fn read(files: &Files) -> Reading {
    let numbers = |paths: &[PathBuf]| -> Vec<i64> {
        paths.iter().filter_map(|path| parse(&text::read_optional(path)?)).collect()
    };
    reading(&numbers(&files.frequencies), &numbers(&files.temperatures), &numbers(&files.throttles))
}

/// The source, where there is something to read.
pub(crate) fn source(roots: &Roots) -> Option<Box<dyn Source>> {
    let files = Files::find(roots);
    let read = move || Ok::<_, CollectError>(read(&files));
    (!Files::find(roots).is_empty()).then(|| -> Box<dyn Source> { Box::new(Differencing::new(NAME, read)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Well-formed samples in the format of the kernel's documents named in the header: two cores, three zones of
    /// which one tells nonsense, as zones without a sensor do.
    fn fixtures() -> Roots {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
        Roots { proc: format!("{folder}/proc").into(), sys: format!("{folder}/sys").into() }
    }

    #[test]
    fn frequencies_heat_and_throttling() {
        let reading = read(&Files::find(&fixtures()));
        assert_eq!(reading.gauge("frequency_mean_hz"), Some(2.2e9));
        assert_eq!(reading.gauge("frequency_min_hz"), Some(8e8));
        assert_eq!(reading.gauge("frequency_max_hz"), Some(3.6e9));
        assert_eq!(reading.gauge("temperature_max_celsius"), Some(71.5));
        assert_eq!(reading.counter("thermal_throttles"), Some(17));
        assert!(source(&fixtures()).is_some());
    }

    #[test]
    fn a_host_that_tells_nothing_has_no_source() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().into(), sys: folder.path().into() };
        assert!(source(&roots).is_none());
        assert_eq!(read(&Files::default()), Reading::default());
    }

    #[test]
    fn hostile_numbers_are_no_readings() {
        assert_eq!((parse(b"-1\n"), parse(b"x"), parse(b"\xff"), parse(b"")), (Some(-1), None, None, None));
        let reading = reading(&[0, -5, i64::MAX], &[i64::MAX, -20_000], &[-3, i64::MAX, i64::MAX]);
        assert!(reading.gauge("frequency_mean_hz").unwrap().is_finite());
        assert_eq!(reading.gauge("temperature_max_celsius"), Some(-20.0));
        assert_eq!(reading.counter("thermal_throttles"), Some(i64::MAX as u64 * 2));
    }
}
