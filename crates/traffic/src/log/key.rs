//! What tells the sessions of a log apart: a cookie, a header field, a query parameter, a named field, or the client.
//!
//! Invariants: a value is only hashed, never kept (it may be a secret); an empty one, and the `-` of access logs, is no
//! value; the same value has the same number in every run.

use super::text::quoted_fields;
use super::{Format, Record, hash};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// Where the identifier of a session stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionKey {
    /// The client's address.
    Client,
    /// A cookie, by its name.
    Cookie(String),
    /// A header field of the request, by its name in any case.
    Header(String),
    /// A parameter of the query.
    Query(String),
    /// A key of a JSON line (of an inner object as `a.b`), or a column of a CSV file.
    Field(String),
}

/// A text that names no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no key of sessions; write client, cookie:NAME, header:NAME, query:NAME or field:NAME")]
pub struct UnknownKey(String);

impl FromStr for SessionKey {
    type Err = UnknownKey;
    fn from_str(text: &str) -> Result<Self, UnknownKey> {
        let unknown = || UnknownKey(text.chars().filter(|c| !c.is_control()).take(80).collect());
        if text == "client" {
            return Ok(Self::Client);
        }
        let (kind, name) = text.split_once(':').ok_or_else(unknown)?;
        if name.trim().is_empty() {
            return Err(unknown());
        }
        let name = name.trim().to_owned();
        match kind {
            "cookie" => Ok(Self::Cookie(name)),
            "header" => Ok(Self::Header(name)),
            "query" => Ok(Self::Query(name)),
            "field" => Ok(Self::Field(name)),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client => f.write_str("client"),
            Self::Cookie(name) => write!(f, "cookie:{name}"),
            Self::Header(name) => write!(f, "header:{name}"),
            Self::Query(name) => write!(f, "query:{name}"),
            Self::Field(name) => write!(f, "field:{name}"),
        }
    }
}

impl SessionKey {
    /// Why no line of a format can have it.
    pub(super) fn impossible_in(&self, format: Format) -> Option<&'static str> {
        match (self, format) {
            (Self::Field(_), Format::Common | Format::Combined) => Some("its lines have no named fields"),
            (Self::Header(_) | Self::Cookie(_), Format::Common) => Some("its lines have no header fields"),
            (Self::Header(name), Format::Combined) if agent_or_referrer(name).is_none() => {
                Some("of the header fields its lines have Referer and User-Agent only")
            }
            _ => None,
        }
    }

    /// Of a line of the common or combined format; cookies may stand in quotes behind the agent.
    pub(super) fn of_text(&self, line: &[u8], record: &Record<'_>) -> u64 {
        match self {
            Self::Cookie(name) => {
                number(quoted_fields(line).skip(3).find_map(|field| cookie(field, name.as_bytes())))
            }
            Self::Header(name) => {
                let place = agent_or_referrer(name);
                number(place.and_then(|place| quoted_fields(line).nth(place)))
            }
            _ => self.of_record(record),
        }
    }

    /// What every format has.
    pub(super) fn of_record(&self, record: &Record<'_>) -> u64 {
        match self {
            Self::Client => record.client,
            Self::Query(name) => number(parameter(record.target, name.as_bytes())),
            _ => 0,
        }
    }

    /// Whether a line of JSON must be read as a whole for it.
    pub(super) const fn needs_object(&self) -> bool {
        matches!(self, Self::Cookie(_) | Self::Header(_) | Self::Field(_))
    }

    /// Of a JSON object.
    pub(super) fn of_object(&self, object: &Value) -> u64 {
        match self {
            Self::Field(name) => {
                let plain = object.get(name);
                let inner = || name.split('.').try_fold(object, |value, part| value.get(part));
                match plain.or_else(inner) {
                    Some(Value::String(text)) => number(Some(text.as_bytes())),
                    Some(Value::Number(found)) => number(Some(found.to_string().as_bytes())),
                    _ => 0,
                }
            }
            Self::Header(name) => number(header(object, name).map(str::as_bytes)),
            Self::Cookie(name) => {
                let own = object.get(format!("cookie_{name}")).and_then(Value::as_str).map(str::as_bytes);
                let all = || {
                    let text =
                        header(object, "cookie").or_else(|| object.get("cookie").and_then(Value::as_str));
                    let named = || {
                        object.get("cookies").and_then(|cookies| cookies.get(name)).and_then(Value::as_str)
                    };
                    text.and_then(|text| cookie(text.as_bytes(), name.as_bytes()))
                        .or_else(|| named().map(str::as_bytes))
                };
                number(own.or_else(all))
            }
            Self::Client | Self::Query(_) => 0,
        }
    }

    /// The column of a CSV file that has it, and whether it holds all cookies.
    pub(super) fn column(&self, names: &[String]) -> Option<(usize, bool)> {
        let at = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        match self {
            Self::Field(name) => at(name).map(|place| (place, false)),
            Self::Header(name) => {
                let variable = format!("http_{}", name.replace('-', "_"));
                at(name).or_else(|| at(&variable)).map(|place| (place, false))
            }
            Self::Cookie(name) => {
                let own = at(&format!("cookie_{name}")).map(|place| (place, false));
                own.or_else(|| at("http_cookie").or_else(|| at("cookie")).map(|place| (place, true)))
            }
            Self::Client | Self::Query(_) => None,
        }
    }

    /// Of the field in that column.
    pub(super) fn of_column(&self, field: &[u8], is_all_cookies: bool) -> u64 {
        match self {
            Self::Cookie(name) if is_all_cookies => number(cookie(field, name.as_bytes())),
            _ => number(Some(field)),
        }
    }
}

/// Which of the quoted fields of a combined line.
fn agent_or_referrer(name: &str) -> Option<usize> {
    match name.to_ascii_lowercase().as_str() {
        "referer" => Some(1),
        "user-agent" => Some(2),
        _ => None,
    }
}

/// A value as a number above 0; 0 for none.
fn number(value: Option<&[u8]>) -> u64 {
    match value {
        None | Some(b"" | b"-") => 0,
        Some(value) => hash(value).max(1),
    }
}

/// A header field of a JSON line: nginx's `http_x_y`, or a member of an object of fields, as Caddy has them.
fn header<'v>(object: &'v Value, name: &str) -> Option<&'v str> {
    let variable = format!("http_{}", name.to_ascii_lowercase().replace('-', "_"));
    if let Some(text) = object.get(variable).and_then(Value::as_str) {
        return Some(text);
    }
    let places = [object.get("headers"), object.get("request_headers"), object.pointer("/request/headers")];
    places.into_iter().flatten().filter_map(Value::as_object).find_map(|fields| {
        let (_, value) = fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        value.as_str().or_else(|| value.get(0).and_then(Value::as_str))
    })
}

/// A cookie's value in the text of a `Cookie` field.
fn cookie<'t>(text: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    text.split(|byte| *byte == b';').find_map(|pair| {
        let pair = pair.trim_ascii();
        pair.strip_prefix(name)?.strip_prefix(b"=")
    })
}

/// A parameter's value in the query of a target.
fn parameter<'t>(target: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let query = &target[memchr::memchr(b'?', target)? + 1..];
    let query = query.split(|byte| *byte == b'#').next()?;
    query.split(|byte| *byte == b'&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix(b"="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_written() {
        for text in ["client", "cookie:sid", "header:X-User", "query:uid", "field:user.id"] {
            assert_eq!(text.parse::<SessionKey>().unwrap().to_string(), text);
        }
        for text in ["", "cookie", "cookie:", "body:x", "sid"] {
            assert!(text.parse::<SessionKey>().unwrap_err().to_string().contains("cookie:NAME"), "{text}");
        }
    }

    #[test]
    fn values_are_found_where_logs_have_them() {
        assert_eq!(cookie(b"a=1; sid=x=y;b=2", b"sid"), Some(&b"x=y"[..]));
        assert_eq!(cookie(b"xsid=1", b"sid"), None);
        assert_eq!(parameter(b"/a?uid=7&x=1#uid=9", b"uid"), Some(&b"7"[..]));
        assert_eq!(parameter(b"/a?uuid=7", b"uid"), None);
        let of = |key: &str, json: &str| {
            key.parse::<SessionKey>().unwrap().of_object(&serde_json::from_str(json).unwrap())
        };
        let seven = hash(b"7");
        for (key, json) in [
            ("field:user", r#"{"user":"7"}"#),
            ("field:user", r#"{"user":7}"#),
            ("field:a.b", r#"{"a":{"b":"7"}}"#),
            ("field:a.b", r#"{"a.b":"7"}"#),
            ("header:X-User", r#"{"http_x_user":"7"}"#),
            ("header:x-user", r#"{"request":{"headers":{"X-User":["7"]}}}"#),
            ("header:x-user", r#"{"headers":{"X-User":"7"}}"#),
            ("cookie:sid", r#"{"cookie_sid":"7"}"#),
            ("cookie:sid", r#"{"http_cookie":"a=1; sid=7"}"#),
            ("cookie:sid", r#"{"request":{"headers":{"Cookie":["sid=7"]}}}"#),
            ("cookie:sid", r#"{"cookies":{"sid":"7"}}"#),
        ] {
            assert_eq!(of(key, json), seven, "{key} {json}");
        }
        for (key, json) in [
            ("field:user", r#"{"user":""}"#),
            ("field:user", r#"{"user":"-"}"#),
            ("field:user", r#"{"user":{"a":1}}"#),
            ("field:user", "[1]"),
            ("header:a", "{}"),
            ("cookie:sid", r#"{"http_cookie":"sid="}"#),
        ] {
            assert_eq!(of(key, json), 0, "{key} {json}");
        }
    }
}
