//! A run folder and everything that can be said of it now: what `prony report`, `prony run` and the lab all show.

use crate::RecordError;
use crate::folder::RunFolder;
use schema::analysis::AnalysisFile;
use schema::run::RunFile;

/// How many times as long as such a look took whoever looks at a run in progress waits until the next.
pub const REST: u32 = 20;

/// Reads a run folder and analyses what has ended of it.
///
/// # Errors
/// Its files cannot be read.
pub fn analysed(folder: &RunFolder) -> Result<(RunFile, AnalysisFile), RecordError> {
    let run = folder.read_run()?;
    let trials = folder.read_trials(&run)?;
    let mut analysis = analyze::analyze(&run, &trials);
    if run.plan.soak.is_some() {
        let segments = crate::segments::read(folder, &run)?;
        analysis = analyze::with_soak(analysis, analyze::soak(&run, &segments));
    }
    crate::answers::mark(folder.path(), &mut analysis);
    crate::spans::show(folder, &mut analysis);
    Ok((run, analysis))
}
