//! Tunnels: every connection goes to an HTTP proxy, which is asked by CONNECT to lead it on to the target
//! (RFC 9110 §9.3.6).
//!
//! A driver over another one, with the same sockets. What is above (TLS or the core) learns of a connection once its
//! tunnel is open, so the time of the exchange with the proxy is part of the connect time, and the connect time-out
//! ends it. Bytes behind the proxy's answer belong to the target. Where there is no proxy this type is not there.
//!
//! Invariants: an answer of the proxy is bounded; a connection that was closed meanwhile gets no more events; an open
//! tunnel has no memory of its own.

use super::{Driver, Handler, Setup, SlotId, Sockets, Wait};
use crate::failure::{Cause, Failure, ProxyFault};
use schema::load::ErrorClass;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use units::Nanos;
use wire::{Feed, Header, ResponseParser, Visit};

/// Longest answer to CONNECT, interim answers included.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// A proxy, and what it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Where it listens.
    pub address: SocketAddr,
    /// The whole CONNECT request.
    pub request: Arc<[u8]>,
}

/// A driver whose connections lead through a proxy.
pub(crate) struct Tunnel<D> {
    inner: D,
    asked: Asked,
}

/// What is under way with the proxy.
struct Asked {
    proxy: Proxy,
    /// By slot; none for a tunnel that is open, and where there is no connection.
    slots: Vec<Option<Box<Asking>>>,
}

/// A tunnel that is not open yet.
#[derive(Default)]
struct Asking {
    /// Bytes of the request that were taken.
    sent: usize,
    /// Bytes of the answer that came.
    got: usize,
    parser: ResponseParser,
    answer: Status,
}

/// The final status of the proxy's answer.
#[derive(Default)]
struct Status(u16);

impl Visit for Status {
    fn head(&mut self, status: u16, _: &[Header<'_>]) {
        self.0 = status;
    }

    fn body(&mut self, _: &[u8]) {}
}

impl<D: Driver> Driver for Tunnel<D> {
    type Sockets = D::Sockets;

    fn new(setup: &Setup) -> io::Result<Self> {
        let missing = || io::Error::new(io::ErrorKind::InvalidInput, "a tunnel needs a proxy");
        let proxy = setup.proxy.clone().ok_or_else(missing)?;
        let slots = std::iter::repeat_with(|| None).take(setup.slots).collect();
        Ok(Self { inner: D::new(setup)?, asked: Asked { proxy, slots } })
    }

    fn sockets(&mut self) -> &mut D::Sockets {
        self.inner.sockets()
    }

    fn poll(&mut self, wait: Wait, handler: &mut impl Handler<D::Sockets>) -> io::Result<usize> {
        self.inner.poll(wait, &mut Through { asked: &mut self.asked, handler })
    }

    fn next_deadline(&self) -> Option<Nanos> {
        self.inner.next_deadline()
    }

    fn on_time(&mut self, now: Nanos, handler: &mut impl Handler<D::Sockets>) {
        self.inner.on_time(now, &mut Through { asked: &mut self.asked, handler });
    }
}

impl Asked {
    fn failure(&self, fault: ProxyFault) -> Failure {
        Failure { class: ErrorClass::Proxy, cause: Cause::Proxy(self.proxy.address, fault) }
    }

    /// Sends on what the proxy is asked. Without a failure [`Handler::writable`] or the answer is next.
    fn send<S: Sockets>(&mut self, sockets: &mut S, slot: SlotId) -> Result<(), Failure> {
        let Some(asking) = &mut self.slots[slot as usize] else { return Ok(()) };
        let rest = &self.proxy.request[asking.sent..];
        if !rest.is_empty() {
            asking.sent += sockets.send(slot, rest)?;
        }
        Ok(())
    }

    /// Reads on in the proxy's answer. Returns how many of `bytes` belong to it, once the tunnel is open.
    fn read(&mut self, slot: SlotId, bytes: &[u8]) -> Result<Option<usize>, Failure> {
        let Some(asking) = &mut self.slots[slot as usize] else { return Ok(None) };
        // The answer ends with its header section, whatever that says of a body.
        if asking.got == 0 {
            asking.parser.begin(true);
        }
        asking.got += bytes.len();
        let fault = match asking.parser.feed(bytes, &mut asking.answer) {
            Ok(Feed::NeedMore) if asking.got <= ANSWER_BYTES_MAX => return Ok(None),
            Ok(Feed::NeedMore) => ProxyFault::TooLong,
            Ok(Feed::Complete { taken, .. }) if (200..300).contains(&asking.answer.0) => {
                return Ok(Some(taken));
            }
            Ok(Feed::Complete { .. }) => ProxyFault::Status(asking.answer.0),
            Err(malformed) => ProxyFault::Malformed(malformed),
        };
        Err(self.failure(fault))
    }
}

/// Takes events until a tunnel is open, and hands on all others.
struct Through<'a, H> {
    asked: &'a mut Asked,
    handler: &'a mut H,
}

impl<H> Through<'_, H> {
    fn fail<S: Sockets>(&mut self, sockets: &mut S, slot: SlotId, failure: Failure)
    where
        H: Handler<S>,
    {
        self.asked.slots[slot as usize] = None;
        self.handler.connected(sockets, slot, Err(failure));
    }
}

impl<S: Sockets, H: Handler<S>> Handler<S> for Through<'_, H> {
    fn connected(&mut self, sockets: &mut S, slot: SlotId, result: Result<(), Failure>) {
        if let Err(failure) = result {
            return self.fail(sockets, slot, failure);
        }
        // Whatever was under way on an earlier connection of the slot ended with it.
        self.asked.slots[slot as usize] = Some(Box::default());
        self.writable(sockets, slot);
    }

    #[inline]
    fn received(&mut self, sockets: &mut S, slot: SlotId, bytes: &[u8]) {
        if self.asked.slots[slot as usize].is_none() {
            return self.handler.received(sockets, slot, bytes);
        }
        match self.asked.read(slot, bytes) {
            Ok(None) => {}
            Ok(Some(taken)) => {
                self.asked.slots[slot as usize] = None;
                sockets.answered(slot);
                let generation = sockets.generation(slot);
                self.handler.connected(sockets, slot, Ok(()));
                if taken < bytes.len() && sockets.generation(slot) == generation {
                    self.handler.received(sockets, slot, &bytes[taken..]);
                }
            }
            Err(failure) => self.fail(sockets, slot, failure),
        }
    }

    fn ended(&mut self, sockets: &mut S, slot: SlotId, failure: Option<Failure>) {
        if self.asked.slots[slot as usize].is_none() {
            return self.handler.ended(sockets, slot, failure);
        }
        let fault = match failure.map(|failure| failure.cause) {
            Some(Cause::System(errno)) => ProxyFault::Lost(errno),
            _ => ProxyFault::Closed,
        };
        let failure = self.asked.failure(fault);
        self.fail(sockets, slot, failure);
    }

    #[inline]
    fn writable(&mut self, sockets: &mut S, slot: SlotId) {
        if self.asked.slots[slot as usize].is_none() {
            return self.handler.writable(sockets, slot);
        }
        if let Err(failure) = self.asked.send(sockets, slot) {
            self.fail(sockets, slot, failure);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Route;

    const OPENED: &[u8] = b"HTTP/1.1 200 Established\r\nX: y\r\n\r\n";

    /// A socket that takes a few bytes at a time.
    #[derive(Default)]
    struct Slow {
        sent: Vec<u8>,
        generation: u32,
    }

    impl Sockets for Slow {
        fn connect(&mut self, _: SlotId, _: &Route) -> Result<(), Failure> {
            Ok(())
        }

        fn send(&mut self, _: SlotId, bytes: &[u8]) -> Result<usize, Failure> {
            let taken = bytes.len().min(5);
            self.sent.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn generation(&self, _: SlotId) -> u32 {
            self.generation
        }

        fn close(&mut self, _: SlotId) {
            self.generation += 1;
        }
    }

    /// What lies above; closes the connection as soon as it stands where it is asked to.
    #[derive(Default)]
    struct Above {
        connected: Vec<Result<(), Failure>>,
        received: Vec<u8>,
        ended: usize,
        writable: usize,
        closes: bool,
    }

    impl Handler<Slow> for Above {
        fn connected(&mut self, sockets: &mut Slow, slot: SlotId, result: Result<(), Failure>) {
            self.connected.push(result);
            if self.closes {
                sockets.close(slot);
            }
        }

        fn received(&mut self, _: &mut Slow, _: SlotId, bytes: &[u8]) {
            self.received.extend_from_slice(bytes);
        }

        fn ended(&mut self, _: &mut Slow, _: SlotId, _: Option<Failure>) {
            self.ended += 1;
        }

        fn writable(&mut self, _: &mut Slow, _: SlotId) {
            self.writable += 1;
        }
    }

    /// A tunnel that is asked for, in slow writes, and whose proxy sends `parts`.
    fn after(above: &mut Above, parts: &[&[u8]], ends: bool) {
        let request: Arc<[u8]> = b"CONNECT h:1 HTTP/1.1\r\n\r\n".as_slice().into();
        let proxy = Proxy { address: ([127, 0, 0, 1], 3128).into(), request: request.clone() };
        let mut asked = Asked { proxy, slots: vec![None] };
        let (mut sockets, mut through) = (Slow::default(), Through { asked: &mut asked, handler: above });
        through.connected(&mut sockets, 0, Ok(()));
        (0..10).for_each(|_| through.writable(&mut sockets, 0));
        assert_eq!(sockets.sent, *request, "the request goes out once, whole");
        for part in parts {
            through.received(&mut sockets, 0, part);
        }
        if ends {
            through.ended(&mut sockets, 0, None);
        }
    }

    #[test]
    fn a_tunnel_opens_with_the_end_of_the_answer_in_any_split() {
        for cut in 0..=OPENED.len() {
            let bytes = [OPENED, b"TLS"].concat();
            let mut above = Above::default();
            after(&mut above, &[&bytes[..cut], &bytes[cut..], b"!"], true);
            assert_eq!((&above.connected[..], &above.received[..]), (&[Ok(())][..], &b"TLS!"[..]), "{cut}");
            assert_eq!((above.ended, above.writable), (1, 0));
        }
        let mut above = Above::default();
        let bytes: Vec<&[u8]> = OPENED.chunks(1).collect();
        after(&mut above, &bytes, false);
        assert_eq!(above.connected, [Ok(())]);
    }

    #[test]
    fn no_event_comes_of_a_connection_that_was_closed_as_it_stood() {
        let mut above = Above { closes: true, ..Above::default() };
        after(&mut above, &[&[OPENED, b"more"].concat()], false);
        assert_eq!((above.connected.len(), above.received.len()), (1, 0));
    }

    #[test]
    fn an_answer_that_opens_no_tunnel_is_a_failure_with_its_cause() {
        let long = [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &[b'x'; ANSWER_BYTES_MAX]].concat();
        for (answer, text) in [
            (&b"HTTP/1.1 407 Who\r\n\r\n"[..], "answered 407 to CONNECT: it wants a user and a password"),
            (b"HTTP/1.0 500 No\r\n\r\nno", "answered 500 to CONNECT"),
            (b"nonsense", "did not answer CONNECT in HTTP"),
            (b"HTTP/1.1 2", "closed the connection instead"),
            (b"", "closed the connection instead"),
            (&long, "more than 16 KiB"),
        ] {
            let mut above = Above::default();
            after(&mut above, &[answer], answer.len() < 11 && answer != b"nonsense");
            let [Err(failure)] = above.connected[..] else { panic!("{:?}", above.connected) };
            assert_eq!(failure.class, ErrorClass::Proxy);
            assert!(
                failure.text().contains(text) && failure.text().contains("127.0.0.1:3128"),
                "{}",
                failure.text()
            );
            assert_eq!((above.received.len(), above.ended), (0, 0));
        }
    }
}
