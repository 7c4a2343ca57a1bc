//! What a run needs of the command: its own binary, where runs go, whom it may load, and the flag that ends it.

use crate::interrupt;
use anyhow::{Context as _, Result};
use runner::Environment;
use schema::calibration::CalibrationSummary;
use std::path::Path;
use std::sync::Arc;

/// For one run; from here on the first Ctrl-C ends it cleanly.
pub(crate) fn environment(
    runs: &Path,
    consent: &[String],
    calibration: Option<CalibrationSummary>,
) -> Result<Environment> {
    Ok(Environment {
        launcher: std::env::current_exe().context("cannot find prony's own binary")?,
        runs: runs.to_owned(),
        consent: consent.to_vec(),
        command: std::env::args().collect(),
        calibration,
        stop: interrupt::stop_flag()?,
        aborted: Arc::default(),
    })
}
