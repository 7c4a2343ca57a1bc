//! A table whose columns are understood: rows of figures in base units.
//!
//! Invariants: a kind has one column; a figure is finite; what is taken for granted is marked as unsure, so that no rule
//! calls a row impossible by it; cells that cannot be read are kept with their place.
//! Absent on purpose: judgement (`rules`).

mod column;
mod confirm;

use crate::error::{Problem, quoted, shown};
use crate::figure::{Figure, Reading, Span};
use crate::kind::Kind;
use crate::number::{self, Cell};
use crate::options::Options;
use crate::read::{Table, TextRow, Tool};
use crate::unit::Dimension;
use schema::audit::{AuditForm, AuditLoad, Basis};
use std::collections::{BTreeMap, BTreeSet};

/// A column that is understood.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// From 1; 0 for what was given beside the table.
    pub(crate) number: usize,
    pub(crate) header: String,
    pub(crate) kind: Kind,
    /// Unit of figures that name none.
    pub(crate) unit: Option<String>,
    pub(crate) basis: Basis,
    /// Whether an ignored column is a setting by its values, so that rows that differ in it are not of one ladder.
    pub(crate) is_factor: bool,
}

/// A row of figures.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// From 1.
    pub(crate) number: u32,
    pub(crate) line: usize,
    /// Its labels and connections, for people.
    pub(crate) name: String,
    /// What says which thing was measured.
    pub(crate) labels: Vec<String>,
    figures: BTreeMap<Kind, Figure>,
}

/// A cell that should be a figure and is none.
#[derive(Clone, Debug)]
pub(crate) struct BadCell {
    pub(crate) row: u32,
    pub(crate) header: String,
    pub(crate) text: String,
    /// NaN or infinity, not just words.
    pub(crate) not_finite: bool,
}

/// A table that is understood.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub(crate) form: AuditForm,
    pub(crate) line: usize,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    pub(crate) bad_cells: Vec<BadCell>,
    pub(crate) load: AuditLoad,
    pub(crate) tool: Option<Tool>,
    /// Kinds whose meaning or unit was taken for granted.
    unsure: BTreeSet<Kind>,
    /// Latencies whose unit was taken for granted, and that no law confirms.
    unsure_units: BTreeSet<Kind>,
    /// Shortest step of the column of time.
    step_s: Option<f64>,
    pub(crate) notes: Vec<String>,
}

impl Row {
    pub(crate) fn get(&self, kind: Kind) -> Option<&Figure> {
        self.figures.get(&kind)
    }

    /// Quantiles of latency by rising share.
    pub(crate) fn quantiles(&self) -> impl DoubleEndedIterator<Item = (Kind, f64, &Figure)> {
        self.figures.iter().filter_map(|(kind, figure)| Some((*kind, kind.share()?, figure)))
    }

    /// All figures by kind.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Kind, &Figure)> {
        self.figures.iter().map(|(kind, figure)| (*kind, figure))
    }

    /// Requests in flight at most: connections times what each carries at once.
    pub(crate) fn in_flight(&self) -> Option<f64> {
        let connections = self.get(Kind::Connections)?.value;
        Some(connections * self.get(Kind::Pipeline).map_or(1.0, |figure| figure.value.max(1.0)))
    }

    /// Share of failed requests, where the row tells it.
    pub(crate) fn error_share(&self, reading: Reading) -> Option<Span> {
        if let Some(figure) = self.get(Kind::ErrorShare) {
            return Some(figure.span(reading));
        }
        if let Some(figure) = self.get(Kind::SuccessShare) {
            let span = figure.span(reading);
            return Some(Span::new((1.0 - span.high).max(0.0), (1.0 - span.low).max(0.0)));
        }
        let errors = self.get(Kind::Errors)?;
        if errors.value == 0.0 {
            return Some(Span::exact(0.0));
        }
        let share = errors.span(reading).over(self.requests(reading)?);
        Some(Span::new(share.low.min(1.0), share.high.min(1.0)))
    }

    /// Number of requests, as printed or as throughput times duration.
    pub(crate) fn requests(&self, reading: Reading) -> Option<Span> {
        if let Some(figure) = self.get(Kind::Requests) {
            return Some(figure.span(reading));
        }
        Some(self.get(Kind::Throughput)?.span(reading).times(self.get(Kind::Duration)?.span(reading)))
    }
}

impl Sheet {
    /// Understands a table.
    pub(crate) fn new(table: &Table, options: &Options) -> Result<Self, Problem> {
        let decimal_comma =
            table.rows.iter().flat_map(|row| &row.cells).any(|cell| number::has_decimal_comma(cell));
        let mut notes = table.notes.clone();
        if decimal_comma {
            notes.push(
                "commas separate decimals in it, so points are taken for separators of thousands".to_owned(),
            );
        }
        let mut columns = column::understood(table, options, decimal_comma, &mut notes);
        let given =
            options.given.iter().filter(|given| columns.iter().all(|column| column.kind != given.kind));
        let given: Vec<_> = given.collect();
        let is_open = columns.iter().any(|column| column.kind == Kind::Offered)
            || given.iter().any(|given| given.kind == Kind::Offered)
            || table.tool.is_some_and(|tool| tool.is_open);
        let load = options.load.unwrap_or(if is_open { AuditLoad::Open } else { AuditLoad::Closed });
        let mut bad_cells = Vec::new();
        let mut rows = Vec::new();
        for row in table.rows.iter().filter(|row| !column::is_other_quantity(table, row)) {
            let number = u32::try_from(rows.len() + 1).unwrap_or(u32::MAX);
            let mut read = read_row(number, row, &columns, decimal_comma, &mut bad_cells);
            for given in &given {
                read.figures.insert(given.kind, given.figure.clone());
            }
            rows.push(read);
        }
        let skipped = table.rows.len() - rows.len();
        if skipped > 0 {
            notes.push(format!("{skipped} rows hold no latencies and were left out"));
        }
        columns.extend(given.iter().map(|given| column::given(given)));
        let unsure = columns.iter().filter(|c| c.basis == Basis::Assumed).map(|c| c.kind).collect();
        let mut sheet = Self {
            form: table.form,
            line: table.line,
            columns,
            rows,
            bad_cells,
            load,
            tool: table.tool,
            unsure,
            unsure_units: BTreeSet::new(),
            step_s: None,
            notes,
        };
        sheet.step_s = sheet.shortest_step_s();
        sheet.confirm_units();
        sheet.name_rows();
        Ok(sheet)
    }

    /// Whether a kind rests on a guess that leaves room.
    pub(crate) fn is_unsure(&self, kind: Kind) -> bool {
        self.unsure.contains(&kind) || self.unsure_units.contains(&kind)
    }

    /// As [`Self::is_unsure`], where the unit does not matter because latencies are compared with latencies.
    pub(crate) fn is_unsure_among_latencies(&self, kind: Kind) -> bool {
        self.unsure.contains(&kind)
    }

    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.rows.iter().any(|row| row.get(kind).is_some())
    }

    /// Whether some row has a figure that a rule can use.
    pub(crate) fn is_usable(&self) -> bool {
        self.columns
            .iter()
            .filter(|column| column.kind.dimension().is_some() && self.has(column.kind))
            .count()
            >= 1
    }

    /// The pause between answer and next request, where it is stated or known of the tool.
    pub(crate) fn think_s(&self, row: &Row) -> Option<Span> {
        let stated = row.get(Kind::Think).map(|figure| figure.span(Reading::Loose));
        stated.or_else(|| self.tool.is_some_and(|tool| tool.has_no_think).then(|| Span::exact(0.0)))
    }

    /// Length of the window that a row was measured in: its duration, or the step of a series.
    pub(crate) fn window_s(&self, row: &Row) -> Option<f64> {
        let stated = row.get(Kind::Duration).map(|duration| duration.span(Reading::Loose).low);
        stated.or(self.step_s)
    }

    fn shortest_step_s(&self) -> Option<f64> {
        let mut times: Vec<f64> =
            self.rows.iter().filter_map(|row| Some(row.get(Kind::Time)?.value)).collect();
        times.sort_by(f64::total_cmp);
        times.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0).min_by(f64::total_cmp)
    }

    fn name_rows(&mut self) {
        for row in &mut self.rows {
            let mut parts: Vec<String> =
                row.labels.iter().filter(|label| !label.is_empty()).map(|label| shown(label)).collect();
            if let Some(connections) = row.get(Kind::Connections) {
                parts.push(format!("{} connections", connections.text));
            }
            row.name = parts.join(", ");
        }
    }
}

fn read_row(
    number: u32,
    row: &TextRow,
    columns: &[Column],
    decimal_comma: bool,
    bad: &mut Vec<BadCell>,
) -> Row {
    let mut read =
        Row { number, line: row.line, name: String::new(), labels: Vec::new(), figures: BTreeMap::new() };
    for (column, cell) in columns.iter().zip(&row.cells) {
        let Some(dimension) = column.kind.dimension() else {
            if column.kind == Kind::Label || column.is_factor {
                read.labels.push(cell.trim().to_owned());
            }
            continue;
        };
        let bad_cell = |not_finite| BadCell {
            row: number,
            header: column.header.clone(),
            text: cell.clone(),
            not_finite,
        };
        match figure(cell, column, dimension, decimal_comma) {
            Ok(Some(figure)) => drop(read.figures.insert(column.kind, figure)),
            Ok(None) => {}
            Err(not_finite) => bad.push(bad_cell(not_finite)),
        }
    }
    read
}

/// The figure of a cell; the error says whether it is NaN or infinite rather than a text.
fn figure(
    cell: &str,
    column: &Column,
    dimension: Dimension,
    decimal_comma: bool,
) -> Result<Option<Figure>, bool> {
    let number = match number::read(cell, decimal_comma) {
        Cell::Empty => return Ok(None),
        Cell::NotFinite => return Err(true),
        Cell::Text => return column::clock(cell, column.kind).map(Some).ok_or(false),
        Cell::Number(number) => number,
    };
    let own = dimension.factor(&number.unit).filter(|_| !number.unit.is_empty());
    let of_column = column.unit.as_deref().and_then(|unit| dimension.factor(unit));
    let factor = match (own, of_column) {
        // `1.2k` in a column of `万` is 1.2 thousand; a bare noun such as `req/s` keeps the multiplier of the column.
        (Some(own), Some(of_column)) if own == 1.0 && matches!(dimension, Dimension::Rate) => of_column,
        (Some(own), _) => own,
        (None, Some(of_column)) if number.unit.is_empty() => of_column,
        (None, _) if number.unit.is_empty() => dimension.factor("").unwrap_or(1.0),
        (None, _) => return Err(false),
    };
    let figure = Figure::new(&number, factor, column.kind.is_setting(), cell.trim());
    if figure.value.is_finite() { Ok(Some(figure)) } else { Err(true) }
}

/// Every choice of the user must be of a column of some table.
pub(crate) fn check_choices(tables: &[Table], options: &Options) -> Result<(), Problem> {
    for choice in &options.columns {
        let is_there = tables.iter().any(|table| column::chosen(table, choice).is_some());
        if !is_there {
            let names =
                tables.iter().flat_map(|table| table.columns.iter().map(|column| quoted(&column.name)));
            let names: Vec<String> = names.take(20).collect();
            return Err(Problem::new(
                format!("--column names {}, and there is no such column", quoted(&choice.column)),
                format!("the columns are: {}; their numbers from 1 do as well", names.join(", ")),
            ));
        }
    }
    Ok(())
}
