//! Texts of requests: what is a template, and fields that are percent-encoded around their expressions.

use std::collections::BTreeMap;

/// Whether the text holds `${`, as an expression or escaped.
pub(super) fn is_template(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair == b"${")
}

/// The template that renders to exactly these bytes.
pub(super) fn literal(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for (place, byte) in bytes.iter().enumerate() {
        if *byte == b'$' && bytes.get(place + 1) == Some(&b'{') {
            out.push(b'$');
        }
        out.push(*byte);
    }
    out
}

/// A path with further query fields.
pub(super) fn with_query(path: &str, query: &BTreeMap<String, String>) -> String {
    if query.is_empty() {
        return path.to_owned();
    }
    let mark = match path.rsplit_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    format!("{path}{mark}{}", fields(query))
}

/// `name=value&…`, percent-encoded; what an expression gives is encoded when it is rendered.
pub(super) fn fields(fields: &BTreeMap<String, String>) -> String {
    let pairs: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    pairs.join("&")
}

fn encoded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("$${") {
            out += "%24%7B";
            rest = after;
        } else if let Some(length) = expression(rest) {
            out += &format!("${{urlencode({})}}", &rest[2..length - 1]);
            rest = &rest[length..];
        } else {
            let end = rest.char_indices().nth(1).map_or(rest.len(), |(end, _)| end);
            rest[..end].bytes().for_each(|byte| push_encoded(byte, &mut out));
            rest = &rest[end..];
        }
    }
    out
}

/// Length of the `${…}` that the text begins with; braces inside quotes do not end it.
fn expression(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("${")?;
    let mut quoted = false;
    let mut escaped = false;
    for (place, byte) in inner.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'}' if !quoted => return Some(place + 3),
            _ => {}
        }
    }
    None
}

/// RFC 3986: all but the unreserved characters.
fn push_encoded(byte: u8, out: &mut String) {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        out.push(char::from(byte));
    } else {
        *out += &format!("%{byte:02X}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_encoded_around_their_expressions() {
        let query = |value: &str| with_query("/p", &BTreeMap::from([("a b".to_owned(), value.to_owned())]));
        assert_eq!(query("x&y"), "/p?a%20b=x%26y");
        assert_eq!(query("é"), "/p?a%20b=%C3%A9");
        assert_eq!(query("n ${choose(\"}\", \"b\")}!"), "/p?a%20b=n%20${urlencode(choose(\"}\", \"b\"))}%21");
        assert_eq!(query("$${x}"), "/p?a%20b=%24%7Bx%7D");
        assert_eq!(query("${open"), "/p?a%20b=%24%7Bopen");
        assert_eq!(with_query("/p?q=1", &BTreeMap::from([("r".into(), "2".into())])), "/p?q=1&r=2");
    }

    #[test]
    fn a_literal_renders_to_itself() {
        assert_eq!(literal(b"a${b}$"), b"a$${b}$");
        assert!(is_template(b"x${y}") && !is_template(b"$ {"));
    }
}
