//! Forest chart: the change of one metric for every pair, with intervals and the band that counts as equal.

use super::Chart;
use super::canvas::{BAND, COLORS, GRID, INK, WIDTH, draw, extent, font, line, padded, px, sane};
use crate::{ReportError, clean, format, words};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use schema::analysis::{AnalysisFile, Comparison};
use schema::metric::Metric;

const ROW: u32 = 46;

/// The chart of `metric`, or none where no pair has a ratio of it.
pub(crate) fn forest(analysis: &AnalysisFile, metric: Metric) -> Result<Option<Chart>, ReportError> {
    let rows: Vec<_> =
        analysis.comparisons.iter().filter(|c| c.metric == metric && c.ratio.is_some()).collect();
    let margin = sane(analysis.margin).unwrap_or(0.0) * 100.0;
    let Some(range) = extent(rows.iter().flat_map(|row| ends(row)).chain([-1.5 * margin, 1.5 * margin, 0.0]))
    else {
        return Ok(None);
    };
    if rows.is_empty() {
        return Ok(None);
    }
    let size = (WIDTH, ROW * rows.len() as u32 + 52);
    let svg = draw("forest", size, |area| {
        let (low, high) = padded(range);
        let mut chart = ChartBuilder::on(area)
            .margin_left(px(8))
            .margin_right(px(12))
            .x_label_area_size(px(44))
            .build_cartesian_2d(low..high, 0.0..rows.len() as f64)?;
        let axis = |x: &f64| format!("{} %", format::axis(*x));
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
            .x_label_formatter(&axis)
            .x_desc(format!("change of {}", metric.title().to_lowercase()))
            .draw()?;
        let top = rows.len() as f64;
        chart.draw_series([Rectangle::new([(-margin, 0.0), (margin, top)], BAND.mix(0.18).filled())])?;
        chart.draw_series([PathElement::new([(0.0, 0.0), (0.0, top)], line(INK, 1))])?;
        for (index, row) in rows.iter().enumerate() {
            // The first row is on top.
            let y = top - index as f64 - 0.68;
            let color = color(row);
            if let Some(interval) = row.interval {
                let end = |end: Option<f64>, open: f64| {
                    end.and_then(sane).map_or(open, |ratio| ((ratio - 1.0) * 100.0).clamp(low, high))
                };
                let ends = [(end(interval.low, low), y), (end(interval.high, high), y)];
                chart.draw_series([PathElement::new(ends, line(color, 2))])?;
            }
            if let Some(ratio) = row.ratio.and_then(sane) {
                chart.draw_series([Circle::new(((ratio - 1.0) * 100.0, y), px(5), color.filled())])?;
            }
            label(&mut chart, (low, high), top - index as f64, row)?;
        }
        Ok(())
    })?;
    let title =
        format!("{}: change with {} interval", metric.title(), format::chosen_percent(analysis.confidence));
    Ok(Some(Chart { title, alt: alt(&rows), note: "", svg }))
}

/// The chart while it is drawn.
type ForestContext<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

/// Who is compared, to the left, and the numbers, to the right, above the row's marks.
fn label(
    chart: &mut ForestContext<'_, '_>,
    (low, high): (f64, f64),
    top: f64,
    row: &Comparison,
) -> super::canvas::Drawn {
    let who = clean::cut(&clean::line(&format!("{} / {}, {}", row.a_target, row.b_target, row.load)), 48);
    let style = |h| font(11.5, INK, h, VPos::Top);
    chart.draw_series([EmptyElement::at((low, top)) + Text::new(who, (px(2), px(6)), style(HPos::Left))])?;
    let number = row.ratio.map_or_else(String::new, format::change);
    chart.draw_series([
        EmptyElement::at((high, top)) + Text::new(number, (-px(2), px(6)), style(HPos::Right))
    ])?;
    Ok(())
}

/// By verdict: blue is better, vermilion is worse, grey is neither; the table beside it says the same in words.
fn color(row: &Comparison) -> RGBColor {
    match words::verdict(row.verdict, row.metric).class() {
        "good" => COLORS[0],
        "bad" => COLORS[1],
        _ => INK,
    }
}

/// What must lie inside the axis: the change and the ends of its interval, in percent.
fn ends(row: &Comparison) -> impl Iterator<Item = f64> {
    let interval = row.interval.map(|interval| [interval.low, interval.high]).unwrap_or_default();
    [row.ratio].into_iter().chain(interval).flatten().map(|ratio| (ratio - 1.0) * 100.0)
}

fn alt(rows: &[&Comparison]) -> String {
    let rows = rows.iter().map(|row| {
        let change = row.ratio.map_or_else(String::new, format::change);
        let verdict = words::verdict(row.verdict, row.metric).text;
        clean::line(&format!("{} against {}, {}: {change}, {verdict}", row.a_target, row.b_target, row.load))
    });
    rows.collect::<Vec<_>>().join("; ")
}
