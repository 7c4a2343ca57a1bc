//! Files of a load by their content: an agent gets what it lacks and trusts nothing but the hash.
//!
//! Invariants: a file in the store has the bytes that its name says, or is not there; sizes are bounded; a name from
//! outside never becomes a path. Absent on purpose: which files a load needs, and how many (`generate::agents`).

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Largest file: those of feeders are read into memory or by position on every agent.
const FILE_BYTES_MAX: u64 = 4 << 30;
/// Longest ending that is kept; readers go by it.
const ENDING_MAX: usize = 16;

/// A file that a load needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub struct FileRef {
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Ending of its name without the dot, such as `csv`; empty where it has none.
    pub ending: String,
}

/// Why a file cannot be passed on.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// It cannot be read here.
    #[error("{path} cannot be given to the agents: {source}; check the path and the rights")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It cannot be kept there.
    #[error("a file of the load cannot be kept in {folder}: {source}; look for room on its disk")]
    Keep {
        /// The store.
        folder: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Too long.
    #[error("a file of {bytes} bytes is longer than the {FILE_BYTES_MAX} that agents take; split it")]
    TooLong {
        /// Its length.
        bytes: u64,
    },
    /// No hash, or an ending that is none.
    #[error("a file is named by no SHA-256 (`{0}`)")]
    Name(String),
    /// Other bytes than its name says.
    #[error("file {0} arrived with other bytes than its hash says")]
    Damaged(String),
}

/// Hexadecimal, lower case.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a file once for its hash and length.
///
/// # Errors
/// It cannot be read, or is too long.
pub fn describe(path: &Path) -> Result<FileRef, BundleError> {
    let failed = |source| BundleError::Read { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let mut hash = Sha256::new();
    let bytes = io::copy(&mut (&mut file).take(FILE_BYTES_MAX + 1), &mut hash).map_err(failed)?;
    if bytes > FILE_BYTES_MAX {
        return Err(BundleError::TooLong { bytes: file.metadata().map_or(bytes, |found| found.len()) });
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).filter(|ending| is_ending(ending));
    Ok(FileRef { sha256: hex(&hash.finalize()), bytes, ending: ending.unwrap_or_default().to_owned() })
}

fn is_ending(text: &str) -> bool {
    text.len() <= ENDING_MAX && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

impl FileRef {
    fn check(&self) -> Result<(), BundleError> {
        let is_hash = self.sha256.len() == 64
            && self.sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_hash || !is_ending(&self.ending) {
            return Err(BundleError::Name(self.sha256.chars().take(80).collect()));
        }
        if self.bytes > FILE_BYTES_MAX {
            return Err(BundleError::TooLong { bytes: self.bytes });
        }
        Ok(())
    }

    fn name(&self) -> String {
        match self.ending.as_str() {
            "" => self.sha256.clone(),
            ending => format!("{}.{ending}", self.sha256),
        }
    }
}

/// The agent's files.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
}

/// A file that is arriving. One that is dropped before it is whole leaves nothing.
#[derive(Debug)]
pub struct Arriving {
    file: FileRef,
    out: File,
    part: PathBuf,
    path: PathBuf,
    hash: Sha256,
    bytes: u64,
}

impl Store {
    /// In a folder that is there.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Where a file is or would be.
    ///
    /// # Errors
    /// A reference that is none.
    pub fn path(&self, file: &FileRef) -> Result<PathBuf, BundleError> {
        file.check()?;
        Ok(self.folder.join(file.name()))
    }

    /// Whether it is there; only whole files are.
    ///
    /// # Errors
    /// A reference that is none.
    pub fn has(&self, file: &FileRef) -> Result<bool, BundleError> {
        Ok(self.path(file)?.is_file())
    }

    /// Lets a file that is there be found under the ending of `other`, too, which has the same bytes.
    ///
    /// # Errors
    /// References that are none or of different contents, or a folder that cannot be written.
    pub fn also(&self, file: &FileRef, other: &FileRef) -> Result<(), BundleError> {
        if other.sha256 != file.sha256 || other.bytes != file.bytes {
            return Err(BundleError::Damaged(other.sha256.clone()));
        }
        if self.has(other)? {
            return Ok(());
        }
        let keep = |source| BundleError::Keep { folder: self.folder.clone(), source };
        std::fs::hard_link(self.path(file)?, self.path(other)?).map_err(keep)
    }

    /// Begins to take a file.
    ///
    /// # Errors
    /// A reference that is none, or a folder that cannot be written.
    pub fn begin(&self, file: &FileRef) -> Result<Arriving, BundleError> {
        let path = self.path(file)?;
        let part = self.folder.join(format!("{}.part", file.name()));
        let keep = |source| BundleError::Keep { folder: self.folder.clone(), source };
        let out = File::create(&part).map_err(keep)?;
        Ok(Arriving { file: file.clone(), out, part, path, hash: Sha256::new(), bytes: 0 })
    }
}

impl Arriving {
    /// The next bytes.
    ///
    /// # Errors
    /// More bytes than it has, other ones, or a full disk.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), BundleError> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > self.file.bytes {
            return Err(BundleError::Damaged(self.file.sha256.clone()));
        }
        self.hash.update(bytes);
        self.out.write_all(bytes).map_err(|source| self.keep(source))
    }

    /// All bytes came: the file gets its name if they are the right ones.
    ///
    /// # Errors
    /// They are not, or the disk is full.
    pub fn finish(mut self) -> Result<(), BundleError> {
        let found = hex(&std::mem::take(&mut self.hash).finalize());
        if found != self.file.sha256 || self.bytes != self.file.bytes {
            return Err(BundleError::Damaged(self.file.sha256.clone()));
        }
        std::fs::rename(&self.part, &self.path).map_err(|source| self.keep(source))
    }

    fn keep(&self, source: io::Error) -> BundleError {
        BundleError::Keep { folder: self.path.parent().unwrap_or(&self.path).to_owned(), source }
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        // After it was renamed there is nothing of this name.
        let _ = std::fs::remove_file(&self.part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(store: &Store, file: &FileRef, pieces: &[&[u8]]) -> Result<(), BundleError> {
        let mut arriving = store.begin(file)?;
        pieces.iter().try_for_each(|piece| arriving.take(piece))?;
        arriving.finish()
    }

    #[test]
    fn a_file_arrives_whole_under_its_hash_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("users.csv");
        std::fs::write(&from, b"id\n1\n2\n").unwrap();
        let file = describe(&from).unwrap();
        assert_eq!((file.bytes, file.ending.as_str()), (7, "csv"));
        assert_eq!(file.sha256, hex(&Sha256::digest(b"id\n1\n2\n")));
        let there = tempfile::tempdir().unwrap();
        let store = Store::new(there.path());
        for pieces in [&[&b"id\n1\n"[..]][..], &[b"id\n1\n2\n3"], &[b"id\n1\n", b"3\n"]] {
            assert!(matches!(stored(&store, &file, pieces), Err(BundleError::Damaged(_))), "{pieces:?}");
            assert!(!store.has(&file).unwrap());
            assert_eq!(std::fs::read_dir(there.path()).unwrap().count(), 0, "nothing half is left");
        }
        stored(&store, &file, &[b"id\n", b"1\n2\n"]).unwrap();
        assert!(store.has(&file).unwrap());
        let path = store.path(&file).unwrap();
        assert_eq!(path.extension().unwrap(), "csv");
        assert_eq!(std::fs::read(path).unwrap(), b"id\n1\n2\n");
        let other = FileRef { ending: "txt".to_owned(), ..file.clone() };
        for _ in 0..2 {
            store.also(&file, &other).unwrap();
        }
        assert_eq!(std::fs::read(store.path(&other).unwrap()).unwrap(), b"id\n1\n2\n");
        let longer = FileRef { bytes: 8, ..other };
        assert!(matches!(store.also(&file, &longer), Err(BundleError::Damaged(_))));
    }

    #[test]
    fn a_full_disk_is_named_with_its_remedy_and_leaves_nothing() {
        let there = tempfile::tempdir().unwrap();
        let store = Store::new(there.path());
        let file = FileRef { sha256: hex(&Sha256::digest(b"abc")), bytes: 3, ending: "csv".to_owned() };
        // The system has a disk that is always full (full(4)).
        std::os::unix::fs::symlink("/dev/full", there.path().join(format!("{}.part", file.name()))).unwrap();
        let error = stored(&store, &file, &[b"abc"]).unwrap_err();
        assert!(
            matches!(&error, BundleError::Keep { source, .. } if source.kind() == io::ErrorKind::StorageFull)
        );
        assert!(error.to_string().contains("look for room on its disk"), "{error}");
        assert!(!store.has(&file).unwrap());
        assert_eq!(std::fs::read_dir(there.path()).unwrap().count(), 0, "nothing half is left");
        stored(&store, &file, &[b"abc"]).unwrap();
        assert!(store.has(&file).unwrap(), "with room it is taken");
    }

    #[test]
    fn a_name_from_outside_is_no_path() {
        let store = Store::new(Path::new("/nonexistent"));
        let good = FileRef { sha256: "a".repeat(64), bytes: 1, ending: "csv".to_owned() };
        assert!(store.path(&good).is_ok());
        for bad in [
            FileRef { sha256: format!("../{}", "a".repeat(61)), ..good.clone() },
            FileRef { sha256: "A".repeat(64), ..good.clone() },
            FileRef { sha256: String::new(), ..good.clone() },
            FileRef { ending: "../x".to_owned(), ..good.clone() },
            FileRef { ending: "e".repeat(17), ..good.clone() },
            FileRef { bytes: u64::MAX, ..good },
        ] {
            assert!(store.path(&bad).is_err() && store.begin(&bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let error = describe(Path::new("/nonexistent/x.csv")).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/x.csv") && error.contains("check the path"), "{error}");
    }
}
