//! Arguments of `prony reference`.

use super::{TextOrJson, parse_enum};
use crate::reference::Member;
use schema::experiment::ServiceLaw;
use std::path::PathBuf;
use units::{Bytes, Count, Nanos};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony reference --listen 127.0.0.1:8080
  prony reference --listen 127.0.0.1:8080 --law exponential --mean 5ms --servers 2
  prony reference --listen 127.0.0.1:8080 --burn 200us
  prony reference --listen 127.0.0.1:8080 --mean 1ms --error-rate 0.01 --freeze 10s+1s
  prony reference --listen 127.0.0.1:8080 --leak-memory 1KiB --leak-descriptors 1000
  prony reference --listen 127.0.0.1:8443 --tls --tls-ca-out ca.pem
  prony reference --listen 127.0.0.1:8080 --fault reset-mid-body@every:3
  prony reference --listen 127.0.0.1:8080 --max-connections 50k

Routes: /health answers at once, /stats has the counts (of the process that answers,
where there are several), every other path goes through the queue.

It speaks HTTP/1.1, and HTTP/2 where a client begins with it or chooses h2 in the TLS
handshake. A call of gRPC, whatever its method, is answered with an empty message.")]
pub(crate) struct ReferenceArgs {
    /// Address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: std::net::SocketAddr,
    /// Law of the service time
    #[arg(long, value_name = "LAW", default_value = "constant", value_parser = parse_enum::<ServiceLaw>(&["constant", "exponential", "lognormal"]))]
    pub(crate) law: ServiceLaw,
    /// Mean service time; 0s answers at once
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = super::duration)]
    pub(crate) mean: Nanos,
    /// CPU time that each answer costs instead, on one thread; 0s costs next to nothing
    #[arg(long, value_name = "TIME", default_value = "0s", conflicts_with = "mean", value_parser = super::duration)]
    pub(crate) burn: Nanos,
    /// Requests served at the same time; the others wait in one queue
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) servers: u32,
    /// Seed of service times and faults
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Share of requests answered with status 500, calls of gRPC with status 13, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) error_rate: f64,
    /// Share of requests whose connection is reset, over HTTP/2 whose stream is, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) reset_rate: f64,
    /// AT+LENGTH: stand still for LENGTH, AT after the first request
    #[arg(long, value_name = "AT+LENGTH")]
    pub(crate) freeze: Option<String>,
    /// Memory that each request leaves behind for good: a leak of known size
    #[arg(long, value_name = "SIZE")]
    pub(crate) leak_memory: Option<Bytes>,
    /// Open a descriptor every N requests and never close it
    #[arg(long, value_name = "N")]
    pub(crate) leak_descriptors: Option<Count>,
    /// Memory up to this size is filled by requests, each taking the same share of what is left: a cache
    #[arg(long, value_name = "SIZE")]
    pub(crate) cache: Option<Bytes>,
    /// Speak TLS, with a certificate made for this run unless --tls-cert is given
    #[arg(long)]
    pub(crate) tls: bool,
    /// The server's certificate chain, PEM
    #[arg(long, value_name = "FILE", requires_all = ["tls", "tls_key"])]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The server's key, PEM
    #[arg(long, value_name = "FILE", requires_all = ["tls", "tls_cert"])]
    pub(crate) tls_key: Option<PathBuf>,
    /// Where to write the CA of the certificate that was made, PEM
    #[arg(long, value_name = "FILE", requires = "tls", conflicts_with = "tls_cert")]
    pub(crate) tls_ca_out: Option<PathBuf>,
    /// Be wrong in one way instead: NAME, NAME@every:N or NAME@first:N; see --list-faults. With --tls, over TLS where it is
    /// a fault of HTTP/2
    #[arg(long, value_name = "NAME[@PATTERN]", conflicts_with_all = ["tls_cert", "tls_ca_out", "law", "mean", "burn", "servers", "seed", "error_rate", "reset_rate", "freeze", "leak_memory", "leak_descriptors", "cache"])]
    pub(crate) fault: Option<testkit::fault::Spec>,
    /// Write the authority that clients must trust to this file; for faults of TLS, or over TLS
    #[arg(long, value_name = "FILE", requires = "fault")]
    pub(crate) ca_out: Option<PathBuf>,
    /// List the faults and end
    #[arg(long, conflicts_with = "fault")]
    pub(crate) list_faults: bool,
    /// What --list-faults prints
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
    /// Connections to hold at once; as many processes share the address as that needs
    #[arg(long, alias = "connections-max", value_name = "N", conflicts_with = "processes")]
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
