//! The request that follows a redirect, made from the one that was redirected (RFC 9110 §15.4).
//!
//! Invariants: the framing of what is made is right wherever that of the first request was; its target is one of
//! [`crate::location::resolve`]. Allocates only where the buffer must grow.

use crate::location::{Astray, Origin, resolve};

/// The statuses that are redirects, in order; others of 3xx are answers.
pub const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

/// What of the request that was redirected is sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// Method and body.
    All,
    /// The method, without a body.
    Method,
    /// Neither: it becomes a GET.
    Nothing,
}

/// Whether an answer with this status sends its client somewhere else.
#[inline]
#[must_use]
pub fn is_redirect(status: u16) -> bool {
    REDIRECTS.contains(&status)
}

/// Writes into `out` the request that follows `request`, which was answered with the redirect `status` and this
/// Location. `cookies` are names and values that the redirect sets, for a user who keeps them: they replace those of
/// their name in the Cookie field; an empty value deletes.
///
/// A 303 and the 301 or 302 of a POST become a GET without a body, but a HEAD stays one; anything else keeps its method
/// and body.
///
/// # Errors
/// A Location that is not followed, or a request whose header section does not end.
pub(crate) fn redirected<'a, C>(
    request: &[u8],
    (status, location): (u16, &[u8]),
    origin: &Origin,
    cookies: C,
    out: &mut Vec<u8>,
) -> Result<(), Astray>
where
    C: Iterator<Item = (&'a str, &'a str)> + Clone,
{
    out.clear();
    let end = request.windows(4).position(|four| four == b"\r\n\r\n").ok_or(Astray::Request)?;
    let (head, body) = (&request[..end], &request[end + 4..]);
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut words = lines.next().unwrap_or_default().split(|byte| *byte == b' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Err(Astray::Request) };
    let kept = kept(status, method);
    out.extend_from_slice(if kept == Kept::Nothing { b"GET" } else { method });
    out.push(b' ');
    resolve(target, location, origin, out)?;
    out.extend_from_slice(b" HTTP/1.1\r\n");
    let sets_cookies = cookies.clone().next().is_some();
    let mut sent: &[u8] = b"";
    for line in lines {
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(line.len()));
        if sets_cookies && name.eq_ignore_ascii_case(b"cookie") {
            sent = value.get(1..).unwrap_or_default().trim_ascii();
        } else if kept == Kept::All || !is_of_body(name) {
            out.extend_from_slice(line);
            out.extend_from_slice(b"\r\n");
        }
    }
    if sets_cookies {
        push_cookies(sent, cookies, out);
    }
    out.extend_from_slice(b"\r\n");
    if kept == Kept::All {
        out.extend_from_slice(body);
    }
    Ok(())
}

fn kept(status: u16, method: &[u8]) -> Kept {
    match (status, method) {
        (303, b"HEAD") => Kept::Method,
        (303, _) | (301 | 302, b"POST") => Kept::Nothing,
        _ => Kept::All,
    }
}

/// The cookies that were sent, with those that were set since.
fn push_cookies<'a>(sent: &[u8], set: impl Iterator<Item = (&'a str, &'a str)> + Clone, out: &mut Vec<u8>) {
    let mut separator: &[u8] = b"Cookie: ";
    let mut push = |parts: &[&[u8]]| {
        out.extend_from_slice(separator);
        parts.iter().for_each(|part| out.extend_from_slice(part));
        separator = b"; ";
    };
    for pair in sent.split(|byte| *byte == b';').map(<[u8]>::trim_ascii).filter(|pair| !pair.is_empty()) {
        let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
        if !set.clone().any(|(set, _)| set.as_bytes() == name) {
            push(&[pair]);
        }
    }
    for (place, (name, value)) in set.clone().enumerate() {
        let is_last = !set.clone().skip(place + 1).any(|(later, _)| later == name);
        if is_last && !value.is_empty() {
            push(&[name.as_bytes(), b"=", value.as_bytes()]);
        }
    }
    if separator == b"; " {
        out.extend_from_slice(b"\r\n");
    }
}

/// Fields that describe a body, or how it is sent.
fn is_of_body(name: &[u8]) -> bool {
    let begins = |with: &[u8]| name.get(..with.len()).is_some_and(|part| part.eq_ignore_ascii_case(with));
    begins(b"content-")
        || [&b"transfer-encoding"[..], b"trailer", b"expect", b"digest"]
            .iter()
            .any(|of_body| name.eq_ignore_ascii_case(of_body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(request: &str, status: u16, location: &str, cookies: &[(&str, &str)]) -> Result<String, Astray> {
        let origin = Origin { is_https: false, host: "h".to_owned(), port: 80 };
        let mut out = b"rest of an earlier one".to_vec();
        let cookies = cookies.iter().copied();
        redirected(request.as_bytes(), (status, location.as_bytes()), &origin, cookies, &mut out)
            .map(|()| String::from_utf8(out).unwrap())
    }

    fn after(request: &str, status: u16, location: &str) -> Result<String, Astray> {
        with(request, status, location, &[])
    }

    #[test]
    fn methods_and_bodies_change_as_the_rfc_says() {
        let post = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Type: x\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nhi";
        let as_get = "GET /b HTTP/1.1\r\nHost: h\r\nX-A: 1\r\n\r\n";
        let as_post = post.replace("/a", "/b");
        for (status, expected) in
            [(301, as_get), (302, as_get), (303, as_get), (307, &as_post), (308, &as_post)]
        {
            assert_eq!(after(post, status, "/b").as_deref(), Ok(expected), "{status}");
        }
        let put = post.replace("POST", "PUT");
        assert_eq!(after(&put, 302, "b").unwrap(), put.replace("/a", "/b"));
        assert_eq!(after(&put, 303, "b").as_deref(), Ok(as_get));
        let head = "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n";
        for status in REDIRECTS {
            assert_eq!(after(head, status, "/b").unwrap(), head.replace("/a", "/b"), "{status}");
        }
        let chunked =
            "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n1\r\nx\r\n0\r\n\r\n";
        assert_eq!(after(chunked, 302, "?q").as_deref(), Ok("GET /a?q HTTP/1.1\r\n\r\n"));
        assert_eq!(after(chunked, 307, "?q").unwrap(), chunked.replace("/a", "/a?q"));
        for status in [200, 300, 304, 305, 306] {
            assert!(!is_redirect(status), "{status}");
        }
    }

    #[test]
    fn cookies_that_a_redirect_sets_are_sent_back() {
        let request = "GET /a HTTP/1.1\r\ncookie: a=1;c=3\r\nHost: h\r\n\r\n";
        let cookies = |set: &[(&str, &str)]| {
            let text = with(request, 302, "/b", set).unwrap();
            text.lines().find_map(|line| line.strip_prefix("Cookie: ").map(str::to_owned))
        };
        assert_eq!(cookies(&[("a", "2"), ("b", "4")]).as_deref(), Some("c=3; a=2; b=4"));
        assert_eq!(cookies(&[("a", "2"), ("a", "5")]).as_deref(), Some("c=3; a=5"));
        assert_eq!(cookies(&[("a", ""), ("c", "")]), None);
        assert_eq!(with(request, 302, "/b", &[]).unwrap(), request.replace("/a", "/b"));
        let bare = "GET /a HTTP/1.1\r\n\r\n";
        let sent = with(bare, 302, "/b", &[("a", "2")]);
        assert_eq!(sent.as_deref(), Ok("GET /b HTTP/1.1\r\nCookie: a=2\r\n\r\n"));
    }

    #[test]
    fn what_is_no_request_is_not_changed() {
        assert_eq!(after("GET / HTTP/1.1\r\n", 302, "/b"), Err(Astray::Request));
        assert_eq!(after("GET\r\n\r\n", 302, "/b"), Err(Astray::Request));
        assert_eq!(after("GET / HTTP/1.1\r\n\r\n", 302, "//evil/"), Err(Astray::Elsewhere));
    }
}
