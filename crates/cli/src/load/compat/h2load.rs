//! h2load. It speaks HTTP/2 unless `--h1` is given, and its `--rps` is for each client.

use super::native::{Native, Ours, seconds_or_units};
use anyhow::{Result, bail};
use units::Count;

/// Flags of h2load.
#[derive(Debug, clap::Parser)]
pub(super) struct H2load {
    /// Requests in total
    #[arg(short, long = "requests", default_value = "1")]
    n: Count,
    /// Clients: connections
    #[arg(short, long = "clients", default_value = "1")]
    c: Count,
    /// Threads
    #[arg(short, long, default_value = "1")]
    threads: u64,
    /// Requests at once on a connection: streams, or pipelining with --h1
    #[arg(short, long, default_value = "1")]
    max_concurrent_streams: u32,
    /// Bits of the window of a stream
    #[arg(short, long, default_value = "30")]
    window_bits: u32,
    /// Bits of the window of a connection
    #[arg(short = 'W', long, default_value = "30")]
    connection_window_bits: u32,
    /// Duration; -n is ignored then
    #[arg(short = 'D', long)]
    duration: Option<String>,
    /// Warm-up before the duration
    #[arg(long)]
    warm_up_time: Option<String>,
    /// Requests per second of each client
    #[arg(long)]
    rps: Option<f64>,
    /// Header, repeatable
    #[arg(short = 'H', long = "header")]
    headers: Vec<String>,
    /// File to POST
    #[arg(short, long)]
    data: Option<String>,
    /// HTTP/1.1
    #[arg(long)]
    h1: bool,
    /// Protocol of http URLs: http/1.1 or h2c
    #[arg(short = 'p', long)]
    no_tls_proto: Option<String>,
    /// Longest time without a byte on a connection
    #[arg(short = 'N', long)]
    connection_inactivity_timeout: Option<String>,
    /// Connect to another host and port
    #[arg(long)]
    connect_to: Option<String>,
    #[command(flatten)]
    ours: Ours,
    /// Where to
    url: String,
}

pub(super) fn translate(h2load: H2load) -> Result<Native> {
    if h2load.c.0 < h2load.threads {
        bail!("h2load takes no more threads (-t {}) than clients (-c {})", h2load.threads, h2load.c);
    }
    let mut native = Native::new(&h2load.url);
    native.set("-c", h2load.c);
    native.set("-t", h2load.threads);
    amount(&mut native, &h2load)?;
    protocol(&mut native, &h2load)?;
    native.headers(&h2load.headers);
    native.set_some("-b", h2load.data.as_ref().map(|file| format!("@{file}")));
    let inactivity = h2load.connection_inactivity_timeout.as_deref().map(seconds_or_units).transpose()?;
    native.set("--timeout", inactivity.unwrap_or(units::Nanos::from_secs(3600)));
    native.set_some("--connect-to", h2load.connect_to.as_ref());
    native.ours(&h2load.ours);
    Ok(native)
}

fn amount(native: &mut Native, h2load: &H2load) -> Result<()> {
    let rate_per_s = h2load.rps.map(|per_client| per_client * h2load.c.0 as f64);
    if rate_per_s.is_some() {
        native.note_open_loop("h2load");
    }
    match (&h2load.duration, rate_per_s) {
        (Some(time), rate_per_s) => {
            native.set("-d", seconds_or_units(time)?);
            native.set_some("-R", rate_per_s);
        }
        (None, _) if h2load.n < h2load.c => {
            bail!("h2load takes no fewer requests (-n {}) than clients (-c {})", h2load.n, h2load.c);
        }
        (None, Some(rate_per_s)) => native.count_at_rate(h2load.n.0, rate_per_s)?,
        (None, None) => native.set("-n", h2load.n),
    }
    let warmup = h2load.warm_up_time.as_deref().map(seconds_or_units).transpose()?;
    native.set_some("--warmup", warmup);
    Ok(())
}

fn protocol(native: &mut Native, h2load: &H2load) -> Result<()> {
    let is_plain =
        h2load.url.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("http"));
    let streams = h2load.max_concurrent_streams;
    let is_h1 = match h2load.no_tls_proto.as_deref() {
        _ if h2load.h1 => true,
        Some("http/1.1") => is_plain,
        Some("h2c") | None => false,
        Some(other) => bail!("h2load knows -p h2c and -p http/1.1, not `{other}`"),
    };
    native.set_some("--http", (!is_h1).then_some("2"));
    match (is_h1, streams) {
        (_, 0) => bail!("-m 0 would send nothing; give at least 1"),
        (_, 1) => {}
        (true, _) => native.set("--pipeline", streams),
        (false, _) => native.set("--streams", streams),
    }
    let is_other = |bits: u32| (!is_h1 && bits != 30).then_some(bits);
    native.set_some("-w", is_other(h2load.window_bits));
    native.set_some("-W", is_other(h2load.connection_window_bits));
    Ok(())
}
