//! What all charts share: the drawing area, axes, colours and ticks.

use crate::ReportError;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use schema::analysis::AnalysisFile;
use std::fmt::Display;

/// Drawn larger than shown, because the library knows whole pixels only.
pub(crate) const SCALE: i32 = 2;
/// Width of a chart in CSS pixels.
pub(crate) const WIDTH: u32 = 520;

/// Axis lines and labels; the style sheet replaces it.
pub(crate) const INK: RGBColor = RGBColor(0x5f, 0x68, 0x73);
/// Grid lines.
pub(crate) const GRID: RGBColor = RGBColor(0xdf, 0xe3, 0xe8);
/// Bands and everything void.
pub(crate) const BAND: RGBColor = RGBColor(0x8a, 0x94, 0xa0);

/// Okabe & Ito (2008), "Color Universal Design", without black and yellow, which vanish on one of the backgrounds.
pub(crate) const COLORS: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
];

pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(crate) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Which colour stands for which target: by order of appearance in the cells.
pub(crate) struct Palette {
    /// Names as they stand in the analysis.
    pub(crate) targets: Vec<String>,
}

impl Palette {
    pub(crate) fn new(analysis: &AnalysisFile) -> Self {
        let mut targets: Vec<String> = Vec::new();
        for cell in &analysis.cells {
            if !targets.contains(&cell.target) {
                targets.push(cell.target.clone());
            }
        }
        Self { targets }
    }

    pub(crate) fn of(&self, target: &str) -> RGBColor {
        let index = self.targets.iter().position(|known| known == target).unwrap_or(0);
        COLORS[index % COLORS.len()]
    }

    /// The CSS class that gives an element the target's colour.
    pub(crate) fn class(index: usize) -> String {
        format!("t{}", index % COLORS.len())
    }
}

/// Draws on an area of `width` × `height` CSS pixels and returns the `<svg>` element.
pub(crate) fn draw(
    chart: &'static str,
    (width, height): (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> Result<String, ReportError> {
    let mut svg = String::new();
    let fail = |cause: &dyn Display| ReportError::Chart { chart, cause: cause.to_string() };
    {
        let scale = SCALE as u32;
        let area = SVGBackend::with_string(&mut svg, (width * scale, height * scale)).into_drawing_area();
        draw(&area).map_err(|error| fail(&error))?;
        area.present().map_err(|error| fail(&error))?;
    }
    Ok(svg)
}

/// CSS pixels as the library's pixels.
pub(crate) fn px(css: i32) -> i32 {
    css * SCALE
}

/// Text of `css` pixels; the SVG backend divides sizes by 1.24.
pub(crate) fn font<'a>(css: f64, color: RGBColor, h: HPos, v: VPos) -> TextStyle<'a> {
    let size = css * 1.24 * f64::from(SCALE);
    ("sans-serif", size).into_font().color(&color).pos(Pos::new(h, v))
}

/// A line of `width` CSS pixels.
pub(crate) fn line(color: impl Color, width: u32) -> ShapeStyle {
    ShapeStyle { color: color.to_rgba(), filled: false, stroke_width: width * SCALE as u32 }
}

/// The value where it can be drawn at all; what is above 10^15 in any unit is no measurement.
pub(crate) fn sane(value: f64) -> Option<f64> {
    (value.is_finite() && value.abs() < 1e15).then_some(value)
}

/// The smallest range that holds all drawable values, none where there are no values.
pub(crate) fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter_map(sane).fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
    })
}

/// The range with a twelfth of its width added at both ends; a single value gets a tenth of itself.
pub(crate) fn padded((low, high): (f64, f64)) -> (f64, f64) {
    let pad = if high > low { (high - low) / 12.0 } else { (low.abs() / 10.0).max(1e-3) };
    (low - pad, high + pad)
}

/// Ticks at 1, 2 and 5 times powers of ten in `low..=high`; only powers of ten where that would be crowded.
pub(crate) fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let steps: &[f64] = if high / low > 500.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    (0..=15)
        .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)))
        .filter(|tick| (low..=high).contains(tick))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_leave_out_what_cannot_be_drawn() {
        assert_eq!(extent([f64::NAN, 2.0, f64::INFINITY, 1e300, -1.0].into_iter()), Some((-1.0, 2.0)));
        assert_eq!(extent([f64::NAN].into_iter()), None);
        let (low, high) = padded((0.0, 0.0));
        assert!(low < 0.0 && high > 0.0);
    }

    #[test]
    fn log_ticks_are_round_numbers() {
        assert_eq!(log_ticks(3e5, 6e6), [5e5, 1e6, 2e6, 5e6]);
        assert_eq!(log_ticks(9e3, 2e7), [1e4, 1e5, 1e6, 1e7]);
    }

    #[test]
    fn the_library_escapes_labels() {
        let label = "<script>alert('&')</script>\"";
        let svg = draw("test", (100, 100), |area| {
            area.draw(&Text::new(label, (0, 0), font(12.0, INK, HPos::Left, VPos::Top)))?;
            Ok(())
        })
        .unwrap();
        assert!(!svg.contains("<script"), "{svg}");
        assert!(svg.contains("&lt;script&gt;alert(&apos;&amp;&apos;)&lt;/script&gt;&quot;"), "{svg}");
    }
}
