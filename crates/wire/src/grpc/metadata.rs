//! Metadata: header fields that a caller sends for its own purposes.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const LAX: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, LAX.with_encode_padding(false));
const URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LAX);

/// Fields that the protocol itself sets.
const OWN: [&str; 4] = ["te", "content-type", "content-length", "host"];

/// Why a name or a value cannot be metadata. Cause and remedy are parted by a semicolon.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// A name of other characters than lower-case letters, digits, `-`, `_` and `.`.
    #[error("`{0}` is no name of metadata; use lower-case letters, digits, - _ and .")]
    Name(String),
    /// A name that belongs to the protocol.
    #[error("`{0}` is set by the protocol; leave it out")]
    Own(String),
    /// A value of other characters than visible ASCII and blanks.
    #[error(
        "the value of `{0}` has other characters than visible ASCII; give it in base64, under a name that ends in -bin"
    )]
    Value(String),
    /// A value of a name in `-bin` that is not base64.
    #[error(
        "the value of `{0}` is not base64; a name that ends in -bin has binary values, written in base64"
    )]
    Base64(String),
}

/// Checks a field of metadata and gives the value that is sent. Values of names that end in `-bin` are binary: they are
/// given in base64, of either alphabet, padded or not, and sent without padding.
///
/// # Errors
/// See [`MetadataError`].
pub fn metadata(name: &str, value: &str) -> Result<String, MetadataError> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    if name.is_empty() || !name.bytes().all(fits) {
        return Err(MetadataError::Name(name.to_owned()));
    }
    if OWN.contains(&name) || name.starts_with("grpc-") {
        return Err(MetadataError::Own(name.to_owned()));
    }
    if name.ends_with("-bin") {
        let bytes = PLAIN.decode(value).or_else(|_| URL.decode(value));
        return bytes.map(|bytes| PLAIN.encode(bytes)).map_err(|_| MetadataError::Base64(name.to_owned()));
    }
    match value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        true => Ok(value.trim().to_owned()),
        false => Err(MetadataError::Value(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked_and_binary_ones_encoded() {
        for (name, value, sent) in [
            ("x-id", " 7 ", Some("7")),
            ("x-id", "ä", None),
            ("x-id", "a\nb", None),
            ("X-Id", "7", None),
            ("", "7", None),
            ("te", "x", None),
            ("grpc-timeout", "1S", None),
            (":path", "/", None),
            ("trace-bin", "/+8=", Some("/+8")),
            ("trace-bin", "_-8", Some("/+8")),
            ("trace-bin", "/+8", Some("/+8")),
            ("trace-bin", "", Some("")),
            ("trace-bin", "!", None),
        ] {
            assert_eq!(metadata(name, value).ok().as_deref(), sent, "{name}: {value}");
        }
    }
}
