//! Profiles of a cell: its target is started as the run did, loaded with the cell's load, and asked by `profile::take`
//! while the load goes on.
//!
//! Invariants: this load is no trial. It has no `trial.json`, stands in no statistics, and comes after the last trial of
//! a run, never between two; the window of every kind lies behind the cell's warm-up; what was changed of the target
//! for it is written down. After it nothing of the target or of a profiler is left.
//! Absent on purpose: reading and drawing profiles (the crate `profile`), and what people see.

mod choose;
mod earlier;
mod files;
mod load;

pub use choose::{Chosen, choose};

use crate::RunnerError;
use crate::bring_up::Prepared;
use crate::environment::{Environment, Outcome};
use crate::observer::Observer;
use crate::workshop::{confine, prepare, project_of, sweep};
use earlier::Earlier;
use files::Shown;
use plan::Context;
use record::{RunFolder, write_json};
use schema::plan::ExperimentPlan;
use schema::profile::{ProfileAt, ProfileKind, ProfilePlan, ProfiledCell, ProfilesFile};
use schema::run::RunFile;
use schema::said;
use schema::said::Said;
use schema::version::ProfilesVersion;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Said wherever these profiles are shown.
#[must_use]
pub fn note() -> Said {
    said!(
        "profile.note",
        "taken under a load of its own, outside all trials: nothing here is a sample of the run or part of its statistics"
    )
}
/// The folder in a run folder.
const FOLDER: &str = "profiles";

/// What is profiled.
#[derive(Debug)]
pub enum Subject {
    /// The cells of a run.
    Run(RunFolder, Box<RunFile>),
    /// An experiment that need not have been run.
    Experiment(Box<ExperimentPlan>, Context),
}

impl Subject {
    /// Its plan.
    #[must_use]
    pub fn plan(&self) -> &ExperimentPlan {
        match self {
            Self::Run(_, run) => &run.plan,
            Self::Experiment(plan, _) => plan,
        }
    }
}

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// The cells, in order.
    pub cells: Vec<Chosen>,
    /// What is taken; what the target gives where empty.
    pub kinds: Vec<ProfileKind>,
    /// Of each kind, whole seconds.
    pub window_ns: u64,
    /// Whether the second cell is drawn against the first.
    pub compares: bool,
    /// Where the files go; in the run folder where absent.
    pub out: Option<PathBuf>,
}

/// Builds, starts and loads the targets of the chosen cells and takes their profiles. Gives the folder, and what was
/// taken now; `profiles.json` also has what earlier calls took of other cells and kinds.
///
/// # Errors
/// A target that cannot be built, started or loaded; a folder that cannot be written. A profile that cannot be taken is
/// among the refused.
pub fn profile(
    subject: &Subject,
    wishes: &Wishes,
    usable_cpus: Vec<u32>,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<(PathBuf, ProfilesFile), RunnerError> {
    // Only what is loaded is built.
    let mut plan = subject.plan().clone();
    plan.cells.retain(|cell| wishes.cells.iter().any(|chosen| chosen.cell == cell.id));
    plan.targets.retain(|target| plan.cells.iter().any(|cell| cell.target == target.name));
    let (context, run, out) = match subject {
        Subject::Run(folder, run) => {
            let context = Context { project: project_of(&plan), usable_cpus, pin: None };
            (context, Some(run.id.clone()), folder.path().join(FOLDER))
        }
        Subject::Experiment(plan, context) => {
            let name = record::run_name(jiff::Timestamp::now(), &plan.name);
            (context.clone(), None, Path::new(FOLDER).join(name))
        }
    };
    let out = wishes.out.clone().unwrap_or(out);
    sweep(observer);
    confine(&plan, observer);
    let workshop = prepare(&plan, &context, environment, observer)?;
    let taken = take_all(&plan, run, wishes, &out, &workshop.targets, environment, observer);
    workshop.services.stop(&out).iter().for_each(|note| observer.note(note));
    taken.map(|file| (out, file))
}

/// Takes what `[profile]` of the experiment asks for, once all trials have ended. That it cannot costs a note: the run
/// has its results.
pub(crate) fn after_trials(
    outcome: &Outcome,
    targets: &BTreeMap<String, Prepared>,
    environment: &Environment,
    observer: &mut dyn Observer,
) {
    if outcome.interrupted {
        return;
    }
    let taken = read_again(outcome).and_then(|(run, wanted)| {
        let Some(wanted) = wanted else { return Ok(None) };
        let wishes = wishes_of(outcome, &run, &wanted)?;
        observer.note(&format!("now come the profiles, {}", note()));
        let out = outcome.folder.path().join(FOLDER);
        take_all(&run.plan, Some(run.id.clone()), &wishes, &out, targets, environment, observer).map(Some)
    });
    match taken {
        Ok(Some(file)) => {
            let count: usize = file.cells.iter().map(|cell| cell.taken.len()).sum();
            for refused in file.cells.iter().flat_map(|cell| &cell.refused) {
                observer.note(&format!(
                    "no profile {}: {}\n  remedy: {}",
                    refused.kind.key(),
                    refused.why,
                    refused.remedy
                ));
            }
            observer.note(&format!("{count} profiles in {}", outcome.folder.path().join(FOLDER).display()));
        }
        Ok(None) => {}
        Err(error) => observer.note(&format!("the profiles could not be taken: {error}")),
    }
}

/// The plan as it is after the last trial: a search adds cells.
fn read_again(outcome: &Outcome) -> Result<(RunFile, Option<ProfilePlan>), RunnerError> {
    let run = outcome.folder.read_run()?;
    let wanted = run.plan.profile.clone().filter(|_| run.plan.soak.is_none());
    Ok((run, wanted))
}

fn wishes_of(outcome: &Outcome, run: &RunFile, wanted: &ProfilePlan) -> Result<Wishes, RunnerError> {
    let cells = match wanted.at {
        ProfileAt::All => choose::all(&run.plan),
        ProfileAt::Knee => {
            let analysis = analyze::analyze(run, &outcome.folder.read_trials(run)?);
            vec![choose(&run.plan, Some(&analysis.capacity), None)?]
        }
    };
    let (kinds, window_ns) = (wanted.kinds.clone(), wanted.window_ns);
    Ok(Wishes { cells, kinds, window_ns, compares: false, out: None })
}

fn take_all(
    plan: &ExperimentPlan,
    run: Option<String>,
    wishes: &Wishes,
    out: &Path,
    targets: &BTreeMap<String, Prepared>,
    environment: &Environment,
    observer: &mut dyn Observer,
) -> Result<ProfilesFile, RunnerError> {
    std::fs::create_dir_all(out).map_err(RunnerError::io("make", out))?;
    let mut earlier = Earlier::read(out, run.as_deref(), &mut |text| observer.note(text));
    let mut file = ProfilesFile {
        schema: ProfilesVersion::default(),
        run,
        note: note(),
        cells: Vec::new(),
        comparisons: Vec::new(),
    };
    let mut shown: Vec<Shown> = Vec::new();
    for chosen in &wishes.cells {
        if environment.stop.load(Ordering::Relaxed) {
            break;
        }
        let (cell, scenario, prepared) = choose::parts(plan, chosen, targets)?;
        let folder = out.join(&cell.id);
        std::fs::create_dir_all(&folder).map_err(RunnerError::io("make", &folder))?;
        let kinds = if wishes.kinds.is_empty() { choose::usual(prepared) } else { wishes.kinds.clone() };
        let keys: Vec<&str> = kinds.iter().map(|kind| kind.key()).collect();
        observer.note(&format!("profiling {} ({}): {}", cell.id, cell.label, keys.join(", ")));
        let under =
            load::Under { plan, cell, scenario, prepared, kinds: &kinds, window_ns: wishes.window_ns };
        let profiled = load::profiled(&under, &folder, environment)?;
        let written = files::write(cell, profiled.results, &folder)?;
        let one = ProfiledCell {
            cell: cell.id.clone(),
            label: cell.label.clone(),
            target: cell.target.clone(),
            chosen: chosen.why.clone(),
            window_ns: wishes.window_ns,
            settings: profiled.settings,
            throughput_per_s: profiled.throughput_per_s,
            failed: profiled.failed,
            taken: written.taken,
            refused: written.refused,
        };
        earlier.replace(&one, out);
        file.cells.push(one);
        shown.push(written.shown);
        // After each cell: a crash loses nothing that was taken.
        write_json(&out.join("profiles.json"), &earlier.and(&file))?;
    }
    if let (true, [base, other, ..], [first, second, ..]) = (wishes.compares, &shown[..], &file.cells[..]) {
        file.comparisons = files::compare((first, base), (second, other), out)?;
        write_json(&out.join("profiles.json"), &earlier.and(&file))?;
    }
    Ok(file)
}

/// The window of each kind in whole seconds.
///
/// # Errors
/// A window that is out of range.
pub fn window_ns(seconds: u64) -> Result<u64, RunnerError> {
    let (least, most) = plan::PROFILE_WINDOWS;
    let ns = seconds.saturating_mul(1_000_000_000);
    if (least.0..=most.0).contains(&ns) {
        return Ok(ns);
    }
    Err(RunnerError::Profile {
        cause: format!("--seconds {seconds} is out of range"),
        remedy: format!("give from {} to {}", least.0 / 1_000_000_000, most.0 / 1_000_000_000),
    })
}
