//! What databases and caches count of themselves: `service.<name>.db` and `service.<name>.redis`.
//!
//! Invariants: queries only read; each service has one lasting connection on a thread of its own, so that one that
//! hangs costs gaps and never holds up the ticks by more than its limit of time; after an error the connection is
//! reopened; no credential is in any message or debug text.
//! Absent on purpose: TLS, since these are the services that prony itself starts on this host.

mod apart;
#[cfg(feature = "databases")]
pub mod mariadb;
#[cfg(feature = "databases")]
pub mod postgres;
#[cfg(feature = "databases")]
pub mod redis;
mod secret;

pub use secret::{Secret, password};

use crate::backoff::Backoff;
use crate::error::CollectError;
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use apart::Apart;
use schema::service::ServiceKind;
use schema::trial::CounterLine;
use std::net::SocketAddr;
use std::time::Duration;
use units::Nanos;

/// Of one reading, connecting included; what takes longer is a gap.
const TIMEOUT: Duration = Duration::from_millis(800);
/// Longest piece of a client's message that is repeated.
const CAUSE_CHARS_MAX: usize = 300;

/// Where and as whom a service is read.
#[derive(Clone, Debug)]
pub struct ServiceAt {
    /// Its folder under `services/`.
    pub name: String,
    /// What it is.
    pub kind: ServiceKind,
    /// Where it listens.
    pub addr: SocketAddr,
    /// Account.
    pub user: Option<String>,
    /// Database of the account, for PostgreSQL.
    pub database: Option<String>,
    /// The password, none, or why it could not be had.
    pub password: Result<Option<Secret>, String>,
}

impl ServiceAt {
    #[cfg(feature = "databases")]
    fn secret(&self) -> Result<Option<&Secret>, String> {
        self.password.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// Name of the source.
    fn source_name(&self) -> String {
        let what = if self.kind == ServiceKind::Redis { "redis" } else { "db" };
        format!("service.{}.{what}", self.name)
    }

    /// What went wrong, without the password wherever it stands.
    fn error(&self, cause: &str) -> CollectError {
        let secret = self.password.as_ref().ok().and_then(Option::as_ref);
        let hidden = secret.map_or_else(|| cause.to_owned(), |secret| secret.hide(cause));
        let cause = hidden.chars().take(CAUSE_CHARS_MAX).collect();
        CollectError::Service { service: self.name.clone(), addr: self.addr, cause }
    }
}

/// One source for each service.
#[must_use]
pub fn sources(services: Vec<ServiceAt>) -> Vec<Box<dyn Source>> {
    services.into_iter().map(source).collect()
}

fn source(at: ServiceAt) -> Box<dyn Source> {
    let name = at.source_name();
    let mut apart = Apart::new(reader(at.clone()), TIMEOUT);
    let mut backoff = Backoff::default();
    let read = move || backoff.attempt(|| apart.read().unwrap_or_else(|hang| Err(at.error(hang))));
    Box::new(Named { name, inner: Differencing::new("service", read) })
}

/// Reads on a lasting connection, reopened after an error.
#[cfg(feature = "databases")]
fn reader(at: ServiceAt) -> impl FnMut() -> Result<Reading, CollectError> + Send + 'static {
    let mut connection = None;
    move || {
        let answer = read(&at, &mut connection);
        if answer.is_err() {
            connection = None;
        }
        answer.map_err(|cause| at.error(&cause))
    }
}

#[cfg(feature = "databases")]
enum Connection {
    Mariadb(Box<::mysql::Conn>),
    Postgres(Box<::postgres::Client>),
    Redis(Box<::redis::Connection>),
}

#[cfg(feature = "databases")]
fn read(at: &ServiceAt, connection: &mut Option<Connection>) -> Result<Reading, String> {
    if connection.is_none() {
        *connection = Some(match at.kind {
            ServiceKind::Mariadb => Connection::Mariadb(Box::new(mariadb::connect(at)?)),
            ServiceKind::Postgres => Connection::Postgres(Box::new(postgres::connect(at)?)),
            ServiceKind::Redis => Connection::Redis(Box::new(redis::connect(at)?)),
        });
    }
    match connection {
        Some(Connection::Mariadb(connection)) => mariadb::read(connection),
        Some(Connection::Postgres(connection)) => postgres::read(connection),
        Some(Connection::Redis(connection)) => redis::read(connection),
        None => Err("there is no connection".to_owned()),
    }
}

/// Without the clients every reading says so.
#[cfg(not(feature = "databases"))]
fn reader(at: ServiceAt) -> impl FnMut() -> Result<Reading, CollectError> + Send + 'static {
    move || Err(at.error("this prony was built without the feature `databases`; build it with that"))
}

/// A source with a name that is known only when it runs.
struct Named<S> {
    name: String,
    inner: S,
}

impl<S: Source> Source for Named<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn tick(&mut self, now: Nanos) -> Result<CounterLine, CollectError> {
        let line = self.inner.tick(now)?;
        Ok(CounterLine { source: self.name.clone(), ..line })
    }
}

#[cfg(test)]
mod tests;
