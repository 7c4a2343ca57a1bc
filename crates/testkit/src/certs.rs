//! A small public-key infrastructure for tests: one authority, a right server and client certificate, and server
//! certificates that are wrong in one way each.
//!
//! Invariants: keys are new in each [`Pki`] and never leave the process unless they are written by the caller; each
//! wrong certificate is wrong in exactly one way, so a check that overlooks it accepts it.
//! Absent on purpose: revocation, RSA keys, and anything that a real deployment would trust.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names that the right server certificate is good for.
pub const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// The one name that [`Wrong::Name`] is good for.
pub const OTHER_NAME: &str = "other.test";

/// Why the infrastructure cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub enum CertError {
    /// The generator of certificates refused.
    #[error("cannot make a test certificate: {0}")]
    Generate(#[from] rcgen::Error),
    /// rustls refused a certificate or key.
    #[error("cannot use a test certificate: {0}")]
    Tls(#[from] rustls::Error),
    /// The verifier of client certificates refused the authority.
    #[error("cannot verify client certificates: {0}")]
    Verifier(#[from] rustls::server::VerifierBuilderError),
}

/// How a server certificate is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Its time ended in 2001.
    Expired,
    /// Its time begins in 3000.
    NotYetValid,
    /// It is good for [`OTHER_NAME`] only.
    Name,
    /// It has signed itself; no authority stands behind it.
    SelfSigned,
    /// An authority signed it that nobody here trusts.
    UnknownIssuer,
    /// It is good for clients only.
    Usage,
    /// The last byte of the authority's signature is flipped.
    Signature,
}

impl Wrong {
    /// Every way.
    pub const ALL: [Self; 7] = [
        Self::Expired,
        Self::NotYetValid,
        Self::Name,
        Self::SelfSigned,
        Self::UnknownIssuer,
        Self::Usage,
        Self::Signature,
    ];
}

/// A certificate and its private key.
#[derive(Clone, Debug)]
pub struct Identity {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Identity {
    /// The certificate, DER.
    #[must_use]
    pub const fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// The private key, PKCS#8 DER.
    #[must_use]
    pub fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()))
    }

    /// The certificate as PEM text.
    #[must_use]
    pub fn certificate_pem(&self) -> String {
        pem::encode(&pem::Pem::new("CERTIFICATE", self.certificate.as_ref()))
    }

    /// The private key as PEM text.
    #[must_use]
    pub fn key_pem(&self) -> String {
        pem::encode(&pem::Pem::new("PRIVATE KEY", self.key.clone()))
    }

    /// Writes `NAME.pem` and `NAME.key` into `folder` and returns both paths.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path, name: &str) -> std::io::Result<(PathBuf, PathBuf)> {
        let (certificate, key) = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
        std::fs::write(&certificate, self.certificate_pem())?;
        std::fs::write(&key, self.key_pem())?;
        Ok((certificate, key))
    }
}

/// The authority and what it has signed.
#[derive(Debug)]
pub struct Pki {
    authority: Authority,
    server: Identity,
    client: Identity,
}

impl Pki {
    /// A new authority with a server certificate for [`NAMES`] and a client certificate.
    ///
    /// # Errors
    /// When a certificate cannot be made.
    pub fn new() -> Result<Self, CertError> {
        let authority = Authority::new("prony test authority")?;
        let server = authority.sign(server_params(&NAMES)?)?;
        let client = authority.sign(client_params()?)?;
        Ok(Self { authority, server, client })
    }

    /// The authority's certificate, DER: what clients and servers are to trust.
    #[must_use]
    pub const fn authority(&self) -> &CertificateDer<'static> {
        &self.authority.certificate
    }

    /// The authority's certificate as PEM text.
    #[must_use]
    pub fn authority_pem(&self) -> String {
        pem::encode(&pem::Pem::new("CERTIFICATE", self.authority.certificate.as_ref()))
    }

    /// Writes the authority's certificate to `ca.pem` in `folder` and returns the path.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_authority(&self, folder: &Path) -> std::io::Result<PathBuf> {
        let path = folder.join("ca.pem");
        std::fs::write(&path, self.authority_pem())?;
        Ok(path)
    }

    /// The right server certificate.
    #[must_use]
    pub const fn server(&self) -> &Identity {
        &self.server
    }

    /// The right client certificate.
    #[must_use]
    pub const fn client(&self) -> &Identity {
        &self.client
    }

    /// A client certificate of an authority that nobody here trusts.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn foreign_client(&self) -> Result<Identity, CertError> {
        Authority::new("prony foreign authority")?.sign(client_params()?)
    }

    /// A server certificate that is wrong in one way.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn wrong(&self, wrong: Wrong) -> Result<Identity, CertError> {
        let mut params = server_params(&NAMES)?;
        match wrong {
            Wrong::Expired => {
                (params.not_before, params.not_after) =
                    (date_time_ymd(2000, 1, 1), date_time_ymd(2001, 1, 1));
            }
            Wrong::NotYetValid => params.not_before = date_time_ymd(3000, 1, 1),
            Wrong::Name => params = server_params(&[OTHER_NAME])?,
            Wrong::Usage => params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth],
            Wrong::SelfSigned => return self_signed(&params),
            Wrong::UnknownIssuer => return Authority::new("prony foreign authority")?.sign(params),
            Wrong::Signature => return Ok(with_bad_signature(&self.authority.sign(params)?)),
        }
        self.authority.sign(params)
    }

    /// A store that trusts the authority alone.
    ///
    /// # Errors
    /// When rustls refuses the authority's certificate.
    pub fn roots(&self) -> Result<RootCertStore, CertError> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.certificate.clone())?;
        Ok(roots)
    }

    /// A server's configuration with this certificate. `asks_client` demands a client certificate that the
    /// authority has signed; `alpn` is what the server speaks, best first (empty: it does not negotiate).
    ///
    /// # Errors
    /// When rustls refuses the certificate.
    pub fn server_config(
        &self,
        identity: &Identity,
        asks_client: bool,
        alpn: &[&[u8]],
    ) -> Result<Arc<ServerConfig>, CertError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let builder = if asks_client {
            let roots = Arc::new(self.roots()?);
            builder.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(roots, provider).build()?,
            )
        } else {
            builder.with_no_client_auth()
        };
        let mut config = builder.with_single_cert(vec![identity.certificate.clone()], identity.key())?;
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        Ok(Arc::new(config))
    }

    /// A client's configuration that trusts the authority and shows `identity` where it is asked.
    ///
    /// # Errors
    /// When rustls refuses a certificate.
    pub fn client_config(&self, identity: Option<&Identity>) -> Result<Arc<ClientConfig>, CertError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(self.roots()?);
        Ok(Arc::new(match identity {
            Some(identity) => {
                builder.with_client_auth_cert(vec![identity.certificate.clone()], identity.key())?
            }
            None => builder.with_no_client_auth(),
        }))
    }
}

#[derive(Debug)]
struct Authority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Result<Self, CertError> {
        let mut params = named(name, &[])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?.der().clone();
        Ok(Self { certificate, issuer: Issuer::new(params, key) })
    }

    fn sign(&self, params: CertificateParams) -> Result<Identity, CertError> {
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?.der().clone();
        Ok(Identity { certificate, key: key.serialize_der() })
    }
}

fn self_signed(params: &CertificateParams) -> Result<Identity, CertError> {
    let key = KeyPair::generate()?;
    Ok(Identity { certificate: params.self_signed(&key)?.der().clone(), key: key.serialize_der() })
}

fn named(common_name: &str, names: &[&str]) -> Result<CertificateParams, CertError> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.remove(DnType::CommonName);
    params.distinguished_name.push(DnType::CommonName, common_name);
    Ok(params)
}

fn server_params(names: &[&str]) -> Result<CertificateParams, CertError> {
    let mut params = named("prony test server", names)?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    Ok(params)
}

fn client_params() -> Result<CertificateParams, CertError> {
    let mut params = named("prony test client", &[])?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    Ok(params)
}

/// The signature is the last field of a certificate (RFC 5280 §4.1), so its last byte is the last of the DER.
fn with_bad_signature(identity: &Identity) -> Identity {
    let mut bytes = identity.certificate.as_ref().to_vec();
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    Identity { certificate: CertificateDer::from(bytes), key: identity.key.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{CertificateError, ClientConnection, Error, ServerConnection};

    /// Shakes hands in memory; returns the first error of either side.
    fn shake(client: Arc<ClientConfig>, server: Arc<ServerConfig>, name: &str) -> Result<(), Error> {
        let name = name.to_owned().try_into().unwrap();
        let mut client = ClientConnection::new(client, name).unwrap();
        let mut server = ServerConnection::new(server).unwrap();
        while client.is_handshaking() || server.is_handshaking() {
            let mut bytes = Vec::new();
            while client.wants_write() {
                client.write_tls(&mut bytes).unwrap();
            }
            server.read_tls(&mut bytes.as_slice()).unwrap();
            server.process_new_packets()?;
            let mut bytes = Vec::new();
            while server.wants_write() {
                server.write_tls(&mut bytes).unwrap();
            }
            client.read_tls(&mut bytes.as_slice()).unwrap();
            client.process_new_packets()?;
        }
        Ok(())
    }

    #[test]
    fn right_certificates_are_accepted_for_every_name() {
        let pki = Pki::new().unwrap();
        for name in NAMES {
            let server = pki.server_config(pki.server(), false, &[]).unwrap();
            shake(pki.client_config(None).unwrap(), server, name).unwrap();
        }
        let asks = pki.server_config(pki.server(), true, &[]).unwrap();
        shake(pki.client_config(Some(pki.client())).unwrap(), asks.clone(), "localhost").unwrap();
        assert!(shake(pki.client_config(None).unwrap(), asks.clone(), "localhost").is_err());
        let foreign = pki.foreign_client().unwrap();
        assert!(shake(pki.client_config(Some(&foreign)).unwrap(), asks, "localhost").is_err());
    }

    #[test]
    fn wrong_certificates_are_refused_for_their_reason() {
        let pki = Pki::new().unwrap();
        for wrong in Wrong::ALL {
            let server = pki.server_config(&pki.wrong(wrong).unwrap(), false, &[]).unwrap();
            let error = shake(pki.client_config(None).unwrap(), server, "localhost").unwrap_err();
            use CertificateError as E;
            let expected = matches!(
                (&error, wrong),
                (Error::InvalidCertificate(E::Expired | E::ExpiredContext { .. }), Wrong::Expired)
                    | (
                        Error::InvalidCertificate(E::NotValidYet | E::NotValidYetContext { .. }),
                        Wrong::NotYetValid,
                    )
                    | (
                        Error::InvalidCertificate(E::NotValidForName | E::NotValidForNameContext { .. }),
                        Wrong::Name,
                    )
                    | (Error::InvalidCertificate(E::UnknownIssuer), Wrong::SelfSigned | Wrong::UnknownIssuer,)
                    | (
                        Error::InvalidCertificate(E::InvalidPurpose | E::InvalidPurposeContext { .. }),
                        Wrong::Usage,
                    )
                    | (Error::InvalidCertificate(E::BadSignature), Wrong::Signature)
            );
            assert!(expected, "{wrong:?}: {error:?}");
        }
    }

    #[test]
    fn pem_files_hold_what_was_made() {
        use rustls::pki_types::pem::PemObject;
        let pki = Pki::new().unwrap();
        let read = CertificateDer::from_pem_slice(pki.server().certificate_pem().as_bytes()).unwrap();
        assert_eq!(&read, pki.server().certificate());
        let key = PrivateKeyDer::from_pem_slice(pki.server().key_pem().as_bytes()).unwrap();
        assert_eq!(key, pki.server().key());
        let authority = CertificateDer::from_pem_slice(pki.authority_pem().as_bytes()).unwrap();
        assert_eq!(&authority, pki.authority());
    }
}
