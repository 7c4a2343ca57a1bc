//! Lines of fields whose names stand in the first line: CSV, and event logs by tabs, semicolons or bars.
//!
//! Columns have the names of the table of [`super::json`], in any case, and also `datetime`, `event_time` (time), `page`
//! (target). Time and target are needed; without a method it is GET, without a status none is known.
//!
//! Invariants: a line costs no allocation once the first was read; fields may be quoted (RFC 4180), but hold no line
//! end; a quote within a field is kept doubled.

use super::key::SessionKey;
use super::time::{SECOND_NS, StampReader, epoch_ns, iso_ns, number};
use super::{LineKind, Record, hash, is_method, origin_form, request_line};

/// Separators that are tried.
const SEPARATORS: [u8; 4] = [b'\t', b';', b'|', b','];
/// Most columns.
const COLUMNS_MAX: usize = 1000;

const TIME: [&str; 9] =
    ["msec", "time_iso8601", "time_local", "ts", "time", "timestamp", "@timestamp", "datetime", "event_time"];
const CLIENT: [&str; 4] = ["remote_addr", "client_ip", "remote_ip", "client"];
const METHOD: [&str; 2] = ["request_method", "method"];
const TARGET: [&str; 5] = ["request_uri", "uri", "path", "url", "page"];
const STATUS: [&str; 2] = ["status", "status_code"];
const BYTES: [&str; 4] = ["body_bytes_sent", "bytes_sent", "bytes", "size"];
const REQUEST_TIME: [&str; 2] = ["request_time", "duration"];

/// The columns of a file.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    separator: u8,
    time: usize,
    client: Option<usize>,
    request: Option<usize>,
    method: Option<usize>,
    target: Option<usize>,
    status: Option<usize>,
    bytes: Option<usize>,
    request_time: Option<usize>,
    /// Of the key, and whether it holds all cookies.
    key: Option<(usize, bool)>,
    /// Places of the fields of the line that is read.
    fields: Vec<(usize, usize)>,
}

impl Columns {
    /// Reads the first line; `None` where it names no time and no target.
    pub(super) fn of(line: &[u8], key: Option<&SessionKey>) -> Option<Self> {
        SEPARATORS.into_iter().find_map(|separator| Self::separated(line, separator, key))
    }

    fn separated(line: &[u8], separator: u8, key: Option<&SessionKey>) -> Option<Self> {
        let mut fields = Vec::new();
        split(line, separator, &mut fields).then_some(())?;
        let name = |(from, to): &(usize, usize)| {
            Some(std::str::from_utf8(&line[*from..*to]).ok()?.trim().to_owned())
        };
        let names: Vec<String> = fields.iter().map(name).collect::<Option<_>>()?;
        let at = |wanted: &[&str]| {
            wanted.iter().find_map(|wanted| names.iter().position(|name| name.eq_ignore_ascii_case(wanted)))
        };
        let (request, target) = (at(&["request"]), at(&TARGET));
        if request.is_none() && target.is_none() {
            return None;
        }
        Some(Self {
            separator,
            time: at(&TIME)?,
            client: at(&CLIENT),
            request,
            method: at(&METHOD),
            target,
            status: at(&STATUS),
            bytes: at(&BYTES),
            request_time: at(&REQUEST_TIME),
            key: key.and_then(|key| key.column(&names)),
            fields,
        })
    }

    /// Whether there is a column of the key.
    pub(super) const fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Reads a line.
    pub(super) fn line<'l>(
        &mut self,
        line: &'l [u8],
        key: Option<&SessionKey>,
        stamps: &mut StampReader,
    ) -> LineKind<'l> {
        self.record(line, key, stamps).unwrap_or(LineKind::Bad)
    }

    fn record<'l>(
        &mut self,
        line: &'l [u8],
        key: Option<&SessionKey>,
        stamps: &mut StampReader,
    ) -> Option<LineKind<'l>> {
        split(line, self.separator, &mut self.fields).then_some(())?;
        let field = |place: usize| self.fields.get(place).map(|(from, to)| line[*from..*to].trim_ascii());
        // A field that is there but empty has no value; a line that ends before it is none of the file's.
        let given = |column: Option<usize>| match column {
            None => Some(None),
            Some(place) => field(place).map(|text| Some(text).filter(|text| !matches!(*text, b"" | b"-"))),
        };
        let time = field(self.time)?;
        let time_ns = iso_ns(time).or_else(|| epoch_ns(time)).or_else(|| stamps.read(time))?;
        let status = match given(self.status)? {
            None => 0,
            Some(text) => number(text).filter(|status| (100..1000).contains(status))?,
        };
        let (method, target) = match (given(self.target)?, given(self.request)?) {
            (Some(target), _) => {
                let method = given(self.method)?.unwrap_or(b"GET");
                is_method(method).then_some(())?;
                match origin_form(target) {
                    Some(target) => (method, target),
                    None => return Some(LineKind::NoRequest),
                }
            }
            (None, Some(request)) => match request_line(request) {
                Some(found) => found,
                None => return Some(LineKind::NoRequest),
            },
            (None, None) => return Some(LineKind::NoRequest),
        };
        let bytes = match given(self.bytes)? {
            None => None,
            Some(text) => Some(number(text)?),
        };
        let mut record = Record {
            time_ns,
            client: given(self.client)?.map_or(0, hash),
            method,
            target,
            status: status as u16,
            bytes,
            request_ns: given(self.request_time)?.and_then(seconds_ns),
            content_type: None,
            body: None,
            key: 0,
        };
        if let Some(key) = key {
            record.key = match self.key {
                Some((place, is_all)) => key.of_column(field(place)?, is_all),
                None => key.of_record(&record),
            };
        }
        Some(LineKind::Record(record))
    }
}

fn seconds_ns(text: &[u8]) -> Option<u64> {
    let seconds: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (0.0..1e9).contains(&seconds).then(|| (seconds * SECOND_NS as f64).round() as u64)
}

/// Puts the places of a line's fields into `fields`; false where a quote does not end, or there are too many.
fn split(line: &[u8], separator: u8, fields: &mut Vec<(usize, usize)>) -> bool {
    fields.clear();
    let mut at = 0;
    loop {
        if fields.len() == COLUMNS_MAX {
            return false;
        }
        let end = if line.get(at) == Some(&b'"') {
            let Some(quote) = closing_quote(line, at + 1) else { return false };
            fields.push((at + 1, quote));
            match line.get(quote + 1) {
                None => return true,
                Some(next) if *next == separator => quote + 1,
                Some(_) => return false,
            }
        } else {
            let end = memchr::memchr(separator, &line[at..]).map_or(line.len(), |length| at + length);
            fields.push((at, end));
            if end == line.len() {
                return true;
            }
            end
        };
        at = end + 1;
        if at == line.len() {
            fields.push((at, at));
            return fields.len() <= COLUMNS_MAX;
        }
    }
}

/// The quote that ends a field; two in a row stand for one within it.
fn closing_quote(line: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let quote = from + memchr::memchr(b'"', &line[from..])?;
        if line.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        from = quote + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str, separator: u8) -> Option<Vec<&str>> {
        let mut places = Vec::new();
        split(line.as_bytes(), separator, &mut places)
            .then(|| places.iter().map(|(a, b)| &line[*a..*b]).collect())
    }

    #[test]
    fn fields_are_split_at_separators_outside_of_quotes() {
        assert_eq!(fields("a,b", b','), Some(vec!["a", "b"]));
        assert_eq!(fields("\"a,b\",\"c\"\"d\",", b','), Some(vec!["a,b", "c\"\"d", ""]));
        assert_eq!(fields("", b','), Some(vec![""]));
        assert_eq!(fields("\"a", b','), None);
        assert_eq!(fields("\"a\"b,c", b','), None);
        assert_eq!(fields(&",".repeat(COLUMNS_MAX), b','), None);
    }

    #[test]
    fn lines_are_read_by_the_names_of_the_first() {
        let key = SessionKey::Field("User".to_owned());
        let mut columns = Columns::of(b"Timestamp;user;page;status;duration", Some(&key)).unwrap();
        let mut stamps = StampReader::default();
        let mut read = |line: &str| match columns.line(line.as_bytes(), Some(&key), &mut stamps) {
            LineKind::Record(r) => {
                format!("{} {} {} {:?}", r.time_ns, r.status, r.key == hash(b"7"), r.request_ns)
            }
            other => format!("{other:?}"),
        };
        assert_eq!(read("1795219200.5;7;/a;200;0.25"), "1795219200500000000 200 true Some(250000000)");
        assert_eq!(read("2026-11-21 00:00:00;7;/a;;"), "1795219200000000000 0 true None");
        assert_eq!(read("1795219200;8;checkout;200;1"), "NoRequest");
        for bad in [
            "1795219200;7;/a;99;1",
            "never;7;/a;200;1",
            "1795219200;7;/a",
            "\"1795219200;7;/a;200;1",
            "\u{1}",
        ] {
            assert_eq!(read(bad), "Bad", "{bad}");
        }
        assert!(Columns::of(b"user,page", None).is_none() && Columns::of(b"time,user", None).is_none());
    }
}
