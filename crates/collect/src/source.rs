//! The trait every source has, and the one place where a reading becomes a line with deltas.
//!
//! Invariants: the first line of a source has gauges only; a failed reading leaves the previous one in place, so that
//! the next delta spans the gap and no increase is lost.

use crate::error::CollectError;
use crate::reading::{self, NamedReading, Reading, Values};
use schema::trial::{CounterLine, PauseCount};
use std::borrow::Cow;
use units::Nanos;

/// Something whose counters can be read at a tick.
pub trait Source: Send {
    /// The name in `counters.ndjson`, for example `host.stat`.
    fn name(&self) -> &str;

    /// Reads once. `now` is the time since the trial's origin and is stored as it is.
    ///
    /// # Errors
    /// Where the source cannot be read or understood; then there is no line.
    fn tick(&mut self, now: Nanos) -> Result<CounterLine, CollectError>;

    /// Whether ticks may be left out so that its reading stays below a fixed share of a core. Then there is no line and
    /// no gap, and the next deltas span the ticks between.
    fn may_rest(&self) -> bool {
        false
    }

    /// Whether a line without values says nothing and is left out, as of a pool that the target did not open. Of other
    /// sources it marks where their first difference begins.
    fn may_be_silent(&self) -> bool {
        false
    }
}

/// A reading that can be compared with the one before.
pub trait Comparable {
    /// Values as they stand; some need the previous reading and are absent without it.
    fn gauges(&self, previous: Option<&Self>) -> Values;
    /// Increases since the previous reading.
    fn deltas(&self, previous: &Self) -> Values;
    /// Pauses since the previous reading by length, of a runtime that keeps a histogram of them.
    fn pauses(&self, _: &Self) -> Vec<PauseCount> {
        Vec::new()
    }
}

impl Comparable for Reading {
    fn gauges(&self, _: Option<&Self>) -> Values {
        reading::named(&self.gauges)
    }

    fn deltas(&self, previous: &Self) -> Values {
        reading::delta(previous, self)
    }
}

impl Comparable for NamedReading {
    fn gauges(&self, _: Option<&Self>) -> Values {
        self.gauges.clone()
    }

    fn deltas(&self, previous: &Self) -> Values {
        let increase = |(name, value): (&String, &u64)| {
            let increase = value.checked_sub(*previous.counters.get(name)?)?;
            Some((name.clone(), increase as f64))
        };
        self.counters.iter().filter_map(increase).collect()
    }
}

/// A source made of a read function and the memory of its previous reading.
pub(crate) struct Differencing<T, F> {
    name: Cow<'static, str>,
    read: F,
    previous: Option<T>,
    may_rest: bool,
}

impl<T, F> Differencing<T, F>
where
    T: Comparable + Send,
    F: FnMut() -> Result<T, CollectError> + Send,
{
    pub(crate) fn new(name: impl Into<Cow<'static, str>>, read: F) -> Self {
        Self { name: name.into(), read, previous: None, may_rest: false }
    }

    /// Lets ticks be left out where reading is dear; see [`Source::may_rest`].
    pub(crate) fn resting(mut self) -> Self {
        self.may_rest = true;
        self
    }
}

impl<T, F> Source for Differencing<T, F>
where
    T: Comparable + Send,
    F: FnMut() -> Result<T, CollectError> + Send,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn may_rest(&self) -> bool {
        self.may_rest
    }

    fn tick(&mut self, now: Nanos) -> Result<CounterLine, CollectError> {
        let reading = (self.read)()?;
        let previous = self.previous.as_ref();
        let line = CounterLine {
            t_ns: now.0,
            source: self.name.clone().into_owned(),
            gauges: reading.gauges(previous),
            deltas: previous.map(|previous| reading.deltas(previous)).unwrap_or_default(),
            pauses: previous.map(|previous| reading.pauses(previous)).unwrap_or_default(),
        };
        self.previous = Some(reading);
        Ok(line)
    }
}
