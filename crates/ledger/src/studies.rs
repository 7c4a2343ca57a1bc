//! `studies/*.toml`, read in the order of their names. Numbers of claims are unique over all of them.

use schema::study::StudyFile;
use schema::text::FileError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Most files that are read.
const FILES_MAX: usize = 1_000;

/// Studies that cannot be read.
#[derive(Debug)]
pub enum StudiesError {
    /// The folder or a file cannot be read.
    Io(PathBuf, std::io::Error),
    /// A file is wrong.
    File(FileError),
    /// There is no file.
    None(PathBuf),
    /// Two claims have one number.
    Number(u32, String, String),
}

impl std::fmt::Display for StudiesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::File(error) => error.fmt(f),
            Self::None(path) => write!(
                f,
                "there is no study under {}\n  remedy: name the folder of the studies with --studies",
                path.display()
            ),
            Self::Number(number, a, b) => {
                write!(f, "{a} and {b} both have a claim {number}\n  remedy: give each its own number")
            }
        }
    }
}

impl std::error::Error for StudiesError {}

/// All studies of a folder.
///
/// # Errors
/// A file that cannot be read or is wrong; a number that two claims have; a folder without any.
pub fn studies(folder: &Path) -> Result<Vec<StudyFile>, StudiesError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |error| StudiesError::Io(path, error)
    };
    let entries = std::fs::read_dir(folder).map_err(io(folder))?;
    let mut paths: Vec<PathBuf> =
        entries.take(FILES_MAX).filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    let mut numbers: BTreeMap<u32, String> = BTreeMap::new();
    let mut studies = Vec::with_capacity(paths.len());
    for path in &paths {
        let text = std::fs::read_to_string(path).map_err(io(path))?;
        let study = StudyFile::from_toml(&path.display().to_string(), &text).map_err(StudiesError::File)?;
        for claim in &study.claim {
            if let Some(other) = numbers.insert(claim.number, study.article.clone()) {
                return Err(StudiesError::Number(claim.number, other, study.article));
            }
        }
        studies.push(study);
    }
    if studies.is_empty() { Err(StudiesError::None(folder.to_owned())) } else { Ok(studies) }
}
