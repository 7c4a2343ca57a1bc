//! An answer while it comes in, and the judgement of its size.
//!
//! Invariants: no more of a body is kept than the limit; where a body ends is `wire`'s business, so a header is
//! consulted here only once `wire` shows, or waits for, a body.

use crate::{Answer, ProbeError, Stage};
use wire::{Header, Visit};

/// Characters shown of a foreign transfer coding.
const SHOWN_CHARS: usize = 40;

#[derive(Debug)]
pub(crate) struct Draft {
    answer: Answer,
    body_limit: usize,
    /// Whether any byte came.
    has_begun: bool,
    has_head: bool,
    /// Came in, kept or not.
    got_bytes: u64,
    /// Content-Length.
    announced_bytes: Option<u64>,
}

impl Draft {
    pub(crate) fn new(body_limit: usize) -> Self {
        Self {
            answer: Answer::default(),
            body_limit,
            has_begun: false,
            has_head: false,
            got_bytes: 0,
            announced_bytes: None,
        }
    }

    /// Bytes came in.
    pub(crate) const fn begin(&mut self) {
        self.has_begun = true;
    }

    pub(crate) const fn stage(&self) -> Stage {
        match (self.has_begun, self.has_head) {
            (false, _) => Stage::Waiting,
            (true, false) => Stage::Header,
            (true, true) => Stage::Body { got_bytes: self.got_bytes, announced_bytes: self.announced_bytes },
        }
    }

    /// Refuses a body that is too large or coded, as soon as that is known; `is_awaited` where more must come.
    pub(crate) fn check(&self, is_awaited: bool) -> Result<(), ProbeError> {
        let has_body = self.got_bytes > 0 || is_awaited;
        if let Some(coding) = self.foreign_coding().filter(|_| has_body) {
            return Err(ProbeError::Coded { coding });
        }
        // An answer to HEAD announces a length and has no body; then nothing is awaited.
        let announced = self.announced_bytes.filter(|_| is_awaited).unwrap_or(0);
        if self.got_bytes.max(announced) > self.body_limit as u64 {
            return Err(ProbeError::TooLarge { limit_bytes: self.body_limit });
        }
        Ok(())
    }

    /// Fields came after the body.
    pub(crate) fn trailers(&mut self, fields: &[Header<'_>]) {
        self.answer.trailers = owned(fields);
    }

    pub(crate) fn into_answer(self) -> Answer {
        self.answer
    }

    /// The transfer codings where they are not just `chunked`: `wire` takes off chunked only, the rest stays on.
    fn foreign_coding(&self) -> Option<String> {
        let fields = self.answer.headers.iter().filter(|(name, _)| name == "transfer-encoding");
        let codings = fields.map(|(_, value)| value.trim()).collect::<Vec<_>>().join(", ");
        let is_plain = codings.is_empty() || codings.eq_ignore_ascii_case("chunked");
        (!is_plain).then(|| codings.chars().take(SHOWN_CHARS).collect())
    }
}

fn owned(fields: &[Header<'_>]) -> Vec<(String, String)> {
    let text = |field: &Header<'_>| String::from_utf8_lossy(field.value).into_owned();
    fields.iter().map(|field| (field.name.to_ascii_lowercase(), text(field))).collect()
}

impl Visit for Draft {
    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        self.has_head = true;
        self.answer.status = status;
        self.answer.headers = owned(headers);
        let length = self.answer.headers.iter().find(|(name, _)| name == "content-length");
        // `wire` has refused lists of different numbers before.
        self.announced_bytes =
            length.and_then(|(_, value)| value.split(',').next()).and_then(|text| text.trim().parse().ok());
    }

    fn body(&mut self, bytes: &[u8]) {
        self.got_bytes = self.got_bytes.saturating_add(bytes.len() as u64);
        if self.got_bytes <= self.body_limit as u64 {
            self.answer.body.extend_from_slice(bytes);
        }
    }
}
