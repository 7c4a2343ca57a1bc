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

use super::{ServiceAt, TIMEOUT};
use crate::reading::Reading;
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use std::collections::BTreeMap;

const STATUS: &str = "SHOW GLOBAL STATUS";
const CONNECTIONS_MAX: &str = "SELECT @@max_connections";
const SLOWEST: &str = "SELECT MAX(TIME_MS) FROM information_schema.PROCESSLIST \
    WHERE COMMAND IN ('Query', 'Execute') AND ID <> CONNECTION_ID()";

pub(super) fn connect(at: &ServiceAt) -> Result<Conn, String> {
    let opts = OptsBuilder::new()
        .ip_or_hostname(Some(at.addr.ip().to_string()))
        .tcp_port(at.addr.port())
        .user(at.user.clone())
        .pass(at.secret()?.map(|secret| secret.expose().to_owned()))
        .prefer_socket(false)
        .read_timeout(Some(TIMEOUT))
        .write_timeout(Some(TIMEOUT))
        .tcp_connect_timeout(Some(TIMEOUT));
    Conn::new(opts).map_err(|error| error.to_string())
}

pub(super) fn read(connection: &mut Conn) -> Result<Reading, String> {
    let status: Vec<(String, String)> = connection.query(STATUS).map_err(|error| error.to_string())?;
    let mut reading = reading(&status.into_iter().collect());
    let most: Option<f64> = connection.query_first(CONNECTIONS_MAX).map_err(|error| error.to_string())?;
    reading.gauges.extend(most.map(|most| ("connections_max", most)));
    // MySQL has no such column.
    let slowest: Option<Option<f64>> = connection.query_first(SLOWEST).unwrap_or_default();
    reading.gauges.extend(slowest.flatten().map(|ms| ("slowest_ns", ms * 1e6)));
    Ok(reading)
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
