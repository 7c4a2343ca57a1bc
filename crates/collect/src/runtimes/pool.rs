//! `go.pool`, `node.pool`: the pool of database connections that a target reports in the answer of its runtime.
//!
//! | key | kind | in the part `pool` of the answer | package database/sql |
//! |---|---|---|---|
//! | `pool_max` | gauge | `max` | `MaxOpenConnections`; absent where 0, which is no limit |
//! | `pool_open`, `pool_in_use`, `pool_idle` | gauge | `open`, `in_use`, `idle` | the same |
//! | `pool_waiting` | gauge | `waiting` | not reported |
//! | `pool_waits`, `pool_wait_ns` | delta | `waits`, `wait_ns` | `WaitCount`, `WaitDuration` |
//!
//! Invariant: nothing is asked here; the answer that the runtime's source has just read is shared, so that both lines
//! of a tick are of one moment. A target without a pool has no line and no gap.

use super::fields::Table;
use crate::error::{CollectError, ParseError};
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use schema::trial::CounterLine;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use units::Nanos;

/// Name of the source for Go.
pub const GO: &str = "go.pool";
/// Name of the source for Node.
pub const NODE: &str = "node.pool";

const TABLE: Table = Table {
    gauges: &[
        ("/max", "pool_max"),
        ("/open", "pool_open"),
        ("/in_use", "pool_in_use"),
        ("/idle", "pool_idle"),
        ("/waiting", "pool_waiting"),
    ],
    counters: &[("/waits", "pool_waits"), ("/wait_ns", "pool_wait_ns")],
};

/// Reads the part of an answer; nothing where it is null.
///
/// # Errors
/// A number is out of range, or none is there.
pub fn read(part: &Value) -> Result<Option<Reading>, ParseError> {
    if part.is_null() {
        return Ok(None);
    }
    let mut reading = TABLE.read(part)?;
    if reading.gauge("pool_max") == Some(0.0) {
        reading.gauges.remove("pool_max");
    }
    Ok(Some(reading))
}

/// Where a runtime's source leaves what its latest answer said of the pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct PoolSlot(Arc<Mutex<Option<Option<Reading>>>>);

impl PoolSlot {
    /// `None`: there was no answer; `Some(None)`: the target has no pool.
    pub(crate) fn put(&self, pool: Option<Option<Reading>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = pool;
    }

    /// The source of what is put here; it must be read after the runtime's own.
    pub(crate) fn source(self, name: &'static str) -> Box<dyn Source> {
        let inner = Differencing::new(name, move || {
            let pool = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            let what = "an answer of the runtime";
            pool.map(Option::unwrap_or_default)
                .ok_or(CollectError::Absent { what, remedy: "its own source tells why" })
        });
        Box::new(Pool(inner))
    }
}

struct Pool<S>(S);

impl<S: Source> Source for Pool<S> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn tick(&mut self, now: Nanos) -> Result<CounterLine, CollectError> {
        self.0.tick(now)
    }

    fn may_be_silent(&self) -> bool {
        true
    }
}
