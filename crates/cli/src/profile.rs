//! `prony profile`: profiles of a cell of a run or of an experiment file, under its load and outside of all trials.

use crate::args::{ProfileArgs, TextOrJson};
use crate::environment::environment;
use crate::progress::RunProgress;
use crate::{exit, output, report_files, screen};
use anyhow::{Context as _, Result, bail};
use plan::Context;
use record::RunFolder;
use runner::profiled::{self, Subject, Wishes, choose};
use schema::capacity::Capacity;
use schema::profile::{ProfiledCell, ProfilesFile};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Functions of each profile on the screen; the files have more.
const SHOWN: usize = 5;

pub(crate) fn profile(args: &ProfileArgs) -> Result<u8> {
    plan::processes::raise_descriptor_limit();
    let usable_cpus = launch::pin::usable_cpus()?;
    let (subject, capacity) = subject(args, &usable_cpus)?;
    let plan = subject.plan();
    let cell = choose(plan, capacity.as_deref(), args.cell.as_deref())?;
    let other = args.compare.as_deref().map(|name| choose(plan, None, Some(name))).transpose()?;
    if other.as_ref().is_some_and(|other| other.cell == cell.cell) {
        bail!(
            "--compare names {}, the cell that it is compared with\n  remedy: name another with --cell or --compare",
            cell.cell
        );
    }
    let wishes = Wishes {
        compares: other.is_some(),
        cells: [cell].into_iter().chain(other).collect(),
        kinds: kinds(args)?,
        window_ns: profiled::window_ns(args.seconds)?,
        out: args.out.clone(),
    };
    let environment = environment(Path::new("runs"), &args.consent, None)?;
    let mut progress = RunProgress::new(screen::is_live());
    let taken = profiled::profile(&subject, &wishes, usable_cpus, &environment, &mut progress);
    progress.finish();
    let (folder, file) = taken?;
    let page = report_with_profiles(&subject, args)?;
    let text = match args.format {
        TextOrJson::Json => schema::json::pretty(&file)?,
        TextOrJson::Text => words(&file, &folder) + &page,
    };
    output::write(None, &text)?;
    if environment.stop.load(Ordering::Relaxed) {
        return Ok(exit::INTERRUPTED);
    }
    let any = file.cells.iter().any(|cell| !cell.taken.is_empty());
    Ok(if any { exit::DONE } else { exit::FAILED })
}

/// Rebuilds the report of the run, in whose folder the profiles now are; the line that names it, or nothing where
/// they are elsewhere.
fn report_with_profiles(subject: &Subject, args: &ProfileArgs) -> Result<String> {
    match (subject, &args.out) {
        (Subject::Run(folder, _), None) => {
            report_files::write_all(folder)?;
            Ok(format!("{}\n", folder.path().join("report.html").display()))
        }
        _ => Ok(String::new()),
    }
}

/// The run or the experiment, and what is known of its knee.
fn subject(args: &ProfileArgs, usable_cpus: &[u32]) -> Result<(Subject, Option<Vec<Capacity>>)> {
    let path = &args.subject;
    if path.is_dir() {
        if args.pin.is_some() {
            bail!("--pin is for an experiment file: a run has its CPU sets\n  remedy: leave it out");
        }
        let folder = RunFolder::open(path)?;
        let run = folder.read_run()?;
        // Computed again: analysis.json may be of an older prony, or missing after an interrupt.
        let capacity = match (&run.plan.capacity, &args.cell) {
            (Some(_), None) => Some(analyze::analyze(&run, &folder.read_trials(&run)?).capacity),
            _ => None,
        };
        return Ok((Subject::Run(folder, Box::new(run)), capacity));
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let context = Context {
        project: plan::project_above(path),
        usable_cpus: usable_cpus.to_vec(),
        pin: args.pin.clone(),
    };
    let plan = plan::experiment(&path.display().to_string(), &text, &context)?;
    Ok((Subject::Experiment(Box::new(plan), context), None))
}

fn kinds(args: &ProfileArgs) -> Result<Vec<schema::profile::ProfileKind>> {
    let mut sorted = args.kinds.clone();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => bail!("--kind names {} twice\n  remedy: name each kind once", twice[0].key()),
        None => Ok(args.kinds.clone()),
    }
}

fn words(file: &ProfilesFile, folder: &Path) -> String {
    let mut text = format!("{}\n", file.note);
    for cell in &file.cells {
        text += &cell_words(cell, folder);
    }
    for comparison in &file.comparisons {
        let _ = writeln!(
            text,
            "\n{}: {} against {}  {}",
            comparison.name,
            comparison.cell,
            comparison.base,
            folder.join(&comparison.file).display()
        );
        for one in comparison.moved.iter().take(SHOWN) {
            let _ = writeln!(
                text,
                "  {:>6.2} % → {:>6.2} %  {}",
                one.base_share * 100.0,
                one.share * 100.0,
                one.function
            );
        }
    }
    let _ = writeln!(text, "\n{}", folder.join("profiles.json").display());
    text
}

fn cell_words(cell: &ProfiledCell, folder: &Path) -> String {
    let mut text = format!("\n{} {} ({})\n", cell.cell, cell.label, cell.chosen);
    if let Some(rate) = cell.throughput_per_s {
        let _ = writeln!(
            text,
            "  meanwhile {rate:.0} answers per second, {} requests failed; slowed down by the profilers",
            cell.failed
        );
    }
    for (name, value) in &cell.settings {
        let _ = writeln!(text, "  set for it: {name} = {value}");
    }
    for profile in &cell.taken {
        let svg = profile.files.iter().find(|file| file.ends_with(".svg")).or(profile.files.last());
        let shown = svg.map_or_else(String::new, |file| folder.join(file).display().to_string());
        let _ = writeln!(
            text,
            "\n  {:<14} {} {} in {} stacks  {shown}",
            profile.name,
            profile.total,
            profile.unit.words(),
            profile.stacks
        );
        for one in profile.top.iter().take(SHOWN) {
            let _ = writeln!(
                text,
                "    {:>6.2} % own {:>6.2} % with callees  {}",
                one.flat_share * 100.0,
                one.cumulative_share * 100.0,
                one.function
            );
        }
        profile.notes.iter().for_each(|note| _ = writeln!(text, "    note: {note}"));
    }
    for refused in &cell.refused {
        let _ =
            writeln!(text, "\n  no {}: {}\n    remedy: {}", refused.kind.key(), refused.why, refused.remedy);
    }
    text
}
