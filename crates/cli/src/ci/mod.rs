//! `prony ci`: whether a commit is worse than another, by running both in turns on this host.
//!
//! Others compare a run with numbers that another machine stored on another day; here both commits share host, hour and
//! order of trials. `git` checks them out, `experiment` makes the experiment, `answer` reads the verdict from its analysis.

mod answer;
mod experiment;
mod git;

use crate::alarms::{self, Alarms};
use crate::args::{CiArgs, CiFormat};
use crate::environment::environment;
use crate::progress::RunProgress;
use crate::{calibrate, exit, output, report_files, run, screen};
use anyhow::{Context as _, Result, bail};
use experiment::{Source, Wishes, made};
use git::{Repository, Trees};
use plan::Context;
use runner::Outcome;
use schema::ci::CiCommit;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The experiment file of a repository, unless another is named.
const FILE: &str = "prony-ci.toml";
/// The answer, in the run folder.
const ANSWER: &str = "ci.json";

pub(crate) fn ci(args: &CiArgs) -> Result<u8> {
    plan::processes::raise_descriptor_limit();
    let usable_cpus = launch::pin::usable_cpus()?;
    // A mistake in a name shows before the run, not after it.
    for file in [&args.comment, &args.summary, &args.junit].into_iter().flatten() {
        output::check(file)?;
    }
    // From here on Ctrl-C ends the run cleanly, and with it the trees.
    let mut environment = environment(&args.runs, &args.consent, None)?;
    let repository = Repository::here()?;
    let (base, head) = (repository.commit(&args.base)?, repository.commit(&args.head)?);
    if base.commit == head.commit {
        output::say!("note: {} and {} are one commit: whatever differs is noise", args.base, args.head);
    }
    if args.head == "HEAD" && repository.is_changed() {
        output::say!("note: changes that are not committed are not in {}", args.head);
    }
    let trees = Trees::make(&repository, &base, &head)?;
    let file = file(args, &repository, &trees.head())?;
    let context = Context { project: trees.head().join(&file.project), usable_cpus, pin: args.pin.clone() };
    let question = format!("Is {} worse than {}?", named(&head), named(&base));
    let source = Source {
        name: &file.name,
        text: &file.text,
        project: &file.project,
        base: &trees.base(),
        head: &trees.head(),
        question: &question,
    };
    let wishes =
        Wishes { metrics: &args.metric, margin: args.margin.map(|margin| margin.0), budget: args.budget };
    let (text, mut plan) = made(&source, wishes, &context)?;
    if args.dry_run {
        output::write(None, &text)?;
        return Ok(exit::DONE);
    }
    environment.calibration = calibrate::limit_of_plan(&plan, &context.usable_cpus);
    plan.alarms.extend(alarms::of_flags(&args.alarms)?);
    let alarms = run::watch(&args.alarms, &plan.alarms, &args.runs, &environment)?;
    let mut progress = RunProgress::new(screen::is_live());
    let outcome = runner::run(plan, &text, &context, &environment, &mut progress);
    progress.finish();
    alarms.map(Alarms::end);
    let code = finish(args, &outcome?, base, head)?;
    Ok(run::after_alarms(code, &environment))
}

/// `HEAD (1a2b3c4d5e6f)`.
fn named(commit: &CiCommit) -> String {
    format!("{} ({})", commit.reference, commit.commit.get(..12).unwrap_or(&commit.commit))
}

/// An experiment file that was read.
struct Found {
    name: String,
    text: String,
    /// The project within a tree; empty for its root.
    project: PathBuf,
}

/// The file as head has it; else as it is on disk.
fn file(args: &CiArgs, repository: &Repository, head: &Path) -> Result<Found> {
    let named = args.file.as_deref();
    let on_disk = named.map_or_else(|| repository.top().join(FILE), Path::to_owned);
    let name = named.unwrap_or(Path::new(FILE)).display().to_string();
    let in_head = within(&on_disk, repository.top()).map(|within| head.join(within));
    if let Some(in_head) = in_head.filter(|file| file.is_file()) {
        let text = read(&in_head)?;
        let project = plan::project_above(&in_head);
        let project = project.strip_prefix(head).map(Path::to_owned).unwrap_or_default();
        return Ok(Found { name, text, project });
    }
    if !on_disk.is_file() {
        bail!(
            "there is no {name} in {}, nor on disk\n  remedy: write an experiment with one target that is built from the \
             repository; docs/guides/ci.md has one to begin with",
            args.head
        );
    }
    output::say!("note: {name} is not in {}: taken as it is on disk", args.head);
    Ok(Found { name, text: read(&on_disk)?, project: PathBuf::new() })
}

/// Where a file is in the repository, whose path has no links; it need not be there, but its folder must.
fn within(file: &Path, top: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(file).ok()?.parent()?.canonicalize().ok()?;
    Some(folder.strip_prefix(top).ok()?.join(file.file_name()?))
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// Writes the answer wherever it is wanted; also after an interrupt, with what there is.
fn finish(args: &CiArgs, outcome: &Outcome, base: CiCommit, head: CiCommit) -> Result<u8> {
    let (run, analysis) = record::analysed(&outcome.folder)?;
    let answer = answer::answer(&run.plan.name, &analysis, base, head);
    let text = match args.format {
        CiFormat::Json => schema::json::pretty(&answer)?,
        CiFormat::Markdown => report::ci_markdown(&answer),
        CiFormat::Text => {
            report::ci_text(&answer, &outcome.folder.path().display().to_string(), screen::style())
        }
    };
    let printed = output::write(None, &text);
    report_files::write_files(&outcome.folder, &run, &analysis)?;
    outcome.folder.write_json(ANSWER, &answer)?;
    report_files::write_junit(args.junit.as_deref(), &run, &analysis)?;
    if let Some(file) = &args.comment {
        output::write(Some(file), &report::ci_markdown(&answer))?;
    }
    if let Some(file) = &args.summary {
        append(file, &report::ci_markdown(&answer))?;
    }
    printed?;
    if outcome.interrupted {
        output::say!("interrupted: what there is is in {}", outcome.folder.path().display());
        return Ok(exit::INTERRUPTED);
    }
    if report_files::is_unhealthy(&analysis) {
        output::say!("a threshold was crossed, or never read: the report has which");
    }
    Ok(answer::exit_code(&answer, &analysis, outcome.failed > 0, args.strict))
}

fn append(file: &Path, text: &str) -> Result<()> {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {}", file.display()))
}
