//! The version of HTTP that a server chooses, where the user leaves it to the server.
//!
//! Invariants: it is asked once, before the load, so that all connections of a load speak one version; without TLS nobody
//! can choose, and nothing is connected (RFC 9113 §3.3 asks for prior knowledge there).

use crate::GenerateError;
use crate::tls;
use plan::Reach;
use schema::plan::HttpVersion;
use std::time::Duration;
use wire::{Framing as _, Http2};

/// For the connection and its handshake.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What the server at `reach` chooses of what its TLS offers.
///
/// # Errors
/// TLS that cannot be made ready, and a server that gives no handshake.
pub fn chosen(reach: &Reach) -> Result<HttpVersion, GenerateError> {
    let Some(plan) = &reach.tls else { return Ok(HttpVersion::V1_1) };
    let tls = tls::for_probe(&tls::load(plan)?);
    let protocol = probe::chosen_protocol(reach.to, &tls, TIMEOUT)?;
    Ok(if protocol.as_deref() == Some(Http2::ALPN.as_bytes()) { HttpVersion::V2 } else { HttpVersion::V1_1 })
}
