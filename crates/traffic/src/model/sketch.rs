//! The most frequent routes in bounded memory: the space-saving algorithm (Metwally, Agrawal & El Abbadi, ICDT 2005).
//!
//! Up to [`CAPACITY`] routes are counted exactly. Of more, the one counted least gives its place to the new one, which
//! takes over its count as its possible error. What is reported is count less error: never too much, and too little by
//! at most requests/[`CAPACITY`].

use super::route;
use crate::log::{Record, hash};
use std::collections::HashMap;
use units::{Rng, Seed};

/// Routes that are counted at the same time.
pub(crate) const CAPACITY: usize = 1000;
/// Real targets kept of a route.
const SAMPLES: usize = 256;
/// Longest target that is kept as a sample.
const TARGET_BYTES_MAX: usize = 1024;
/// Different status codes of a route.
const CODES_MAX: usize = 16;

/// What is known of a route.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) method: String,
    pub(crate) route: String,
    key: u64,
    count: u64,
    error: u64,
    pub(crate) codes: Vec<(u16, u64)>,
    pub(crate) bytes: (u64, u64),
    pub(crate) request_ns: (u64, u64),
    /// A uniform sample of its real targets (Vitter's algorithm R, ACM Trans. Math. Softw. 11, 1985).
    pub(crate) targets: Vec<Box<[u8]>>,
    seen: u64,
}

impl Entry {
    fn new(key: u64, method: &[u8], route: &[u8], error: u64) -> Self {
        Self {
            method: String::from_utf8_lossy(method).into_owned(),
            route: String::from_utf8_lossy(route).into_owned(),
            key,
            count: error,
            error,
            codes: Vec::new(),
            bytes: (0, 0),
            request_ns: (0, 0),
            targets: Vec::new(),
            seen: 0,
        }
    }

    /// Requests that were certainly of this route.
    pub(crate) const fn certain(&self) -> u64 {
        self.count - self.error
    }

    fn add(&mut self, record: &Record<'_>, rng: &mut Rng) {
        self.count += 1;
        match self.codes.iter().position(|(code, _)| *code == record.status) {
            // An event log has none.
            _ if record.status == 0 => {}
            Some(place) => self.codes[place].1 += 1,
            None if self.codes.len() < CODES_MAX => self.codes.push((record.status, 1)),
            None => {}
        }
        add_to(&mut self.bytes, record.bytes);
        add_to(&mut self.request_ns, record.request_ns);
        if record.target.len() > TARGET_BYTES_MAX {
            return;
        }
        self.seen += 1;
        if self.targets.len() < SAMPLES {
            self.targets.push(record.target.into());
            return;
        }
        let place = rng.below(self.seen) as usize;
        if let Some(target) = self.targets.get_mut(place) {
            *target = record.target.into();
        }
    }
}

/// Adds to a sum and its count.
pub(crate) fn add_to((sum, count): &mut (u64, u64), value: Option<u64>) {
    if let Some(value) = value {
        *sum = sum.saturating_add(value);
        *count += 1;
    }
}

/// The routes.
#[derive(Debug)]
pub(crate) struct Sketch {
    entries: Vec<Entry>,
    places: HashMap<u64, usize>,
    /// Places whose count was `least` when they were last looked for.
    candidates: Vec<usize>,
    least: u64,
    scratch: Vec<u8>,
    rng: Rng,
}

impl Sketch {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            entries: Vec::new(),
            places: HashMap::new(),
            candidates: Vec::new(),
            least: 0,
            scratch: Vec::new(),
            rng: seed.derive("targets", 0).rng(),
        }
    }

    pub(crate) fn add(&mut self, record: &Record<'_>) {
        route::of(record.target, &mut self.scratch);
        let key = hash(&self.scratch) ^ hash(record.method).rotate_left(1);
        let place = match self.places.get(&key) {
            Some(place) => *place,
            None => self.place_for(key, record.method),
        };
        self.entries[place].add(record, &mut self.rng);
    }

    /// A place for a route that has none.
    fn place_for(&mut self, key: u64, method: &[u8]) -> usize {
        let place = if self.entries.len() < CAPACITY {
            self.entries.push(Entry::new(key, method, &self.scratch, 0));
            self.entries.len() - 1
        } else {
            let place = self.least_counted();
            self.places.remove(&self.entries[place].key);
            self.entries[place] = Entry::new(key, method, &self.scratch, self.entries[place].count);
            place
        };
        self.places.insert(key, place);
        place
    }

    /// Looks through all only when every place that had the least count has gained.
    fn least_counted(&mut self) -> usize {
        loop {
            while let Some(place) = self.candidates.pop() {
                if self.entries[place].count == self.least {
                    return place;
                }
            }
            self.least = self.entries.iter().map(|entry| entry.count).min().unwrap_or_default();
            let least = self.least;
            let places = (0..self.entries.len()).filter(|place| self.entries[*place].count == least);
            self.candidates = places.collect();
        }
    }

    /// All routes, the most frequent first.
    pub(crate) fn into_entries(self) -> Vec<Entry> {
        let mut entries = self.entries;
        entries.sort_by(|a, b| {
            b.certain().cmp(&a.certain()).then_with(|| (&a.route, &a.method).cmp(&(&b.route, &b.method)))
        });
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_routes_survive_any_number_of_rare_ones_and_are_never_counted_too_high() {
        let mut sketch = Sketch::new(Seed(1));
        let mut add = |target: &str| {
            let record = Record {
                time_ns: 0,
                client: 0,
                method: b"GET",
                target: target.as_bytes(),
                status: 200,
                bytes: Some(2),
                request_ns: None,
                content_type: None,
                body: None,
                key: 0,
            };
            sketch.add(&record);
        };
        for round in 0..50_000 {
            add(&format!("/rare-{round}x"));
            if round % 2 == 0 {
                add(&format!("/often/{round}"));
            }
        }
        let entries = sketch.into_entries();
        assert_eq!(entries.len(), CAPACITY);
        assert_eq!((entries[0].route.as_str(), entries[0].certain()), ("/often/{id}", 25_000));
        assert_eq!((entries[0].targets.len(), entries[0].bytes), (SAMPLES, (50_000, 25_000)));
        assert!(entries[1..].iter().all(|entry| entry.certain() == 1));
    }
}
