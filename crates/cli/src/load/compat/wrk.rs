//! wrk 4 and wrk2. Both share connections evenly between threads and leave the remainder out.

use super::native::{Native, Ours, seconds_or_units};
use super::shared_evenly;
use anyhow::{Result, bail};
use units::{Count, PerSecond};

#[derive(Debug, clap::Args)]
pub(super) struct Common {
    /// Connections to keep open
    #[arg(short, long, default_value = "10")]
    connections: Count,
    /// Duration of the test
    #[arg(short, long, default_value = "10s")]
    duration: String,
    /// Threads
    #[arg(short, long, default_value = "2")]
    threads: Count,
    /// Header, repeatable
    #[arg(short = 'H', long = "header")]
    headers: Vec<String>,
    /// Time-out of a request
    #[arg(long, default_value = "2s")]
    timeout: String,
    #[command(flatten)]
    ours: Ours,
    /// Where to
    url: String,
}

/// Flags of wrk.
#[derive(Debug, clap::Parser)]
pub(super) struct Wrk {
    /// Print latency statistics
    #[arg(long)]
    latency: bool,
    #[command(flatten)]
    common: Common,
}

/// Flags of wrk2.
#[derive(Debug, clap::Parser)]
pub(super) struct Wrk2 {
    /// Requests per second in total
    #[arg(short = 'R', long)]
    rate: Option<PerSecond>,
    /// Print latency statistics
    #[arg(short = 'L', long)]
    latency: bool,
    /// Print uncorrected latency, too: service time, which prony always has
    #[arg(short = 'U', long = "u_latency")]
    uncorrected: bool,
    #[command(flatten)]
    common: Common,
}

pub(super) fn translate(wrk: Wrk) -> Result<Native> {
    common(&wrk.common, None, wrk.latency)
}

pub(super) fn translate_wrk2(wrk2: Wrk2) -> Result<Native> {
    let Some(rate) = wrk2.rate else {
        bail!("wrk2 needs a rate: -R 1000");
    };
    common(&wrk2.common, Some(rate), wrk2.latency || wrk2.uncorrected)
}

fn common(args: &Common, rate: Option<PerSecond>, latency: bool) -> Result<Native> {
    let mut native = Native::new(&args.url);
    let connections = shared_evenly(args.connections.0, args.threads.0, "connections", "threads")?;
    if connections != args.connections.0 {
        native.note(format!(
            "wrk gives each thread as many connections as the others, so it opens {connections} of {}",
            args.connections
        ));
    }
    native.set("-c", connections);
    native.set("-t", args.threads);
    native.set("-d", seconds_or_units(&args.duration)?);
    native.set_some("-R", rate.map(|rate| rate.0));
    native.headers(&args.headers);
    native.set("--timeout", seconds_or_units(&args.timeout)?);
    native.switch("--latency", latency);
    native.ours(&args.ours);
    Ok(native)
}
