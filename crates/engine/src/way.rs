//! The way to a target beyond its address: which URL the address stands for, and what lies between.

pub use crate::driver::Proxy;
pub use wire::Origin;

/// What a load must know of its target beyond an address.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Scheme, host and port of the URL; redirects are followed within it only.
    pub origin: Option<Origin>,
    /// What every connection leads through; the job's address is then the proxy's.
    pub proxy: Option<Proxy>,
}
