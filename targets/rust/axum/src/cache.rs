//! Values from Redis, through a pool of connections; what is missing is filled in.
//!
//! A connection is not asked before each use whether it still lives. One that failed leaves the pool instead.
use std::time::Duration;

use bb8::{ManageConnection, Pool, PooledConnection};
use common::contract::Failure;
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, Client, RedisError, RedisResult};
use serde::Serialize;

use crate::services::unavailable;

const CONNECTIONS_MAX: u32 = 20;
const ACQUIRE_LIMIT: Duration = Duration::from_millis(500);
const LIFETIME_S: u64 = 60;

/// The data of `/cache/{key}`.
#[derive(Debug, Serialize)]
pub struct Cached {
    key: String,
    value: String,
}

/// The pool.
pub struct Cache(Pool<Manager>);

impl Cache {
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// The address is none.
    pub fn new((host, port): (String, u16)) -> RedisResult<Self> {
        let manager = Manager(Client::open((host, port))?);
        let pool = Pool::builder()
            .max_size(CONNECTIONS_MAX)
            .connection_timeout(ACQUIRE_LIMIT)
            .test_on_check_out(false)
            .build_unchecked(manager);
        Ok(Self(pool))
    }

    /// Reaches the server once.
    pub async fn ping(&self) -> Result<(), Failure> {
        let mut link = self.link().await?;
        let answer: RedisResult<()> = link.connection.ping().await;
        link.checked(answer)
    }

    /// The value of `key`, or a new one for 60 s where there is none.
    ///
    /// # Errors
    /// Status 503 where the cache fails.
    pub async fn get(&self, key: String) -> Result<Cached, Failure> {
        let mut link = self.link().await?;
        let found: RedisResult<Option<String>> = link.connection.get(&key).await;
        if let Some(value) = link.checked(found)? {
            return Ok(Cached { key, value });
        }
        let value = format!("value-of-{key}");
        let stored: RedisResult<()> = link.connection.set_ex(&key, &value, LIFETIME_S).await;
        link.checked(stored)?;
        Ok(Cached { key, value })
    }

    async fn link(&self) -> Result<PooledConnection<'_, Manager>, Failure> {
        self.0.get().await.map_err(|error| unavailable(format!("no connection to the cache: {error}")))
    }
}

/// Makes connections.
struct Manager(Client);

/// A connection, and whether it has failed.
struct Link {
    connection: MultiplexedConnection,
    broken: bool,
}

impl Link {
    fn checked<T>(&mut self, answer: RedisResult<T>) -> Result<T, Failure> {
        self.broken |= answer.is_err();
        answer.map_err(|error| unavailable(format!("the cache failed: {error}")))
    }
}

impl ManageConnection for Manager {
    type Connection = Link;
    type Error = RedisError;

    async fn connect(&self) -> RedisResult<Link> {
        let connection = self.0.get_multiplexed_async_connection().await?;
        Ok(Link { connection, broken: false })
    }

    async fn is_valid(&self, link: &mut Link) -> RedisResult<()> {
        link.connection.ping().await
    }

    fn has_broken(&self, link: &mut Link) -> bool {
        link.broken
    }
}
