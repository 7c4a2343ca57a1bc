//! Arguments of `prony fleet manifest`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("system").required(true).args(["systemd", "kubernetes"]))]
#[command(after_help = "Examples:
  prony fleet manifest keys --systemd --allow shop.internal > prony-agent.service
  prony fleet manifest keys --kubernetes --image prony:0.1.0 --allow 10.1.0.0/16 -o rendered

The folder of keys is that of `prony fleet keys`. The unit for systemd holds no key; it reads them on
its host. What is made for Kubernetes holds the keys as Secrets: it is written to a file that only you
can read, and printed only with --print-keys. It is JSON, which `kubectl apply -f` takes.

Exit codes: 0 done, 1 wrong arguments or folder, 4 the result could not be written.")]
pub(crate) struct ManifestArgs {
    /// A folder that `prony fleet keys` made
    #[arg(value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    /// Make a unit for systemd that runs one agent, the same for every host
    #[arg(long)]
    pub(crate) systemd: bool,
    /// Make Secrets, a Service, a StatefulSet for each agent and a NetworkPolicy, and the controller's fleet file
    #[arg(long, conflicts_with = "systemd")]
    pub(crate) kubernetes: bool,
    /// Allow load on this host, address or network; only loopback needs no word; repeatable
    #[arg(long, value_name = "HOST", required = true)]
    pub(crate) allow: Vec<String>,
    /// Write to this folder, which is made where it is missing; nothing is written over
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Most memory of an agent with its generators, in MiB
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(128..=1_048_576))]
    pub(crate) memory_mib: u32,
    /// Where the program is on each host
    #[arg(long, value_name = "PATH", default_value = "/usr/bin/prony", conflicts_with = "kubernetes")]
    pub(crate) program: String,
    /// Where an agent's keys are on each host: the files of FOLDER/agents/NAME
    #[arg(long, value_name = "PATH", default_value = "/etc/prony/keys", conflicts_with = "kubernetes")]
    pub(crate) keys_at: String,
    /// Address on which an agent listens [default: 0.0.0.0 and the port of the fleet file]
    #[arg(long, value_name = "ADDR:PORT", conflicts_with = "kubernetes")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// The image with its tag or digest; its entry point is prony
    #[arg(long, value_name = "IMAGE", required_if_eq("kubernetes", "true"), conflicts_with = "systemd")]
    pub(crate) image: Option<String>,
    /// The namespace of the agents and the controller
    #[arg(long, value_name = "NAME", default_value = "prony", conflicts_with = "systemd")]
    pub(crate) namespace: String,
    /// Whole CPUs of an agent, requested and limited
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "systemd",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) cpus: u32,
    /// Let agents reach pods with this label; a policy cannot name hosts
    #[arg(long, value_name = "LABEL=VALUE", conflicts_with = "systemd")]
    pub(crate) target_pods: Option<String>,
    /// The namespace of those pods [default: that of the agents]
    #[arg(long, value_name = "NAME", requires = "target_pods", conflicts_with = "systemd")]
    pub(crate) target_namespace: Option<String>,
    /// Print what holds keys to standard output
    #[arg(long, conflicts_with_all = ["systemd", "output"])]
    pub(crate) print_keys: bool,
}
