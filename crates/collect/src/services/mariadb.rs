//! MariaDB and MySQL: `SHOW GLOBAL STATUS`, and the process list for what runs longest.
//!
//! | key | kind | from |
//! |---|---|---|
//! | `connections`, `connections_max` | gauge | `Threads_connected`, `@@max_connections` |
//! | `running` | gauge | `Threads_running`, that of the reading included |
//! | `lock_waiting` | gauge | `Innodb_row_lock_current_waits` |
//! | `slowest_ns` | gauge | longest `TIME_MS` of another statement in the process list: all with the privilege PROCESS, else the account's own; absent where none runs, and in MySQL, whose list has whole seconds |
//! | `statements`, `slow_statements` | delta | `Questions`, `Slow_queries` |
//! | `lock_wait_ns` | delta | `Innodb_row_lock_time`, in whole ms |
//! | `row_reads`, `row_scans` | delta | `Rows_read` (else `Innodb_rows_read`), `Handler_read_rnd_next` |
//! | `aborted`, `connects` | delta | `Aborted_clients` + `Aborted_connects`, `Connections` |

mod digest;
mod login;
mod rsa;
mod wire;

use super::{ServiceAt, TIMEOUT};
use crate::reading::Reading;
use std::collections::BTreeMap;
pub(super) use wire::Wire;
use wire::{QueryError, Row};

const STATUS: &str = "SHOW GLOBAL STATUS";
const CONNECTIONS_MAX: &str = "SELECT @@max_connections";
const SLOWEST: &str = "SELECT MAX(TIME_MS) FROM information_schema.PROCESSLIST \
    WHERE COMMAND IN ('Query', 'Execute') AND ID <> CONNECTION_ID()";

pub(super) fn connect(at: &ServiceAt) -> Result<Wire, String> {
    let secret = at.secret()?;
    let mut wire = Wire::connect(at.addr, TIMEOUT)?;
    wire.log_in(at.user.as_deref().unwrap_or_default(), secret.map_or("", |secret| secret.expose()))?;
    Ok(wire)
}

pub(super) fn read(wire: &mut Wire) -> Result<Reading, String> {
    let status = wire.query(STATUS).map_err(QueryError::text)?;
    let mut reading = reading(&status.into_iter().filter_map(pair).collect());
    let most = wire.query(CONNECTIONS_MAX).map_err(QueryError::text)?;
    reading.gauges.extend(first_number(&most).map(|most| ("connections_max", most)));
    let slowest = match wire.query(SLOWEST) {
        Ok(rows) => first_number(&rows),
        // MySQL has no such column.
        Err(QueryError::Refused(_)) => None,
        Err(QueryError::Broken(cause)) => return Err(cause),
    };
    reading.gauges.extend(slowest.map(|ms| ("slowest_ns", ms * 1e6)));
    Ok(reading)
}

/// Name and value of a status variable.
fn pair(row: Row) -> Option<(String, String)> {
    match <[Option<String>; 2]>::try_from(row) {
        Ok([Some(name), Some(value)]) => Some((name, value)),
        _ => None,
    }
}

fn first_number(rows: &[Row]) -> Option<f64> {
    rows.first()?.first()?.as_ref()?.parse().ok()
}

/// What the status variables say; what is absent or no number is absent.
#[must_use]
pub fn reading(status: &BTreeMap<String, String>) -> Reading {
    let count = |name: &str| status.get(name)?.parse::<u64>().ok();
    let gauges = [
        ("connections", count("Threads_connected")),
        ("running", count("Threads_running")),
        ("lock_waiting", count("Innodb_row_lock_current_waits")),
    ];
    let aborted = count("Aborted_clients").zip(count("Aborted_connects"));
    let counters = [
        ("statements", count("Questions")),
        ("slow_statements", count("Slow_queries")),
        ("lock_wait_ns", count("Innodb_row_lock_time").and_then(|ms| ms.checked_mul(1_000_000))),
        ("row_reads", count("Rows_read").or_else(|| count("Innodb_rows_read"))),
        ("row_scans", count("Handler_read_rnd_next")),
        ("aborted", aborted.and_then(|(clients, connects)| clients.checked_add(connects))),
        ("connects", count("Connections")),
    ];
    Reading {
        gauges: gauges.into_iter().filter_map(|(name, value)| Some((name, value? as f64))).collect(),
        counters: counters.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
    }
}
