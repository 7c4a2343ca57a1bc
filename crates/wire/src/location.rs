//! Where an answer sends its client: a `Location` resolved against the request that it answers (RFC 3986 §5.2).
//!
//! Invariants: the result is a request target, or a reason; it begins with `/`, has visible ASCII only and no fragment,
//! so it can stand in a request line whatever the answer said; every input is bounded.
//! Absent on purpose: other origins than the request's own. Nobody has agreed to a load on them.

use std::net::Ipv6Addr;

/// Longest `Location` that is read, in bytes.
pub const LOCATION_BYTES_MAX: usize = 8 * 1024;

/// Scheme, host and port that all requests of a load go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Whether the scheme is https.
    pub is_https: bool,
    /// Name or address, without brackets.
    pub host: String,
    /// Port, also where it is the scheme's own.
    pub port: u16,
}

/// Why a redirect is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Astray {
    /// No Location field.
    #[error("a redirect without a Location")]
    Missing,
    /// Nothing in it.
    #[error("a redirect with an empty Location")]
    Empty,
    /// Several that differ: peers differ in which they believe.
    #[error("a redirect with several Locations")]
    Several,
    /// Longer than [`LOCATION_BYTES_MAX`].
    #[error("a redirect with a Location over 8 KiB")]
    TooLong,
    /// A line break or another control character.
    #[error("a redirect with a control character in its Location")]
    Control,
    /// No reference of RFC 3986, such as a port that is no number.
    #[error("a redirect with a Location that is no URL")]
    Unreadable,
    /// A user name: credentials are the user's to give.
    #[error("a redirect with a user name in its Location")]
    Login,
    /// Another scheme, host or port.
    #[error("a redirect to another origin")]
    Elsewhere,
    /// The request itself cannot be sent to another place: it is not one that the framing made.
    #[error("a redirect of a request that has no header section to change")]
    Request,
}

/// A reference without its fragment, taken apart.
struct Reference<'a> {
    /// Scheme, where there is one.
    scheme: Option<&'a [u8]>,
    /// What stands behind `//`.
    authority: Option<&'a [u8]>,
    path: &'a [u8],
    /// With its question mark; empty without.
    query: &'a [u8],
}

/// Appends to `out` the request target that `location` means in an answer to a request for `base`. Spaces and bytes
/// beyond ASCII are percent-encoded, as browsers do.
///
/// # Errors
/// A Location that cannot be followed; `out` then holds a part that must not be used.
pub(crate) fn resolve(
    base: &[u8],
    location: &[u8],
    origin: &Origin,
    out: &mut Vec<u8>,
) -> Result<(), Astray> {
    let location = location.trim_ascii();
    if location.is_empty() {
        return Err(Astray::Empty);
    }
    if location.len() > LOCATION_BYTES_MAX {
        return Err(Astray::TooLong);
    }
    if location.iter().any(u8::is_ascii_control) {
        return Err(Astray::Control);
    }
    let reference = Reference::of(location);
    if let Some(scheme) = reference.scheme {
        let own: &[u8] = if origin.is_https { b"https" } else { b"http" };
        if !scheme.eq_ignore_ascii_case(own) {
            return Err(Astray::Elsewhere);
        }
        if reference.authority.is_none() {
            return Err(Astray::Unreadable);
        }
    }
    if let Some(authority) = reference.authority {
        check_authority(authority, origin)?;
        push_target(b"", reference.path, reference.query, out);
        return Ok(());
    }
    let base = if base.starts_with(b"/") { &base[..position(base, b"#")] } else { b"/" };
    let (base_path, base_query) = base.split_at(position(base, b"?"));
    match (reference.path, reference.query) {
        (b"", b"") => push_target(b"", base_path, base_query, out),
        (b"", query) => push_target(b"", base_path, query, out),
        ([b'/', ..], query) => push_target(b"", reference.path, query, out),
        (path, query) => {
            let name = base_path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
            push_target(&base_path[..name], path, query, out);
        }
    }
    Ok(())
}

impl<'a> Reference<'a> {
    /// RFC 3986 appendix B; the fragment is dropped.
    fn of(text: &'a [u8]) -> Self {
        let text = &text[..position(text, b"#")];
        let (scheme, rest) = match position(text, b":/?") {
            colon if text.get(colon) == Some(&b':') && is_scheme(&text[..colon]) => {
                (Some(&text[..colon]), &text[colon + 1..])
            }
            _ => (None, text),
        };
        let (authority, rest) = match rest.strip_prefix(b"//") {
            Some(behind) => {
                let (authority, rest) = behind.split_at(position(behind, b"/?"));
                (Some(authority), rest)
            }
            None => (None, rest),
        };
        let (path, query) = rest.split_at(position(rest, b"?"));
        Self { scheme, authority, path, query }
    }
}

/// Where the first of `ends` stands, or the length.
fn position(text: &[u8], ends: &[u8]) -> usize {
    text.iter().position(|byte| ends.contains(byte)).unwrap_or(text.len())
}

fn is_scheme(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_alphabetic)
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
}

/// Whether an authority is the origin's.
fn check_authority(authority: &[u8], origin: &Origin) -> Result<(), Astray> {
    if authority.contains(&b'@') {
        return Err(Astray::Login);
    }
    let (host, port) = match authority.strip_prefix(b"[") {
        Some(literal) => {
            let (host, behind) = literal.split_at(position(literal, b"]"));
            (host, behind.strip_prefix(b"]").ok_or(Astray::Unreadable)?)
        }
        None => authority.split_at(position(authority, b":")),
    };
    let port = match port {
        b"" | b":" if origin.is_https => 443,
        b"" | b":" => 80,
        [b':', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).ok_or(Astray::Unreadable)?
        }
        _ => return Err(Astray::Unreadable),
    };
    if host.is_empty() {
        return Err(Astray::Unreadable);
    }
    if port == origin.port && is_host(host, &origin.host) { Ok(()) } else { Err(Astray::Elsewhere) }
}

/// Hosts are the same in any case, IPv6 addresses in any spelling.
fn is_host(host: &[u8], own: &str) -> bool {
    let address = |text: &str| text.parse::<Ipv6Addr>().ok();
    host.eq_ignore_ascii_case(own.as_bytes())
        || std::str::from_utf8(host)
            .is_ok_and(|host| address(host).is_some_and(|there| address(own) == Some(there)))
}

/// Appends the path `folder/path` without its dot segments (RFC 3986 §5.2.4), and the query.
fn push_target(folder: &[u8], path: &[u8], query: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    if let Some(folder) = folder.strip_prefix(b"/") {
        folder.split(|byte| *byte == b'/').for_each(|segment| push_segment(segment, false, begin, out));
    }
    let mut segments = path.strip_prefix(b"/").unwrap_or(path).split(|byte| *byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        push_segment(segment, segments.peek().is_none(), begin, out);
    }
    push_encoded(query, out);
}

fn push_segment(segment: &[u8], is_last: bool, begin: usize, out: &mut Vec<u8>) {
    if segment == b".." {
        let before = out[begin..].iter().rposition(|byte| *byte == b'/');
        out.truncate(begin + before.unwrap_or(0));
    }
    if segment != b".." && segment != b"." {
        out.push(b'/');
        push_encoded(segment, out);
    } else if is_last {
        out.push(b'/');
    }
}

/// What may not stand in a request line is percent-encoded.
fn push_encoded(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        if byte.is_ascii_graphic() {
            out.push(*byte);
        } else {
            let digit = |of: u8| b"0123456789ABCDEF"[usize::from(of)];
            out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 0xf)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(base: &str, location: &[u8]) -> Result<String, Astray> {
        let origin = Origin { is_https: false, host: "a".to_owned(), port: 80 };
        let mut out = Vec::new();
        resolve(base.as_bytes(), location, &origin, &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    /// RFC 3986 §5.4, as far as the references have no other origin.
    #[test]
    fn references_mean_what_the_rfc_says() {
        for (reference, target) in [
            ("g", "/b/c/g"),
            ("./g", "/b/c/g"),
            ("g/", "/b/c/g/"),
            ("/g", "/g"),
            ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"),
            ("#s", "/b/c/d;p?q"),
            ("g#s", "/b/c/g"),
            ("g?y#s", "/b/c/g?y"),
            (";x", "/b/c/;x"),
            ("g;x", "/b/c/g;x"),
            ("g;x?y#s", "/b/c/g;x?y"),
            (".", "/b/c/"),
            ("./", "/b/c/"),
            ("..", "/b/"),
            ("../", "/b/"),
            ("../g", "/b/g"),
            ("../..", "/"),
            ("../../", "/"),
            ("../../g", "/g"),
            ("../../../g", "/g"),
            ("../../../../g", "/g"),
            ("/./g", "/g"),
            ("/../g", "/g"),
            ("g.", "/b/c/g."),
            (".g", "/b/c/.g"),
            ("g..", "/b/c/g.."),
            ("..g", "/b/c/..g"),
            ("./../g", "/b/g"),
            ("./g/.", "/b/c/g/"),
            ("g/./h", "/b/c/g/h"),
            ("g/../h", "/b/c/h"),
            ("g;x=1/./y", "/b/c/g;x=1/y"),
            ("g;x=1/../y", "/b/c/y"),
            ("g?y/./x", "/b/c/g?y/./x"),
            ("g?y/../x", "/b/c/g?y/../x"),
            ("g#s/../x", "/b/c/g"),
            ("//a", "/"),
            ("//A:80/g", "/g"),
            ("http://a/b/../g?x", "/g?x"),
            ("HTTP://a?y", "/?y"),
            ("http://a:", "/"),
            ("a b\u{e4}", "/b/c/a%20b%C3%A4"),
            (" /g ", "/g"),
            ("/a//b", "/a//b"),
        ] {
            assert_eq!(at("/b/c/d;p?q", reference.as_bytes()).as_deref(), Ok(target), "{reference}");
        }
        assert_eq!(at("*", b"g").as_deref(), Ok("/g"));
        assert_eq!(at("/", b"?q").as_deref(), Ok("/?q"));
    }

    #[test]
    fn what_leads_elsewhere_or_nowhere_is_not_followed() {
        for (location, why) in [
            (&b""[..], Astray::Empty),
            (b" \t", Astray::Empty),
            (b"https://a/", Astray::Elsewhere),
            (b"http://b/", Astray::Elsewhere),
            (b"http://a:81/", Astray::Elsewhere),
            (b"//b/", Astray::Elsewhere),
            (b"//a.b/", Astray::Elsewhere),
            (b"ftp://a/", Astray::Elsewhere),
            (b"mailto:x", Astray::Elsewhere),
            (b"javascript:alert(1)", Astray::Elsewhere),
            (b"http:g", Astray::Unreadable),
            (b"http:/g", Astray::Unreadable),
            (b"http://", Astray::Unreadable),
            (b"///g", Astray::Unreadable),
            (b"//a:port/", Astray::Unreadable),
            (b"//a:99999/", Astray::Unreadable),
            (b"//[a/", Astray::Unreadable),
            (b"//u@a/", Astray::Login),
            (b"//a@b/", Astray::Login),
            (b"/x\r\nHost: evil", Astray::Control),
            (b"/\0", Astray::Control),
            (b"/\x7f", Astray::Control),
            (&[b'/'; LOCATION_BYTES_MAX + 1], Astray::TooLong),
        ] {
            assert_eq!(at("/", location), Err(why), "{}", String::from_utf8_lossy(location));
        }
        let origin = Origin { is_https: true, host: "::1".to_owned(), port: 443 };
        let to = |location: &str| resolve(b"/", location.as_bytes(), &origin, &mut Vec::new());
        assert_eq!(to("https://[0:0:0::1]/x"), Ok(()));
        assert_eq!(to("https://[::1]:443/x"), Ok(()));
        assert_eq!(to("https://[::2]/x"), Err(Astray::Elsewhere));
        assert_eq!(to("http://[::1]:443/x"), Err(Astray::Elsewhere));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_target_can_always_stand_in_a_request_line(
            base in "[*/]?[a-z/.?#:]{0,12}",
            location in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"/.?#:@[]ahtp ".to_vec())], 0..40),
        ) {
            let origin = Origin { is_https: false, host: "a".to_owned(), port: 80 };
            let mut out = b"GET ".to_vec();
            if resolve(base.as_bytes(), &location, &origin, &mut out).is_ok() {
                let target = &out[4..];
                prop_assert!(target.starts_with(b"/"), "{target:?}");
                prop_assert!(target.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'#'), "{target:?}");
                let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
                let dots = |segment: &[u8]| segment == b"." || segment == b"..";
                prop_assert!(!path.split(|byte| *byte == b'/').any(dots), "{target:?}");
            }
        }
    }
}
