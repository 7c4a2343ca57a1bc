//! The static table (RFC 7541 appendix A).

/// Fields of the static table; the dynamic table's indices begin behind them.
pub(super) const STATIC_FIELDS: u32 = FIELDS.len() as u32;

/// Names and values by index, of which the first is 1.
const FIELDS: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// The index of `:scheme` with `http`; `https` is the next.
pub(super) const SCHEME_HTTP: u8 = 6;

/// The field at `index`.
#[inline]
pub(super) fn field(index: u32) -> Option<(&'static [u8], &'static [u8])> {
    let at = (index as usize).checked_sub(1)?;
    FIELDS.get(at).map(|(name, value)| (name.as_bytes(), value.as_bytes()))
}

/// The index of a whole field.
pub(super) fn index_of(name: &[u8], value: &[u8]) -> Option<u8> {
    let at = FIELDS.iter().position(|field| field.0.as_bytes() == name && field.1.as_bytes() == value);
    // A field without a value stands for its name alone.
    at.filter(|_| !value.is_empty()).map(|at| at as u8 + 1)
}

/// The first index with this name.
pub(super) fn index_of_name(name: &[u8]) -> Option<u8> {
    FIELDS.iter().position(|field| field.0.as_bytes() == name).map(|at| at as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_those_of_the_standard() {
        assert_eq!(field(0), None);
        assert_eq!(field(1), Some((&b":authority"[..], &b""[..])));
        assert_eq!(field(u32::from(SCHEME_HTTP) + 1), Some((&b":scheme"[..], &b"https"[..])));
        assert_eq!(field(16), Some((&b"accept-encoding"[..], &b"gzip, deflate"[..])));
        assert_eq!(field(61), Some((&b"www-authenticate"[..], &b""[..])));
        assert_eq!(field(62), None);
        assert_eq!((index_of(b":status", b"404"), index_of(b":status", b"418")), (Some(13), None));
        assert_eq!(
            (index_of(b"via", b""), index_of_name(b"via"), index_of_name(b"x")),
            (None, Some(60), None)
        );
    }
}
