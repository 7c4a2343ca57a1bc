//! What the target held over the time of a soak: one small chart a counter, one line a segment, the segments one after
//! the other.

use super::Chart;
use super::canvas::{COLORS, GRID, INK, draw, extent, font, line, padded, px, sane};
use crate::run::soak;
use crate::{ReportError, clean, format};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use schema::analysis::AnalysisFile;
use schema::soak::SoakTrend;

/// One chart for each counter with at least two points.
pub(crate) fn soak(analysis: &AnalysisFile) -> Result<Vec<Chart>, ReportError> {
    let trends = analysis.soak.iter().flat_map(|soak| &soak.trends);
    trends
        .filter_map(|trend| Some((trend, lines(trend)?)))
        .map(|(trend, lines)| chart(trend, &lines))
        .collect()
}

/// Points of a segment: minutes from the begin of the first one, and value.
type Line = Vec<(f64, f64)>;

/// The segments one after the other; time between them is left out. `None` without two points.
fn lines(trend: &SoakTrend) -> Option<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    let (mut trial, mut begin) = (None, 0.0);
    for point in &trend.series {
        let (Some(minutes), Some(value)) = (sane(point.t_ns as f64 / 60e9), sane(point.value)) else {
            continue;
        };
        if trial != Some(point.trial) {
            begin = lines.last().and_then(|line| line.last()).map_or(0.0, |last| last.0);
            trial = Some(point.trial);
            lines.push(Vec::new());
        }
        lines.last_mut()?.push((begin + minutes, value));
    }
    (lines.iter().map(Vec::len).sum::<usize>() > 1).then_some(lines)
}

fn chart(trend: &SoakTrend, lines: &[Line]) -> Result<Chart, ReportError> {
    let all = || lines.iter().flatten();
    let (_, end) = extent(all().map(|(x, _)| *x)).unwrap_or((0.0, 1.0));
    let (low, high) = padded(extent(all().map(|(_, y)| *y)).unwrap_or((0.0, 1.0)));
    let name = trend.counter.title();
    let svg = draw("counters of a soak", (340, 190), |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_top(px(8))
            .margin_right(px(14))
            .x_label_area_size(px(26))
            .y_label_area_size(px(58))
            .build_cartesian_2d(0.0..end.max(1e-3), low..high)?;
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
            .x_label_formatter(&|x| format!("{} min", format::axis(*x)))
            .y_label_formatter(&|y| soak::held(trend.counter, *y))
            .draw()?;
        for points in lines {
            chart.draw_series([PathElement::new(points.clone(), line(COLORS[0], 1))])?;
        }
        Ok(())
    })?;
    let alt = format!("{name} over the windows of the soak: {}", clean::line(&trend.text));
    Ok(Chart { title: name.to_owned(), alt, note: "", svg })
}
