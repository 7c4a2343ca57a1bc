//! Events of the driver, made into events of the core: handshakes, plain text, ends.

use super::config::Tls;
use super::failure::{self, CLOSED_IN_HANDSHAKE, FOREIGN_PROTOCOL, NOT_HTTP2, TRUNCATED};
use super::session::{Digested, Session};
use super::table::{Entry, Scratch, Table, TlsSockets, say_goodbye};
use crate::core::Core;
use crate::driver::{Driver, Handler, Handshake, SlotId, Sockets, Wait};
use crate::failure::Failure;
use crate::layer::Layer;
use crate::protocol::Protocol;
use rustls::client::UnbufferedClientConnection;
use rustls::{AlertDescription, Error, HandshakeKind};
use std::io;
use units::{Clock, Nanos};
use wire::{Framing as _, Http2};

/// The layer that makes every connection one of TLS.
pub(crate) struct TlsLayer {
    table: Table,
}

impl TlsLayer {
    /// For one worker, with a session store of its own; `alpn` is the protocol that connections speak.
    pub(crate) fn new(tls: &Tls, alpn: &'static [u8]) -> Self {
        Self { table: Table::new(tls.with_own_sessions(), alpn) }
    }
}

impl Layer for TlsLayer {
    type Sockets<'a, S: Sockets + 'static> = TlsSockets<'a, S>;

    #[inline]
    fn over<'a, S: Sockets + 'static>(&'a mut self, sockets: &'a mut S) -> TlsSockets<'a, S> {
        TlsSockets { sockets, table: &mut self.table }
    }

    fn poll<D: Driver, P: Protocol>(
        &mut self,
        driver: &mut D,
        wait: Wait,
        core: &mut Core<P>,
    ) -> io::Result<usize> {
        driver.poll(wait, &mut TlsHandler { table: &mut self.table, core })
    }

    #[inline]
    fn next_deadline<D: Driver>(&self, driver: &D) -> Option<Nanos> {
        driver.next_deadline()
    }

    fn on_time<D: Driver, P: Protocol>(&mut self, driver: &mut D, now: Nanos, core: &mut Core<P>) {
        driver.on_time(now, &mut TlsHandler { table: &mut self.table, core });
    }
}

/// Takes the driver's events in the core's place.
struct TlsHandler<'a, H> {
    table: &'a mut Table,
    core: &'a mut H,
}

/// How the reading of a session went, where it did not just come to the end of what there is.
enum End {
    Failed(Failure),
    PeerClosed,
}

impl<S, H> Handler<S> for TlsHandler<'_, H>
where
    S: Sockets + 'static,
    H: for<'x> Handler<TlsSockets<'x, S>>,
{
    fn connected(&mut self, sockets: &mut S, slot: SlotId, result: Result<(), Failure>) {
        let began = self.table.clock.now();
        let origin = match self.table.entry(slot) {
            Entry::Connecting(origin) => *origin,
            _ => 0,
        };
        let tls = &self.table.tls;
        let session = result.and_then(|()| {
            UnbufferedClientConnection::new(tls.config().clone(), tls.name_of(origin).clone())
                .map_err(|error| failure::of(&error))
        });
        match session {
            Ok(connection) => {
                *self.table.entry(slot) = Entry::Open(Box::new(Session::new(connection, began)));
                self.received(sockets, slot, &[]);
            }
            Err(failure) => {
                *self.table.entry(slot) = Entry::Spent;
                self.core.connected(&mut over(sockets, self.table), slot, Err(failure));
            }
        }
    }

    #[inline]
    fn received(&mut self, sockets: &mut S, slot: SlotId, bytes: &[u8]) {
        let Some(mut session) = self.table.lend(slot) else { return };
        let mut scratch = std::mem::take(&mut self.table.scratch);
        session.gather(&mut scratch.incoming, bytes);
        let mut used = 0;
        let end = self.read(sockets, slot, &mut session, &mut scratch, &mut used);
        session.keep(&scratch.incoming[used..]);
        self.give_back(sockets, slot, session, &mut scratch, end);
        self.table.scratch = scratch;
    }

    fn ended(&mut self, sockets: &mut S, slot: SlotId, failure: Option<Failure>) {
        let Some(session) = self.table.spend(slot) else { return };
        let failure = match (failure, session.established) {
            (Some(failure), _) => failure,
            (None, true) => TRUNCATED,
            (None, false) => CLOSED_IN_HANDSHAKE,
        };
        self.fail(sockets, slot, session.established, failure);
    }

    fn writable(&mut self, sockets: &mut S, slot: SlotId) {
        let Entry::Open(session) = self.table.entry(slot) else { return };
        match session.flush(sockets, slot) {
            Ok(true) if session.cut_short => {
                session.cut_short = false;
                self.core.writable(&mut over(sockets, self.table), slot);
            }
            Ok(_) => {}
            Err(failure) => {
                let established = session.established;
                self.table.spend(slot);
                self.fail(sockets, slot, established, failure);
            }
        }
    }
}

impl<H> TlsHandler<'_, H> {
    /// Hands all plain text that is whole to the core, and tells it of the end of the handshake.
    fn read<S>(
        &mut self,
        sockets: &mut S,
        slot: SlotId,
        session: &mut Session,
        scratch: &mut Scratch,
        used: &mut usize,
    ) -> Result<(), End>
    where
        S: Sockets + 'static,
        H: for<'x> Handler<TlsSockets<'x, S>>,
    {
        loop {
            let Scratch { incoming, answer } = &mut *scratch;
            let digested = session.digest(incoming, used, answer, |plain| {
                self.core.received(&mut over(sockets, self.table), slot, plain);
                self.table.is_wanted(slot)
            });
            match digested {
                Ok(Digested::Blocked) => return Ok(()),
                Ok(Digested::PeerClosed) => return Err(End::PeerClosed),
                Ok(Digested::Established) => self.establish(sockets, slot, session)?,
                Err(Error::AlertReceived(AlertDescription::NoApplicationProtocol))
                    if self.table.wants_http2() =>
                {
                    return Err(End::Failed(NOT_HTTP2));
                }
                Err(error) => return Err(End::Failed(failure::of(&error))),
            }
            if !self.table.is_wanted(slot) {
                return Ok(());
            }
        }
    }

    /// The handshake is done: the core learns of the connection, if it can use what ALPN chose.
    fn establish<S>(&mut self, sockets: &mut S, slot: SlotId, session: &mut Session) -> Result<(), End>
    where
        S: Sockets + 'static,
        H: for<'x> Handler<TlsSockets<'x, S>>,
    {
        let connection = session.connection();
        let unfit = match (self.table.wants_http2(), connection.alpn_protocol()) {
            (false, Some(b"h2" | b"h3")) => Some(FOREIGN_PROTOCOL),
            (true, chosen) if chosen != Some(Http2::ALPN.as_bytes()) => Some(NOT_HTTP2),
            _ => None,
        };
        if let Some(failure) = unfit {
            session.established = false;
            return Err(End::Failed(failure));
        }
        let resumed = connection.handshake_kind() == Some(HandshakeKind::Resumed);
        let took = self.table.clock.now().since(session.began);
        self.core.secured(slot, Handshake { took, resumed });
        self.core.connected(&mut over(sockets, self.table), slot, Ok(()));
        Ok(())
    }

    /// Does what the core wished for while the session was lent, and puts the session back if it lives on.
    fn give_back<S>(
        &mut self,
        sockets: &mut S,
        slot: SlotId,
        mut session: Box<Session>,
        scratch: &mut Scratch,
        end: Result<(), End>,
    ) where
        S: Sockets + 'static,
        H: for<'x> Handler<TlsSockets<'x, S>>,
    {
        let wishes = self.table.wishes(slot);
        let answer = &mut scratch.answer;
        if wishes.close {
            self.table.deferred.clear();
            say_goodbye(&mut session, sockets, slot, answer);
            sockets.close(slot);
            *self.table.entry(slot) = Entry::Closed;
            if let Some(route) = wishes.connect
                && let Err(failure) = over(sockets, self.table).connect(slot, &route)
            {
                self.core.connected(&mut over(sockets, self.table), slot, Err(failure));
            }
            return;
        }
        let end = end.and_then(|()| {
            // What the core was promised is taken goes in full: the answer of TLS first, both in one write.
            if !self.table.deferred.is_empty() {
                session.encrypt(&self.table.deferred, answer).map_err(End::Failed)?;
            }
            session.pass_on(sockets, slot, answer).map_err(End::Failed)
        });
        self.table.deferred.clear();
        self.settle(sockets, slot, session, scratch, end, wishes.cut_short);
    }

    /// The last step of a read on a connection that the core wants to keep.
    fn settle<S>(
        &mut self,
        sockets: &mut S,
        slot: SlotId,
        mut session: Box<Session>,
        scratch: &mut Scratch,
        end: Result<(), End>,
        cut_short: bool,
    ) where
        S: Sockets + 'static,
        H: for<'x> Handler<TlsSockets<'x, S>>,
    {
        match end {
            Ok(()) => {
                session.cut_short |= cut_short;
                *self.table.entry(slot) = Entry::Open(session);
                if cut_short {
                    self.writable(sockets, slot);
                }
            }
            Err(End::PeerClosed) => {
                say_goodbye(&mut session, sockets, slot, &mut scratch.answer);
                *self.table.entry(slot) = Entry::Spent;
                self.core.ended(&mut over(sockets, self.table), slot, None);
            }
            Err(End::Failed(failure)) => {
                // The alert, if there is one; a connection that has failed needs no second failure.
                let _ = session.pass_on(sockets, slot, &mut scratch.answer);
                scratch.answer.clear();
                *self.table.entry(slot) = Entry::Spent;
                self.fail(sockets, slot, session.established, failure);
            }
        }
    }

    fn fail<S>(&mut self, sockets: &mut S, slot: SlotId, established: bool, failure: Failure)
    where
        S: Sockets + 'static,
        H: for<'x> Handler<TlsSockets<'x, S>>,
    {
        let mut sockets = over(sockets, self.table);
        if established {
            self.core.ended(&mut sockets, slot, Some(failure));
        } else {
            self.core.connected(&mut sockets, slot, Err(failure));
        }
    }
}

fn over<'a, S: Sockets>(sockets: &'a mut S, table: &'a mut Table) -> TlsSockets<'a, S> {
    TlsSockets { sockets, table }
}
