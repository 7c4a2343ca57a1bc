//! The check of bearer tokens: HS256 only, a good signature, and an end that is in the future. Nothing is
//! cached.
use http::StatusCode;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;

use crate::contract::{Failure, Subject};

#[derive(Deserialize)]
struct Claims {
    #[serde(default)]
    sub: String,
}

/// Checks tokens that are signed with one secret.
pub struct Tokens {
    key: DecodingKey,
    validation: Validation,
}

impl Tokens {
    /// `secret` is what tokens are signed with.
    pub fn new(secret: &str) -> Self {
        let mut validation = Validation::new(Algorithm::HS256);
        // The library forgives a minute by default.
        validation.leeway = 0;
        Self { key: DecodingKey::from_secret(secret.as_bytes()), validation }
    }

    /// The subject of the token in an Authorization header.
    ///
    /// # Errors
    /// Status 401 where the header is missing or its token is not good.
    pub fn subject(&self, headers: &http::HeaderMap) -> Result<Subject, Failure> {
        let value = headers.get(http::header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = value
            .and_then(|value| value.strip_prefix("Bearer "))
            .ok_or_else(|| unauthorized("no bearer token"))?;
        match jsonwebtoken::decode::<Claims>(token, &self.key, &self.validation) {
            Ok(data) => Ok(Subject { sub: data.claims.sub }),
            Err(error) => Err(unauthorized(error.to_string())),
        }
    }
}

fn unauthorized(msg: impl Into<std::borrow::Cow<'static, str>>) -> Failure {
    Failure::new(StatusCode::UNAUTHORIZED, msg)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, header::AUTHORIZATION};
    use jsonwebtoken::{EncodingKey, Header, encode};
    use serde_json::{Value, json};

    use super::*;

    const SECRET: &str = "a secret";
    const FAR: u64 = 4_102_444_800;

    fn subject(algorithm: Algorithm, secret: &str, claims: &Value) -> Option<String> {
        let key = EncodingKey::from_secret(secret.as_bytes());
        let token = encode(&Header::new(algorithm), claims, &key).unwrap();
        told(&format!("Bearer {token}"))
    }

    fn told(authorization: &str) -> Option<String> {
        let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(authorization).unwrap())]);
        let answer = Tokens::new(SECRET).subject(&headers);
        answer
            .inspect_err(|failure| assert_eq!(failure.status(), StatusCode::UNAUTHORIZED))
            .ok()
            .map(|s| s.sub)
    }

    #[test]
    fn a_good_token_tells_its_subject() {
        let claims = json!({ "sub": "user-7", "exp": FAR });
        assert_eq!(subject(Algorithm::HS256, SECRET, &claims).as_deref(), Some("user-7"));
    }

    #[test]
    fn all_others_are_refused() {
        let good = json!({ "sub": "user-7", "exp": FAR });
        let now = jsonwebtoken::get_current_timestamp();
        assert_eq!(subject(Algorithm::HS384, SECRET, &good), None, "another algorithm");
        assert_eq!(subject(Algorithm::HS256, "another", &good), None, "another secret");
        assert_eq!(subject(Algorithm::HS256, SECRET, &json!({ "sub": "user-7" })), None, "endless");
        assert_eq!(
            subject(Algorithm::HS256, SECRET, &json!({ "sub": "user-7", "exp": now - 2 })),
            None,
            "just ended"
        );
        for text in ["", "Bearer ", "Bearer a.b.c", "Basic dTpw"] {
            assert_eq!(told(text), None, "{text:?}");
        }
        assert!(Tokens::new(SECRET).subject(&HeaderMap::new()).is_err());
    }
}
