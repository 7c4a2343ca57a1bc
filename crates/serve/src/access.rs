//! Who may ask what: the names under which the lab answers, where changes may come from, and the token.
//!
//! Invariants: a request whose Host is a name that nobody gave the lab is refused (a page on the web cannot rebind its
//! name to this host); a change needs a header that no form and no simple cross-origin request can send, and an Origin,
//! where there is one, that is the lab's own; with a token, everything but the page's own files needs it.

use crate::error::ApiError;
use crate::token;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header};
use schema::said;
use schema::said::Said;
use std::net::{IpAddr, SocketAddr};

/// The header that a change must carry.
const MARK: &str = "x-prony";

/// What the lab accepts.
#[derive(Debug)]
pub(crate) struct Access {
    /// Where it listens.
    pub(crate) addr: SocketAddr,
    /// Further names under which it may be reached.
    pub(crate) names: Vec<String>,
    /// The token; none where none is needed.
    pub(crate) token: Option<String>,
}

impl Access {
    pub(crate) fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let host = self.host(uri, headers)?;
        if is_change(method) {
            same_origin(&host, headers)?;
        }
        if self.token.is_some() && needs_token(uri.path()) && !self.has_token(headers) {
            return Err(ApiError::new(
                StatusCode::UNAUTHORIZED,
                said!("lab.asks_token", "this lab asks for its token"),
                said!(
                    "lab.open_with_token",
                    "open the address that prony serve printed, or send Authorization: Bearer TOKEN"
                ),
            ));
        }
        Ok(())
    }

    /// The host that was asked for, as it stands in the request.
    fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<String, ApiError> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next(), uri.authority()) {
            (Some(only), None, None) => only.to_str().ok().map(str::to_owned),
            _ => None,
        };
        let known = host.filter(|host| self.is_own(host));
        known.ok_or_else(|| {
            ApiError::new(
                StatusCode::MISDIRECTED_REQUEST,
                said!("lab.wrong_name", "the lab does not answer under this name"),
                said!(
                    "lab.ask_by_name",
                    "ask http://{addr}, or give the name with --name",
                    addr = self.addr.to_string()
                ),
            )
        })
    }

    fn is_own(&self, host: &str) -> bool {
        let (name, port) = match split_port(host) {
            Some(found) => found,
            None => return false,
        };
        // Behind a proxy or a tunnel the port may be another.
        if self.names.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            return true;
        }
        if port.unwrap_or(80) != self.addr.port() {
            return false;
        }
        // An address cannot be rebound; only a name can.
        let bare =
            name.strip_prefix('[').map_or(Some(name), |rest| rest.strip_suffix(']')).unwrap_or_default();
        match bare.parse::<IpAddr>() {
            Ok(ip) => !self.addr.ip().is_loopback() || ip.is_loopback(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Name of the cookie that a browser keeps the token in: with the port, since browsers hold one set of cookies for
    /// all ports of a host, where there may be another lab.
    pub(crate) fn cookie(&self) -> String {
        format!("prony_token_{}", self.addr.port())
    }

    /// Whether the request carries the token, as a header or as a cookie.
    pub(crate) fn has_token(&self, headers: &HeaderMap) -> bool {
        let Some(wanted) = &self.token else { return true };
        let bearer = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "));
        let name = self.cookie();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let cookie = cookies
            .flat_map(|value| value.split(';'))
            .find_map(|pair| pair.trim().strip_prefix(name.as_str())?.strip_prefix('='));
        [bearer, cookie].into_iter().flatten().any(|given| token::is_same(given, wanted))
    }
}

const fn is_change(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD)
}

/// The page itself and its files hold nothing of a run.
fn needs_token(path: &str) -> bool {
    path == "/metrics" || (path.starts_with("/api/") && path != "/api/login")
}

/// Name and port of a Host header; `None` where it is none.
fn split_port(host: &str) -> Option<(&str, Option<u16>)> {
    let after_bracket = host.rfind(']').map_or(0, |at| at + 1);
    match host[after_bracket..].rfind(':') {
        Some(colon) => {
            let (name, port) = host.split_at(after_bracket + colon);
            Some((name, Some(port[1..].parse().ok()?)))
        }
        None => Some((host, None)),
    }
}

/// A change must come from the lab's own page, or from a program that knows what it does.
fn same_origin(host: &str, headers: &HeaderMap) -> Result<(), ApiError> {
    let refused = |cause: Said| {
        Err(ApiError::new(
            StatusCode::FORBIDDEN,
            cause,
            said!(
                "lab.own_page",
                "changes are made from the lab's own page; a program sends X-Prony: 1 and no Origin"
            ),
        ))
    };
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?").to_owned());
    if text(HeaderName::from_static(MARK)).as_deref() != Some("1") {
        return refused(said!("lab.no_mark", "the request has no header X-Prony: 1"));
    }
    if let Some(origin) = text(header::ORIGIN) {
        let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if own != Some(host) {
            return refused(said!("lab.other_origin", "the request comes from a page of another origin"));
        }
    }
    match text(HeaderName::from_static("sec-fetch-site")).as_deref() {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => {
            refused(said!("lab.other_site", "the browser says that the request comes from another site"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn access(addr: &str, token: Option<&str>) -> Access {
        Access {
            addr: addr.parse().unwrap(),
            names: vec!["lab.test".to_owned()],
            token: token.map(str::to_owned),
        }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    fn answer(access: &Access, method: Method, path: &str, pairs: &[(&'static str, &str)]) -> u16 {
        let checked = access.check(&method, &path.parse().unwrap(), &headers(pairs));
        checked.err().map_or(200, |error| error.status.as_u16())
    }

    #[test]
    fn only_own_names_are_answered() {
        let lab = access("127.0.0.1:7070", None);
        let asked = |host: &str| answer(&lab, Method::GET, "/api/runs", &[("host", host)]);
        for own in
            ["127.0.0.1:7070", "localhost:7070", "LOCALHOST:7070", "[::1]:7070", "lab.test", "lab.test:443"]
        {
            assert_eq!(asked(own), 200, "{own}");
        }
        for foreign in [
            "evil.test:7070",
            "127.0.0.1",
            "127.0.0.1:80",
            "10.0.0.1:7070",
            "localhost.evil.test:7070",
            "127.0.0.1.evil.test:7070",
            "",
            "127.0.0.1:x",
            "[::1:7070",
        ] {
            assert_eq!(asked(foreign), 421, "{foreign}");
        }
        assert_eq!(answer(&lab, Method::GET, "/api/runs", &[]), 421);
        let wide = access("0.0.0.0:7070", Some("0123456789abcdef"));
        assert!(wide.is_own("10.0.0.1:7070") && !wide.is_own("evil.test:7070"));
    }

    #[test]
    fn changes_need_their_mark_and_the_own_origin() {
        let lab = access("127.0.0.1:7070", None);
        let host = ("host", "127.0.0.1:7070");
        let put = |pairs: &[(&'static str, &str)]| {
            let all: Vec<_> = pairs.iter().copied().chain([host]).collect();
            answer(&lab, Method::PUT, "/api/runs/r/label", &all)
        };
        let mark = ("x-prony", "1");
        assert_eq!(put(&[mark]), 200);
        assert_eq!(put(&[mark, ("origin", "http://127.0.0.1:7070")]), 200);
        assert_eq!(put(&[mark, ("sec-fetch-site", "same-origin")]), 200);
        assert_eq!(put(&[]), 403);
        assert_eq!(put(&[("x-prony", "yes")]), 403);
        for origin in
            ["http://evil.test", "null", "http://127.0.0.1:7071", "http://localhost:7070", "127.0.0.1:7070"]
        {
            assert_eq!(put(&[mark, ("origin", origin)]), 403, "{origin}");
        }
        assert_eq!(put(&[mark, ("sec-fetch-site", "cross-site")]), 403);
    }

    #[test]
    fn the_token_comes_as_header_or_cookie_and_pages_need_none() {
        let lab = access("10.1.1.1:7070", Some("0123456789abcdef"));
        let get = |path: &str, pairs: &[(&'static str, &str)]| {
            let all: Vec<_> = pairs.iter().copied().chain([("host", "10.1.1.1:7070")]).collect();
            answer(&lab, Method::GET, path, &all)
        };
        assert_eq!(get("/", &[]), 200);
        assert_eq!(get("/assets/lab.js", &[]), 200);
        assert_eq!(get("/api/runs", &[]), 401);
        assert_eq!(get("/metrics", &[]), 401);
        assert_eq!(get("/api/runs", &[("authorization", "Bearer 0123456789abcdef")]), 200);
        assert_eq!(get("/api/runs", &[("cookie", "a=b; prony_token_7070=0123456789abcdef")]), 200);
        assert_eq!(get("/api/runs", &[("authorization", "Bearer 0123456789abcdeX")]), 401);
        let wrong =
            "prony_token_7070=; xprony_token_7070=0123456789abcdef; prony_token_70700=0123456789abcdef";
        assert_eq!(get("/api/runs", &[("cookie", wrong)]), 401);
        let of_another_lab = "prony_token_7071=fedcba9876543210; prony_token_7070=0123456789abcdef";
        assert_eq!(get("/api/runs", &[("cookie", of_another_lab)]), 200);
    }
}
