//! Chance for models of connections: bytes that are used in turn, so that a course of events can be had again.

/// Beyond its end the numbers go on, so that a short tape does not repeat the same course for ever.
pub(super) struct Tape {
    bytes: Vec<u8>,
    at: usize,
}

impl Tape {
    /// Of one byte at least.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next number below `of`; 0 where there is none.
    pub(super) fn chance(&mut self, of: usize) -> usize {
        self.at += 1;
        let byte = usize::from(self.bytes[self.at % self.bytes.len()]);
        (byte.wrapping_mul(31) ^ (self.at / self.bytes.len()).wrapping_mul(0x9E37)) % of.max(1)
    }

    /// How many of so many bytes a system takes: often all, else nothing or a part, as a full buffer of a socket does.
    pub(super) fn taken(&mut self, bytes: usize) -> usize {
        match self.chance(4) {
            0 => 0,
            1 => self.chance(bytes + 1),
            _ => bytes,
        }
    }
}
