//! How text for a terminal looks: paragraphs, tables, colours.

pub(crate) mod layout;
pub(crate) mod paint;

/// How text for a terminal is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether colours may be used.
    pub color: bool,
    /// Columns of the terminal; taken as 80 to 120 whatever it says, because the tables need 80.
    pub width: u16,
}

impl Style {
    /// 80 columns without colours: what a file or a pipe gets.
    pub const PLAIN: Self = Self { color: false, width: 80 };

    /// Columns to use: wider than 120 is hard to read, narrower than 80 breaks the tables.
    pub(crate) fn columns(self) -> usize {
        usize::from(self.width.clamp(80, 120))
    }
}
