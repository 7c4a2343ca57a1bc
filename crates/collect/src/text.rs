//! Small helpers around texts of the kernel: bounded reads, UTF-8, numbers.
//!
//! Invariant: nothing here panics or allocates more than the limit, whatever the bytes are.

use crate::error::{CollectError, ParseError};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Longest kernel file that is read. `/proc/stat` on a host with hundreds of cores stays far below.
pub(crate) const FILE_BYTES_MAX: u64 = 4 << 20;

/// Longest piece of input that a message repeats.
const SHOWN_CHARS_MAX: usize = 40;

/// The whole file, which may have at most [`FILE_BYTES_MAX`] bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CollectError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|source| CollectError::Read { path: path.to_path_buf(), source })?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(CollectError::TooLong { path: path.to_path_buf(), limit_bytes: FILE_BYTES_MAX });
    }
    Ok(bytes)
}

/// The file, or nothing where it cannot be read: for what some kernels lack.
pub(crate) fn read_optional(path: &Path) -> Option<Vec<u8>> {
    read(path).ok()
}

/// Reads and parses one file.
pub(crate) fn read_parsed<T>(
    path: &Path,
    parse: impl FnOnce(&[u8]) -> Result<T, ParseError>,
) -> Result<T, CollectError> {
    parse(&read(path)?).map_err(|source| CollectError::Parse { what: path.display().to_string(), source })
}

/// Whether the file went away because its process or thread ended (ENOENT on open, ESRCH on read).
pub(crate) fn is_vanished(error: &CollectError) -> bool {
    match error {
        CollectError::Read { source, .. } => vanished(source),
        _ => false,
    }
}

/// The same for a bare error.
pub(crate) fn vanished(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

/// The bytes as text.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, ParseError> {
    std::str::from_utf8(bytes).map_err(|_| ParseError::NotText)
}

/// One number of any type.
pub(crate) fn number<T: std::str::FromStr>(field: &'static str, text: &str) -> Result<T, ParseError> {
    text.parse().map_err(|_| not_number(field, text))
}

/// A finite number that is not negative.
pub(crate) fn amount(field: &'static str, text: &str) -> Result<f64, ParseError> {
    let value: f64 = number(field, text)?;
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(not_number(field, text)) }
}

/// An integer times a factor, for conversions of units.
pub(crate) fn scaled(field: &'static str, text: &str, factor: u64) -> Result<u64, ParseError> {
    number::<u64>(field, text)?.checked_mul(factor).ok_or_else(|| not_number(field, text))
}

fn not_number(field: &'static str, text: &str) -> ParseError {
    ParseError::NotNumber { field, text: text.chars().take(SHOWN_CHARS_MAX).collect() }
}

/// Nanoseconds in one clock tick of `/proc` (USER_HZ, 100 per second on every common architecture).
pub(crate) fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}
