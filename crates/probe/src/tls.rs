//! What an exchange over TLS needs.

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::sync::Arc;

/// How an exchange over TLS verifies and is verified.
#[derive(Clone, Debug)]
pub struct Tls {
    /// Versions, ciphers, trusted certificates, own certificate.
    pub config: Arc<ClientConfig>,
    /// Name sent in SNI and checked against the certificate.
    pub server_name: ServerName<'static>,
}
