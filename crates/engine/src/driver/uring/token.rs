//! What a completion belongs to, packed into the 64 bits that the kernel hands back.

use crate::driver::SlotId;

/// Bits of the slot, of its generation, and of the extra number.
const BITS: u32 = 20;
const MASK: u64 = (1 << BITS) - 1;

/// Which operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// The connection attempt.
    Connect,
    /// The standing receive; one completion for each buffer.
    Receive,
    /// A small send from lasting bytes: reported only when it fails.
    Send,
    /// A large send from lasting bytes: reported with the bytes that the kernel took.
    Part,
    /// A send from an outbox buffer.
    Copied { buffer: u32 },
    /// A send of nothing that tells how a connection ended.
    Ending,
    /// Closing and cancelling: nobody waits for it.
    Housekeeping,
}

/// One completion's owner. The generation tells a late completion of an earlier connection of the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) operation: Operation,
    pub(super) slot: SlotId,
    pub(super) generation: u32,
}

/// The next generation of a slot; wraps after a million connections, long after the last completion has come.
#[inline]
pub(super) const fn after(generation: u32) -> u32 {
    (generation + 1) & MASK as u32
}

impl Token {
    #[inline]
    pub(super) const fn pack(self) -> u64 {
        let (kind, extra) = match self.operation {
            Operation::Connect => (0, 0),
            Operation::Receive => (1, 0),
            Operation::Send => (2, 0),
            Operation::Part => (3, 0),
            Operation::Copied { buffer } => (4, buffer),
            Operation::Ending => (5, 0),
            Operation::Housekeeping => (6, 0),
        };
        kind << (3 * BITS)
            | (extra as u64 & MASK) << (2 * BITS)
            | (self.generation as u64 & MASK) << BITS
            | self.slot as u64 & MASK
    }

    #[inline]
    pub(super) const fn unpack(bits: u64) -> Self {
        let operation = match bits >> (3 * BITS) {
            0 => Operation::Connect,
            1 => Operation::Receive,
            2 => Operation::Send,
            3 => Operation::Part,
            4 => Operation::Copied { buffer: (bits >> (2 * BITS) & MASK) as u32 },
            5 => Operation::Ending,
            _ => Operation::Housekeeping,
        };
        Self { operation, slot: (bits & MASK) as u32, generation: (bits >> BITS & MASK) as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_survive_the_kernel() {
        let last = MASK as u32;
        for operation in [
            Operation::Connect,
            Operation::Receive,
            Operation::Send,
            Operation::Part,
            Operation::Copied { buffer: 0 },
            Operation::Copied { buffer: last },
            Operation::Ending,
            Operation::Housekeeping,
        ] {
            for (slot, generation) in [(0, 0), (1, last), (last, 1), (last, last)] {
                let token = Token { operation, slot, generation };
                assert_eq!(Token::unpack(token.pack()), token);
            }
        }
        assert_eq!(after(last), 0);
    }
}
