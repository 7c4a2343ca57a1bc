//! The charts of a benchmark as SVG: a line a peer, points with their intervals, both axes logarithmic.

use crate::error::BenchError;
use crate::row::Row;
use crate::summary::{CPU, GAP_P50, GAP_P99, Value, spread};
use plotters::prelude::*;
use std::fmt::Display;

/// Size in pixels.
const SIZE: (u32, u32) = (900, 520);
const INK: RGBColor = RGBColor(0x5f, 0x68, 0x73);
const GRID: RGBColor = RGBColor(0xdf, 0xe3, 0xe8);
const PAPER: RGBColor = RGBColor(0xff, 0xff, 0xff);
/// Okabe & Ito (2008), "Color Universal Design", without black and yellow.
const COLORS: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
];

/// What a chart shows.
pub(crate) struct Chart {
    /// Name of the file.
    pub(crate) file: &'static str,
    /// What it is, for those who cannot see it.
    pub(crate) title: &'static str,
    x_words: &'static str,
    y_words: &'static str,
    kind: &'static str,
    value: Value,
}

/// All charts.
pub(crate) const CHARTS: [Chart; 3] = [
    Chart {
        file: "cpu.svg",
        title: "CPU per request by connections",
        x_words: "connections",
        y_words: "CPU µs per request",
        kind: "closed",
        value: CPU,
    },
    Chart {
        file: "pacing-p50.svg",
        title: "Median error of arrival gaps by rate",
        x_words: "requests/s",
        y_words: "|gap − ideal| in ns, median",
        kind: "rate",
        value: GAP_P50,
    },
    Chart {
        file: "pacing-p99.svg",
        title: "p99 error of arrival gaps by rate",
        x_words: "requests/s",
        y_words: "|gap − ideal| in ns, p99",
        kind: "rate",
        value: GAP_P99,
    },
];

/// Where a peer stands at one x.
struct Point {
    x: f64,
    y: f64,
    ends: Option<(f64, f64)>,
}

impl Chart {
    /// Draws the chart; none where there is nothing to draw.
    ///
    /// # Errors
    /// The drawing library fails.
    pub(crate) fn draw(&self, rows: &[Row], peers: &[&str]) -> Result<Option<String>, BenchError> {
        let series: Vec<(&str, Vec<Point>)> = peers
            .iter()
            .map(|peer| (*peer, self.points(rows, peer)))
            .filter(|(_, points)| !points.is_empty())
            .collect();
        if series.is_empty() {
            return Ok(None);
        }
        let mut svg = String::new();
        let drawn = self.draw_series(&mut svg, &series);
        drawn.map_err(|error| BenchError::Chart { file: self.file, cause: error.to_string() })?;
        Ok(Some(svg))
    }

    fn points(&self, rows: &[Row], peer: &str) -> Vec<Point> {
        let cases = crate::case::find(self.kind).into_iter();
        cases
            .filter_map(|case| {
                let (y, ends) = spread(rows, case.name, peer, self.value)?;
                Some(Point { x: f64::from(case.rate_per_s.unwrap_or(case.connections)), y, ends })
            })
            .collect()
    }

    fn draw_series(
        &self,
        svg: &mut String,
        series: &[(&str, Vec<Point>)],
    ) -> Result<(), Box<dyn std::error::Error>> {
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        area.fill(&PAPER)?;
        let all = || series.iter().flat_map(|(_, points)| points);
        let (left, right) = extent(all().map(|point| point.x), 1.3);
        let ends = all().flat_map(|point| point.ends.map_or([point.y; 2], |(low, high)| [low, high]));
        let (bottom, top) = extent(ends, 1.2);
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .caption(self.title, ("sans-serif", 20).into_font().color(&INK))
            .x_label_area_size(46)
            .y_label_area_size(70)
            .build_cartesian_2d(
                (left..right).log_scale().with_key_points(places(all().map(|point| point.x))),
                (bottom..top).log_scale().with_key_points(ticks(bottom, top)),
            )?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .max_light_lines(0)
            .axis_style(INK)
            .x_desc(self.x_words)
            .y_desc(self.y_words)
            .x_label_formatter(&label)
            .y_label_formatter(&label)
            .draw()?;
        for (index, (peer, points)) in series.iter().enumerate() {
            let color = COLORS[index % COLORS.len()];
            // Beyond six peers colours come again, then with thinner lines.
            let style = color.stroke_width(if index < COLORS.len() { 3 } else { 1 });
            let line = points.iter().map(|point| (point.x, point.y));
            chart
                .draw_series(LineSeries::new(line, style))?
                .label(*peer)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
            chart
                .draw_series(points.iter().map(|point| Circle::new((point.x, point.y), 4, color.filled())))?;
            let bars = points.iter().filter_map(|point| {
                let (low, high) = point.ends?;
                Some(PathElement::new([(point.x, low), (point.x, high)], color.stroke_width(2)))
            });
            chart.draw_series(bars)?;
        }
        chart.configure_series_labels().background_style(PAPER).border_style(GRID).draw()?;
        area.present()?;
        Ok(())
    }
}

/// The smallest range that holds all values, widened by `factor` at both ends.
fn extent(values: impl Iterator<Item = f64>, factor: f64) -> (f64, f64) {
    let (low, high) = values.fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), value| {
        (f64::min(low, value), f64::max(high, value))
    });
    (low / factor, high * factor)
}

/// The different values, in order.
fn places(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// 1, 2 and 5 times powers of ten in the range.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let powers = (-3..=12).map(|power| 10_f64.powi(power));
    let all = powers.flat_map(|power| [power, 2.0 * power, 5.0 * power]);
    all.filter(|tick| (low..=high).contains(tick)).collect()
}

fn label(value: &f64) -> String {
    if *value < 1.0 { format!("{value:.2}") } else { crate::render::thousands(*value) }
}

/// A line of Markdown that shows a chart.
pub(crate) fn embedded(title: &impl Display, file: &impl Display) -> String {
    format!("![{title}]({file})\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::drifting;

    #[test]
    fn a_chart_names_every_peer_and_nothing_is_no_chart() {
        let rows = drifting(&[0.69, 0.70, 0.70, 0.71, 0.70]);
        let svg = CHARTS[0].draw(&rows, &["prony", "wrk", "hey"]).unwrap().unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("prony") && svg.contains("wrk"), "{svg}");
        assert!(!svg.contains("hey"));
        // Two peers at one case: a mark and an interval each.
        assert_eq!(svg.matches("<circle").count(), 2);
        // The axes name the case and round numbers.
        assert!(svg.contains("\n64\n") && svg.contains("\n10\n"), "{svg}");
        assert_eq!(CHARTS[1].draw(&rows, &["prony", "wrk"]).unwrap(), None);
    }
}
