//! Arguments of `prony record`.

use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony record http://127.0.0.1:8080 -o today.json              record until Ctrl-C
  prony record http://127.0.0.1:8080 -o today.json --listen 127.0.0.1:9000
  prony replay today.json --url http://127.0.0.1:8081 --writes  send it to a copy

Bytes are passed on unchanged. The log has paths, times, status codes and bodies, which may hold what users wrote: only
its owner can read it. Cookies, logins and other header fields are not in it.
Exit codes: 0 done, 1 wrong arguments, 2 the proxy failed, 4 the log could not be written.")]
pub(crate) struct RecordArgs {
    /// Server to pass requests on to: scheme, host and port
    #[arg(value_name = "URL")]
    pub(crate) to: String,
    /// The log to write, JSON lines; it must not exist
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Listen on an address that other machines can reach
    #[arg(long)]
    pub(crate) public: bool,
    /// Leave request bodies out; such a log replays GET and HEAD, and other requests that had none
    #[arg(long)]
    pub(crate) no_bodies: bool,
    /// Consent to pass requests on to this host or address, where it is neither loopback nor private
    #[arg(long, value_name = "HOST")]
    pub(crate) consent: Vec<String>,
}
