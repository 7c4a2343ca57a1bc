//! The way to a target beyond its address: which URL the address stands for, and what lies between.

use std::net::SocketAddr;
use std::path::PathBuf;

pub use crate::driver::Proxy;
pub use wire::Origin;

/// What a load must know of its target beyond an address.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Scheme, host and port of the URL; redirects are followed within it only.
    pub origin: Option<Origin>,
    /// Addresses of further origins that requests go to; they are numbered from 1.
    pub further: Vec<SocketAddr>,
    /// The origin of each entry: 0 is the target, n the `n`th of `further`. Empty where all go to the target.
    pub origin_of: Vec<u16>,
    /// What every connection leads through; the job's address is then the proxy's.
    pub proxy: Option<Proxy>,
    /// The network namespace that every worker enters before it opens a connection; the caller's own where absent.
    pub namespace: Option<PathBuf>,
    /// Identifier of the first stream of each HTTP/2 connection, which is made odd; 1 where absent. For tests that come to
    /// the last one.
    pub first_stream: Option<u32>,
}
