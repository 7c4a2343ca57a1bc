//! A table of a load, as the terminal, Markdown and HTML lay it out.

/// A table with its heading.
pub(crate) struct Part {
    pub(crate) title: &'static str,
    /// Names of columns; the first holds words, those of `is_number` numbers.
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// A column of a [`Part`].
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) is_number: bool,
}

pub(super) fn words(name: &'static str) -> Column {
    Column { name, is_number: false }
}

pub(super) fn number(name: &'static str) -> Column {
    Column { name, is_number: true }
}
