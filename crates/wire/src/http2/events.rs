//! What a connection shows of answers while it reads them.

use super::code::ErrorCode;
use super::fault::Fault;
use super::settings::Settings;
use crate::Header;

/// The owner's number of a request on a connection.
pub type Place = u32;

/// What the owner makes of a header section, in a form of its own. It is kept, so that equal bytes need not be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict(pub u64);

/// Why a request was not processed: it may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The peer leaves, and does not take streams as late as this one.
    GoAway(ErrorCode),
    /// The peer refused the stream (REFUSED_STREAM).
    Stream,
}

/// What a connection shows. Each request ends with one of `done`, `refused`, `reset` and `broken`, after which its place is
/// not spoken of again. None may call the connection.
pub trait Events {
    /// A number for all requests whose header sections are judged alike. Verdicts are kept for each.
    fn kind(&self, _at: Place) -> u32 {
        0
    }

    /// The final status and the header fields, without `:status`. `None` wants to see equal ones again.
    fn head(&mut self, at: Place, status: u16, fields: &[Header<'_>]) -> Option<Verdict>;

    /// The final status, and a header section that equals one on which this verdict was given.
    fn head_again(&mut self, at: Place, status: u16, verdict: Verdict);

    /// The next part of the body.
    fn body(&mut self, at: Place, bytes: &[u8]);

    /// The fields after the body, where there are any.
    fn trailers(&mut self, _at: Place, _fields: &[Header<'_>]) {}

    /// The answer is whole.
    fn done(&mut self, at: Place);

    /// The request was not processed.
    fn refused(&mut self, at: Place, why: Refusal);

    /// The peer gave the stream up.
    fn reset(&mut self, at: Place, code: ErrorCode);

    /// The answer breaks the protocol; its stream was reset, and the others go on.
    fn broken(&mut self, at: Place, fault: Fault);

    /// The peer leaves: it takes no stream after `last`. Those after it are refused next. `text` is for people.
    fn goaway(&mut self, _last: u32, _code: ErrorCode, _text: &[u8]) {}

    /// The peer's settings as they are now.
    fn settings(&mut self, _peer: &Settings) {}

    /// There may be room where there was none, or none where there was some; a request that waits may go on.
    fn room_changed(&mut self) {}
}
