//! `prony.page/3` from a run folder: what the report's page and the lab show beyond `run.json` and `analysis.json`.
//!
//! Invariants: everything is bounded, however long the run was; what of a trial or a profile is damaged or missing
//! costs that part and is said in a sentence, never the page; files that a run folder names are read only within it.
//! Absent on purpose: layout, escaping and language (report and the page itself), and new statistics (analyze).

mod detail;
mod profiles;

use crate::RecordError;
use crate::folder::RunFolder;
use analyze::Surroundings;
use schema::analysis::AnalysisFile;
use schema::environment::EnvironmentDiff;
use schema::page::{PageFile, PageLanguage, TrialDetail};
use schema::run::RunFile;
use schema::said;
use schema::said::Said;
use schema::version::PageVersion;
use std::collections::{BTreeMap, BTreeSet};

/// Most bytes of JSON that details of trials may take within a page.
const DETAILS_BYTES_MAX: usize = 6_000_000;

/// What of a page is chosen.
#[derive(Clone, Debug, Default)]
pub struct PageWishes {
    /// In which language it opens.
    pub lang: PageLanguage,
    /// The run whose environment is compared with this one's.
    pub against: Option<RunFile>,
}

/// Everything that a page shows of a run.
#[must_use]
pub fn page(folder: &RunFolder, run: RunFile, analysis: AnalysisFile, wishes: &PageWishes) -> PageFile {
    let (details, details_left_out) = details(folder, &run, &analysis, DETAILS_BYTES_MAX);
    let profiles = profiles::read(folder.path());
    let environment_difference = wishes.against.as_ref().map(|other| difference(&run, other));
    PageFile {
        schema: PageVersion::default(),
        prony: env!("CARGO_PKG_VERSION").to_owned(),
        lang: wishes.lang,
        run,
        analysis,
        details,
        details_left_out,
        profiles: profiles.profiles,
        profiles_note: profiles.note,
        profiles_refused: profiles.refused,
        environment_difference,
    }
}

/// The details of one trial, for the lab.
///
/// # Errors
/// A trial that is not of the plan, or has not ended.
pub fn trial(folder: &RunFolder, run: &RunFile, id: u32) -> Result<TrialDetail, RecordError> {
    let is_planned = run.plan.order.iter().any(|trial| trial.id == id);
    let trial = folder.trial(id);
    match is_planned && trial.has_ended() {
        true => Ok(detail::read(&trial, run, id)),
        false => Err(RecordError::NoTrial { run: run.id.clone(), trial: id }),
    }
}

fn difference(run: &RunFile, other: &RunFile) -> EnvironmentDiff {
    analyze::environment_diff(surroundings(run), surroundings(other))
}

fn surroundings(run: &RunFile) -> Surroundings<'_> {
    Surroundings { name: &run.id, host: &run.environment, versions: &run.versions }
}

/// All trials where they fit into `bytes_max`, else those that stand for their cells, as many as fit.
fn details(
    folder: &RunFolder,
    run: &RunFile,
    analysis: &AnalysisFile,
    bytes_max: usize,
) -> (Vec<TrialDetail>, Option<Said>) {
    let all: Vec<u32> = analysis.trials.iter().map(|trial| trial.id).collect();
    let mut read = Read { folder, run, bytes_max, bytes: 0, details: BTreeMap::new() };
    let first = analyze::shown_first(analysis);
    // Those that are kept in any case come first; nothing is read twice.
    let fit = first.iter().take_while(|id| read.fits(**id)).count();
    let rest: Vec<u32> = all.iter().copied().filter(|id| !first.contains(id)).collect();
    let have_all = fit == first.len() && rest.iter().all(|id| read.fits(*id));
    if !have_all {
        let kept: BTreeSet<u32> = first[..fit].iter().copied().collect();
        read.details.retain(|id, _| kept.contains(id));
    }
    let left = all.len() - read.details.len();
    let left_out = (left > 0).then(|| {
        let as_many = if fit < first.len() {
            said!("missing.as_many_cells", ", of as many cells as fit")
        } else {
            Said::default()
        };
        said!(
            "missing.details",
            "{left} of {all} trials have no details here, to keep the page small: it shows the middle valid trial of each \
             cell{as_many}; trials/ of the run folder has the others",
            left,
            all = all.len(),
            as_many
        )
    });
    (read.details.into_values().collect(), left_out)
}

/// Details that were read, and how long they are as JSON.
struct Read<'a> {
    folder: &'a RunFolder,
    run: &'a RunFile,
    bytes_max: usize,
    bytes: usize,
    details: BTreeMap<u32, TrialDetail>,
}

impl Read<'_> {
    /// Reads one more; false where there is no room for it.
    fn fits(&mut self, id: u32) -> bool {
        let detail = detail::read(&self.folder.trial(id), self.run, id);
        self.bytes += serde_json::to_vec(&detail).map_or(0, |text| text.len());
        if self.bytes > self.bytes_max {
            return false;
        }
        self.details.insert(id, detail);
        true
    }
}

#[cfg(test)]
mod tests;
