//! The ring of receive buffers that the kernel fills in turn.
//!
//! The kernel takes a buffer only while this thread is inside `io_uring_enter` (deferred task work), and names it in a
//! completion; from then until it is given back the buffer is ours alone.

use io_uring::types::BufRingEntry;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

/// The kernel asks for a page-aligned ring.
const PAGE_BYTES: usize = 4096;
/// Buffers do not begin at the same place of every page, or their first lines would share few cache sets.
const STAGGER_BYTES: usize = 64 * 5;

/// A ring of equally long buffers, group 0 of its io_uring.
#[derive(Debug)]
pub(super) struct Buffers {
    ring: NonNull<BufRingEntry>,
    memory: NonNull<u8>,
    /// Number of buffers: a power of two.
    count: u16,
    /// Bytes of each.
    length: usize,
    tail: u16,
}

impl Buffers {
    /// `count` buffers of `length` bytes, all offered. `count` must be a power of two up to 32,768.
    pub(super) fn new(count: u16, length: usize) -> Self {
        assert!(count.is_power_of_two() && length > 0, "{count} buffers of {length} bytes");
        let ring = allocate(ring_layout(count)).cast();
        let memory = allocate(memory_layout(count, length));
        let mut buffers = Self { ring, memory, count, length, tail: 0 };
        for id in 0..count {
            buffers.put(id);
        }
        buffers.publish();
        buffers
    }

    /// How many buffers there are.
    #[inline]
    pub(super) const fn count(&self) -> usize {
        self.count as usize
    }

    /// Address and entries of the ring, for its registration.
    pub(super) fn registration(&self) -> (u64, u16) {
        (self.ring.as_ptr().expose_provenance() as u64, self.count)
    }

    /// The first `taken` bytes of buffer `id`, which the kernel has just filled.
    #[inline]
    pub(super) fn filled(&self, id: u16, taken: usize) -> &[u8] {
        assert!(id < self.count && taken <= self.length, "the kernel named a buffer that it was not given");
        #[expect(unsafe_code, reason = "the kernel wrote into memory that only a pointer names")]
        // SAFETY: inside the allocation by the check above; zeroed at first, so initialised; the kernel does not
        // write to it before `give_back`, which needs `&mut self`.
        unsafe {
            std::slice::from_raw_parts(self.at(id).as_ptr(), taken)
        }
    }

    /// Offers buffer `id` to the kernel again.
    #[inline]
    pub(super) fn give_back(&mut self, id: u16) {
        self.put(id);
        self.publish();
    }

    #[inline]
    fn at(&self, id: u16) -> NonNull<u8> {
        let offset = usize::from(id) * stride(self.length);
        #[expect(unsafe_code, reason = "address arithmetic inside one allocation")]
        // SAFETY: `id < count`, and the allocation holds `count` strides.
        unsafe {
            self.memory.add(offset)
        }
    }

    #[inline]
    fn put(&mut self, id: u16) {
        let place = usize::from(self.tail & (self.count - 1));
        let address = self.at(id).as_ptr().expose_provenance() as u64;
        #[expect(unsafe_code, reason = "the ring is shared with the kernel")]
        // SAFETY: `place < count`, inside the ring's allocation. The kernel does not read entries at or beyond the
        // published tail. Only the fields below are written: the tail shares the first entry's reserved bytes.
        unsafe {
            let entry = self.ring.add(place).as_mut();
            entry.set_addr(address);
            entry.set_len(self.length as u32);
            entry.set_bid(id);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    #[inline]
    fn publish(&mut self) {
        #[expect(unsafe_code, reason = "the tail is shared with the kernel")]
        // SAFETY: the tail lies in the first entry of the live ring, is aligned, and the kernel only reads it.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.ring.as_ptr()).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "gives back what `new` allocated")]
        // SAFETY: the same layouts as in `new`. The io_uring that knows this memory was dropped before: see `Uring`.
        unsafe {
            dealloc(self.ring.as_ptr().cast(), ring_layout(self.count));
            dealloc(self.memory.as_ptr(), memory_layout(self.count, self.length));
        }
    }
}

const fn stride(length: usize) -> usize {
    length + STAGGER_BYTES
}

fn ring_layout(count: u16) -> Layout {
    layout(usize::from(count) * size_of::<BufRingEntry>())
}

fn memory_layout(count: u16, length: usize) -> Layout {
    layout(usize::from(count) * stride(length))
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, PAGE_BYTES).expect("a few megabytes fit any address space")
}

fn allocate(layout: Layout) -> NonNull<u8> {
    #[expect(unsafe_code, reason = "page-aligned memory")]
    // SAFETY: no layout here is empty.
    let memory = unsafe { alloc_zeroed(layout) };
    NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_lie_apart_and_come_back() {
        let mut buffers = Buffers::new(4, 100);
        let starts: Vec<usize> = (0..4).map(|id| buffers.filled(id, 100).as_ptr().addr()).collect();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= 100));
        assert_eq!(buffers.tail, 4);
        for id in [2, 0, 2] {
            buffers.give_back(id);
        }
        assert_eq!(buffers.tail, 7);
        assert_eq!(buffers.registration().1, 4);
    }

    #[test]
    #[should_panic(expected = "was not given")]
    fn a_buffer_that_does_not_exist_is_refused() {
        let _ = Buffers::new(4, 100).filled(4, 1);
    }
}
