//! `prony run`: a whole experiment, its resumption, or only its plan.

use crate::args::{RunArgs, TextOrJson};
use crate::environment::environment;
use crate::progress::RunProgress;
use crate::{calibrate, exit, output, report_files, screen, tuning};
use anyhow::{Context as _, Result};
use plan::Context;
use record::history;
use runner::Outcome;
use schema::analysis::AnalysisFile;
use schema::calibration::CalibrationSummary;
use schema::plan::{ExperimentPlan, LoadPlan, PhasePlan, TargetSource};
use schema::trial::TrialOutcome;
use std::fmt::Write as _;
use std::path::Path;
use units::Nanos;

pub(crate) fn run(args: &RunArgs) -> Result<u8> {
    plan::processes::raise_descriptor_limit();
    let usable_cpus = launch::pin::usable_cpus()?;
    check_junit(args.junit.as_deref())?;
    if let Some(folder) = &args.resume {
        let environment = environment(&args.runs, &args.consent, None)?;
        let tuning = tuning::begin(args.tune, args.turbo_off)?;
        let mut progress = RunProgress::new(screen::is_live());
        let outcome = runner::resume(folder, usable_cpus, &environment, &mut progress);
        progress.finish();
        tuning.end();
        return finish(&outcome?, TextOrJson::Text, args.junit.as_deref());
    }
    let file = args.file.as_deref().unwrap_or(Path::new(""));
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let context = Context { project: plan::project_above(file), usable_cpus, pin: args.pin.clone() };
    let plan = plan::experiment(&file.display().to_string(), &text, &context)?;
    let loads: Vec<&LoadPlan> = plan.cells.iter().map(|cell| &cell.load).collect();
    let limit = calibrate::limit_of(&loads, &plan.pin, context.usable_cpus.len());
    if args.dry_run {
        print_plan(&plan, limit.as_ref(), (args.format, &args.runs))?;
        return Ok(exit::DONE);
    }
    let environment = environment(&args.runs, &args.consent, limit)?;
    let tuning = tuning::begin(args.tune, args.turbo_off)?;
    let mut progress = RunProgress::new(screen::is_live());
    let outcome = runner::run(plan, &text, &context, &environment, &mut progress);
    progress.finish();
    tuning.end();
    finish(&outcome?, TextOrJson::Text, args.junit.as_deref())
}

/// A mistake in the name shows before the run, not hours later.
fn check_junit(file: Option<&Path>) -> Result<()> {
    file.map_or(Ok(()), output::check)
}

/// Reports what there is, also after an interrupt.
pub(crate) fn finish(outcome: &Outcome, format: TextOrJson, junit: Option<&Path>) -> Result<u8> {
    let (run, analysis) = record::analysed(&outcome.folder)?;
    let text = match format {
        TextOrJson::Json => schema::json::pretty(&analysis)?,
        TextOrJson::Text => {
            let page = outcome.folder.path().join("report.html");
            format!("{}{}\n", report::terminal(&run, &analysis, screen::style()), page.display())
        }
    };
    // On a full disk the answer still reaches the terminal, and a terminal that is gone costs no file.
    let printed = output::write(None, &text);
    report_files::write_files(&outcome.folder, &run, &analysis)?;
    report_files::write_junit(junit, &run, &analysis)?;
    printed?;
    if outcome.interrupted {
        let left = match run.plan.search() {
            Some(_) => "before the search ended; go on".to_owned(),
            None => format!("with {} trials left; finish them", run.plan.order.len() - outcome.ended),
        };
        let how =
            format!("\ninterrupted {left} with\n  prony run --resume {}\n", outcome.folder.path().display());
        match format {
            TextOrJson::Text => output::write(None, &how)?,
            TextOrJson::Json => output::say_text(&how),
        }
        return Ok(exit::INTERRUPTED);
    }
    Ok(code(outcome, &run.plan, &analysis))
}

fn code(outcome: &Outcome, plan: &ExperimentPlan, analysis: &AnalysisFile) -> u8 {
    let has_valid = analysis.trials.iter().any(|trial| trial.outcome == TrialOutcome::Valid);
    // A search that drives a target until it fails has done its work.
    let failed = outcome.failed > 0 && plan.search().is_none();
    if failed || !has_valid { exit::FAILED } else { report_files::run_code(analysis) }
}

/// The plan goes to standard output; warnings go where they do not spoil it.
pub(crate) fn print_plan(
    plan: &ExperimentPlan,
    limit: Option<&CalibrationSummary>,
    (format, runs): (TextOrJson, &Path),
) -> Result<()> {
    let warnings = calibrate::warnings(limit);
    if !warnings.is_empty() {
        output::say_text(&warnings);
    }
    let text = match format {
        TextOrJson::Json => schema::json::pretty(plan)?,
        TextOrJson::Text => plan_text(plan, limit) + &time_text(plan, runs),
    };
    output::write(None, &text)
}

fn plan_text(plan: &ExperimentPlan, limit: Option<&CalibrationSummary>) -> String {
    let mut text = format!("{}\n  {}\n\ntargets\n", plan.name, plan.question);
    for target in &plan.targets {
        let source = match &target.source {
            TargetSource::Manifest { folder, .. } => folder.clone(),
            TargetSource::Url { url, .. } => url.clone(),
            TargetSource::Command { command, .. } => command.join(" "),
            TargetSource::Reference { .. } => "the reference target inside prony".to_owned(),
        };
        let _ = writeln!(text, "  {:<24} {source}", target.name);
    }
    for scenario in &plan.scenarios {
        let _ = writeln!(text, "scenario {}", scenario.name);
        for entry in &scenario.requests {
            let _ = writeln!(text, "  {:<24} {} {}", entry.name, entry.request.method, entry.request.path);
        }
        if let Some(session) = &scenario.session {
            let _ = writeln!(text, "  in sessions of {} steps", session.steps.len());
        }
    }
    text += "cells\n";
    for cell in &plan.cells {
        let processes = match cell.load.processes {
            0 | 1 => String::new(),
            several => format!(" in {several} processes"),
        };
        let workers = counted(cell.load.workers, "worker");
        let _ = writeln!(text, "  {:<6} {}, {workers}{processes}", cell.id, cell.label);
        if !cell.limits.is_none() {
            let _ = writeln!(text, "  {:<6} limits: {}", "", cell.limits);
        }
    }
    let phases = &plan.phases;
    let _ = writeln!(
        text,
        "phases\n  warm-up {}, then {} of {}",
        warmup(phases),
        counted(phases.samples, "sample"),
        Nanos(phases.sample_ns)
    );
    let list = |cpus: &Option<Vec<u32>>| {
        cpus.as_ref().map_or_else(|| "any".to_owned(), |cpus| launch::pin::list(cpus))
    };
    let _ =
        write!(text, "CPUs\n  generator {}, target {}", list(&plan.pin.generator), list(&plan.pin.target));
    if plan.pin.services.is_some() {
        let _ = write!(text, ", services {}", list(&plan.pin.services));
    }
    text.push('\n');
    if let Some(weakness) = &plan.pin.weakness {
        let _ = writeln!(text, "  weakness: {weakness}");
    }
    if let Some(control) = &plan.design.control {
        let _ = writeln!(text, "hidden control\n  {} repeats {}", control.cell, control.of);
    }
    let _ = writeln!(text, "instrument\n  {}", report::instrument_line(limit));
    text += &knee_words(plan);
    if plan.search().is_some() {
        return text;
    }
    let _ = writeln!(text, "order (seed {})", plan.seed);
    for block in 1..=plan.blocks {
        let cells: Vec<&str> =
            plan.order.iter().filter(|trial| trial.block == block).map(|trial| trial.cell.as_str()).collect();
        let _ = writeln!(text, "  block {block:<3} {}", cells.join(" "));
    }
    text
}

/// What a knee run adds to its plan in words; empty for other runs.
fn knee_words(plan: &ExperimentPlan) -> String {
    let Some(capacity) = &plan.capacity else { return String::new() };
    let Some(search) = &capacity.search else {
        return "ladder\n  ".to_owned()
            + match capacity.order {
                schema::capacity::LadderOrder::Random => "in random order\n",
                schema::capacity::LadderOrder::UpDown => "rising and falling in turn\n",
            };
    };
    let phases = &plan.phases;
    let minutes = |warmup_ns: u64| {
        let trial_ns = warmup_ns + phases.sample_ns * u64::from(phases.samples);
        f64::from(search.trials_max) * trial_ns as f64 / 60e9
    };
    let budget = search.budget_ns.map_or(String::new(), |budget| format!(", within {}", Nanos(budget)));
    format!(
        "search\n  {}\n  from {} per second, between {} and {}; {} confirmations\n  at most {} trials, up to {:.0} minutes of \
         load{budget}\n",
        search.objective.join(" and "),
        search.start_per_s,
        search.lowest_per_s,
        search.highest_per_s,
        search.confirmations,
        search.trials_max,
        minutes(phases.warmup_at_most_ns)
    )
}

/// What it takes: by the phases, and by the clock where earlier runs tell; and when blocks end.
fn time_text(plan: &ExperimentPlan, runs: &Path) -> String {
    let phases = &plan.phases;
    let measured_ns = phases.sample_ns.saturating_mul(phases.samples.into());
    let trials = plan.order.len();
    let minutes = |warmup_ns: u64| trials as f64 * warmup_ns.saturating_add(measured_ns) as f64 / 60e9;
    let (least, most) = (minutes(phases.warmup_at_least_ns), minutes(phases.warmup_at_most_ns));
    let mut text = format!("\n{trials} trials, {least:.1} to {most:.1} minutes of load\n");
    // Without a folder of runs there is no history, which is no mistake.
    let found = history::runs(runs, Some(&plan.name)).unwrap_or_default();
    let trial_ns = history::trial_ns(&found.runs);
    if let Some(trial_ns) = trial_ns {
        let _ = writeln!(
            text,
            "about {:.1} minutes with starts and stops: a trial took {} before ({})",
            trials as f64 * trial_ns as f64 / 60e9,
            report::format::nanos(trial_ns),
            counted(u32::try_from(found.runs.len()).unwrap_or(u32::MAX), "run")
        );
    }
    if let Some(stopping) = &plan.design.stopping {
        let until =
            stopping.precision.map(|wanted| format!("until ± {}", report::format::chosen_percent(wanted)));
        let within = stopping.budget_ns.map(|ns| format!("within {}", Nanos(ns)));
        let rules: Vec<String> = until.into_iter().chain(within).collect();
        let _ = writeln!(
            text,
            "these are the first {}; then one by one, {}, at most {}",
            counted(stopping.blocks_pilot, "block"),
            rules.join(" and "),
            stopping.blocks_max
        );
        let pilot_ns = trial_ns.map_or(least * 60e9, |ns| ns as f64 * trials as f64);
        if stopping.budget_ns.is_some_and(|budget| pilot_ns > budget as f64) {
            text +=
                "the budget is shorter than they take: the run will end with fewer and give no interval\n";
        }
    }
    text
}

/// How long warm-up is, and what it waits for.
fn warmup(phases: &PhasePlan) -> String {
    let (least, most) = (Nanos(phases.warmup_at_least_ns), Nanos(phases.warmup_at_most_ns));
    if most <= least {
        return least.to_string();
    }
    let gc = phases.warmup_also.gc_at_most_every_ns;
    let gc =
        gc.map_or(String::new(), |every| format!(", at most one garbage collection in {}", Nanos(every)));
    let cpu = phases.warmup_also.cpu_within;
    let cpu = cpu.map_or(String::new(), |within| format!(", its CPU within {} %", within * 100.0));
    format!("{least} to {most}, until the target is steady{gc}{cpu}")
}

fn counted(n: u32, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
