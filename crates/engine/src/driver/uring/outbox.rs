//! Buffers that hold bytes on their way out until the kernel has taken them.

/// Bytes of a buffer: one TLS record and its framing.
pub(super) const OUTBOX_BYTES: usize = 17 * 1024;

/// A pool that grows to the most sends that were ever under way at once; nothing is allocated after that.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    buffers: Vec<Box<[u8]>>,
    free: Vec<u32>,
}

impl Outbox {
    /// Copies from the front of `bytes` into a free buffer. Returns its number and how many bytes it took.
    #[inline]
    pub(super) fn put(&mut self, bytes: &[u8]) -> (u32, usize) {
        let id = self.free.pop().unwrap_or_else(|| {
            self.buffers.push(vec![0; OUTBOX_BYTES].into_boxed_slice());
            (self.buffers.len() - 1) as u32
        });
        let taken = bytes.len().min(OUTBOX_BYTES);
        self.buffers[id as usize][..taken].copy_from_slice(&bytes[..taken]);
        (id, taken)
    }

    /// Where buffer `id` begins; it does not move until it is freed.
    #[inline]
    pub(super) fn address(&self, id: u32) -> *const u8 {
        self.buffers[id as usize].as_ptr()
    }

    #[inline]
    pub(super) fn free(&mut self, id: u32) {
        self.free.push(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again() {
        let mut outbox = Outbox::default();
        let (first, taken) = outbox.put(&[1; 5]);
        assert_eq!(taken, 5);
        let (second, taken) = outbox.put(&vec![2; OUTBOX_BYTES + 1]);
        assert_eq!((second, taken), (1, OUTBOX_BYTES));
        outbox.free(first);
        assert_eq!(outbox.put(&[3]).0, first);
        assert_eq!(outbox.buffers.len(), 2);
    }
}
