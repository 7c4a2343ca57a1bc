//! Answers as a script wants to see them: all header fields and the body, kept only where a script asks for them.

use super::Trail;
use request::Judge;
use request::script::ScriptError;
use wire::{Header, Visit, is_redirect};

/// Longest body that is kept for a script.
const BODY_BYTES_MAX: usize = 8 << 20;

/// One answer, as far as it has come. Its memory is used again.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    is_too_long: bool,
}

impl Heard {
    /// Calls `show` with the fields and the body, and forgets them.
    pub(super) fn show(
        &mut self,
        show: impl FnOnce(&[(String, String)], &[u8]) -> Result<(), ScriptError>,
    ) -> Result<(), ScriptError> {
        let result = if self.is_too_long {
            let message =
                "the answer's body is longer than 8 MiB and cannot be shown to response()".to_owned();
            Err(ScriptError { file: "script".to_owned(), line: None, message })
        } else {
            show(&self.headers, &self.body)
        };
        self.forget();
        result
    }

    /// Forgets the answer.
    pub(super) fn forget(&mut self) {
        self.headers.clear();
        self.body.clear();
        self.is_too_long = false;
    }
}

/// Judges an answer and, where somebody listens, keeps it, or where it leads.
pub(super) struct Hearing<'a> {
    judge: Judge<'a>,
    heard: Option<&'a mut Heard>,
    trail: Option<&'a mut Trail>,
}

impl<'a> Hearing<'a> {
    #[inline]
    pub(super) const fn new(
        judge: Judge<'a>,
        heard: Option<&'a mut Heard>,
        trail: Option<&'a mut Trail>,
    ) -> Self {
        Self { judge, heard, trail }
    }
}

impl Visit for Hearing<'_> {
    #[inline]
    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        self.judge.head(status, headers);
        if let Some(heard) = &mut self.heard {
            let text = |header: &Header<'_>| {
                (header.name.to_owned(), String::from_utf8_lossy(header.value).into_owned())
            };
            heard.headers.extend(headers.iter().map(text));
        }
        if let (Some(trail), true) = (&mut self.trail, is_redirect(status)) {
            trail.hear(headers);
        }
    }

    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        self.judge.body(bytes);
        if let Some(heard) = &mut self.heard {
            heard.is_too_long |= heard.body.len() + bytes.len() > BODY_BYTES_MAX;
            if !heard.is_too_long {
                heard.body.extend_from_slice(bytes);
            }
        }
    }
}
