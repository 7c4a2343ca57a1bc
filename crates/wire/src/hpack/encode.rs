//! Header blocks are written for one connection's table (RFC 7541 §2.3, §4 and §6).
//!
//! A fixed block is written in full the first time, and its literals enter the peer's table. Then it is a few indices, and
//! from the third time on a copy. Invariants: no entry is ever dropped from the peer's table, because a field that would not
//! fit stays outside, so an index is known for good; a table that is resized begins empty.

use super::block::{Literal, Part, Parts};
use super::fixed::{SCHEME_HTTP, STATIC_FIELDS};
use super::integer;
use super::table::DEFAULT_TABLE_BYTES;

/// Most bytes of a peer's table that are used, however much it offers: what a request has in fields fits.
pub const TABLE_BYTES_MAX: u32 = DEFAULT_TABLE_BYTES;

/// Fixed blocks that are kept as they were last sent; a mix of more writes their indices.
const WARM_BLOCKS_MAX: usize = 8;
/// Longer blocks are not kept.
const WARM_BYTES_MAX: usize = 4096;

/// An entry of the peer's table.
#[derive(Clone, Copy, Debug)]
struct Entry {
    name: u8,
    /// Its texts in `texts`.
    start: u32,
    end: u32,
}

/// A fixed block, and what it was last sent as.
#[derive(Debug)]
struct Warm {
    parts: Vec<u8>,
    sent: Vec<u8>,
    /// Entries of the peer's table then.
    entries: u32,
}

/// Writes the blocks of one connection, in their order.
#[derive(Debug)]
pub struct Encoder {
    /// Bytes that the peer's table has, or will have.
    capacity: u32,
    used: u32,
    /// The next block has to begin with table size updates.
    update_due: bool,
    /// Hashes of the entries, oldest first, for a quick search.
    hashes: Vec<u64>,
    entries: Vec<Entry>,
    texts: Vec<u8>,
    warm: Vec<Warm>,
    /// The byte of `:scheme`.
    scheme: u8,
}

impl Encoder {
    /// For requests over TLS or without.
    #[must_use]
    pub fn new(https: bool) -> Self {
        Self {
            capacity: TABLE_BYTES_MAX,
            used: 0,
            update_due: false,
            hashes: Vec::new(),
            entries: Vec::new(),
            texts: Vec::new(),
            warm: Vec::new(),
            scheme: 0x80 | (SCHEME_HTTP + u8::from(https)),
        }
    }

    /// The peer's table has at most `limit` bytes from now on (SETTINGS_HEADER_TABLE_SIZE).
    pub fn limit(&mut self, limit: u32) {
        let capacity = limit.min(TABLE_BYTES_MAX);
        if capacity == self.capacity {
            return;
        }
        (self.capacity, self.used, self.update_due) = (capacity, 0, true);
        self.hashes.clear();
        self.entries.clear();
        self.texts.clear();
        self.warm.clear();
    }

    /// Appends the block of these parts; `is_fixed` says that the same will come again. Returns its length.
    #[inline]
    pub fn encode(&mut self, parts: &[u8], is_fixed: bool, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        let entries = self.entries.len() as u32;
        if is_fixed && !self.update_due {
            let kept = |warm: &&Warm| warm.entries == entries && warm.parts == parts;
            if let Some(warm) = self.warm.iter().find(kept) {
                out.extend_from_slice(&warm.sent);
                return warm.sent.len();
            }
        }
        let updated = self.update_due;
        self.update(out);
        for part in Parts(parts) {
            match part {
                Part::Scheme => out.push(self.scheme),
                Part::Verbatim(bytes) => out.extend_from_slice(bytes),
                Part::Literal(literal) => self.literal(&literal, out),
            }
        }
        if is_fixed && !updated && self.entries.len() as u32 == entries {
            self.keep(parts, &out[start..]);
        }
        out.len() - start
    }

    /// Empties the peer's table and gives it its new capacity (RFC 7541 §4.2 allows two updates).
    fn update(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.update_due) {
            integer::put(0x20, 5, 0, out);
            if self.capacity > 0 {
                integer::put(0x20, 5, self.capacity, out);
            }
        }
    }

    fn literal(&mut self, literal: &Literal<'_>, out: &mut Vec<u8>) {
        if let Some(place) = self.place(literal) {
            // The newest has the first index.
            return integer::put(0x80, 7, STATIC_FIELDS + (self.entries.len() - place) as u32, out);
        }
        let enters = self.used.saturating_add(literal.size) <= self.capacity;
        let (pattern, bits) = if enters { (0x40, 6) } else { (0, 4) };
        integer::put(pattern, bits, u32::from(literal.name), out);
        out.extend_from_slice(literal.texts);
        if enters {
            let start = self.texts.len() as u32;
            self.texts.extend_from_slice(literal.texts);
            self.used += literal.size;
            self.hashes.push(literal.hash);
            self.entries.push(Entry { name: literal.name, start, end: self.texts.len() as u32 });
        }
    }

    /// Where in the peer's table a field is; 0 is the oldest.
    fn place(&self, literal: &Literal<'_>) -> Option<usize> {
        let is_it = |(place, hash): &(usize, &u64)| {
            let entry = self.entries[*place];
            **hash == literal.hash
                && entry.name == literal.name
                && self.texts[entry.start as usize..entry.end as usize] == *literal.texts
        };
        self.hashes.iter().enumerate().find(is_it).map(|(place, _)| place)
    }

    /// Keeps a block that has changed no table.
    #[cold]
    fn keep(&mut self, parts: &[u8], sent: &[u8]) {
        if parts.len() > WARM_BYTES_MAX {
            return;
        }
        let entries = self.entries.len() as u32;
        // The first ones stay: a mix of more would else copy blocks for each request.
        let gives_way = |warm: &Warm| warm.parts == parts || warm.entries != entries;
        let place = match self.warm.iter().position(gives_way) {
            Some(place) => place,
            None if self.warm.len() < WARM_BLOCKS_MAX => {
                self.warm.push(Warm { parts: Vec::new(), sent: Vec::new(), entries });
                self.warm.len() - 1
            }
            None => return,
        };
        let warm = &mut self.warm[place];
        warm.parts.clear();
        warm.parts.extend_from_slice(parts);
        warm.sent.clear();
        warm.sent.extend_from_slice(sent);
        warm.entries = entries;
    }
}
