//! What an import left out or changed, counted.
//!
//! Invariant: the memory is bounded whatever the file holds; what has no place of its own is counted together.

use crate::url::Origin;
use std::collections::BTreeMap;

/// Notes and foreign origins that are listed singly.
const DISTINCT_MAX: usize = 100;
/// Foreign origins that are named, the commonest first.
const ORIGINS_NAMED: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Notes {
    counted: BTreeMap<String, u64>,
    more: u64,
    origins: BTreeMap<Origin, u64>,
    more_origins: u64,
}

impl Notes {
    /// One more of what `text` says, which is printed as `text: count`.
    pub(crate) fn count(&mut self, text: &str) {
        if let Some(count) = self.counted.get_mut(text) {
            *count += 1;
        } else if self.counted.len() < DISTINCT_MAX {
            self.counted.insert(text.to_owned(), 1);
        } else {
            self.more += 1;
        }
    }

    /// One more request that goes elsewhere.
    pub(crate) fn other_origin(&mut self, origin: Origin) {
        if self.origins.contains_key(&origin) || self.origins.len() < DISTINCT_MAX {
            *self.origins.entry(origin).or_default() += 1;
        } else {
            self.more_origins += 1;
        }
    }

    /// The commonest foreign origin.
    pub(crate) fn commonest_origin(&self) -> Option<&Origin> {
        self.origins.iter().max_by_key(|(_, count)| **count).map(|(origin, _)| origin)
    }

    pub(crate) fn into_texts(self) -> Vec<String> {
        let mut texts: Vec<String> =
            self.counted.into_iter().map(|(text, count)| format!("{text}: {count}")).collect();
        if self.more > 0 {
            texts.push(format!("further notes like these, too many to list: {}", self.more));
        }
        let mut origins: Vec<(Origin, u64)> = self.origins.into_iter().collect();
        origins.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let rest = origins.split_off(origins.len().min(ORIGINS_NAMED));
        for (origin, count) in origins {
            texts.push(format!("requests to {origin} left out, --all-origins keeps those of a mix: {count}"));
        }
        let rest = rest.iter().map(|(_, count)| count).sum::<u64>() + self.more_origins;
        if rest > 0 {
            texts.push(format!("requests to still other origins left out: {rest}"));
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floods_of_origins_are_counted_in_bounded_memory() {
        let mut notes = Notes::default();
        for port in 1..=1000 {
            notes.other_origin(Origin::parse(&format!("http://h:{port}")).unwrap());
            notes.count(&format!("note {port}"));
        }
        notes.other_origin(Origin::parse("http://h:7").unwrap());
        let texts = notes.into_texts();
        assert_eq!(texts.len(), DISTINCT_MAX + 1 + ORIGINS_NAMED + 1);
        assert_eq!(texts[DISTINCT_MAX], "further notes like these, too many to list: 900");
        assert_eq!(
            texts[DISTINCT_MAX + 1],
            "requests to http://h:7 left out, --all-origins keeps those of a mix: 2"
        );
        assert_eq!(texts.last().unwrap(), "requests to still other origins left out: 995");
    }
}
