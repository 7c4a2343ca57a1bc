//! `prony plan`: how many blocks an experiment needs, before any load but that of a pilot.

use crate::args::{PlanArgs, TextOrJson};
use crate::environment::environment;
use crate::progress::RunProgress;
use crate::{calibrate, exit, output, report_files, screen};
use anyhow::{Context as _, Result, bail};
use plan::Context;
use record::history::{self, Found};
use runner::Outcome;
use schema::design::Share;
use schema::plan::ExperimentPlan;

/// The half-width that is planned for where neither arguments nor file name one: METHOD's margin.
const PRECISION: f64 = plan::defaults::MARGIN;

pub(crate) fn plan(args: &PlanArgs) -> Result<u8> {
    plan::processes::raise_descriptor_limit();
    let text = std::fs::read_to_string(&args.file)
        .with_context(|| format!("cannot read {}", args.file.display()))?;
    let usable_cpus = launch::pin::usable_cpus()?;
    let context = Context { project: plan::project_above(&args.file), usable_cpus, pin: args.pin.clone() };
    let plan = plan::experiment(&args.file.display().to_string(), &text, &context)?;
    let wanted = wanted(args, &plan)?;
    if args.pilot && pilot(args, plan.clone(), &text, &context)?.interrupted {
        return Ok(exit::INTERRUPTED);
    }
    let found = history(args, &plan)?;
    found.notes.iter().for_each(|note| crate::output::say!("note: {note}"));
    let advice = analyze::advice(&plan, &found.runs, wanted, costs(&found.runs));
    let text = match args.format {
        TextOrJson::Json => schema::json::pretty(&advice)?,
        TextOrJson::Text => report::advice_text(&advice, screen::style()),
    };
    output::write(None, &text)?;
    Ok(exit::DONE)
}

fn wanted(args: &PlanArgs, plan: &ExperimentPlan) -> Result<analyze::Wanted> {
    let of_file = plan.design.stopping.as_ref().and_then(|stopping| stopping.precision);
    let precision = args.precision.map_or(of_file.unwrap_or(PRECISION), |Share(value)| value);
    let wanted = analyze::Wanted { precision, difference: args.difference.0, power: args.power.0 };
    for (name, value) in [("--precision", wanted.precision), ("--difference", wanted.difference)] {
        if !(value > 0.0 && value <= 10.0) {
            bail!("{name} {value} is out of range\n  remedy: give a share such as 2%");
        }
    }
    if !(wanted.power > 0.1 && wanted.power <= 0.9999) {
        bail!(
            "--power {} is out of range\n  remedy: give a chance above 0.1 and at most 0.9999, such as 0.8",
            wanted.power
        );
    }
    Ok(wanted)
}

fn costs(runs: &[analyze::Past]) -> analyze::Costs {
    analyze::Costs { trial_ns: history::trial_ns(runs), run_ns: history::run_ns(runs) }
}

/// Earlier runs; without any there is nothing to plan from.
fn history(args: &PlanArgs, plan: &ExperimentPlan) -> Result<Found> {
    let found =
        if args.runs.is_dir() { history::runs(&args.runs, Some(&plan.name))? } else { Found::default() };
    if found.runs.is_empty() {
        bail!(
            "there is no run of {} under {}, so its spread is not known\n  remedy: add --pilot to run five blocks first, \
             or name the folder of earlier runs with --runs",
            plan.name,
            args.runs.display()
        );
    }
    Ok(found)
}

/// The first blocks of the experiment as a run of its own.
fn pilot(args: &PlanArgs, mut plan: ExperimentPlan, text: &str, context: &Context) -> Result<Outcome> {
    plan::pilot(&mut plan);
    let calibration = calibrate::limit_of_plan(&plan, &context.usable_cpus);
    let environment = environment(&args.runs, &args.consent, calibration)?;
    let mut progress = RunProgress::new(screen::is_live());
    let outcome = runner::run(plan, text, context, &environment, &mut progress);
    progress.finish();
    let outcome = outcome?;
    report_files::write_all(&outcome.folder)?;
    crate::output::say!("the pilot is kept in {}", outcome.folder.path().display());
    Ok(outcome)
}
