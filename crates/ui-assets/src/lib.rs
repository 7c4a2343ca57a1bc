//! The front end of `ui/` as it was built before prony was: the page of a run, and the files of the lab.
//!
//! Invariants: a prony that was built without them is whole but for them, and says so with [`REMEDY`]; nothing is read
//! from disk at run time. They are packed in the binary, and unpacked once, when they are first asked for.
//! Absent on purpose: building them (`make ui`), serving them (`serve`), and putting data in (`report`).

use flate2::read::ZlibDecoder;
use std::io::Read as _;
use std::sync::OnceLock;

mod files {
    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}

/// What to do where they are absent.
pub const REMEDY: &str = "install Node.js 20 or later, run `make ui`, and build prony again";

/// The page of a run, with a place for its data; absent where it was not built.
#[must_use]
pub fn report() -> Option<&'static str> {
    static PAGE: OnceLock<Option<String>> = OnceLock::new();
    let page = PAGE.get_or_init(|| {
        files::REPORT
            .map(|packed| String::from_utf8(unpacked(packed)).expect("it was a string before it was packed"))
    });
    page.as_deref()
}

/// The files of the lab by their path below its root, in order; none where it was not built.
#[must_use]
pub fn lab() -> &'static [(&'static str, &'static [u8])] {
    static FILES: OnceLock<Vec<(&str, &[u8])>> = OnceLock::new();
    FILES.get_or_init(|| files::LAB.iter().map(|(name, packed)| (*name, &*unpacked(packed).leak())).collect())
}

/// Of bytes that the build script packed.
fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(packed).read_to_end(&mut bytes).expect("the build script packed it");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_embedded_is_what_was_built() {
        let lab = lab();
        assert!(lab.is_sorted());
        let dist = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/dist");
        for (name, bytes) in lab {
            assert!(!name.starts_with('/') && !name.contains(".."), "{name}");
            assert_eq!(std::fs::read(dist.join("lab").join(name)).unwrap(), *bytes, "{name}");
        }
        if let Some(page) = report() {
            assert_eq!(std::fs::read_to_string(dist.join("report.html")).unwrap(), page);
        }
        if lab.is_empty() || report().is_none() {
            println!("the front end is not embedded: {REMEDY}");
        }
    }
}
