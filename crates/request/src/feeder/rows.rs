//! Fields of rows in one piece of memory, which is reused.

/// Rows of a fixed number of columns.
#[derive(Debug, Default)]
pub(super) struct Rows {
    bytes: Vec<u8>,
    /// Begin and end of each field, row by row. 32 bits: what is held is at most some 64 MiB.
    fields: Vec<(u32, u32)>,
    columns: usize,
}

impl Rows {
    pub(super) fn new(columns: usize) -> Self {
        Self { columns, ..Self::default() }
    }

    pub(super) const fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
    }

    /// Begins a row whose fields are all missing; the result is its number among the fields.
    pub(super) fn begin(&mut self) -> usize {
        let row = self.fields.len();
        self.fields.resize(row + self.columns, (u32::MAX, 0));
        row
    }

    /// Sets a field of the row that began at `row`.
    pub(super) fn set(&mut self, row: usize, column: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let from = self.bytes.len() as u32;
        write(&mut self.bytes);
        self.fields[row + column] = (from, self.bytes.len() as u32);
    }

    /// The first column of the row that was not set.
    pub(super) fn missing(&self, row: usize) -> Option<usize> {
        self.fields[row..row + self.columns].iter().position(|(from, _)| *from == u32::MAX)
    }

    pub(super) fn field(&self, row: u64, column: u16) -> Option<&[u8]> {
        let place = usize::try_from(row).ok()?.checked_mul(self.columns)? + usize::from(column);
        let (from, to) = *self.fields.get(place)?;
        self.bytes.get(from as usize..to as usize)
    }
}
