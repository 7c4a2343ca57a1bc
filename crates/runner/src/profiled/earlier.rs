//! What earlier calls took of a run's cells stays in `profiles.json` until the same kind is taken of the same cell
//! again.

use record::read_json;
use schema::profile::{ProfileComparison, ProfiledCell, ProfilesFile, TakenProfile};
use std::path::{Component, Path};

/// The entries of `profiles.json` as it was.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Earlier {
    pub(super) cells: Vec<ProfiledCell>,
    pub(super) comparisons: Vec<ProfileComparison>,
}

impl Earlier {
    /// Those in `out`, where they are of the same run. A file that cannot be read costs a note.
    pub(super) fn read(out: &Path, run: Option<&str>, note: &mut dyn FnMut(&str)) -> Self {
        let path = out.join("profiles.json");
        if !path.is_file() {
            return Self::default();
        }
        match read_json::<ProfilesFile>(&path, "prony.profiles/2") {
            Ok(file) if file.run.as_deref() == run => {
                Self { cells: file.cells, comparisons: file.comparisons }
            }
            Ok(_) => Self::default(),
            Err(error) => {
                note(&format!("the profiles that were there are not listed any more: {error}"));
                Self::default()
            }
        }
    }

    /// What stayed, followed by what was taken now.
    pub(super) fn and(&self, now: &ProfilesFile) -> ProfilesFile {
        let cells = self.cells.iter().chain(&now.cells).cloned().collect();
        let comparisons = self.comparisons.iter().chain(&now.comparisons).cloned().collect();
        ProfilesFile { cells, comparisons, ..now.clone() }
    }

    /// Forgets what `new` has again, with the comparisons that were made of it; files of `out` that nothing names any
    /// more are removed.
    pub(super) fn replace(&mut self, new: &ProfiledCell, out: &Path) {
        let is_taken = |old: &TakenProfile| new.taken.iter().any(|taken| taken.kind == old.kind);
        let mut gone = Vec::new();
        for old in self.cells.iter_mut().filter(|old| old.cell == new.cell) {
            gone.extend(old.taken.extract_if(.., |taken| is_taken(taken)));
            old.refused.retain(|refused| {
                let again = new.refused.iter().any(|one| one.kind == refused.kind);
                !again && !new.taken.iter().any(|taken| taken.kind == refused.kind)
            });
        }
        self.cells.retain(|old| !old.taken.is_empty() || !old.refused.is_empty());
        self.comparisons.retain(|made| {
            let is_of_it = made.base == new.cell || made.cell == new.cell;
            !(is_of_it && gone.iter().any(|taken| taken.name == made.name))
        });
        let is_named = |file: &String| new.taken.iter().any(|taken| taken.files.contains(file));
        for file in gone.iter().flat_map(|taken| &taken.files).filter(|file| !is_named(file)) {
            if Path::new(file).components().all(|part| matches!(part, Component::Normal(_))) {
                let _ = std::fs::remove_file(out.join(file));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::profile::{ProfileKind, ProfileUnit, RefusedProfile};

    fn taken(kind: ProfileKind, name: &str) -> TakenProfile {
        let files = vec![format!("c1/{name}.folded")];
        let unit = ProfileUnit::CpuNs;
        TakenProfile {
            kind,
            name: name.to_owned(),
            unit,
            total: 1,
            stacks: 1,
            files,
            top: vec![],
            notes: vec![],
        }
    }

    fn cell(id: &str, taken: Vec<TakenProfile>, refused: &[ProfileKind]) -> ProfiledCell {
        let no = |kind: &ProfileKind| RefusedProfile { kind: *kind, why: "w".into(), remedy: "r".into() };
        let refused = refused.iter().map(no).collect();
        ProfiledCell { cell: id.to_owned(), taken, refused, ..ProfiledCell::default() }
    }

    fn made(base: &str, other: &str, name: &str) -> ProfileComparison {
        let file = format!("{name}.svg");
        ProfileComparison { name: name.into(), base: base.into(), cell: other.into(), file, moved: vec![] }
    }

    #[test]
    fn only_what_is_taken_again_is_replaced() {
        let out = tempfile::tempdir().unwrap();
        let file = |name: &str| out.path().join(format!("c1/{name}.folded"));
        std::fs::create_dir(out.path().join("c1")).unwrap();
        for name in ["jfr", "jfr-waits", "perf"] {
            std::fs::write(file(name), "a 1").unwrap();
        }
        let views = vec![taken(ProfileKind::Jfr, "jfr"), taken(ProfileKind::Jfr, "jfr-waits")];
        let mut earlier = Earlier {
            cells: vec![
                cell("c1", views.clone(), &[ProfileKind::Perf]),
                cell("c1", vec![taken(ProfileKind::Perf, "perf")], &[]),
                cell("c2", views, &[]),
            ],
            comparisons: vec![made("c1", "c2", "jfr"), made("c1", "c2", "perf"), made("c2", "c3", "jfr")],
        };
        let jfr = cell("c1", vec![taken(ProfileKind::Jfr, "jfr")], &[ProfileKind::OffCpu]);
        earlier.replace(&jfr, out.path());
        let left: Vec<(&str, usize, usize)> =
            earlier.cells.iter().map(|one| (one.cell.as_str(), one.taken.len(), one.refused.len())).collect();
        assert_eq!(left, [("c1", 0, 1), ("c1", 1, 0), ("c2", 2, 0)]);
        assert_eq!(earlier.comparisons, [made("c1", "c2", "perf"), made("c2", "c3", "jfr")]);
        assert!(file("jfr").exists() && file("perf").exists(), "what is new, and what was not taken again");
        assert!(!file("jfr-waits").exists(), "named by nothing");
        // A kind that could not be taken again keeps what there was.
        earlier.replace(&cell("c1", vec![], &[ProfileKind::Perf]), out.path());
        assert!(earlier.cells.iter().any(|one| one.cell == "c1" && one.taken.len() == 1));
        assert!(earlier.cells.iter().all(|one| one.refused.is_empty()), "{earlier:?}");
    }

    #[test]
    fn a_file_of_another_run_or_none_gives_nothing_and_no_file_outside_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let out = parent.path().join("profiles");
        std::fs::create_dir(&out).unwrap();
        std::fs::write(parent.path().join("kept"), "").unwrap();
        let mut notes = Vec::new();
        let mut note = |text: &str| notes.push(text.to_owned());
        assert_eq!(Earlier::read(&out, Some("r"), &mut note), Earlier::default());
        std::fs::write(out.join("profiles.json"), "[").unwrap();
        assert_eq!(Earlier::read(&out, Some("r"), &mut note), Earlier::default());
        let mut hostile = taken(ProfileKind::Cpu, "cpu");
        hostile.files = vec!["../kept".to_owned()];
        let cells = vec![cell("c1", vec![hostile], &[])];
        let file = ProfilesFile { run: Some("r".to_owned()), cells, ..ProfilesFile::default() };
        std::fs::write(out.join("profiles.json"), serde_json::to_vec(&file).unwrap()).unwrap();
        assert_eq!(Earlier::read(&out, Some("other"), &mut note), Earlier::default());
        let mut earlier = Earlier::read(&out, Some("r"), &mut note);
        earlier.replace(&cell("c1", vec![taken(ProfileKind::Cpu, "cpu")], &[]), &out);
        assert!(notes.len() == 1 && notes[0].contains("not listed any more"), "{notes:?}");
        assert!(earlier.cells.is_empty() && parent.path().join("kept").exists());
    }
}
