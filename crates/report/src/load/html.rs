//! One load as a page: one file that needs no network and no script.
//!
//! Invariants: as `report.html`: askama escapes every value; only the style sheet, which is part of the program, and SVG
//! by the chart library, which escapes its text, are put in as they are.

use crate::chart::{self, Chart};
use crate::load::parts::{Part, parts};
use crate::load::words::{
    FIELDS, Limit, LoadBelief, believed, errors, facts, how, kinds, limits, quantile, what,
};
use crate::run::settings;
use crate::run::settings::Row;
use crate::words::{Footnotes, Word};
use crate::{ReportError, clean, format};
use askama::Template;
use schema::analysis::CurvePoint;
use schema::load::{Gate, LoadReport};
use schema::trial::IntervalLine;

/// What a load did over time and over the percentiles, beside its report.
#[derive(Clone, Debug, Default)]
pub struct LoadSeries {
    /// Its intervals in order, warm-up and drain included.
    pub intervals: Vec<IntervalLine>,
    /// Percentile curves by the name of the kind of time; may be empty.
    pub curves: Vec<(&'static str, Vec<CurvePoint>)>,
}

#[derive(Template)]
#[template(path = "load.html")]
struct Html {
    style: &'static str,
    what: String,
    how: String,
    rate: String,
    accounts: String,
    belief: LoadBelief,
    answer: Word,
    gates: Vec<(bool, String, String)>,
    limits: Vec<Limit>,
    headings: Vec<&'static str>,
    times: Vec<(String, Vec<String>)>,
    parts: Vec<Part>,
    notes: Footnotes,
    errors: Vec<(String, Vec<String>)>,
    facts: Vec<(&'static str, String)>,
    settings: Vec<Row>,
    curves: Option<Chart>,
    timelines: Vec<Chart>,
}

/// The load as one HTML file.
///
/// # Errors
/// [`ReportError::Chart`] and [`ReportError::Page`] where a library fails.
pub fn load_html(report: &LoadReport, series: &LoadSeries) -> Result<String, ReportError> {
    let mut notes = Footnotes::default();
    let times = kinds(report, true)
        .into_iter()
        .map(|(name, summary)| {
            let values = FIELDS.iter().map(|field| quantile(&name, summary, *field, &mut notes)).collect();
            (name, values)
        })
        .collect();
    let gates = |gates: &[Gate]| -> Vec<(bool, String, String)> {
        let named =
            |gate: &Gate| (gate.ok, clean::line(&gate.gate).replace('_', " "), clean::line(&gate.text));
        gates.iter().map(named).collect()
    };
    let parts = parts(report, &mut notes);
    let html = Html {
        style: include_str!("../../templates/report.css"),
        what: what(report),
        how: how(report),
        rate: format::rate(report.throughput_per_s),
        accounts: accounts(report),
        answer: crate::words::belief(report.validity.level()),
        belief: believed(report),
        gates: gates(&report.validity.gates),
        limits: limits(report),
        headings: FIELDS.iter().map(|(heading, ..)| *heading).collect(),
        times,
        parts,
        notes,
        errors: errors(report),
        facts: facts(report),
        settings: settings(report),
        curves: chart::load_curves(&series.curves)?,
        timelines: chart::load_timelines(&series.intervals)?,
    };
    Ok(html.render()?)
}

fn accounts(report: &LoadReport) -> String {
    let requests = &report.requests;
    format!(
        "{} scheduled = {} completed + {} failed + {} censored",
        format::count(requests.scheduled),
        format::count(requests.completed),
        format::count(requests.failed),
        format::count(requests.censored)
    )
}

fn settings(report: &LoadReport) -> Vec<Row> {
    let plan = &report.plan;
    let row = |name: &str, value: String| (name.to_owned(), clean::line(&value));
    let mut rows = vec![
        row("URL", plan.url.clone()),
        row("Address", plan.address.clone()),
        row("Scenario", plan.scenario.name.clone()),
    ];
    for entry in &plan.scenario.requests {
        let request = &entry.request;
        rows.push(row("Request", format!("{}: {} {}", entry.name, request.method, request.path)));
        rows.extend(request.headers.iter().map(|(name, value)| row("Header", format!("{name}: {value}"))));
        if !request.body.is_empty() {
            rows.push(row("Body", format::bytes(request.body.len() as f64)));
        }
    }
    rows.push(row("Load", settings::load(&plan.load)));
    rows.extend(plan.requests_max.map(|n| row("Requests", format::count(n))));
    rows.push(row("Warm-up", format::setting(plan.phases.warmup_at_most_ns).replace("0 ns", "none")));
    rows.push(row("Time-out", format::setting(plan.load.timeout_ns)));
    rows.push(row("Seed", plan.load.seed.to_string()));
    rows.push(row("Driver", plan.driver.clone()));
    rows
}
