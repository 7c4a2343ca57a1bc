//! What lies between the core and the driver, chosen at compile time per worker loop: nothing, or TLS.
//!
//! Plain text costs nothing: [`Plain`] hands the driver's own sockets and events through.

use crate::core::Core;
use crate::driver::{Driver, Route, SlotId, Sockets, Wait};
use crate::failure::Failure;
use crate::protocol::Protocol;
use std::io;
use units::Nanos;

/// A layer between a core, which speaks plain text, and a driver, which moves bytes.
pub(crate) trait Layer {
    /// The sockets as the core sees them.
    type Sockets<'a, S: Sockets + 'static>: Sockets
    where
        Self: 'a;

    /// The core's view of the driver's sockets, for actions outside of an event.
    fn over<'a, S: Sockets + 'static>(&'a mut self, sockets: &'a mut S) -> Self::Sockets<'a, S>;
    /// Waits for events of the driver and hands them to the core. Returns how many there were.
    fn poll<D: Driver, P: Protocol>(
        &mut self,
        driver: &mut D,
        wait: Wait,
        core: &mut Core<P>,
    ) -> io::Result<usize>;
    /// When [`Layer::on_time`] is to be called next, for the layer's own sake or the driver's; on the clock of
    /// [`Driver::next_deadline`].
    fn next_deadline<D: Driver>(&self, driver: &D) -> Option<Nanos>;
    /// The time of [`Layer::next_deadline`] has come: it is `now`, or was.
    fn on_time<D: Driver, P: Protocol>(&mut self, driver: &mut D, now: Nanos, core: &mut Core<P>);
}

/// No layer.
#[derive(Debug)]
pub(crate) struct Plain;

impl Layer for Plain {
    type Sockets<'a, S: Sockets + 'static> = &'a mut S;

    #[inline]
    fn over<'a, S: Sockets + 'static>(&'a mut self, sockets: &'a mut S) -> &'a mut S {
        sockets
    }

    #[inline]
    fn poll<D: Driver, P: Protocol>(
        &mut self,
        driver: &mut D,
        wait: Wait,
        core: &mut Core<P>,
    ) -> io::Result<usize> {
        driver.poll(wait, core)
    }

    #[inline]
    fn next_deadline<D: Driver>(&self, driver: &D) -> Option<Nanos> {
        driver.next_deadline()
    }

    fn on_time<D: Driver, P: Protocol>(&mut self, driver: &mut D, now: Nanos, core: &mut Core<P>) {
        driver.on_time(now, core);
    }
}

impl<S: Sockets> Sockets for &mut S {
    fn connect(&mut self, slot: SlotId, route: &Route) -> Result<(), Failure> {
        (**self).connect(slot, route)
    }

    #[inline]
    fn send(&mut self, slot: SlotId, bytes: &[u8]) -> Result<usize, Failure> {
        (**self).send(slot, bytes)
    }

    #[inline]
    fn send_last(&mut self, slot: SlotId, bytes: &[u8]) {
        (**self).send_last(slot, bytes);
    }
    fn answered(&mut self, slot: SlotId) {
        (**self).answered(slot);
    }

    fn generation(&self, slot: SlotId) -> u32 {
        (**self).generation(slot)
    }

    fn close(&mut self, slot: SlotId) {
        (**self).close(slot);
    }
}
