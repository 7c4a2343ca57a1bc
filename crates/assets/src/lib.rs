//! What was made before prony is built: the page of a run and the files of the lab, of `ui/`, and the JSON Schemas of
//! `docs/schemas`.
//!
//! Invariants: a prony that was built without the front end is whole but for it, and says so with [`REMEDY`]; nothing is
//! read from disk at run time. All is packed in the binary; page and lab are unpacked once, when they are first asked for.
//! Absent on purpose: making them (`make ui`; `make schemas`, by the types of `schema`), serving them (`serve`), and
//! putting data in (`report`).

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

/// The names of all file formats, in order.
pub fn formats() -> impl Iterator<Item = &'static str> {
    files::SCHEMAS.iter().map(|(name, _)| *name)
}

/// The JSON Schema of a format of [`formats`], as text; absent for other names.
#[must_use]
pub fn schema(format: &str) -> Option<String> {
    let (_, packed) = files::SCHEMAS.iter().find(|(name, _)| *name == format)?;
    Some(String::from_utf8(unpacked(packed)).expect("it was a string before it was packed"))
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
    fn schemas_are_those_of_the_documents() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
        for format in formats() {
            let file = folder.join(format!("{format}.schema.json"));
            assert_eq!(std::fs::read_to_string(file).unwrap(), schema(format).unwrap(), "{format}");
        }
        assert!(formats().is_sorted());
        assert_eq!(formats().count(), std::fs::read_dir(folder).unwrap().count());
        assert_eq!(schema("no such format"), None);
    }

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
