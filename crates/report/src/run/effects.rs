//! Main effects and interactions of the factors, in words.

use crate::words::{self, Word};
use crate::{clean, format};
use schema::analysis::{AnalysisFile, Effect, EffectLevel, Effects};
use schema::metric::Metric;
use schema::said::Said;

/// What the table shows.
pub(crate) const ABOUT: &str = "What a level changes against the first level of its factor, over all levels of the \
    others; and for two factors, how much the change of the one depends on the level of the other. By t over blocks on \
    log values; p after Holm's correction over all effects on all metrics.";

/// Heads of the columns.
pub(crate) const HEADER: [&str; 6] = ["Metric", "Effect", "Change", "Interval", "p (Holm)", "Blocks"];

/// All effects, or why there are none.
pub(crate) struct EffectsView {
    /// Factors with their levels: `target: go/gin, go/echo`.
    pub(crate) factors: Vec<String>,
    pub(crate) rows: Vec<EffectView>,
    /// Why some or all of them are missing.
    pub(crate) notes: Vec<String>,
}

/// One effect.
pub(crate) struct EffectView {
    pub(crate) metric: Metric,
    pub(crate) name: &'static str,
    /// `connections 128 against 16`, `target go/echo against go/gin × …`.
    pub(crate) what: String,
    pub(crate) change: String,
    pub(crate) interval: String,
    pub(crate) p: String,
    pub(crate) blocks: u32,
    pub(crate) verdict: Word,
    pub(crate) is_main: bool,
    pub(crate) shown: bool,
}

/// `None` where the plan crosses no factors.
pub(crate) fn view(analysis: &AnalysisFile) -> Option<EffectsView> {
    analysis.effects.as_ref().map(effects)
}

fn effects(effects: &Effects) -> EffectsView {
    let factors = effects.factors.iter();
    EffectsView {
        factors: factors
            .map(|factor| clean::line(&format!("{}: {}", factor.name, factor.levels.join(", "))))
            .collect(),
        rows: effects.effects.iter().map(row).collect(),
        notes: effects.refused.iter().map(|why| clean::line(why)).chain(refusals(effects)).collect(),
    }
}

/// `Mean, p50: why`, each reason once, in the order of metrics.
fn refusals(effects: &Effects) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for metric in Metric::ALL {
        let Some(why) = effects.metrics_refused.get(metric.key()).map(Said::text) else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, metrics)) => metrics.push(metric.title()),
            None => reasons.push((why, vec![metric.title()])),
        }
    }
    reasons.iter().map(|(why, metrics)| format!("{}: {}", metrics.join(", "), clean::line(why))).collect()
}

fn row(effect: &Effect) -> EffectView {
    let none = || format::NONE.to_owned();
    let [change, interval] = format::changes(effect.ratio, effect.interval.as_ref());
    let steps: Vec<String> = effect.of.iter().map(step).collect();
    EffectView {
        metric: effect.metric,
        name: effect.metric.title(),
        what: clean::line(&steps.join(" × ")),
        change,
        interval: match (&effect.interval, &effect.refused) {
            (Some(_), _) => interval,
            (None, Some(why)) => clean::line(why),
            (None, None) => none(),
        },
        p: effect.p_holm.map_or_else(none, format::p_value),
        blocks: effect.blocks,
        verdict: words::effect(effect.shown),
        is_main: effect.of.len() == 1,
        shown: effect.shown,
    }
}

fn step(level: &EffectLevel) -> String {
    format!("{} {} against {}", level.factor, level.level, level.against)
}
