//! User and password of a URL: sent as Basic authorization, never shown and never recorded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use percent_encoding::percent_decode_str;
use schema::plan::ScenarioPlan;
use std::borrow::Cow;

/// User and password of a URL. Nothing that is shown or recorded has them.
#[derive(Clone, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct Login {
    /// `user:password` in base64.
    token: String,
}

impl Login {
    /// From what stands before the `@` of a URL, percent-encoded.
    pub(super) fn new(text: &str) -> Self {
        // Only the first colon divides, and it is never escaped (RFC 3986 §3.2.1, RFC 7617 §2).
        let mut bytes: Vec<u8> = percent_decode_str(text).collect();
        if !text.contains(':') {
            bytes.push(b':');
        }
        Self { token: BASE64.encode(bytes) }
    }

    /// The value of the field Authorization (RFC 7617).
    #[must_use]
    pub fn basic(&self) -> String {
        format!("Basic {}", self.token)
    }
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Login(***)")
    }
}

/// A URL without the password in it: `http://user:***@host/`.
#[must_use]
pub fn masked(url: &str) -> Cow<'_, str> {
    let start = url.find("://").map_or(0, |at| at + "://".len());
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    let Some((login, host)) = url[start..end].rsplit_once('@') else { return Cow::Borrowed(url) };
    let Some((user, _)) = login.split_once(':') else { return Cow::Borrowed(url) };
    Cow::Owned(format!("{}{user}:***@{host}{}", &url[..start], &url[end..]))
}

/// Adds the field Authorization where a request has none.
pub fn authorize(scenario: &mut ScenarioPlan, value: &str) {
    // The user of one origin is nobody at another.
    for entry in scenario.requests.iter_mut().filter(|entry| entry.origin.is_none()) {
        let headers = &mut entry.request.headers;
        if !headers.iter().any(|(have, _)| have.eq_ignore_ascii_case("authorization")) {
            headers.push(("Authorization".to_owned(), value.to_owned()));
        }
    }
}

/// The scenario as it is recorded: that there was a login, and not which.
#[must_use]
pub fn masked_scenario(scenario: &ScenarioPlan, login: Option<&Login>) -> ScenarioPlan {
    let mut scenario = scenario.clone();
    if login.is_some() {
        authorize(&mut scenario, "Basic ***");
    }
    scenario
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::net::HttpUrl;

    #[test]
    fn a_login_is_basic_authorization_and_never_shown() {
        for (url, basic) in [
            // The example of RFC 7617 §2.
            ("http://Aladdin:open%20sesame@h:81/x", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("http://u@h:81/x", "Basic dTo="),
            ("http://u:p@ss:w@h:81/x", "Basic dTpwQHNzOnc="),
            ("u:p@h:81/x", "Basic dTpw"),
        ] {
            let (parsed, login) = HttpUrl::with_login(url).unwrap();
            assert_eq!((parsed.host.as_str(), parsed.port, parsed.path.as_str()), ("h", 81, "/x"));
            let login = login.unwrap();
            assert_eq!(login.basic(), basic);
            assert_eq!(format!("{login:?}"), "Login(***)");
        }
        for url in ["http://u:secret@h:0/", "ftp://u:secret@h/", "http://u:secret@h/"] {
            let error = HttpUrl::parse(url).unwrap_err().to_string();
            assert!(error.contains("u:***@h") && !error.contains("secret"), "{error}");
        }
        assert_eq!(masked("http://h/a@b:c"), "http://h/a@b:c");
    }
}
