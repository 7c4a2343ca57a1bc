//! Where prony keeps what outlives a run and belongs to the user and this host.

use std::path::PathBuf;

/// `$XDG_STATE_HOME/prony/PART`, else `~/.local/state/prony/PART` (XDG Base Directory Specification: a path that is not
/// absolute is ignored). `None` where neither is set.
#[must_use]
pub fn folder(part: &str) -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state =
        absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("prony").join(part))
}
