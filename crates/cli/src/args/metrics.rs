//! Arguments of `prony metrics`, and those by which a load or a run is watched while it lasts.

use super::{TextOrJson, duration};
use std::net::SocketAddr;
use std::path::PathBuf;
use units::Nanos;

/// What a dashboard is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Dashboard {
    /// Runs and their cells
    Run,
    /// The agents of a fleet
    Fleet,
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("stream").args(["otlp", "remote_write"])))]
#[command(after_help = "Examples:
  prony metrics                                the runs in progress, else the newest
  prony metrics runs/2026-11-21T09-30-00Z-demo
  prony metrics runs --listen 127.0.0.1:9464   Prometheus asks it for /metrics
  prony metrics runs/2026-11-21T09-30-00Z-demo --push http://127.0.0.1:9091
  prony metrics runs --otlp http://127.0.0.1:4318 --every 10s
  prony metrics runs --remote-write http://127.0.0.1:9090/api/v1/write --every 15s
  prony metrics --dashboard > prony-run.json   a dashboard that Grafana imports
  prony metrics --dashboard=fleet > prony-fleet.json
  prony load http://127.0.0.1:8080/ -R 1k -d 10m --metrics-listen 127.0.0.1:9464

Everything is read from the files of runs, by a process of low priority that keeps off the CPUs of generators: a run never
waits for it. A Prometheus that wants native histograms gets them; quantiles at prony's own resolution are gauges beside.

Exit codes: 0 done, 1 wrong arguments, an address that is taken, or a folder that is not there, 2 the push was refused,
4 the result could not be written.")]
pub(crate) struct MetricsArgs {
    /// Folder of the runs, or one run folder
    #[arg(default_value = "runs")]
    pub(crate) folder: PathBuf,
    /// Answer at this address under /metrics until Ctrl-C; port 0 takes a free one. Any address but loopback needs a token
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// File with the token that is asked for, as `Authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub(crate) token_file: Option<PathBuf>,
    /// A further name under which it is reached; repeatable
    #[arg(long = "name", value_name = "HOST", requires = "listen")]
    pub(crate) names: Vec<String>,
    /// Put the values into the Pushgateway at this URL, in place of those that it has of the same run
    #[arg(long, value_name = "URL", conflicts_with = "listen")]
    pub(crate) push: Option<String>,
    /// Send the values to the OpenTelemetry collector at this URL, by OTLP over HTTP
    #[arg(long, value_name = "URL", conflicts_with_all = ["listen", "push"])]
    pub(crate) otlp: Option<String>,
    /// Send the values by Prometheus' remote write 1.0 to this URL; without a path it is /api/v1/write
    #[arg(long, value_name = "URL", conflicts_with_all = ["listen", "push"])]
    pub(crate) remote_write: Option<String>,
    /// Send them again and again, this long apart, until Ctrl-C; 1s to 1h
    #[arg(long, value_name = "TIME", requires = "stream", value_parser = every)]
    pub(crate) every: Option<Nanos>,
    /// Allow a push to this public host; loopback and private addresses need no consent
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    /// Print a dashboard for Grafana over these metrics: of runs, or of the agents of a fleet
    #[arg(long, value_enum, value_name = "OF", num_args = 0..=1, default_missing_value = "run", require_equals = true)]
    #[arg(conflicts_with_all = ["listen", "push", "stream"])]
    pub(crate) dashboard: Option<Dashboard>,
}

/// How monitoring sees a load or a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct MonitorArgs {
    /// Answer Prometheus at this address under /metrics while it lasts, by a process of its own that reads files
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// File with the token that it asks for; any address but loopback needs one
    #[arg(long, value_name = "FILE", requires = "metrics_listen")]
    pub(crate) metrics_token_file: Option<PathBuf>,
    /// Put the final values into the Pushgateway at this URL
    #[arg(long, value_name = "URL")]
    pub(crate) metrics_push: Option<String>,
    /// Send values to the OpenTelemetry collector at this URL: every 10 s, by a process of its own, and when it has ended
    #[arg(long, value_name = "URL")]
    pub(crate) metrics_otlp: Option<String>,
    /// Send values by Prometheus' remote write to this URL: every 10 s, by a process of its own, and when it has ended
    #[arg(long, value_name = "URL")]
    pub(crate) metrics_remote_write: Option<String>,
}

impl MonitorArgs {
    /// Whether anything watches.
    pub(crate) const fn is_asked(&self) -> bool {
        self.metrics_listen.is_some()
            || self.metrics_push.is_some()
            || self.metrics_otlp.is_some()
            || self.metrics_remote_write.is_some()
    }
}

/// A collector keeps every value that it is sent.
fn every(text: &str) -> Result<Nanos, String> {
    let found = duration(text).map_err(|error| error.to_string())?;
    let is_allowed = (Nanos::from_secs(1).0..=Nanos::from_secs(3_600).0).contains(&found.0);
    is_allowed.then_some(found).ok_or_else(|| format!("{text} is not from 1s to 1h"))
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony verify-monitoring http://127.0.0.1:9090
  prony verify-monitoring http://127.0.0.1:9090 --for 5m --interval 15s
  prony verify-monitoring http://127.0.0.1:9090 --format json

It answers under /metrics with the time, a counter that rises evenly and a histogram of known times, and waits until the
Prometheus scrapes it; the server's configuration needs a job for that address, which is printed. Then it asks the server
for what it stored. Both must be on one host, or their clocks in step: a delay is judged to 8 ms, counts, rates and
quantiles to 0.5 %.

Exit codes: 0 nothing is wrong, 1 wrong arguments or an address that is taken, 2 it was never scraped, or the server did not
answer, 3 something is wrong with the chain, 130 interrupted (what was stored until then is judged).")]
pub(crate) struct VerifyMonitoringArgs {
    /// The Prometheus
    pub(crate) url: String,
    /// Answer at this address; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:9465")]
    pub(crate) listen: SocketAddr,
    /// From the first scrape on; a job that scrapes every 15 s wants minutes
    #[arg(long = "for", value_name = "TIME", default_value = "1m", value_parser = duration)]
    pub(crate) length: Nanos,
    /// Wait so long for the first scrape
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration)]
    pub(crate) wait: Nanos,
    /// Time that is to lie between scrapes [default: what the server says of its job]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) interval: Option<Nanos>,
    /// Allow questions to this public host; loopback and private addresses need no consent
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}
