//! The dynamic table of a decoder (RFC 7541 §2.3.2 and §4).
//!
//! Invariant: entries together, each with 32 bytes more than its texts, are no larger than the capacity; the memory is
//! at most three times that.

use std::collections::VecDeque;

/// Capacity of a table where nothing else is announced (RFC 9113 §6.5.2).
pub const DEFAULT_TABLE_BYTES: u32 = 4096;

/// What an entry counts beyond its texts (RFC 7541 §4.1).
pub(super) const ENTRY_BYTES: u32 = 32;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Begin of the name in `bytes`; the value follows.
    start: u32,
    name_bytes: u32,
    value_bytes: u32,
}

impl Entry {
    const fn end(self) -> u32 {
        self.start + self.name_bytes + self.value_bytes
    }

    const fn size(self) -> u32 {
        self.name_bytes + self.value_bytes + ENTRY_BYTES
    }
}

/// Fields that a peer may refer to, newest first.
#[derive(Debug)]
pub(super) struct Table {
    /// The texts of the entries in their order, behind those of dropped ones.
    bytes: Vec<u8>,
    /// Oldest first.
    entries: VecDeque<Entry>,
    size: u32,
    capacity: u32,
    generation: u64,
}

impl Table {
    pub(super) fn new(capacity: u32) -> Self {
        Self { bytes: Vec::new(), entries: VecDeque::new(), size: 0, capacity, generation: 0 }
    }

    /// Changes with every entry that comes or goes: indices mean the same while it is the same.
    #[inline]
    pub(super) const fn generation(&self) -> u64 {
        self.generation
    }

    /// Name and value of an entry; 0 is the newest.
    #[inline]
    pub(super) fn get(&self, place: u32) -> Option<(&[u8], &[u8])> {
        let at = self.entries.len().checked_sub(1 + place as usize)?;
        let entry = self.entries[at];
        let texts = &self.bytes[entry.start as usize..entry.end() as usize];
        Some(texts.split_at(entry.name_bytes as usize))
    }

    /// Adds a field and drops the oldest until it fits. One larger than the table empties it, which is no error.
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        let entry = Entry { start: 0, name_bytes: name.len() as u32, value_bytes: value.len() as u32 };
        self.generation += 1;
        self.shrink_to(self.capacity.saturating_sub(entry.size()));
        self.forget_dropped();
        if entry.size() > self.capacity {
            return;
        }
        self.entries.push_back(Entry { start: self.bytes.len() as u32, ..entry });
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.size += entry.size();
    }

    /// A new capacity.
    pub(super) fn resize(&mut self, capacity: u32) {
        self.generation += 1;
        self.capacity = capacity;
        self.shrink_to(capacity);
        self.forget_dropped();
    }

    fn shrink_to(&mut self, size: u32) {
        while self.size > size
            && let Some(oldest) = self.entries.pop_front()
        {
            self.size -= oldest.size();
        }
    }

    /// Moves the texts to the front once those before them take more than the capacity, so that each is moved seldom.
    fn forget_dropped(&mut self) {
        let dropped = self.entries.front().map_or(self.bytes.len() as u32, |oldest| oldest.start);
        if dropped > self.capacity || self.entries.is_empty() {
            self.bytes.drain(..dropped as usize);
            self.entries.iter_mut().for_each(|entry| entry.start -= dropped);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(table: &Table) -> Vec<String> {
        let text = |(name, value): (&[u8], &[u8])| [name, b"=", value].concat();
        let texts = (0..).map_while(|place| table.get(place).map(text));
        texts.map(|text| String::from_utf8(text).unwrap()).collect()
    }

    #[test]
    fn the_oldest_go_first_and_memory_stays_bounded() {
        let mut table = Table::new(100);
        table.insert(b"a", b"1");
        table.insert(b"b", b"2");
        assert_eq!(all(&table), ["b=2", "a=1"]);
        let before = table.generation();
        table.insert(b"c", b"3");
        assert_eq!(all(&table), ["c=3", "b=2"], "34 bytes each");
        assert_ne!(table.generation(), before);
        for number in 0..10_000_u32 {
            table.insert(b"n", number.to_string().as_bytes());
            assert!(table.bytes.len() <= 300, "{}", table.bytes.len());
        }
        assert_eq!(all(&table), ["n=9999", "n=9998"]);
        table.insert(b"long", &[b'x'; 65]);
        assert_eq!(
            (all(&table).len(), table.size, table.bytes.len()),
            (0, 0, 0),
            "101 bytes fit no table of 100"
        );
        table.insert(b"a", b"1");
        table.resize(33);
        assert_eq!((all(&table).len(), table.capacity), (0, 33));
    }
}
