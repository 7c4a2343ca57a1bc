//! Memory, garbage collection and p99 of one trial: a panel each, over one shared time axis.
//!
//! A gap in a line is a time at which nothing was read; every panel begins at 0.

use super::Chart;
use super::canvas::{Area, Drawn, GRID, INK, Palette, WIDTH, draw, extent, font, line, px, sane};
use crate::run::memory;
use crate::{ReportError, clean, format};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use schema::analysis::{AnalysisFile, CellSummary};
use schema::memory_view::{MemorySeries, MemoryView};

const PANEL: u32 = 76;
const AXIS: u32 = 24;

/// One chart for each cell whose memory was read over time.
pub(crate) fn memory(analysis: &AnalysisFile, palette: &Palette) -> Result<Vec<Chart>, ReportError> {
    analysis.cells.iter().filter_map(|cell| chart(cell, palette).transpose()).collect()
}

fn chart(cell: &CellSummary, palette: &Palette) -> Result<Option<Chart>, ReportError> {
    let Some(view) = &cell.memory_view else { return Ok(None) };
    let panels: Vec<(&MemorySeries, Vec<Run>)> = view
        .series
        .iter()
        .map(|series| (series, runs(view, series)))
        .filter(|(_, runs)| !runs.is_empty())
        .collect();
    let end = extent(view.ends_ns.iter().map(|end| seconds(view, *end))).map_or(0.0, |(_, end)| end);
    if panels.is_empty() || end <= 0.0 {
        return Ok(None);
    }
    let color = palette.of(&cell.target);
    let height = PANEL * panels.len() as u32 + AXIS;
    let svg = draw("memory", (WIDTH, height), |area| {
        let mut rest = area.clone();
        for (at, (series, runs)) in panels.iter().enumerate() {
            let is_last = at + 1 == panels.len();
            let (panel, below) =
                rest.split_vertically(px(PANEL as i32 + if is_last { AXIS as i32 } else { 0 }));
            panel_of(&panel, series, runs, (end, color, is_last))?;
            rest = below;
        }
        Ok(())
    })?;
    let title = format!("{}, trial {}", clean::line(&cell.label), view.trial);
    Ok(Some(Chart { title, alt: alt(&panels), note: "", svg }))
}

/// Points without a gap between them: seconds and values.
type Run = Vec<(f64, f64)>;

fn runs(view: &MemoryView, series: &MemorySeries) -> Vec<Run> {
    let mut runs: Vec<Run> = vec![Vec::new()];
    for (end, value) in view.ends_ns.iter().zip(&series.values) {
        match (value.and_then(sane), sane(seconds(view, *end))) {
            (Some(value), Some(at)) => runs.last_mut().into_iter().for_each(|run| run.push((at, value))),
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

fn seconds(view: &MemoryView, end_ns: u64) -> f64 {
    end_ns.saturating_sub(view.begin_ns) as f64 / 1e9
}

fn panel_of(
    area: &Area<'_>,
    series: &MemorySeries,
    runs: &[Run],
    (end, color, is_last): (f64, RGBColor, bool),
) -> Drawn {
    let top = extent(runs.iter().flatten().map(|(_, y)| *y)).map_or(1.0, |(_, top)| top).max(1e-9) * 1.1;
    let mut chart = ChartBuilder::on(area)
        .margin_top(px(20))
        .margin_right(px(16))
        .x_label_area_size(if is_last { px(AXIS as i32) } else { 0 })
        .y_label_area_size(px(66))
        .build_cartesian_2d(0.0..end, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(6)
        .y_labels(3)
        .y_max_light_lines(0)
        .bold_line_style(line(GRID, 1))
        .axis_style(line(INK, 1))
        .x_label_style(font(11.0, INK, HPos::Center, VPos::Top))
        .y_label_style(font(11.0, INK, HPos::Right, VPos::Center))
        .x_label_formatter(&|x| if is_last { format!("{} s", format::axis(*x)) } else { String::new() })
        .y_label_formatter(&|y| memory::value(series.kind, *y))
        .draw()?;
    for run in runs {
        match run.as_slice() {
            [alone] => chart.draw_series([Circle::new(*alone, px(2), color.filled())]).map(|_| ())?,
            _ => chart.draw_series([PathElement::new(run.clone(), line(color, 2))]).map(|_| ())?,
        }
    }
    let name = font(11.5, INK, HPos::Left, VPos::Top);
    area.draw(&Text::new(memory::kind(series.kind), (px(66), px(3)), name))?;
    Ok(())
}

/// Least and largest value of each panel.
fn alt(panels: &[(&MemorySeries, Vec<Run>)]) -> String {
    let told = panels.iter().filter_map(|(series, runs)| {
        let (low, high) = extent(runs.iter().flatten().map(|(_, y)| *y))?;
        let value = |value| memory::value(series.kind, value);
        Some(format!("{} from {} to {}", memory::kind(series.kind), value(low), value(high)))
    });
    told.collect::<Vec<_>>().join("; ")
}
