//! The picture of a schedule: bars for the seeded arrivals, marks for the intended rate, in 80 columns.

use schema::shape::ShapedLoad;
use std::fmt::Write as _;
use units::format::picture::{rate, time};

/// Rows of the picture.
const ROWS: usize = 12;
/// Columns of the numbers beside it.
const MARGIN: usize = 11;
/// Parts of a character that a bar can fill.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What the picture is made of.
struct Ink {
    full: char,
    mark: char,
    corner: char,
    floor: char,
    wall: char,
}

const UNICODE: Ink = Ink { full: '█', mark: '•', corner: '└', floor: '─', wall: '│' };
const ASCII: Ink = Ink { full: '#', mark: '*', corner: '+', floor: '-', wall: '|' };

/// Whether the locale can show more than ASCII: the first of LC_ALL, LC_CTYPE and LANG that is set decides.
pub(crate) fn is_utf8() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// One load: title, picture, sums.
pub(super) fn text(load: &ShapedLoad, is_utf8: bool) -> String {
    let ink = if is_utf8 { UNICODE } else { ASCII };
    let mut text = format!("{}, seed {}\n\n", load.label, load.load.seed);
    text += &picture(load, &ink, is_utf8);
    let _ = writeln!(
        text,
        "\n  {mark} intended rate   {full} seeded arrivals, each column {width}\n",
        mark = ink.mark,
        full = ink.full,
        width = time(load.duration_ns / load.columns.len().max(1) as u64),
    );
    let row = |name: &str, value: String| format!("  {name:<13}{value}\n");
    text += &row("arrivals", format!("{} of {:.1} intended", load.arrivals, load.intended));
    text += &row("peak", format!("{} intended", rate(load.peak_per_s)));
    let show = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    text += &row(
        "dispersion",
        format!(
            "{} over 100 ms, {} over 1 s (Poisson 1)",
            show(load.dispersion_100ms),
            show(load.dispersion_1s)
        ),
    );
    let first: Vec<String> = load.first_ns.iter().map(|at_ns| time(*at_ns)).collect();
    text += &row("first", if first.is_empty() { "none".to_owned() } else { first.join(" ") });
    if let Some(shape) = load.load.shape.as_ref().filter(|shape| shape.begin_ns > 0) {
        text += &row("warm-up", format!("{}, at the shape's first rate", time(shape.begin_ns)));
    }
    text + "\n"
}

fn picture(load: &ShapedLoad, ink: &Ink, is_utf8: bool) -> String {
    let highest = load
        .columns
        .iter()
        .flat_map(|column| [column.intended_per_s, column.arrivals_per_s()])
        .fold(f64::MIN_POSITIVE, f64::max);
    let mut text = String::new();
    for row in (0..ROWS).rev() {
        let label = match row {
            _ if row == ROWS - 1 => rate(highest),
            _ if row == ROWS / 2 => rate(highest * (row as f64 + 1.0) / ROWS as f64),
            _ => String::new(),
        };
        let _ = write!(text, "{label:>MARGIN$} {}", ink.wall);
        let cells = load.columns.iter().map(|column| {
            let bar = column.arrivals_per_s() / highest * ROWS as f64 - row as f64;
            let mark = (column.intended_per_s / highest * ROWS as f64).ceil() as usize;
            if mark == row + 1 { ink.mark } else { bar_cell(bar, ink, is_utf8) }
        });
        text.extend(cells);
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    let width = load.columns.len();
    let floor: String = std::iter::repeat_n(ink.floor, width).collect();
    let _ = writeln!(text, "{:>MARGIN$} {}{floor}", "0/s", ink.corner);
    let (middle, end) = (time(load.duration_ns / 2), time(load.duration_ns));
    let half = width / 2;
    let _ =
        writeln!(text, "{:MARGIN$}  {:<half$}{middle:<rest$}{end:>8}", "", "0 s", rest = width - half - 8);
    text
}

/// The part of a bar that fills one cell.
fn bar_cell(bar: f64, ink: &Ink, is_utf8: bool) -> char {
    match (bar * 8.0).round() {
        eighths if eighths >= 8.0 => ink.full,
        eighths if is_utf8 => EIGHTHS[eighths.max(0.0) as usize],
        eighths if eighths >= 4.0 => ink.full,
        _ => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::plan::LoadPlan;
    use schema::shape::ShapeColumn;

    /// A ramp from 0 to 63/s in 64 columns of a second, with as many arrivals as intended.
    fn ramp() -> ShapedLoad {
        let column = |i: u64| ShapeColumn {
            start_ns: i * 1_000_000_000,
            end_ns: (i + 1) * 1_000_000_000,
            intended_per_s: i as f64,
            arrivals: i,
        };
        ShapedLoad {
            label: "ramp".to_owned(),
            load: LoadPlan::default(),
            duration_ns: 64_000_000_000,
            intended: 2016.0,
            arrivals: 2016,
            peak_per_s: 63.0,
            dispersion_100ms: None,
            dispersion_1s: Some(1.0),
            first_ns: vec![0, 1_500, 2_000_000, 3_250_000_000],
            columns: (0..64).map(column).collect(),
        }
    }

    #[test]
    fn the_picture_rises_and_fits_80_columns() {
        for is_utf8 in [true, false] {
            let text = text(&ramp(), is_utf8);
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            assert_eq!(text.is_ascii(), !is_utf8, "{text}");
            let mark = if is_utf8 { '•' } else { '*' };
            let rows: Vec<&str> = text.lines().filter(|line| line.contains(['│', '|'])).collect();
            assert_eq!(rows.len(), ROWS);
            // The mark moves to the right from row to row upwards, and bars stand below it.
            let places: Vec<usize> =
                rows.iter().rev().map(|row| row.chars().position(|c| c == mark).unwrap()).collect();
            assert!(places.is_sorted() && places[0] < places[ROWS - 1], "{text}");
            assert!(rows[ROWS - 1].ends_with(if is_utf8 { '█' } else { '#' }), "{text}");
            assert!(text.contains("first        0s 1.5 us 2 ms 3.25 s"), "{text}");
            assert!(text.contains("- over 100 ms, 1.000 over 1 s"), "{text}");
        }
    }
}
