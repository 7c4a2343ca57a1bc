//! The reference target's certificate: the user's, or one made for this run.

use crate::args::ReferenceArgs;
use anyhow::{Context as _, Result};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use testkit::certs::Pki;

pub(crate) fn config(args: &ReferenceArgs) -> Result<Arc<ServerConfig>> {
    let (chain, key) = match (&args.tls_cert, &args.tls_key) {
        (Some(cert), Some(key)) => given(cert, key)?,
        _ => made(args.tls_ca_out.as_deref())?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .context(
            "--tls-cert and --tls-key cannot be used; give a certificate and the key that belongs to it",
        )?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    // Tickets that the server need not remember: as many sessions can be resumed as there are clients.
    config.ticketer = rustls::crypto::ring::Ticketer::new()?;
    Ok(Arc::new(config))
}

type Credentials = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn given(cert: &Path, key: &Path) -> Result<Credentials> {
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect)
        .with_context(|| format!("cannot read certificates from {}; give a PEM file", cert.display()))?;
    let key = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("cannot read a key from {}; give a PEM file", key.display()))?;
    Ok((chain, key))
}

/// A certificate for localhost, 127.0.0.1 and ::1 of an authority that lives as long as this process.
fn made(ca_out: Option<&Path>) -> Result<Credentials> {
    let pki = Pki::new()?;
    if let Some(path) = ca_out {
        std::fs::write(path, pki.authority_pem())
            .with_context(|| format!("cannot write the CA to {}", path.display()))?;
    }
    Ok((vec![pki.server().certificate().clone()], pki.server().key()))
}
