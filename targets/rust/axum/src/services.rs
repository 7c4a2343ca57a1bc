//! What the handlers share: settings that were read, files, tokens, and the services that have an address.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use common::contract::Failure;
use common::files::Files;
use common::settings::{Reader, Settings};
use common::token::Tokens;

use crate::backend::{Backend, BackendSettings};
use crate::cache::Cache;
use crate::database::{Database, DatabaseSettings};

/// One question to one service, before it counts as reached.
const PING_LIMIT: Duration = Duration::from_secs(1);

/// Addresses of services; none where the target does without.
pub struct ServiceSettings {
    database: Option<DatabaseSettings>,
    cache: Option<(String, u16)>,
    backend: Option<BackendSettings>,
}

impl ServiceSettings {
    /// Reads them; what is wrong stays in `reader`.
    pub fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            database: DatabaseSettings::read(reader),
            cache: reader.address("REDIS"),
            backend: BackendSettings::read(reader),
        }
    }
}

/// The state of the router; clones share it.
pub type AppState = Arc<App>;

/// What the handlers share.
pub struct App {
    /// Files of `/file`.
    pub files: Files,
    /// The check of `/auth`.
    pub tokens: Tokens,
    database: Option<Database>,
    cache: Option<Cache>,
    backend: Option<Backend>,
    /// All services were reached once; they are not asked again, so that /health costs nothing under load.
    reached: AtomicBool,
}

impl App {
    /// Connects to nothing yet. Must be called inside a runtime.
    ///
    /// # Errors
    /// An address that the client of its service does not take.
    pub fn new(
        settings: &Settings,
        services: ServiceSettings,
    ) -> Result<AppState, Box<dyn std::error::Error>> {
        Ok(Arc::new(Self {
            files: Files::new(settings.files.clone()),
            tokens: Tokens::new(&settings.secret),
            database: services.database.map(Database::new),
            cache: services.cache.map(Cache::new).transpose()?,
            backend: services.backend.map(Backend::new).transpose()?,
            reached: AtomicBool::new(false),
        }))
    }

    /// The database.
    ///
    /// # Errors
    /// Status 503 where it has no address.
    pub fn database(&self) -> Result<&Database, Failure> {
        self.database.as_ref().ok_or_else(|| missing("MARIADB"))
    }

    /// The cache.
    ///
    /// # Errors
    /// Status 503 where it has no address.
    pub fn cache(&self) -> Result<&Cache, Failure> {
        self.cache.as_ref().ok_or_else(|| missing("REDIS"))
    }

    /// The gRPC backend.
    ///
    /// # Errors
    /// Status 503 where it has no address.
    pub fn backend(&self) -> Result<&Backend, Failure> {
        self.backend.as_ref().ok_or_else(|| missing("GRPC"))
    }

    /// Whether every service that has an address was reached.
    ///
    /// # Errors
    /// What is waited for.
    pub async fn reach(&self) -> Result<(), String> {
        if self.reached.load(Ordering::Relaxed) {
            return Ok(());
        }
        if let Some(database) = &self.database {
            answered("mariadb", database.ping()).await?;
        }
        if let Some(cache) = &self.cache {
            answered("redis", cache.ping()).await?;
        }
        if let Some(backend) = &self.backend {
            answered("grpc", backend.ping()).await?;
        }
        self.reached.store(true, Ordering::Relaxed);
        Ok(())
    }
}

async fn answered(name: &str, ping: impl Future<Output = Result<(), Failure>>) -> Result<(), String> {
    match tokio::time::timeout(PING_LIMIT, ping).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(failure)) => Err(format!("waiting for {name}: {failure}")),
        Err(_) => Err(format!("waiting for {name}: no answer within {PING_LIMIT:?}")),
    }
}

fn missing(prefix: &str) -> Failure {
    unavailable(format!("{prefix}_HOST is not set, so this route has no service"))
}

/// Status 503: a service is not there, or failed.
pub fn unavailable(msg: String) -> Failure {
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, msg)
}
