//! Throughput over time: one small chart a cell, one line a trial, warm-up shaded.

use super::Chart;
use super::canvas::{BAND, GRID, INK, Palette, draw, extent, font, line, px, sane};
use crate::{ReportError, clean, format};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use schema::analysis::{AnalysisFile, CellSummary, SeriesPoint, TrialRow};
use schema::trial::{Phase, TrialOutcome};

/// One chart for each cell whose trials have points; all have the same axes, so that they can be compared.
pub(crate) fn timelines(analysis: &AnalysisFile, palette: &Palette) -> Result<Vec<Chart>, ReportError> {
    let all = || analysis.trials.iter().flat_map(shown);
    let Some((_, seconds)) = extent(all().map(|(x, _)| x)) else { return Ok(Vec::new()) };
    let (_, top) = extent(all().map(|(_, y)| y)).unwrap_or((0.0, 1.0));
    let axes = (seconds.max(1e-3), (top * 1.08).max(1e-3));
    let has_points = |cell: &&CellSummary| {
        analysis.trials.iter().any(|t| t.cell == cell.cell && shown(t).next().is_some())
    };
    analysis.cells.iter().filter(has_points).map(|cell| timeline(analysis, cell, axes, palette)).collect()
}

fn timeline(
    analysis: &AnalysisFile,
    cell: &CellSummary,
    (seconds, top): (f64, f64),
    palette: &Palette,
) -> Result<Chart, ReportError> {
    let trials: Vec<_> = analysis.trials.iter().filter(|trial| trial.cell == cell.cell).collect();
    let svg = draw("throughput over time", (340, 190), |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_top(px(8))
            .margin_right(px(14))
            .x_label_area_size(px(26))
            .y_label_area_size(px(40))
            .build_cartesian_2d(0.0..seconds, 0.0..top)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(5)
            .y_labels(4)
            .y_max_light_lines(0)
            .bold_line_style(line(GRID, 1))
            .axis_style(line(INK, 1))
            .x_label_style(font(11.0, INK, HPos::Center, VPos::Top))
            .y_label_style(font(11.0, INK, HPos::Right, VPos::Center))
            .x_label_formatter(&|x| format!("{} s", format::axis(*x)))
            .y_label_formatter(&|y| format::axis(*y))
            .draw()?;
        // Light bands laid over each other: the darker, the more trials were still warming up.
        let warm = trials.iter().filter_map(|trial| warmup_end(trial));
        chart.draw_series(
            warm.map(|end| Rectangle::new([(0.0, 0.0), (end.min(seconds), top)], BAND.mix(0.07).filled())),
        )?;
        for trial in &trials {
            let color = if trial.outcome == TrialOutcome::Valid { palette.of(&cell.target) } else { BAND };
            let points: Vec<_> = shown(trial).collect();
            chart.draw_series([PathElement::new(points, line(color.mix(0.75), 1))])?;
        }
        Ok(())
    })?;
    let alt = format!("{}: right answers per second over {} trials", clean::line(&cell.label), trials.len());
    Ok(Chart { title: clean::line(&cell.label), alt, note: "", svg })
}

/// Seconds and answers per second; the drain, in which no load is made, is left out.
fn shown(trial: &TrialRow) -> impl Iterator<Item = (f64, f64)> {
    let under_load = |point: &&SeriesPoint| point.phase != Some(Phase::Drain);
    trial
        .series
        .iter()
        .filter(under_load)
        .filter_map(|point| Some((sane(point.t_ns as f64 / 1e9)?, sane(point.throughput_per_s)?)))
}

fn warmup_end(trial: &TrialRow) -> Option<f64> {
    let warm = trial.series.iter().filter(|point| point.phase == Some(Phase::Warmup));
    warm.map(|point| point.t_ns).max().map(|ns| ns as f64 / 1e9).and_then(sane)
}
