//! `prony why` and `prony intervene`: what held a target back, and the experiment that tells whether it is so.

use crate::args::{InterveneArgs, TextOrJson, WhyArgs};
use crate::environment::environment;
use crate::progress::RunProgress;
use crate::{calibrate, exit, output, report_files, screen};
use anyhow::{Context as _, Result, bail};
use plan::Context;
use record::RunFolder;
use runner::intervene;
use schema::finding::{CellWhy, Finding, FindingSeverity, WhyFile};
use schema::intervention::InterventionVerdict;
use schema::run::RunFile;
use schema::spans::SpansFile;
use schema::text::nearest;
use std::path::Path;

pub(crate) fn why(args: &WhyArgs) -> Result<u8> {
    let folder = RunFolder::open(&args.run)?;
    let spans = match &args.spans {
        Some(file) => Some(joined(&folder, file)?),
        None => record::joined_spans(&folder)?,
    };
    let (run, analysis) = match args.spans {
        // The report of the run shows them from now on.
        Some(_) => report_files::write_all(&folder)?,
        None => record::analysed(&folder)?,
    };
    let cells = match &args.cell {
        Some(wanted) => vec![chosen(&analysis.why, wanted)?.clone()],
        None => analysis.why,
    };
    let found = WhyFile { schema: Default::default(), run: run.id, cells, spans };
    let text = match args.format {
        TextOrJson::Json => schema::json::pretty(&found)?,
        TextOrJson::Text => {
            report::why_text(&found, &args.run.display().to_string(), args.all, screen::style())
        }
    };
    output::write(None, &text)?;
    Ok(exit::DONE)
}

pub(crate) fn intervene(args: &InterveneArgs) -> Result<u8> {
    let (run, cells) = findings(&args.run)?;
    let finding = tried(&cells, args)?;
    let (plan, intervention) = intervene::plan(&run, finding, args.blocks)?;
    if !args.go {
        if args.format == TextOrJson::Json {
            output::write(None, &schema::json::pretty(&plan)?)?;
        } else {
            let (prediction, run) = (intervene::predicted(&intervention), args.run.display().to_string());
            let size = (plan.order.len(), args.blocks);
            let text = report::intervention_proposal(
                finding,
                &intervention,
                &prediction,
                size,
                &run,
                screen::style(),
            );
            output::write(None, &text)?;
        }
        return Ok(exit::DONE);
    }
    plan::processes::raise_descriptor_limit();
    let usable_cpus = launch::pin::usable_cpus()?;
    let limit = calibrate::limit_of_plan(&plan, &usable_cpus);
    let environment = environment(&args.runs, &args.consent, limit)?;
    let context = Context { project: runner::project_of(&plan), usable_cpus, pin: None };
    let mut progress = RunProgress::new(screen::is_live());
    let outcome = runner::run(plan, "", &context, &environment, &mut progress);
    progress.finish();
    let outcome = outcome?;
    let (tried_run, analysis) = report_files::write_all(&outcome.folder)?;
    if outcome.interrupted {
        crate::output::say!(
            "interrupted before there was an answer; the files so far are in {}",
            outcome.folder.path().display()
        );
        return Ok(exit::INTERRUPTED);
    }
    let answer = intervene::answer(&run, &tried_run, finding, intervention, &analysis);
    let asked = RunFolder::open(&args.run)?;
    record::keep_answer(&asked, &answer)?;
    // The report of the run that was asked about says it too.
    report_files::write_all(&asked)?;
    let text = match args.format {
        TextOrJson::Json => schema::json::pretty(&answer)?,
        TextOrJson::Text => {
            let page = outcome.folder.path().join("report.html").display().to_string();
            report::intervention_text(&answer, &page, screen::style())
        }
    };
    output::write(None, &text)?;
    Ok(match answer.verdict {
        InterventionVerdict::Holds => exit::DONE,
        InterventionVerdict::DoesNotHold => exit::CLAIM,
        InterventionVerdict::Inconclusive => exit::FAILED,
    })
}

/// The target's spans of a run's slow requests.
fn joined(folder: &RunFolder, file: &Path) -> Result<SpansFile> {
    let run = folder.read_run()?;
    if !run.plan.cells.iter().any(|cell| cell.load.trace.is_some()) {
        bail!(
            "the requests of this run carried no traces\n  remedy: run it with trace = \"1%\" under [load]"
        );
    }
    let spans = record::join_spans(folder, &run, file)?;
    if spans.lines > 0 && spans.lines == spans.lines_skipped {
        bail!(
            "{} has no traces of OpenTelemetry\n  remedy: give the file of a collector's file exporter, in JSON lines and without compression",
            file.display()
        );
    }
    Ok(spans)
}

/// The findings of a run, with what interventions have shown since.
fn findings(folder: &Path) -> Result<(RunFile, Vec<CellWhy>)> {
    let (run, analysis) = record::analysed(&RunFolder::open(folder)?)?;
    Ok((run, analysis.why))
}

fn chosen<'a>(cells: &'a [CellWhy], wanted: &str) -> Result<&'a CellWhy> {
    if let Some(cell) = cells.iter().find(|cell| cell.cell == wanted || cell.label == wanted) {
        return Ok(cell);
    }
    let names: Vec<String> = cells.iter().map(|cell| format!("{} ({})", cell.cell, cell.label)).collect();
    match nearest(wanted, cells.iter().map(|cell| cell.cell.as_str())) {
        Some(near) => {
            bail!("there is no cell `{wanted}`; did you mean `{near}`? The cells are: {}", names.join(", "))
        }
        None => bail!("there is no cell `{wanted}`\n  remedy: name one of: {}", names.join(", ")),
    }
}

/// The finding to try: as asked for, or the worst one that names an experiment.
fn tried<'a>(cells: &'a [CellWhy], args: &InterveneArgs) -> Result<&'a Finding> {
    let cells: Vec<&CellWhy> = match &args.cell {
        Some(wanted) => vec![chosen(cells, wanted)?],
        None => cells.iter().collect(),
    };
    let all = || cells.iter().flat_map(|cell| &cell.findings);
    if let Some(cause) = &args.cause {
        let found = all().find(|finding| finding.cause.key() == *cause);
        let names: Vec<String> = all().map(|finding| finding.cause.key()).collect();
        return found.with_context(|| {
            format!("there is no finding `{cause}`\n  remedy: name one of: {}", names.join(", "))
        });
    }
    let worth = || all().filter(|finding| finding.severity > FindingSeverity::Low);
    let found =
        worth().filter(|finding| finding.intervention.is_some()).max_by_key(|finding| finding.severity);
    found
        .or_else(|| worth().next())
        .context("nothing was found that could be tried; `prony why` tells what was looked at")
}
