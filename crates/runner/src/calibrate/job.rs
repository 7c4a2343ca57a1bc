//! What a calibration needs to know.

use schema::plan::PinPlan;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::Nanos;

/// What a calibration needs to know.
#[derive(Clone, Debug)]
pub struct CalibrateJob {
    /// prony's own binary, which becomes the reference target and its guard.
    pub launcher: PathBuf,
    /// Fewer points.
    pub quick: bool,
    /// Time of the whole, within [`super::BUDGET_BOUNDS`]; kept to a second or two.
    pub budget: Nanos,
    /// CPUs of the worker (the first is taken) and of the reference target.
    pub pin: PinPlan,
    /// Seed of the order.
    pub seed: u64,
    /// Set to end early; nothing is kept then.
    pub stop: Arc<AtomicBool>,
}
