//! PostgreSQL: `pg_stat_activity`, `pg_stat_database` and `pg_stat_user_tables` of the account's database.
//!
//! | key | kind | from |
//! |---|---|---|
//! | `connections`, `connections_max` | gauge | client backends; `max_connections` |
//! | `running`, `lock_waiting` | gauge | other backends that are `active`; that wait for a `Lock` |
//! | `slowest_ns` | gauge | longest time since `query_start` of another active client backend; absent where none runs |
//! | `transactions` | delta | `xact_commit` + `xact_rollback`; with autocommit one for each statement. PostgreSQL counts no statements without an extension |
//! | `row_reads`, `row_scans` | delta | `tup_fetched`; `seq_tup_read` of user tables |
//! | `deadlocks`, `aborted`, `connects` | delta | `deadlocks`; `sessions_abandoned` + `sessions_fatal` + `sessions_killed`; `sessions` (PostgreSQL 14) |
//!
//! The statistics reach other backends up to a second late (10 s within long transactions), so deltas are of about the
//! tick and not exactly of it. What other accounts run is seen with the role pg_read_all_stats only.

use super::{ServiceAt, TIMEOUT};
use crate::reading::Reading;
use postgres::{Client, Config, NoTls, SimpleQueryMessage};
use std::error::Error;

const GAUGES: [&str; 5] = ["connections", "connections_max", "running", "lock_waiting", "slowest_ns"];
const COUNTERS: [&str; 6] = ["transactions", "row_reads", "deadlocks", "aborted", "connects", "row_scans"];

const QUERY: &str = "SELECT * FROM (SELECT \
    count(*) FILTER (WHERE backend_type = 'client backend'), \
    current_setting('max_connections'), \
    count(*) FILTER (WHERE state = 'active' AND pid <> pg_backend_pid()), \
    count(*) FILTER (WHERE wait_event_type = 'Lock'), \
    (extract(epoch FROM max(clock_timestamp() - query_start) FILTER (WHERE state = 'active' \
        AND backend_type = 'client backend' AND pid <> pg_backend_pid())) * 1e9)::bigint \
    FROM pg_stat_activity) AS gauges, (SELECT \
    xact_commit + xact_rollback, tup_fetched, deadlocks, \
    sessions_abandoned + sessions_fatal + sessions_killed, sessions \
    FROM pg_stat_database WHERE datname = current_database()) AS counters, \
    (SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables) AS scans";

pub(super) fn connect(at: &ServiceAt) -> Result<Client, String> {
    let mut config = Config::new();
    config
        .host(&at.addr.ip().to_string())
        .port(at.addr.port())
        .user(at.user.as_deref().unwrap_or("postgres"))
        .dbname(at.database.as_deref().unwrap_or("postgres"))
        .application_name("prony")
        .connect_timeout(TIMEOUT)
        .options("-c default_transaction_read_only=on -c statement_timeout=800");
    if let Some(secret) = at.secret()? {
        config.password(secret.expose());
    }
    config.connect(NoTls).map_err(|error| text(&error))
}

pub(super) fn read(client: &mut Client) -> Result<Reading, String> {
    let messages = client.simple_query(QUERY).map_err(|error| text(&error))?;
    let row = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let row = row.ok_or("it gave no row of its statistics")?;
    let values: Vec<Option<&str>> = (0..row.len()).map(|at| row.get(at)).collect();
    reading(&values)
}

/// What one row says: the gauges of this file's table, then the counters; null is absent.
///
/// # Errors
/// There are fewer columns, or one has no whole number from 0 on.
pub fn reading(row: &[Option<&str>]) -> Result<Reading, String> {
    if row.len() != GAUGES.len() + COUNTERS.len() {
        return Err(format!("its statistics have {} columns", row.len()));
    }
    let mut reading = Reading::default();
    let (gauges, counters) = row.split_at(GAUGES.len());
    for (name, value) in GAUGES.into_iter().zip(gauges) {
        if let Some(value) = value {
            reading.gauges.insert(name, number(name, value)? as f64);
        }
    }
    for (name, value) in COUNTERS.into_iter().zip(counters) {
        if let Some(value) = value {
            reading.counters.insert(name, number(name, value)?);
        }
    }
    Ok(reading)
}

fn number(name: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{name} is no whole number from 0 on"))
}

/// What the server said stands in the source of the client's error.
fn text(error: &postgres::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}
