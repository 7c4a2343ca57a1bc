//! Charts of one load: its percentile curves, and its rate, times, failures and messages over time.

use super::Chart;
use super::canvas::{BAND, COLORS, GRID, INK, WIDTH, draw, extent, font, line, log_ticks, px, sane};
use super::curves::{one_in, percentile, ticks};
use crate::{ReportError, format};
use plotters::coord::ranged1d::{Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use schema::analysis::CurvePoint;
use schema::trial::{IntervalLine, MessageInterval, Phase};

/// A named line through points.
type Series = (&'static str, Vec<(f64, f64)>);

/// Times over percentiles, both axes logarithmic; none without points.
pub(crate) fn load_curves(curves: &[(&'static str, Vec<CurvePoint>)]) -> Result<Option<Chart>, ReportError> {
    let drawn = |points: &[CurvePoint]| -> Vec<(f64, f64)> {
        let fits =
            |point: &&CurvePoint| (0.0..1.0).contains(&point.quantile) && point.ns > 0 && point.ns < 1 << 50;
        points.iter().filter(fits).map(|point| (one_in(point.quantile), point.ns as f64)).collect()
    };
    let series: Vec<Series> = curves
        .iter()
        .map(|(name, points)| (*name, drawn(points)))
        .filter(|(_, points)| points.len() > 1)
        .collect();
    let all = || series.iter().flat_map(|(_, points)| points.iter().copied());
    let Some((_, right)) = extent(all().map(|(x, _)| x)) else { return Ok(None) };
    let (bottom, top) = extent(all().map(|(_, y)| y)).unwrap_or((1.0, 10.0));
    let (bottom, top, right) = ((bottom / 1.2).max(1.0), (top * 1.2).max(10.0), right.max(100.0));
    let svg = draw("percentiles", (WIDTH, 280), |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_top(px(10))
            .margin_right(px(30))
            .x_label_area_size(px(30))
            .y_label_area_size(px(62))
            .build_cartesian_2d(
                (1.0..right).log_scale().with_key_points(ticks(right)),
                (bottom..top).log_scale().with_key_points(log_ticks(bottom, top)),
            )?;
        mesh(&mut chart, &|x| percentile(*x), &|y| format::setting(*y as u64))?;
        for (index, (_, points)) in series.iter().enumerate() {
            chart.draw_series([PathElement::new(points.clone(), line(COLORS[index % COLORS.len()], 2))])?;
        }
        Ok(())
    })?;
    let alt = series.iter().map(|(name, points)| alt(name, points)).collect::<Vec<_>>().join("; ");
    let title = "Time by percentile: response blue, service orange".to_owned();
    Ok(Some(Chart {
        title,
        alt,
        note: "Logarithmic axes; each nine of the percentile has as much room as the one before.",
        svg,
    }))
}

/// Answers per second, p50 and p99, failures per second, and messages per second where there are streams, over time; empty
/// without two intervals.
pub(crate) fn load_timelines(intervals: &[IntervalLine]) -> Result<Vec<Chart>, ReportError> {
    let shown: Vec<&IntervalLine> = intervals
        .iter()
        .filter(|line| line.phase != Some(Phase::Drain) && line.end_ns > line.start_ns)
        .collect();
    let Some((_, seconds)) = extent(shown.iter().map(|line| line.end_ns as f64 / 1e9)) else {
        return Ok(Vec::new());
    };
    if shown.len() < 2 {
        return Ok(Vec::new());
    }
    let warm = shown.iter().filter(|line| line.phase == Some(Phase::Warmup)).map(|line| line.end_ns).max();
    let axes = Axes { seconds, warm_s: warm.map(|ns| ns as f64 / 1e9) };
    let per_second = |line: &IntervalLine, n: u64| n as f64 * 1e9 / (line.end_ns - line.start_ns) as f64;
    let over = |value: &dyn Fn(&IntervalLine) -> Option<f64>| -> Vec<(f64, f64)> {
        let point = |line: &&IntervalLine| {
            Some((sane((line.start_ns as f64 + line.end_ns as f64) / 2e9)?, sane(value(line)?)?))
        };
        shown.iter().filter_map(point).collect()
    };
    let rate = over(&|line| Some(per_second(line, line.completed)));
    let failed = over(&|line| Some(per_second(line, line.failed.values().sum())));
    let p50 = over(&|line| line.p50_ns.map(|ns| ns as f64));
    let p99 = over(&|line| line.p99_ns.map(|ns| ns as f64));
    let mut charts = vec![
        linear("Right answers per second", vec![("answers/s", rate)], &axes, 0)?,
        logarithmic("Response time: p50 blue, p99 orange", vec![("p50", p50), ("p99", p99)], &axes)?,
    ];
    charts.push(linear("Failures per second", vec![("failures/s", failed)], &axes, 1)?);
    if shown.iter().any(|line| line.messages.is_some()) {
        let messages = |read: fn(&MessageInterval) -> u64| {
            over(&|line| line.messages.as_ref().map(|messages| per_second(line, read(messages))))
        };
        let completed = ("completed/s", messages(|messages| messages.completed));
        let received = ("received/s", messages(|messages| messages.received));
        let title = "Messages per second: completed blue, received orange";
        charts.push(linear(title, vec![completed, received], &axes, 0)?);
    }
    Ok(charts)
}

/// What all charts over time share.
struct Axes {
    seconds: f64,
    /// End of warm-up.
    warm_s: Option<f64>,
}

const SIZE: (u32, u32) = (340, 190);

fn linear(title: &str, series: Vec<Series>, axes: &Axes, color: usize) -> Result<Chart, ReportError> {
    let top =
        extent(series.iter().flat_map(|(_, points)| points).map(|(_, y)| *y)).map_or(1.0, |(_, top)| top);
    let top = if top > 0.0 { top * 1.08 } else { 1.0 };
    let svg = draw("timeline", SIZE, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_top(px(8))
            .margin_right(px(16))
            .x_label_area_size(px(26))
            .y_label_area_size(px(46))
            .build_cartesian_2d(0.0..axes.seconds.max(1e-3), 0.0..top)?;
        mesh(&mut chart, &|x| format!("{} s", format::axis(*x)), &|y| format::axis(*y))?;
        let warm = axes.warm_s.map(|end| Rectangle::new([(0.0, 0.0), (end, top)], BAND.mix(0.12).filled()));
        chart.draw_series(warm)?;
        for (index, (_, points)) in series.iter().enumerate() {
            let color = COLORS[(color + index) % COLORS.len()];
            chart.draw_series([PathElement::new(points.clone(), line(color, 2))])?;
        }
        Ok(())
    })?;
    Ok(chart(title, &series, svg, format::axis))
}

fn logarithmic(title: &str, series: Vec<Series>, axes: &Axes) -> Result<Chart, ReportError> {
    let positive = series.iter().flat_map(|(_, points)| points).map(|(_, y)| y.max(1.0));
    let (bottom, top) = extent(positive).unwrap_or((1.0, 10.0));
    let (bottom, top) = ((bottom / 1.5).max(0.5), (top * 1.5).max(10.0));
    let svg = draw("timeline", SIZE, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_top(px(8))
            .margin_right(px(16))
            .x_label_area_size(px(26))
            .y_label_area_size(px(56))
            .build_cartesian_2d(
                0.0..axes.seconds.max(1e-3),
                (bottom..top).log_scale().with_key_points(log_ticks(bottom, top)),
            )?;
        mesh(&mut chart, &|x| format!("{} s", format::axis(*x)), &|y| format::setting(*y as u64))?;
        let warm =
            axes.warm_s.map(|end| Rectangle::new([(0.0, bottom), (end, top)], BAND.mix(0.12).filled()));
        chart.draw_series(warm)?;
        for (index, (_, points)) in series.iter().enumerate() {
            let points: Vec<_> = points.iter().map(|(x, y)| (*x, y.max(bottom))).collect();
            chart.draw_series([PathElement::new(points, line(COLORS[index % COLORS.len()], 2))])?;
        }
        Ok(())
    })?;
    Ok(chart(title, &series, svg, format::duration))
}

fn mesh<X, Y>(
    chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<X, Y>>,
    x: &dyn Fn(&f64) -> String,
    y: &dyn Fn(&f64) -> String,
) -> super::canvas::Drawn
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .x_labels(5)
        .y_labels(5)
        .x_max_light_lines(0)
        .y_max_light_lines(0)
        .bold_line_style(line(GRID, 1))
        .axis_style(line(INK, 1))
        .x_label_style(font(11.0, INK, HPos::Center, VPos::Top))
        .y_label_style(font(11.0, INK, HPos::Right, VPos::Center))
        .x_label_formatter(&x)
        .y_label_formatter(&y)
        .draw()?;
    Ok(())
}

fn chart(title: &str, series: &[Series], svg: String, show: fn(f64) -> String) -> Chart {
    let range = |points: &[(f64, f64)]| extent(points.iter().map(|(_, y)| *y));
    let alt: Vec<String> = series
        .iter()
        .filter_map(|(name, points)| {
            let (low, high) = range(points)?;
            Some(format!("{name} from {} to {}", show(low), show(high)))
        })
        .collect();
    Chart { title: title.to_owned(), alt: alt.join("; "), note: "", svg }
}

fn alt(name: &str, points: &[(f64, f64)]) -> String {
    let named = points.iter().filter(|(x, _)| !percentile(*x).is_empty());
    let texts: Vec<String> =
        named.map(|(x, y)| format!("{} {}", percentile(*x), format::duration(*y))).collect();
    format!("{name}: {}", texts.join(", "))
}
