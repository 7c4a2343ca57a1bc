//! Waterfall of layers: the base, each layer where the one before it ends, and all of them; one chart a metric.
//!
//! The axis begins at 0, so that lengths can be compared. Colour says what the words beside it say: vermilion costs,
//! blue saves, a hollow grey bar shows nothing.

use super::Chart;
use super::canvas::{Area, BAND, COLORS, Drawn, GRID, INK, WIDTH, draw, font, line, px, sane};
use crate::run::layers;
use crate::{ReportError, clean, format};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use schema::analysis::AnalysisFile;
use schema::layers::{LayerCost, LayerCosts, LayerMetric, LayerVerdict};

const ROW: u32 = 30;
/// Room for the names to the left and the numbers to the right of the bars.
const NAMES: i32 = 142;
const NUMBERS: i32 = 136;
const AXIS: u32 = 30;
const NOTE: &str = "Each bar begins where the one above it ends. Orange costs, blue saves; a hollow bar has no cost shown. \
    The thin line is the interval.";

/// One chart for each set of layers and metric that has a base.
pub(crate) fn waterfalls(analysis: &AnalysisFile) -> Result<Vec<Chart>, ReportError> {
    let all =
        analysis.layers.iter().flat_map(|costs| costs.metrics.iter().map(move |metric| (costs, metric)));
    all.filter_map(|(costs, metric)| Some((costs, metric, bars(metric)?)))
        .map(|(costs, metric, bars)| waterfall(costs, metric, &bars))
        .collect()
}

/// One row of the chart.
struct Bar {
    name: String,
    number: String,
    from: f64,
    to: f64,
    /// Ends of the interval.
    reach: Option<(f64, f64)>,
    /// `None` for what is no layer: the base and the sum.
    verdict: Option<LayerVerdict>,
}

/// Rows from top to bottom; `None` where there is nothing to stand on.
fn bars(metric: &LayerMetric) -> Option<Vec<Bar>> {
    let unit = metric.metric.unit();
    let base = metric.base_ns.and_then(sane).filter(|base| *base > 0.0)?;
    let whole = |name: String, ns: f64| Bar {
        name,
        number: format::value(unit, ns),
        from: 0.0,
        to: ns,
        reach: None,
        verdict: None,
    };
    let mut bars = vec![whole(clean::cut(&clean::line(&metric.base), 22), base)];
    bars.extend(metric.layers.iter().filter_map(|layer| bar(layer, metric)));
    let last = bars.last().map_or(base, |bar| bar.to);
    if bars.len() > 2 {
        bars.push(whole("with all layers".to_owned(), last));
    }
    Some(bars)
}

fn bar(layer: &LayerCost, metric: &LayerMetric) -> Option<Bar> {
    let place = layer.place?;
    let cost = format::difference(metric.metric.unit(), layer.cost_ns?);
    let word = match layer.verdict {
        LayerVerdict::Costs | LayerVerdict::Saves => "",
        LayerVerdict::NotShown => ", not shown",
        LayerVerdict::Refused => ", refused",
    };
    Some(Bar {
        name: clean::cut(&clean::line(&format!("+ {}", layer.level)), 22),
        number: format!("{cost}{word}"),
        from: sane(place.from_ns)?,
        to: sane(place.to_ns)?,
        reach: place.to_low_ns.and_then(sane).zip(place.to_high_ns.and_then(sane)),
        verdict: Some(layer.verdict),
    })
}

fn waterfall(costs: &LayerCosts, metric: &LayerMetric, bars: &[Bar]) -> Result<Chart, ReportError> {
    let ends = bars
        .iter()
        .flat_map(|bar| [bar.from, bar.to])
        .chain(bars.iter().filter_map(|bar| Some(bar.reach?.1)));
    let right = ends.fold(1.0, f64::max) * 1.02;
    let size = (WIDTH, ROW * bars.len() as u32 + AXIS);
    let svg = draw("waterfall", size, |area| rows(area, bars, right))?;
    let title = format!("{}, {}", metric.metric.title(), layers::name(costs));
    let told: Vec<String> = bars.iter().map(|bar| format!("{}: {}", bar.name, bar.number)).collect();
    Ok(Chart { title, alt: told.join("; "), note: NOTE, svg })
}

fn rows(area: &Area<'_>, bars: &[Bar], right: f64) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .margin_left(px(NAMES))
        .margin_right(px(NUMBERS))
        .x_label_area_size(px(AXIS as i32))
        .build_cartesian_2d(0.0..right, 0.0..bars.len() as f64)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .x_labels(4)
        .x_max_light_lines(0)
        .bold_line_style(line(GRID, 1))
        .axis_style(line(INK, 1))
        .label_style(font(11.0, INK, HPos::Center, VPos::Top))
        .x_label_formatter(&|x| format::setting(x.max(0.0) as u64))
        .draw()?;
    for (index, bar) in bars.iter().enumerate() {
        // The first row is on top.
        let top = (bars.len() - index) as f64;
        let (high, low, middle) = (top - 0.22, top - 0.78, top - 0.5);
        let corners = [(bar.from, high), (bar.to, low)];
        chart.draw_series([Rectangle::new(corners, fill(bar.verdict))])?;
        if bar.verdict.is_some_and(|verdict| !matches!(verdict, LayerVerdict::Costs | LayerVerdict::Saves)) {
            chart.draw_series([Rectangle::new(corners, line(BAND, 1))])?;
        }
        if let Some((from, to)) = bar.reach {
            let from = from.max(0.0);
            chart.draw_series([PathElement::new([(from, middle), (to, middle)], line(INK, 1))])?;
            for end in [from, to] {
                chart.draw_series([PathElement::new(
                    [(end, middle + 0.14), (end, middle - 0.14)],
                    line(INK, 1),
                )])?;
            }
        }
        if index + 1 < bars.len() {
            // To where the next bar begins; a sum starts over at 0 and ends here.
            chart.draw_series([PathElement::new([(bar.to, low), (bar.to, top - 1.22)], line(BAND, 1))])?;
        }
        let (style, y) =
            (font(11.5, INK, HPos::Left, VPos::Center), px((index as i32 * 2 + 1) * ROW as i32 / 2));
        area.draw(&Text::new(bar.name.clone(), (px(2), y), style.clone()))?;
        area.draw(&Text::new(bar.number.clone(), (px(WIDTH as i32 - NUMBERS + 8), y), style))?;
    }
    Ok(())
}

fn fill(verdict: Option<LayerVerdict>) -> ShapeStyle {
    match verdict {
        None => BAND.mix(0.45).filled(),
        Some(LayerVerdict::Costs) => COLORS[1].filled(),
        Some(LayerVerdict::Saves) => COLORS[0].filled(),
        Some(LayerVerdict::NotShown | LayerVerdict::Refused) => BAND.mix(0.12).filled(),
    }
}
