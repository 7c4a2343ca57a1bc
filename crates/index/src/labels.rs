//! Tags and notes: one JSON file beside the index, which outlives it.
//!
//! Invariants: the file is replaced whole; a change reads it again first, so that two processes lose at most one
//! change of the same run; labels of runs that are gone stay, because a folder may come back.

use crate::{IndexError, LABELS_FILE};
use schema::lab::{Label, LabelsFile, NOTE_LENGTH_MAX, TAG_LENGTH_MAX, TAGS_MAX};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Largest file of labels that is read.
const BYTES_MAX: u64 = 64 << 20;

/// The labels of the runs of a folder.
#[derive(Debug)]
pub struct Labels {
    path: PathBuf,
}

impl Labels {
    /// Those of a folder of runs.
    #[must_use]
    pub fn of(runs: &Path) -> Self {
        Self { path: runs.join(LABELS_FILE) }
    }

    /// When the file was changed, with its length; `None` without one.
    pub(crate) fn stamp(&self) -> Option<(SystemTime, u64)> {
        let found = fs::metadata(&self.path).ok()?;
        Some((found.modified().ok()?, found.len()))
    }

    /// All labels; none where there is no file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self) -> Result<LabelsFile, IndexError> {
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(LabelsFile::default()),
            Err(error) => return Err(IndexError::io("read", &self.path)(error)),
            Ok(found) if found.len() > BYTES_MAX => {
                return Err(self.damaged(format!("it is longer than {BYTES_MAX} bytes")));
            }
            Ok(_) => {}
        }
        let text = fs::read(&self.path).map_err(IndexError::io("read", &self.path))?;
        serde_json::from_slice(&text).map_err(|error| self.damaged(error.to_string()))
    }

    /// Keeps what was said of a run, and gives it back as it is kept; an empty label is removed.
    ///
    /// # Errors
    /// What was said is out of bounds, or the file cannot be read or written.
    pub fn set(&self, run: &str, said: Label) -> Result<Label, IndexError> {
        let said = checked(said)?;
        let mut file = self.read()?;
        if said == Label::default() {
            file.runs.remove(run);
        } else {
            file.runs.insert(run.to_owned(), said.clone());
        }
        let text = schema::json::pretty(&file).map_err(|error| self.damaged(error.to_string()))?;
        record::write_whole(&self.path, text.as_bytes()).map_err(|error| IndexError::Label {
            cause: error.to_string(),
            remedy: "make the folder of the runs writable for prony serve".to_owned(),
        })?;
        Ok(said)
    }

    fn damaged(&self, cause: String) -> IndexError {
        IndexError::Labels { path: self.path.clone(), cause }
    }
}

/// Tags in order and each once, within bounds, without control characters.
fn checked(said: Label) -> Result<Label, IndexError> {
    let refused = |cause: String, remedy: &str| Err(IndexError::Label { cause, remedy: remedy.to_owned() });
    let mut tags: Vec<String> = said.tags.iter().map(|tag| tag.trim().to_owned()).collect();
    tags.retain(|tag| !tag.is_empty());
    tags.sort();
    tags.dedup();
    if tags.len() > TAGS_MAX {
        return refused(format!("{} tags are too many", tags.len()), "give at most 20");
    }
    if let Some(tag) = tags.iter().find(|tag| tag.chars().count() > TAG_LENGTH_MAX) {
        return refused(format!("the tag `{tag}` is too long"), "give tags of at most 40 characters");
    }
    if let Some(tag) = tags.iter().find(|tag| tag.contains(',') || tag.chars().any(char::is_control)) {
        return refused(
            format!("the tag {tag:?} holds a comma or a control character"),
            "leave it out, or give two tags",
        );
    }
    let note = said.note.trim().to_owned();
    if note.chars().count() > NOTE_LENGTH_MAX {
        return refused("the note is too long".to_owned(), "give at most 4000 characters");
    }
    if note.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return refused("the note holds control characters".to_owned(), "leave them out");
    }
    Ok(Label { tags, note })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(tags: &[&str], note: &str) -> Label {
        Label { tags: tags.iter().map(|&tag| tag.to_owned()).collect(), note: note.to_owned() }
    }

    #[test]
    fn labels_are_kept_in_order_and_go_when_empty() {
        let folder = tempfile::tempdir().unwrap();
        let labels = Labels::of(folder.path());
        assert_eq!(labels.read().unwrap(), LabelsFile::default());
        let kept = labels.set("r1", label(&["b", " a ", "b", ""], " n\n")).unwrap();
        assert_eq!(kept, label(&["a", "b"], "n"));
        assert_eq!(labels.read().unwrap().runs["r1"], kept);
        labels.set("r1", Label::default()).unwrap();
        assert!(labels.read().unwrap().runs.is_empty());
    }

    #[test]
    fn what_is_out_of_bounds_is_refused_with_its_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let labels = Labels::of(folder.path());
        let many: Vec<String> = (0..21).map(|n| n.to_string()).collect();
        let long = "x".repeat(41);
        for wrong in [
            Label { tags: many, note: String::new() },
            label(&[&long], ""),
            label(&["a,b"], ""),
            label(&["a\u{1b}"], ""),
            label(&[], &"n".repeat(4001)),
            label(&[], "\u{1b}[2J"),
        ] {
            let error = labels.set("r1", wrong).unwrap_err().to_string();
            assert!(error.contains("remedy:"), "{error}");
        }
        assert!(!folder.path().join(LABELS_FILE).exists());
    }

    #[test]
    fn a_damaged_file_is_told_and_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LABELS_FILE);
        fs::write(&path, "{\"schema\":\"prony.labels/9\",\"runs\":{}}").unwrap();
        let labels = Labels::of(folder.path());
        let error = labels.set("r1", label(&["a"], "")).unwrap_err().to_string();
        assert!(error.contains("another version") || error.contains("prony.labels/1"), "{error}");
        assert!(fs::read_to_string(&path).unwrap().contains("prony.labels/9"));
    }
}
