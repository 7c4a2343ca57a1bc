//! Warm-up and steady state (METHOD §5): is the target warm yet, and was the measured window steady?
//!
//! `series` makes one value an interval of what is looked at, `moves` finds the steps and the trend of one series,
//! `live` decides during warm-up, `window` classes what was measured. Absent on purpose: any choice of what to do
//! about it; the runner ends the warm-up, `run` tells the reader.

mod live;
mod moves;
mod recent;
mod series;
mod window;

pub use live::{Warmth, warmth};
pub use series::Beside;
pub use window::steadiness;

#[cfg(test)]
mod synthetic;
