//! Arguments of `prony serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony serve
  prony serve runs --experiments experiments --open
  prony serve --listen 127.0.0.1:0
  prony serve --listen 0.0.0.0:7070 --token-file ~/.prony-token
  ssh -L 7070:127.0.0.1:7070 lab-host                   from another host, without opening a port

The lab shows runs in progress as they go, the library of runs with tags and notes, comparisons and histories, and
starts experiments from the files in --experiments: these files and nothing else, never a command of the browser.
Run folders are only read. Tags and notes are kept in RUNS/.prony-labels.json, the index in RUNS/.prony-index.sqlite,
which may be deleted at any time.

Exit codes: 0 ended by Ctrl-C, 1 wrong arguments, an address that is taken, or a folder that is not there.")]
pub(crate) struct ServeArgs {
    /// Where run folders are
    #[arg(default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Experiment files that may be started [default: experiments, if it is there]
    #[arg(long, value_name = "DIR")]
    pub(crate) experiments: Option<PathBuf>,
    /// Address and port; port 0 takes a free one. Any address but loopback needs a token
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7070")]
    pub(crate) listen: SocketAddr,
    /// File with the token that is asked for; without it one is made and printed where the address needs one
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// A further name under which the lab is reached, such as that of a proxy; repeatable
    #[arg(long = "name", value_name = "HOST")]
    pub(crate) names: Vec<String>,
    /// Open the lab in the browser
    #[arg(long)]
    pub(crate) open: bool,
}
