//! Versions that a run depends on, for `run.json`.

use std::collections::BTreeMap;

/// prony's own version, the kernel and the host's architecture.
#[must_use]
pub fn host() -> BTreeMap<String, String> {
    let system = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    BTreeMap::from([
        ("prony".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("kernel".to_owned(), format!("{} {}", text(system.sysname()), text(system.release()))),
        ("machine".to_owned(), text(system.machine())),
    ])
}
