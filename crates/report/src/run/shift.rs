//! The shift functions: the ratio of response times at every quantile, in words.

use crate::{clean, format};
use schema::analysis::{AnalysisFile, Shift, ShiftPoint};

/// What the tables show.
pub(crate) const ABOUT: &str = "How much longer one target takes than the other at every quantile of response time: \
    ratios by block. The band holds the whole curve at once, so a quantile whose band leaves out no change differs \
    whichever one was looked for.";

/// Heads of the columns.
pub(crate) const HEADER: [&str; 3] = ["Quantile", "Change", "Band"];

/// The curve of one pair.
pub(crate) struct ShiftView {
    /// `go/gin, 64 connections against go/echo, 64 connections`.
    pub(crate) title: String,
    /// Quantile, change and band.
    pub(crate) rows: Vec<[String; 3]>,
}

pub(crate) fn views(analysis: &AnalysisFile) -> Vec<ShiftView> {
    analysis.shifts.iter().map(|shift| view(analysis, shift)).collect()
}

fn view(analysis: &AnalysisFile, shift: &Shift) -> ShiftView {
    let label = |id: &str| {
        let cell = analysis.cells.iter().find(|cell| cell.cell == id);
        clean::line(cell.map_or(id, |cell| &cell.label))
    };
    ShiftView {
        title: format!("{} against {} ({} blocks)", label(&shift.a), label(&shift.b), shift.blocks),
        rows: shift.points.iter().map(row).collect(),
    }
}

fn row(point: &ShiftPoint) -> [String; 3] {
    let [change, band] = format::changes(Some(point.ratio), Some(&point.band));
    // 99.5 and 99.9 have a decimal, and no others.
    let percent = format!("{:.1}", 100.0 * point.quantile);
    [format!("p{}", percent.strip_suffix(".0").unwrap_or(&percent)), change, band]
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::analysis::Interval;

    #[test]
    fn quantiles_have_the_decimals_that_they_need() {
        for (quantile, name) in
            [(0.05, "p5"), (0.5, "p50"), (0.99, "p99"), (0.995, "p99.5"), (0.999, "p99.9")]
        {
            let band = Interval { low: Some(1.05), high: Some(1.15) };
            let [shown, change, band] = row(&ShiftPoint { quantile, ratio: 1.1, band });
            assert_eq!((shown.as_str(), change.as_str()), (name, "+10.0 %"));
            assert!(band.contains('5') && band.contains("15"), "{band}");
        }
    }
}
