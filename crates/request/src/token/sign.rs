//! Keys and signatures: HS256, RS256, ES256 (RFC 7518 §3.2–3.4) and EdDSA on Ed25519 (RFC 8037 §3.1).

use crate::program::ProgramError;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use ring::{error::KeyRejected, hmac};
use schema::scenario::{TokenAlgorithm, TokenMaker};
use std::path::Path;

/// A key and the encoded header that goes with it.
#[derive(Debug)]
pub(super) struct Signer {
    header: String,
    key: Key,
    random: SystemRandom,
}

#[derive(Debug)]
enum Key {
    Hs256(hmac::Key),
    Rs256(RsaKeyPair),
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
}

impl Signer {
    /// Reads the key of a maker; `key` is its place in the scenario.
    pub(super) fn new(
        plan: &TokenMaker,
        key: &str,
        folder: &str,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ProgramError> {
        let name = match plan.algorithm {
            TokenAlgorithm::HS256 => "HS256",
            TokenAlgorithm::RS256 => "RS256",
            TokenAlgorithm::ES256 => "ES256",
            TokenAlgorithm::EdDSA => "EdDSA",
        };
        let mut header = serde_json::json!({ "alg": name, "typ": "JWT" });
        if let Some(id) = &plan.key_id {
            header["kid"] = id.as_str().into();
        }
        let random = SystemRandom::new();
        let key = match plan.algorithm {
            TokenAlgorithm::HS256 => Key::Hs256(secret(plan, key, env)?),
            algorithm => private_key(plan, algorithm, name, key, folder, &random)?,
        };
        Ok(Self { header: URL_SAFE_NO_PAD.encode(header.to_string()), key, random })
    }

    /// Appends a token with these claims. One that is to be badly signed has a signature of the right form and length
    /// with one bit changed.
    pub(super) fn push(&self, claims: &str, is_badly_signed: bool, out: &mut String) -> Result<(), String> {
        let from = out.len();
        out.push_str(&self.header);
        out.push('.');
        URL_SAFE_NO_PAD.encode_string(claims, out);
        let mut signature =
            self.sign(&out.as_bytes()[from..]).map_err(|_| "the key cannot sign".to_owned())?;
        if is_badly_signed && let Some(last) = signature.last_mut() {
            *last ^= 1;
        }
        out.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, out);
        Ok(())
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, ring::error::Unspecified> {
        Ok(match &self.key {
            Key::Hs256(key) => hmac::sign(key, message).as_ref().to_vec(),
            Key::EdDsa(key) => key.sign(message).as_ref().to_vec(),
            Key::Es256(key) => key.sign(&self.random, message)?.as_ref().to_vec(),
            Key::Rs256(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &self.random, message, &mut signature)?;
                signature
            }
        })
    }
}

fn secret(
    plan: &TokenMaker,
    key: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<hmac::Key, ProgramError> {
    if plan.key_file.is_some() {
        let cause = "HS256 takes a secret, not a key file";
        return Err(ProgramError::new(format!("{key}.key_file"), cause, "set `secret` or `secret_env`"));
    }
    let secret = match (&plan.secret, &plan.secret_env) {
        (Some(secret), None) => secret.clone(),
        (None, Some(name)) => env(name).ok_or_else(|| {
            let cause = format!("the environment has no variable `{name}`");
            ProgramError::new(format!("{key}.secret_env"), cause, "set it before the start")
        })?,
        _ => {
            let cause = "HS256 takes exactly one of `secret` and `secret_env`";
            return Err(ProgramError::new(key, cause, "set one of them"));
        }
    };
    if secret.is_empty() {
        return Err(ProgramError::new(key, "the secret is empty", "write the secret that the target knows"));
    }
    Ok(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()))
}

fn private_key(
    plan: &TokenMaker,
    algorithm: TokenAlgorithm,
    name: &str,
    key: &str,
    folder: &str,
    random: &SystemRandom,
) -> Result<Key, ProgramError> {
    const CONVERT: &str = "write it as PKCS #8: openssl pkcs8 -topk8 -nocrypt -in OLD.pem -out NEW.pem";
    let key = format!("{key}.key_file");
    if plan.secret.is_some() || plan.secret_env.is_some() {
        return Err(ProgramError::new(
            key,
            format!("{name} takes a key file, not a secret"),
            "set `key_file`",
        ));
    }
    let Some(file) = &plan.key_file else {
        return Err(ProgramError::new(key, format!("{name} needs a private key"), "set `key_file`"));
    };
    let path = Path::new(folder).join(file);
    let fault = |cause: String, remedy: &str| {
        ProgramError::new(key.clone(), format!("{}: {cause}", path.display()), remedy)
    };
    let text =
        std::fs::read(&path).map_err(|error| fault(error.to_string(), "check the path and the rights"))?;
    let parsed = pem::parse(&text).map_err(|error| fault(format!("no PEM ({error})"), CONVERT))?;
    if parsed.tag() != "PRIVATE KEY" {
        return Err(fault(format!("it holds `{}`, not `PRIVATE KEY`", parsed.tag()), CONVERT));
    }
    let der = parsed.contents();
    let made: Result<Key, KeyRejected> = match algorithm {
        TokenAlgorithm::RS256 => RsaKeyPair::from_pkcs8(der).map(Key::Rs256),
        TokenAlgorithm::EdDSA => Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).map(Key::EdDsa),
        TokenAlgorithm::ES256 | TokenAlgorithm::HS256 => {
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, random).map(Key::Es256)
        }
    };
    made.map_err(|error| {
        let remedy = "RS256 takes RSA keys of 2048 to 4096 bits, ES256 keys on P-256, EdDSA Ed25519 keys";
        fault(format!("this is no key for {name} ({error})"), remedy)
    })
}
