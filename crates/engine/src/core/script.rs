//! Answers as a script wants to see them: all header fields and the body, kept only where a script asks for them.

use request::script::ScriptError;
use wire::Header;

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

    /// Keeps the header fields.
    pub(super) fn head(&mut self, headers: &[Header<'_>]) {
        let text = |header: &Header<'_>| {
            (header.name.to_owned(), String::from_utf8_lossy(header.value).into_owned())
        };
        self.headers.extend(headers.iter().map(text));
    }

    /// Keeps a part of the body.
    pub(super) fn body(&mut self, bytes: &[u8]) {
        self.is_too_long |= self.body.len() + bytes.len() > BODY_BYTES_MAX;
        if !self.is_too_long {
            self.body.extend_from_slice(bytes);
        }
    }

    /// Forgets the answer.
    pub(super) fn forget(&mut self) {
        self.headers.clear();
        self.body.clear();
        self.is_too_long = false;
    }
}
