//! When requests are sent: arrival laws, shapes of the rate over time, and think times, each as a user writes it and
//! as it stands in a plan.
//!
//! Invariants: a law never holds a rate, which comes from the load (recorded times bring their own); a shape in a plan
//! is a list of stretches in absolute rates; lengths of time in plans are raw nanoseconds.
//! Absent on purpose: defaults, ranges and the expansion of shapes into stretches (the runner's work), and sampling
//! (crate `pace`).

mod plan;

pub use plan::{ArrivalPlan, LengthPlan, ShapePlan, StretchPlan, ThinkPlan};

use crate::compact::{Form, MainKey, text_or_table};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use units::{Nanos, ParseQuantityError, PerSecond};

/// `load.arrivals`: the law of the times between arrivals, as text (`"poisson"`, `"weibull:shape=0.7"`) or table.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(remote = "Self", tag = "law", rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// Evenly spaced.
    Constant {},
    /// One arrival at a uniformly random moment of each 1/rate slot: jitter.
    Uniform {
        /// Share of the slot, from its begin, in which the arrival falls; above 0, at most 1. Default 1.
        width: Option<Number>,
    },
    /// Independent exponential gaps.
    Poisson {},
    /// Independent Weibull gaps.
    Weibull {
        /// Shape k; below 1 bursty, 1 is Poisson, above 1 regular.
        shape: Number,
    },
    /// Independent lognormal gaps.
    Lognormal {
        /// Coefficient of variation: standard deviation over mean.
        cv: Number,
    },
    /// Independent gamma gaps.
    Gamma {
        /// Shape k; below 1 bursty, 1 is Poisson, above 1 regular.
        shape: Number,
    },
    /// Poisson whose rate changes between two states at random (Markov-modulated); the mean rate is that of the load.
    Mmpp {
        /// Intensity of the busy state, relative to `low`.
        high: Number,
        /// Intensity of the quiet state, relative to `high`; may be 0. Default 1.
        low: Option<Number>,
        /// Mean time in the busy state.
        high_for: Nanos,
        /// Mean time in the quiet state.
        low_for: Nanos,
    },
    /// Recorded times, replayed.
    Recorded {
        /// One time per line; relative to the project's folder, on the command line to the present one.
        file: String,
        /// How much faster than recorded. Default 1, or what makes the mean rate that of the load.
        speed: Option<Number>,
        /// What follows the last time. Default stop.
        after: Option<RecordingEnd>,
    },
}

const ARRIVALS: Form =
    Form { what: "arrival law", tag: "law", example: "weibull:shape=0.7", main_key: arrivals_key };
text_or_table!(Arrivals, ARRIVALS, |_| None);

fn arrivals_key(name: &str) -> Option<MainKey> {
    (name == "recorded").then_some(MainKey::One("file"))
}

/// What follows the last recorded time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordingEnd {
    /// Nothing more is sent.
    #[default]
    Stop,
    /// The recording begins again, one mean gap after its last time.
    Repeat,
}

/// `load.shape`: the rate over time, as text (`"ramp:to=5000,over=30s"`) or table. It begins with the measured
/// window; during warm-up its first rate holds.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(remote = "Self", tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// Along a straight line.
    Ramp {
        /// First rate. Default: the rate of the load.
        from: Option<Level>,
        /// Last rate.
        to: Level,
        /// Length.
        over: Nanos,
        /// What follows. Default hold.
        after: Option<ShapeEnd>,
    },
    /// One rate after the other.
    Steps {
        /// The rates.
        levels: Vec<Level>,
        /// Length of each.
        each: Nanos,
        /// What follows. Default hold.
        after: Option<ShapeEnd>,
    },
    /// The rate of the load with one burst.
    Spike {
        /// Rate of the burst.
        to: Level,
        /// When it begins.
        at: Nanos,
        /// Its length.
        #[serde(rename = "for")]
        length: Nanos,
        /// What follows the burst: the rate of the load holds, or all repeats. Default hold.
        after: Option<ShapeEnd>,
    },
    /// A sine around the rate of the load, beginning there and rising; repeats for ever.
    Sine {
        /// From the mean to the peak; at most the mean.
        amplitude: Level,
        /// Length of one wave.
        period: Nanos,
    },
    /// Exponential change: the same factor in the same time.
    Decay {
        /// First rate, above 0. Default: the rate of the load.
        from: Option<Level>,
        /// Last rate, above 0.
        to: Level,
        /// Length.
        over: Nanos,
        /// What follows. Default hold.
        after: Option<ShapeEnd>,
    },
    /// Straight lines between points.
    Piecewise {
        /// `TIME@RATE` in order of time, the first at 0s; two points of one time make a jump.
        points: Vec<Point>,
        /// What follows. Default hold.
        after: Option<ShapeEnd>,
    },
}

const SHAPE: Form = Form { what: "shape", tag: "kind", example: "ramp:to=x4,over=30s", main_key: shape_key };
text_or_table!(Shape, SHAPE, |_| None);

fn shape_key(name: &str) -> Option<MainKey> {
    match name {
        "steps" => Some(MainKey::List("levels")),
        "piecewise" => Some(MainKey::List("points")),
        _ => None,
    }
}

/// What follows the end of a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShapeEnd {
    /// The last rate holds.
    #[default]
    Hold,
    /// The shape begins again.
    Repeat,
}

/// `load.think`: the pause of a closed loop's connection between answer and next request, as text (`"10ms"`,
/// `"lognormal:mean=10ms,cv=0.5"`) or table.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(remote = "Self", tag = "law", rename_all = "snake_case", deny_unknown_fields)]
pub enum Think {
    /// Always the mean.
    Constant {
        /// The pause.
        mean: Nanos,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Nanos,
    },
    /// Normal; what would be negative is 0.
    Normal {
        /// Mean before that.
        mean: Nanos,
        /// Standard deviation; or `cv`.
        sd: Option<Nanos>,
        /// Standard deviation over mean; or `sd`.
        cv: Option<Number>,
    },
    /// Lognormal.
    Lognormal {
        /// Mean.
        mean: Nanos,
        /// Standard deviation; or `cv`.
        sd: Option<Nanos>,
        /// Standard deviation over mean; or `sd`.
        cv: Option<Number>,
    },
    /// Evenly between two times.
    Uniform {
        /// Shortest. Default 0s.
        from: Option<Nanos>,
        /// Longest.
        to: Nanos,
    },
    /// Weibull.
    Weibull {
        /// Mean.
        mean: Nanos,
        /// Shape k; below 1 a few long pauses among many short ones, 1 is exponential.
        shape: Number,
    },
    /// Gamma.
    Gamma {
        /// Mean.
        mean: Nanos,
        /// Shape k; as for `weibull`.
        shape: Number,
    },
}

const THINK: Form =
    Form { what: "think time", tag: "law", example: "lognormal:mean=10ms,cv=0.5", main_key: |_| None };
text_or_table!(Think, THINK, constant_think);

/// A text that begins with a digit can only be a duration: no law does.
fn constant_think(text: &str) -> Option<serde_json::Value> {
    let is_duration = text.trim_start().starts_with(|c: char| c.is_ascii_digit());
    is_duration.then(|| serde_json::json!({ "law": "constant", "mean": text }))
}

/// `session.length`: the number of a session's steps, as text (`"exponential:mean=5"`) or table. A value of the law is
/// rounded up, so that a session has at least one step.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(remote = "Self", tag = "law", rename_all = "snake_case", deny_unknown_fields)]
pub enum Lengths {
    /// Exponential: rounded up, each further step is as likely as the one before (geometric).
    Exponential {
        /// Mean before rounding.
        mean: Number,
    },
    /// Lognormal.
    Lognormal {
        /// Mean before rounding.
        mean: Number,
        /// Standard deviation over mean.
        cv: Number,
    },
    /// Weibull.
    Weibull {
        /// Mean before rounding.
        mean: Number,
        /// Shape k.
        shape: Number,
    },
    /// Gamma.
    Gamma {
        /// Mean before rounding.
        mean: Number,
        /// Shape k.
        shape: Number,
    },
}

const LENGTHS: Form =
    Form { what: "law of lengths", tag: "law", example: "lognormal:mean=6.5,cv=0.8", main_key: |_| None };
text_or_table!(Lengths, LENGTHS, |_| None);

/// Either form of a setting, for the JSON Schema of a file.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) enum TextOr<T> {
    /// The compact text.
    Text(String),
    /// The table.
    Table(T),
}

/// A number; in compact text it is written as text.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, JsonSchema)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfText(|text: &str| {
            text.parse().map(Number).map_err(|_| format!("`{text}` is not a number"))
        }))
    }
}

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        Self(number)
    }
}

/// A rate in a shape: absolute, or a multiple (`x2`) of the load's rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// Absolute.
    PerSecond(PerSecond),
    /// So many times the load's rate.
    Times(f64),
}

impl Level {
    /// In requests per second, where the load's rate is `base_per_s`.
    #[must_use]
    pub fn per_s(self, base_per_s: f64) -> f64 {
        match self {
            Self::PerSecond(rate) => rate.0,
            Self::Times(times) => times * base_per_s,
        }
    }
}

impl FromStr for Level {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix(['x', '×']) {
            Some(times) => match times.trim().parse() {
                Ok(times) => Ok(Self::Times(times)),
                Err(_) => Err(format!("`{text}` is not a multiple; write for example x2 or x0.5")),
            },
            None => text.parse().map(Self::PerSecond).map_err(|error: ParseQuantityError| {
                format!("{error}, or x2 for a multiple of the load's rate")
            }),
        }
    }
}

impl From<f64> for Level {
    fn from(number: f64) -> Self {
        Self::PerSecond(PerSecond(number))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerSecond(rate) => rate.fmt(f),
            Self::Times(times) => write!(f, "x{times}"),
        }
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfText(str::parse))
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Level {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Level".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["string", "number"],
            "description": "a rate per second, or a multiple of the load's rate such as \"x2\""
        })
    }
}

/// A point of a piecewise shape, written `TIME@RATE`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Since the begin of the shape.
    pub at: Nanos,
    /// The rate there.
    pub level: Level,
}

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let parsed = match text.split_once('@') {
            Some((at, level)) => at
                .parse()
                .map_err(|error: ParseQuantityError| error.to_string())
                .and_then(|at| level.trim().parse().map(|level| Self { at, level })),
            None => Err(format!("`{text}` is not a point; write TIME@RATE, for example 10s@500")),
        };
        parsed.map_err(serde::de::Error::custom)
    }
}

impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}@{}", self.at, self.level))
    }
}

impl JsonSchema for Point {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Point".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[^@]+@[^@]+$", "description": "TIME@RATE" })
    }
}

/// Reads a number, or a text by the given function.
struct OfText<T>(fn(&str) -> Result<T, String>);

impl<T: From<f64>> serde::de::Visitor<'_> for OfText<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a text")
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<T, E> {
        Ok(T::from(number as f64))
    }
    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<T, E> {
        Ok(T::from(number as f64))
    }
    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<T, E> {
        Ok(T::from(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::ExperimentFile;
    use crate::text::parse_toml;

    fn refused<T: FromStr<Err = crate::compact::CompactError> + fmt::Debug>(text: &str, parts: &[&str]) {
        let error = text.parse::<T>().expect_err(text).to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
    }

    #[test]
    fn compact_texts_are_the_tables_of_files() {
        assert_eq!("poisson".parse(), Ok(Arrivals::Poisson {}));
        assert_eq!("uniform:width=0.5".parse(), Ok(Arrivals::Uniform { width: Some(Number(0.5)) }));
        assert_eq!("weibull:shape=0.7".parse(), Ok(Arrivals::Weibull { shape: Number(0.7) }));
        let Ok(Arrivals::Recorded { file, after, .. }) = "recorded:a/b.txt,after=repeat".parse() else {
            panic!("recorded times with a bare file");
        };
        assert_eq!((file.as_str(), after), ("a/b.txt", Some(RecordingEnd::Repeat)));
        let steps = Shape::Steps {
            levels: vec![
                Level::PerSecond(PerSecond(100.0)),
                Level::Times(2.0),
                Level::PerSecond(PerSecond(4e3)),
            ],
            each: Nanos::from_secs(10),
            after: None,
        };
        assert_eq!("steps:100,x2,4k,each=10s".parse(), Ok(steps));
        let points =
            |at, level| Point { at: Nanos::from_secs(at), level: Level::PerSecond(PerSecond(level)) };
        let piecewise =
            Shape::Piecewise { points: vec![points(0, 1.0), points(5, 9.0)], after: Some(ShapeEnd::Repeat) };
        assert_eq!("piecewise:0s@1,5s@9,after=repeat".parse(), Ok(piecewise));
        assert_eq!("10ms".parse(), Ok(Think::Constant { mean: Nanos::from_millis(10) }));
    }

    #[test]
    fn mistakes_name_cause_and_nearest_key() {
        refused::<Arrivals>("poison", &["unknown value `poison`", "did you mean `poisson`?"]);
        refused::<Arrivals>("weibull:shap=1", &["unknown key `shap`", "did you mean `shape`?"]);
        refused::<Arrivals>("poisson:rate=3", &["unknown key `rate`", "remove it"]);
        refused::<Arrivals>("weibull", &["missing field `shape`", "weibull:shape=0.7"]);
        refused::<Arrivals>("weibull:shape=much", &["`much` is not a number"]);
        refused::<Arrivals>("weibull:0.7", &["`0.7` of `weibull` has no key"]);
        refused::<Arrivals>("gamma:shape=1,shape=2", &["given twice"]);
        refused::<Shape>("ramp:to=5000,over=30", &["unit is missing"]);
        refused::<Shape>("ramp:to=xx,over=30s", &["not a multiple"]);
        refused::<Shape>("piecewise:5,6", &["TIME@RATE"]);
        refused::<Think>("10", &["unit is missing"]);
        refused::<Think>("normall:mean=1s", &["did you mean `normal`?"]);
    }

    #[test]
    fn files_take_text_and_table_alike() {
        let load = |arrivals: &str| {
            let text =
                format!("[experiment]\nname = \"x\"\n[load]\nmodel = \"open\"\narrivals = {arrivals}\n");
            parse_toml::<ExperimentFile>("e.toml", &text).map(|file| file.load.and_then(|load| load.arrivals))
        };
        let weibull = Ok(Some(Arrivals::Weibull { shape: Number(2.0) }));
        assert_eq!(load("{ law = \"weibull\", shape = 2 }"), weibull);
        assert_eq!(load("\"weibull:shape=2\""), weibull);
        let error = load("\"poison\"").unwrap_err();
        assert_eq!(
            error.to_string(),
            "e.toml:5:12: unknown value `poison`\n  remedy: did you mean `poisson`?"
        );
        let error = load("{ law = \"gamma\", shapes = 2 }").unwrap_err();
        assert_eq!(error.to_string(), "e.toml:5:12: unknown key `shapes`\n  remedy: did you mean `shape`?");
    }
}
