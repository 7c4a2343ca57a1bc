//! A fleet's ends of a bus: who is there, by what lies beside the keys.

use super::trust::{TrustError, read_secret};
use bus::{BusError, Dialled, Joined, Server};
use fleet::LOGIN_FILE;
use schema::fleet::BusLogin;
use schema::text::parse_toml;
use std::net::SocketAddr;
use std::path::Path;

/// Why an agent is not on a bus.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// What lies beside the keys cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The bus cannot.
    #[error(transparent)]
    Bus(#[from] BusError),
}

/// Joins the server as the agent of this name, whose folder of keys is `keys`; streams lead to `port`. When the server
/// goes, `say` gets a line.
///
/// # Errors
/// The server cannot be reached, or lets nobody in.
pub fn join(
    server: &str,
    agent: &str,
    keys: &Path,
    port: SocketAddr,
    say: impl Fn(&str) + Send + Sync + 'static,
) -> Result<Joined, JoinError> {
    Ok(bus::join(server_of(server, keys)?, agent, port, say)?)
}

/// A stream to the agent of this name, for the controller whose folder of keys is `keys`.
pub(super) fn dial(server: &str, agent: &str, keys: &Path) -> Result<Dialled, JoinError> {
    Ok(bus::dial(server_of(server, keys)?, agent)?)
}

fn server_of(address: &str, keys: &Path) -> Result<Server, TrustError> {
    let path = keys.join(LOGIN_FILE);
    // It is no error where it is not there: a server may let everybody in.
    let login = if path.exists() { Some(login(&path)?) } else { None };
    Ok(Server { address: address.to_owned(), login })
}

fn login(path: &Path) -> Result<BusLogin, TrustError> {
    let unfit = |cause| TrustError::Login { path: path.to_owned(), cause };
    let text = String::from_utf8(read_secret(path)?).map_err(|error| unfit(error.to_string()))?;
    parse_toml(LOGIN_FILE, &text).map_err(|error| unfit(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_password_is_read_where_it_is_and_is_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let found = || server_of("nats://127.0.0.1:4222", folder.path());
        assert!(found().unwrap().login.is_none());
        let path = folder.path().join(LOGIN_FILE);
        std::fs::write(&path, "user = \"fleet\"\npassword = \"secret\"\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(found().err().unwrap().to_string().contains("can be read by every user"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let login = found().unwrap().login.unwrap();
        assert_eq!((login.user.as_str(), login.password.as_str()), ("fleet", "secret"));
        std::fs::write(&path, "user = \"fleet\"\npasword = \"secret\"\n").unwrap();
        let error = found().err().unwrap().to_string();
        assert!(error.contains("pasword") && !error.contains("secret"), "{error}");
    }
}
