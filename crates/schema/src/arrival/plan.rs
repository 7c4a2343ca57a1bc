//! Arrivals, shapes and think times as they stand in a plan: nothing left to default, lengths of time in nanoseconds.

use super::{RecordingEnd, ShapeEnd};
use crate::compact::{Form, text_or_table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use units::Nanos;

/// The arrival law of a plan. The mean rate is the load's.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(remote = "Self", tag = "law", rename_all = "snake_case")]
pub enum ArrivalPlan {
    /// Evenly spaced.
    #[default]
    Constant,
    /// One arrival at a uniformly random moment of the first part of each 1/rate slot.
    Uniform {
        /// That part of the slot, above 0 to 1.
        #[serde(default = "whole_slot")]
        width: f64,
    },
    /// Independent exponential gaps.
    Poisson,
    /// Independent Weibull gaps.
    Weibull {
        /// Shape k.
        shape: f64,
    },
    /// Independent lognormal gaps.
    Lognormal {
        /// Standard deviation over mean.
        cv: f64,
    },
    /// Independent gamma gaps.
    Gamma {
        /// Shape k.
        shape: f64,
    },
    /// Markov-modulated Poisson process of two states.
    Mmpp {
        /// Intensity of the busy state, relative to `low`.
        high: f64,
        /// Intensity of the quiet state, relative to `high`; may be 0.
        low: f64,
        /// Mean time in the busy state.
        high_for_ns: u64,
        /// Mean time in the quiet state.
        low_for_ns: u64,
    },
    /// Recorded times, the first at 0.
    Recorded {
        /// The file, absolute.
        file: String,
        /// Times in it.
        count: u64,
        /// From the first to the last, as recorded.
        span_ns: u64,
        /// How much faster than recorded.
        speed: f64,
        /// What follows the last.
        after: RecordingEnd,
    },
}

const fn whole_slot() -> f64 {
    1.0
}

const ARRIVAL_PLAN: Form = Form { what: "arrival law", tag: "law", example: "poisson", main_key: |_| None };
// Files of earlier versions hold the bare name.
text_or_table!(ArrivalPlan, ARRIVAL_PLAN, |_| None);

impl ArrivalPlan {
    /// The name of the law as it is written in files.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Uniform { .. } => "uniform",
            Self::Poisson => "poisson",
            Self::Weibull { .. } => "weibull",
            Self::Lognormal { .. } => "lognormal",
            Self::Gamma { .. } => "gamma",
            Self::Mmpp { .. } => "mmpp",
            Self::Recorded { .. } => "recorded",
        }
    }
}

/// The law with its parameters, for people: `Weibull, shape 0.7`.
impl fmt::Display for ArrivalPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("evenly spaced"),
            Self::Uniform { width: 1.0 } => f.write_str("uniform jitter"),
            Self::Uniform { width } => write!(f, "uniform jitter over {width} of the slot"),
            Self::Poisson => f.write_str("Poisson"),
            Self::Weibull { shape } => write!(f, "Weibull, shape {shape}"),
            Self::Lognormal { cv } => write!(f, "lognormal, cv {cv}"),
            Self::Gamma { shape } => write!(f, "gamma, shape {shape}"),
            Self::Mmpp { high, low, high_for_ns, low_for_ns } => {
                let (high_for, low_for) = (Nanos(*high_for_ns), Nanos(*low_for_ns));
                write!(f, "MMPP, {high}:{low} for {high_for}:{low_for}")
            }
            Self::Recorded { count, speed: 1.0, .. } => write!(f, "{count} recorded times"),
            Self::Recorded { count, speed, .. } => {
                write!(f, "{count} recorded times, {speed:.4} times as fast")
            }
        }
    }
}

/// The rate over time of a plan.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ShapePlan {
    /// What the user asked for, for example `ramp`.
    pub kind: String,
    /// The first rate of the shape holds until then, since the begin of the load: the warm-up.
    pub begin_ns: u64,
    /// One after the other; at least one.
    pub stretches: Vec<StretchPlan>,
    /// What follows the last.
    pub after: ShapeEnd,
}

/// A stretch of time with one formula for its rate. Rates are at least 0, lengths above 0.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StretchPlan {
    /// λ(t) = from + (to − from)·t/length.
    Linear {
        /// First rate.
        from_per_s: f64,
        /// Last rate.
        to_per_s: f64,
        /// Length.
        length_ns: u64,
    },
    /// λ(t) = from·(to/from)^(t/length); both above 0.
    Exponential {
        /// First rate.
        from_per_s: f64,
        /// Last rate.
        to_per_s: f64,
        /// Length.
        length_ns: u64,
    },
    /// λ(t) = mean + amplitude·sin(2πt/length): one whole wave.
    Sine {
        /// Mean rate.
        mean_per_s: f64,
        /// From mean to peak; at most the mean.
        amplitude_per_s: f64,
        /// Length.
        length_ns: u64,
    },
}

impl StretchPlan {
    /// Its length.
    #[must_use]
    pub const fn length_ns(&self) -> u64 {
        match self {
            Self::Linear { length_ns, .. }
            | Self::Exponential { length_ns, .. }
            | Self::Sine { length_ns, .. } => *length_ns,
        }
    }
}

/// The think time of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "law", rename_all = "snake_case")]
pub enum ThinkPlan {
    /// Always the mean.
    Constant {
        /// The pause.
        mean_ns: u64,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean_ns: u64,
    },
    /// max(0, X) with X normal: for cv 0.5 the mean is 0.4 % above `mean_ns`, for cv 1 it is 8.3 % above.
    Normal {
        /// Mean of X.
        mean_ns: u64,
        /// Standard deviation of X over its mean.
        cv: f64,
    },
    /// Lognormal.
    Lognormal {
        /// Mean.
        mean_ns: u64,
        /// Standard deviation over mean.
        cv: f64,
    },
    /// Evenly between two times.
    Uniform {
        /// Shortest.
        from_ns: u64,
        /// Longest.
        to_ns: u64,
    },
    /// Weibull.
    Weibull {
        /// Mean.
        mean_ns: u64,
        /// Shape k.
        shape: f64,
    },
    /// Gamma.
    Gamma {
        /// Mean.
        mean_ns: u64,
        /// Shape k.
        shape: f64,
    },
}

/// The law of the number of a session's steps in a plan; values are rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "law", rename_all = "snake_case")]
pub enum LengthPlan {
    /// Exponential.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Lognormal.
    Lognormal {
        /// Mean.
        mean: f64,
        /// Standard deviation over mean.
        cv: f64,
    },
    /// Weibull.
    Weibull {
        /// Mean.
        mean: f64,
        /// Shape k.
        shape: f64,
    },
    /// Gamma.
    Gamma {
        /// Mean.
        mean: f64,
        /// Shape k.
        shape: f64,
    },
}

/// For people: `lognormal, mean 6.5`.
impl fmt::Display for LengthPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exponential { mean } => write!(f, "exponential, mean {mean}"),
            Self::Lognormal { mean, cv } => write!(f, "lognormal, mean {mean}, cv {cv}"),
            Self::Weibull { mean, shape } => write!(f, "Weibull, mean {mean}, shape {shape}"),
            Self::Gamma { mean, shape } => write!(f, "gamma, mean {mean}, shape {shape}"),
        }
    }
}

impl ThinkPlan {
    /// The mean, in nanoseconds; for the normal law that before negative pauses become 0.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        match *self {
            Self::Constant { mean_ns }
            | Self::Exponential { mean_ns }
            | Self::Normal { mean_ns, .. }
            | Self::Lognormal { mean_ns, .. }
            | Self::Weibull { mean_ns, .. }
            | Self::Gamma { mean_ns, .. } => mean_ns as f64,
            Self::Uniform { from_ns, to_ns } => (from_ns as f64 + to_ns as f64) / 2.0,
        }
    }
}

/// For people: `10ms lognormal, cv 0.5`.
impl fmt::Display for ThinkPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant { mean_ns } => write!(f, "{}", Nanos(*mean_ns)),
            Self::Exponential { mean_ns } => write!(f, "{} exponential", Nanos(*mean_ns)),
            Self::Normal { mean_ns, cv } => write!(f, "{} normal, cv {cv}", Nanos(*mean_ns)),
            Self::Lognormal { mean_ns, cv } => write!(f, "{} lognormal, cv {cv}", Nanos(*mean_ns)),
            Self::Uniform { from_ns, to_ns } => write!(f, "{} to {} uniform", Nanos(*from_ns), Nanos(*to_ns)),
            Self::Weibull { mean_ns, shape } => write!(f, "{} Weibull, shape {shape}", Nanos(*mean_ns)),
            Self::Gamma { mean_ns, shape } => write!(f, "{} gamma, shape {shape}", Nanos(*mean_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_read_back_what_they_write_and_the_bare_names_of_old_files() {
        let plans = [
            ArrivalPlan::Constant,
            ArrivalPlan::Weibull { shape: 0.7 },
            ArrivalPlan::Mmpp { high: 5.0, low: 0.0, high_for_ns: 1, low_for_ns: 2 },
        ];
        for plan in plans {
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<ArrivalPlan>(&text).unwrap(), plan, "{text}");
        }
        assert_eq!(
            serde_json::from_str::<ArrivalPlan>("\"uniform\"").unwrap(),
            ArrivalPlan::Uniform { width: 1.0 }
        );
    }
}
