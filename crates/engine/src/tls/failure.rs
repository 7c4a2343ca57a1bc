//! From errors of rustls to failures: the class `tls` and a text with the remedy where there is one.
//!
//! A failure is copied around, so its text is static; what varies (names, dates) is left out on purpose.

use crate::failure::{Cause, Failure};
use rustls::{AlertDescription, CertificateError, Error, PeerIncompatible};
use schema::load::ErrorClass;

/// The connection ended without close_notify while an answer was awaited.
pub(super) const TRUNCATED: Failure = Failure::said(
    ErrorClass::PrematureClose,
    "closed without close_notify: the answer may be cut short (RFC 9112 §9.8)",
);
/// The connection ended before the handshake did.
pub(super) const CLOSED_IN_HANDSHAKE: Failure =
    said("closed during the TLS handshake; does the server speak TLS on this port?");
/// ALPN chose what the engine does not speak.
pub(super) const FOREIGN_PROTOCOL: Failure =
    said("the server chose by ALPN a protocol other than HTTP/1.1; offer --alpn http/1.1 only");
/// ALPN chose no protocol, or none that was asked for.
pub(super) const NOT_HTTP2: Failure = Failure::said(
    ErrorClass::Protocol,
    "the server does not agree on HTTP/2 (ALPN h2); load it over HTTP/1.1 with --http 1.1",
);
/// A state that the layer's own order of calls rules out.
pub(super) const OUT_OF_ORDER: Failure = said("the TLS session cannot send now");

const fn said(text: &'static str) -> Failure {
    Failure::said(ErrorClass::Tls, text)
}

pub(super) fn of(error: &Error) -> Failure {
    match error {
        Error::AlertReceived(alert) => Failure { class: ErrorClass::Tls, cause: Cause::Alert(*alert) },
        Error::InvalidCertificate(error) => said(certificate(error)),
        Error::NoCertificatesPresented => said("the server showed no certificate"),
        Error::PeerIncompatible(error) => said(incompatible(error)),
        Error::PeerMisbehaved(_) | Error::InappropriateMessage { .. } => {
            said("the server breaks the TLS protocol")
        }
        Error::InappropriateHandshakeMessage { .. } => {
            said("the server sent a handshake message out of turn")
        }
        Error::InvalidMessage(_) => said("what the server sent is not TLS; does it speak TLS on this port?"),
        Error::DecryptError => said("a record of the server cannot be decrypted"),
        Error::PeerSentOversizedRecord => said("the server sent a record larger than TLS allows"),
        Error::EncryptError => said("the session's keys are used up"),
        Error::FailedToGetCurrentTime | Error::FailedToGetRandomBytes => {
            said("the system gave no time or no random bytes")
        }
        _ => said("the TLS session failed"),
    }
}

fn certificate(error: &CertificateError) -> &'static str {
    use CertificateError as E;
    match error {
        E::Expired | E::ExpiredContext { .. } => {
            "certificate expired; renew it, or use -k to accept any certificate"
        }
        E::NotValidYet | E::NotValidYetContext { .. } => {
            "certificate not valid yet; check the clocks, or use -k to accept any certificate"
        }
        E::UnknownIssuer => {
            "certificate from an unknown issuer; give its CA with --cacert, or use -k to accept any certificate"
        }
        E::NotValidForName | E::NotValidForNameContext { .. } => {
            "certificate for another name; give the right one with --sni, or use -k to accept any certificate"
        }
        E::BadSignature => "certificate with a wrong signature",
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => {
            "certificate not meant for servers; use -k to accept any certificate"
        }
        E::Revoked => "certificate revoked",
        E::BadEncoding => "certificate that cannot be read",
        _ => "certificate refused; use -k to accept any certificate",
    }
}

fn incompatible(error: &PeerIncompatible) -> &'static str {
    use PeerIncompatible as E;
    match error {
        E::ServerDoesNotSupportTls12Or13
        | E::ServerTlsVersionIsDisabledByOurConfig
        | E::Tls12NotOffered
        | E::Tls12NotOfferedOrEnabled => {
            "the server speaks no TLS version that is allowed here; see --tls-versions"
        }
        E::NoCipherSuitesInCommon => "no cipher suite in common; see --tls-ciphers",
        E::NoKxGroupsInCommon => "no key-exchange group in common; see --tls-groups",
        _ => "the server's TLS does not go together with the settings here",
    }
}

/// `alert: handshake failure`, with a remedy where the alert has a likely one.
pub(crate) fn alert_text(alert: AlertDescription) -> String {
    let name = format!("{alert:?}");
    let mut text = "alert: ".to_owned();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_lower {
            text.push(' ');
        }
        after_lower = c.is_ascii_lowercase();
        text.push(c.to_ascii_lowercase());
    }
    text.push_str(match alert {
        AlertDescription::CertificateRequired => {
            " (the server demands a client certificate; give --cert and --key)"
        }
        AlertDescription::UnknownCA | AlertDescription::BadCertificate => {
            " (the server refuses the client certificate)"
        }
        AlertDescription::HandshakeFailure => " (the server accepts none of the ciphers or groups offered)",
        AlertDescription::ProtocolVersion => " (the server accepts none of the versions offered)",
        AlertDescription::NoApplicationProtocol => " (the server speaks none of the --alpn protocols)",
        AlertDescription::UnrecognisedName => " (the server does not know this name; see --sni)",
        _ => "",
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_read_as_words() {
        for (alert, text) in [
            (AlertDescription::DecryptError, "alert: decrypt error"),
            (AlertDescription::UnknownCA, "alert: unknown ca (the server refuses the client certificate)"),
            (AlertDescription::InternalError, "alert: internal error"),
        ] {
            assert_eq!(alert_text(alert), text);
        }
    }

    #[test]
    fn errors_have_one_class_and_texts_of_their_own() {
        let errors = [
            Error::AlertReceived(AlertDescription::AccessDenied),
            CertificateError::Expired.into(),
            CertificateError::UnknownIssuer.into(),
            CertificateError::NotValidForName.into(),
            PeerIncompatible::NoKxGroupsInCommon.into(),
            Error::DecryptError,
            Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType),
        ];
        let texts: std::collections::BTreeSet<_> = errors.iter().map(|error| of(error).text()).collect();
        assert_eq!(texts.len(), errors.len(), "{texts:?}");
        assert!(errors.iter().all(|error| of(error).class == ErrorClass::Tls));
    }
}
