//! Header sections that were read before: equal bytes mean the same while the decoder's table is the same (RFC 7541 §2.3).

use super::events::Verdict;

/// Sections that are kept.
const KEPT_MAX: usize = 8;
/// Longer sections are read each time.
const BYTES_MAX: usize = 128;

/// What is known of a header section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) status: u16,
    /// Content-Length, or [`super::ring::UNKNOWN`].
    pub(super) length: u64,
    pub(super) verdict: Verdict,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    /// Of the decoder's table.
    generation: u64,
    /// Of the request.
    kind: u32,
    length: u8,
    bytes: [u8; BYTES_MAX],
    known: Known,
}

/// The last header sections of a connection.
#[derive(Debug, Default)]
pub(super) struct Memo {
    kept: Vec<Kept>,
    /// Which gives way next.
    next: usize,
}

impl Memo {
    /// What is known of a block that is read while the table has this generation.
    #[inline]
    pub(super) fn find(&self, generation: u64, kind: u32, block: &[u8]) -> Option<Known> {
        let is_it = |kept: &&Kept| {
            usize::from(kept.length) == block.len()
                && kept.generation == generation
                && kept.kind == kind
                && kept.bytes[..block.len()] == *block
        };
        self.kept.iter().find(is_it).map(|kept| kept.known)
    }

    /// Keeps what is known of a block that has changed no table.
    #[cold]
    pub(super) fn keep(&mut self, generation: u64, kind: u32, block: &[u8], known: Known) {
        if block.len() > BYTES_MAX {
            return;
        }
        let mut kept = Kept { generation, kind, length: block.len() as u8, bytes: [0; BYTES_MAX], known };
        kept.bytes[..block.len()].copy_from_slice(block);
        if self.kept.len() < KEPT_MAX {
            // Room for all at once: what comes later allocates nothing.
            self.kept.reserve_exact(KEPT_MAX - self.kept.len());
            self.kept.push(kept);
            return;
        }
        self.kept[self.next] = kept;
        self.next = (self.next + 1) % KEPT_MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_known_for_one_generation_and_one_kind() {
        let mut memo = Memo::default();
        let known = Known { status: 200, length: 5, verdict: Verdict(9) };
        memo.keep(1, 2, b"abc", known);
        let status = |memo: &Memo, generation, kind, block: &[u8]| {
            memo.find(generation, kind, block).map(|known| known.status)
        };
        assert_eq!(status(&memo, 1, 2, b"abc"), Some(200));
        assert_eq!(status(&memo, 2, 2, b"abc"), None);
        assert_eq!(status(&memo, 1, 3, b"abc"), None);
        assert_eq!(status(&memo, 1, 2, b"ab"), None);
        memo.keep(1, 2, &[b'x'; BYTES_MAX + 1], known);
        assert_eq!(memo.kept.len(), 1);
        for byte in 0..KEPT_MAX as u8 {
            memo.keep(1, 2, &[byte], known);
        }
        assert_eq!((memo.kept.len(), status(&memo, 1, 2, b"abc")), (KEPT_MAX, None), "the oldest gives way");
    }
}
