//! `prony targets new`: a folder that keeps the contract from the start, copied from a target or from a sample.
//!
//! Invariants: an existing folder is never touched; the new one appears whole or not at all; only regular files are
//! copied, and a bounded number of them, without build output and dependencies.
//! Absent on purpose: names that need not differ (artifacts of Maven, crates of Cargo): they stay as they are.

mod names;
mod piece;
mod sample;

use crate::{TargetError, catalog, manifest};
use names::Rename;
use piece::Piece;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that are made by builds and package managers.
const MADE: [&str; 4] = [".build", "node_modules", "target", "vendor"];
/// Most files of one target.
const FILES_MAX: usize = 1_000;
/// Most bytes of one target.
const BYTES_MAX: u64 = 16 << 20;
/// Longest part of a name.
const NAME_CHARS_MAX: usize = 64;

/// Makes `root/targets/NAME` like the target `like`, or from the sample of its language. Returns the new folder.
///
/// # Errors
/// `name` is no name or taken; there is no such target, or one of another language; there is no sample; a file cannot
/// be read or written.
pub fn scaffold(root: &Path, name: &str, like: Option<&str>) -> Result<PathBuf, TargetError> {
    let (language, short) = split(name)?;
    let folder = root.join("targets").join(name);
    if folder.exists() {
        let cause = format!("{} exists already", folder.display());
        return Err(TargetError::plan(cause, "choose another name"));
    }
    let (pieces, old) = match like {
        Some(like) => (copied(root, like, language)?, like.to_owned()),
        None => (sampled(root, language)?, format!("{language}/{}", sample::NAME)),
    };
    let rename = Rename::new(&old, name, &pieces);
    let pieces = pieces.into_iter().map(|piece| rename.piece(piece));
    let draft = root.join("targets").join(language).join(format!(".{short}.new-{}", std::process::id()));
    let written = write(&draft, pieces).and_then(|()| {
        fs::rename(&draft, &folder)
            .map_err(|error| TargetError::io(format!("make {}", folder.display()), error))
    });
    if written.is_err() {
        // What is half written is of no use; the error that matters is the first.
        let _ = fs::remove_dir_all(&draft);
    }
    written?;
    manifest::load(&folder)?;
    Ok(folder)
}

/// Language and short name.
fn split(name: &str) -> Result<(&str, &str), TargetError> {
    let is_plain = |part: &str| {
        let mut characters = part.chars();
        let is_first = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.len() <= NAME_CHARS_MAX
            && characters.next().is_some_and(is_first)
            && characters.all(|c| is_first(c) || matches!(c, '-' | '_' | '.'))
    };
    let parts = name.split_once('/').filter(|(a, b)| is_plain(a) && is_plain(b));
    parts.filter(|(language, _)| !matches!(*language, "contract" | "files")).ok_or_else(|| {
        let cause = format!("`{}` is no name of a new target", crate::tail::clean(name, 80));
        TargetError::plan(cause, "write LANGUAGE/NAME in lower case, as in go/my-service")
    })
}

fn copied(root: &Path, like: &str, language: &str) -> Result<Vec<Piece>, TargetError> {
    let (manifest, folder) = catalog::find(root, like)?;
    if manifest.name.split('/').next() != Some(language) {
        let cause = format!("{like} is no target in {language}");
        return Err(TargetError::plan(cause, "copy one of the same language"));
    }
    let mut pieces = Vec::new();
    let mut left = BYTES_MAX;
    collect(&folder, Path::new(""), &mut left, &mut pieces)?;
    Ok(pieces)
}

fn collect(folder: &Path, below: &Path, left: &mut u64, pieces: &mut Vec<Piece>) -> Result<(), TargetError> {
    let here = folder.join(below);
    let failed = |error| TargetError::io(format!("read {}", here.display()), error);
    for entry in fs::read_dir(&here).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let path = below.join(&name);
        let kind = entry.file_type().map_err(failed)?;
        let is_made = MADE.iter().any(|made| name == *made);
        if kind.is_dir() && !is_made && name != ".git" {
            collect(folder, &path, left, pieces)?;
        } else if kind.is_file() {
            let facts = entry.metadata().map_err(failed)?;
            let rest = left.checked_sub(facts.len()).filter(|_| pieces.len() < FILES_MAX);
            *left = rest.ok_or_else(|| too_much(folder))?;
            let bytes = fs::read(entry.path()).map_err(failed)?;
            pieces.push(Piece { path, bytes, permissions: Some(facts.permissions()) });
        }
    }
    Ok(())
}

fn too_much(folder: &Path) -> TargetError {
    let cause = format!("{} holds more than {FILES_MAX} files or {BYTES_MAX} bytes", folder.display());
    TargetError::plan(cause, "remove what does not belong to its source, or copy it by hand")
}

fn sampled(root: &Path, language: &str) -> Result<Vec<Piece>, TargetError> {
    if let Some(files) = sample::of(language) {
        let piece = |(path, text): &(&str, &str)| Piece {
            path: PathBuf::from(path),
            bytes: text.as_bytes().to_vec(),
            permissions: None,
        };
        return Ok(files.iter().map(piece).collect());
    }
    let prefix = format!("{language}/");
    let near = catalog::names(root).into_iter().find(|name| name.starts_with(&prefix));
    let remedy = match near {
        Some(near) => format!("copy a target: --like {near}"),
        None => format!(
            "there are samples for {}; for any other language write target.toml by hand, as docs/guides/targets.md \
             says",
            sample::LANGUAGES.join(" and ")
        ),
    };
    Err(TargetError::plan(format!("there is no sample of a target in {language}"), remedy))
}

fn write(draft: &Path, pieces: impl Iterator<Item = Piece>) -> Result<(), TargetError> {
    for piece in pieces {
        let path = draft.join(&piece.path);
        let failed = |error| TargetError::io(format!("write {}", path.display()), error);
        fs::create_dir_all(path.parent().unwrap_or(draft)).map_err(failed)?;
        fs::write(&path, &piece.bytes).map_err(failed)?;
        if let Some(permissions) = piece.permissions {
            fs::set_permissions(&path, permissions).map_err(failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
