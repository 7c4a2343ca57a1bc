//! One worker's place in a feeder: the row of the request in the making, and the last block that was read.

use super::format::{Format, add_json, add_line, trimmed};
use super::rows::Rows;
use super::{Feeder, Store};
use crate::program::MakeCause;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// Memory is reused from block to block.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// The row of this request, once it was asked for.
    row: Option<u64>,
    /// Number of the block that `rows` holds.
    block: Option<u64>,
    rows: Rows,
    bytes: Vec<u8>,
    fields: Fields,
}

/// The CSV reader and its output.
#[derive(Debug, Default)]
struct Fields {
    /// Made once: its tables cost more than a block's rows.
    reader: Option<Box<csv_core::Reader>>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Cursor {
    /// Forgets the row of the last request.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.row = None;
    }

    /// Appends a column of the row that belongs to request or session `position`. `number` is the feeder's place.
    pub(crate) fn column(
        &mut self,
        feeder: &Feeder,
        number: u16,
        position: u64,
        column: u16,
        out: &mut Vec<u8>,
    ) -> Result<(), MakeCause> {
        let row = match self.row {
            Some(row) => row,
            None => *self.row.insert(feeder.row(position, number)?),
        };
        let place = feeder.places.get(usize::from(column)).copied().flatten().ok_or(MakeCause::OutOfReach)?;
        let field = match &feeder.store {
            Store::Held(rows) => rows.field(row, place),
            Store::Indexed { file, format, wanted, places, index } => {
                let (block, from, to, within) = index.block(row).ok_or(MakeCause::Unreadable(number))?;
                if self.block != Some(block) {
                    self.block = None;
                    self.read(file, from, to).ok_or(MakeCause::Unreadable(number))?;
                    self.take_apart(format, wanted, places, feeder.places.len())
                        .ok_or(MakeCause::Unreadable(number))?;
                    self.block = Some(block);
                }
                self.rows.field(within, place)
            }
        };
        out.extend_from_slice(field.ok_or(MakeCause::Unreadable(number))?);
        Ok(())
    }

    fn read(&mut self, file: &File, from: u64, to: Option<u64>) -> Option<()> {
        let to = match to {
            Some(to) => to,
            None => file.metadata().ok()?.len(),
        };
        self.bytes.resize(usize::try_from(to.checked_sub(from)?).ok()?, 0);
        file.read_exact_at(&mut self.bytes, from).ok()
    }

    fn take_apart(
        &mut self,
        format: &Format,
        wanted: &[String],
        places: &[usize],
        columns: usize,
    ) -> Option<()> {
        if self.rows.columns() != wanted.len() {
            self.rows = Rows::new(wanted.len());
        }
        self.rows.clear();
        match format {
            Format::Csv { delimiter, .. } => {
                self.fields.ends.resize(columns + 1, 0);
                self.fields.csv(&self.bytes, *delimiter, places, &mut self.rows)?;
            }
            Format::Lines => {
                self.bytes
                    .split_inclusive(|byte| *byte == b'\n')
                    .filter_map(trimmed)
                    .for_each(|line| add_line(line, &mut self.rows, !wanted.is_empty()));
            }
            Format::Jsonl => {
                for line in self.bytes.split_inclusive(|byte| *byte == b'\n').filter_map(trimmed) {
                    add_json(line, &mut self.rows, wanted).ok()?;
                }
            }
        }
        Some(())
    }
}

impl Fields {
    /// Takes whole rows apart; `ends` has room for one more than the columns. Nothing where they are not as they were when the file was checked.
    fn csv(&mut self, bytes: &[u8], delimiter: u8, places: &[usize], rows: &mut Rows) -> Option<()> {
        use csv_core::ReadRecordResult::{End, InputEmpty, OutputEndsFull, OutputFull, Record};
        // Fields are never longer than their quoted form.
        self.bytes.resize(bytes.len() + 1, 0);
        let build = || Box::new(csv_core::ReaderBuilder::new().delimiter(delimiter).build());
        let reader = self.reader.get_or_insert_with(build);
        reader.reset();
        let (mut at, mut written, mut ended) = (0, 0, 0);
        loop {
            let (result, read, wrote, ends) =
                reader.read_record(&bytes[at..], &mut self.bytes[written..], &mut self.ends[ended..]);
            at += read;
            written += wrote;
            ended += ends;
            match result {
                // An empty input afterwards means the end and brings out the last row.
                InputEmpty => {}
                OutputFull | OutputEndsFull => return None,
                End => return Some(()),
                Record => {
                    let row = rows.begin();
                    for (column, place) in places.iter().enumerate() {
                        let to = *self.ends[..ended].get(*place)?;
                        let from = if *place == 0 { 0 } else { self.ends[*place - 1] };
                        rows.set(row, column, |out| out.extend_from_slice(&self.bytes[from..to]));
                    }
                    (written, ended) = (0, 0);
                }
            }
        }
    }
}
