//! Arguments of `prony reference`.

use super::parse_enum;
use crate::reference::Member;
use schema::experiment::ServiceLaw;
use units::{Count, Nanos};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony reference --listen 127.0.0.1:8080
  prony reference --listen 127.0.0.1:8080 --law exponential --mean 5ms --servers 2
  prony reference --listen 127.0.0.1:8080 --mean 1ms --error-rate 0.01 --freeze 10s+1s
  prony reference --listen 127.0.0.1:8080 --max-connections 50k

Routes: /health answers at once, /stats tells the counts (of the process that answers,
where there are several), every other path goes through the queue.")]
pub(crate) struct ReferenceArgs {
    /// Address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: std::net::SocketAddr,
    /// Law of the service time
    #[arg(long, value_name = "LAW", default_value = "constant", value_parser = parse_enum::<ServiceLaw>(&["constant", "exponential", "lognormal"]))]
    pub(crate) law: ServiceLaw,
    /// Mean service time; 0s answers at once
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub(crate) mean: Nanos,
    /// Requests served at the same time; the others wait in one queue
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) servers: u32,
    /// Seed of service times and faults
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Share of requests answered with status 500, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) error_rate: f64,
    /// Share of requests whose connection is reset, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) reset_rate: f64,
    /// AT+LENGTH: stand still for LENGTH, AT after the first request
    #[arg(long, value_name = "AT+LENGTH")]
    pub(crate) freeze: Option<String>,
    /// Connections to hold at once; as many processes share the address as that needs
    #[arg(long, value_name = "N", conflicts_with = "processes")]
    pub(crate) max_connections: Option<Count>,
    /// Processes that share the address [default: 1, or what --max-connections needs]
    #[arg(long, value_name = "N")]
    pub(crate) processes: Option<u32>,
    /// Given by prony to the processes it starts
    #[arg(long, hide = true)]
    pub(crate) member: Option<Member>,
    /// Allow an address that other machines can reach
    #[arg(long)]
    pub(crate) public: bool,
}
