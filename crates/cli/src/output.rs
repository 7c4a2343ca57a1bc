//! Where results go: standard output, or the file named by `-o`.

use crate::screen;
use anyhow::Result;
use std::io::Write;
use std::path::Path;

/// Writes `text` to `file`, whole or not at all, or to standard output where there is none.
pub(crate) fn write(file: Option<&Path>, text: &str) -> Result<()> {
    match file {
        Some(path) => Ok(runner::folder::write_whole(path, text.as_bytes())?),
        None => {
            let mut out = std::io::stdout();
            out.write_all(text.as_bytes())?;
            Ok(out.flush()?)
        }
    }
}

/// How text is laid out there: a file gets neither colours nor the width of the terminal.
pub(crate) fn style(file: Option<&Path>) -> report::Style {
    if file.is_some() { report::Style::PLAIN } else { screen::style() }
}
