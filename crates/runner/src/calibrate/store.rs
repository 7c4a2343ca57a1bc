//! Where calibrations are kept, one file a host, and what they say of a plan.
//!
//! Invariant: a file is written whole or not at all. That there is none is no error; one that cannot be read is.

use crate::RunnerError;
use record::{read_json, write_json};
use schema::calibration::{CalibrationFile, CalibrationSummary, HostIdentity};
use schema::plan::{DriverChoice, LoadPlan};
use std::path::{Path, PathBuf};

/// Where calibrations are kept; `None` where the user has no place for state (see [`crate::state::folder`]).
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    crate::state::folder("calibration")
}

/// Keeps a calibration in `folder`, in place of an earlier one of the same host. Returns where.
///
/// # Errors
/// The system refuses.
pub fn write(folder: &Path, file: &CalibrationFile) -> Result<PathBuf, RunnerError> {
    std::fs::create_dir_all(folder).map_err(RunnerError::io("make", folder))?;
    let path = path(folder, &file.host);
    write_json(&path, file)?;
    Ok(path)
}

/// The calibration of `host`, if `folder` has one.
///
/// # Errors
/// It is there and cannot be read.
pub fn read(folder: &Path, host: &HostIdentity) -> Result<Option<CalibrationFile>, RunnerError> {
    let path = path(folder, host);
    if !path.exists() {
        return Ok(None);
    }
    Ok(Some(read_json(&path, "prony.calibration/2")?))
}

/// What the calibration in `folder` says of these loads on this host, whose workers may use `generator_cpus` CPUs.
/// `None` without a calibration of this host and of the driver that the loads take.
///
/// # Errors
/// It is there and cannot be read, or the host cannot be identified.
pub fn limit_of(
    folder: Option<&Path>,
    loads: &[&LoadPlan],
    generator_cpus: usize,
) -> Result<Option<CalibrationSummary>, RunnerError> {
    let Some(folder) = folder else { return Ok(None) };
    let host = super::identity()?;
    let Some(file) = read(folder, &host)? else { return Ok(None) };
    let asked = loads.first().map_or(DriverChoice::Auto, |load| load.driver);
    let driver = match asked {
        DriverChoice::Auto => engine::drivers().first().copied().unwrap_or_default(),
        named => named,
    };
    let stale = analyze::stale(&file.host, &host);
    Ok(analyze::instrument_limit(&file, stale, driver, generator_cpus, loads))
}

fn path(folder: &Path, host: &HostIdentity) -> PathBuf {
    folder.join(format!("{}.json", host.fingerprint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::calibration::{DriverLimits, FixedWork, HistogramError, MaxRate, Spread};

    fn file(kernel: &str) -> CalibrationFile {
        let host = HostIdentity { kernel: kernel.to_owned(), ..super::super::identity().unwrap() };
        let max = MaxRate {
            connections: 1,
            rate_per_s: Spread::default(),
            cpu_per_request_ns: Spread::default(),
            busy_share: Spread::default(),
            server_limited: false,
            limit_per_s: 123.0,
        };
        let limits = DriverLimits {
            driver: DriverChoice::Epoll,
            max_rate_by_connections: vec![max],
            lag_by_rate: Vec::new(),
            overhead_per_request: Vec::new(),
        };
        CalibrationFile {
            schema: Default::default(),
            host,
            measured_wall: String::new(),
            took_ns: 0,
            pin: Default::default(),
            repeats: 3,
            seed: 1,
            clock: Default::default(),
            histogram: HistogramError::default(),
            fixed_work: FixedWork::default(),
            host_state: None,
            disturbed: None,
            drivers: vec![limits],
        }
    }

    #[test]
    fn a_calibration_is_found_again_and_is_stale_on_another_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let here = super::super::identity().unwrap();
        let load =
            LoadPlan { connections: 1, workers: 1, driver: DriverChoice::Epoll, ..LoadPlan::default() };
        let limit = || limit_of(Some(folder.path()), &[&load], 1).unwrap();
        assert_eq!(read(folder.path(), &here).unwrap(), None);
        assert_eq!(limit(), None);
        assert_eq!(limit_of(None, &[&load], 1).unwrap(), None);
        let path = write(folder.path(), &file(&here.kernel)).unwrap();
        assert_eq!(path.extension().unwrap(), "json");
        assert_eq!(limit().unwrap().max_rate_per_s, Some(123.0));
        assert_eq!(limit().unwrap().stale, Vec::<&str>::new());
        write(folder.path(), &file("1.2.3")).unwrap();
        assert!(limit().unwrap().stale[0].contains("1.2.3"), "{:?}", limit());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "one file a host");
    }

    #[test]
    fn a_damaged_file_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &file("k")).unwrap();
        std::fs::write(&path, b"{}").unwrap();
        let error = read(folder.path(), &super::super::identity().unwrap()).unwrap_err().to_string();
        assert!(error.contains("prony.calibration/2") && error.contains(".json"), "{error}");
    }
}
