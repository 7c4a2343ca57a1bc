//! Strip chart: the throughput of every trial, one row a cell, with the cell's centre and interval.

use super::Chart;
use super::canvas::{BAND, GRID, INK, Palette, WIDTH, draw, extent, font, line, padded, px, sane};
use crate::{ReportError, clean, format};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use schema::analysis::{AnalysisFile, CellSummary, MetricSummary, TrialRow};
use schema::metric::Metric;
use schema::trial::TrialOutcome;

const ROW: u32 = 50;
const NOTE: &str = "Each dot is a trial, the first block on top; a hollow grey dot is void, one within a ring far from the others of its cell. The bar is the centre, the shade its interval.";

/// The chart, or none where no trial has a throughput. Blocks stand beneath each other within a row, the first on top.
pub(crate) fn strips(analysis: &AnalysisFile, palette: &Palette) -> Result<Option<Chart>, ReportError> {
    let all = analysis.trials.iter().filter_map(throughput);
    let Some(range) = extent(all) else { return Ok(None) };
    if analysis.cells.is_empty() {
        return Ok(None);
    }
    let blocks = analysis.trials.iter().map(|trial| trial.block).max().unwrap_or(1).max(1);
    let cells = &analysis.cells;
    let svg = draw("strips", (WIDTH, ROW * cells.len() as u32 + 52), |area| {
        let (low, high) = padded(range);
        let mut chart = ChartBuilder::on(area)
            .margin_left(px(8))
            .margin_right(px(14))
            .x_label_area_size(px(44))
            .build_cartesian_2d(low..high, 0.0..cells.len() as f64)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .x_labels(6)
            .x_max_light_lines(0)
            .bold_line_style(line(GRID, 1))
            .axis_style(line(INK, 1))
            .label_style(font(11.0, INK, HPos::Center, VPos::Top))
            .axis_desc_style(font(11.0, INK, HPos::Center, VPos::Bottom))
            .x_label_formatter(&|x| format::axis(*x))
            .x_desc("right answers per second")
            .draw()?;
        for (index, cell) in cells.iter().enumerate() {
            let top = (cells.len() - index) as f64;
            let name = clean::cut(&clean::line(&cell.label), 60);
            let style = font(11.5, INK, HPos::Left, VPos::Top);
            chart.draw_series([EmptyElement::at((low, top)) + Text::new(name, (px(2), px(4)), style)])?;
            if let Some((center, ends)) = center(cell, (low, high)) {
                let color = palette.of(&cell.target);
                chart.draw_series([Rectangle::new(
                    [(ends.0, top - 0.40), (ends.1, top - 0.94)],
                    color.mix(0.16).filled(),
                )])?;
                chart.draw_series([PathElement::new(
                    [(center, top - 0.40), (center, top - 0.94)],
                    line(color, 2),
                )])?;
            }
            for trial in analysis.trials.iter().filter(|trial| trial.cell == cell.cell) {
                let Some(x) = throughput(trial) else { continue };
                let place = f64::from(trial.block.clamp(1, blocks)) - 0.5;
                let y = top - 0.42 - 0.5 * place / f64::from(blocks);
                let valid = trial.outcome == TrialOutcome::Valid;
                let style = if valid { palette.of(&cell.target).filled() } else { line(BAND, 1) };
                chart.draw_series([Circle::new((x, y), px(3), style)])?;
                if analysis.outliers.iter().any(|outlier| outlier.trial == trial.id) {
                    chart.draw_series([Circle::new((x, y), px(6), line(INK, 1))])?;
                }
            }
        }
        Ok(())
    })?;
    let alt = cells.iter().map(|cell| alt(cell, analysis)).collect::<Vec<_>>().join("; ");
    Ok(Some(Chart { title: "Throughput of each trial, by cell".to_owned(), alt, note: NOTE, svg }))
}

fn throughput(trial: &TrialRow) -> Option<f64> {
    trial
        .values
        .iter()
        .find(|value| value.metric == Metric::Throughput)
        .and_then(|value| value.value)
        .and_then(sane)
}

fn summary(cell: &CellSummary) -> Option<&MetricSummary> {
    cell.metrics.iter().find(|summary| summary.metric == Metric::Throughput)
}

/// The centre and the ends of its interval within the axis; both ends at the centre where there is no interval.
fn center(cell: &CellSummary, (low, high): (f64, f64)) -> Option<(f64, (f64, f64))> {
    let summary = summary(cell)?;
    let center = summary.center.and_then(sane)?.clamp(low, high);
    let ends = summary.interval.map_or((center, center), |interval| {
        let end = |end: Option<f64>, open: f64| end.and_then(sane).map_or(open, |end| end.clamp(low, high));
        (end(interval.low, low), end(interval.high, high))
    });
    Some((center, ends))
}

fn alt(cell: &CellSummary, analysis: &AnalysisFile) -> String {
    let values: Vec<_> = analysis
        .trials
        .iter()
        .filter(|trial| trial.cell == cell.cell && trial.outcome == TrialOutcome::Valid)
        .filter_map(throughput)
        .map(format::rate)
        .collect();
    format!("{}: {}", clean::line(&cell.label), values.join(", "))
}
