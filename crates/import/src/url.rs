//! URLs: the origin that decides whether a request belongs to the scenario, and the path that is sent.
//!
//! Invariants: an origin always has its port; a path begins with `/`, has its query and no fragment, and holds no
//! byte that may not stand in a request line. Absent on purpose: resolving `..` (a load must send what was written).

use crate::error::{Problem, quoted};
use http::Uri;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use std::fmt;

/// What is encoded in a path or query as written: the rest of RFC 3986's reserved set is the author's business.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');

/// Scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    scheme: &'static str,
    /// Lower case; IPv6 in brackets.
    host: String,
    port: u16,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.scheme, self.host, self.port)
    }
}

impl Origin {
    /// `scheme://host[:port]`; a path is refused.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let url = Url::parse(text)?;
        if url.path != "/" || url.credentials.is_some() {
            return Err(Problem::new(
                format!("{} is more than an origin", quoted(text)),
                format!("write {}", url.origin),
            ));
        }
        Ok(url.origin)
    }

    /// Whether a `Host` field says the same, with or without the port of the scheme.
    pub(crate) fn is_host(&self, field: &str) -> bool {
        let field = field.trim().to_ascii_lowercase();
        let port = match field.strip_prefix(&self.host) {
            Some("") => Some(default_port(self.scheme)),
            Some(rest) => rest.strip_prefix(':').and_then(|port| port.parse().ok()),
            None => None,
        };
        port == Some(self.port)
    }
}

fn default_port(scheme: &str) -> u16 {
    if scheme == "https" { 443 } else { 80 }
}

/// A URL in its parts.
#[derive(Debug)]
pub(crate) struct Url {
    pub(crate) origin: Origin,
    /// Path and query.
    pub(crate) path: String,
    /// User and password, decoded.
    pub(crate) credentials: Option<Vec<u8>>,
}

impl Url {
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let wrong = |why: &str| {
            Problem::new(
                format!("{} is no URL of HTTP: {why}", quoted(text)),
                "write for example http://127.0.0.1:8080/path",
            )
        };
        let without_fragment = text.split_once('#').map_or(text, |(before, _)| before);
        let encoded = utf8_percent_encode(without_fragment, ENCODED).to_string();
        let uri: Uri = encoded.parse().map_err(|error: http::uri::InvalidUri| wrong(&error.to_string()))?;
        let scheme = match uri.scheme_str() {
            Some("http") => "http",
            Some("https") => "https",
            Some(other) => return Err(wrong(&format!("the scheme is {other}"))),
            None => return Err(wrong("the scheme is missing")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("the host is missing"))?;
        let host = authority.host().to_ascii_lowercase();
        if host.is_empty() {
            return Err(wrong("the host is missing"));
        }
        let (user, rest) = match authority.as_str().rsplit_once('@') {
            Some((user, rest)) => (Some(user), rest),
            None => (None, authority.as_str()),
        };
        let port = match rest.strip_prefix(authority.host()).and_then(|rest| rest.strip_prefix(':')) {
            None | Some("") => default_port(scheme),
            Some(port) => {
                let port = port.parse().ok().filter(|port| *port > 0);
                port.ok_or_else(|| wrong("the port is not 1 to 65535"))?
            }
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let credentials = user.map(|user| percent_decode_str(user).collect());
        Ok(Self { origin: Origin { scheme, host, port }, path, credentials })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        for (text, origin, path, credentials) in [
            ("http://h", "http://h:80", "/", None),
            ("HTTPS://Example.COM/a/../b?q=1#frag", "https://example.com:443", "/a/../b?q=1", None),
            ("http://h:8080?q", "http://h:8080", "/?q", None),
            ("http://[::1]:9000/a b/ä", "http://[::1]:9000", "/a%20b/%C3%A4", None),
            ("http://us%40er:pa%3Ass@h/", "http://h:80", "/", Some("us@er:pa:ss")),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.origin.to_string().as_str(), url.path.as_str()), (origin, path));
            assert_eq!(url.credentials.as_deref(), credentials.map(str::as_bytes));
        }
    }

    #[test]
    fn what_is_no_url_of_http_is_refused() {
        for (text, why) in [
            ("ftp://h/", "scheme is ftp"),
            ("/path", "scheme is missing"),
            ("http:///path", "`http:///path`"),
            ("http://h:0/", "port"),
            ("http://h:99999/", "port"),
            ("", "``"),
        ] {
            let problem = Url::parse(text).expect_err(text);
            assert!(problem.cause.contains(why), "{text}: {}", problem.cause);
        }
        let long = format!("http://h/{}", "x".repeat(100_000));
        assert!(Url::parse(&long).expect_err("long").cause.len() < 300);
    }

    #[test]
    fn a_host_field_is_compared_with_its_port() {
        let origin = Origin::parse("http://h").unwrap();
        assert!(
            origin.is_host("H") && origin.is_host("h:80") && !origin.is_host("h:81") && !origin.is_host("hh")
        );
        assert!(Origin::parse("http://h/a").expect_err("path").remedy.contains("http://h:80"));
    }
}
