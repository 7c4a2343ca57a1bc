//! Paths without what varies: `/users/17/orders/3f2a…?page=2` is of the route `/users/{id}/orders/{hex}`.
//!
//! Invariants: the same path always has the same route; a route is at most [`ROUTE_BYTES_MAX`] bytes of text.

/// Longest route; the rest is cut and marked.
const ROUTE_BYTES_MAX: usize = 256;
/// Shortest segment that counts as a hexadecimal key; it must hold a digit.
const HEX_MIN: usize = 8;

/// Puts the route of `target` into `route`: the path with segments of digits as `{id}`, UUIDs as `{uuid}` and
/// hexadecimal keys as `{hex}`, without its query.
pub(crate) fn of(target: &[u8], route: &mut Vec<u8>) {
    route.clear();
    let path = target.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or(target);
    for segment in path.strip_prefix(b"/").unwrap_or(path).split(|byte| *byte == b'/') {
        let (name, ending) = split_ending(segment);
        route.push(b'/');
        match placeholder(name) {
            Some(word) => {
                route.extend_from_slice(word);
                route.extend_from_slice(ending);
            }
            None => route.extend_from_slice(segment),
        }
        if route.len() > ROUTE_BYTES_MAX {
            route.truncate(ROUTE_BYTES_MAX);
            route.extend_from_slice("…".as_bytes());
            return;
        }
    }
}

/// A short ending such as `.json` or `.png` is no part of a key.
fn split_ending(segment: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'.', segment) {
        Some(dot)
            if dot > 0 && segment.len() - dot <= 6 && !segment[dot + 1..].iter().all(u8::is_ascii_digit) =>
        {
            segment.split_at(dot)
        }
        _ => (segment, b""),
    }
}

fn placeholder(name: &[u8]) -> Option<&'static [u8]> {
    if name.is_empty() {
        return None;
    }
    if name.iter().all(u8::is_ascii_digit) {
        return Some(b"{id}");
    }
    if is_uuid(name) {
        return Some(b"{uuid}");
    }
    let is_hex = name.len() >= HEX_MIN
        && name.iter().all(u8::is_ascii_hexdigit)
        && name.iter().any(u8::is_ascii_digit);
    is_hex.then_some(b"{hex}")
}

fn is_uuid(name: &[u8]) -> bool {
    name.len() == 36
        && name.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    fn check(target: &str, wanted: &str) {
        let mut route = Vec::new();
        super::of(target.as_bytes(), &mut route);
        assert_eq!(String::from_utf8(route).unwrap(), wanted, "{target}");
    }

    #[test]
    fn what_varies_becomes_a_placeholder() {
        check("/", "/");
        check("/users/17/orders/3f2a99bc?page=2", "/users/{id}/orders/{hex}");
        check("/u/123e4567-e89b-12d3-a456-426614174000/", "/u/{uuid}/");
        check("/img/17.png", "/img/{id}.png");
        check("/v1.2/facade/deadbeef/v2", "/v1.2/facade/deadbeef/v2");
        check("/1.5/x", "/1.5/x");
        check("/a#b/1", "/a");
        check("//", "//");
        let long = format!("/{}", "x".repeat(999));
        check(&long, &format!("{}…", &long[..256]));
    }
}
