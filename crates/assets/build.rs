//! Looks for `ui/dist` and packs what is there: the page of a run, and the files of the lab; packs `docs/schemas`, too.
//!
//! Invariants: nothing is built here, because a build must not need Node; what is embedded is what `make ui` and
//! `make schemas` made, packed by zlib (a third of the size); the files are in the order of their names, so that equal
//! files give an equal binary. A page without the place for its data is left out with a warning.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where the data goes, within an element of the id `prony-page`. The same text stands in `report::page_html`.
const PLACE: &str = "__PRONY_PAGE__";
/// Folders within the lab.
const DEPTH_MAX: usize = 4;

fn main() {
    let ui = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../ui");
    let dist = ui.join("dist");
    // Cargo takes a path that is not there for changed each time; so its parent is watched until it is.
    let watched = if dist.is_dir() { &dist } else { &ui };
    println!("cargo:rerun-if-changed=build.rs");
    if watched.is_dir() {
        println!("cargo:rerun-if-changed={}", watched.display());
    }
    let mut files = Vec::new();
    collect(&dist.join("lab"), "", DEPTH_MAX, &mut files);
    files.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let report = match report(&dist.join("report.html")) {
        Some(text) => format!("Some({})", packed(text.as_bytes(), &out.join("report"))),
        None => "None".to_owned(),
    };
    let mut code = format!("pub(crate) const REPORT: Option<&[u8]> = {report};\n");
    code += &list("LAB", &files, &out);
    code += &list("SCHEMAS", &schemas(&ui.join("../docs/schemas")), &out);
    fs::write(out.join("files.rs"), code).expect("cargo's own folder can be written to");
}

/// The formats by their names, which are those of the files without their ending.
fn schemas(folder: &Path) -> Vec<(String, PathBuf)> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(folder, "", 0, &mut files);
    let of = |(name, path): (String, PathBuf)| Some((name.strip_suffix(".schema.json")?.to_owned(), path));
    let mut formats: Vec<_> = files.into_iter().filter_map(of).collect();
    formats.sort();
    formats
}

/// A constant of Rust that holds `files`, packed, by their names.
fn list(constant: &str, files: &[(String, PathBuf)], out: &Path) -> String {
    let mut code = format!("pub(crate) const {constant}: &[(&str, &[u8])] = &[\n");
    for (place, (name, path)) in files.iter().enumerate() {
        let bytes = fs::read(path).expect("what was listed can be read");
        let _ =
            writeln!(code, "    ({name:?}, {}),", packed(&bytes, &out.join(format!("{constant}-{place}"))));
    }
    code + "];\n"
}

/// Writes `bytes` to `file` by zlib, and names it in Rust.
fn packed(bytes: &[u8], file: &Path) -> String {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes).expect("memory takes everything");
    let packed = packer.finish().expect("memory takes everything");
    fs::write(file, packed).expect("cargo's own folder can be written to");
    format!("include_bytes!({:?})", file.display().to_string())
}

fn report(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let has_place = text.split_once(PLACE).is_some_and(|(before, after)| {
        before.trim_end().ends_with("id=\"prony-page\">") && after.trim_start().starts_with("</script>")
    });
    if !has_place {
        println!("cargo:warning=ui/dist/report.html has no place for the data; run `make ui` again");
    }
    has_place.then_some(text)
}

/// Every file below by its name with `/`; source maps are for those who have the sources.
fn collect(folder: &Path, prefix: &str, depth: usize, files: &mut Vec<(String, PathBuf)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let (path, name) = (entry.path(), format!("{prefix}{name}"));
        if path.is_dir() && depth > 0 {
            collect(&path, &format!("{name}/"), depth - 1, files);
        } else if path.is_file() && !name.ends_with(".map") {
            files.push((name, path));
        }
    }
}
