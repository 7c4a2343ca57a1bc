//! Ladder chart: throughput over load, both logarithmic, with intervals, the knee and its interval.

use super::Chart;
use super::canvas::{BAND, GRID, INK, Palette, WIDTH, draw, extent, font, line, log_ticks, px, sane};
use crate::{ReportError, clean, format};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use schema::analysis::{AnalysisFile, Interval};
use schema::capacity::{Capacity, CapacityRow, LoadAxis};
use schema::metric::Metric;

const NOTE: &str = "Both axes are logarithmic. The bars are intervals over trials; the grey band is the interval of the \
    knee, the line within it the knee itself. Without a band no knee is claimed.";

/// One chart for each ladder or search with at least two levels.
pub(crate) fn ladders(analysis: &AnalysisFile, palette: &Palette) -> Result<Vec<Chart>, ReportError> {
    analysis.capacity.iter().filter_map(|capacity| ladder(capacity, palette).transpose()).collect()
}

fn ladder(capacity: &Capacity, palette: &Palette) -> Result<Option<Chart>, ReportError> {
    let points: Vec<_> = capacity.rows.iter().filter_map(point).collect();
    let (Some((left, right)), Some((bottom, top))) = (
        extent(points.iter().map(|(x, ..)| *x)),
        extent(points.iter().flat_map(|(_, y, low, high)| [*y, *low, *high])),
    ) else {
        return Ok(None);
    };
    if points.len() < 2 || left >= right {
        return Ok(None);
    }
    let (left, right, bottom, top) = (left / 1.15, right * 1.15, bottom / 1.3, top * 1.3);
    let color = palette.of(&capacity.target);
    let svg = draw("ladder", (WIDTH, 300), |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_top(px(10))
            .margin_right(px(26))
            .x_label_area_size(px(44))
            .y_label_area_size(px(62))
            .build_cartesian_2d(
                (left..right).log_scale().with_key_points(log_ticks(left, right)),
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
            .x_label_formatter(&|x| format::axis(*x))
            .y_label_formatter(&|y| format::axis(*y))
            .x_desc(axis(capacity.axis))
            .y_desc("right answers per second")
            .draw()?;
        if let Some((at, low, high)) = knee(capacity, left, right) {
            chart.draw_series([Rectangle::new([(low, bottom), (high, top)], BAND.mix(0.2).filled())])?;
            chart.draw_series([PathElement::new([(at, bottom), (at, top)], line(BAND, 1))])?;
        }
        let middle: Vec<(f64, f64)> = points.iter().map(|(x, y, ..)| (*x, *y)).collect();
        // The rates of a search come in no order of their own; its points are not joined.
        if capacity.search.is_none() {
            chart.draw_series([PathElement::new(middle.clone(), line(color, 2))])?;
        }
        for (x, _, low, high) in &points {
            chart.draw_series([PathElement::new([(*x, *low), (*x, *high)], line(color, 1))])?;
        }
        chart.draw_series(middle.iter().map(|point| Circle::new(*point, px(3), color.filled())))?;
        Ok(())
    })?;
    let title = format!("Throughput over load, {}", clean::line(&capacity.target));
    Ok(Some(Chart { title, alt: clean::line(&capacity.answer), note: NOTE, svg }))
}

fn axis(axis: LoadAxis) -> &'static str {
    match axis {
        LoadAxis::Connections => "connections",
        LoadAxis::Rate => "requests per second offered",
    }
}

/// Load, throughput and the ends of its interval; none has a place on the axes that is not positive.
fn point(row: &CapacityRow) -> Option<(f64, f64, f64, f64)> {
    let positive = |value: f64| sane(value).filter(|value| *value > 1e-9);
    let (x, y) = (positive(row.load)?, row.throughput_per_s.value.and_then(positive)?);
    let Interval { low, high } = row.throughput_per_s.interval.unwrap_or(Interval { low: None, high: None });
    let end = |end: Option<f64>| end.and_then(positive).unwrap_or(y);
    Some((x, y, end(low), end(high)))
}

/// The knee of throughput and its interval within the axis.
fn knee(capacity: &Capacity, left: f64, right: f64) -> Option<(f64, f64, f64)> {
    let knee = capacity.knees.iter().find(|knee| knee.metric == Metric::Throughput)?;
    let at = knee.at.and_then(sane)?.clamp(left, right);
    let Interval { low, high } = knee.interval?;
    let end = |end: Option<f64>, open: f64| end.and_then(sane).map_or(open, |end| end.clamp(left, right));
    Some((at, end(low, left), end(high, right)))
}
