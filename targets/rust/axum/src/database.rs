//! Users from MariaDB, through a pool of connections.
//!
//! Statements are prepared once for each connection and then cost one round trip. A connection goes back to
//! the pool as it is: resetting it would cost a round trip and its prepared statements, and no statement here
//! leaves a trace.
use std::time::Duration;

use axum::http::StatusCode;
use common::contract::{Failure, next_id};
use common::settings::Reader;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, OptsBuilder, Pool, PoolConstraints, PoolOpts};
use serde::Serialize;
use tokio::time::timeout;

use crate::services::unavailable;

const BY_ID: &str = "SELECT id, name, email, age, active, score FROM users WHERE id = ?";
const BY_NAME: &str = "SELECT id, name, email, age, active, score FROM users WHERE name = ? ORDER BY id";

/// Statements that take longer are a fault, not a measurement.
const STATEMENT_LIMIT: Duration = Duration::from_secs(30);

/// A row of the table.
#[derive(Debug, Serialize)]
pub struct User {
    id: u64,
    name: String,
    email: String,
    age: u32,
    active: bool,
    score: i64,
}

type Row = (u64, String, String, u32, bool, i64);

impl From<Row> for User {
    fn from((id, name, email, age, active, score): Row) -> Self {
        Self { id, name, email, age, active, score }
    }
}

/// Address and pool.
#[derive(Debug)]
pub struct DatabaseSettings {
    address: (String, u16),
    user: String,
    password: String,
    database: String,
    open_max: usize,
    idle_max: usize,
    lifetime: Duration,
    acquire: Duration,
}

impl DatabaseSettings {
    /// None where there is no address; what is wrong stays in `reader`.
    pub fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let hour = Duration::from_secs(60 * 60);
        let open_max = reader.number("DB_MAX_OPEN", 1..=10_000).unwrap_or(100);
        let idle_max = reader.number("DB_MAX_IDLE", 0..=10_000).unwrap_or(20);
        let lifetime = reader.duration("DB_MAX_LIFETIME", hour / 2, Duration::ZERO..=24 * hour);
        let acquire = reader.duration(
            "DB_ACQUIRE_TIMEOUT",
            Duration::from_millis(500),
            Duration::from_millis(1)..=hour,
        );
        let address = reader.address("MARIADB")?;
        let (Some(user), Some(database)) = (reader.text("MARIADB_USER"), reader.text("MARIADB_DATABASE"))
        else {
            reader
                .fail("MARIADB_HOST is set, so MARIADB_USER and MARIADB_DATABASE must be set too".to_owned());
            return None;
        };
        let password = reader.text("MARIADB_PASSWORD").unwrap_or_default();
        Some(Self { address, user, password, database, open_max, idle_max, lifetime, acquire })
    }
}

/// The pool.
pub struct Database {
    pool: Pool,
    acquire: Duration,
}

impl Database {
    /// Connects to nothing yet.
    pub fn new(settings: DatabaseSettings) -> Self {
        let acquire = settings.acquire;
        Self { pool: Pool::new(options(settings)), acquire }
    }

    /// Reaches the server once.
    pub async fn ping(&self) -> Result<(), Failure> {
        self.connection().await?.ping().await.map_err(failed)
    }

    /// `count` users from `first` on, one statement each, through one connection.
    ///
    /// # Errors
    /// Status 404 where an id has no user, 503 where the database fails.
    pub async fn users(&self, first: u64, count: u64) -> Result<Vec<User>, Failure> {
        let mut connection = self.connection().await?;
        let mut users = Vec::new();
        let mut id = first;
        for _ in 0..count {
            let row: Option<Row> = limited(connection.exec_first(BY_ID, (id,))).await?;
            users.push(row.ok_or_else(no_user)?.into());
            id = next_id(id);
        }
        Ok(users)
    }

    /// One user.
    ///
    /// # Errors
    /// Status 404 where the id has no user, 503 where the database fails.
    pub async fn user(&self, id: u64) -> Result<User, Failure> {
        let row: Option<Row> = limited(self.connection().await?.exec_first(BY_ID, (id,))).await?;
        row.map(User::from).ok_or_else(no_user)
    }

    /// All users of that name.
    ///
    /// # Errors
    /// Status 503 where the database fails.
    pub async fn named(&self, name: &str) -> Result<Vec<User>, Failure> {
        let mut connection = self.connection().await?;
        limited(connection.exec_map(BY_NAME, (name,), |row: Row| row.into())).await
    }

    async fn connection(&self) -> Result<Conn, Failure> {
        match timeout(self.acquire, self.pool.get_conn()).await {
            Ok(connection) => connection.map_err(failed),
            Err(_) => Err(unavailable(format!("no connection to the database within {:?}", self.acquire))),
        }
    }
}

fn options(settings: DatabaseSettings) -> OptsBuilder {
    let (host, port) = settings.address;
    // The library keeps its least number of connections when idle and closes those beyond.
    let idle = settings.idle_max.min(settings.open_max);
    let pool = PoolOpts::default()
        .with_constraints(PoolConstraints::new(idle, settings.open_max).unwrap_or_default())
        .with_abs_conn_ttl(Some(settings.lifetime).filter(|lifetime| !lifetime.is_zero()))
        .with_reset_connection(false);
    OptsBuilder::default()
        .ip_or_hostname(host)
        .tcp_port(port)
        // The library would change to the server's socket file, which the network of a trial does not have.
        .prefer_socket(false)
        .user(Some(settings.user))
        .pass(Some(settings.password))
        .db_name(Some(settings.database))
        .pool_opts(pool)
}

async fn limited<T>(statement: impl Future<Output = mysql_async::Result<T>>) -> Result<T, Failure> {
    match timeout(STATEMENT_LIMIT, statement).await {
        Ok(answer) => answer.map_err(failed),
        Err(_) => Err(unavailable(format!("the database did not answer within {STATEMENT_LIMIT:?}"))),
    }
}

fn no_user() -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "no such user")
}

fn failed(error: mysql_async::Error) -> Failure {
    unavailable(format!("the database failed: {error}"))
}
