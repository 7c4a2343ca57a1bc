//! The io_uring driver: one ring a worker, a standing receive on every connection, sends in batches.
//!
//! - Single issuer and deferred task work: the kernel touches our memory only inside this thread's `io_uring_enter`.
//! - A receive is armed once for each connection (multishot) and takes buffers from a shared ring, so an idle
//!   connection holds no buffer.
//! - Sockets live in the ring's table of registered files, one place for each slot; their descriptors are closed once
//!   connected, so descriptors do not limit connections.
//! - A small send from the lasting bytes costs no completion unless it fails; large ones and those from elsewhere are
//!   followed to their end, at most one at a time for each connection.
//! - Queued sends are handed over after [`BATCH`] of them, so that a request is not stamped long before it goes out.
//! - Receives are completed only when no completion waits for us, so that buffers suffice and every connection has its
//!   turn (ADR 0004).
//!
//! Absent on purpose: a kernel polling thread, which would take a core from what is measured.

mod buffers;
mod outbox;
mod token;

use super::route::{self, Route, SocketOptions};
use super::{Driver, Handler, SLOTS_MAX, Setup, SlotId, Sockets, Wait};
use crate::failure::{Failure, classify};
use buffers::Buffers;
use io_uring::types::{Fd, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use outbox::Outbox;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::process::{Resource, getrlimit};
use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;
use token::{Operation, Token, after};

/// Submission queue entries; a full queue is handed over early.
const ENTRIES: u32 = 1024;
/// Sends that may wait for each other before they are handed over: as many as a round of completions brings, so that the
/// next look at the sockets takes them along.
const BATCH: usize = 24;
/// Bounds of the number of receive buffers. The kernel takes them in turn, so all of them pass through the caches.
const BUFFERS: (usize, usize) = (64, 512);
/// Bytes of each: enough for most answers.
const BUFFER_BYTES: usize = 8 * 1024;
/// Group of the receive buffers; there is only one.
const GROUP: u16 = 0;
/// Up to here a send from lasting bytes is not followed: it fits any socket buffer.
const SMALL_SEND_BYTES: usize = 16 * 1024;
/// Pipelined sends of a connection that are not followed at a time, and their largest size. Together they fit the
/// smallest socket buffer with the kernel's own part, so none of them waits in the kernel while a later one overtakes it.
const PIPELINED: (u32, usize) = (16, 1024);
/// Largest single send of a large request.
const PART_BYTES: usize = 256 * 1024;
/// Completions looked at together.
const COMPLETIONS: usize = 64;
/// Completions of one poll, about.
const ROUND: usize = 512;

/// A send must be complete or fail; the kernel goes on with it by itself.
const SEND_FLAGS: i32 = libc::MSG_NOSIGNAL | libc::MSG_WAITALL;

/// Sockets driven by io_uring.
pub(crate) struct Uring {
    sockets: UringSockets,
}

pub(crate) struct UringSockets {
    // Dropped first: after it the kernel knows none of the memory below.
    ring: IoUring,
    buffers: Buffers,
    outbox: Outbox,
    lasting: Arc<[u8]>,
    slots: Vec<Socket>,
    options: SocketOptions,
    is_pipelined: bool,
    /// Places in the table of registered files.
    places: usize,
    /// Entries not yet handed over.
    queued: usize,
    /// Connections whose receive ended for lack of a buffer, longest waiting first, with their generation.
    starved: VecDeque<(SlotId, u32)>,
}

/// One slot's connection.
#[derive(Debug, Default)]
struct Socket {
    generation: u32,
    state: State,
    /// Bytes of a large send that the kernel took and the worker has not yet claimed.
    taken: usize,
    /// Token of the followed send that is under way.
    sending: Option<u64>,
    /// Something was sent since the last bytes came: a send may still stand in the kernel.
    unanswered: bool,
    /// Pipelining: unfollowed sends whose answers have not come.
    unfollowed: u32,
    /// Pipelining: a send was followed. From then on all are, for what is behind it may find the socket buffer full.
    is_followed: bool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Closed,
    Connecting(OwnedFd),
    /// Registered; `receiving` while the standing receive is armed.
    Open {
        receiving: bool,
    },
}

impl UringSockets {
    fn token(&self, slot: SlotId, operation: Operation) -> u64 {
        Token { operation, slot, generation: self.slots[slot as usize].generation }.pack()
    }

    /// Queues an entry, handing over what is queued when there is no room.
    ///
    /// What the entry points to must stay where it is until its completion: lasting bytes and outbox buffers do.
    #[inline]
    fn push(&mut self, entry: &squeue::Entry) {
        #[expect(unsafe_code, reason = "the kernel will read and write where the entry points")]
        // SAFETY: sends point into `lasting` or into an outbox buffer that is freed by the completion; both live
        // until the ring is gone. Receives name only the buffer ring. Nothing else has a pointer.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.hand_over();
        }
        self.queued += 1;
    }

    /// Hands queued entries to the kernel without waiting. What it refuses now it is offered again with the next.
    fn hand_over(&mut self) {
        if self.ring.submit().is_ok() {
            self.queued = 0;
        }
    }

    /// Hands queued entries to the kernel and lets it do nothing else. If deferred work ran in the middle of a round of
    /// completions, each round would bring more than it took away: the completions that wait would hold all buffers,
    /// and the connections that find none would starve.
    #[inline]
    fn send_off(&mut self) {
        #[expect(unsafe_code, reason = "the only way to enter without the work that completes receives")]
        // SAFETY: no argument is passed; what the entries point to is cared for by `push`.
        let result = unsafe { self.ring.submitter().enter::<()>(self.queued as u32, 0, 0, None) };
        if result.is_ok() {
            self.queued = 0;
        }
    }

    #[inline]
    fn push_send(&mut self, entry: &squeue::Entry) {
        self.push(entry);
        if self.queued >= BATCH {
            self.send_off();
        }
    }

    fn open(&mut self, slot: SlotId, route: &Route) -> Result<(), Errno> {
        if slot as usize >= self.places {
            return Err(Errno::MFILE);
        }
        let fd = route::open(route, &self.options)?;
        // When a connection attempt ends, the socket becomes writable or fails.
        let poll = opcode::PollAdd::new(Fd(fd.as_raw_fd()), libc::POLLOUT as u32).build();
        let token = self.token(slot, Operation::Connect);
        self.push(&poll.user_data(token));
        self.slots[slot as usize].state = State::Connecting(fd);
        Ok(())
    }

    /// The attempt has ended: keeps the socket in the table, or tells why there is none.
    fn establish(&mut self, slot: SlotId) -> Result<(), Failure> {
        let state = std::mem::take(&mut self.slots[slot as usize].state);
        let State::Connecting(fd) = state else { return Err(classify(Errno::NOTCONN, true)) };
        let failed = |errno| classify(errno, true);
        sockopt::socket_error(&fd).and_then(|result| result).map_err(failed)?;
        // The table's place may still be closing for the connection before this one.
        self.hand_over();
        self.ring
            .submitter()
            .register_files_update(slot, &[fd.as_raw_fd()])
            .map_err(|error| failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        self.receive(slot);
        Ok(())
    }

    /// Arms the standing receive.
    fn receive(&mut self, slot: SlotId) {
        let token = self.token(slot, Operation::Receive);
        self.push(&opcode::RecvMulti::new(Fixed(slot), GROUP).build().user_data(token));
        self.slots[slot as usize].state = State::Open { receiving: true };
    }

    /// Arms the receives that have waited longest for a buffer.
    #[inline]
    fn feed_starved(&mut self) {
        // Arming all that starve would only make most of them starve again, in an order that serves some connections
        // often and others hardly ever.
        let count = self.starved.len().min(self.buffers.count() / 2);
        for _ in 0..count {
            if let Some((slot, generation)) = self.starved.pop_front()
                && self.slots[slot as usize].generation == generation
            {
                self.receive(slot);
            }
        }
    }

    fn cancel(&mut self, slot: SlotId, target: u64) {
        let token = self.token(slot, Operation::Housekeeping);
        let cancel = opcode::AsyncCancel::new(target).build();
        self.push(&cancel.flags(squeue::Flags::SKIP_SUCCESS).user_data(token));
    }

    /// Sends from lasting bytes, which need no copy.
    #[inline]
    fn send_lasting(&mut self, slot: SlotId, bytes: &[u8]) -> usize {
        let is_small = !self.is_pipelined || self.may_overtake_none(slot, bytes.len());
        let socket = &self.slots[slot as usize];
        // The last bytes of a large request may be few: they were sent as a part and are only to be claimed.
        if is_small && bytes.len() <= SMALL_SEND_BYTES && socket.taken == 0 && socket.sending.is_none() {
            let token = self.token(slot, Operation::Send);
            let send = opcode::Send::new(Fixed(slot), bytes.as_ptr(), bytes.len() as u32).flags(SEND_FLAGS);
            self.push_send(&send.build().flags(squeue::Flags::SKIP_SUCCESS).user_data(token));
            return bytes.len();
        }
        let socket = &mut self.slots[slot as usize];
        let taken = std::mem::take(&mut socket.taken).min(bytes.len());
        let rest = &bytes[taken..];
        if !rest.is_empty() && socket.sending.is_none() {
            let token = self.token(slot, Operation::Part);
            self.slots[slot as usize].sending = Some(token);
            let length = rest.len().min(PART_BYTES) as u32;
            let send = opcode::Send::new(Fixed(slot), rest.as_ptr(), length).flags(SEND_FLAGS);
            self.push_send(&send.build().user_data(token));
        }
        taken
    }

    /// Asks how a connection ended whose receive saw nothing but the end, while a send is under way. A reset ends that
    /// send too, and where some of its bytes had been taken the kernel reports their number and drops the error, so that
    /// the receive cannot see it any more. To send nothing fails after a reset, and not after a peer's orderly close.
    #[cold]
    fn ask_how_it_ended(&mut self, slot: SlotId) {
        let token = self.token(slot, Operation::Ending);
        let send = opcode::Send::new(Fixed(slot), self.lasting.as_ptr(), 0).flags(libc::MSG_NOSIGNAL);
        self.push(&send.build().user_data(token));
    }

    /// Pipelining: whether a send of so many bytes cannot overtake one that still waits in the kernel. Counts it if so.
    fn may_overtake_none(&mut self, slot: SlotId, bytes: usize) -> bool {
        let socket = &mut self.slots[slot as usize];
        let may = !socket.is_followed && bytes <= PIPELINED.1 && socket.unfollowed < PIPELINED.0;
        socket.unfollowed += u32::from(may);
        socket.is_followed |= !may;
        may
    }

    /// Sends from bytes that may be gone tomorrow.
    fn send_copied(&mut self, slot: SlotId, bytes: &[u8]) -> usize {
        if self.slots[slot as usize].sending.is_some() {
            return 0;
        }
        self.slots[slot as usize].is_followed = true;
        let (buffer, taken) = self.outbox.put(bytes);
        let token = self.token(slot, Operation::Copied { buffer });
        self.slots[slot as usize].sending = Some(token);
        let send = opcode::Send::new(Fixed(slot), self.outbox.address(buffer), taken as u32);
        self.push_send(&send.flags(SEND_FLAGS).build().user_data(token));
        taken
    }

    /// Hands over what is queued, lets the kernel do its part, and waits if nothing is there.
    #[inline]
    fn enter(&mut self, wait: Wait) -> io::Result<()> {
        let has_completions = !self.ring.completion().is_empty();
        let result = match wait {
            Wait::AtMost(time) if !has_completions => {
                let time = Timespec::new().sec(time.0 / 1_000_000_000).nsec((time.0 % 1_000_000_000) as u32);
                self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
            _ if has_completions => {
                if self.queued > 0 {
                    self.send_off();
                }
                return Ok(());
            }
            _ if self.queued > 0 || self.ring.submission().taskrun() => self.ring.submit(),
            _ => return Ok(()),
        };
        match result.map_err(|error| (error.raw_os_error(), error)) {
            Ok(_) => self.queued = 0,
            // Time is up: what was queued has been handed over before the wait.
            Err((Some(libc::ETIME), _)) => self.queued = 0,
            // A signal, or more completions than places: they are taken now, and the rest is offered again.
            Err((Some(libc::EINTR | libc::EBUSY | libc::EAGAIN), _)) => {}
            Err((_, error)) => return Err(error),
        }
        Ok(())
    }
}

impl Sockets for UringSockets {
    fn connect(&mut self, slot: SlotId, route: &Route) -> Result<(), Failure> {
        debug_assert!(
            matches!(self.slots[slot as usize].state, State::Closed),
            "slot {slot} is already open"
        );
        self.open(slot, route).map_err(|errno| classify(errno, true))
    }

    #[inline]
    fn send(&mut self, slot: SlotId, bytes: &[u8]) -> Result<usize, Failure> {
        let socket = &mut self.slots[slot as usize];
        if !matches!(socket.state, State::Open { .. }) {
            return Err(classify(Errno::NOTCONN, false));
        }
        socket.unanswered = true;
        let (lasting, range) = (self.lasting.as_ptr_range(), bytes.as_ptr_range());
        let is_lasting = lasting.start <= range.start && range.end <= lasting.end;
        Ok(if is_lasting { self.send_lasting(slot, bytes) } else { self.send_copied(slot, bytes) })
    }

    // A send whose end was not reported yet is no reason to say nothing: as a rule the kernel has all of its bytes.
    fn send_last(&mut self, slot: SlotId, bytes: &[u8]) {
        if matches!(self.slots[slot as usize].state, State::Open { .. }) {
            let (buffer, taken) = self.outbox.put(bytes);
            let token = self.token(slot, Operation::Copied { buffer });
            let send = opcode::Send::new(Fixed(slot), self.outbox.address(buffer), taken as u32);
            self.push(&send.flags(SEND_FLAGS | libc::MSG_DONTWAIT).build().user_data(token));
        }
    }

    fn answered(&mut self, slot: SlotId) {
        let socket = &mut self.slots[slot as usize];
        socket.unfollowed = socket.unfollowed.saturating_sub(1);
    }

    fn generation(&self, slot: SlotId) -> u32 {
        self.slots[slot as usize].generation
    }

    fn close(&mut self, slot: SlotId) {
        let socket = &mut self.slots[slot as usize];
        let (sending, unanswered) = (socket.sending, socket.unanswered);
        let state = std::mem::take(&mut socket.state);
        match state {
            State::Closed => {}
            State::Connecting(fd) => {
                self.cancel(slot, self.token(slot, Operation::Connect));
                // The attempt holds the descriptor until it is cancelled.
                self.hand_over();
                drop(fd);
            }
            State::Open { receiving } => {
                if receiving {
                    self.cancel(slot, self.token(slot, Operation::Receive));
                }
                // A send that stands in the kernel would keep the connection open.
                if let Some(token) = sending {
                    self.cancel(slot, token);
                } else if unanswered {
                    self.cancel(slot, self.token(slot, Operation::Send));
                }
                let token = self.token(slot, Operation::Housekeeping);
                let close = opcode::Close::new(Fixed(slot)).build();
                self.push(&close.flags(squeue::Flags::SKIP_SUCCESS).user_data(token));
            }
        }
        let generation = after(self.slots[slot as usize].generation);
        self.slots[slot as usize] = Socket { generation, ..Socket::default() };
    }
}

impl Drop for UringSockets {
    fn drop(&mut self) {
        // The last words of a connection, such as an alert of TLS, may still be queued.
        self.hand_over();
    }
}

impl Driver for Uring {
    type Sockets = UringSockets;

    fn new(setup: &Setup) -> io::Result<Self> {
        assert!((1..=SLOTS_MAX).contains(&setup.slots), "{} slots", setup.slots);
        let ring: IoUring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_clamp()
            .setup_cqsize(ENTRIES * 4)
            .build(ENTRIES)?;
        if !ring.params().is_feature_skip_cqe_on_success() || !ring.params().is_feature_ext_arg() {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        let buffers = Buffers::new(buffers_for(setup.slots), BUFFER_BYTES);
        let (address, count) = buffers.registration();
        #[expect(unsafe_code, reason = "the kernel will read the ring and write into its buffers")]
        // SAFETY: `buffers` is owned beside the ring and dropped after it; it neither moves nor shrinks.
        unsafe {
            ring.submitter().register_buf_ring_with_flags(address, count, GROUP, 0)?;
        }
        // The table is limited as descriptors are; slots beyond it fail as if those had run out.
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let places = setup.slots.min(usize::try_from(limit).unwrap_or(usize::MAX));
        ring.submitter().register_files_sparse(places as u32)?;
        // Saves the look-up of the ring's own descriptor; older kernels go without.
        let _ = ring.submitter().register_ring_fd();
        let sockets = UringSockets {
            ring,
            buffers,
            outbox: Outbox::default(),
            lasting: setup.lasting.clone(),
            slots: std::iter::repeat_with(Socket::default).take(setup.slots).collect(),
            options: setup.options.clone(),
            is_pipelined: setup.is_pipelined,
            places,
            queued: 0,
            starved: VecDeque::with_capacity(setup.slots),
        };
        Ok(Self { sockets })
    }

    fn sockets(&mut self) -> &mut UringSockets {
        &mut self.sockets
    }

    fn poll(&mut self, wait: Wait, handler: &mut impl Handler<UringSockets>) -> io::Result<usize> {
        self.sockets.feed_starved();
        self.sockets.enter(wait)?;
        let mut entries = [const { MaybeUninit::<cqueue::Entry>::uninit() }; COMPLETIONS];
        let mut handled = 0;
        // New completions may come without end; those beyond a round wait, so that arrivals have their turn.
        while handled < ROUND {
            let batch = self.sockets.ring.completion().fill(&mut entries);
            for entry in &*batch {
                handle(&mut self.sockets, entry, handler);
            }
            handled += batch.len();
            if batch.len() < COMPLETIONS {
                break;
            }
        }
        Ok(handled)
    }
}

/// A few receive buffers for each connection: an answer in several pieces takes several.
fn buffers_for(slots: usize) -> u16 {
    let (fewest, most) = BUFFERS;
    slots.saturating_mul(4).clamp(fewest, most).next_power_of_two() as u16
}

/// One completion.
#[inline]
fn handle(sockets: &mut UringSockets, entry: &cqueue::Entry, handler: &mut impl Handler<UringSockets>) {
    let token = Token::unpack(entry.user_data());
    let is_live = sockets.slots[token.slot as usize].generation == token.generation;
    let slot = token.slot;
    match token.operation {
        Operation::Receive => received(sockets, slot, is_live, entry, handler),
        Operation::Copied { buffer } => {
            sockets.outbox.free(buffer);
            if is_live {
                sent(sockets, slot, entry.result(), 0, handler);
            }
        }
        Operation::Part if is_live => {
            sent(sockets, slot, entry.result(), entry.result().max(0) as usize, handler);
        }
        Operation::Send if is_live => {
            handler.ended(sockets, slot, Some(failure_of(entry.result())));
        }
        Operation::Ending if is_live => {
            let failure = (entry.result() < 0).then(|| failure_of(entry.result()));
            handler.ended(sockets, slot, failure);
        }
        Operation::Connect if is_live => {
            let result = sockets.establish(slot);
            handler.connected(sockets, slot, result);
        }
        _ => {}
    }
}

/// Bytes came, or the connection ended, or the kernel ran out of buffers.
#[inline]
fn received(
    sockets: &mut UringSockets,
    slot: SlotId,
    is_live: bool,
    entry: &cqueue::Entry,
    handler: &mut impl Handler<UringSockets>,
) {
    let (result, flags) = (entry.result(), entry.flags());
    let generation = sockets.slots[slot as usize].generation;
    if is_live && !cqueue::more(flags) {
        sockets.slots[slot as usize].state = State::Open { receiving: false };
    }
    if let Some(id) = cqueue::buffer_select(flags) {
        if is_live && result > 0 {
            sockets.slots[slot as usize].unanswered = false;
            // The buffer is lent to the handler while it acts on the sockets, and given back after.
            let lent = Lent::of(&sockets.buffers, id, result as usize);
            handler.received(sockets, slot, lent.bytes());
        }
        sockets.buffers.give_back(id);
    }
    if !is_live || sockets.slots[slot as usize].generation != generation {
        return;
    }
    match result {
        0 if sockets.slots[slot as usize].sending.is_some() => sockets.ask_how_it_ended(slot),
        0 => handler.ended(sockets, slot, None),
        // The kernel stopped the standing receive: no buffer was free, or its turn was over.
        result if -result == libc::ENOBUFS => sockets.starved.push_back((slot, generation)),
        result if result > 0 => {
            if !cqueue::more(flags) {
                sockets.receive(slot);
            }
        }
        result => handler.ended(sockets, slot, Some(failure_of(result))),
    }
}

/// A followed send ended.
fn sent(
    sockets: &mut UringSockets,
    slot: SlotId,
    result: i32,
    taken: usize,
    handler: &mut impl Handler<UringSockets>,
) {
    let socket = &mut sockets.slots[slot as usize];
    socket.sending = None;
    socket.taken += taken;
    if result < 0 {
        handler.ended(sockets, slot, Some(failure_of(result)));
    } else {
        handler.writable(sockets, slot);
    }
}

fn failure_of(result: i32) -> Failure {
    let errno = if result < 0 { Errno::from_raw_os_error(-result) } else { Errno::PIPE };
    classify(errno, false)
}

/// A filled buffer, detached from the driver for the time in which the handler needs both.
struct Lent {
    bytes: *const [u8],
}

impl Lent {
    #[inline]
    fn of(buffers: &Buffers, id: u16, taken: usize) -> Self {
        Self { bytes: buffers.filled(id, taken) }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        #[expect(unsafe_code, reason = "the buffer's memory is not part of what the handler may change")]
        // SAFETY: the buffer is given back only after this value's last use, the kernel writes to no buffer that it
        // was not given, and the memory is neither moved nor freed while the driver lives.
        unsafe {
            &*self.bytes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_go_by_connections_within_bounds() {
        let wanted = [(0, 64), (1, 64), (16, 64), (17, 128), (64, 256), (128, 512), (20_000, 512)];
        assert_eq!(wanted.map(|(slots, _)| buffers_for(slots)), wanted.map(|(_, buffers)| buffers));
    }
}
