//! `report.html`: one file that needs no network and no script.
//!
//! Invariants: askama escapes every value in the template; only two things are put in unescaped: the style sheet,
//! which is part of the program, and SVG by the chart library, which escapes its text itself (tested).

use crate::chart::{self, Chart, Palette};
use crate::run::agents;
use crate::run::capacity;
use crate::run::effects;
use crate::run::events;
use crate::run::layers;
use crate::run::levels;
use crate::run::limits;
use crate::run::memory;
use crate::run::messages;
use crate::run::page::{KEY_METRICS, Page};
use crate::run::requests;
use crate::run::soak;
use crate::run::spans;
use crate::run::usual;
use crate::{ReportError, clean};
use askama::Template;
use schema::analysis::AnalysisFile;
use schema::metric::Metric;
use schema::run::RunFile;

#[derive(Template)]
#[template(path = "report.html")]
struct Html {
    page: Page,
    style: &'static str,
    cell_metrics: Vec<&'static str>,
    usual_about: &'static str,
    usual_header: [&'static str; 11],
    messages_about: &'static str,
    messages_header: [&'static str; 14],
    requests_about: &'static str,
    spans_about: &'static str,
    span_header: [&'static str; 5],
    agents_about: &'static str,
    agents_header: [&'static str; 12],
    capacity_about: &'static str,
    capacity_header: [&'static str; 9],
    hysteresis_header: [&'static str; 6],
    steps_header: [&'static str; 5],
    effects_about: &'static str,
    effect_header: [&'static str; 6],
    layers_about: &'static str,
    layer_header: [&'static str; 6],
    waterfalls: Vec<Chart>,
    memory_about: &'static str,
    memory_charts: Vec<Chart>,
    levels_about: &'static str,
    level_header: [&'static str; 7],
    limits_about: &'static str,
    soak_about: &'static str,
    soak_header: [&'static str; 5],
    soak_charts: Vec<Chart>,
    events_about: &'static str,
    event_header: [&'static str; 9],
    legend: Vec<LegendEntry>,
    ladders: Vec<Chart>,
    forests: Vec<Chart>,
    strips: Option<Chart>,
    curves: Vec<Chart>,
    timelines: Vec<Chart>,
}

/// A target and the class of its colour.
struct LegendEntry {
    class: String,
    target: String,
}

/// The report as one HTML file.
///
/// # Errors
/// [`ReportError::Chart`] and [`ReportError::Page`] where a library fails.
pub fn html(run: &RunFile, analysis: &AnalysisFile) -> Result<String, ReportError> {
    let palette = Palette::new(analysis);
    let forests = [chart::forest(analysis, Metric::Throughput)?, chart::forest(analysis, Metric::P99)?];
    let html = Html {
        page: Page::new(run, analysis),
        style: include_str!("../../templates/report.css"),
        cell_metrics: KEY_METRICS.map(Metric::title).to_vec(),
        usual_about: usual::ABOUT,
        usual_header: usual::HEADER,
        messages_about: messages::ABOUT,
        messages_header: messages::HEADER,
        requests_about: requests::ABOUT,
        spans_about: requests::SPANS_ABOUT,
        span_header: spans::HEADER,
        agents_about: agents::ABOUT,
        agents_header: agents::HEADER,
        capacity_about: capacity::ABOUT,
        capacity_header: capacity::HEADER,
        hysteresis_header: capacity::HYSTERESIS_HEADER,
        steps_header: capacity::STEPS_HEADER,
        effects_about: effects::ABOUT,
        effect_header: effects::HEADER,
        layers_about: layers::ABOUT,
        layer_header: layers::HEADER,
        waterfalls: chart::waterfalls(analysis)?,
        memory_about: memory::ABOUT,
        memory_charts: chart::memory(analysis, &palette)?,
        levels_about: levels::ABOUT,
        level_header: levels::HEADER,
        limits_about: limits::ABOUT,
        soak_about: soak::ABOUT,
        soak_header: soak::HEADER,
        soak_charts: chart::soak(analysis)?,
        events_about: events::ABOUT,
        event_header: events::HEADER,
        legend: legend(&palette),
        ladders: chart::ladders(analysis, &palette)?,
        forests: forests.into_iter().flatten().collect(),
        strips: chart::strips(analysis, &palette)?,
        curves: chart::curves(analysis, &palette)?,
        timelines: chart::timelines(analysis, &palette)?,
    };
    Ok(html.render()?)
}

fn legend(palette: &Palette) -> Vec<LegendEntry> {
    palette
        .targets
        .iter()
        .enumerate()
        .map(|(index, target)| LegendEntry { class: Palette::class(index), target: clean::line(target) })
        .collect()
}
