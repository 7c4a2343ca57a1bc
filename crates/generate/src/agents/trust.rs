//! Who is believed on a link over TLS: read from a folder of `prony fleet keys`, and what is wrong in words.
//!
//! Invariants: TLS 1.3 only, both ends show a certificate of the fleet's own authority, no session is resumed and no early
//! data is taken, so nothing that was recorded can be played again. An agent believes the controller alone, a controller
//! the agent that it named alone; each role is checked by usage and by name. A folder that its own end could not use is
//! refused before a socket is opened. Absent on purpose: the system's authorities: a fleet trusts itself.

use fleet::{AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE, Role, check_name};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::client::{Resumption, verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoServerSessionStorage, ParsedCertificate, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error,
    PeerIncompatible, RootCertStore, ServerConfig, SignatureScheme,
};
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use webpki::EndEntityCert;

/// Largest file of a folder of keys.
const FILE_BYTES_MAX: u64 = 64 << 10;
/// Rights that a private key must not have: a group may read it, as in a pod, the world may not.
const RIGHTS_OF_OTHERS: u32 = 0o007;
/// What helps against most that is wrong with keys.
const REMEDY: &str = "give both ends folders of one `prony fleet keys`";

/// Why a folder of keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// A file is missing or cannot be read.
    #[error("cannot read {path}: {source}\n  remedy: give a folder that `prony fleet keys` made")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file holds something else.
    #[error("{path} holds no {what}: {cause}\n  remedy: give a folder that `prony fleet keys` made")]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
        /// What is wrong.
        cause: String,
    },
    /// The file with the user of a bus is not understood.
    #[error("{path}: {cause}\n  remedy: give it two lines, user = \"NAME\" and password = \"PASSWORD\"")]
    Login {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// The key is no secret.
    #[error("{path} can be read by every user of this host\n  remedy: chmod 600 {path}")]
    Open {
        /// The key.
        path: PathBuf,
    },
    /// The certificate is not good for this end, at this time, in this fleet.
    #[error("the keys in {folder} cannot be used: {cause}")]
    Unusable {
        /// The folder.
        folder: PathBuf,
        /// What is wrong, with its remedy.
        cause: String,
    },
}

/// An agent's side: its certificate, and the belief in its controller.
#[derive(Clone, Debug)]
pub struct AgentTrust {
    pub(super) config: Arc<ServerConfig>,
    folder: PathBuf,
    certificate: CertificateDer<'static>,
}

/// A controller's side: its certificate, and the belief in one agent.
pub(super) struct ControllerTrust {
    pub(super) config: Arc<ClientConfig>,
    pub(super) agent: ServerName<'static>,
}

impl AgentTrust {
    /// Reads an agent's folder.
    ///
    /// # Errors
    /// Files that are missing, unfit or open to all, and a certificate that no controller would believe.
    pub fn read(folder: &Path) -> Result<Self, TrustError> {
        let own = Folder::read(folder)?;
        own.check_agent()?;
        let provider = Arc::new(ring::default_provider());
        let verifier = ControllerOnly::new(own.roots.clone(), provider.clone());
        let verifier = verifier.map_err(|cause| own.unusable(cause))?;
        let builder = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| own.unusable(error.to_string()))?
            .with_client_cert_verifier(Arc::new(verifier));
        let config = builder.with_single_cert(vec![own.certificate.clone()], own.key.clone_key());
        let mut config = config.map_err(|error| own.unusable(explain(&error)))?;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        let Folder { path, certificate, .. } = own;
        Ok(Self { config: Arc::new(config), folder: path, certificate })
    }

    /// The agent's name, by its certificate.
    ///
    /// # Errors
    /// The certificate is not of an agent.
    pub fn name(&self) -> Result<String, TrustError> {
        let unusable = |cause: String| TrustError::Unusable { folder: self.folder.clone(), cause };
        let own = EndEntityCert::try_from(&self.certificate).map_err(|error| unusable(error.to_string()))?;
        let name = own.valid_dns_names().find_map(Role::agent_of).filter(|name| check_name(name).is_ok());
        name.map(str::to_owned)
            .ok_or_else(|| unusable(format!("its certificate names no agent\n  remedy: {REMEDY}")))
    }
}

impl ControllerTrust {
    /// Reads the controller's folder, to reach the agent of this name.
    pub(super) fn read(folder: &Path, agent: &str) -> Result<Self, TrustError> {
        let own = Folder::read(folder)?;
        let role = Role::Agent(agent).name();
        let name = ServerName::try_from(role);
        let name = name.map_err(|_| own.unusable(format!("`{agent}` cannot stand in a certificate")))?;
        let provider = Arc::new(ring::default_provider());
        let verifier = ControllerOnly::new(own.roots.clone(), provider.clone());
        verifier
            .and_then(|rule| rule.check(&own.certificate, UnixTime::now()).map_err(|error| explain(&error)))
            .map_err(|cause| own.unusable(cause))?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| own.unusable(error.to_string()))?
            .with_root_certificates(own.roots.clone());
        let config = builder.with_client_auth_cert(vec![own.certificate.clone()], own.key.clone_key());
        let mut config = config.map_err(|error| own.unusable(explain(&error)))?;
        config.resumption = Resumption::disabled();
        // An agent has one certificate; nobody on the way needs to read which.
        config.enable_sni = false;
        Ok(Self { config: Arc::new(config), agent: name })
    }
}

/// A folder of keys.
struct Folder {
    path: PathBuf,
    roots: Arc<RootCertStore>,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Folder {
    fn read(path: &Path) -> Result<Self, TrustError> {
        let certificate = |name: &str| {
            let path = path.join(name);
            let text = read(&path)?;
            CertificateDer::from_pem_slice(&text).map_err(|error| TrustError::Unfit {
                path,
                what: "certificate",
                cause: error.to_string(),
            })
        };
        let unfit = |what, cause: String| TrustError::Unfit { path: path.join(AUTHORITY_FILE), what, cause };
        let mut roots = RootCertStore::empty();
        let added = roots.add(certificate(AUTHORITY_FILE)?);
        added.map_err(|error| unfit("authority", error.to_string()))?;
        let key_path = path.join(KEY_FILE);
        let key = PrivateKeyDer::from_pem_slice(&read_secret(&key_path)?).map_err(|error| {
            TrustError::Unfit { path: key_path.clone(), what: "private key", cause: error.to_string() }
        })?;
        let certificate = certificate(CERTIFICATE_FILE)?;
        Ok(Self { path: path.to_owned(), roots: Arc::new(roots), certificate, key })
    }

    fn unusable(&self, cause: String) -> TrustError {
        TrustError::Unusable { folder: self.path.clone(), cause }
    }

    /// Whether a controller would believe this end, but for its name, which only the controller knows.
    fn check_agent(&self) -> Result<(), TrustError> {
        let algorithms = ring::default_provider().signature_verification_algorithms.all;
        let checked = ParsedCertificate::try_from(&self.certificate).and_then(|own| {
            verify_server_cert_signed_by_trust_anchor(&own, &self.roots, &[], UnixTime::now(), algorithms)
        });
        checked.map_err(|error| self.unusable(explain(&error)))
    }
}

/// A file that not every user of the host may read.
pub(super) fn read_secret(path: &Path) -> Result<Vec<u8>, TrustError> {
    let text = read(path)?;
    let is_open = fs::metadata(path).is_ok_and(|found| found.permissions().mode() & RIGHTS_OF_OTHERS != 0);
    if is_open { Err(TrustError::Open { path: path.to_owned() }) } else { Ok(text) }
}

fn read(path: &Path) -> Result<Vec<u8>, TrustError> {
    let mut text = Vec::new();
    let file = fs::File::open(path);
    file.and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut text))
        .map_err(|source| TrustError::Unreadable { path: path.to_owned(), source })?;
    Ok(text)
}

/// Believes certificates of the fleet's authority for clients, and of those the one that is named as the controller.
#[derive(Debug)]
struct ControllerOnly {
    authority: Arc<dyn ClientCertVerifier>,
    name: ServerName<'static>,
}

impl ControllerOnly {
    fn new(roots: Arc<RootCertStore>, provider: Arc<CryptoProvider>) -> Result<Self, String> {
        let authority = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
        let authority = authority.map_err(|error| error.to_string())?;
        let name = ServerName::try_from(Role::Controller.name()).map_err(|error| error.to_string())?;
        Ok(Self { authority, name })
    }

    fn check(&self, certificate: &CertificateDer<'_>, now: UnixTime) -> Result<ClientCertVerified, Error> {
        let verified = self.authority.verify_client_cert(certificate, &[], now)?;
        verify_server_name(&ParsedCertificate::try_from(certificate)?, &self.name)?;
        Ok(verified)
    }
}

impl ClientCertVerifier for ControllerOnly {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.authority.root_hint_subjects()
    }
    /// Chains of more than one certificate are not made by `prony fleet keys`, and are not looked at.
    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(certificate, now)
    }
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authority.verify_tls12_signature(message, certificate, signed)
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authority.verify_tls13_signature(message, certificate, signed)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authority.supported_verify_schemes()
    }
}

/// What an error of TLS means for a fleet, and what helps.
pub(super) fn explain(error: &Error) -> String {
    use CertificateError as C;
    const RENEW: &str = "make keys again with `prony fleet keys`, and look at the clocks of both hosts";
    let (cause, remedy) = match error {
        Error::InvalidCertificate(C::Expired | C::ExpiredContext { .. }) => {
            ("the certificate has expired".to_owned(), RENEW)
        }
        Error::InvalidCertificate(C::NotValidYet | C::NotValidYetContext { .. }) => {
            ("the certificate is not valid yet".to_owned(), RENEW)
        }
        Error::InvalidCertificate(C::UnknownIssuer | C::BadSignature) => {
            ("the certificate is of another fleet".to_owned(), REMEDY)
        }
        Error::InvalidCertificate(C::NotValidForNameContext { expected, presented }) => {
            let presented = presented.join(", ");
            let cause = format!("the certificate is that of {presented}, not of {}", expected.to_str());
            (cause, "give each end the folder of its own name")
        }
        Error::InvalidCertificate(
            C::InvalidPurpose | C::InvalidPurposeContext { .. } | C::NotValidForName,
        ) => ("the certificate is for another role".to_owned(), "give each end the folder of its own name"),
        Error::NoCertificatesPresented => ("it showed no certificate".to_owned(), REMEDY),
        Error::AlertReceived(alert) => return refused(*alert),
        Error::PeerIncompatible(PeerIncompatible::SupportedVersionsExtensionRequired) => {
            ("it does not speak TLS 1.3".to_owned(), "use the same prony on both ends")
        }
        Error::InvalidMessage(_) | Error::InappropriateMessage { .. } => (
            "what it says is no TLS".to_owned(),
            "begin the agent with --tls, and give `tls` in the fleet file",
        ),
        other => (other.to_string(), REMEDY),
    };
    format!("{cause}\n  remedy: {remedy}")
}

/// What the other end has against this one.
fn refused(alert: AlertDescription) -> String {
    let cause = match alert {
        AlertDescription::CertificateExpired => "it says that this end's certificate has expired",
        AlertDescription::UnknownCA => "it says that this end's certificate is of another fleet",
        AlertDescription::BadCertificate | AlertDescription::UnsupportedCertificate => {
            "it says that this end's certificate is for another role"
        }
        AlertDescription::CertificateRequired => "it wants a certificate of its fleet",
        other => return format!("it ended the handshake ({other:?})\n  remedy: {REMEDY}"),
    };
    format!("{cause}\n  remedy: {REMEDY}")
}
