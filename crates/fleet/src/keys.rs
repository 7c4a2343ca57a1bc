//! Keys of a fleet: an authority of its own, and a certificate for the controller and for each agent.
//!
//! Invariants: a certificate is good for one role only, twice over: by its extended key usage (an agent is a server of TLS,
//! the controller a client) and by its one name. The names of agents end in a label that the controller's does not have, so
//! no agent can be called like the controller. The authority is named by its key, so it can sign again from its key alone.
//! Absent on purpose: files and sockets, and revocation: a fleet whose key was stolen makes all its keys again.

use pem::Pem;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PublicKeyData as _, date_time_ymd,
};
use rustls_pki_types::PrivatePkcs8KeyDer;
use std::time::Duration;

/// In each folder of keys: the certificate of the fleet's authority, which decides who is believed.
pub const AUTHORITY_FILE: &str = "authority.pem";
/// In each folder of keys: its owner's certificate.
pub const CERTIFICATE_FILE: &str = "certificate.pem";
/// In each folder of keys: its owner's private key.
pub const KEY_FILE: &str = "key.pem";

/// Beside them: user and password for a bus, where it asks for them.
pub const LOGIN_FILE: &str = "nats.toml";

/// The name in the controller's certificate.
const CONTROLLER: &str = "controller.prony";
/// What follows an agent's name in its certificate.
const AGENT_SUFFIX: &str = ".agent.prony";
/// Longest name of an agent with keys: that of a DNS label.
const NAME_MAX: usize = 63;
/// Clocks of hosts differ: a certificate is good from a little before it was made.
const EARLIER: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);
/// The authority outlives what it signs; who trusts its certificate does not look at its end.
const AUTHORITY_DAYS: u32 = 3650;

/// Whom a certificate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role<'a> {
    /// The one that orders loads.
    Controller,
    /// The agent of this name.
    Agent(&'a str),
}

impl Role<'_> {
    /// The one name in its certificate.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Controller => CONTROLLER.to_owned(),
            Self::Agent(name) => format!("{name}{AGENT_SUFFIX}"),
        }
    }

    /// The agent of which this is the name in a certificate, if it is one's.
    #[must_use]
    pub fn agent_of(name: &str) -> Option<&str> {
        name.strip_suffix(AGENT_SUFFIX).filter(|agent| !agent.is_empty())
    }

    const fn usage(self) -> ExtendedKeyUsagePurpose {
        match self {
            Self::Controller => ExtendedKeyUsagePurpose::ClientAuth,
            Self::Agent(_) => ExtendedKeyUsagePurpose::ServerAuth,
        }
    }
}

/// Why keys cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A name that cannot stand in a certificate.
    #[error(
        "`{0}` cannot be the name of an agent with keys\n  remedy: give up to {NAME_MAX} small letters, digits and `-`, \
         first a letter or digit"
    )]
    Name(String),
    /// The generator of certificates refused.
    #[error("cannot make a certificate: {0}")]
    Generate(#[from] rcgen::Error),
    /// A file that holds no private key.
    #[error("it holds no private key of `prony fleet keys`: {0}")]
    NoKey(String),
}

/// A certificate and its private key as PEM text.
#[derive(Clone, Debug)]
pub struct KeyPairText {
    /// The certificate.
    pub certificate: String,
    /// The key, PKCS#8.
    pub key: String,
}

/// What signs the certificates of one fleet.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    key_text: String,
}

impl Authority {
    /// A new one, with its certificate.
    ///
    /// # Errors
    /// No randomness, or the generator refuses.
    pub fn new(since_epoch: Duration) -> Result<(Self, KeyPairText), KeyError> {
        let key = KeyPair::generate()?;
        let params = Self::params(&key, since_epoch)?;
        let certificate = pem_of("CERTIFICATE", params.self_signed(&key)?.der().to_vec());
        let authority = Self::of(params, key);
        let key = authority.key_text.clone();
        Ok((authority, KeyPairText { certificate, key }))
    }

    /// That of a key which was made before.
    ///
    /// # Errors
    /// The text is no private key of [`Self::new`].
    pub fn read(key_text: &str) -> Result<Self, KeyError> {
        let wrong = |cause: &dyn std::fmt::Display| KeyError::NoKey(cause.to_string());
        let parsed = pem::parse(key_text).map_err(|error| wrong(&error))?;
        let der = PrivatePkcs8KeyDer::from(parsed.contents());
        let key = KeyPair::from_pkcs8_der_and_sign_algo(&der, &PKCS_ECDSA_P256_SHA256);
        let key = key.map_err(|error| wrong(&error))?;
        Ok(Self::of(Self::params(&key, Duration::ZERO)?, key))
    }

    fn of(params: CertificateParams, key: KeyPair) -> Self {
        let key_text = pem_of("PRIVATE KEY", key.serialize_der());
        Self { issuer: Issuer::new(params, key), key_text }
    }

    fn params(key: &KeyPair, since_epoch: Duration) -> Result<CertificateParams, KeyError> {
        let mut params = CertificateParams::new(Vec::new())?;
        // Its name is all that a verifier finds it by.
        let name = crate::hex(&crate::digest(key.der_bytes()));
        params.distinguished_name.remove(DnType::CommonName);
        params.distinguished_name.push(DnType::CommonName, format!("prony fleet {}", &name[..16]));
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        valid(&mut params, since_epoch, AUTHORITY_DAYS);
        Ok(params)
    }

    /// A new key and a certificate for `role`, good for `days` from now on.
    ///
    /// # Errors
    /// A name that cannot stand in a certificate, or the generator refuses.
    pub fn sign(&self, role: Role<'_>, since_epoch: Duration, days: u32) -> Result<KeyPairText, KeyError> {
        if let Role::Agent(name) = role {
            check_name(name)?;
        }
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(vec![role.name()])?;
        params.distinguished_name.remove(DnType::CommonName);
        params.distinguished_name.push(DnType::CommonName, role.name());
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![role.usage()];
        valid(&mut params, since_epoch, days);
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(KeyPairText {
            certificate: pem_of("CERTIFICATE", certificate.der().to_vec()),
            key: pem_of("PRIVATE KEY", key.serialize_der()),
        })
    }
}

/// Whether an agent can be called so in a certificate.
///
/// # Errors
/// A name that is no DNS label in small letters.
pub fn check_name(name: &str) -> Result<(), KeyError> {
    let is_of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_good = (1..=NAME_MAX).contains(&name.len())
        && name.bytes().all(is_of_name)
        && !name.starts_with('-')
        && !name.ends_with('-');
    if is_good { Ok(()) } else { Err(KeyError::Name(name.to_owned())) }
}

fn valid(params: &mut CertificateParams, since_epoch: Duration, days: u32) {
    let epoch = date_time_ymd(1970, 1, 1);
    params.not_before = epoch + since_epoch.saturating_sub(EARLIER);
    params.not_after = epoch + since_epoch + DAY * days;
}

fn pem_of(what: &str, der: Vec<u8>) -> String {
    pem::encode_config(&Pem::new(what, der), pem::EncodeConfig::new().set_line_ending(pem::LineEnding::LF))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_that_is_read_again_is_the_same() {
        let (authority, text) = Authority::new(DAY * 20_000).unwrap();
        let again = Authority::read(&text.key).unwrap();
        assert_eq!(again.key_text, text.key);
        assert_eq!(again.issuer.key().der_bytes(), authority.issuer.key().der_bytes());
        for wrong in ["", "-----BEGIN", &text.certificate] {
            let error = Authority::read(wrong).unwrap_err().to_string();
            assert!(error.contains("holds no private key"), "{error}");
        }
    }

    #[test]
    fn names_are_labels_and_no_agent_is_called_like_the_controller() {
        for good in ["a", "load-1", "0", "controller"] {
            check_name(good).unwrap();
            assert_ne!(Role::Agent(good).name(), Role::Controller.name());
        }
        let long = "a".repeat(64);
        for wrong in ["", "-a", "a-", "A", "a.b", "a_b", "*", "ä", long.as_str()] {
            let error = check_name(wrong).unwrap_err().to_string();
            assert!(error.contains("remedy: give up to 63"), "{error}");
        }
    }
}
