//! TLS from its plan to what the engine takes: files are read, and every mistake in them is reported before a
//! connection is made.

use engine::{Identity, Roots, Tls, TlsError};
use plan::LoadJob;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use schema::plan::TlsPlan;

/// Why TLS cannot be made ready.
#[derive(Debug, thiserror::Error)]
pub enum TlsSetupError {
    /// A file that cannot be read as what it should be.
    #[error("the {what} file {file} cannot be used: {cause}\n  remedy: give a PEM file with {wants}")]
    File {
        /// CA, certificate or key.
        what: &'static str,
        /// Its path.
        file: String,
        /// What is wrong.
        cause: String,
        /// What it should hold.
        wants: &'static str,
    },
    /// Settings that rustls or the engine refuses.
    #[error(transparent)]
    Settings(#[from] TlsError),
}

/// Reads the files of a plan and builds what the engine takes.
///
/// # Errors
/// Files that are missing or hold something else, names that are not known, settings that do not go together.
pub fn load(plan: &TlsPlan) -> Result<Tls, TlsSetupError> {
    let identity = match (&plan.cert_file, &plan.key_file) {
        (Some(cert), Some(key)) => {
            Some(Identity { chain: certificates("certificate", cert)?, key: private_key(key)? })
        }
        _ => None,
    };
    Ok(Tls::new(plan, roots(plan)?, identity)?)
}

/// TLS of a job's connections, to its further origins too; none where it goes in plain text.
pub(crate) fn of_job(job: &LoadJob) -> Result<Option<Tls>, TlsSetupError> {
    let Some(plan) = &job.load.tls else { return Ok(None) };
    let names: Vec<String> = job.further.iter().map(|further| further.url.host.clone()).collect();
    Ok(Some(load(plan)?.with_further(&names)?))
}

/// What a single exchange outside of the load needs.
#[must_use]
pub fn for_probe(tls: &Tls) -> probe::Tls {
    probe::Tls { config: tls.config().clone(), server_name: tls.server_name().clone() }
}

fn roots(plan: &TlsPlan) -> Result<Roots, TlsSetupError> {
    match &plan.ca_file {
        Some(file) => Ok(Roots::Given(certificates("CA", file)?)),
        None if plan.verify => Ok(Roots::System(rustls_native_certs::load_native_certs().certs)),
        None => Ok(Roots::System(Vec::new())),
    }
}

fn certificates(what: &'static str, file: &str) -> Result<Vec<CertificateDer<'static>>, TlsSetupError> {
    let wrong = |cause: String| TlsSetupError::File {
        what,
        file: file.to_owned(),
        cause,
        wants: "one or more BEGIN CERTIFICATE blocks",
    };
    let found = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, pem::Error>>)
        .map_err(|error| wrong(cause(&error)))?;
    if found.is_empty() { Err(wrong("it holds no certificate".to_owned())) } else { Ok(found) }
}

fn private_key(file: &str) -> Result<PrivateKeyDer<'static>, TlsSetupError> {
    PrivateKeyDer::from_pem_file(file).map_err(|error| TlsSetupError::File {
        what: "key",
        file: file.to_owned(),
        cause: cause(&error),
        wants: "one BEGIN PRIVATE KEY block without a password",
    })
}

fn cause(error: &pem::Error) -> String {
    match error {
        pem::Error::Io(error) => error.to_string(),
        pem::Error::NoItemsFound => "it holds none".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::tls::resolve;
    use schema::tls::TlsUse;
    use std::path::Path;
    use testkit::certs::Pki;

    fn refusal(wanted: &TlsUse, folder: &Path) -> String {
        let plan = match resolve(wanted, "localhost", folder) {
            Ok(plan) => plan,
            Err(error) => return error.to_string(),
        };
        load(&plan).unwrap_err().to_string()
    }

    #[test]
    fn defaults_are_filled_in_and_files_found() {
        let folder = tempfile::tempdir().unwrap();
        let pki = Pki::new().unwrap();
        pki.write_authority(folder.path()).unwrap();
        pki.client().write(folder.path(), "client").unwrap();
        let wanted = TlsUse {
            ca: Some("ca.pem".into()),
            cert: Some("client.pem".into()),
            key: Some("client.key".into()),
            ..TlsUse::default()
        };
        let plan = resolve(&wanted, "127.0.0.1", folder.path()).unwrap();
        assert_eq!((plan.server_name.as_str(), plan.verify, plan.resumption), ("127.0.0.1", true, true));
        assert_eq!((plan.versions.len(), plan.alpn.as_slice()), (2, ["http/1.1".to_owned()].as_slice()));
        load(&plan).unwrap();
    }

    #[test]
    fn wrong_files_are_told_with_their_name_and_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let pki = Pki::new().unwrap();
        pki.write_authority(folder.path()).unwrap();
        pki.client().write(folder.path(), "client").unwrap();
        std::fs::write(folder.path().join("empty.pem"), "nothing\n").unwrap();
        let file = |name: &str| Some(name.to_owned());
        let base = TlsUse { ca: file("ca.pem"), ..TlsUse::default() };
        for (wanted, parts) in [
            (TlsUse { ca: file("none.pem"), ..base.clone() }, ["CA file", "none.pem", "No such file"]),
            (TlsUse { ca: file("empty.pem"), ..base.clone() }, ["empty.pem", "no certificate", "remedy"]),
            (TlsUse { key: file("client.key"), ..base.clone() }, ["without a certificate", "--cert", ""]),
            (TlsUse { cert: file("client.pem"), ..base.clone() }, ["key file", "client.pem", "PRIVATE KEY"]),
            (
                TlsUse { cert: file("ca.pem"), key: file("client.key"), ..base },
                ["client certificate cannot be used", "--key", ""],
            ),
        ] {
            let text = refusal(&wanted, folder.path());
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
    }
}
