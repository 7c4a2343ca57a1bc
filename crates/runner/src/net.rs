//! Where requests go: URLs, name resolution, and the consent that a host outside needs.
//!
//! A load tool is a weapon pointed the wrong way: loopback and private addresses are free, any other address needs
//! the user's word on the command line.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// The scheme of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub enum Scheme {
    /// Plain text.
    Http,
    /// TLS.
    Https,
}

impl Scheme {
    /// As it stands in URLs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// An HTTP URL, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct HttpUrl {
    /// Scheme; http where none is given.
    pub scheme: Scheme,
    /// Name or address, without brackets.
    pub host: String,
    /// Port; 80 or 443 where none is given.
    pub port: u16,
    /// Path and query; `/` where none is given.
    pub path: String,
}

/// Why an address cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// Not a URL that prony can load.
    #[error("`{url}` cannot be loaded: {cause}; write for example http://127.0.0.1:8080/path")]
    Url {
        /// As the user wrote it.
        url: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// The name does not resolve.
    #[error("the name `{host}` does not resolve ({cause}); check its spelling, or give an address")]
    Resolve {
        /// The name.
        host: String,
        /// The system's reason.
        cause: String,
    },
    /// A public address without consent.
    #[error(
        "{host} ({address}) is neither loopback nor private; load on a machine that is not yours harms others\n  \
         remedy: if you are allowed to load it, say so: --consent {host}"
    )]
    Consent {
        /// The name.
        host: String,
        /// What it resolves to.
        address: IpAddr,
    },
}

impl HttpUrl {
    /// Takes `http[s]://host[:port][/path]` apart; the scheme may be left out.
    ///
    /// # Errors
    /// Other schemes, user information, a bad port, or an empty host.
    pub fn parse(url: &str) -> Result<Self, NetError> {
        let wrong = |cause| NetError::Url { url: url.to_owned(), cause };
        let (scheme, rest) = match url.split_once("://") {
            Some(("http", rest)) => (Scheme::Http, rest),
            Some(("https", rest)) => (Scheme::Https, rest),
            Some(_) => return Err(wrong("only http:// and https:// are supported")),
            None => (Scheme::Http, url),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = match rest.find(['/', '?']) {
            Some(at) if rest.as_bytes()[at] == b'/' => (&rest[..at], rest[at..].to_owned()),
            Some(at) => (&rest[..at], format!("/{}", &rest[at..])),
            None => (rest, "/".to_owned()),
        };
        if authority.contains('@') {
            return Err(wrong("user names in URLs are not supported; send an Authorization header instead"));
        }
        let (host, port) = match authority.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
            Some((host, after)) => (host, after.strip_prefix(':')),
            None => match authority.rsplit_once(':') {
                Some((host, _)) if host.contains(':') => {
                    return Err(wrong("put an IPv6 address in [brackets]"));
                }
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        if host.is_empty() {
            return Err(wrong("the host is missing"));
        }
        let port = match port {
            None => scheme.default_port(),
            Some(port) => port
                .parse()
                .ok()
                .filter(|port| *port > 0)
                .ok_or_else(|| wrong("the port is not a number from 1 to 65535"))?,
        };
        Ok(Self { scheme, host: host.to_owned(), port, path })
    }

    /// The value of the Host field.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == self.scheme.default_port() { host } else { format!("{host}:{}", self.port) }
    }

    /// Scheme, host and port.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme.name(), self.authority())
    }

    /// The first address that the name resolves to, if it may be loaded: it is loopback or private, or `consent`
    /// names the host or the address.
    ///
    /// # Errors
    /// The name does not resolve, or consent is missing.
    pub fn resolve(&self, consent: &[String]) -> Result<SocketAddr, NetError> {
        let failed = |cause: String| NetError::Resolve { host: self.host.clone(), cause };
        let address = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(|error| failed(error.to_string()))?
            .next()
            .ok_or_else(|| failed("no address".to_owned()))?;
        let is_named = consent.iter().any(|named| *named == self.host || *named == address.ip().to_string());
        if is_free(address.ip()) || is_named {
            return Ok(address);
        }
        Err(NetError::Consent { host: self.host.clone(), address: address.ip() })
    }
}

/// Whether an address may be loaded without asking: loopback, private (RFC 1918, RFC 4193) or link-local.
pub(crate) fn is_free(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: Result<(&str, u16, &str), &str>) {
        match (HttpUrl::parse(url), expected) {
            (Ok(got), Ok((host, port, path))) => {
                assert_eq!((got.host.as_str(), got.port, got.path.as_str()), (host, port, path), "{url}");
            }
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{url}: {error}"),
            (got, _) => panic!("{url} gave {got:?}"),
        }
    }

    #[test]
    fn urls() {
        check("http://127.0.0.1:8080/a?b=c", Ok(("127.0.0.1", 8080, "/a?b=c")));
        check("localhost:81", Ok(("localhost", 81, "/")));
        check("http://h?x=1#frag", Ok(("h", 80, "/?x=1")));
        check("http://[::1]:99/x", Ok(("::1", 99, "/x")));
        check("http://[::1]", Ok(("::1", 80, "/")));
        check("https://h/", Ok(("h", 443, "/")));
        check("https://h:80", Ok(("h", 80, "/")));
        check("ftp://h/", Err("only http://"));
        check("http://u:p@h/", Err("Authorization"));
        check("http://h:0/", Err("port"));
        check("http://h:port/", Err("port"));
        check("http:///x", Err("host is missing"));
        check("::1", Err("brackets"));
        for (url, origin) in [
            ("http://[::1]:99/x", "http://[::1]:99"),
            ("https://h:443/x", "https://h"),
            ("https://h:80/x", "https://h:80"),
            ("h:443", "http://h:443"),
        ] {
            assert_eq!(HttpUrl::parse(url).unwrap().origin(), origin);
        }
    }

    #[test]
    fn only_near_addresses_are_free() {
        for (url, is_free) in [
            ("http://127.3.2.1", true),
            ("http://10.0.0.1", true),
            ("http://192.168.1.1", true),
            ("http://172.16.0.1", true),
            ("http://169.254.1.1", true),
            ("http://[::1]", true),
            ("http://[fd00::1]", true),
            ("http://[::ffff:127.0.0.1]", true),
            ("http://172.32.0.1", false),
            ("http://8.8.8.8", false),
            ("http://[2001:db8::1]", false),
            ("http://[::ffff:8.8.8.8]", false),
            ("http://0.0.0.0", false),
        ] {
            let url = HttpUrl::parse(url).unwrap();
            assert_eq!(url.resolve(&[]).is_ok(), is_free, "{url:?}");
            assert!(url.resolve(std::slice::from_ref(&url.host)).is_ok(), "{url:?} with consent");
        }
        let other = vec!["9.9.9.9".to_owned()];
        assert!(matches!(HttpUrl::parse("8.8.8.8").unwrap().resolve(&other), Err(NetError::Consent { .. })));
    }
}
