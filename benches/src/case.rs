//! What every peer is asked to do. A case is data: a new kind of load is a new field here and a use of it in each peer.

/// The path that is asked for; the reference target answers it with 31 bytes of JSON.
pub(crate) const PATH: &str = "/ping";

/// One load that every peer makes: a closed loop over HTTP/1.1 with keep-alive, from one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// Connections, each with one request in flight.
    pub(crate) connections: u32,
}

/// A case at a server for a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    /// Whole address, path included.
    pub(crate) url: &'a str,
    /// The load.
    pub(crate) case: Case,
    /// How long, in whole seconds, as all peers take it.
    pub(crate) seconds: u64,
}
