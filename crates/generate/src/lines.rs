//! What processes and machines say to each other: one JSON object a line.

use serde::Serialize;
use std::io::{self, Write};

/// Writes one message as a line.
pub(crate) fn write_line(to: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}
