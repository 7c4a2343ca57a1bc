//! Arguments of `prony load`: where to, how much, how long. Other groups are flattened in.

use super::{
    AlarmArgs, ArrivalArgs, ConnectionArgs, HookArgs, MonitorArgs, RequestArgs, ResultArgs, TlsArgs,
};
use crate::load::compat::Tool;
use schema::design::Share;
use schema::experiment::{Load, OneOrMany};
use schema::trace_level::TraceLevel;
use units::{Count, Nanos, PerSecond, Users};

/// Flags that are not called as their keys are.
pub(super) const FLAGS: &[(&str, &str)] = &[
    ("duration", "-d"),
    ("load", "-R"),
    ("load.connections", "-c"),
    ("load.rate", "-R"),
    ("load.trace", "--trace-sample"),
    ("load.workers", "-t"),
    ("requests", "-n"),
];

#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = "Load",
    after_help = "Examples:
  prony load http://127.0.0.1:8080/ -c 64 -d 10s
  prony load http://127.0.0.1:8080/api -R 10k --arrivals poisson -c 200 -d 1m
  prony load http://127.0.0.1:8080/items -m POST -H 'Content-Type: application/json' -b '{\"a\":1}'
  prony load http://127.0.0.1:8080/ -n 100k -o result.json --hgrm result.hgrm
  prony load http://127.0.0.1:8080/ -R 1k --fail 'p99>50ms' --fail 'errors>0.1%'
  prony load http://127.0.0.1:8080/ -R 1k -d 1h --abort-on 'p99 > 200ms for 2m'
  prony load https://127.0.0.1:8443/ --cacert ca.pem -d 10s
  prony load http://127.0.0.1:8080 --scenario scenarios/shop.toml -R 500
  prony load http://127.0.0.1:50051 --grpc shop.Cart/Add --proto cart.proto --data '{}'
  prony load http://127.0.0.1:8080/ -s post.lua -c 100 -- arg1 arg2
  prony load --compat hey -z 10s -c 50 -q 20 http://127.0.0.1:8080/

Exit codes: 0 done, also with reservations, 1 wrong arguments, 2 the numbers must not be used: a
check failed such as pacer lag, there was no right answer, or 10 % of the requests or more failed
(see --errors-ok), 3 a --fail threshold is crossed or cannot be decided, or --abort-on ended it
(takes precedence over 2), 4 the result could not be written, 130 interrupted (results kept)."
)]
pub(crate) struct LoadArgs {
    /// Where to send requests, for example http://127.0.0.1:8080/path
    pub(crate) url: String,
    /// Connections in total [default: 64, or fewer for a smaller -n]
    #[arg(short, long, value_name = "N")]
    pub(crate) connections: Option<Count>,
    /// Virtual users instead of connections, as a count or a product such as '50_000 * 0.003' (closed loop)
    #[arg(long, value_name = "N", conflicts_with = "rate")]
    pub(crate) users: Option<Users>,
    /// Generator threads [default: 1 for each --pin CPU, else for every four CPUs]
    #[arg(short, long, value_name = "N")]
    pub(crate) threads: Option<u32>,
    /// Generator processes [default: as many as the limit of descriptors needs]
    #[arg(long, value_name = "N")]
    pub(crate) processes: Option<u32>,
    /// Share the load among agents: how many on this host, or a file that names them (see `prony fleet --help`)
    #[arg(long, value_name = "N|FILE", conflicts_with = "processes")]
    pub(crate) fleet: Option<String>,
    /// How long to measure [default: 10s, or until -n is reached]
    #[arg(short, long, value_name = "TIME", value_parser = super::duration)]
    pub(crate) duration: Option<Nanos>,
    /// Requests per second in total, whatever the answers do (open loop)
    #[arg(short = 'R', long, value_name = "RATE")]
    pub(crate) rate: Option<PerSecond>,
    #[command(flatten)]
    pub(crate) pacing: ArrivalArgs,
    /// End after this many measured requests (of a scenario with sessions: sessions); with -R, the first of its schedule
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) requests: Option<Count>,
    /// Load this long before measuring; kept out of all numbers
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = super::duration)]
    pub(crate) warmup: Nanos,
    /// Longest time from written to done
    #[arg(long, value_name = "TIME", default_value_t = plan::defaults::TIMEOUT, value_parser = super::duration)]
    pub(crate) timeout: Nanos,
    /// Longest time for a connection attempt
    #[arg(long, value_name = "TIME", default_value_t = plan::defaults::CONNECT_TIMEOUT, value_parser = super::duration)]
    pub(crate) connect_timeout: Nanos,
    /// Longest time from intended to done, waiting included [default: none]
    #[arg(long, value_name = "TIME", value_parser = super::duration)]
    pub(crate) total_timeout: Option<Nanos>,
    /// Seed of random arrivals
    #[arg(long, default_value_t = plan::defaults::SEED)]
    pub(crate) seed: u64,
    /// Send a trace id with every request (traceparent of W3C Trace Context), and ask the target to record the traces of
    /// this share, drawn by --seed, for example 1%
    #[arg(long, value_name = "SHARE")]
    pub(crate) trace_sample: Option<Share>,
    /// CPUs for the generator's threads, for example 0 or 0-3 [default: not pinned]
    #[arg(long, value_name = "CPUS")]
    pub(crate) pin: Option<String>,
    /// Allow load on this public host; loopback and private addresses need no consent
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
    /// Read the arguments as those of another tool, print prony's own, and run them
    #[arg(long, value_name = "TOOL", value_enum)]
    pub(crate) compat: Option<Tool>,
    #[command(flatten, next_help_heading = "Connections")]
    pub(crate) connection: ConnectionArgs,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
    #[command(flatten, next_help_heading = "Request")]
    pub(crate) request: RequestArgs,
    #[command(flatten, next_help_heading = "Before and after")]
    pub(crate) hooks: HookArgs,
    #[command(flatten, next_help_heading = "Monitoring")]
    pub(crate) monitor: MonitorArgs,
    #[command(flatten, next_help_heading = "Alarms")]
    pub(crate) alarms: AlarmArgs,
    #[command(flatten, next_help_heading = "Result")]
    pub(crate) result: ResultArgs,
}

impl LoadArgs {
    /// The same as `[load]` of an experiment file.
    pub(crate) fn to_load(&self) -> Load {
        let mut load = Load {
            connections: self.connections.map(OneOrMany::One),
            users: self.users,
            workers: self.threads,
            connect_timeout: Some(self.connect_timeout),
            timeout: Some(self.timeout),
            total_timeout: self.total_timeout,
            trace: self.trace_sample.map(|Share(share)| OneOrMany::One(TraceLevel::Share(share))),
            ..Load::default()
        };
        self.pacing.put_into(&mut load, self.rate);
        self.connection.put_into(&mut load);
        load
    }
}
