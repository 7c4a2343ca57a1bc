//! From the arguments of `prony load` to a job: they are put as `[load]` of a file says it, and resolved as that is.

use super::request::scenario;
use crate::args::{LoadArgs, with_flag};
use crate::fleet;
use anyhow::{Result, anyhow};
use generate::reflection::Server;
use plan::net::HttpUrl;
use plan::processes::raise_descriptor_limit;
use plan::{EachPlan, LoadJob, PlanError, Reflection, Single};

/// Arguments to a job.
pub(super) fn resolve(args: &LoadArgs) -> Result<LoadJob> {
    let (url, login) = HttpUrl::with_login(&args.url).map_err(PlanError::from)?;
    // The number of processes follows from it.
    raise_descriptor_limit();
    let given = &args.connection;
    let (load, tls) = (args.to_load(), args.tls.wanted());
    let ways = (given.connect_to.as_deref(), given.proxy.as_deref());
    let server = Server::new(|| plan::reach(&url, &load, &tls, ways, &args.consent, variable));
    let asked = Single {
        url: &url,
        login,
        scenario: scenario(&args.request, &url, &Reflection::new(&server))?,
        load: &load,
        tls: &tls,
        connect_to: given.connect_to.as_deref(),
        proxy: given.proxy.as_deref(),
        consent: &args.consent,
        pin: args.pin.as_deref(),
        processes: args.processes,
        seed: args.seed,
        warmup: args.warmup,
        duration: args.duration,
        requests: args.requests,
        each: each(args)?,
    };
    let job = plan::single(asked, &launch::pin::usable_cpus()?, variable);
    let mut job = job.map_err(with_flag)?;
    fleet::enlist(&mut job, args.fleet.as_deref(), given.connect_to.as_deref())?;
    // Its files are read once before a connection is made, so that every mistake in them is found.
    job.load.tls.as_ref().map(generate::tls::load).transpose()?;
    Ok(job)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The rows that are asked for.
fn each(args: &LoadArgs) -> Result<Option<EachPlan>> {
    let result = &args.result;
    let plan = result.each.as_deref().map(|file| EachPlan::new(file, result.each_share.0));
    plan.transpose().map_err(|error| anyhow!("--each: {error}"))
}
