//! `prony calibrate`: measures the instrument on this host, keeps the result, prints what it means; and what a kept
//! calibration says of a load that is about to begin.

use crate::args::{CalibrateArgs, TextOrJson};
use crate::{exit, interrupt, output, progress, screen};
use anyhow::{Context as _, Result, bail};
use runner::calibrate::{self, BUDGET, BUDGET_BOUNDS, BUDGET_QUICK, CalibrateJob, Progress};
use schema::calibration::{CalibrationFile, CalibrationSummary};
use schema::plan::{ExperimentPlan, LoadPlan, PinPlan};
use schema::said::Said;
use std::path::PathBuf;

pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<u8> {
    let folder = calibrate::state_folder()
        .context("there is no place for a calibration: set HOME, or XDG_STATE_HOME to an absolute path")?;
    if args.show {
        let host = calibrate::identity()?;
        let Some(file) = calibrate::read(&folder, &host)? else {
            bail!("this host is not calibrated; run `prony calibrate`")
        };
        print(args, &file, &analyze::stale(&file.host, &host))?;
        return Ok(exit::DONE);
    }
    args.output.as_deref().map_or(Ok(()), output::check)?;
    let job = job(args)?;
    let live = screen::is_live();
    if args.format == TextOrJson::Text {
        crate::output::say!("measuring for about {}; keep the machine quiet", job.budget);
    }
    let bar = progress::calibration_bar(live);
    let found = calibrate::calibrate(&job, &mut |at: &Progress| {
        bar.set_length(at.total as u64);
        bar.set_position(at.done as u64);
        bar.set_message(at.what.clone());
    });
    bar.finish_and_clear();
    let file = found?;
    print(args, &file, &[])?;
    // Those that cannot be read, or no longer hold, are as good as none.
    let earlier = calibrate::read(&folder, &file.host).ok().flatten();
    let earlier = earlier.filter(|earlier| analyze::stale(&earlier.host, &file.host).is_empty());
    match (earlier, &file.disturbed) {
        (Some(earlier), Some(why)) if earlier.disturbed.is_none() => crate::output::say!(
            "not kept: {why}\n  the calibration of {} stays, which was measured on a quiet host\n  remedy: calibrate \
             again while the host is quiet",
            earlier.measured_wall
        ),
        _ => crate::output::say!("kept in {}", calibrate::write(&folder, &file)?.display()),
    }
    Ok(exit::DONE)
}

fn job(args: &CalibrateArgs) -> Result<CalibrateJob> {
    let budget = args.time.unwrap_or(if args.quick { BUDGET_QUICK } else { BUDGET });
    let (least, most) = BUDGET_BOUNDS;
    if !(least..=most).contains(&budget) {
        bail!("--for {budget} is out of range; give from {least} to {most}");
    }
    Ok(CalibrateJob {
        launcher: std::env::current_exe().context("cannot find prony's own binary")?,
        quick: args.quick,
        budget,
        pin: launch::pin::plan(args.pin.parse()?, &launch::pin::usable_cpus()?, false)?,
        seed: args.seed,
        stop: interrupt::stop_flag()?,
    })
}

fn print(args: &CalibrateArgs, file: &CalibrationFile, stale: &[Said]) -> Result<()> {
    let to = args.output.as_deref();
    let text = match args.format {
        TextOrJson::Json => schema::json::pretty(file)?,
        TextOrJson::Text => report::calibration_text(file, stale, output::style(to)),
    };
    output::write(to, &text)
}

/// What the kept calibration says of these loads. One that cannot be read is reported and then as good as none: it must
/// not keep anybody from measuring.
pub(crate) fn limit_of(loads: &[&LoadPlan], pin: &PinPlan, usable: usize) -> Option<CalibrationSummary> {
    let folder: Option<PathBuf> = calibrate::state_folder();
    let cpus = pin.generator.as_ref().map_or(usable, Vec::len);
    calibrate::limit_of(folder.as_deref(), loads, cpus).unwrap_or_else(|error| {
        crate::output::say!("note: {error}\n  remedy: run `prony calibrate` again");
        None
    })
}

/// The same of all loads of a plan, on the CPUs that the process may use.
pub(crate) fn limit_of_plan(plan: &ExperimentPlan, usable_cpus: &[u32]) -> Option<CalibrationSummary> {
    let loads: Vec<&LoadPlan> = plan.cells.iter().map(|cell| &cell.load).collect();
    limit_of(&loads, &plan.pin, usable_cpus.len())
}

/// Where more is asked for than the instrument can give, a warning for each; empty without one.
pub(crate) fn warnings(limit: Option<&CalibrationSummary>) -> String {
    let shortfalls = limit.iter().flat_map(|limit| &limit.shortfalls);
    shortfalls.map(|found| format!("warning: {}\n  remedy: {}\n", found.text, found.remedy)).collect()
}
