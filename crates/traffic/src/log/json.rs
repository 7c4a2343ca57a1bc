//! Lines that are JSON objects: nginx with `escape=json`, Caddy, and what log shippers make of them.
//!
//! Keys and their meaning (the first that is there counts; those of an inner `request` object count as well):
//!
//! | field | keys |
//! |---|---|
//! | time | `msec`, `time_iso8601`, `time_local`, `ts`, `time`, `timestamp`, `@timestamp` |
//! | client | `remote_addr`, `client_ip`, `remote_ip`, `client` |
//! | request line | `request` |
//! | method | `request_method`, `method` |
//! | target | `request_uri`, `uri`, `path`, `url` |
//! | status | `status`, `status_code` |
//! | bytes | `body_bytes_sent`, `bytes_sent`, `bytes`, `size` |
//! | time taken, in seconds | `request_time`, `duration` |
//! | media type of the request | `content_type`, `request_content_type` |
//! | body of the request, a text | `request_body` |
//!
//! Invariants: values without escapes are borrowed from the line; unknown keys are skipped, whatever they hold.

use super::time::{SECOND_NS, StampReader, epoch_ns, epoch_ns_of_f64, iso_ns, number};
use super::{LineKind, Record, hash, request_line};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A value as it stands in the line.
#[derive(Clone, Debug)]
enum Scalar<'a> {
    Text(Cow<'a, str>),
    Whole(u64),
    Float(f64),
    Object(Box<Fields<'a>>),
    Nothing,
}

/// The values that count.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields<'a> {
    time: Option<(u8, Scalar<'a>)>,
    client: Option<Scalar<'a>>,
    request: Option<Scalar<'a>>,
    method: Option<Scalar<'a>>,
    target: Option<Scalar<'a>>,
    status: Option<Scalar<'a>>,
    bytes: Option<Scalar<'a>>,
    request_time: Option<Scalar<'a>>,
    content_type: Option<Scalar<'a>>,
    body: Option<Scalar<'a>>,
}

/// Reads the object of a line; `None` where it is none.
pub(super) fn object(line: &[u8]) -> Option<Fields<'_>> {
    serde_json::from_slice(line).ok()
}

impl<'a> Fields<'a> {
    /// The record that the values make up.
    pub(super) fn line(&'a self, stamps: &mut StampReader) -> LineKind<'a> {
        self.record(stamps).unwrap_or(LineKind::Bad)
    }

    fn record(&'a self, stamps: &mut StampReader) -> Option<LineKind<'a>> {
        let time_ns = self.time.as_ref()?.1.time_ns(stamps)?;
        let status = self.status.as_ref()?.whole().filter(|status| (100..1000).contains(status))?;
        let inner = match &self.request {
            Some(Scalar::Object(inner)) => Some(inner),
            _ => None,
        };
        let pick = |own: fn(&Self) -> &Option<Scalar<'a>>| {
            own(self).as_ref().or_else(|| inner.and_then(|inner| own(inner).as_ref()))
        };
        let (method, target) = (pick(|f| &f.method), pick(|f| &f.target));
        let named = method.and_then(Scalar::text).zip(target.and_then(Scalar::text));
        let line = self.request.as_ref().and_then(Scalar::text);
        let Some((method, target)) = named.or_else(|| line.and_then(request_line)) else {
            let is_empty = line.is_some_and(|line| line.is_empty() || line == b"-");
            return is_empty.then_some(LineKind::NoRequest);
        };
        let Some(target) = super::origin_form(target) else { return Some(LineKind::NoRequest) };
        let client = pick(|f| &f.client).and_then(Scalar::text).map_or(0, hash);
        Some(LineKind::Record(Record {
            time_ns,
            client,
            method,
            target,
            status: status as u16,
            bytes: self.bytes.as_ref().and_then(Scalar::whole),
            request_ns: self.request_time.as_ref().and_then(Scalar::seconds_ns),
            content_type: self.content_type.as_ref().and_then(Scalar::text).filter(|text| !text.is_empty()),
            body: self.body.as_ref().and_then(Scalar::text),
            key: 0,
        }))
    }

    fn put(&mut self, key: &str, value: Scalar<'a>) {
        let time_rank = |rank| Some((rank, value.clone()));
        let place = match key {
            "msec" => return self.put_time(time_rank(0)),
            "time_iso8601" => return self.put_time(time_rank(1)),
            "time_local" => return self.put_time(time_rank(2)),
            "ts" => return self.put_time(time_rank(3)),
            "time" | "timestamp" | "@timestamp" => return self.put_time(time_rank(4)),
            "remote_addr" | "client_ip" | "remote_ip" | "client" => &mut self.client,
            "request" => &mut self.request,
            "request_method" | "method" => &mut self.method,
            "request_uri" | "uri" | "path" | "url" => &mut self.target,
            "status" | "status_code" => &mut self.status,
            "body_bytes_sent" | "bytes_sent" | "bytes" | "size" => &mut self.bytes,
            "content_type" | "request_content_type" => &mut self.content_type,
            "request_body" => &mut self.body,
            _ => &mut self.request_time,
        };
        if place.is_none() && !matches!(value, Scalar::Nothing) {
            *place = Some(value);
        }
    }

    fn put_time(&mut self, found: Option<(u8, Scalar<'a>)>) {
        let rank = |time: &Option<(u8, Scalar<'a>)>| time.as_ref().map_or(u8::MAX, |time| time.0);
        if rank(&found) < rank(&self.time) {
            self.time = found;
        }
    }
}

/// Whether a key is one of the table.
fn is_known(key: &str) -> bool {
    const TIMES: [&str; 7] = ["msec", "time_iso8601", "time_local", "ts", "time", "timestamp", "@timestamp"];
    const OTHERS: [&str; 22] = [
        "remote_addr",
        "client_ip",
        "remote_ip",
        "client",
        "request",
        "request_method",
        "method",
        "request_uri",
        "uri",
        "path",
        "url",
        "status",
        "status_code",
        "body_bytes_sent",
        "bytes_sent",
        "bytes",
        "size",
        "request_time",
        "duration",
        "content_type",
        "request_content_type",
        "request_body",
    ];
    TIMES.contains(&key) || OTHERS.contains(&key)
}

impl Scalar<'_> {
    fn text(&self) -> Option<&[u8]> {
        match self {
            Self::Text(text) => Some(text.as_bytes()),
            _ => None,
        }
    }

    fn whole(&self) -> Option<u64> {
        match self {
            Self::Whole(value) => Some(*value),
            Self::Float(value) if *value >= 0.0 && *value < 1e18 => Some(*value as u64),
            Self::Text(text) => number(text.as_bytes()),
            _ => None,
        }
    }

    fn time_ns(&self, stamps: &mut StampReader) -> Option<u64> {
        match self {
            Self::Text(text) => {
                let text = text.as_bytes();
                iso_ns(text).or_else(|| epoch_ns(text)).or_else(|| stamps.read(text))
            }
            Self::Whole(value) => epoch_ns_of_f64(*value as f64),
            Self::Float(value) => epoch_ns_of_f64(*value),
            Self::Object(_) | Self::Nothing => None,
        }
    }

    /// A length of time in seconds. nginx writes several, separated by commas, where it asked several servers.
    fn seconds_ns(&self) -> Option<u64> {
        let seconds = match self {
            Self::Float(value) => *value,
            Self::Whole(value) => *value as f64,
            Self::Text(text) => text.trim().parse().ok()?,
            Self::Object(_) | Self::Nothing => return None,
        };
        (0.0..1e9).contains(&seconds).then(|| (seconds * SECOND_NS as f64).round() as u64)
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields<'de>, M::Error> {
        let mut fields = Fields::default();
        while let Some(Key(key)) = map.next_key()? {
            if is_known(&key) {
                fields.put(&key, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }
}

/// A key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_str(ScalarVisitor)? {
            Scalar::Text(text) => Ok(Self(text)),
            _ => Err(serde::de::Error::custom("a key is a text")),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Whole(value))
    }
    fn visit_i64<E>(self, _: i64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Nothing)
    }
    fn visit_f64<E>(self, value: f64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Float(value))
    }
    fn visit_bool<E>(self, _: bool) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Nothing)
    }
    fn visit_unit<E>(self) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Nothing)
    }
    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Scalar<'de>, S::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }
    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Scalar<'de>, M::Error> {
        Ok(Scalar::Object(Box::new(FieldsVisitor.visit_map(map)?)))
    }
}
