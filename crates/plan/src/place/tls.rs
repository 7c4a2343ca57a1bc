//! TLS from what the user wrote to its plan. Files are named here and read by the generator.

use crate::place::net::{HttpUrl, Scheme};
use schema::plan::TlsPlan;
use schema::tls::TlsUse;
use std::path::Path;
use wire::{Framing as _, Http1, Http2};

/// Why options of TLS cannot be.
#[derive(Debug, thiserror::Error)]
pub enum TlsUseError {
    /// A key without a certificate.
    #[error(
        "a client key without a certificate proves nothing\n  remedy: add the certificate (--cert), or leave the key out"
    )]
    KeyAlone,
    /// Options of TLS for a URL of plain text.
    #[error("TLS is set up, but {url} is plain text\n  remedy: write https://, or leave the TLS options out")]
    PlainText {
        /// The URL's origin.
        url: String,
    },
}

/// Fills in every default. `host` is the URL's; relative files are taken from `folder`.
///
/// # Errors
/// A key without a certificate.
pub fn resolve(wanted: &TlsUse, host: &str, folder: &Path) -> Result<TlsPlan, TlsUseError> {
    let file = |file: &String| folder.join(file).display().to_string();
    let names = |names: &Option<Vec<String>>, default: &[&str]| {
        names.clone().unwrap_or_else(|| default.iter().map(|name| (*name).to_owned()).collect())
    };
    if wanted.key.is_some() && wanted.cert.is_none() {
        return Err(TlsUseError::KeyAlone);
    }
    Ok(TlsPlan {
        server_name: wanted.sni.clone().unwrap_or_else(|| host.to_owned()),
        verify: !wanted.insecure,
        ca_file: wanted.ca.as_ref().map(file),
        cert_file: wanted.cert.as_ref().map(file),
        key_file: wanted.key.as_ref().or(wanted.cert.as_ref()).map(file),
        versions: names(&wanted.versions, &["1.2", "1.3"]),
        ciphers: names(&wanted.ciphers, &[]),
        groups: names(&wanted.groups, &[]),
        alpn: names(&wanted.alpn, &[Http1::ALPN]),
        resumption: wanted.resumption.unwrap_or(true),
    })
}

/// The same TLS for connections of HTTP/2 alone.
#[must_use]
pub fn for_http2(plan: &TlsPlan) -> TlsPlan {
    TlsPlan { alpn: vec![Http2::ALPN.to_owned()], ..plan.clone() }
}

/// The plan for a URL: TLS for https, none for http, which takes no options of TLS either.
///
/// # Errors
/// A key without a certificate, or options where there is no TLS.
pub fn of_url(wanted: Option<&TlsUse>, url: &HttpUrl, folder: &Path) -> Result<Option<TlsPlan>, TlsUseError> {
    let default = TlsUse::default();
    let wanted = wanted.unwrap_or(&default);
    match url.scheme {
        Scheme::Https => resolve(wanted, &url.host, folder).map(Some),
        Scheme::Http if *wanted == default => Ok(None),
        Scheme::Http => Err(TlsUseError::PlainText { url: url.origin() }),
    }
}
