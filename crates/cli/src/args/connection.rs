//! How connections are made, kept and ended.

use super::parse_enum;
use schema::experiment::{ConnectionUse, Load, OneOrMany, Resolve};
use schema::plan::{DriverChoice, HttpVersion, PriorityChoice, SpinChoice};
use serde::Deserialize;
use units::{Count, Nanos, PerSecond};

/// Flags that are not called as their keys are.
pub(super) const FLAGS: &[(&str, &str)] = &[
    ("load.connection.keepalive", "--disable-keepalive"),
    ("load.connection.lifetime", "--connection-lifetime"),
    ("load.connection.nodelay", "--no-tcp-nodelay"),
    ("load.connection.ramp", "--connect-rate"),
    ("load.connection.requests", "--requests-per-connection"),
    ("load.connection.window_bits", "-w"),
    ("load.connection.connection_window_bits", "-W"),
    ("load.connection.sources", "--bind"),
];

/// What `--http` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum HttpChoice {
    /// What the server chooses.
    #[serde(rename = "auto")]
    Auto,
    /// This version.
    #[serde(untagged)]
    Version(HttpVersion),
}

impl HttpChoice {
    /// The version; none where the server is yet to choose.
    const fn version(self) -> Option<HttpVersion> {
        match self {
            Self::Version(version) => Some(version),
            Self::Auto => None,
        }
    }
}

/// Options of connections and of the engine below them.
#[derive(Debug, clap::Args)]
pub(crate) struct ConnectionArgs {
    /// Let an open load open more connections on demand, up to N in total
    #[arg(long, value_name = "N", requires = "rate")]
    pub(crate) max_connections: Option<Count>,
    /// Shed a request that could not be sent this long after its intended time (open loop)
    #[arg(long, value_name = "TIME", requires = "rate", value_parser = super::duration)]
    pub(crate) deadline: Option<Nanos>,
    /// How sockets are driven [default: auto, which is io_uring where the kernel has it]
    #[arg(long, value_name = "NAME", value_parser = parse_enum::<DriverChoice>(&["auto", "io_uring", "epoll"]))]
    pub(crate) driver: Option<DriverChoice>,
    /// Spin before an intended time: off, auto (the last microseconds) or full (never sleep) [default: auto]
    #[arg(long, value_name = "HOW", value_parser = parse_enum::<SpinChoice>(&["off", "auto", "full"]))]
    pub(crate) spin: Option<SpinChoice>,
    /// Standing of workers with times to keep: auto (short slices, and nice -10 where allowed) or normal [default: auto]
    #[arg(long, value_name = "HOW", value_parser = parse_enum::<PriorityChoice>(&["auto", "normal"]))]
    pub(crate) priority: Option<PriorityChoice>,
    /// A new connection for every request
    #[arg(long)]
    pub(crate) disable_keepalive: bool,
    /// Close a connection after N requests
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_connection: Option<Count>,
    /// Close a connection once it is this old and free
    #[arg(long, value_name = "TIME", value_parser = super::duration)]
    pub(crate) connection_lifetime: Option<Nanos>,
    /// Connection attempts per second while the load is set up [default: as fast as possible]
    #[arg(long, value_name = "RATE")]
    pub(crate) connect_rate: Option<PerSecond>,
    /// Requests sent ahead of answers on each connection; not comparable with other loads
    #[arg(long, value_name = "DEPTH")]
    pub(crate) pipeline: Option<u32>,
    /// Version of HTTP: 1.1, 2 (over http:// by prior knowledge, over https:// by ALPN), or auto, which is what the
    /// server chooses by ALPN and 1.1 over http:// [default: 1.1]
    #[arg(long, value_name = "VERSION", value_parser = parse_enum::<HttpChoice>(&["1.1", "2", "auto"]))]
    pub(crate) http: Option<HttpChoice>,
    /// Requests at a time on each connection of HTTP/2, as far as the server allows [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) streams: Option<u32>,
    /// Bits of the window of each answer over HTTP/2, as h2load has it; 16 is the protocol's own [default: 30]
    #[arg(short = 'w', long, value_name = "BITS")]
    pub(crate) window_bits: Option<u32>,
    /// Bits of the window of all answers of a connection together [default: 30]
    #[arg(short = 'W', long, value_name = "BITS")]
    pub(crate) connection_window_bits: Option<u32>,
    /// Follow redirects within the origin, as --follow or --follow=N, up to N for a request [default N: 5]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "5")]
    pub(crate) follow: Option<u32>,
    /// Leave Nagle's algorithm on (no TCP_NODELAY)
    #[arg(long)]
    pub(crate) no_tcp_nodelay: bool,
    /// TCP keep-alive probes after this long without traffic
    #[arg(long, value_name = "TIME", value_parser = super::duration)]
    pub(crate) tcp_keepalive: Option<Nanos>,
    /// Congestion control, for example cubic [default: the system's]
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion: Option<String>,
    /// Differentiated services code point, 0 to 63
    #[arg(long, value_name = "DSCP")]
    pub(crate) dscp: Option<u8>,
    /// Local address or range A-B, repeatable, used in turn [default: the system's choice, on loopback as many as needed]
    #[arg(long, value_name = "ADDR")]
    pub(crate) bind: Vec<String>,
    /// Network device to bind to
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// Connect to this Unix socket; the URL gives Host and path
    #[arg(long, value_name = "PATH", conflicts_with = "connect_to")]
    pub(crate) unix_socket: Option<String>,
    /// Connect here instead of the URL's host, which still gives the Host field
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) connect_to: Option<String>,
    /// HTTP proxy that tunnels to the target by CONNECT; none for no proxy [default: http_proxy, https_proxy, all_proxy
    /// and no_proxy of the environment]
    #[arg(long, value_name = "http://[USER:PASSWORD@]HOST:PORT")]
    pub(crate) proxy: Option<String>,
    /// Resolve the host name once or for each connection [default: once]
    #[arg(long, value_name = "WHEN", value_parser = parse_enum::<Resolve>(&["once", "each"]))]
    pub(crate) resolve: Option<Resolve>,
}

impl ConnectionArgs {
    /// Puts them into a load, each where `[load]` of an experiment file has it.
    pub(super) fn put_into(&self, load: &mut Load) {
        load.max_connections = self.max_connections;
        load.deadline = self.deadline;
        load.driver = self.driver;
        load.spin = self.spin;
        load.priority = self.priority;
        load.connection = ConnectionUse {
            keepalive: self.disable_keepalive.then_some(false),
            requests: self.requests_per_connection,
            lifetime: self.connection_lifetime,
            ramp: self.connect_rate,
            pipeline: self.pipeline,
            http: self.http.and_then(HttpChoice::version).map(OneOrMany::One),
            streams: self.streams.map(OneOrMany::One),
            window_bits: self.window_bits,
            connection_window_bits: self.connection_window_bits,
            follow: self.follow,
            nodelay: self.no_tcp_nodelay.then_some(false),
            tcp_keepalive: self.tcp_keepalive,
            congestion: self.congestion.clone(),
            dscp: self.dscp,
            sources: self.bind.clone(),
            device: self.device.clone(),
            unix_socket: self.unix_socket.clone(),
            resolve: self.resolve,
        };
    }
}
