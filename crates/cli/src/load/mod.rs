//! `prony load`: one URL, one load, one summary.

mod resolve;

use crate::args::{LoadArgs, ResultFormat};
use crate::progress::LoadProgress;
use crate::{exit, interrupt, output, screen};
use anyhow::Result;
use engine::EngineError;
use resolve::resolve;
use runner::RunnerError;
use runner::measure::{LoadJob, measure, nothing_connected};
use schema::load::LoadReport;
use std::sync::atomic::Ordering;
use units::Nanos;

pub(crate) fn load(args: &LoadArgs) -> Result<u8> {
    let job = resolve(args)?;
    let format = args.result.format.unwrap_or(ResultFormat::Text);
    let stop = interrupt::stop_flag()?;
    let live = format == ResultFormat::Text && !args.result.no_tui && screen::is_live();
    if format == ResultFormat::Text {
        eprintln!("{}", plan_line(&job));
    }
    let mut progress = LoadProgress::new(live, &job);
    let measured = measure(&job, &mut progress, &stop);
    progress.finish();
    let (report, code) = match measured {
        Ok(mut measured) => {
            measured.report.validity = analyze::validity(&measured.report, &measured.facts);
            let code = match measured.report.requests.completed {
                _ if measured.interrupted => exit::INTERRUPTED,
                0 => exit::FAILED,
                _ => exit::DONE,
            };
            (measured.report, code)
        }
        Err(RunnerError::Engine(EngineError::NothingConnected { .. })) if stop.load(Ordering::Relaxed) => {
            return Err(RunnerError::Interrupted.into());
        }
        Err(RunnerError::Engine(EngineError::NothingConnected { asked, failures, example })) => {
            let mut report = nothing_connected(&job, asked, &failures, &example);
            report.validity = analyze::validity(&report, &analyze::TrialFacts::default());
            eprintln!("prony: no connection could be opened to {}: {example}", job.to);
            (report, exit::FAILED)
        }
        Err(error) => return Err(error.into()),
    };
    print(args, &report)?;
    Ok(code)
}

fn print(args: &LoadArgs, report: &LoadReport) -> Result<()> {
    let file = args.result.output.as_deref();
    let text = match args.result.format {
        Some(ResultFormat::Json) => serde_json::to_string_pretty(report)? + "\n",
        _ => report::load_text(report, output::style(file), args.result.latency),
    };
    output::write(file, &text)
}

/// The resolved totals, before anything is sent.
fn plan_line(job: &LoadJob) -> String {
    let load = &job.load;
    let what = match (load.rate_per_s, load.arrivals, job.requests_max) {
        (Some(rate), Some(law), _) => {
            format!("open loop, {rate} requests/s in total ({law:?} arrivals)").to_lowercase()
        }
        (_, _, Some(requests)) => format!("closed loop, {requests} requests in total"),
        _ => "closed loop".to_owned(),
    };
    let plural = |n: u32| if n == 1 { "" } else { "s" };
    let time = match job.phases.sample_ns {
        u64::MAX => String::new(),
        sample_ns => format!(", {}", Nanos(sample_ns)),
    };
    let (c, w) = (load.connections, load.workers);
    let processes = match load.processes {
        0 | 1 => String::new(),
        several => format!(" in {several} processes"),
    };
    format!(
        "{} {}{}: {what}, {c} connection{}, {w} worker{}{processes}{time}",
        job.request.method,
        job.url,
        job.request.path,
        plural(c),
        plural(w)
    )
}
