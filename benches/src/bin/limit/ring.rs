//! The loop: single issuer, deferred task run, registered files, multishot receive from a ring of provided buffers.
//!
//! Invariants: a buffer is the kernel's from its entry in the buffer ring until its completion, and ours until it is
//! given back; the request's bytes and the buffers outlive the ring.

use crate::Plan;
use crate::answer::{Answer, Came};
use io_uring::types::{BufRingEntry, Fixed};
use io_uring::{IoUring, cqueue, opcode, squeue};
use std::io;
use std::net::TcpStream;
use std::ptr;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

/// Most and fewest buffers in the ring, which has one for each connection: the ring goes through all of them, so that
/// more than are needed cost cache (measured: 64 instead of 4096 for 64 connections, 5 to 10 % less CPU a request).
/// Powers of two.
const BUFFERS_MAX: u16 = 4096;
const BUFFERS_MIN: u16 = 64;
/// Size of one: a small answer takes one, 64 KiB take a few.
const BUFFER_BYTES: usize = 16 * 1024;
const GROUP: u16 = 0;
/// Most entries of the submission queue; a full one is submitted in the middle of a turn. Otherwise as many as buffers,
/// for the same reason.
const QUEUE_MAX: u32 = 4096;
/// Marks completions of sends, which come only where one fails.
const SEND: u64 = 1 << 63;

/// What was done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub(crate) requests: u64,
    pub(crate) errors: u64,
    pub(crate) elapsed: Duration,
}

/// Memory for a ring of buffers: entries of 16 bytes, aligned to a page as the kernel demands.
#[repr(C, align(4096))]
struct Entries([BufRingEntry0; BUFFERS_MAX as usize]);

/// The layout of `struct io_uring_buf`; the tail of the ring lies in the last field of the first.
#[derive(Clone, Copy)]
#[repr(C)]
struct BufRingEntry0([u64; 2]);

/// Buffers shared with the kernel.
struct Buffers {
    entries: Box<Entries>,
    bytes: Vec<u8>,
    count: u16,
    tail: u16,
}

impl Buffers {
    fn new(ring: &IoUring, count: u16) -> io::Result<Self> {
        let entries = Box::new(Entries([BufRingEntry0([0; 2]); BUFFERS_MAX as usize]));
        let bytes = vec![0; usize::from(count) * BUFFER_BYTES];
        let mut buffers = Self { entries, bytes, count, tail: 0 };
        let address = buffers.base() as u64;
        // SAFETY: the entries are more than `count` times 16 bytes on a page boundary, and live in a box that `run` keeps until
        // after the ring is gone.
        unsafe { ring.submitter().register_buf_ring_with_flags(address, count, GROUP, 0)? };
        (0..count).for_each(|id| buffers.put(id));
        buffers.publish();
        Ok(buffers)
    }

    fn base(&mut self) -> *mut BufRingEntry {
        ptr::from_mut(&mut *self.entries).cast()
    }

    /// Gives a buffer back; the kernel sees it at the next [`Self::publish`].
    fn put(&mut self, id: u16) {
        let address = self.bytes.as_mut_ptr().wrapping_add(usize::from(id) * BUFFER_BYTES) as u64;
        let slot = usize::from(self.tail & (self.count - 1));
        // SAFETY: `slot` is below `count`, and the kernel reads entries only below the published tail.
        let entry = unsafe { &mut *self.base().add(slot) };
        entry.set_addr(address);
        entry.set_len(BUFFER_BYTES as u32);
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    fn publish(&mut self) {
        // SAFETY: the tail lies inside the first entry, aligned to two bytes, and only this thread writes it.
        unsafe {
            let tail = BufRingEntry::tail(self.base()).cast_mut().cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }

    /// The first `length` bytes of a buffer that a completion named.
    fn get(&self, id: u16, length: usize) -> &[u8] {
        let start = usize::from(id) * BUFFER_BYTES;
        &self.bytes[start..start + length.min(BUFFER_BYTES)]
    }
}

/// Runs the load.
pub(crate) fn run(plan: &Plan) -> io::Result<Done> {
    let streams: io::Result<Vec<TcpStream>> =
        (0..plan.connections).map(|_| TcpStream::connect(plan.address)).collect();
    let streams = streams?;
    for stream in &streams {
        stream.set_nodelay(true)?;
    }
    let count = u16::try_from(plan.connections.next_power_of_two()).unwrap_or(BUFFERS_MAX);
    let count = count.clamp(BUFFERS_MIN, BUFFERS_MAX);
    let queue = u32::from(count).min(QUEUE_MAX);
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_no_sqarray()
        .setup_cqsize(4 * queue)
        .build(queue)?;
    let files: Vec<_> = streams.iter().map(std::os::fd::AsRawFd::as_raw_fd).collect();
    ring.submitter().register_files(&files)?;
    let mut buffers = Buffers::new(&ring, count)?;
    let mut work = Loop { request: &plan.request, answers: Vec::new(), requests: 0, errors: 0 };
    work.answers.resize_with(streams.len(), Answer::default);
    let begin = Instant::now();
    work.start(&mut ring)?;
    while work.errors == 0 && begin.elapsed() < plan.time {
        ring.submit_and_wait(1)?;
        work.turn(&mut ring, &mut buffers)?;
    }
    let done = Done { requests: work.requests, errors: work.errors, elapsed: begin.elapsed() };
    // The ring first: afterwards the kernel writes into no buffer any more.
    drop(ring);
    drop(buffers);
    Ok(done)
}

struct Loop<'a> {
    request: &'a [u8],
    answers: Vec<Answer>,
    requests: u64,
    errors: u64,
}

impl Loop<'_> {
    fn start(&self, ring: &mut IoUring) -> io::Result<()> {
        for index in 0..self.answers.len() as u32 {
            push(ring, &receive(index))?;
            push(ring, &self.send(index))?;
        }
        Ok(())
    }

    fn send(&self, index: u32) -> squeue::Entry {
        let flags = libc::MSG_WAITALL | libc::MSG_NOSIGNAL;
        opcode::Send::new(Fixed(index), self.request.as_ptr(), self.request.len() as u32)
            .flags(flags)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(SEND | u64::from(index))
    }

    /// Handles all completions that are there.
    fn turn(&mut self, ring: &mut IoUring, buffers: &mut Buffers) -> io::Result<()> {
        let (submitter, mut submission, mut completion) = ring.split();
        completion.sync();
        for event in &mut completion {
            let index = event.user_data();
            if index & SEND != 0 {
                self.errors += 1;
                continue;
            }
            let index = index as u32;
            let came = self.receive(&event, index, buffers);
            if came == Came::Bad {
                self.errors += 1;
                continue;
            }
            let again = (!cqueue::more(event.flags())).then(|| receive(index));
            let next = (came == Came::Whole).then(|| self.send(index));
            for entry in again.iter().chain(&next) {
                if submission.is_full() {
                    submission.sync();
                    submitter.submit()?;
                    submission.sync();
                }
                // SAFETY: the entry points at the request, which outlives the ring, or at no memory at all.
                unsafe { submission.push(entry) }.map_err(io::Error::other)?;
            }
        }
        buffers.publish();
        Ok(())
    }

    fn receive(&mut self, event: &cqueue::Entry, index: u32, buffers: &mut Buffers) -> Came {
        let Ok(length) = usize::try_from(event.result()) else {
            // All buffers are taken: they come back with this turn, and the receive is asked for again.
            return if event.result() == -libc::ENOBUFS { Came::Part } else { Came::Bad };
        };
        let Some(id) = cqueue::buffer_select(event.flags()) else { return Came::Bad };
        let came =
            if length == 0 { Came::Bad } else { self.answers[index as usize].take(buffers.get(id, length)) };
        self.requests += u64::from(came == Came::Whole);
        buffers.put(id);
        came
    }
}

fn receive(index: u32) -> squeue::Entry {
    opcode::RecvMulti::new(Fixed(index), GROUP).build().user_data(u64::from(index))
}

fn push(ring: &mut IoUring, entry: &squeue::Entry) -> io::Result<()> {
    if ring.submission().is_full() {
        ring.submit()?;
    }
    // SAFETY: as in `turn`.
    unsafe { ring.submission().push(entry) }.map_err(io::Error::other)
}
