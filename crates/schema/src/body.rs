//! Serde form of a request body: text where it is UTF-8, else `base64:` and the encoded bytes. A text that itself
//! begins with `base64:` is encoded too, so the form is unambiguous.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serializer};

const MARK: &str = "base64:";

pub(crate) fn serialize<S: Serializer>(body: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    match std::str::from_utf8(body) {
        Ok(text) if !text.starts_with(MARK) => serializer.serialize_str(text),
        _ => serializer.collect_str(&format_args!("{MARK}{}", STANDARD.encode(body))),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.strip_prefix(MARK) {
        Some(encoded) => STANDARD.decode(encoded).map_err(serde::de::Error::custom),
        None => Ok(text.into_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::RequestPlan;

    #[test]
    fn every_body_survives_the_round_trip() {
        for body in [&b"plain"[..], b"base64:tricky", &[0, 255, 128], b""] {
            let plan =
                RequestPlan { method: "POST".into(), path: "/".into(), headers: vec![], body: body.to_vec() };
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<RequestPlan>(&text).unwrap(), plan, "{text}");
        }
    }
}
