//! Warm-up and steady state (METHOD §5): is the target warm yet, and was the measured window steady?
//!
//! `series` makes one value an interval of what is looked at, `moves` finds the steps and the trend of one series,
//! `approach` how far it still is from a level that it approaches; `live` decides during warm-up, `window` classes what was measured. Absent on purpose: any choice of what to do
//! about it; the runner ends the warm-up, `run` tells the reader.

mod approach;
mod live;
mod moves;
mod recent;
mod series;
mod window;

pub use live::{Warmth, warmth, warmup_expected_ns};
pub use series::Beside;
pub use window::steadiness;

#[cfg(test)]
mod synthetic;
#[cfg(test)]
mod warming;
