//! URLs of http and https taken apart (RFC 9110 §4.2, RFC 3986, RFC 6874): the one place that knows their grammar.
//!
//! Invariants: bounded in length; every part but the zone is a piece of the text; no part of the host can end a header
//! field. Absent on purpose: name resolution, consent, joining, and what a missing scheme, port or path means.

use std::net::Ipv6Addr;

/// Longest URL: what implementations of HTTP take in a request line (RFC 9112 §3 asks for 8000 bytes at least).
pub const URL_BYTES_MAX: usize = 64 << 10;

/// A URL in its parts, as written but for the case of the scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlParts<'a> {
    /// `http` or `https`; none where no scheme is given.
    pub scheme: Option<&'static str>,
    /// What stands before the last `@` of the authority, percent-encoded.
    pub login: Option<&'a str>,
    /// Name or address, without brackets; never empty.
    pub host: &'a str,
    /// Zone of an IPv6 address, decoded; never empty, without `%` and NUL.
    pub zone: Option<String>,
    /// 1 to 65535; none where no port is given.
    pub port: Option<u16>,
    /// Path and query without the fragment: empty, or it begins with `/` or `?`.
    pub path: &'a str,
}

impl<'a> UrlParts<'a> {
    /// Takes `[http[s]://][LOGIN@]HOST[:PORT][PATH][?QUERY][#FRAGMENT]` apart.
    ///
    /// # Errors
    /// What is wrong, as a clause without subject: another scheme, a host that is missing or none, a bad port, an IPv6
    /// address without brackets, or more than [`URL_BYTES_MAX`] bytes.
    pub fn of(url: &'a str) -> Result<Self, &'static str> {
        if url.len() > URL_BYTES_MAX {
            return Err("it is longer than 64 KiB");
        }
        let (scheme, rest) = match url.split_once("://") {
            // Schemes are the same in any case (RFC 3986 §3.1).
            Some((name, rest)) if name.eq_ignore_ascii_case("http") => (Some("http"), rest),
            Some((name, rest)) if name.eq_ignore_ascii_case("https") => (Some("https"), rest),
            // A query of a URL without a scheme may hold another URL.
            Some((before, _)) if before.contains(['/', '?', '#']) => (None, url),
            Some(_) => return Err("only http:// and https:// are supported"),
            None => (None, url),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        // The last one: what is before it may have some that are not escaped.
        let (login, authority) = match authority.rsplit_once('@') {
            Some((login, authority)) => (Some(login), authority),
            None => (None, authority),
        };
        let (host, zone, port) = match authority.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
            Some((literal, after)) => {
                let (address, zone) = zoned(literal)?;
                (address, zone, port_after_bracket(after)?)
            }
            None => {
                let (host, port) = name_and_port(authority)?;
                (host, None, port)
            }
        };
        // `h:` has the port of its scheme (RFC 3986 §3.2.3).
        let port = port.filter(|port| !port.is_empty()).map(number).transpose()?;
        Ok(Self { scheme, login, host, zone, port, path })
    }
}

fn name_and_port(authority: &str) -> Result<(&str, Option<&str>), &'static str> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, _)) if host.contains(':') => return Err("put an IPv6 address in [brackets]"),
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    // Names may be of any script; what could end or begin another part of a request may not be in them.
    let is_foreign = |c: char| c.is_control() || c.is_whitespace() || "%\"<>\\^`{|}[]".contains(c);
    match host {
        "" => Err("the host is missing"),
        host if host.contains(is_foreign) => Err("the host has a character that no name has"),
        host => Ok((host, port)),
    }
}

/// Address and zone of what stands in brackets: `fe80::1%25eth0`, or `fe80::1%eth0` as people write it.
fn zoned(literal: &str) -> Result<(&str, Option<String>), &'static str> {
    const WRONG: &str = "the zone of the IPv6 address is no name of a network device, as in [fe80::1%25eth0]";
    let (address, zone) = match literal.split_once('%') {
        Some((address, zone)) => (address, Some(zone.strip_prefix("25").unwrap_or(zone))),
        None => (literal, None),
    };
    if address.parse::<Ipv6Addr>().is_err() {
        return Err("what stands in [brackets] is no IPv6 address");
    }
    match zone.map(|zone| decoded(zone).ok_or(WRONG)).transpose()? {
        Some(zone) if zone.is_empty() || zone.contains(['\0', '%']) => Err(WRONG),
        zone => Ok((address, zone)),
    }
}

/// Undoes percent-encoding; nothing where what comes out is no text.
fn decoded(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    let digit = |byte: &u8| (*byte as char).to_digit(16);
    while let Some((first, after)) = rest.split_first() {
        let pair = match after {
            [high, low, ..] if *first == b'%' => digit(high).zip(digit(low)),
            _ => None,
        };
        match pair {
            Some((high, low)) => {
                bytes.push((high << 4 | low) as u8);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// The port after `]`, which is nothing or `:PORT`.
fn port_after_bracket(after: &str) -> Result<Option<&str>, &'static str> {
    match after.strip_prefix(':') {
        None if !after.is_empty() => Err("after the ] of an IPv6 address comes a port or a path"),
        port => Ok(port),
    }
}

fn number(port: &str) -> Result<u16, &'static str> {
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    let number = port.parse().ok().filter(|port| is_number && *port > 0);
    number.ok_or("the port is not a number from 1 to 65535")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(scheme: &str, host: &'a str, port: u16, path: &'a str) -> UrlParts<'a> {
        let scheme = ["http", "https"].into_iter().find(|known| *known == scheme);
        UrlParts { scheme, login: None, host, zone: None, port: (port > 0).then_some(port), path }
    }

    #[test]
    fn urls_are_taken_apart() {
        let zoned = |host, zone: &str, port| UrlParts {
            zone: Some(zone.to_owned()),
            ..parts("http", host, port, "/")
        };
        for (url, expected) in [
            ("http://h", parts("http", "h", 0, "")),
            ("HttpS://h:81/A?b#c", parts("https", "h", 81, "/A?b")),
            ("h?u=http://x/#y", parts("", "h", 0, "?u=http://x/")),
            ("bücher.example:8080", parts("", "bücher.example", 8080, "")),
            ("http://u@v:p@h/", UrlParts { login: Some("u@v:p"), ..parts("http", "h", 0, "/") }),
            ("http://[::1]:99/", parts("http", "::1", 99, "/")),
            ("http://h:/", parts("http", "h", 0, "/")),
            ("http://[::1]:?a", parts("http", "::1", 0, "?a")),
            ("http://[fe80::1%25lo]:80/", zoned("fe80::1", "lo", 80)),
            ("http://[fe80::1%eth%2d0]/", zoned("fe80::1", "eth-0", 0)),
        ] {
            assert_eq!(UrlParts::of(url), Ok(expected), "{url}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused() {
        let long = format!("http://h/{}", "x".repeat(URL_BYTES_MAX));
        for (url, cause) in [
            ("ftp://h/", "only http://"),
            ("", "host is missing"),
            ("http://:80/", "host is missing"),
            ("http://a b/", "character that no name has"),
            ("http://a\r\nX: y/", "character that no name has"),
            ("http://a%20b/", "character that no name has"),
            ("::1", "brackets"),
            ("http://[h]/", "no IPv6 address"),
            ("http://[::1]81/", "after the ]"),
            ("http://[::1", "brackets"),
            ("http://[fe80::1%25]/", "zone"),
            ("http://[fe80::1%25%ff]/", "zone"),
            ("http://h:0/", "port"),
            ("http://h:+1/", "port"),
            ("http://h:65536/", "port"),
            (&long, "64 KiB"),
        ] {
            let error = UrlParts::of(url).expect_err(url);
            assert!(error.contains(cause), "{}: {error}", &url[..url.len().min(60)]);
        }
    }
}
