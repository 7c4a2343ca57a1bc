//! The live lab: an HTTP server over run folders, for `prony serve`.
//!
//! Invariants: everything is read from files, so a server that comes or goes changes no run; what is sent is a JSON
//! type of `schema`, a file of a fixed list, or an embedded asset; nothing of a request becomes a path, an argument or
//! a command, except by equality with a name that the server itself listed; connections, viewers, queues, request
//! sizes and times are bounded; only a process that is proven to be a run's is signalled. This is the one crate with an
//! async runtime (docs/adr/0008-report-and-lab.md): it never makes load.
//! Absent on purpose: TLS (put it behind a proxy or a tunnel), users and rights beyond one token, and any number that
//! is not in a file or computed by `analyze`.

mod access;
mod assets;
mod blocking;
mod connections;
mod downloads;
mod error;
mod experiments;
mod front;
mod guard;
mod lab;
mod live;
mod metrics;
mod overview;
mod page_of_metrics;
mod pages;
mod quiet;
mod runs;
mod starts;
mod token;

pub use assets::Assets;
pub use connections::{Options, Server};
pub use error::ServeError;
pub use page_of_metrics::MetricsPage;
pub use quiet::Quiet;
pub use token::{TOKEN_LENGTH_MIN, made as made_token, read as read_token};
