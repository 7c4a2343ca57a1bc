//! What header sections and trailers say of a call.

use super::code::Code;
use super::fault::Fault;
use crate::Header;

/// The media types of gRPC with messages of protobuf; any other codec behind `+` is one that prony does not speak.
const KINDS: [&[u8]; 2] = [b"application/grpc", b"application/grpc+proto"];

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status<'a> {
    /// The code.
    pub code: Code,
    /// The server's words as they came: percent-encoded, perhaps none. [`push_message`] decodes them.
    pub message: &'a [u8],
}

/// The status of a whole answer: that of the trailers, or of the header section where neither body nor trailers follow it.
///
/// # Errors
/// A status that is no number, or several.
pub fn status_of_answer<'a>(
    head: &[Header<'a>],
    body: &[u8],
    trailers: &[Header<'a>],
) -> Result<Option<Status<'a>>, Fault> {
    status(if body.is_empty() && trailers.is_empty() { head } else { trailers })
}

/// Reads the status in trailers, or in the only header section; `None` where there is none.
///
/// # Errors
/// A status that is no number, or several.
pub fn status<'a>(fields: &[Header<'a>]) -> Result<Option<Status<'a>>, Fault> {
    let mut code = None;
    let mut message: &[u8] = b"";
    for field in fields {
        if field.name.eq_ignore_ascii_case("grpc-status") {
            let said = Code::of_digits(field.value).ok_or(Fault::BadStatus)?;
            if code.replace(said).is_some() {
                return Err(Fault::StatusTwice);
            }
        } else if field.name.eq_ignore_ascii_case("grpc-message") {
            message = field.value;
        }
    }
    Ok(code.map(|code| Status { code, message }))
}

/// Whether a header section is that of gRPC, with messages of protobuf.
#[must_use]
pub fn is_grpc(fields: &[Header<'_>]) -> bool {
    let kind = fields.iter().find(|field| field.name.eq_ignore_ascii_case("content-type"));
    let kind = kind.and_then(|field| field.value.split(|byte| *byte == b';').next());
    kind.is_some_and(|kind| KINDS.iter().any(|known| kind.trim_ascii().eq_ignore_ascii_case(known)))
}

/// Whether a header section names a coding, so that messages may be compressed.
#[must_use]
pub fn is_compressed(fields: &[Header<'_>]) -> bool {
    let coding = fields.iter().find(|field| field.name.eq_ignore_ascii_case("grpc-encoding"));
    coding.is_some_and(|field| !field.value.is_empty() && field.value != b"identity")
}

/// Appends the words of a `grpc-message`, at most so many bytes: `%20` is a blank. What is not encoded well stays as it is,
/// as the protocol asks.
pub fn push_message(raw: &[u8], bytes_max: usize, out: &mut Vec<u8>) {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let end = out.len().saturating_add(bytes_max);
    let mut rest = raw;
    while let Some((&first, behind)) = rest.split_first() {
        if out.len() >= end {
            return;
        }
        let decoded = match behind {
            [high, low, ..] if first == b'%' => digit(high).zip(digit(low)),
            _ => None,
        };
        match decoded {
            Some((high, low)) => {
                out.push(high << 4 | low);
                rest = &behind[2..];
            }
            None => {
                out.push(first);
                rest = behind;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields<'a>(pairs: &'a [(&'a str, &'a str)]) -> Vec<Header<'a>> {
        pairs.iter().map(|(name, value)| Header { name, value: value.as_bytes() }).collect()
    }

    #[test]
    fn the_status_comes_once_and_is_a_number() {
        let code = |pairs: &[(&str, &str)]| status(&fields(pairs)).map(|found| found.map(|found| found.code));
        assert_eq!(code(&[("grpc-status", "0")]), Ok(Some(Code::OK)));
        assert_eq!(code(&[("x", "1"), ("Grpc-Status", "5")]), Ok(Code::of_number(5)));
        assert_eq!(code(&[("grpc-message", "x")]), Ok(None));
        assert_eq!(code(&[]), Ok(None));
        assert_eq!(code(&[("grpc-status", "0"), ("grpc-status", "0")]), Err(Fault::StatusTwice));
        assert_eq!(code(&[("grpc-status", "ok")]), Err(Fault::BadStatus));
        assert_eq!(code(&[("grpc-status", "")]), Err(Fault::BadStatus));
    }

    #[test]
    fn the_header_sections_status_counts_where_nothing_follows_it() {
        let (head, end) = (fields(&[("grpc-status", "5")]), fields(&[("grpc-status", "0")]));
        let code = |body, trailers: &[_]| {
            status_of_answer(&head, body, trailers).map(|found| found.map(|status| status.code.number()))
        };
        assert_eq!(code(b"", &[]), Ok(Some(5)));
        assert_eq!(code(b"x", &[]), Ok(None));
        assert_eq!(code(b"x", &end), Ok(Some(0)));
        assert_eq!(code(b"", &end), Ok(Some(0)));
    }

    #[test]
    fn messages_are_decoded_and_bad_ones_kept() {
        let decoded = |raw: &str, bytes_max| {
            let mut out = b"> ".to_vec();
            push_message(raw.as_bytes(), bytes_max, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        assert_eq!(decoded("a%20b%C3%A4", 100), "> a bä");
        assert_eq!(decoded("50% %zz %2", 100), "> 50% %zz %2");
        assert_eq!(decoded("%", 100), "> %");
        assert_eq!(decoded("%41%42%43", 2), "> AB");
    }

    #[test]
    fn kinds_and_codings_are_recognised() {
        for (kind, is) in [
            ("application/grpc", true),
            ("application/grpc+proto", true),
            ("Application/GRPC; x=y", true),
            ("application/grpc-web", false),
            ("application/grpc+json", false),
            ("application/grpc+protobuf", false),
            ("text/html", false),
            ("", false),
        ] {
            assert_eq!(is_grpc(&fields(&[("content-type", kind)])), is, "{kind}");
        }
        assert!(!is_grpc(&[]));
        for (coding, is) in [("gzip", true), ("identity", false), ("", false)] {
            assert_eq!(is_compressed(&fields(&[("grpc-encoding", coding)])), is, "{coding}");
        }
    }
}
