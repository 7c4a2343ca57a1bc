//! The charts of a run by name, each as an SVG file of its own.
//!
//! Invariants: a file looks the same wherever it is opened: it has its own background, its title, and a legend where
//! colours stand for targets, and needs no style sheet; all text in it is cleaned and escaped; equal runs give equal
//! files.
//! Absent on purpose: dark mode, which a file cannot know of, and pixels (crate `picture`).

use super::canvas::{COLORS, SCALE};
use super::{Chart, Palette, curves, forest, ladders, memory, soak, strips, timelines, waterfalls};
use crate::{ReportError, clean};
use plotters::style::RGBColor;
use quick_xml::escape::escape;
use schema::analysis::AnalysisFile;
use schema::metric::Metric;
use std::fmt::Write as _;

/// A chart as a file.
#[derive(Clone, Debug)]
pub struct NamedChart {
    /// Its kind; with a number where a run has several, for example `knee` or `timeline-3`.
    pub name: String,
    /// What it is of, on one line.
    pub title: String,
    /// A whole SVG file.
    pub svg: String,
}

/// Space around everything.
const MARGIN: u32 = 16;
/// From line to line.
const TITLE_LINE: u32 = 19;
const LEGEND_LINE: u32 = 18;
const NOTE_LINE: u32 = 15;
/// CSS pixels of a column of text: of the title, the legend and the notes.
const TITLE_COLUMN: u32 = 8;
const LEGEND_COLUMN: u32 = 7;
const NOTE_COLUMN: u32 = 6;

/// Every chart that the run has data for, in the order of the report.
///
/// # Errors
/// [`ReportError::Chart`] where the library fails.
pub fn charts(analysis: &AnalysisFile) -> Result<Vec<NamedChart>, ReportError> {
    let palette = Palette::new(analysis);
    let forests = [forest(analysis, Metric::Throughput)?, forest(analysis, Metric::P99)?];
    let kinds = [
        ("knee", ladders(analysis, &palette)?),
        ("forest", forests.into_iter().flatten().collect()),
        ("curves", curves(analysis, &palette)?),
        ("strips", strips(analysis, &palette)?.into_iter().collect()),
        ("timeline", timelines(analysis, &palette)?),
        ("waterfall", waterfalls(analysis)?),
        ("memory", memory(analysis, &palette)?),
        ("soak", soak(analysis)?),
    ];
    let mut named = Vec::new();
    for (kind, charts) in kinds {
        let several = charts.len() > 1;
        for (index, mut chart) in charts.into_iter().enumerate() {
            // In the report these stand below a heading that says it.
            chart.title = match kind {
                "timeline" => format!("Throughput over time: {}", chart.title),
                "memory" => format!("Memory over time: {}", chart.title),
                "soak" => format!("Soak: {}", chart.title),
                _ => chart.title,
            };
            let name = if several { format!("{kind}-{}", index + 1) } else { kind.to_owned() };
            // Only where colours stand for targets is there something to explain.
            let has_targets = !matches!(kind, "forest" | "waterfall" | "soak" | "memory");
            let legend = if has_targets { legend(&palette, &chart.svg) } else { Vec::new() };
            let svg = file(&chart, &legend, &analysis.run);
            named.push(NamedChart { name, title: chart.title, svg });
        }
    }
    Ok(named)
}

/// The targets whose colours occur.
fn legend(palette: &Palette, svg: &str) -> Vec<(RGBColor, String)> {
    let entry = |(index, target): (usize, &String)| {
        let color = COLORS[index % COLORS.len()];
        svg.contains(&hex(color)).then(|| (color, clean::cut(&clean::line(target), 40)))
    };
    palette.targets.iter().enumerate().filter_map(entry).collect()
}

fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// Title, chart, legend, note and the run's name, from top to bottom.
fn file(chart: &Chart, legend: &[(RGBColor, String)], run: &str) -> String {
    let mut body = String::new();
    let mut y = MARGIN;
    let (width, height) = (drawn(&chart.svg, "width"), drawn(&chart.svg, "height"));
    for line in wrapped(&chart.title, width / TITLE_COLUMN, 3) {
        y += TITLE_LINE;
        text(&mut body, (MARGIN, y - 5), (14, "#1C2229", "600"), &line);
    }
    y += 10;
    let scale = SCALE as u32;
    body += &chart.svg.replacen(
        &format!("<svg width=\"{}\" height=\"{}\"", width * scale, height * scale),
        &format!("<svg x=\"{MARGIN}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""),
        1,
    );
    y = legend_rows(&mut body, legend, width, y + height + 4);
    for line in wrapped(chart.note, width / NOTE_COLUMN, 4) {
        y += NOTE_LINE;
        text(&mut body, (MARGIN, y), (11, "#5B6570", "400"), &line);
    }
    y += NOTE_LINE + 3;
    let run = format!("prony, run {}", clean::cut(&clean::line(run), 48));
    text(&mut body, (MARGIN, y), (10, "#8A94A0", "400"), &run);
    let (width, height) = (width + 2 * MARGIN, y + MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n{body}</svg>\n",
        escape(&*chart.title),
        escape(&*chart.alt),
    )
}

/// One or more rows of names with their colours; the place below them.
fn legend_rows(body: &mut String, legend: &[(RGBColor, String)], width: u32, mut y: u32) -> u32 {
    let mut x = width;
    for (color, name) in legend {
        let needed = LEGEND_COLUMN * textwrap::core::display_width(name) as u32 + 30;
        if x + needed > width {
            (x, y) = (0, y + LEGEND_LINE);
        }
        let left = MARGIN + x;
        let _ = writeln!(
            body,
            "<circle cx=\"{}\" cy=\"{}\" r=\"4.5\" fill=\"{}\"/>",
            left + 5,
            y - 4,
            hex(*color)
        );
        text(body, (left + 15, y), (12, "#1C2229", "400"), name);
        x += needed;
    }
    if legend.is_empty() { y } else { y + 4 }
}

fn text(body: &mut String, (x, y): (u32, u32), (size, color, weight): (u32, &str, &str), words: &str) {
    let _ = writeln!(
        body,
        "<text x=\"{x}\" y=\"{y}\" font-family=\"sans-serif\" font-size=\"{size}\" font-weight=\"{weight}\" \
         fill=\"{color}\">{}</text>",
        escape(words)
    );
}

/// At most `most` lines; the last one says with `…` that there is more.
fn wrapped(words: &str, columns: u32, most: usize) -> Vec<String> {
    let all: Vec<String> = textwrap::wrap(words, columns as usize).into_iter().map(Into::into).collect();
    let cut = all.len() > most;
    let mut lines: Vec<String> = all.into_iter().filter(|line| !line.is_empty()).take(most).collect();
    if let Some(last) = lines.last_mut().filter(|_| cut) {
        last.push('…');
    }
    lines
}

/// A size in CSS pixels, as [`super::canvas::draw`] was told.
fn drawn(svg: &str, size: &str) -> u32 {
    let number = svg.split_once(&format!(" {size}=\"")).and_then(|(_, rest)| rest.split('"').next());
    number.and_then(|number| number.parse::<u32>().ok()).unwrap_or_default() / SCALE as u32
}
