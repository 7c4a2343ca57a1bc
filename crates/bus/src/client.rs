//! A connection to a NATS server, which is made again for as long as it is wanted, and what is noticed when it was away.

use crate::error::BusError;
use crate::frame::FRAME_BYTES;
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event};
use schema::fleet::BusLogin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Time for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// A server, and who is there.
#[derive(Clone, Debug)]
pub struct Server {
    /// `nats://HOST:PORT` or `tls://HOST:PORT`.
    pub address: String,
    /// Where it asks for a user.
    pub login: Option<BusLogin>,
}

/// How often what is under way may have been lost: streams end when it grows.
pub(crate) type Cuts = watch::Receiver<u64>;

/// A connection.
pub(crate) struct Bus {
    pub(crate) client: Client,
    pub(crate) cuts: Arc<watch::Sender<u64>>,
}

/// Connects; each time that the server goes, `say` gets a line.
pub(crate) async fn connect(
    server: &Server,
    say: impl Fn(&str) + Send + Sync + 'static,
) -> Result<Bus, BusError> {
    let cuts = Arc::new(watch::Sender::new(0));
    let address = &server.address;
    let shared = Arc::new((cuts.clone(), say, address.clone()));
    let notice = move |event: Event| {
        let (cuts, say, address) = &*shared;
        match event {
            Event::Disconnected => {
                cuts.send_modify(|times| *times += 1);
                say(&format!("{address} is gone; trying again until it is back"));
            }
            // What was dropped for want of room is as lost.
            Event::SlowConsumer(_) => cuts.send_modify(|times| *times += 1),
            Event::ServerError(error) => say(&format!("{address}: {error}")),
            _ => {}
        }
        std::future::ready(())
    };
    let mut options = ConnectOptions::new()
        .name("prony")
        .connection_timeout(CONNECT_MAX)
        .ignore_discovered_servers()
        .event_callback(notice);
    if let Some(BusLogin { user, password }) = server.login.clone() {
        options = options.user_and_password(user, password);
    }
    let client = options.connect(address.as_str()).await.map_err(|error| {
        let (server, cause) = (address.clone(), error.to_string());
        match error.kind() {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                BusError::NotAllowed { server, cause }
            }
            _ => BusError::Unreachable { server, cause },
        }
    })?;
    let bytes = client.max_payload();
    if bytes < FRAME_BYTES {
        return Err(BusError::Narrow { server: address.clone(), bytes });
    }
    Ok(Bus { client, cuts })
}
