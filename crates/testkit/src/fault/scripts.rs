//! What the server does in place of the right answer, fault by fault.
//!
//! Every script begins when the request has been read as far as the fault lets it be, and ends the connection unless
//! it comes to its end. One [`Act::Send`] is one write: what belongs together reaches the client together.

use super::{Ask, Fault};
use crate::channel::Act::{
    self, Alert, Close, Cut, Damage, Drip, HalfClose, Hold, Ignore, Repeat, Reset, Trickle,
};

/// The body of every right answer, the same as the reference target's.
pub const RIGHT_BODY: &str = r#"{"code":0,"msg":"ok","data":{}}"#;

/// How much of a request is read before its script begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// Nothing; it has only been seen.
    Nothing,
    /// The header section.
    Head,
    /// All of it.
    Whole,
}

/// How far a request that meets this fault is read.
pub(super) const fn reads(fault: Fault) -> Read {
    match fault {
        Fault::ResetUnread => Read::Nothing,
        _ if matches!(fault.entry().ask, Ask::LargeBody) => Read::Head,
        _ => Read::Whole,
    }
}

/// The right answer: to HEAD its header section only.
pub(super) fn right(is_head: bool, close: bool) -> String {
    let connection = if close { "Connection: close\r\n" } else { "" };
    answer("200 OK", connection, if is_head { "" } else { RIGHT_BODY })
}

/// An answer that gives the length of the right body, and this body.
fn answer(status: &str, fields: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{fields}Content-Type: application/json\r\nContent-Length: 31\r\n\r\n{body}")
}

/// The right body under these header fields instead of the right length.
fn with_fields(fields: &str) -> Act {
    send(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n{RIGHT_BODY}"))
}

/// The right body under this status line.
fn with_status_line(line: &str) -> Act {
    send(&format!("{line}\r\nContent-Length: 31\r\n\r\n{RIGHT_BODY}"))
}

/// An answer in chunked coding with these bytes for a body.
fn chunked(body: &str) -> Act {
    send(&format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}"))
}

fn send(text: &str) -> Act {
    Act::send(text)
}

/// What happens to a request or a connection that meets `fault`; empty where the fault lies in the listener or the
/// server's certificate.
pub(super) fn script(fault: Fault) -> Vec<Act> {
    let whole = right(false, false);
    let half_body = answer("200 OK", "", &RIGHT_BODY[..15]);
    if let Some(acts) = broken_off(fault, &whole, &half_body) {
        return acts;
    }
    if let Some(act) = wrong_head(fault).or_else(|| wrong_length(fault)).or_else(|| wrong_chunks(fault)) {
        // Nothing more comes; what is wrong must be seen in what was sent. Sound answers end by themselves.
        return if fault.entry().after == super::After::Kept { vec![act] } else { vec![act, Hold] };
    }
    match fault {
        Fault::HeaderBomb => {
            // Long enough to pass any limit of bytes before a usual limit of fields.
            let field = format!("X-Bomb: {}\r\n", "a".repeat(200));
            vec![send("HTTP/1.1 200 OK\r\n"), Repeat(field.into())]
        }
        Fault::LengthHuge => {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 100000000000000000\r\n\r\n";
            vec![send(head), Repeat(b"x".into())]
        }
        Fault::ChunkExtensionBomb => vec![chunked("1f"), Repeat(b";a=b".into())],
        Fault::ChunkBomb => vec![chunked(""), Repeat(b"4\r\nboom\r\n".into())],
        Fault::TrailerBomb => {
            vec![chunked(&format!("1f\r\n{RIGHT_BODY}\r\n0\r\n")), Repeat(b"X-Bomb: a\r\n".into())]
        }
        Fault::BodyUntilClose => vec![send(&format!("HTTP/1.0 200 OK\r\n\r\n{RIGHT_BODY}")), Close],
        Fault::InterimSome => {
            let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
            vec![send(&format!("{interim}{whole}"))]
        }
        Fault::InterimStorm => vec![Repeat(b"HTTP/1.1 102 Processing\r\n\r\n".into())],
        Fault::InterimThenStall => vec![send("HTTP/1.1 102 Processing\r\n\r\n"), Hold],
        Fault::InterimThenClose => vec![send("HTTP/1.1 102 Processing\r\n\r\n"), Close],
        // The body must stay unread: were it taken in, a client whose last bytes went out before it saw the answer
        // would rightly use the connection again, and nobody would answer there.
        Fault::EarlyAnswer => vec![send(&whole), Ignore],
        Fault::EarlyRefusal => {
            let refusal = "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
            vec![send(refusal), HalfClose, Hold]
        }
        Fault::AnswerTwice => vec![send(&format!("{whole}{whole}")), Hold],
        Fault::GarbageAfterAnswer => vec![send(&format!("{whole}GARBAGE")), Hold],
        Fault::GarbageAfterClose => vec![send(&format!("{}GARBAGE", right(false, true))), Hold],
        _ => over_tls(fault, &whole, &half_body),
    }
}

/// Answers that end or stop where they should not.
fn broken_off(fault: Fault, whole: &str, half_body: &str) -> Option<Vec<Act>> {
    let head = answer("200 OK", "", "");
    let half_head = &head[..40];
    Some(match fault {
        Fault::CloseOnAccept => vec![HalfClose, Hold],
        Fault::ResetOnAccept | Fault::ResetUnread | Fault::ResetBeforeHeaders => vec![Reset],
        Fault::Unsolicited => vec![send(whole), Hold],
        Fault::ResetInHeaders => vec![send(half_head), Reset],
        Fault::ResetAfterHeaders => vec![send(&head), Reset],
        Fault::ResetMidBody | Fault::TlsResetMidBody => vec![send(half_body), Reset],
        Fault::ResetAfterAnswer => vec![send(whole), Reset],
        Fault::CloseBeforeAnswer => vec![Close],
        Fault::CloseInHeaders => vec![send(half_head), Close],
        Fault::CloseMidBody => vec![send(half_body), Close],
        Fault::CloseMidChunk => vec![chunked("1f\r\n{\"code"), Close],
        Fault::CloseBeforeLastChunk => vec![chunked(&format!("1f\r\n{RIGHT_BODY}\r\n")), Close],
        // The sending direction only, so that the next request is read and not met by a reset.
        Fault::CloseWhenIdle => vec![send(whole), HalfClose, Hold],
        Fault::CloseAnnounced => vec![send(&right(false, true)), Close],
        Fault::HalfCloseBeforeAnswer => vec![HalfClose, Hold],
        Fault::HalfCloseAfterAnswer => {
            vec![send(&format!("HTTP/1.1 200 OK\r\n\r\n{RIGHT_BODY}")), HalfClose, Hold]
        }
        Fault::Drip | Fault::TlsSplit => vec![Drip(whole.into())],
        Fault::DripForever => vec![send("HTTP/1.1 200 OK\r\n"), Trickle(b"X-Drip: a\r\n".into())],
        Fault::StallBeforeAnswer => vec![Hold],
        Fault::StallInHeaders => vec![send(half_head), Hold],
        Fault::StallInBody => vec![send(half_body), Hold],
        Fault::StallInChunk => vec![chunked("1f\r\n"), Hold],
        Fault::StallReading => vec![Ignore],
        _ => return None,
    })
}

/// Answers whose status line or header fields are wrong, or odd but right.
fn wrong_head(fault: Fault) -> Option<Act> {
    let long = "a".repeat(80 * 1024);
    Some(match fault {
        Fault::StatusLineMissing => send(&format!("Content-Length: 31\r\n\r\n{RIGHT_BODY}")),
        Fault::StatusLineOtherProtocol => send("SSH-2.0-OpenSSH_9.6\r\n"),
        Fault::StatusLineHttp2 => with_status_line("HTTP/2.0 200 OK"),
        Fault::StatusLineHttp09 => send("<html>hello</html>\r\n"),
        Fault::StatusLineAfterBlank => with_status_line("\r\nHTTP/1.1 200 OK"),
        Fault::StatusTwoDigits => with_status_line("HTTP/1.1 99 Low"),
        Fault::StatusBelow100 => with_status_line("HTTP/1.1 099 Low"),
        Fault::StatusFourDigits => with_status_line("HTTP/1.1 1000 High"),
        Fault::StatusNegative => with_status_line("HTTP/1.1 -200 OK"),
        Fault::Status500 => with_status_line("HTTP/1.1 500 Internal Server Error"),
        Fault::Status999 => with_status_line("HTTP/1.1 999 Request Denied"),
        Fault::ReasonMissing => with_status_line("HTTP/1.1 200"),
        Fault::HeaderOneLong => with_fields(&format!("X-Long: {long}\r\nContent-Length: 31")),
        Fault::HeaderCount => with_fields(&format!("{}Content-Length: 31", "a: b\r\n".repeat(2000))),
        Fault::HeaderNoColon => with_fields("Content-Length: 31\r\nno colon here"),
        Fault::HeaderSpaceInName => with_fields("Content-Length : 31"),
        Fault::HeaderNul => with_fields("X-Nul: a\0b\r\nContent-Length: 31"),
        Fault::HeaderFolded => with_fields("X-Folded: one\r\n two\r\nContent-Length: 31"),
        Fault::HeaderBareLineFeeds => send(&format!("HTTP/1.1 200 OK\nContent-Length: 31\n\n{RIGHT_BODY}")),
        Fault::BodyWrong => send(&answer("200 OK", "", &RIGHT_BODY.replace("ok", "oh"))),
        Fault::BodyEmpty => send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        Fault::BodyWith204 => with_status_line("HTTP/1.1 204 No Content"),
        Fault::BodyWith304 => with_status_line("HTTP/1.1 304 Not Modified"),
        Fault::BodyWithHead => with_status_line("HTTP/1.1 200 OK"),
        Fault::Upgrade => {
            send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
        }
        _ => return None,
    })
}

/// Answers whose length is wrong, or given oddly but rightly.
fn wrong_length(fault: Fault) -> Option<Act> {
    Some(match fault {
        Fault::LengthConflict => with_fields("Content-Length: 31\r\nContent-Length: 30"),
        Fault::LengthList => with_fields("Content-Length: 31, 30"),
        Fault::LengthTwice => with_fields("Content-Length: 31\r\nContent-Length: 31"),
        Fault::LengthAndChunked => with_fields("Content-Length: 31\r\nTransfer-Encoding: chunked"),
        Fault::LengthNegative => with_fields("Content-Length: -1"),
        Fault::LengthPlus => with_fields("Content-Length: +31"),
        Fault::LengthNotANumber => with_fields("Content-Length: thirty-one"),
        Fault::LengthEmpty => with_fields("Content-Length:"),
        Fault::LengthOverflow => with_fields("Content-Length: 18446744073709551647"),
        Fault::LengthTooShort => with_fields("Content-Length: 15"),
        Fault::LengthTooLong => with_fields("Content-Length: 32"),
        _ => return None,
    })
}

/// Answers whose chunks are wrong, or odd but right.
fn wrong_chunks(fault: Fault) -> Option<Act> {
    let sized = |size: &str| chunked(&format!("{size}\r\n{RIGHT_BODY}\r\n0\r\n\r\n"));
    Some(match fault {
        Fault::ChunkNotHex => sized("xyz"),
        Fault::ChunkEmptySize => sized(""),
        Fault::ChunkNegative => sized("-1f"),
        Fault::ChunkPrefix => sized("0x1f"),
        Fault::ChunkOverflow => sized("1000000000000001f"),
        Fault::ChunkZeros => sized(&format!("{}1f", "0".repeat(1000))),
        Fault::ChunkBadEnd => chunked(&format!("1f\r\n{RIGHT_BODY}0\r\n\r\n")),
        Fault::ChunkTiny => {
            let chunks: String = RIGHT_BODY.chars().map(|byte| format!("1\r\n{byte}\r\n")).collect();
            chunked(&format!("{chunks}0\r\n\r\n"))
        }
        Fault::ChunkExtensions => {
            chunked(&format!("1F;a=b;c=\"d\"\r\n{RIGHT_BODY}\r\n000;e\r\nX-Sum: 1\r\nX-End: 2\r\n\r\n"))
        }
        _ => return None,
    })
}

fn over_tls(fault: Fault, whole: &str, half_body: &str) -> Vec<Act> {
    /// A record with a fatal alert, handshake_failure (RFC 8446 §6).
    const HANDSHAKE_FAILURE: [u8; 7] = [21, 3, 3, 0, 2, 2, 40];
    let hello = Act::AwaitRecord;
    match fault {
        Fault::TlsAlert => vec![hello, Act::Send(HANDSHAKE_FAILURE.into()), HalfClose, Hold],
        Fault::TlsClose => vec![hello, HalfClose, Hold],
        Fault::TlsReset => vec![hello, Reset],
        Fault::TlsStall => vec![hello, Hold],
        Fault::TlsGarbage => vec![hello, send("SSH-2.0-OpenSSH_9.6\r\n"), Hold],
        Fault::TlsPlainHttp => {
            vec![hello, send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), HalfClose, Hold]
        }
        Fault::TlsTruncated => vec![send(&format!("HTTP/1.1 200 OK\r\n\r\n{RIGHT_BODY}")), Cut],
        Fault::TlsCutMidBody => vec![send(half_body), Cut],
        Fault::TlsAlertMidBody => vec![send(half_body), Alert, Hold],
        Fault::TlsDamagedRecord => vec![Damage(whole.into()), Hold],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Unit;

    #[test]
    fn every_fault_has_a_script_unless_it_lies_elsewhere() {
        for fault in Fault::ALL {
            let entry = fault.entry();
            let lies_elsewhere = entry.unit == Unit::Listener
                || entry.name.starts_with("cert-")
                || fault.is_http2()
                || *fault == Fault::TlsWantsClient;
            assert_eq!(script(*fault).is_empty(), lies_elsewhere, "{fault}");
        }
        assert_eq!(RIGHT_BODY.len(), 31, "the length that answers give");
    }
}
