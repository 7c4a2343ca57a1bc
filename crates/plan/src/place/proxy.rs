//! Proxies: which one a load goes through, by option or by the environment, and what it is asked.
//!
//! The variables are read as curl and Go read them: `http_proxy` in lower case only, for the other case comes from the
//! outside where a server runs programs (httpoxy); `https_proxy` and `all_proxy` in both. Targets on loopback never go
//! through a proxy of the environment. Passwords are in no text.

use crate::place::login::{Login, masked};
use crate::place::net::{HttpUrl, NetError, Scheme};
use schema::said;
use schema::said::Said;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// A proxy that a load goes through.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ProxyUse {
    /// Where it listens.
    pub url: HttpUrl,
    /// User and password for it.
    pub login: Option<Login>,
    /// The variable of the environment that names it; none where the user did.
    pub variable: Option<String>,
    /// Host and port that it is asked for.
    pub target: String,
}

/// Why a proxy cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    /// Another kind of proxy.
    #[error(
        "{from}: `{url}` cannot be used: {cause}\n  remedy: name an HTTP proxy that takes CONNECT, as \
         http://[USER:PASSWORD@]HOST:PORT, or none"
    )]
    Kind {
        /// The option or variable.
        from: String,
        /// Masked.
        url: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// No URL, a name that does not resolve, or no consent.
    #[error("{from}: {source}")]
    Net {
        /// The option or variable.
        from: String,
        /// The reason.
        source: NetError,
    },
}

impl ProxyUse {
    /// The proxy as it is shown and recorded: without its password.
    #[must_use]
    pub fn shown(&self) -> String {
        let login = if self.login.is_some() { "***@" } else { "" };
        format!("http://{login}{}", self.url.authority())
    }

    /// What the reader of a result must know of it.
    #[must_use]
    pub fn note(&self) -> Said {
        let from = self.variable.as_ref().map_or_else(Said::default, |name| {
            said!(
                "note.proxy.variable",
                ", named by {name} in the environment (--proxy none leaves it out)",
                name
            )
        });
        said!(
            "note.proxy",
            "all connections are tunnels through the proxy {proxy}{from}: connect times include its CONNECT, and its \
             own speed is in every other time",
            proxy = self.shown(),
            from
        )
    }

    /// The request that opens a tunnel.
    #[must_use]
    pub fn request(&self) -> Vec<u8> {
        let login = self
            .login
            .as_ref()
            .map_or_else(String::new, |login| format!("Proxy-Authorization: {}\r\n", login.basic()));
        format!("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n{login}\r\n", self.target).into_bytes()
    }
}

/// The proxy for a target: the one `given`, where it is not `none`, else that of the environment, as `variable` reads
/// it.
///
/// # Errors
/// A proxy that is none of HTTP.
pub fn choose(
    given: Option<&str>,
    target: &HttpUrl,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<ProxyUse>, ProxyError> {
    match given {
        Some("" | "none") => Ok(None),
        Some(text) => read(text, "--proxy", None, target).map(Some),
        None => of_environment(target, variable),
    }
}

fn of_environment(
    target: &HttpUrl,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<ProxyUse>, ProxyError> {
    let names: &[&str] = match target.scheme {
        Scheme::Http => &["http_proxy", "all_proxy", "ALL_PROXY"],
        Scheme::Https => &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
    };
    let found =
        names.iter().find_map(|name| Some((*name, variable(name)?)).filter(|(_, text)| !text.is_empty()));
    let Some((name, text)) = found else { return Ok(None) };
    let spared = ["no_proxy", "NO_PROXY"].iter().find_map(|name| variable(name)).unwrap_or_default();
    if is_loopback(&target.host) || is_spared(&spared, target) {
        return Ok(None);
    }
    read(&text, name, Some(name.to_owned()), target).map(Some)
}

fn read(text: &str, from: &str, variable: Option<String>, target: &HttpUrl) -> Result<ProxyUse, ProxyError> {
    let kind = |cause| ProxyError::Kind { from: from.to_owned(), url: masked(text).into_owned(), cause };
    let scheme = text.split_once("://").map_or("http", |(scheme, _)| scheme).to_ascii_lowercase();
    match scheme.as_str() {
        "http" => {}
        "https" => return Err(kind("proxies over TLS are not supported")),
        _ if scheme.starts_with("socks") => return Err(kind("SOCKS proxies are not supported")),
        _ => return Err(kind("it is no HTTP proxy")),
    }
    let (url, login) =
        HttpUrl::with_login(text).map_err(|source| ProxyError::Net { from: from.to_owned(), source })?;
    if url.path != "/" {
        return Err(kind("a proxy has no path"));
    }
    let is_clean = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_clean(&target.host) {
        return Err(kind("the target's host has characters that cannot stand in CONNECT"));
    }
    let host = if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
    Ok(ProxyUse { url, login, variable, target: format!("{host}:{}", target.port) })
}

fn is_loopback(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Whether a list such as `example.com,.lan,10.0.0.0/8,host:8080` names the target. A name stands for its subdomains,
/// too; `*` for all.
fn is_spared(list: &str, target: &HttpUrl) -> bool {
    list.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| names(entry, target))
}

fn names(entry: &str, target: &HttpUrl) -> bool {
    if entry == "*" {
        return true;
    }
    let host = target.host.trim_end_matches('.').to_ascii_lowercase();
    let address = host.parse::<IpAddr>().ok();
    if let (Some((network, bits)), Some(address)) = (entry.split_once('/'), address) {
        return is_within(network, bits, address);
    }
    let bracketed = entry.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (name, port) = match (bracketed, entry.rsplit_once(':')) {
        (Some((name, behind)), _) => (name, behind.strip_prefix(':')),
        (None, Some((name, port))) if !name.contains(':') => (name, Some(port)),
        (None, _) => (entry, None),
    };
    if port.is_some_and(|port| port.parse() != Ok(target.port)) {
        return false;
    }
    if let Some(address) = address {
        return name.parse() == Ok(address);
    }
    let name =
        name.trim_start_matches("*.").trim_start_matches('.').trim_end_matches('.').to_ascii_lowercase();
    host == name || host.strip_suffix(&name).is_some_and(|front| !name.is_empty() && front.ends_with('.'))
}

/// Whether an address is in `network/bits`.
fn is_within(network: &str, bits: &str, address: IpAddr) -> bool {
    let (Ok(network), Ok(bits)) = (network.parse::<IpAddr>(), bits.parse::<u32>()) else { return false };
    let share = |one: u128, other: u128, width: u32| {
        bits <= width && (bits == 0 || (one ^ other) >> (width - bits) == 0)
    };
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            share(u32::from(network).into(), u32::from(address).into(), 32)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => share(network.into(), address.into(), 128),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(given: Option<&str>, target: &str, environment: &[(&str, &str)]) -> Result<String, String> {
        let variable = |name: &str| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let found = choose(given, &HttpUrl::parse(target).unwrap(), variable);
        let shown = |proxy: ProxyUse| format!("{} {}", proxy.shown(), proxy.variable.unwrap_or_default());
        found.map(|found| found.map_or_else(String::new, shown)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_option_counts_before_the_environment_and_loopback_before_that() {
        let all = [
            ("http_proxy", "http://p:1"),
            ("HTTPS_PROXY", "q:2"),
            ("all_proxy", "r:3"),
            ("HTTP_PROXY", "x:9"),
        ];
        for (given, target, environment, proxy) in [
            (None, "http://h/", &all[..], "http://p:1 http_proxy"),
            (None, "https://h/", &all, "http://q:2 HTTPS_PROXY"),
            (None, "http://h/", &all[2..], "http://r:3 all_proxy"),
            (None, "http://h/", &all[3..], ""),
            (None, "https://h/", &[("https_proxy", ""), ("HTTPS_PROXY", "q:2")], "http://q:2 HTTPS_PROXY"),
            (None, "http://127.0.0.1/", &all, ""),
            (None, "http://localhost/", &all, ""),
            (None, "http://[::1]/", &all, ""),
            (None, "http://a.localhost/", &all, ""),
            (Some("s:4"), "http://127.0.0.1/", &all, "http://s:4 "),
            (Some("none"), "http://h/", &all, ""),
            (Some("http://u:secret@s:4/"), "http://h/", &all, "http://***@s:4 "),
        ] {
            assert_eq!(chosen(given, target, environment).as_deref(), Ok(proxy), "{given:?} {target}");
        }
    }

    #[test]
    fn no_proxy_spares_hosts_networks_and_ports() {
        for (list, target, is_spared) in [
            ("*", "http://h/", true),
            ("h", "http://h/", true),
            ("h", "http://H./", true),
            ("h", "http://x.h/", true),
            ("h", "http://xh/", false),
            (".h", "http://x.h/", true),
            ("*.h", "http://x.h/", true),
            ("a, h:81", "http://h:81/", true),
            ("h:81", "http://h/", false),
            ("10.0.0.0/8", "http://10.9.9.9/", true),
            ("10.0.0.0/8", "http://11.0.0.1/", false),
            ("0.0.0.0/0", "http://11.0.0.1/", true),
            ("10.0.0.0/33", "http://10.0.0.0/", false),
            ("10.0.0.7", "http://10.0.0.7/", true),
            ("7", "http://10.0.0.7/", false),
            ("fd00::/16", "http://[fd00::9]/", true),
            ("fd00::9", "http://[fd00::9]/", true),
            ("[fd00::9]:80", "http://[fd00::9]/", true),
            ("", "http://h/", false),
            (".", "http://h/", false),
        ] {
            let environment = [("http_proxy", "p:1"), ("no_proxy", list)];
            let found = chosen(None, target, &environment).unwrap();
            assert_eq!(found.is_empty(), is_spared, "{list} {target}: {found}");
        }
    }

    #[test]
    fn what_is_no_http_proxy_is_refused_without_its_password() {
        for (proxy, part) in [
            ("socks5://u:secret@p:1", "SOCKS proxies"),
            ("https://u:secret@p:1", "over TLS"),
            ("ftp://p", "no HTTP proxy"),
            ("http://u:secret@p:1/x", "no path"),
            ("http://u:secret@p:x", "port"),
        ] {
            let error = chosen(Some(proxy), "http://h/", &[]).unwrap_err();
            assert!(error.contains(part) && !error.contains("secret"), "{proxy}: {error}");
            assert!(error.starts_with("--proxy: "), "{error}");
        }
        let named = chosen(None, "http://h/", &[("all_proxy", "socks5://p:1")]).unwrap_err();
        assert!(named.starts_with("all_proxy: "), "{named}");
    }

    #[test]
    fn connect_names_the_target_with_its_port() {
        let target = HttpUrl::parse("https://h/x").unwrap();
        let proxy = choose(Some("u:p@127.0.0.1:1"), &target, |_| None).unwrap().unwrap();
        assert_eq!(
            String::from_utf8(proxy.request()).unwrap(),
            "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nProxy-Authorization: Basic dTpw\r\n\r\n"
        );
        assert!(!format!("{proxy:?}{}", proxy.note()).contains("dTpw"));
        let target = HttpUrl::parse("http://[::1]:81/").unwrap();
        let proxy = choose(Some("127.0.0.1:1"), &target, |_| None).unwrap().unwrap();
        assert!(proxy.request().starts_with(b"CONNECT [::1]:81 HTTP/1.1\r\nHost: [::1]:81\r\n\r\n"));
    }
}
