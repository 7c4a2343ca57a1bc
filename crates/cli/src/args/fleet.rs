//! Arguments of `prony agent` and `prony fleet`.

use super::ManifestArgs;
use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony agent --listen unix:/run/prony/agent.sock --allow shop.internal
  prony agent --listen 127.0.0.1:7411 --allow 10.1.0.0/16
  prony agent --listen 0.0.0.0:7411 --tls keys/agents/load-1 --allow shop.internal
  prony agent --join nats://bus.internal:4222 --tls keys/agents/load-1 --allow shop.internal
  ssh load-1 prony agent --stdio --allow shop.internal   as a `command` of a fleet file

An agent makes its part of a load for --fleet of `prony load`, `run`, `knee`, `soak` and `replay`.
It loads loopback and what --allow names, nothing else; it resolves names itself, reads no file
but those that come with the load, and stops once its controller has been silent for 10 s. It
starts with an environment of PATH, HOME, LANG and the like only. Between hosts use ssh or --tls:
without them the lines between controller and agent are neither encrypted nor signed. --join is for
hosts that nobody can reach from outside: agent and controller both reach a NATS server, which
carries their TLS and can read none of it. Where it asks for a user, nats.toml beside the keys has
`user` and `password`.

Exit codes: 0 ended by Ctrl-C or by its controller, 1 wrong arguments or an unusable address.")]
pub(crate) struct AgentArgs {
    /// Serve one controller on standard input and output, as ssh brings them
    #[arg(long, conflicts_with_all = ["listen", "join"], required_unless_present_any = ["listen", "join"])]
    pub(crate) stdio: bool,
    /// Serve controllers one after the other on unix:PATH, or on an address and port; without --tls of loopback only
    #[arg(long, value_name = "unix:PATH|ADDR:PORT")]
    pub(crate) listen: Option<String>,
    /// Serve controllers that come through this NATS server, one after the other, under the name in the certificate of
    /// --tls
    #[arg(long, value_name = "nats://HOST:PORT", conflicts_with = "listen", requires = "tls")]
    pub(crate) join: Option<String>,
    /// Accept only the controller of the fleet that made this folder, over TLS 1.3: FOLDER/agents/NAME of `prony fleet
    /// keys FOLDER`
    #[arg(long, value_name = "FOLDER", conflicts_with = "stdio")]
    pub(crate) tls: Option<PathBuf>,
    /// Allow load on this host, address or network, such as 10.1.0.0/16; only loopback needs no word; repeatable
    #[arg(long, value_name = "HOST")]
    pub(crate) allow: Vec<String>,
    /// Keep this variable of the environment, such as one that a token's secret is in; repeatable
    #[arg(long, value_name = "NAME", conflicts_with = "here")]
    pub(crate) env: Vec<String>,
    /// Prony started it itself, on its own host
    #[arg(long, hide = true, requires = "stdio")]
    pub(crate) here: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony load http://127.0.0.1:8080/ -R 1000 --fleet 3    three agents for one load
  prony fleet up --agents 3                              agents that stay until Ctrl-C
  prony fleet list fleet.toml                            host, clock and work of each
  prony fleet drain fleet.toml                           end the agents after their load
  prony load http://shop.internal/ -R 10k --fleet fleet.toml
  prony fleet keys keys --agents load-1,load-2           keys for agents in a network without ssh
  prony fleet keys keys --agents load-1 --nats nats://bus.internal:4222   for agents on a bus
  prony fleet manifest keys --systemd --allow shop.internal   what starts an agent at every boot

A fleet file names each agent and the way to it, see docs/fleet.md:
  [[agent]]
  name = \"load-1\"
  command = [\"ssh\", \"load-1\", \"prony\", \"agent\", \"--stdio\", \"--allow\", \"shop.internal\"]
  [[agent]]
  name = \"load-2\"
  tcp = \"load-2.internal:7411\"
  tls = \"keys/controller\"

Exit codes: 0 done, 1 wrong arguments or file, 2 an agent cannot be reached, or its clock is not
known well enough, 130 interrupted while agents were waited for (they end all the same).")]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

/// How the agents of a fleet are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ListFormat {
    /// Lines
    Text,
    /// JSON (prony schema fleet-list)
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Start agents on this host until Ctrl-C, and write the fleet file that names them
    Up {
        /// How many
        #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=200))]
        agents: u32,
        /// Where their sockets and fleet.toml are made; a folder that only you can enter [default: a new one in the
        /// folder for temporary files]
        #[arg(long, value_name = "DIR")]
        folder: Option<PathBuf>,
        /// Allow load on this host, address or network; only loopback needs no word; repeatable
        #[arg(long, value_name = "HOST")]
        allow: Vec<String>,
    },
    /// Reach every agent of a fleet: its host, its prony, how well its clock is known, and what it does
    List {
        /// A fleet file, or a number of agents on this host
        #[arg(value_name = "N|FILE")]
        fleet: String,
        /// How to print it
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// Let every agent of a fleet finish the load that it makes, take no more, and end; waits until all have ended
    Drain {
        /// A fleet file
        #[arg(value_name = "FILE")]
        fleet: String,
    },
    /// End the load that a fleet makes at once, with its results kept as after Ctrl-C, and its agents
    Stop {
        /// A fleet file
        #[arg(value_name = "FILE")]
        fleet: String,
    },
    /// Make an authority, and keys for a controller and agents that trust each other over TLS; print the fleet file
    Keys {
        /// A folder to make; only its owner can enter it
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// Names of the agents: small letters, digits and `-`
        #[arg(long, value_name = "NAME,…", value_delimiter = ',', required_unless_present = "add")]
        agents: Vec<String>,
        /// Where each listens, in the same order [default: its name and port 7411]
        #[arg(long, value_name = "HOST[:PORT],…", value_delimiter = ',')]
        hosts: Vec<String>,
        /// The NATS server that all of them join, in place of ports that they listen on
        #[arg(long, value_name = "nats://HOST:PORT", conflicts_with = "hosts")]
        nats: Option<String>,
        /// Days for which the certificates are good
        #[arg(long, value_name = "N", default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=3650))]
        days: u32,
        /// Make keys for one agent more, in a folder that is there
        #[arg(long, value_name = "NAME", conflicts_with = "agents")]
        add: Option<String>,
    },
    /// Make a unit for systemd or objects for Kubernetes that run the agents of a folder of keys
    Manifest(Box<ManifestArgs>),
}
