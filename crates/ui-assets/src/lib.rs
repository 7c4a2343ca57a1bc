//! The front end of `ui/` as it was built before prony was: the page of a run, and the files of the lab.
//!
//! Invariants: a prony that was built without them is whole but for them, and says so with [`REMEDY`]; nothing here is
//! read at run time.
//! Absent on purpose: building them (`make ui`), serving them (`serve`), and putting data in (`report`).

mod files {
    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}

/// What to do where they are absent.
pub const REMEDY: &str = "install Node.js 20 or later, run `make ui`, and build prony again";

/// The page of a run, with a place for its data; absent where it was not built.
pub const REPORT: Option<&str> = files::REPORT;

/// The files of the lab by their path below its root, in order; none where it was not built.
pub const LAB: &[(&str, &[u8])] = files::LAB;

/// The file of the lab at `path`, for example `index.html`.
#[must_use]
pub fn lab(path: &str) -> Option<&'static [u8]> {
    let at = LAB.binary_search_by(|(name, _)| (*name).cmp(path)).ok()?;
    Some(LAB[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_embedded_can_be_found() {
        assert!(LAB.is_sorted());
        for (name, bytes) in LAB {
            assert_eq!(lab(name), Some(*bytes));
            assert!(!name.starts_with('/') && !name.contains(".."), "{name}");
        }
        assert_eq!(lab("../report.html"), None);
        if lab("index.html").is_none() || REPORT.is_none() {
            println!("the front end is not embedded: {REMEDY}");
        }
    }
}
