//! What can be wrong with a scenario before the load, and with one request during it.

use crate::template::Fault;

/// Why a scenario cannot be sent. Nothing was sent before it came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause} (key `{key}`)\n  remedy: {remedy}")]
pub struct ProgramError {
    /// Where in the scenario: `requests.0.path`, `requests.0.headers.X-A`, `vars.user_id`, `feeders.users.file`,
    /// `tokens.jwt.key_file`. Requests count from 0.
    pub key: String,
    /// What is wrong; of an expression with line and column in the text.
    pub cause: String,
    /// What to do about it.
    pub remedy: String,
}

impl ProgramError {
    /// Control characters of quoted texts are shown escaped: scenarios come from anywhere.
    pub(crate) fn new(key: impl Into<String>, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { key: visible(key.into()), cause: visible(cause.into()), remedy: visible(remedy.into()) }
    }

    /// A fault in an expression of `text`.
    pub(crate) fn fault(key: impl Into<String>, text: &[u8], fault: Fault) -> Self {
        let before = &text[..fault.at.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let begin = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[begin..]).chars().count() + 1;
        let place =
            if line > 1 { format!("line {line}, column {column}") } else { format!("column {column}") };
        Self::new(key, format!("{place}: {}", fault.cause), fault.remedy)
    }
}

/// Why one request could not be made. It is not sent; the next one is tried as usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct MakeError {
    /// The request's place among the names.
    pub entry: u16,
    /// What is wrong.
    pub cause: MakeCause,
}

/// What is wrong with one request. Numbers are places in the tables of the program; `Program::explain` has names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MakeCause {
    /// `/` or `%` by zero.
    #[error("an expression divides by zero")]
    DivisionByZero,
    /// Beyond 128-bit integers or finite floats.
    #[error("a number is too large")]
    Overflow,
    /// A text from a file or an answer holds no number where one is needed.
    #[error("a text that is no number stands where a number must be")]
    NotANumber,
    /// `uniform` with bounds that are swapped or more than 64 bits apart.
    #[error("the bounds of uniform() are swapped or too far apart")]
    BadRange,
    /// A length that is negative or above 16 MiB.
    #[error("a length is below 0, above 16 MiB or not whole")]
    BadLength,
    /// The texts of its expressions are longer than 64 MiB together.
    #[error("the expressions of a request make more than 64 MiB of text")]
    TooLong,
    /// A value that no answer of this session has given.
    #[error("a captured value is used that no answer has given")]
    NotCaptured(u16),
    /// The rendered path does not begin with `/`.
    #[error("the rendered path does not begin with `/`")]
    NotAPath,
    /// A rendered header value would break the framing.
    #[error("a rendered header value has a control character")]
    ControlInHeader,
    /// A value that its field of a message cannot hold.
    #[error("a value does not fit its field of the message: out of range, no number, no UTF-8, or no base64")]
    Unfit,
    /// A rendered message that servers would not take.
    #[error("a rendered message is longer than 4 MiB")]
    MessageTooLong,
    /// All rows of a feeder with order `unique` are used.
    #[error("all rows of a feeder are used")]
    Exhausted(u16),
    /// A row of a feeder could not be read again, for the file has changed.
    #[error("a row of a feeder could not be read; the file has changed")]
    Unreadable(u16),
    /// A row of the feeder that chooses names no request of the scenario.
    #[error("a row of a feeder names a request that the scenario does not have")]
    NoSuchRequest(u16),
    /// A request of a session without its user.
    #[error("a request of a session was asked for without its user")]
    NoUser,
    /// An expression refers to what is not there; excluded by compilation.
    #[error("an expression refers to what is not there")]
    OutOfReach,
}

fn visible(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    let escaped = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
    text.chars().map(escaped).collect()
}
