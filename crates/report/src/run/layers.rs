//! What each layer of an ordered factor costs, in words, with bars of text.
//!
//! Invariant: bars only map the running sums of the analysis to columns; no cost is computed here.

use crate::words::{self, Footnotes, Word};
use crate::{clean, format};
use schema::analysis::AnalysisFile;
use schema::layers::{LayerCost, LayerCosts, LayerMetric, LayerPlace};
use schema::metric::Unit;

/// What the tables show.
pub(crate) const ABOUT: &str = "What each level takes more than the level before it, all else equal: mean of the \
    differences by block, with its interval by t. The answer is after Holm's correction over all layers in all metrics; \
    a layer whose interval holds 0 has no cost shown. CPU time is the layer's own; response time under a closed load \
    has the waiting in it that the slower server makes.";

/// Heads of the columns.
pub(crate) const HEADER: [&str; 6] = ["Layer", "Cost", "Interval", "Answer", "p (Holm)", "Blocks"];

/// Columns of a bar of text.
const BAR: usize = 14;

/// All layers at one combination of everything else.
pub(crate) struct LayersView {
    /// `scenario at go/gin, 64 connections`.
    pub(crate) name: String,
    pub(crate) metrics: Vec<LayerMetricView>,
    /// Why costs are refused.
    pub(crate) notes: Footnotes,
}

/// The layers in one metric.
pub(crate) struct LayerMetricView {
    pub(crate) name: &'static str,
    pub(crate) rows: Vec<LayerRow>,
}

/// The base, a layer, or all of them together.
pub(crate) struct LayerRow {
    pub(crate) level: String,
    /// Of the base its own time, of the others what they add.
    pub(crate) cost: String,
    pub(crate) interval: String,
    pub(crate) answer: Word,
    /// Sign of the footnote that says why there is no answer.
    pub(crate) note: String,
    pub(crate) p: String,
    pub(crate) blocks: String,
    pub(crate) bar: String,
}

/// Empty without an ordered factor.
pub(crate) fn views(analysis: &AnalysisFile) -> Vec<LayersView> {
    analysis.layers.iter().map(view).collect()
}

/// `scenario at go/gin, 64 connections`.
pub(crate) fn name(costs: &LayerCosts) -> String {
    clean::line(&format!("{} at {}", costs.factor, costs.at))
}

fn view(costs: &LayerCosts) -> LayersView {
    let mut notes = Footnotes::default();
    let metrics = costs.metrics.iter().map(|metric| in_metric(metric, &mut notes)).collect();
    LayersView { name: name(costs), metrics, notes }
}

fn in_metric(metric: &LayerMetric, notes: &mut Footnotes) -> LayerMetricView {
    let unit = metric.metric.unit();
    let end = end(metric);
    let mut rows = vec![LayerRow {
        level: clean::line(&metric.base),
        cost: metric.base_ns.map_or_else(none, |ns| format::value(unit, ns)),
        interval: String::new(),
        answer: words::LAYER_BASE,
        note: sign(metric.base_refused.as_deref(), notes),
        p: String::new(),
        blocks: String::new(),
        bar: metric.base_ns.map_or_else(String::new, |ns| bar(0.0, ns, end, words::LAYER_BASE)),
    }];
    for layer in &metric.layers {
        rows.push(row(format!("+ {}", layer.level), layer, unit, end, notes));
    }
    if let Some(total) = &metric.total {
        rows.push(row(format!("all {} layers", metric.layers.len()), total, unit, end, notes));
    }
    LayerMetricView { name: metric.metric.title(), rows }
}

fn row(level: String, layer: &LayerCost, unit: Unit, end: f64, notes: &mut Footnotes) -> LayerRow {
    let answer = words::layer(layer.verdict);
    LayerRow {
        level: clean::line(&level),
        cost: layer.cost_ns.map_or_else(none, |cost| format::difference(unit, cost)),
        interval: layer
            .interval
            .as_ref()
            .map_or_else(none, |interval| format::difference_interval(unit, interval)),
        note: sign(layer.refused.as_deref(), notes),
        p: layer.p_holm.map_or_else(none, format::p_value),
        blocks: layer.blocks.to_string(),
        bar: layer.place.map_or_else(String::new, |place| bar(place.from_ns, place.to_ns, end, answer)),
        answer,
    }
}

/// Where the longest bar ends; not finite or not above 0 where there is none to draw.
pub(crate) fn end(metric: &LayerMetric) -> f64 {
    let places = metric.layers.iter().filter_map(|layer| layer.place);
    let ends = places.flat_map(|LayerPlace { from_ns, to_ns, .. }| [from_ns, to_ns]).chain(metric.base_ns);
    ends.filter(|ns| ns.is_finite()).fold(0.0, f64::max)
}

/// Dots up to where the bar begins, and at least one block; lighter where nothing is shown.
fn bar(from: f64, to: f64, end: f64, answer: Word) -> String {
    let column = |ns: f64| {
        let share = (ns / end).clamp(0.0, 1.0);
        if share.is_finite() { (share * BAR as f64).round() as usize } else { 0 }
    };
    let (low, high) = (column(from.min(to)).min(BAR - 1), column(from.max(to)));
    let block = match answer {
        words::LAYER_COSTS | words::LAYER_BASE => "█",
        words::LAYER_SAVES => "▒",
        _ => "░",
    };
    format!("{}{}", "·".repeat(low), block.repeat(high.saturating_sub(low).max(1)))
}

fn sign(reason: Option<&str>, notes: &mut Footnotes) -> String {
    reason.map(|reason| notes.sign(&clean::line(reason))).unwrap_or_default()
}

fn none() -> String {
    format::NONE.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stand_where_their_sums_are() {
        assert_eq!(bar(0.0, 50.0, 100.0, words::LAYER_BASE), "███████");
        assert_eq!(bar(50.0, 100.0, 100.0, words::LAYER_COSTS), "·······███████");
        assert_eq!(bar(100.0, 50.0, 100.0, words::LAYER_SAVES), "·······▒▒▒▒▒▒▒");
        assert_eq!(bar(100.0, 100.1, 100.1, words::LAYER_NOT_SHOWN), "·············░");
        for odd in [f64::NAN, f64::INFINITY, -1e300, 1e300] {
            assert!(bar(odd, odd, odd, words::LAYER_COSTS).chars().count() <= BAR, "{odd}");
        }
    }
}
