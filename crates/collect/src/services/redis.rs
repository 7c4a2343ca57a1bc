//! Redis and what speaks its protocol: `INFO all`.
//!
//! | key | kind | from |
//! |---|---|---|
//! | `clients`, `clients_blocked` | gauge | `connected_clients`, that of the reading included; `blocked_clients` |
//! | `memory_bytes`, `memory_max_bytes` | gauge | `used_memory`; `maxmemory`, absent where 0, which is no limit |
//! | `commands` | delta | `total_commands_processed` |
//! | `hits`, `misses`, `evicted`, `expired` | delta | `keyspace_hits`, `keyspace_misses`, `evicted_keys`, `expired_keys` |
//! | `cpu_ns` | delta | `used_cpu_sys` + `used_cpu_user`, of all threads |
//! | `command_ns` | delta | `usec` of every `cmdstat_…`: time in which commands were carried out, on one thread |

use super::{ServiceAt, TIMEOUT};
use crate::reading::Reading;
use redis::{Client, Connection, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo};

pub(super) fn connect(at: &ServiceAt) -> Result<Connection, String> {
    let addr = ConnectionAddr::Tcp(at.addr.ip().to_string(), at.addr.port());
    let mut settings = RedisConnectionInfo::default().set_skip_set_lib_name();
    if let Some(user) = &at.user {
        settings = settings.set_username(user);
    }
    if let Some(secret) = at.secret()? {
        settings = settings.set_password(secret.expose());
    }
    let open = || {
        let info = addr.into_connection_info()?.set_redis_settings(settings);
        let connection = Client::open(info)?.get_connection_with_timeout(TIMEOUT)?;
        connection.set_read_timeout(Some(TIMEOUT))?;
        connection.set_write_timeout(Some(TIMEOUT))?;
        Ok(connection)
    };
    open().map_err(|error: redis::RedisError| error.to_string())
}

pub(super) fn read(connection: &mut Connection) -> Result<Reading, String> {
    let info: String = redis::cmd("INFO").arg("all").query(connection).map_err(|error| error.to_string())?;
    parse(&info)
}

/// Parses the answer of `INFO all`.
///
/// # Errors
/// A value is out of range, or nothing of it is there.
pub fn parse(info: &str) -> Result<Reading, String> {
    let mut reading = Reading::default();
    let mut cpu_s: Option<f64> = None;
    for (key, value) in info.lines().filter_map(|line| line.trim_end().split_once(':')) {
        match key {
            "connected_clients" => drop(reading.gauges.insert("clients", count(key, value)? as f64)),
            "blocked_clients" => drop(reading.gauges.insert("clients_blocked", count(key, value)? as f64)),
            "used_memory" => drop(reading.gauges.insert("memory_bytes", count(key, value)? as f64)),
            "maxmemory" if value != "0" => {
                reading.gauges.insert("memory_max_bytes", count(key, value)? as f64);
            }
            "total_commands_processed" => drop(reading.counters.insert("commands", count(key, value)?)),
            "keyspace_hits" => drop(reading.counters.insert("hits", count(key, value)?)),
            "keyspace_misses" => drop(reading.counters.insert("misses", count(key, value)?)),
            "evicted_keys" => drop(reading.counters.insert("evicted", count(key, value)?)),
            "expired_keys" => drop(reading.counters.insert("expired", count(key, value)?)),
            "used_cpu_sys" | "used_cpu_user" => {
                *cpu_s.get_or_insert_default() += seconds(key, value)?;
            }
            _ if key.starts_with("cmdstat_") => {
                let usec = value.split(',').find_map(|part| part.strip_prefix("usec="));
                let ns = count(key, usec.unwrap_or_default())?.saturating_mul(1_000);
                let sum = reading.counters.entry("command_ns").or_default();
                *sum = sum.saturating_add(ns);
            }
            _ => {}
        }
    }
    reading.counters.extend(cpu_s.map(|seconds| ("cpu_ns", (seconds * 1e9).round() as u64)));
    if reading == Reading::default() {
        Err("its INFO has none of the counters".to_owned())
    } else {
        Ok(reading)
    }
}

fn count(key: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{} is no whole number from 0 on", cut(key)))
}

fn seconds(key: &str, text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| format!("{} is no time", cut(key)))
}

fn cut(key: &str) -> String {
    key.chars().take(40).collect()
}
