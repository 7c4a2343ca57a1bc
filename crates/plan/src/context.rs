//! What resolution needs to know beside the file.

use std::path::{Path, PathBuf};

/// What resolution needs to know besides the file.
#[derive(Clone, Debug)]
pub struct Context {
    /// The folder that holds `targets/` and `scenarios/`.
    pub project: PathBuf,
    /// CPUs that this process may use.
    pub usable_cpus: Vec<u32>,
    /// CPU sets given on the command line, over those of the file.
    pub pin: Option<String>,
}

/// The folder that holds `targets/` or `scenarios/`: the nearest above `file`, else the current one.
#[must_use]
pub fn project_above(file: &Path) -> PathBuf {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let holds = |folder: &&Path| folder.join("targets").is_dir() || folder.join("scenarios").is_dir();
    absolute.ancestors().skip(1).find(holds).map_or_else(|| PathBuf::from("."), Path::to_owned)
}
