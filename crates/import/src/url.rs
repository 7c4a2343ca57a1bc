//! URLs: the origin that decides whether a request belongs to the scenario, and the path that is sent. Their grammar is
//! [`UrlParts`]'s, as that of all URLs of prony.
//!
//! Invariants: an origin always has its port; a path begins with `/`, has its query and no fragment, and holds no
//! byte that may not stand in a request line. Absent on purpose: resolving `..` (a load must send what was written).

use crate::error::{Problem, quoted};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::fmt;
use wire::UrlParts;

/// What is encoded in a path or query as written: the rest of RFC 3986's reserved set is the author's business.
pub(crate) const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');

/// Scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Origin {
    scheme: &'static str,
    /// Lower case; IPv6 in brackets.
    host: String,
    /// Zone of a link-local IPv6 address, a network device of this machine.
    zone: Option<String>,
    port: u16,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.zone, self.host.strip_suffix(']')) {
            (Some(zone), Some(address)) => {
                let zone = utf8_percent_encode(zone, NON_ALPHANUMERIC);
                write!(f, "{}://{address}%25{zone}]:{}", self.scheme, self.port)
            }
            _ => write!(f, "{}://{}:{}", self.scheme, self.host, self.port),
        }
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
        let parts = UrlParts::of(text).map_err(wrong)?;
        let scheme = parts.scheme.ok_or_else(|| wrong("the scheme is missing"))?;
        let host = parts.host.to_ascii_lowercase();
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let port = parts.port.unwrap_or(default_port(scheme));
        let slash = if parts.path.starts_with('/') { "" } else { "/" };
        let path = format!("{slash}{}", utf8_percent_encode(parts.path, ENCODED));
        let credentials = parts.login.map(|login| percent_decode_str(login).collect());
        Ok(Self { origin: Origin { scheme, host, zone: parts.zone, port }, path, credentials })
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
            ("http://[fe80::1%25lo]:80/", "http://[fe80::1%25lo]:80", "/", None),
            ("http://[fe80::1%eth0]/a", "http://[fe80::1%25eth0]:80", "/a", None),
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
            ("ftp://h/", "only http:// and https://"),
            ("http://h@/", "host is missing"),
            ("http://[fe80::1%25]/", "zone"),
            ("http://a b/", "host has a character"),
            ("/path", "host is missing"),
            ("h/path", "scheme is missing"),
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
        let link_local = Origin::parse("http://[fe80::1%25lo]:81").unwrap();
        assert!(link_local.is_host("[fe80::1]:81"), "a zone stays off the wire (RFC 6874 §4)");
        assert!(Origin::parse("http://h/a").expect_err("path").remedy.contains("http://h:80"));
    }
}
