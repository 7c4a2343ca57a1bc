//! From the plan's names to a rustls configuration. Pure: files are read by the runner.

use super::verify::AcceptAny;
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedCipherSuite, SupportedProtocolVersion};
use schema::plan::TlsPlan;
use schema::text::nearest;
use std::sync::Arc;

/// Servers whose sessions are kept; a load has one, and rustls keeps up to eight tickets for each.
const SESSIONS: usize = 8;

/// Certificates that are trusted.
#[derive(Clone, Debug)]
pub enum Roots {
    /// From the user's file: each must be usable.
    Given(Vec<CertificateDer<'static>>),
    /// The system's: those that are not usable are passed over.
    System(Vec<CertificateDer<'static>>),
}

/// The client's own certificate.
#[derive(Debug)]
pub struct Identity {
    /// Its own certificate first, then those that lead to the authority.
    pub chain: Vec<CertificateDer<'static>>,
    /// The key of the first.
    pub key: PrivateKeyDer<'static>,
}

/// What is wrong with a TLS plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TlsError {
    /// A name that is not known.
    #[error("`{got}` is no {what} that prony has{}\n  remedy: choose from {known}", meant(.near.as_deref()))]
    Unknown {
        /// Version, cipher suite or group.
        what: &'static str,
        /// As written.
        got: String,
        /// What may have been meant.
        near: Option<String>,
        /// All that are known.
        known: String,
    },
    /// An empty list of versions, ciphers that fit no version, or no key exchange.
    #[error(
        "the TLS versions, ciphers and groups do not go together: {0}\n  \
         remedy: a cipher of TLS 1.2 needs version 1.2, one of TLS 1.3 needs 1.3"
    )]
    Contradiction(Box<rustls::Error>),
    /// Neither a DNS name nor an address.
    #[error("`{0}` cannot be a server name\n  remedy: give a host name or an address with --sni")]
    ServerName(String),
    /// A certificate of the CA file cannot be used.
    #[error(
        "certificate {number} of the CA file cannot be trusted: {source}\n  remedy: give the CA's certificates as PEM"
    )]
    Root {
        /// Counted from 1.
        number: usize,
        /// Why.
        source: Box<rustls::Error>,
    },
    /// Nothing to trust.
    #[error(
        "no trusted certificate was found\n  remedy: give the server's CA with --cacert, or use -k to accept any certificate"
    )]
    NoRoots,
    /// The client's certificate and key do not fit, or cannot be used.
    #[error(
        "the client certificate cannot be used: {0}\n  remedy: give a certificate with --cert and the key that belongs to it with --key"
    )]
    Identity(Box<rustls::Error>),
    /// An empty or too long name in the list of protocols.
    #[error("`{0}` cannot be offered by ALPN\n  remedy: give names of 1 to 255 bytes, for example http/1.1")]
    Alpn(String),
}

fn meant(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// TLS of a load's connections, ready for use.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    server_name: ServerName<'static>,
    /// Names of further origins, which are numbered from 1.
    further: Vec<ServerName<'static>>,
    resumption: bool,
}

impl Tls {
    /// Builds it from a plan; `roots` are not looked at where the plan does not verify.
    ///
    /// # Errors
    /// Names that are not known, settings that contradict each other, certificates that cannot be used.
    pub fn new(plan: &TlsPlan, roots: Roots, identity: Option<Identity>) -> Result<Self, TlsError> {
        let provider = Arc::new(provider(plan)?);
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&versions(plan)?)
            .map_err(|error| TlsError::Contradiction(Box::new(error)))?;
        let builder = if plan.verify {
            builder.with_root_certificates(store(roots)?)
        } else {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAny(provider)))
        };
        let mut config = match identity {
            Some(identity) => builder
                .with_client_auth_cert(identity.chain, identity.key)
                .map_err(|error| TlsError::Identity(Box::new(error)))?,
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = plan.alpn.iter().map(|name| alpn(name)).collect::<Result<_, _>>()?;
        config.resumption = resumption(plan.resumption);
        let server_name = name(&plan.server_name)?;
        Ok(Self { config: Arc::new(config), server_name, further: Vec::new(), resumption: plan.resumption })
    }

    /// The same for further origins, too, of these names; they are numbered from 1.
    ///
    /// # Errors
    /// What is neither a host name nor an address.
    pub fn with_further(mut self, names: &[String]) -> Result<Self, TlsError> {
        self.further = names.iter().map(|text| name(text)).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// The configuration, for single exchanges outside of the load.
    #[must_use]
    pub const fn config(&self) -> &Arc<ClientConfig> {
        &self.config
    }

    /// The name sent in SNI and checked against the certificate.
    #[must_use]
    pub const fn server_name(&self) -> &ServerName<'static> {
        &self.server_name
    }

    /// The name of an origin: 0 is the target.
    pub(super) fn name_of(&self, origin: u16) -> &ServerName<'static> {
        let further = usize::from(origin).checked_sub(1).and_then(|place| self.further.get(place));
        further.unwrap_or(&self.server_name)
    }

    /// The same with a session store of its own.
    pub(super) fn with_own_sessions(&self) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = resumption(self.resumption);
        Self { config: Arc::new(config), ..self.clone() }
    }
}

fn name(text: &str) -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(text.to_owned()).map_err(|_| TlsError::ServerName(text.to_owned()))
}

fn resumption(is_on: bool) -> Resumption {
    if is_on { Resumption::in_memory_sessions(SESSIONS) } else { Resumption::disabled() }
}

fn provider(plan: &TlsPlan) -> Result<CryptoProvider, TlsError> {
    let mut provider = ring::default_provider();
    if !plan.ciphers.is_empty() {
        provider.cipher_suites = chosen("cipher suite", &plan.ciphers, &provider.cipher_suites, iana_name)?;
    }
    if !plan.groups.is_empty() {
        provider.kx_groups = chosen("key-exchange group", &plan.groups, &provider.kx_groups, group_name)?;
    }
    Ok(provider)
}

fn versions(plan: &TlsPlan) -> Result<Vec<&'static SupportedProtocolVersion>, TlsError> {
    let known = [&rustls::version::TLS12, &rustls::version::TLS13];
    chosen("TLS version", &plan.versions, &known, |version| match version.version {
        rustls::ProtocolVersion::TLSv1_2 => "1.2".to_owned(),
        _ => "1.3".to_owned(),
    })
}

/// The known things that `names` name, in the order of the names.
fn chosen<T: Copy>(
    what: &'static str,
    names: &[String],
    known: &[T],
    name_of: impl Fn(T) -> String,
) -> Result<Vec<T>, TlsError> {
    let all: Vec<String> = known.iter().map(|one| name_of(*one)).collect();
    names
        .iter()
        .map(|name| match all.iter().position(|one| one.eq_ignore_ascii_case(name)) {
            Some(position) => Ok(known[position]),
            None => Err(TlsError::Unknown {
                what,
                got: name.clone(),
                near: nearest(name, all.iter().map(String::as_str)).map(str::to_owned),
                known: all.join(", "),
            }),
        })
        .collect()
}

/// rustls writes `TLS13_` where the IANA register has `TLS_`.
fn iana_name(suite: SupportedCipherSuite) -> String {
    format!("{:?}", suite.suite()).replace("TLS13_", "TLS_")
}

fn group_name(group: &'static dyn SupportedKxGroup) -> String {
    format!("{:?}", group.name()).to_ascii_lowercase()
}

/// The length of a protocol's name is one byte on the wire (RFC 7301 §3.1).
fn alpn(name: &str) -> Result<Vec<u8>, TlsError> {
    if (1..=255).contains(&name.len()) {
        return Ok(name.as_bytes().to_vec());
    }
    Err(TlsError::Alpn(name.to_owned()))
}

fn store(roots: Roots) -> Result<RootCertStore, TlsError> {
    let mut store = RootCertStore::empty();
    match roots {
        Roots::System(all) => {
            store.add_parsable_certificates(all);
        }
        Roots::Given(all) => {
            for (number, root) in (1..).zip(all) {
                store.add(root).map_err(|source| TlsError::Root { number, source: Box::new(source) })?;
            }
        }
    }
    if store.is_empty() { Err(TlsError::NoRoots) } else { Ok(store) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(change: impl FnOnce(&mut TlsPlan)) -> TlsPlan {
        let mut plan = TlsPlan {
            server_name: "localhost".to_owned(),
            verify: false,
            ca_file: None,
            cert_file: None,
            key_file: None,
            versions: vec!["1.2".to_owned(), "1.3".to_owned()],
            ciphers: Vec::new(),
            groups: Vec::new(),
            alpn: vec!["http/1.1".to_owned()],
            resumption: true,
        };
        change(&mut plan);
        plan
    }

    fn refusal(plan: &TlsPlan) -> String {
        Tls::new(plan, Roots::System(Vec::new()), None).unwrap_err().to_string()
    }

    #[test]
    fn names_choose_and_order() {
        let wanted = plan(|plan| {
            plan.ciphers = vec!["tls_chacha20_poly1305_sha256".into(), "TLS_AES_128_GCM_SHA256".into()];
            plan.groups = vec!["secp384r1".into(), "x25519".into()];
            plan.versions = vec!["1.3".into()];
        });
        let tls = Tls::new(&wanted, Roots::System(Vec::new()), None).unwrap();
        let provider = tls.config().crypto_provider();
        let suites: Vec<_> = provider.cipher_suites.iter().map(|suite| iana_name(*suite)).collect();
        assert_eq!(suites, ["TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"]);
        let groups: Vec<_> = provider.kx_groups.iter().map(|group| group_name(*group)).collect();
        assert_eq!(groups, ["secp384r1", "x25519"]);
    }

    #[test]
    fn unknown_names_are_told_with_the_nearest() {
        for (wrong, parts) in [
            (plan(|plan| plan.versions = vec!["1.1".into()]), ["`1.1`", "1.2, 1.3"]),
            (
                plan(|plan| plan.ciphers = vec!["TLS_AES_128_GCM_SHA265".into()]),
                ["did you mean `TLS_AES_128_GCM_SHA256`", "TLS_CHACHA20"],
            ),
            (plan(|plan| plan.groups = vec!["x25518".into()]), ["did you mean `x25519`", "secp384r1"]),
            (plan(|plan| plan.server_name = "a b".into()), ["`a b`", "--sni"]),
            (plan(|plan| plan.alpn = vec![String::new()]), ["ALPN", "http/1.1"]),
            (plan(|plan| plan.verify = true), ["no trusted certificate", "--cacert"]),
            (plan(|plan| plan.versions = Vec::new()), ["do not go together", "remedy"]),
            (
                plan(|plan| {
                    plan.versions = vec!["1.2".into()];
                    plan.ciphers = vec!["TLS_AES_128_GCM_SHA256".into()];
                }),
                ["do not go together", "needs 1.3"],
            ),
        ] {
            let text = refusal(&wrong);
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
    }

    #[test]
    fn a_ca_file_with_rubbish_is_refused_but_the_systems_is_passed_over() {
        let rubbish = vec![CertificateDer::from(vec![1, 2, 3])];
        let verify = plan(|plan| plan.verify = true);
        let error = Tls::new(&verify, Roots::Given(rubbish.clone()), None).unwrap_err();
        assert!(matches!(error, TlsError::Root { number: 1, .. }), "{error}");
        assert_eq!(Tls::new(&verify, Roots::System(rubbish), None).unwrap_err(), TlsError::NoRoots);
    }

    #[test]
    fn sessions_are_not_shared_between_workers() {
        let tls = Tls::new(&plan(|_| {}), Roots::System(Vec::new()), None).unwrap();
        let own = tls.with_own_sessions();
        assert!(!Arc::ptr_eq(tls.config(), own.config()));
        assert_eq!(tls.server_name(), own.server_name());
    }
}
