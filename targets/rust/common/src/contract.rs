//! The contract of all targets: the envelope, the rules for parameters, and the records of `/json/{n}`.
//!
//! Records are built for each request. A text is plain decimal when it has digits only and no leading 0,
//! which the parsers of all languages can agree on.
use std::borrow::Cow;

use http::StatusCode;
use serde::Serialize;

/// Users of the table.
const USER_COUNT: u64 = 100_000;
/// Records of `/json/1`.
const RECORDS_PER_COUNT: u64 = 8;

/// The envelope of every answer.
#[derive(Debug, Serialize)]
pub struct Answer<T> {
    /// 0, or the HTTP status of an error.
    code: u16,
    msg: Cow<'static, str>,
    data: T,
}

impl<T> Answer<T> {
    /// A good answer.
    pub const fn ok(data: T) -> Self {
        Self { code: 0, msg: Cow::Borrowed("ok"), data }
    }
}

/// `{}`, the data of `/ping` and of every error.
#[derive(Debug, Serialize)]
pub struct Empty {}

/// An error that is reported to the client.
#[derive(Debug, thiserror::Error)]
#[error("{msg}")]
pub struct Failure {
    status: StatusCode,
    msg: Cow<'static, str>,
}

impl Failure {
    /// `status` is from 400 on.
    pub fn new(status: StatusCode, msg: impl Into<Cow<'static, str>>) -> Self {
        Self { status, msg: msg.into() }
    }

    /// Status 400.
    pub fn bad_request(msg: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, msg)
    }

    /// Status of the answer.
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The answer itself.
    pub fn into_answer(self) -> Answer<Empty> {
        Answer { code: self.status.as_u16(), msg: self.msg, data: Empty {} }
    }
}

/// The whole answer of `/health`.
#[derive(Debug, Serialize)]
pub struct Health {
    /// `ok`, or what is waited for.
    pub status: Cow<'static, str>,
}

impl Health {
    /// Ready.
    pub const OK: Self = Self { status: Cow::Borrowed("ok") };
}

/// The data of `/auth`.
#[derive(Debug, Serialize)]
pub struct Subject {
    /// Subject of the token.
    pub sub: String,
}

/// The data of `/middleware/{k}`.
#[derive(Debug, Serialize)]
pub struct Layers {
    /// From 0 to 3.
    pub layers: u8,
}

/// One element of `/json/{n}`.
#[derive(Debug, Serialize)]
pub struct Record {
    id: u64,
    name: String,
    email: String,
    age: u64,
    active: bool,
    score: f64,
    tags: [&'static str; 3],
}

impl Record {
    fn new(id: u64) -> Self {
        let mut tags = ["alpha", "beta", "gamma"];
        tags.rotate_left((id % 3) as usize);
        Self {
            id,
            name: format!("user-{id:06}"),
            email: format!("user-{id:06}@example.com"),
            age: 18 + 7 * id % 50,
            active: id.is_multiple_of(2),
            score: 1.5 * id as f64,
            tags,
        }
    }
}

/// The data of `/json/{n}`: records 1 to 8n.
pub fn records(n: u64) -> Vec<Record> {
    (1..=RECORDS_PER_COUNT * n).map(Record::new).collect()
}

/// Reads n of `/json/{n}`.
///
/// # Errors
/// Status 400 where it is no plain decimal number from 1 to 1000.
pub fn parse_count(text: &str) -> Result<u64, Failure> {
    let count = plain_decimal(text).filter(|n| (1..=1000).contains(n));
    count.ok_or_else(|| Failure::bad_request("n must be a plain decimal number from 1 to 1000"))
}

/// Reads the id of a user. What is larger than the type is read as the largest, which no user has.
///
/// # Errors
/// Status 400 where it is no plain decimal number.
pub fn parse_id(text: &str) -> Result<u64, Failure> {
    plain_decimal(text).ok_or_else(|| Failure::bad_request("id must be a plain decimal number"))
}

/// Reads how many users `/db/{id}` is asked for.
///
/// # Errors
/// Status 400 where it is no plain decimal number from 1 to 20.
pub fn parse_queries(text: &str) -> Result<u64, Failure> {
    let queries = plain_decimal(text).filter(|q| (1..=20).contains(q));
    queries.ok_or_else(|| Failure::bad_request("queries must be a plain decimal number from 1 to 20"))
}

/// Reads k of `/middleware/{k}`.
///
/// # Errors
/// Status 400 where it is no plain decimal number from 0 to 3.
pub fn parse_layers(text: &str) -> Result<u8, Failure> {
    let layers = plain_decimal(text).filter(|k| *k <= 3).and_then(|k| u8::try_from(k).ok());
    layers.ok_or_else(|| Failure::bad_request("k must be a plain decimal number from 0 to 3"))
}

/// Whether `key` may be asked of the cache.
///
/// # Errors
/// Status 400 where it is not 1 to 64 of `a-z A-Z 0-9 _ -`.
pub fn check_key(key: &str) -> Result<(), Failure> {
    let good = key.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-');
    if good && (1..=64).contains(&key.len()) {
        return Ok(());
    }
    Err(Failure::bad_request("key must be 1 to 64 of a-z A-Z 0-9 _ -"))
}

/// The id after `id`: 1 comes after the last user.
pub const fn next_id(id: u64) -> u64 {
    if id == USER_COUNT { 1 } else { id.saturating_add(1) }
}

fn plain_decimal(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if !digits || (text.starts_with('0') && text != "0") {
        return None;
    }
    Some(text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_plain_decimal_numbers_in_range() {
        let cases = [
            ("1", Some(1)),
            ("1000", Some(1000)),
            ("0", None),
            ("1001", None),
            ("01", None),
            ("+1", None),
            ("-1", None),
            ("1.0", None),
            ("", None),
            ("x", None),
            ("١", None),
            ("99999999999999999999999", None),
        ];
        for (text, want) in cases {
            assert_eq!(parse_count(text).ok(), want, "{text:?}");
        }
    }

    #[test]
    fn ids_of_any_size_are_numbers() {
        assert_eq!(parse_id("0").ok(), Some(0));
        assert_eq!(parse_id("99999999999999999999999").ok(), Some(u64::MAX));
        assert_eq!(parse_id("7x").unwrap_err().status(), StatusCode::BAD_REQUEST);
    }

    #[test]
    fn ids_wrap_after_the_last_user() {
        assert_eq!([next_id(99_999), next_id(100_000), next_id(u64::MAX)], [100_000, 1, u64::MAX]);
    }

    #[test]
    fn keys_have_a_length_and_an_alphabet() {
        for (key, good) in
            [("a_B-9", true), ("", false), ("a b", false), ("ä", false), (&"k".repeat(65), false)]
        {
            assert_eq!(check_key(key).is_ok(), good, "{key:?}");
        }
    }

    #[test]
    fn a_failure_has_its_status_as_code_and_no_data() {
        let answer = serde_json::to_string(&Failure::bad_request("no").into_answer()).unwrap();
        assert_eq!(answer, r#"{"code":400,"msg":"no","data":{}}"#);
    }
}
