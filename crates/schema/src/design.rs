//! `[design]` of an experiment file: which combinations of levels become cells, the hidden control, and how long blocks
//! are repeated; and the same resolved, with what was decided at the block borders.

use crate::knob::KnobValue;
use crate::said::Said;
use crate::settings::HttpVersion;
pub use crate::share::Share;
use crate::trace_level::TraceLevel;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use units::{Count, Nanos, PerSecond};

/// `[design]`
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DesignUse {
    /// `factorial` (all combinations) or `one-at-a-time` (each factor is varied by itself). Default factorial.
    pub kind: Option<DesignKind>,
    /// One-at-a-time: the levels from which one factor at a time departs. Default: the first level of each factor.
    pub baseline: Option<LevelsUse>,
    /// Factorial: only the cells that one of these fits. One-at-a-time: these cells, too.
    #[serde(default)]
    pub include: Vec<LevelsUse>,
    /// The cells that one of these fits are left out, whatever else is said of them.
    #[serde(default)]
    pub exclude: Vec<LevelsUse>,
    /// A cell that is run twice in each block, the second time under a name of its own: `true` (the first cell), the
    /// name of a target, or levels. Default: none.
    pub control: Option<ControlUse>,
    /// An ordered factor: `target`, `scenario`, or a knob that was given a list. Each of its levels adds one layer to
    /// the level written before it, and the report tells what each layer costs. Default: none.
    pub layers: Option<String>,
    /// The half-width wanted of the interval of each compared ratio, for example `"2%"`. Blocks are run until it is
    /// reached. Default: the blocks of the experiment, whatever they give.
    pub precision: Option<Share>,
    /// The time that the trials may take in total. Default: no bound.
    pub budget: Option<Nanos>,
    /// Whether blocks are run until every claim is decided: each look costs a part of the certainty, so intervals are
    /// wider than those of a fixed number of blocks. `blocks` is then the most. Default: false.
    pub until_decided: Option<bool>,
}

/// Which combinations of levels become cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DesignKind {
    /// All of them.
    #[default]
    Factorial,
    /// The baseline, and those that differ from it in one factor.
    OneAtATime,
}

/// Levels of factors; a cell fits if it has them all.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LevelsUse {
    /// Name of a target, with or without its knobs.
    pub target: Option<String>,
    /// Values of knobs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub knobs: BTreeMap<String, KnobValue>,
    /// Name of a scenario.
    pub scenario: Option<String>,
    /// Connections.
    pub connections: Option<Count>,
    /// Requests per second.
    pub rate: Option<PerSecond>,
    /// Version of HTTP.
    pub http: Option<HttpVersion>,
    /// Streams of a connection.
    pub streams: Option<u32>,
    /// Share of sampled traces, or off.
    pub trace: Option<TraceLevel>,
    /// CPU quota.
    pub cpus: Option<f64>,
}

/// `control`: whether and which cell is repeated.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ControlUse {
    /// The first cell, or none.
    Is(bool),
    /// The first cell of this target.
    Target(String),
    /// The first cell that these fit.
    Levels(LevelsUse),
}

/// Written by hand so that a mistake within the table is reported in plain words.
impl<'de> Deserialize<'de> for ControlUse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = ControlUse;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, the name of a target, or a table of levels")
            }
            fn visit_bool<E: serde::de::Error>(self, is: bool) -> Result<ControlUse, E> {
                Ok(ControlUse::Is(is))
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<ControlUse, E> {
                Ok(ControlUse::Target(name.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<ControlUse, A::Error> {
                LevelsUse::deserialize(MapAccessDeserializer::new(table)).map(ControlUse::Levels)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl LevelsUse {
    /// The keys that are given, as they are written.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let plain = [
            ("target", self.target.is_some()),
            ("scenario", self.scenario.is_some()),
            ("connections", self.connections.is_some()),
            ("rate", self.rate.is_some()),
            ("http", self.http.is_some()),
            ("streams", self.streams.is_some()),
            ("trace", self.trace.is_some()),
            ("cpus", self.cpus.is_some()),
        ];
        let given = plain.into_iter().filter(|(_, is)| *is).map(|(key, _)| key.to_owned());
        given.chain(self.knobs.keys().map(|name| format!("knobs.{name}"))).collect()
    }
}

/// The design, resolved, and what was decided while it ran.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct DesignPlan {
    /// Which combinations became cells.
    pub kind: DesignKind,
    /// One-at-a-time: identifier of the cell with all factors at their baseline; absent where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The hidden control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<ControlPlan>,
    /// The ordered factor whose levels are layers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<LayersPlan>,
    /// When blocks end; the planned number of blocks where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopping: Option<StoppingPlan>,
}

/// An ordered factor, each level of which adds a layer to the one before it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct LayersPlan {
    /// Which factor.
    pub factor: LayerFactor,
    /// Its levels in the order of the file; two or more.
    pub levels: Vec<String>,
}

/// A factor whose levels can be layers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LayerFactor {
    /// The target, without the knobs that were given lists.
    Target,
    /// The scenario.
    Scenario,
    /// A knob that was given a list.
    Knob {
        /// Its name.
        name: String,
    },
}

impl LayerFactor {
    /// As it stands in a report.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Target => "target",
            Self::Scenario => "scenario",
            Self::Knob { name } => name,
        }
    }
}

/// A cell that repeats another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ControlPlan {
    /// The repeated cell, under a name of its own.
    pub cell: String,
    /// The cell it repeats.
    pub of: String,
}

/// When blocks end. Blocks are added to the plan's order as they are decided upon.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct StoppingPlan {
    /// Half-width wanted of the interval of each compared ratio; absent where only the budget bounds.
    pub precision: Option<f64>,
    /// Time for all trials; absent where there is no bound.
    pub budget_ns: Option<u64>,
    /// Whether the run ends as soon as every claim is decided. All intervals of the family then allow for the looks.
    #[serde(default)]
    pub until_decided: bool,
    /// Blocks before the first look; they are data like all others.
    pub blocks_pilot: u32,
    /// Most blocks.
    pub blocks_max: u32,
    /// One entry for each look at a block border.
    #[serde(default)]
    pub looks: Vec<LookRecord>,
    /// Why no block follows; absent while the run goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
}

/// What a look at a block border found.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LookRecord {
    /// Blocks so far.
    pub blocks: u32,
    /// The widest half-width of what is judged, as a share of the ratio; absent where nothing can be judged yet.
    pub half_width: Option<f64>,
    /// What that is, in words; or why nothing can be judged.
    pub of: Said,
    /// Whether everything that is judged is as precise as wanted.
    pub is_narrow: bool,
    /// Blocks that would do, as far as is known.
    pub blocks_needed: Option<u32>,
    /// Claims that are not decided yet, where the run waits for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<u32>,
    /// Time spent on trials so far.
    pub spent_ns: u64,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Stopped {
    /// Which rule ended it.
    pub reason: StopReason,
    /// For people.
    pub text: Said,
}

/// Which rule ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The precision is reached.
    Precision,
    /// Every claim is decided.
    Decided,
    /// The budget has no room for another block.
    Budget,
    /// The most blocks were run.
    Blocks,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_toml;

    #[derive(Debug, Deserialize)]
    struct Head {
        design: DesignUse,
    }

    fn read(text: &str) -> Result<DesignUse, String> {
        let head: Result<Head, _> = parse_toml("x.toml", &format!("[design]\n{text}"));
        head.map(|head| head.design).map_err(|error| error.to_string())
    }

    #[test]
    fn shares_are_read_as_they_are_written() {
        for (text, wanted) in
            [("\"2%\"", 0.02), ("\"2.5 %\"", 0.025), ("0.02", 0.02), ("\"0.5\"", 0.5), ("1", 1.0)]
        {
            let found = read(&format!("precision = {text}")).unwrap().precision.unwrap();
            assert!((found.0 - wanted).abs() < 1e-15, "{text} is {}", found.0);
        }
        for text in ["\"two\"", "\"nan%\"", "inf", "true", "\"%\""] {
            assert!(read(&format!("precision = {text}")).is_err(), "{text} is no share");
        }
    }

    #[test]
    fn a_control_is_true_a_name_or_a_table() {
        let control = |text: &str| read(&format!("control = {text}")).map(|design| design.control.unwrap());
        assert_eq!(control("true"), Ok(ControlUse::Is(true)));
        assert_eq!(control("\"go/gin\""), Ok(ControlUse::Target("go/gin".into())));
        let Ok(ControlUse::Levels(levels)) = control("{ connections = 64 }") else { panic!("levels") };
        assert_eq!((levels.keys(), levels.connections), (vec!["connections".to_owned()], Some(Count(64))));
        assert!(control("{ conections = 64 }").unwrap_err().contains("did you mean `connections`"));
        assert!(control("3").unwrap_err().contains("true, the name of a target, or a table"));
    }

    #[test]
    fn unknown_keys_and_kinds_are_told() {
        assert!(read("kinds = \"factorial\"").unwrap_err().contains("did you mean `kind`"));
        let error = read("kind = \"one-at-time\"").unwrap_err();
        assert!(error.contains("one-at-a-time"), "{error}");
    }
}
