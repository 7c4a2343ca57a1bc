//! From the arguments of `prony load` to a job: every default filled in, every mistake told, nothing sent.

use crate::args::{LoadArgs, RequestArgs};
use anyhow::{Context as _, Result, bail};
use request::Check;
use runner::RunnerError;
use runner::measure::LoadJob;
use runner::net::HttpUrl;
use runner::processes::{Spread, Wanted, connections_per_process, raise_descriptor_limit, spread};
use runner::resolve::{CONNECTIONS_MAX, default_workers, defaults};
use schema::experiment::LoadModel;
use schema::plan::{LoadPlan, PhasePlan, PinPlan, RequestPlan};
use std::io::Read;
use units::Nanos;

/// Arguments to a job.
pub(super) fn resolve(args: &LoadArgs) -> Result<LoadJob> {
    let url = HttpUrl::parse(&args.url).map_err(RunnerError::from)?;
    let to = url.resolve(&args.consent).map_err(RunnerError::from)?;
    let request = request(&args.request, &url)?;
    let cpus = args.pin.as_deref().map(target::pin::parse_list).transpose()?;
    let usable = target::pin::usable_cpus()?;
    if let (Some(cpus), false) = (&cpus, usable.is_empty())
        && let Some(cpu) = cpus.iter().find(|cpu| !usable.contains(cpu))
    {
        bail!("CPU {cpu} cannot be used here; usable are {}", target::pin::list(&usable));
    }
    let load = load_plan(args, cpus.clone(), usable.len())?;
    let job = LoadJob {
        url: format!("http://{}", url.authority()),
        authority: url.authority(),
        to,
        check: Check::new(
            &args.request.expect_status,
            args.request.expect_body.clone().map(String::into_bytes),
        ),
        request,
        load,
        phases: phases(args)?,
        requests_max: args.requests.map(|requests| requests.0),
        cpus,
        // With one CPU, spinning would take it away from a local target.
        spin: usable.len() > 1,
    };
    // The one encoder says what cannot be sent, before a connection is opened.
    request::Prepared::new(&job.request, &job.authority, job.check.clone()).map_err(RunnerError::from)?;
    Ok(job)
}

fn load_plan(args: &LoadArgs, cpus: Option<Vec<u32>>, usable: usize) -> Result<LoadPlan> {
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
    raise_descriptor_limit();
    let wanted = Wanted {
        connections,
        workers: args.threads,
        workers_default: default_workers(&pin, usable),
        processes: args.processes,
    };
    let Spread { workers, processes } = spread(wanted, connections_per_process())?;
    Ok(LoadPlan {
        model: if args.rate.is_some() { LoadModel::Open } else { LoadModel::Closed },
        connections,
        connections_max: connections,
        rate_per_s: args.rate.map(|rate| rate.0),
        arrivals: args.rate.map(|_| args.arrivals.unwrap_or_default()),
        workers,
        processes,
        connect_timeout_ns: positive("--connect-timeout", args.connect_timeout)?,
        timeout_ns: positive("--timeout", args.timeout)?,
        total_timeout_ns: args.total_timeout.map(|time| positive("--total-timeout", time)).transpose()?,
        seed: args.seed,
        ..LoadPlan::default()
    })
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

fn request(args: &RequestArgs, url: &HttpUrl) -> Result<RequestPlan> {
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
