//! One trial: its latency summaries, its percentile curve and bins, its gates, its thresholds, and whether its warm-up is over.

mod bins;
mod by_request;
mod counters;
mod curve;
mod events;
mod facts;
mod failures;
mod fleet;
mod gate;
mod heat;
pub(crate) mod histogram;
mod lateness;
mod objective;
mod pauses;
mod server;
mod signals;
pub(crate) mod steady;
mod summary;
mod threshold;
mod validity;

pub(crate) use bins::bins;
pub use by_request::request_curves;
pub use counters::CounterCurves;
pub use curve::curve;
pub use events::event_effect;
pub use facts::{Residence, ServerFacts, TrialFacts};
pub(crate) use failures::{failed_share, level_of};
pub(crate) use gate::gate;
pub use heat::HeatMaker;
pub use objective::{Judgement, Objective};
pub use pauses::PauseMaker;
pub use signals::SignalsMaker;
pub use steady::{Beside, Warmth, steadiness, warmth, warmup_expected_ns};
pub use summary::{Of, latency, quantile_floor};
pub use threshold::{Threshold, ThresholdError};
pub(crate) use lateness::PACER_LAG_NS;
pub(crate) use validity::{
    CANARY_SAID, CLOCK_RATE_SAID_PPM, CLOCK_STEP_SAID_NS, COMPETING_SAID, STEAL_SAID,
};
pub use validity::{gate_names, validity};
