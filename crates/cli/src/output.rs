//! Where results go: standard output, or the file named by `-o`.

use crate::screen;
use anyhow::{Context as _, Result};
use std::io::Write;
use std::path::Path;

/// Writes `text` to `file`, or to standard output where there is none.
pub(crate) fn write(file: Option<&Path>, text: &str) -> Result<()> {
    match file {
        Some(path) => std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display())),
        None => Ok(std::io::stdout().write_all(text.as_bytes())?),
    }
}

/// How text is laid out there: a file gets neither colours nor the width of the terminal.
pub(crate) fn style(file: Option<&Path>) -> report::Style {
    if file.is_some() { report::Style::PLAIN } else { screen::style() }
}
