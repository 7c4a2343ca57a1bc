//! A password: where it comes from, and that it is never shown.
//!
//! Invariants: no text of this module contains a password; a message of a client is shown only without it.

use schema::service::ServiceMetrics;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longest password; what a file has beyond it is an error.
const PASSWORD_BYTES_MAX: u64 = 4096;

/// A password, which shows as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a password.
    #[must_use]
    pub fn new(password: String) -> Self {
        Self(password)
    }

    /// The password itself, for the client that sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The text with `***` wherever the password stands in it.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "***") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(***)")
    }
}

/// The password that `[metrics]` names: a variable of `provided`, else of `own`, or a file, relative to `folder`.
///
/// # Errors
/// There is no such variable or file; the text names it.
pub fn password(
    metrics: &ServiceMetrics,
    provided: &BTreeMap<String, String>,
    own: impl FnOnce(&str) -> Option<String>,
    folder: &Path,
) -> Result<Option<Secret>, String> {
    if let Some(name) = &metrics.password_env {
        let found = provided.get(name).cloned().or_else(|| own(name));
        return found.map(|password| Some(Secret(password))).ok_or_else(|| {
            format!("the variable {name} of `password_env` is neither in [provides.env] nor set for prony")
        });
    }
    metrics.password_file.as_ref().map(|file| read(&folder.join(file))).transpose()
}

fn read(file: &Path) -> Result<Secret, String> {
    let mut text = String::new();
    File::open(file)
        .and_then(|file| file.take(PASSWORD_BYTES_MAX + 1).read_to_string(&mut text))
        .map_err(|error| format!("the password_file {} cannot be read: {}", file.display(), error.kind()))?;
    if text.len() as u64 > PASSWORD_BYTES_MAX {
        return Err(format!("the password_file {} has more than {PASSWORD_BYTES_MAX} bytes", file.display()));
    }
    Ok(Secret(text.trim_end_matches(['\r', '\n']).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::service::ServiceKind;

    const PLANTED: &str = "pl4nted-passw0rd";

    fn metrics(env: Option<&str>, file: Option<&str>) -> ServiceMetrics {
        ServiceMetrics {
            kind: ServiceKind::Redis,
            user: None,
            database: None,
            password_env: env.map(str::to_owned),
            password_file: file.map(str::to_owned),
        }
    }

    #[test]
    fn provided_variables_come_first_then_pronys_own_then_a_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("word"), "from file\r\n").unwrap();
        let provided = BTreeMap::from([("A".to_owned(), "from manifest".to_owned())]);
        let get = |metrics: &ServiceMetrics| {
            let own = |name: &str| (name != "NONE").then(|| "from prony".to_owned());
            password(metrics, &provided, own, folder.path()).map(|found| found.map(|secret| secret.0))
        };
        assert_eq!(get(&metrics(Some("A"), None)).unwrap().as_deref(), Some("from manifest"));
        assert_eq!(get(&metrics(Some("B"), None)).unwrap().as_deref(), Some("from prony"));
        assert_eq!(get(&metrics(None, Some("word"))).unwrap().as_deref(), Some("from file"));
        assert_eq!(get(&metrics(None, None)).unwrap(), None);
        assert!(get(&metrics(Some("NONE"), None)).unwrap_err().contains("NONE"));
        assert!(get(&metrics(None, Some("absent"))).unwrap_err().contains("absent"));
    }

    #[test]
    fn a_password_is_never_shown() {
        let secret = Secret::new(PLANTED.to_owned());
        assert!(!format!("{secret:?}").contains(PLANTED));
        assert_eq!(secret.hide(&format!("denied: {PLANTED}!")), "denied: ***!");
        assert_eq!(Secret::new(String::new()).hide("text"), "text");
    }
}
