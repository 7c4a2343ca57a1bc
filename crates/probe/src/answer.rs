//! A whole answer.

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The final status, 200 to 999.
    pub status: u16,
    /// In the order in which they came: names in lower case; bytes of values that are no UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
    /// Decoded from its framing.
    pub body: Vec<u8>,
    /// Fields after the body, of HTTP/2 alone.
    pub trailers: Vec<(String, String)>,
}
