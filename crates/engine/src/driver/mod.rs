//! The seam between the worker and the operating system's way of driving sockets.
//!
//! A driver owns the sockets, one for each connection slot, and tells the worker what happened to them. It is chosen
//! at compile time per worker loop, so there is no dynamic call per request.
//!
//! The only modules of prony with unsafe code are below this one, each block with its reason.

mod epoll;
mod route;
mod tunnel;
mod uring;

use crate::failure::Failure;
pub(crate) use epoll::Epoll;
pub(crate) use route::{Peer, Route, SocketOptions};
use rustix::process::{Resource, getrlimit};
use std::io;
use std::sync::Arc;
pub use tunnel::Proxy;
pub(crate) use tunnel::Tunnel;
use units::Nanos;
pub(crate) use uring::Uring;

/// Index of a connection slot.
pub(crate) type SlotId = u32;

/// How long a driver may wait for something to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Not at all.
    No,
    /// This long at most.
    AtMost(Nanos),
}

/// A TLS handshake that ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handshake {
    /// From the established connection to the end of the handshake.
    pub(crate) took: Nanos,
    /// Whether an earlier session was resumed.
    pub(crate) resumed: bool,
}

/// What a driver is made for.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// Connection slots, at most [`SLOTS_MAX`].
    pub(crate) slots: usize,
    /// Whether a connection may have several requests on it at a time.
    pub(crate) is_pipelined: bool,
    /// Options of every socket.
    pub(crate) options: SocketOptions,
    /// Bytes that are sent over and over and outlive the driver; sending from within them saves a copy.
    pub(crate) lasting: Arc<[u8]>,
    /// What every connection leads through; only [`Tunnel`] looks at it.
    pub(crate) proxy: Option<Proxy>,
}

/// Most slots of one driver.
pub(crate) const SLOTS_MAX: usize = 1 << 20;

/// Actions on sockets that the worker may take while it handles an event.
pub(crate) trait Sockets {
    /// Begins to connect the slot, which must be closed; the end is reported by [`Handler::connected`].
    fn connect(&mut self, slot: SlotId, route: &Route) -> Result<(), Failure>;
    /// Sends from the front of `bytes`; returns how many were taken. When fewer than all,
    /// [`Handler::writable`] tells when to go on. A failure of bytes that were taken is reported by [`Handler::ended`].
    fn send(&mut self, slot: SlotId, bytes: &[u8]) -> Result<usize, Failure>;
    /// Sends what a connection says before it is closed, as far as the system takes it at once. Only [`Sockets::close`] may
    /// follow.
    fn send_last(&mut self, slot: SlotId, bytes: &[u8]) {
        // The connection is given up: a peer that cannot be reached will see its end.
        let _ = self.send(slot, bytes);
    }
    /// The answer to the oldest unanswered send of a pipelined slot has come, so its bytes stand in no buffer any more.
    fn answered(&mut self, _slot: SlotId) {}
    /// A number of the slot's present connection: another one once it was closed.
    fn generation(&self, slot: SlotId) -> u32;
    /// Closes the slot; nothing more is reported on it until it is connected again.
    fn close(&mut self, slot: SlotId);
}

/// What a worker does about events.
pub(crate) trait Handler<S: Sockets> {
    /// A connection attempt ended.
    fn connected(&mut self, sockets: &mut S, slot: SlotId, result: Result<(), Failure>);
    /// A connection's TLS handshake ended well; [`Handler::connected`] follows at once. Never called without TLS.
    fn secured(&mut self, _slot: SlotId, _handshake: Handshake) {}
    /// Bytes came.
    fn received(&mut self, sockets: &mut S, slot: SlotId, bytes: &[u8]);
    /// The peer closed (`None`) or the connection failed.
    fn ended(&mut self, sockets: &mut S, slot: SlotId, failure: Option<Failure>);
    /// A send that was cut short may go on.
    fn writable(&mut self, sockets: &mut S, slot: SlotId);
}

/// A way of driving sockets.
pub(crate) trait Driver: Sized {
    type Sockets: Sockets + 'static;

    /// A driver for connections of one kind. Must be used on the thread that made it.
    fn new(setup: &Setup) -> io::Result<Self>;
    /// The sockets, for actions outside of an event.
    fn sockets(&mut self) -> &mut Self::Sockets;
    /// Waits and hands events to `handler`. Returns how many there were.
    fn poll(&mut self, wait: Wait, handler: &mut impl Handler<Self::Sockets>) -> io::Result<usize>;

    /// When [`Driver::on_time`] is to be called next, on the generator's clock, which runs from before the set-up to
    /// the end; never, for a driver without timers.
    fn next_deadline(&self) -> Option<Nanos> {
        None
    }

    /// The time of [`Driver::next_deadline`] has come: it is `now`, or was.
    fn on_time(&mut self, _now: Nanos, _handler: &mut impl Handler<Self::Sockets>) {}
}

/// Whether the kernel has what the io_uring driver needs: tries it on the calling thread.
pub(crate) fn try_uring() -> io::Result<()> {
    let options = SocketOptions::default();
    let lasting = Arc::from([]);
    Uring::new(&Setup { slots: 1, is_pipelined: false, options, lasting, proxy: None }).map(drop)
}

/// Descriptors that each worker may have open at once, half of them left for everything else.
pub(crate) fn descriptors_each(workers: u32) -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(limit / 2 / u64::from(workers.max(1))).unwrap_or(usize::MAX)
}
