//! What each column is: by the user's word, by its header, by its cells.

use super::Column;
use crate::error::{quoted, shown};
use crate::figure::Figure;
use crate::header;
use crate::kind::Kind;
use crate::number::{self, Cell, Number};
use crate::options::{ColumnChoice, Given, Options, default_unit};
use crate::read::{Table, TextRow};
use crate::unit::{Dimension, is_bytes};
use schema::audit::{AuditForm, Basis};

/// All columns of a table, each kind at most once.
pub(super) fn understood(
    table: &Table,
    options: &Options,
    decimal_comma: bool,
    notes: &mut Vec<String>,
) -> Vec<Column> {
    let mut columns: Vec<Column> =
        (0..table.columns.len()).map(|at| column(table, at, options, decimal_comma)).collect();
    single(&mut columns, notes);
    if columns.iter().any(|c| c.kind == Kind::Threads) && columns.iter().all(|c| c.kind != Kind::Connections)
    {
        let header = columns.iter().find(|c| c.kind == Kind::Threads).map_or("", |c| &c.header);
        notes.push(format!(
            "threads are taken for those of the load tool; where each had one request in flight, say --column '{}=connections'",
            shown(header)
        ));
    }
    columns
}

/// What was given beside the table.
pub(super) fn given(given: &Given) -> Column {
    Column {
        number: 0,
        header: format!("--given {}={}", given.kind.name(), given.figure.text),
        kind: given.kind,
        unit: Some(given.unit.clone()),
        basis: Basis::Given,
        is_factor: false,
    }
}

/// The place of the column that a choice names.
pub(super) fn chosen(table: &Table, choice: &ColumnChoice) -> Option<usize> {
    let name = choice.column.trim();
    let by_name = table.columns.iter().position(|column| column.name.trim().eq_ignore_ascii_case(name));
    by_name.or_else(|| {
        let number: usize = name.parse().ok()?;
        (1..=table.columns.len()).contains(&number).then(|| number - 1)
    })
}

fn column(table: &Table, at: usize, options: &Options, decimal_comma: bool) -> Column {
    let text = &table.columns[at];
    let cells = Cells::new(table, at, decimal_comma);
    let choice = options.columns.iter().rev().find(|choice| chosen(table, choice) == Some(at));
    let made = |kind, unit, basis| Column {
        number: at + 1,
        header: text.name.clone(),
        kind,
        unit,
        basis,
        is_factor: kind == Kind::Ignored && cells.look_like_a_factor(&text.name),
    };
    if let Some(choice) = choice {
        let unit = choice.unit.clone().or_else(|| header::guess(&text.name).and_then(|guess| guess.unit));
        let (unit, _) = cells.unit(choice.kind, unit);
        return made(choice.kind, unit, Basis::Given);
    }
    let guess = match text.kind {
        Some(kind) => header::Guess { kind, unit: None, sure: !text.is_assumed },
        None => match header::guess(&text.name) {
            Some(guess) => guess,
            None if cells.are_figures() => return made(Kind::Ignored, None, Basis::Header),
            None => return made(Kind::Label, None, Basis::Header),
        },
    };
    let (kind, sure) = cells.corrected(guess.kind, guess.sure);
    let (unit, unit_sure) = cells.unit(kind, guess.unit.clone());
    let basis = if sure && unit_sure { Basis::Header } else { Basis::Assumed };
    made(kind, unit, basis)
}

/// The cells of one column.
struct Cells<'a> {
    table: &'a Table,
    at: usize,
    numbers: Vec<Number>,
    texts: usize,
}

impl<'a> Cells<'a> {
    fn new(table: &'a Table, at: usize, decimal_comma: bool) -> Self {
        let (mut numbers, mut texts) = (Vec::new(), 0);
        for row in &table.rows {
            match number::read(&row.cells[at], decimal_comma) {
                Cell::Number(number) => numbers.push(number),
                Cell::Text => texts += 1,
                Cell::Empty | Cell::NotFinite => {}
            }
        }
        Self { table, at, numbers, texts }
    }

    fn are_figures(&self) -> bool {
        self.numbers.len() > self.texts
    }

    /// The share of figures with a unit that fits.
    fn mostly(&self, fits: impl Fn(&str) -> bool) -> bool {
        let with = self.numbers.iter().filter(|number| fits(&number.unit)).count();
        with > 0 && 2 * with > self.numbers.len()
    }

    /// An unknown column of figures that come again is a setting, such as a size or a number of workers.
    fn look_like_a_factor(&self, header: &str) -> bool {
        let mut texts: Vec<&str> = self.table.rows.iter().map(|row| row.cells[self.at].trim()).collect();
        texts.sort_unstable();
        texts.dedup();
        header::guess(header).is_none() && 2 * texts.len() <= self.table.rows.len()
    }

    /// The kind, after a look at the cells.
    fn corrected(&self, kind: Kind, sure: bool) -> (Kind, bool) {
        let is_rate = |unit: &str| unit.contains('/') && Dimension::Rate.factor(unit).is_some();
        if kind == Kind::Time {
            return self.time();
        }
        if kind.dimension().is_some() && self.numbers.is_empty() && self.texts > 0 {
            return (Kind::Label, true);
        }
        match kind {
            Kind::Errors if self.mostly(|unit| unit == "%") => (Kind::ErrorShare, sure),
            Kind::Throughput if self.mostly(is_bytes) => (Kind::Ignored, true),
            Kind::Requests | Kind::Mean if self.mostly(is_rate) => (Kind::Throughput, false),
            Kind::Duration if self.increases() && self.numbers.len() >= 5 => (Kind::Time, true),
            kind if kind.is_latency() && self.mostly(|unit| is_bytes(unit) || unit == "%") => {
                (Kind::Ignored, true)
            }
            kind => (kind, sure),
        }
    }

    /// A column called time is a time axis, a length, or a latency.
    fn time(&self) -> (Kind, bool) {
        if self.numbers.is_empty() {
            return (if self.texts > 0 { Kind::Time } else { Kind::Label }, true);
        }
        let is_short = |unit: &str| matches!(Dimension::Time.factor(unit), Some(factor) if factor < 1.0);
        let header = header::guess(&self.table.columns[self.at].name).and_then(|guess| guess.unit);
        match self.increases() {
            true if self.numbers.len() >= 3 => (Kind::Time, true),
            _ if header.as_deref().is_some_and(is_short) || self.mostly(is_short) => (Kind::Mean, false),
            _ if header.is_some() || self.mostly(|unit| Dimension::Time.factor(unit).is_some()) => {
                (Kind::Duration, false)
            }
            _ => (Kind::Ignored, true),
        }
    }

    fn increases(&self) -> bool {
        self.numbers.windows(2).all(|pair| pair[0].value < pair[1].value)
    }

    /// The unit of figures that name none, and whether it is stated.
    fn unit(&self, kind: Kind, header: Option<String>) -> (Option<String>, bool) {
        let Some(dimension) = kind.dimension() else { return (None, true) };
        if let Some(unit) = header {
            return (Some(unit), true);
        }
        let all_have = self.numbers.iter().all(|number| {
            !number.unit.is_empty() && dimension.factor(&number.unit).is_some() || number.value == 0.0
        });
        let first =
            self.numbers.iter().find(|number| !number.unit.is_empty()).map(|number| number.unit.clone());
        match dimension {
            Dimension::Rate | Dimension::Count => (Some(default_unit(dimension).to_owned()), true),
            _ if self.numbers.is_empty() => (Some(default_unit(dimension).to_owned()), true),
            _ if all_have => (first.or_else(|| Some(default_unit(dimension).to_owned())), true),
            Dimension::Time if !kind.is_latency() => (Some("s".to_owned()), matches!(kind, Kind::Time)),
            Dimension::Time => (Some("ms".to_owned()), false),
            Dimension::Cpu => self.bare_cpu(),
            // Above 1 it can only be percent.
            Dimension::Share => (Some("%".to_owned()), self.numbers.iter().any(|number| number.value > 1.0)),
        }
    }

    /// Figures of CPU without a unit: percent, unless all are small and broken.
    fn bare_cpu(&self) -> (Option<String>, bool) {
        let largest = self.numbers.iter().map(|number| number.value).fold(0.0, f64::max);
        if largest <= 1.0 { (Some("cores".to_owned()), false) } else { (Some("%".to_owned()), largest > 8.0) }
    }
}

/// Keeps the surest column of each kind; of the same sureness the first.
fn single(columns: &mut [Column], notes: &mut Vec<String>) {
    let rank = |basis| match basis {
        Basis::Given => 0,
        Basis::Header => 1,
        Basis::Assumed => 2,
    };
    for at in 0..columns.len() {
        let kind = columns[at].kind;
        if kind.dimension().is_none() {
            continue;
        }
        let own = (rank(columns[at].basis), at);
        let best =
            columns.iter().enumerate().filter(|(_, c)| c.kind == kind).map(|(i, c)| (rank(c.basis), i)).min();
        let Some((_, best)) = best.filter(|best| *best < own) else { continue };
        notes.push(format!(
            "column {} is not used: {} is already {}; --column says otherwise",
            quoted(&columns[at].header),
            quoted(&columns[best].header),
            kind.name()
        ));
        columns[at].kind = Kind::Ignored;
        columns[at].unit = None;
        columns[at].basis = Basis::Header;
    }
}

/// In tables whose rows are quantities, such as those of autocannon, only rows of latency are read.
pub(super) fn is_other_quantity(table: &Table, row: &TextRow) -> bool {
    let is_list = table.form == AuditForm::Bars
        && table.columns.first().is_some_and(|column| {
            ["stat", "metric", "指标", "statistics"].contains(&column.name.trim().to_lowercase().as_str())
        });
    let kind = row.cells.first().and_then(|cell| header::guess(cell)).map(|guess| guess.kind);
    is_list && matches!(kind, Some(Kind::Throughput | Kind::Ignored | Kind::Requests))
}

/// A time of day, `12:30:05` or `2026-11-21T12:30:05Z`, as seconds of its day.
pub(super) fn clock(cell: &str, kind: Kind) -> Option<Figure> {
    if kind != Kind::Time {
        return None;
    }
    let text = cell.trim().trim_end_matches('Z');
    let text = text.rsplit(['T', ' ']).next()?;
    let parts: Vec<f64> = text.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let seconds = match parts.as_slice() {
        [h, m, s] => h * 3600.0 + m * 60.0 + s,
        [m, s] => m * 60.0 + s,
        _ => return None,
    };
    if !(0.0..=1e6).contains(&seconds) {
        return None;
    }
    let Cell::Number(number) = number::read(&format!("{seconds}"), false) else { return None };
    Some(Figure::new(&number, 1.0, true, cell.trim()))
}
