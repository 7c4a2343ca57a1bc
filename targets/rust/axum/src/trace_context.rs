//! The traceparent header of an answer, as W3C Trace Context level 1 writes it: version, trace id, span id,
//! flags.
//!
//! Ids are drawn from a fast source: they must differ, not be secret.
use axum::http::{HeaderName, HeaderValue};

/// The header's name.
pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

const LENGTH: usize = "00-".len() + 32 + "-".len() + 16 + "-00".len();

/// Takes over the trace id and the flags of a request's header, or draws an id where it is missing or wrong,
/// and draws a span id.
pub fn answer(request: Option<&HeaderValue>) -> HeaderValue {
    let parent = request.and_then(|value| value.to_str().ok()).filter(|text| is_valid(text));
    let span = random();
    let text = match parent {
        Some(parent) => format!("{}-{span:016x}{}", &parent[..35], &parent[52..]),
        None => format!("00-{:016x}{:016x}-{span:016x}-01", random(), random()),
    };
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// Never 0, which the standard forbids.
fn random() -> u64 {
    fastrand::u64(1..)
}

fn is_valid(text: &str) -> bool {
    if text.len() != LENGTH || !text.is_ascii() {
        return false;
    }
    let separated = text.starts_with("00-") && text[35..].starts_with('-') && text[52..].starts_with('-');
    separated && is_id(&text[3..35]) && is_id(&text[36..52]) && is_hex(&text[53..])
}

fn is_id(text: &str) -> bool {
    is_hex(text) && text.bytes().any(|c| c != b'0')
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

    fn told(request: &str) -> String {
        let value = HeaderValue::from_bytes(request.as_bytes()).unwrap();
        answer(Some(&value)).to_str().unwrap().to_owned()
    }

    #[test]
    fn a_good_trace_goes_on_with_a_span_of_its_own() {
        let text = told(TRACE);
        assert!(is_valid(&text), "{text}");
        assert_eq!((&text[..35], &text[52..]), (&TRACE[..35], "-00"));
        assert_ne!(text[36..52], TRACE[36..52]);
    }

    #[test]
    fn a_wrong_trace_is_replaced() {
        let zero = "0".repeat(32);
        let wrong = [
            "",
            "x",
            &TRACE.replace("00-4", "01-4"),
            &TRACE.to_uppercase(),
            &TRACE[..54],
            &format!("{TRACE}0"),
            &format!("00-{zero}-00f067aa0ba902b7-00"),
            &TRACE.replace("00f067aa0ba902b7", &zero[..16]),
            &TRACE.replace('-', "_"),
            // As long in bytes, with a letter across the border of a field.
            &format!("{}é{}", &TRACE[..34], &TRACE[36..]),
        ];
        for request in wrong {
            let text = told(request);
            assert!(is_valid(&text) && text[3..35] != TRACE[3..35], "{request:?} {text}");
        }
        assert!(is_valid(answer(None).to_str().unwrap()));
    }
}
