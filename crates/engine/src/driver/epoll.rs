//! The epoll driver: edge-triggered, one registration per connection, reads and writes without waiting.
//!
//! A socket is registered once for reading, writing and hang-up; an edge comes only when something changed, so a
//! request costs one `send`, one `recv` and its share of an `epoll_wait`. A short read means that the socket is empty
//! for now and saves the `recv` that would say so.

use super::route::{self, Route, SocketOptions};
use super::{Driver, Handler, Setup, SlotId, Sockets, Wait};
use crate::failure::{Failure, classify};
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags, sockopt};
use std::io;

/// One read takes at most this much; larger answers take several.
const READ_BYTES: usize = 64 * 1024;
const EVENTS_MAX: usize = 512;
/// Full reads of one socket in a row. A peer that sends without end must not keep the worker from its time-outs, its
/// intervals and its other connections.
const READS_MAX: usize = 16;

/// Sockets driven by epoll.
pub(crate) struct Epoll {
    sockets: EpollSockets,
    buffer: Box<[u8]>,
    events: Vec<epoll::Event>,
}

pub(crate) struct EpollSockets {
    epoll: OwnedFd,
    slots: Vec<Socket>,
    options: SocketOptions,
}

#[derive(Default)]
struct Socket {
    fd: Option<OwnedFd>,
    connecting: bool,
    /// Tells an event of an earlier connection of this slot from one of the present.
    generation: u32,
}

impl EpollSockets {
    fn open(&mut self, slot: SlotId, route: &Route) -> Result<(), Errno> {
        let fd = route::open(route, &self.options)?;
        let socket = &mut self.slots[slot as usize];
        socket.generation = socket.generation.wrapping_add(1);
        epoll::add(&self.epoll, &fd, token(slot, socket.generation), interest())?;
        socket.connecting = true;
        socket.fd = Some(fd);
        Ok(())
    }
}

fn token(slot: SlotId, generation: u32) -> epoll::EventData {
    epoll::EventData::new_u64(u64::from(generation) << 32 | u64::from(slot))
}

fn interest() -> epoll::EventFlags {
    epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET
}

impl Sockets for EpollSockets {
    fn connect(&mut self, slot: SlotId, route: &Route) -> Result<(), Failure> {
        debug_assert!(self.slots[slot as usize].fd.is_none(), "slot {slot} is already open");
        self.open(slot, route).map_err(|errno| classify(errno, true))
    }

    #[inline]
    fn send(&mut self, slot: SlotId, bytes: &[u8]) -> Result<usize, Failure> {
        let Some(fd) = &self.slots[slot as usize].fd else { return Err(classify(Errno::NOTCONN, false)) };
        loop {
            match net::send(fd, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(sent) => return Ok(sent),
                Err(Errno::AGAIN) => return Ok(0),
                // Nothing was full, so no edge would come.
                Err(Errno::INTR) => {}
                Err(errno) => return Err(classify(errno, false)),
            }
        }
    }

    #[inline]
    fn generation(&self, slot: SlotId) -> u32 {
        self.slots[slot as usize].generation
    }

    fn close(&mut self, slot: SlotId) {
        let socket = &mut self.slots[slot as usize];
        socket.generation = socket.generation.wrapping_add(1);
        socket.connecting = false;
        // Closing the descriptor also takes it out of the epoll set.
        socket.fd = None;
    }
}

impl Driver for Epoll {
    type Sockets = EpollSockets;

    fn new(setup: &Setup) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let slots = std::iter::repeat_with(Socket::default).take(setup.slots).collect();
        Ok(Self {
            sockets: EpollSockets { epoll, slots, options: setup.options.clone() },
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            events: Vec::with_capacity(EVENTS_MAX),
        })
    }

    fn sockets(&mut self) -> &mut EpollSockets {
        &mut self.sockets
    }

    fn poll(&mut self, wait: Wait, handler: &mut impl Handler<EpollSockets>) -> io::Result<usize> {
        let timeout = match wait {
            Wait::No => Timespec { tv_sec: 0, tv_nsec: 0 },
            Wait::AtMost(time) => Timespec {
                tv_sec: (time.0 / 1_000_000_000).cast_signed(),
                tv_nsec: (time.0 % 1_000_000_000).cast_signed(),
            },
        };
        self.events.clear();
        match epoll::wait(
            &self.sockets.epoll,
            rustix::buffer::spare_capacity(&mut self.events),
            Some(&timeout),
        ) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(0),
            Err(errno) => return Err(errno.into()),
        }
        for index in 0..self.events.len() {
            let event = self.events[index];
            let token = event.data.u64();
            let (slot, generation) = (token as u32, (token >> 32) as u32);
            if self.sockets.generation(slot) == generation {
                handle(&mut self.sockets, &mut self.buffer, slot, event.flags, handler);
            }
        }
        Ok(self.events.len())
    }
}

/// One event of a live connection.
#[inline]
fn handle(
    sockets: &mut EpollSockets,
    buffer: &mut [u8],
    slot: SlotId,
    flags: epoll::EventFlags,
    handler: &mut impl Handler<EpollSockets>,
) {
    let generation = sockets.generation(slot);
    if sockets.slots[slot as usize].connecting {
        let Some(result) = connection_result(sockets, slot, flags) else { return };
        sockets.slots[slot as usize].connecting = false;
        handler.connected(sockets, slot, result);
        if sockets.generation(slot) != generation {
            return;
        }
    } else if flags.contains(epoll::EventFlags::OUT) {
        handler.writable(sockets, slot);
        if sockets.generation(slot) != generation {
            return;
        }
    }
    if flags.intersects(
        epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR,
    ) {
        // After a hang-up no further edge comes, so the socket must be read to its end.
        let to_the_end =
            flags.intersects(epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR);
        read(sockets, buffer, slot, to_the_end, handler);
    }
}

/// Whether and how the connection attempt ended, `None` while it goes on.
fn connection_result(
    sockets: &EpollSockets,
    slot: SlotId,
    flags: epoll::EventFlags,
) -> Option<Result<(), Failure>> {
    if !flags.intersects(epoll::EventFlags::OUT | epoll::EventFlags::ERR | epoll::EventFlags::HUP) {
        return None;
    }
    let fd = sockets.slots[slot as usize].fd.as_ref()?;
    Some(match sockopt::socket_error(fd) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(errno)) | Err(errno) => Err(classify(errno, true)),
    })
}

#[inline]
fn read(
    sockets: &mut EpollSockets,
    buffer: &mut [u8],
    slot: SlotId,
    to_the_end: bool,
    handler: &mut impl Handler<EpollSockets>,
) {
    let generation = sockets.generation(slot);
    for _ in 0..READS_MAX {
        let Some(fd) = &sockets.slots[slot as usize].fd else { return };
        match net::recv(fd, &mut *buffer, RecvFlags::DONTWAIT) {
            Ok((0, _)) => return handler.ended(sockets, slot, None),
            Ok((taken, _)) => {
                handler.received(sockets, slot, &buffer[..taken]);
                if sockets.generation(slot) != generation || (taken < buffer.len() && !to_the_end) {
                    return;
                }
            }
            Err(Errno::AGAIN) => return,
            Err(Errno::INTR) => {}
            Err(errno) => return handler.ended(sockets, slot, Some(classify(errno, false))),
        }
    }
    // Its edge is used up, and there may be more: modifying the registration makes the system tell again.
    if let Some(fd) = &sockets.slots[slot as usize].fd
        && let Err(errno) = epoll::modify(&sockets.epoll, fd, token(slot, generation), interest())
    {
        handler.ended(sockets, slot, Some(classify(errno, false)));
    }
}
