//! `prony run`: a whole experiment, its resumption, or only its plan.

use crate::alarms::{self, Alarms, Subject};
use crate::args::{AlarmArgs, RunArgs, TextOrJson};
use crate::environment::environment;
use crate::monitor::Monitor;
use crate::progress::RunProgress;
use crate::{calibrate, exit, fleet, output, report_files, screen, tuning};
use anyhow::{Context as _, Result};
use plan::Context;
use record::{RunFolder, history};
use report::{ClockTime, PlanTime};
use runner::{Environment, Outcome};
use schema::alarm::AlarmPlan;
use schema::analysis::AnalysisFile;
use schema::calibration::CalibrationSummary;
use schema::plan::ExperimentPlan;
use schema::trial::TrialOutcome;
use std::path::Path;

pub(crate) fn run(args: &RunArgs) -> Result<u8> {
    plan::processes::raise_descriptor_limit();
    let usable_cpus = launch::pin::usable_cpus()?;
    check_junit(args.junit.as_deref())?;
    if let Some(folder) = &args.resume {
        let runs = folder.parent().unwrap_or(Path::new("."));
        let mut monitor = Monitor::begin(&args.monitor, &args.consent, runs)?;
        let environment = environment(&args.runs, &args.consent, None)?;
        let mut watched = RunFolder::open(folder)?.read_run()?.plan.alarms;
        watched.extend(alarms::of_flags(&args.alarms)?);
        let alarms = watch(&args.alarms, &watched, runs, &environment)?;
        let tuning = tuning::begin(args.tune, args.turbo_off)?;
        let mut progress = RunProgress::new(screen::is_live());
        let outcome = runner::resume(folder, usable_cpus, args.blocks, &environment, &mut progress);
        progress.finish();
        alarms.map(Alarms::end);
        tuning.end();
        let outcome = outcome?;
        monitor.end(outcome.folder.path());
        let code = finish(&outcome, TextOrJson::Text, args.junit.as_deref())?;
        return Ok(after_alarms(code, &environment));
    }
    let file = args.file.as_deref().unwrap_or(Path::new(""));
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let context = Context { project: plan::project_above(file), usable_cpus, pin: args.pin.clone() };
    let mut plan = plan::experiment(&file.display().to_string(), &text, &context)?;
    if args.short {
        plan::short(&mut plan);
    }
    fleet::enlist_all(&mut plan, args.fleet.as_deref())?;
    plan.alarms.extend(alarms::of_flags(&args.alarms)?);
    let limit = calibrate::limit_of_plan(&plan, &context.usable_cpus);
    if args.dry_run {
        print_plan(&plan, limit.as_ref(), (args.format, &args.runs))?;
        return Ok(exit::DONE);
    }
    let mut monitor = Monitor::begin(&args.monitor, &args.consent, &args.runs)?;
    let environment = environment(&args.runs, &args.consent, limit)?;
    let alarms = watch(&args.alarms, &plan.alarms, &args.runs, &environment)?;
    let tuning = tuning::begin(args.tune, args.turbo_off)?;
    let mut progress = RunProgress::new(screen::is_live());
    let outcome = runner::run(plan, &text, &context, &environment, &mut progress);
    progress.finish();
    alarms.map(Alarms::end);
    tuning.end();
    let outcome = outcome?;
    monitor.end(outcome.folder.path());
    let code = finish(&outcome, TextOrJson::Text, args.junit.as_deref())?;
    Ok(after_alarms(code, &environment))
}

/// Begins to watch a run or a soak.
pub(crate) fn watch(
    args: &AlarmArgs,
    watched: &[AlarmPlan],
    runs: &Path,
    environment: &Environment,
) -> Result<Option<Alarms>> {
    let subject = Subject {
        runs,
        load: None,
        consent: &environment.consent,
        stop: environment.stop.clone(),
        aborted: environment.aborted.clone(),
    };
    Alarms::begin(args, watched, &subject)
}

/// The exit code of a run that an alarm may have ended.
pub(crate) fn after_alarms(code: u8, environment: &Environment) -> u8 {
    match environment.aborted.get() {
        Some(alarm) => {
            output::say!("ended by an alarm: {alarm}");
            exit::CLAIM
        }
        None => code,
    }
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
        TextOrJson::Text => report::plan_text(plan, limit, &plan_time(plan, runs)),
    };
    output::write(None, &text)
}

/// What the plan takes: by its phases, and by the clock where earlier runs of this name tell.
fn plan_time(plan: &ExperimentPlan, runs: &Path) -> PlanTime {
    let phases = &plan.phases;
    let measured_ns = phases.sample_ns.saturating_mul(phases.samples.into());
    let trials = plan.order.len() as f64;
    let of = |trials: f64, warmup_ns: u64| trials * warmup_ns.saturating_add(measured_ns) as f64;
    // Without a folder of runs there is no history, which is no mistake.
    let found = history::runs(runs, Some(&plan.name)).unwrap_or_default();
    let by_clock = |trial_ns: u64| ClockTime {
        trial_ns,
        all_ns: trials * trial_ns as f64,
        runs: found.runs.len() as u64,
    };
    PlanTime {
        least_ns: of(trials, phases.warmup_at_least_ns),
        most_ns: of(trials, phases.warmup_at_most_ns),
        search_ns: plan.search().map_or(0.0, |s| of(s.trials_max.into(), phases.warmup_at_most_ns)),
        // A trial of a soak lasts as long as the soak, whatever trials of that name took.
        by_clock: history::trial_ns(&found.runs).filter(|_| plan.soak.is_none()).map(by_clock),
    }
}
