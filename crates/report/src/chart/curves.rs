//! Percentile curves: response time over the quantile, one chart a load and one line a target.
//!
//! The x axis is 1/(1 − q) on a log scale: it counts nines, so that the tail has as much room as the middle (as in
//! HdrHistogram's plots).

use super::Chart;
use super::canvas::{GRID, INK, Palette, WIDTH, draw, extent, font, line, log_ticks, px};
use crate::{ReportError, clean, format};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use schema::analysis::{AnalysisFile, CellSummary};

/// One chart for each load that has a curve.
pub(crate) fn curves(analysis: &AnalysisFile, palette: &Palette) -> Result<Vec<Chart>, ReportError> {
    let mut loads: Vec<&str> = Vec::new();
    for cell in analysis.cells.iter().filter(|cell| !points(cell).is_empty()) {
        if !loads.contains(&cell.load.as_str()) {
            loads.push(&cell.load);
        }
    }
    loads.into_iter().map(|load| curve(analysis, load, palette)).collect()
}

fn curve(analysis: &AnalysisFile, load: &str, palette: &Palette) -> Result<Chart, ReportError> {
    let cells: Vec<_> =
        analysis.cells.iter().filter(|cell| cell.load == load).map(|cell| (cell, points(cell))).collect();
    let all = || cells.iter().flat_map(|(_, points)| points.iter().copied());
    let (_, right) = extent(all().map(|(x, _)| x)).unwrap_or((1.0, 100.0));
    let (bottom, top) = extent(all().map(|(_, y)| y)).unwrap_or((1.0, 10.0));
    let (bottom, top) = ((bottom / 1.2).max(1.0), (top * 1.2).max(10.0));
    let right = right.max(100.0);
    let svg = draw("percentiles", (WIDTH, 300), |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_top(px(10))
            .margin_right(px(26))
            .x_label_area_size(px(44))
            .y_label_area_size(px(62))
            .build_cartesian_2d(
                (1.0..right).log_scale().with_key_points(ticks(right)),
                (bottom..top).log_scale().with_key_points(log_ticks(bottom, top)),
            )?;
        chart
            .configure_mesh()
            .x_max_light_lines(0)
            .y_max_light_lines(0)
            .bold_line_style(line(GRID, 1))
            .axis_style(line(INK, 1))
            .x_label_style(font(11.0, INK, HPos::Center, VPos::Top))
            .y_label_style(font(11.0, INK, HPos::Right, VPos::Center))
            .axis_desc_style(font(11.0, INK, HPos::Center, VPos::Bottom))
            .x_label_formatter(&|x| percentile(*x))
            .y_label_formatter(&|y| format::setting(*y as u64))
            .x_desc("percentile of response time")
            .draw()?;
        for (cell, points) in &cells {
            let color = palette.of(&cell.target);
            chart.draw_series([PathElement::new(points.clone(), line(color, 2))])?;
            let marks = points.iter().map(|point| Circle::new(*point, px(2), color.filled()));
            chart.draw_series(marks)?;
        }
        Ok(())
    })?;
    let title = format!("Response time by percentile, {}", clean::line(load));
    let alt = cells.iter().map(|(cell, _)| alt(cell)).collect::<Vec<_>>().join("; ");
    Ok(Chart { title, alt, note: "", svg })
}

/// The curve on the axis of nines. The maximum has no place on it, and zero has none on a log axis.
fn points(cell: &CellSummary) -> Vec<(f64, f64)> {
    let on_axis = |quantile: f64| (0.0..1.0).contains(&quantile);
    let drawn = cell
        .curve
        .iter()
        .filter(|point| on_axis(point.quantile) && point.ns > 0 && point.ns < 1_000_000_000_000_000);
    drawn.map(|point| (one_in(point.quantile), point.ns as f64)).collect()
}

pub(super) fn one_in(quantile: f64) -> f64 {
    1.0 / (1.0 - quantile)
}

const NAMED: [(f64, &str); 7] = [
    (0.0, "min"),
    (0.5, "p50"),
    (0.9, "p90"),
    (0.99, "p99"),
    (0.999, "p99.9"),
    (0.9999, "p99.99"),
    (0.99999, "p99.999"),
];

pub(super) fn ticks(right: f64) -> Vec<f64> {
    NAMED.iter().map(|(quantile, _)| one_in(*quantile)).filter(|x| *x <= right * 1.001).collect()
}

pub(super) fn percentile(x: f64) -> String {
    let name = NAMED.iter().find(|(quantile, _)| (one_in(*quantile) / x - 1.0).abs() < 1e-6);
    name.map_or_else(String::new, |(_, name)| (*name).to_owned())
}

fn alt(cell: &CellSummary) -> String {
    let at = |quantile: f64, name: &str| {
        let point = cell.curve.iter().find(|point| (point.quantile - quantile).abs() < 1e-9)?;
        Some(format!("{name} {}", format::nanos(point.ns)))
    };
    let named: Vec<_> = NAMED.iter().filter_map(|(quantile, name)| at(*quantile, name)).collect();
    format!("{}: {}", clean::line(&cell.target), named.join(", "))
}
