//! `prony load`: one URL, one load, one summary.

use crate::args::{LoadArgs, TextOrJson};
use crate::progress::LoadProgress;
use crate::{exit, interrupt, output, screen};
use anyhow::{Context as _, Result, bail};
use engine::EngineError;
use request::Check;
use runner::RunnerError;
use runner::measure::{LoadJob, measure, nothing_connected};
use runner::net::HttpUrl;
use runner::resolve::arrival::{Wishes, flags};
use runner::resolve::{CONNECTIONS_MAX, default_workers, defaults};
use schema::experiment::LoadModel;
use schema::load::LoadReport;
use schema::plan::{LoadPlan, PhasePlan, PinPlan, RequestPlan};
use std::io::Read;
use std::sync::atomic::Ordering;
use units::Nanos;

pub(crate) fn load(args: &LoadArgs) -> Result<u8> {
    let job = resolve(args)?;
    let stop = interrupt::stop_flag()?;
    let live = args.format == TextOrJson::Text && !args.no_tui && screen::is_live();
    if args.format == TextOrJson::Text {
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
    let file = args.output.as_deref();
    let text = match args.format {
        TextOrJson::Json => serde_json::to_string_pretty(report)? + "\n",
        TextOrJson::Text => report::load_text(report, output::style(file), args.latency),
    };
    output::write(file, &text)
}

/// The resolved totals, before anything is sent.
fn plan_line(job: &LoadJob) -> String {
    let load = &job.load;
    let shape = load.shape.as_ref().map_or(String::new(), |shape| format!(" with the shape {}", shape.kind));
    let think = load.think.map_or(String::new(), |think| format!(", think time {think}"));
    let what = match (load.rate_per_s, &load.arrivals, job.requests_max) {
        (Some(rate), Some(law), _) => {
            format!("open loop, {rate} requests/s in total{shape} ({} arrivals)", law.name())
        }
        (_, _, Some(requests)) => format!("closed loop, {requests} requests in total{think}"),
        _ => format!("closed loop{think}"),
    };
    let plural = |n: u32| if n == 1 { "" } else { "s" };
    let time = match job.phases.sample_ns {
        u64::MAX => String::new(),
        sample_ns => format!(", {}", Nanos(sample_ns)),
    };
    let (c, w) = (load.connections, load.workers);
    format!(
        "{} {}{}: {what}, {c} connection{}, {w} worker{}{time}",
        job.request.method,
        job.url,
        job.request.path,
        plural(c),
        plural(w)
    )
}

/// Arguments to a job: every default filled in, every mistake told, nothing sent.
fn resolve(args: &LoadArgs) -> Result<LoadJob> {
    let url = HttpUrl::parse(&args.url).map_err(RunnerError::from)?;
    let to = url.resolve(&args.consent).map_err(RunnerError::from)?;
    let request = request(args, &url)?;
    let cpus = args.pin.as_deref().map(target::pin::parse_list).transpose()?;
    let usable = target::pin::usable_cpus()?;
    if let (Some(cpus), false) = (&cpus, usable.is_empty())
        && let Some(cpu) = cpus.iter().find(|cpu| !usable.contains(cpu))
    {
        bail!("CPU {cpu} cannot be used here; usable are {}", target::pin::list(&usable));
    }
    let phases = phases(args)?;
    let load = load_plan(args, &phases, cpus.clone(), usable.len())?;
    let job = LoadJob {
        url: format!("http://{}", url.authority()),
        authority: url.authority(),
        to,
        check: Check::new(&args.expect_status, args.expect_body.clone().map(String::into_bytes)),
        request,
        load,
        phases,
        requests_max: args.requests.map(|requests| requests.0),
        cpus,
        // With one CPU, spinning would take it away from a local target.
        spin: usable.len() > 1,
    };
    // The one encoder says what cannot be sent, before a connection is opened.
    request::Prepared::new(&job.request, &job.authority, job.check.clone()).map_err(RunnerError::from)?;
    Ok(job)
}

fn load_plan(args: &LoadArgs, phases: &PhasePlan, cpus: Option<Vec<u32>>, usable: usize) -> Result<LoadPlan> {
    let requests = args.requests.map_or(u64::MAX, |requests| requests.0);
    if requests == 0 {
        bail!("-n 0 would send nothing; give at least 1");
    }
    let connections =
        args.connections.map_or(defaults::CONNECTIONS.min(requests), |connections| connections.0);
    if !(1..=CONNECTIONS_MAX).contains(&connections) {
        bail!("-c {connections} is out of range; give from 1 to {CONNECTIONS_MAX} connections");
    }
    let connections = connections as u32;
    let pin = PinPlan { generator: cpus, ..PinPlan::default() };
    let workers = args.threads.unwrap_or_else(|| default_workers(&pin, usable).min(connections));
    if workers == 0 || workers > connections {
        bail!("-t {workers} threads cannot share {connections} connections; give each at least one");
    }
    let pacing = &args.pacing;
    let model = pacing.model(args.rate);
    if model == LoadModel::Open && args.requests.is_some() {
        bail!("-n ends a closed loop; recorded arrivals end by -d");
    }
    let wishes = Wishes {
        model,
        rate: args.rate,
        arrivals: pacing.arrivals.as_ref(),
        shape: pacing.shape.as_ref(),
        think: pacing.think.as_ref(),
    };
    Ok(flags(wishes, phases)?.into_plan(LoadPlan {
        model,
        connections,
        connections_max: connections,
        workers,
        connect_timeout_ns: positive("--connect-timeout", args.connect_timeout)?,
        timeout_ns: positive("--timeout", args.timeout)?,
        total_timeout_ns: args.total_timeout.map(|time| positive("--total-timeout", time)).transpose()?,
        seed: args.seed,
        ..LoadPlan::default()
    }))
}

fn positive(name: &str, time: Nanos) -> Result<u64> {
    if time == Nanos::ZERO {
        bail!("{name} of zero would fail every request; give a time such as 5s");
    }
    Ok(time.0)
}

fn phases(args: &LoadArgs) -> Result<PhasePlan> {
    let duration = match (args.duration, args.requests) {
        (None, Some(_)) => Nanos(u64::MAX),
        (None, None) => Nanos::from_secs(10),
        (Some(duration), _) if duration < Nanos::MILLI => {
            bail!("-d {duration} is too short; give at least 1ms")
        }
        (Some(duration), _) => duration,
    };
    Ok(PhasePlan {
        warmup_at_least_ns: args.warmup.0,
        warmup_at_most_ns: args.warmup.0,
        sample_ns: duration.0,
        samples: 1,
        drain_ns: defaults::DRAIN.0,
    })
}

fn request(args: &LoadArgs, url: &HttpUrl) -> Result<RequestPlan> {
    let body = args.body.as_deref().map(body).transpose()?.unwrap_or_default();
    let method =
        args.method.clone().unwrap_or_else(|| if args.body.is_some() { "POST" } else { "GET" }.to_owned());
    let headers = args.headers.iter().map(|text| header(text)).collect::<Result<_>>()?;
    Ok(RequestPlan { method, path: url.path.clone(), headers, body })
}

fn header(text: &str) -> Result<(String, String)> {
    match text.split_once(':') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => bail!("`{text}` is no header field; write -H 'Name: value'"),
    }
}

/// A text, `@FILE`, or `@-` for standard input.
fn body(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix('@') {
        Some("-") => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).context("cannot read the body from standard input")?;
            Ok(bytes)
        }
        Some(path) => std::fs::read(path).with_context(|| format!("cannot read the body from {path}")),
        None => Ok(text.as_bytes().to_vec()),
    }
}
