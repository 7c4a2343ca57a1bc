//! A file of a new target.

use std::fs;
use std::path::PathBuf;

/// A file of a new target: its path in the folder, its bytes, its permissions.
pub(super) struct Piece {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) permissions: Option<fs::Permissions>,
}
