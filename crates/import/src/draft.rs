//! One request as a foreign file has it, before origins are compared and equal ones are merged.

use crate::error::{Problem, quoted};
use schema::scenario::Part;
use std::borrow::Cow;
use units::Nanos;

/// One request.
#[derive(Debug, Default)]
pub(crate) struct Draft<'a> {
    pub(crate) method: Cow<'a, str>,
    /// With scheme and host.
    pub(crate) url: Cow<'a, str>,
    pub(crate) headers: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pub(crate) body: Body<'a>,
    pub(crate) timeout: Option<Nanos>,
    /// Session only: the pause before it.
    pub(crate) think: Option<Nanos>,
}

#[derive(Debug, Default)]
pub(crate) enum Body<'a> {
    #[default]
    None,
    Text(Cow<'a, str>),
    Bytes(Vec<u8>),
    /// A file beside the foreign one.
    File(String),
    Parts(Vec<Part>),
}

impl Body<'_> {
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text.into()),
            Err(error) => Self::Bytes(error.into_bytes()),
        }
    }
}

impl<'a> Draft<'a> {
    /// The first field of this name, in any case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_ref())
    }

    /// Adds a field unless there is one of this name.
    pub(crate) fn header_default(&mut self, name: &'static str, value: impl Into<Cow<'a, str>>) {
        if self.header(name).is_none() {
            self.headers.push((name.into(), value.into()));
        }
    }
}

/// A method is a token (RFC 9110 §9.1).
pub(crate) fn check_method(method: &str) -> Result<(), Problem> {
    if http::Method::from_bytes(method.as_bytes()).is_ok() {
        return Ok(());
    }
    Err(Problem::new(
        format!("{} is no method", quoted(method)),
        "write one such as GET, POST or DELETE, letters without spaces",
    ))
}

/// Names are tokens, values have no control characters (RFC 9110 §5).
pub(crate) fn check_header(name: &str, value: &str) -> Result<(), Problem> {
    if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
        return Err(Problem::new(
            format!("{} is no name of a header field", quoted(name)),
            "write letters, digits and `-`, for example `X-Request-Id`",
        ));
    }
    if http::HeaderValue::from_bytes(value.as_bytes()).is_err() {
        return Err(Problem::new(
            format!("the value of header field {name} has control characters: {}", quoted(value)),
            "remove line ends and control characters from it",
        ));
    }
    Ok(())
}
