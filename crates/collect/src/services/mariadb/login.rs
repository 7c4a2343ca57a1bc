//! How a password is proved to a MySQL server: `mysql_native_password` and `caching_sha2_password`.
//!
//! Invariants: no password leaves prony in the clear; encrypted it is for whoever answers, since the protocol without TLS
//! takes the key from the peer; one that is empty is answered with nothing, which is what servers expect.
//! Absent on purpose: `mysql_clear_password`, and plugins that no server uses unless told to.

use super::digest::digest;
use super::rsa;
use ring::digest::{Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256};
use ring::rand::{SecureRandom, SystemRandom};

/// The server knows the password; its word on the login follows.
pub(super) const KNOWN: &[u8] = &[3];
/// The server wants the whole password, encrypted.
pub(super) const WANTS_ALL: &[u8] = &[4];
/// What asks for the key to encrypt it with.
pub(super) const ASK_FOR_KEY: &[u8] = &[2];

/// A way to log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plugin {
    Native,
    CachingSha2,
}

impl Plugin {
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        [Self::Native, Self::CachingSha2].into_iter().find(|plugin| plugin.name().as_bytes() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
        }
    }
}

/// The proof of a password for this nonce.
pub(super) fn answer(plugin: Plugin, nonce: &[u8], password: &str) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let hash = |algorithm: &'static Algorithm| {
        let once = digest(algorithm, &[password.as_bytes()]);
        let twice = digest(algorithm, &[&once]);
        (once, twice)
    };
    match plugin {
        Plugin::Native => {
            let (once, twice) = hash(&SHA1_FOR_LEGACY_USE_ONLY);
            mixed(&once, &digest(&SHA1_FOR_LEGACY_USE_ONLY, &[nonce, &twice]))
        }
        Plugin::CachingSha2 => {
            let (once, twice) = hash(&SHA256);
            mixed(&once, &digest(&SHA256, &[&twice, nonce]))
        }
    }
}

/// The password and a zero, mixed with the nonce, for whoever has the private part of `key`.
pub(super) fn encrypted(password: &str, nonce: &[u8], key: &[u8]) -> Result<Vec<u8>, String> {
    if nonce.is_empty() {
        return Err("it gave no nonce to log in with".to_owned());
    }
    let ended = [password.as_bytes(), &[0]].concat();
    let repeated: Vec<u8> = nonce.iter().copied().cycle().take(ended.len()).collect();
    let mut seed = [0; rsa::SEED_BYTES];
    SystemRandom::new().fill(&mut seed).map_err(|_| "the kernel gave no random bytes".to_owned())?;
    let encrypted = rsa::PublicKey::parse(key).and_then(|key| key.encrypt(&mixed(&ended, &repeated), seed));
    encrypted.ok_or_else(|| "its key to log in with is not understood".to_owned())
}

fn mixed(one: &[u8], other: &[u8]) -> Vec<u8> {
    one.iter().zip(other).map(|(one, other)| one ^ other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &[u8] = b"0123456789abcdefghij";

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// By Python's hashlib.
    #[test]
    fn proofs_are_those_of_another_implementation() {
        assert_eq!(hex(&answer(Plugin::Native, NONCE, "secret")), "f5cac3f3b3df2133feb57db682c71e6ed433a988");
        let sha2 = "7e4adda2f2d5ef09b4147518becb0cee2939376203650a8c2bb2815959364bd0";
        assert_eq!(hex(&answer(Plugin::CachingSha2, NONCE, "secret")), sha2);
        assert!(answer(Plugin::Native, NONCE, "").is_empty());
    }

    #[test]
    fn plugins_are_known_by_their_names() {
        for plugin in [Plugin::Native, Plugin::CachingSha2] {
            assert_eq!(Plugin::named(plugin.name().as_bytes()), Some(plugin));
        }
        assert_eq!(Plugin::named(b"mysql_clear_password"), None);
        assert!(encrypted("secret", b"", b"").is_err() && encrypted("secret", NONCE, b"no key").is_err());
    }
}
