//! Where requests go: URLs, name resolution, and the consent that a host outside needs.
//!
//! A load tool is a weapon pointed the wrong way: loopback and private addresses are free, any other address needs
//! the user's word on the command line.

use crate::place::login::{Login, masked};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use wire::{Origin, UrlParts};

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
    /// Zone of a link-local IPv6 address, which is the name or number of a network device here (RFC 6874).
    #[serde(default)]
    pub zone: Option<String>,
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
    /// A name that only the proxy can resolve, without consent.
    #[error(
        "the proxy will look up {host}, which has no address here, so nobody can tell whose machine it is\n  \
         remedy: if you are allowed to load it, say so: --consent {host}"
    )]
    Unknown {
        /// The name.
        host: String,
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
        match Self::with_login(url)? {
            (parsed, None) => Ok(parsed),
            (_, Some(_)) => Err(NetError::Url {
                url: masked(url).into_owned(),
                cause: "user names in URLs are not supported here; send an Authorization header instead",
            }),
        }
    }

    /// As [`HttpUrl::parse`], and what stands before an `@`: user and password. The grammar is [`UrlParts`]'s.
    ///
    /// # Errors
    /// As [`HttpUrl::parse`]; no error shows a password.
    pub fn with_login(url: &str) -> Result<(Self, Option<Login>), NetError> {
        let parts =
            UrlParts::of(url).map_err(|cause| NetError::Url { url: masked(url).into_owned(), cause })?;
        let scheme = if parts.scheme == Some("https") { Scheme::Https } else { Scheme::Http };
        let path = if parts.path.starts_with('/') { "" } else { "/" };
        let parsed = Self {
            scheme,
            host: parts.host.to_owned(),
            zone: parts.zone,
            port: parts.port.unwrap_or(scheme.default_port()),
            path: format!("{path}{}", parts.path),
        };
        Ok((parsed, parts.login.map(Login::new)))
    }

    /// The value of the Host field. A zone means nothing on another machine and is left out (RFC 6874 §4).
    #[must_use]
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        self.with_port(host)
    }

    /// Scheme, host and port, as a URL.
    #[must_use]
    pub fn origin(&self) -> String {
        let authority = match &self.zone {
            Some(zone) => {
                let zone = utf8_percent_encode(zone, NON_ALPHANUMERIC);
                self.with_port(format!("[{}%25{zone}]", self.host))
            }
            None => self.authority(),
        };
        format!("{}://{authority}", self.scheme.name())
    }

    /// Whether this URL may be loaded through a proxy, which resolves its name: as [`HttpUrl::resolve`] says of the
    /// address that the name has here. A name that has none here needs consent.
    ///
    /// # Errors
    /// Consent is missing.
    pub fn check_behind_proxy(&self, consent: &[String]) -> Result<(), NetError> {
        if consent.contains(&self.host) {
            return Ok(());
        }
        match self.resolve(consent) {
            Err(NetError::Resolve { host, .. }) => Err(NetError::Unknown { host }),
            other => other.map(drop),
        }
    }

    /// Within what redirects are followed.
    #[must_use]
    pub fn to_origin(&self) -> Origin {
        Origin { is_https: self.scheme == Scheme::Https, host: self.host.clone(), port: self.port }
    }

    fn with_port(&self, host: String) -> String {
        if self.port == self.scheme.default_port() { host } else { format!("{host}:{}", self.port) }
    }

    /// As the system's resolver takes it.
    fn name(&self) -> String {
        match &self.zone {
            Some(zone) => format!("{}%{zone}", self.host),
            None => self.host.clone(),
        }
    }

    /// The first address that the name resolves to, whether it may be loaded or not.
    ///
    /// # Errors
    /// The name does not resolve.
    pub fn first_address(&self) -> Result<SocketAddr, NetError> {
        let failed = |cause: String| NetError::Resolve { host: self.name(), cause };
        (self.name().as_str(), self.port)
            .to_socket_addrs()
            .map_err(|error| failed(error.to_string()))?
            .next()
            .ok_or_else(|| failed("no address".to_owned()))
    }

    /// The first address that the name resolves to, if it may be loaded: it is loopback or private, or `consent`
    /// names the host or the address.
    ///
    /// # Errors
    /// The name does not resolve, or consent is missing.
    pub fn resolve(&self, consent: &[String]) -> Result<SocketAddr, NetError> {
        let address = self.first_address()?;
        let is_named = consent.iter().any(|named| *named == self.host || *named == address.ip().to_string());
        if is_free(address.ip()) || is_named {
            return Ok(address);
        }
        Err(NetError::Consent { host: self.host.clone(), address: address.ip() })
    }
}

/// Whether an address may be loaded without asking: loopback, private (RFC 1918, RFC 4193) or link-local.
#[must_use]
pub fn is_free(address: IpAddr) -> bool {
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
        check("HTTP://h:81/X", Ok(("h", 81, "/X")));
        check("HttpS://h/", Ok(("h", 443, "/")));
        check("http://[fe80::1%25lo]:80/", Ok(("fe80::1", 80, "/")));
        check("http://[fe80::1%25]/", Err("zone"));
        check("http://[::1]81/", Err("after the ]"));
        check("http://[h]/", Err("no IPv6 address"));
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
            ("HTTP://[fe80::1%25lo]:80/", "http://[fe80::1%25lo]"),
            ("http://[fe80::1%eth%2d0]:81/", "http://[fe80::1%25eth%2D0]:81"),
        ] {
            let parsed = HttpUrl::parse(url).unwrap();
            assert_eq!(parsed.origin(), origin);
            let again = HttpUrl::parse(&parsed.origin()).unwrap();
            assert_eq!((again.host, again.zone, again.port), (parsed.host, parsed.zone, parsed.port));
        }
    }

    #[test]
    fn a_zone_chooses_the_device_and_stays_off_the_wire() {
        let url = HttpUrl::parse("http://[fe80::1%25lo]:8080/").unwrap();
        assert_eq!(url.authority(), "[fe80::1]:8080");
        let Ok(SocketAddr::V6(address)) = url.resolve(&[]) else { panic!("{url:?} did not resolve") };
        // The loopback device is the first of every network namespace.
        assert_eq!((address.scope_id(), address.port()), (1, 8080));
        let unknown = HttpUrl::parse("http://[fe80::1%25nosuch0]/").unwrap().resolve(&[]);
        assert!(matches!(unknown, Err(NetError::Resolve { host, .. }) if host == "fe80::1%nosuch0"));
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
