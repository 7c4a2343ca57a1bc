//! The profiles of a run folder, as trees.
//!
//! Invariants: only files within `profiles/` are read, whatever `profiles.json` names; all trees together have a bound,
//! beyond which a profile has its table and no tree, with a note.

use crate::files::read_json;
use schema::page::{FlameNode, PageProfile, PageRefusal};
use schema::profile::{ProfiledCell, ProfilesFile, TakenProfile};
use schema::said;
use schema::said::Said;
use std::path::{Component, Path};

/// Most bytes of a file of folded stacks.
const FOLDED_BYTES_MAX: u64 = 64 << 20;
/// Most nodes of all trees of a page.
const NODES_MAX: usize = 40_000;
/// Functions in a table.
const TOP: usize = 30;

/// What a page shows of them.
#[derive(Default)]
pub(super) struct Profiles {
    pub(super) profiles: Vec<PageProfile>,
    pub(super) note: Option<Said>,
    pub(super) refused: Vec<PageRefusal>,
}

/// Those of a run folder; nothing where none were taken.
pub(super) fn read(run: &Path) -> Profiles {
    let folder = run.join("profiles");
    let path = folder.join("profiles.json");
    if !path.is_file() {
        return Profiles::default();
    }
    let file: ProfilesFile = match read_json(&path, "prony.profiles/2") {
        Ok(file) => file,
        Err(error) => {
            let note = said!(
                "missing.profiles",
                "there are profiles, but they cannot be read: {why}",
                why = Said::from(error.to_string())
            );
            let note = Some(note);
            return Profiles { note, ..Profiles::default() };
        }
    };
    let mut left = NODES_MAX;
    let taken = file.cells.iter().flat_map(|cell| cell.taken.iter().map(move |taken| (cell, taken)));
    let profiles = taken.map(|(cell, taken)| profile(&folder, cell, taken, &mut left)).collect();
    Profiles { profiles, note: Some(file.note), refused: file.cells.iter().flat_map(refused).collect() }
}

fn refused(cell: &ProfiledCell) -> impl Iterator<Item = PageRefusal> {
    cell.refused.iter().map(|refused| PageRefusal {
        cell: cell.cell.clone(),
        label: cell.label.clone(),
        refused: refused.clone(),
    })
}

fn profile(folder: &Path, cell: &ProfiledCell, taken: &TakenProfile, left: &mut usize) -> PageProfile {
    let origin = taken.files.iter().find(|file| file.ends_with(".folded")).cloned().unwrap_or_default();
    let mut notes = taken.notes.clone();
    let whole = FlameNode { name: "all".to_owned(), value: taken.total, children: Vec::new() };
    let (frames, top) = match folded(folder, &origin, taken) {
        Ok(folded) => {
            let tree = profile::tree(&folded);
            let nodes = count(&tree);
            let fits = nodes <= *left;
            *left -= if fits { nodes } else { 0 };
            if !fits {
                notes.push(said!(
                    "missing.flame_graph",
                    "its flame graph is left out, so that the page stays small"
                ));
            }
            (if fits { tree } else { whole }, profile::top(&folded, TOP))
        }
        Err(why) => {
            notes.push(why);
            (whole, taken.top.clone())
        }
    };
    PageProfile {
        cell: cell.cell.clone(),
        label: cell.label.clone(),
        kind: taken.kind,
        name: taken.name.clone(),
        origin: format!("profiles/{origin}"),
        unit: taken.unit,
        total: taken.total,
        frames,
        top,
        notes,
    }
}

fn folded(folder: &Path, origin: &str, taken: &TakenProfile) -> Result<profile::Folded, Said> {
    let is_within = Path::new(origin).components().all(|part| matches!(part, Component::Normal(_)));
    if origin.is_empty() || !is_within {
        return Err(said!("missing.stacks_unnamed", "profiles.json names no file of folded stacks for it"));
    }
    let path = folder.join(origin);
    let told = |error: std::io::Error| {
        let why = Said::from(error.to_string());
        said!("missing.stacks", "{origin} cannot be read: {why}", origin, why)
    };
    let found = std::fs::symlink_metadata(&path).map_err(told)?;
    if !found.is_file() || found.len() > FOLDED_BYTES_MAX {
        return Err(said!(
            "missing.stacks_too_long",
            "{origin} is not a file, or is too long to read",
            origin
        ));
    }
    let bytes = std::fs::read(&path).map_err(told)?;
    profile::text::read(&bytes, taken.unit, 1).map_err(|error| {
        let why = *error.cause;
        said!("missing.stacks_damaged", "{origin}: {why}", origin, why)
    })
}

fn count(node: &FlameNode) -> usize {
    1 + node.children.iter().map(count).sum::<usize>()
}
