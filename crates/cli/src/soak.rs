//! `prony soak`: one cell for hours, its live verdict, and its end.

use crate::alarms::{self, Alarms};
use crate::args::{SoakArgs, TextOrJson};
use crate::environment::environment;
use crate::monitor::Monitor;
use crate::run::{after_alarms, print_plan, watch};
use crate::soak_progress::SoakProgress;
use crate::{calibrate, exit, fleet, output, report_files, screen};
use anyhow::{Context as _, Result};
use plan::Context;
use record::RunFolder;
use runner::Outcome;
use runner::soak::windows::soak_plan;
use schema::analysis::AnalysisFile;
use schema::plan::ExperimentPlan;
use std::path::Path;

pub(crate) fn soak(args: &SoakArgs) -> Result<u8> {
    plan::processes::raise_descriptor_limit();
    let usable_cpus = launch::pin::usable_cpus()?;
    if args.dry_run {
        return dry_run(args, usable_cpus);
    }
    let mut progress = SoakProgress::new(screen::is_live());
    let runs = args.resume.as_deref().and_then(Path::parent).unwrap_or(&args.runs);
    let mut monitor = Monitor::begin(&args.monitor, &args.consent, runs)?;
    let (outcome, alarms, environment) = match &args.resume {
        Some(folder) => {
            let environment = environment(&args.runs, &args.consent, None)?;
            let mut watched = RunFolder::open(folder)?.read_run()?.plan.alarms;
            watched.extend(alarms::of_flags(&args.alarms)?);
            let alarms = watch(&args.alarms, &watched, runs, &environment)?;
            let outcome = runner::soak::resume(folder, usable_cpus, &environment, &mut progress);
            (outcome, alarms, environment)
        }
        None => {
            let (plan, text, context) = plan(args, usable_cpus)?;
            let limit = calibrate::limit_of_plan(&plan, &context.usable_cpus);
            let environment = environment(&args.runs, &args.consent, limit)?;
            let alarms = watch(&args.alarms, &plan.alarms, runs, &environment)?;
            let outcome = runner::run(plan, &text, &context, &environment, &mut progress);
            (outcome, alarms, environment)
        }
    };
    progress.finish();
    alarms.map(Alarms::end);
    let outcome = outcome?;
    monitor.end(outcome.folder.path());
    Ok(after_alarms(finish(&outcome, args.format)?, &environment))
}

fn dry_run(args: &SoakArgs, usable_cpus: Vec<u32>) -> Result<u8> {
    let (plan, _, context) = plan(args, usable_cpus)?;
    print_plan(
        &plan,
        calibrate::limit_of_plan(&plan, &context.usable_cpus).as_ref(),
        (args.format, &args.runs),
    )?;
    Ok(exit::DONE)
}

/// The plan of a new soak, with the experiment's text and the context that it was resolved in.
fn plan(args: &SoakArgs, usable_cpus: Vec<u32>) -> Result<(ExperimentPlan, String, Context)> {
    let file = args.file.as_deref().unwrap_or(Path::new(""));
    let length = args.time.context("how long? add --for, for example --for 8h")?;
    let windows = soak_plan(length, args.window, args.horizon, args.stop_when)?;
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let context = Context { project: plan::project_above(file), usable_cpus, pin: args.pin.clone() };
    let experiment = plan::experiment(&file.display().to_string(), &text, &context)?;
    let (claims, events) = (experiment.claims.len(), experiment.events.len());
    let mut plan = runner::soak::plan(experiment, args.cell.as_deref(), windows)?;
    if plan.claims.len() < claims || events > 0 {
        crate::output::say!(
            "note: events, and claims other than that this target leaks nothing, are left out of a soak"
        );
    }
    fleet::enlist_all(&mut plan, args.fleet.as_deref())?;
    plan.alarms.extend(alarms::of_flags(&args.alarms)?);
    Ok((plan, text, context))
}

/// Reports what there is, also after an interrupt.
fn finish(outcome: &Outcome, format: TextOrJson) -> Result<u8> {
    let (run, analysis) = report_files::write_all(&outcome.folder)?;
    let path = outcome.folder.path();
    match format {
        TextOrJson::Json => {
            output::write(None, &schema::json::pretty(&analysis.soak)?)?;
        }
        TextOrJson::Text => {
            output::write(None, &report::terminal(&run, &analysis, screen::style()))?;
            output::write(None, &format!("{}\n", path.join("report.html").display()))?;
        }
    }
    if outcome.interrupted {
        crate::output::say!(
            "interrupted; go on in a new segment with\n  prony soak --resume {}",
            path.display()
        );
        return Ok(exit::INTERRUPTED);
    }
    Ok(code(outcome, &analysis))
}

/// A leak comes first: a target that ended because of it did not fail for another reason.
fn code(outcome: &Outcome, analysis: &AnalysisFile) -> u8 {
    let failed = outcome.failed > 0 || outcome.ended == 0;
    match (report_files::leaks(analysis), failed) {
        (false, true) => exit::FAILED,
        _ => report_files::run_code(analysis),
    }
}
