//! SETTINGS (RFC 9113 §6.5): the peer's values, and our own as they are sent, also in the field `HTTP2-Settings` of an
//! upgrade from HTTP/1.1 (RFC 7540 §3.2.1).

use super::fault::Fault;
use super::flow::WINDOW_MAX;
use crate::hpack::{DEFAULT_TABLE_BYTES, LIST_BYTES_MAX};

/// Window of a stream and of the connection where nothing else is said (RFC 9113 §6.9.2).
pub const DEFAULT_WINDOW_BYTES: u32 = 65_535;

/// Registered settings (RFC 9113 §6.5.2, RFC 8441 §3).
mod id {
    pub(super) const HEADER_TABLE_SIZE: u16 = 1;
    pub(super) const ENABLE_PUSH: u16 = 2;
    pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(super) const MAX_FRAME_SIZE: u16 = 5;
    pub(super) const MAX_HEADER_LIST_SIZE: u16 = 6;
    pub(super) const ENABLE_CONNECT_PROTOCOL: u16 = 8;
}

/// A peer's settings; what it does not say keeps its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of its header table.
    pub header_table_bytes: u32,
    /// Streams that it allows at a time.
    pub streams_max: u32,
    /// Bytes that each stream may send before it is given more.
    pub window_bytes: u32,
    /// Longest frame that it takes.
    pub frame_bytes_max: u32,
    /// Longest header list that it wants, as [`LIST_BYTES_MAX`] counts.
    pub list_bytes_max: u32,
    /// Whether it takes the extended CONNECT (RFC 8441).
    pub connects: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            header_table_bytes: DEFAULT_TABLE_BYTES,
            streams_max: u32::MAX,
            window_bytes: DEFAULT_WINDOW_BYTES,
            frame_bytes_max: 16_384,
            list_bytes_max: u32::MAX,
            connects: false,
        }
    }
}

impl Settings {
    /// Takes over the settings of a payload whose length is a multiple of six; unknown ones are ignored.
    ///
    /// # Errors
    /// A value that cannot be.
    pub(super) fn apply(&mut self, payload: &[u8]) -> Result<(), Fault> {
        for entry in payload.chunks_exact(6) {
            let id = u16::from_be_bytes([entry[0], entry[1]]);
            let value = u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]);
            match id {
                id::HEADER_TABLE_SIZE => self.header_table_bytes = value,
                id::ENABLE_PUSH if value == 1 => return Err(Fault::Push),
                id::ENABLE_PUSH if value > 1 => return Err(Fault::Setting("ENABLE_PUSH")),
                id::MAX_CONCURRENT_STREAMS => self.streams_max = value,
                id::INITIAL_WINDOW_SIZE if value > WINDOW_MAX => return Err(Fault::WindowOverflow),
                id::INITIAL_WINDOW_SIZE => self.window_bytes = value,
                id::MAX_FRAME_SIZE if !(16_384..1 << 24).contains(&value) => {
                    return Err(Fault::Setting("MAX_FRAME_SIZE"));
                }
                id::MAX_FRAME_SIZE => self.frame_bytes_max = value,
                id::MAX_HEADER_LIST_SIZE => self.list_bytes_max = value,
                id::ENABLE_CONNECT_PROTOCOL if value > 1 => {
                    return Err(Fault::Setting("ENABLE_CONNECT_PROTOCOL"));
                }
                id::ENABLE_CONNECT_PROTOCOL => self.connects = value == 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads the field `HTTP2-Settings`: base64 for URLs, without padding (RFC 7540 §3.2.1).
    ///
    /// # Errors
    /// The position of a byte that no such text has, or the length of a text that holds no whole settings; and values that
    /// cannot be.
    pub fn from_field(text: &str) -> Result<Self, FieldError> {
        let payload = base64_decoded(text)?;
        let mut settings = Self::default();
        // Of a client, which may offer to take pushes.
        let offers_push = |entry: &&[u8]| **entry == [0, 2, 0, 0, 0, 1];
        let kept: Vec<u8> =
            payload.chunks_exact(6).filter(|entry| !offers_push(entry)).flatten().copied().collect();
        settings.apply(&kept)?;
        Ok(settings)
    }
}

/// Why a field `HTTP2-Settings` cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// A byte that is not of the alphabet.
    #[error("byte {0} is none of base64 for URLs")]
    Byte(usize),
    /// A length that is no multiple of six bytes.
    #[error("{0} characters are no whole settings: each has six bytes, eight characters")]
    Length(usize),
    /// A value that cannot be.
    #[error(transparent)]
    Value(#[from] Fault),
}

/// What we offer: how large our header table and the windows of streams are. Push is off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) table_bytes: u32,
    pub(super) window_bytes: u32,
}

impl Offer {
    /// The payload of SETTINGS, without what is the default.
    pub(super) fn payload(self) -> Vec<u8> {
        let mut payload = Vec::new();
        let mut put = |id: u16, value: u32| {
            payload.extend_from_slice(&id.to_be_bytes());
            payload.extend_from_slice(&value.to_be_bytes());
        };
        if self.table_bytes != DEFAULT_TABLE_BYTES {
            put(id::HEADER_TABLE_SIZE, self.table_bytes);
        }
        put(id::ENABLE_PUSH, 0);
        if self.window_bytes != DEFAULT_WINDOW_BYTES {
            put(id::INITIAL_WINDOW_SIZE, self.window_bytes);
        }
        put(id::MAX_HEADER_LIST_SIZE, LIST_BYTES_MAX);
        payload
    }

    /// The value of the field `HTTP2-Settings`.
    pub(super) fn field(self) -> String {
        base64(&self.payload())
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Base64 for URLs without padding (RFC 4648 §5), of whole settings.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    // Settings have six bytes, so no group is shorter than three.
    for group in bytes.chunks_exact(3) {
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        text.extend([18, 12, 6, 0].map(|shift| char::from(ALPHABET[(bits >> shift & 0x3f) as usize])));
    }
    text
}

fn base64_decoded(text: &str) -> Result<Vec<u8>, FieldError> {
    if !text.len().is_multiple_of(8) {
        return Err(FieldError::Length(text.len()));
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for (group_at, group) in text.as_bytes().chunks_exact(4).enumerate() {
        let mut bits = 0;
        for (at, byte) in group.iter().enumerate() {
            let digit = ALPHABET.iter().position(|letter| letter == byte);
            bits = bits << 6 | digit.ok_or(FieldError::Byte(4 * group_at + at))? as u32;
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_can_be_read() {
        let offer = Offer { table_bytes: 0, window_bytes: (1 << 30) - 1 };
        assert_eq!(offer.field(), "AAEAAAAAAAIAAAAAAAQ_____AAYAAQAA");
        let settings = Settings::from_field(&offer.field()).unwrap();
        let wanted = Settings {
            header_table_bytes: 0,
            window_bytes: (1 << 30) - 1,
            list_bytes_max: LIST_BYTES_MAX,
            ..Settings::default()
        };
        assert_eq!(settings, wanted);
        let plain = Offer { table_bytes: DEFAULT_TABLE_BYTES, window_bytes: DEFAULT_WINDOW_BYTES };
        assert_eq!(plain.payload(), [0, 2, 0, 0, 0, 0, 0, 6, 0, 1, 0, 0]);
    }

    #[test]
    fn fields_that_are_no_settings() {
        let read = Settings::from_field;
        assert_eq!(read(""), Ok(Settings::default()));
        // As curl sends them: 100 streams, windows of 32 MiB, push off.
        assert_eq!(read("AAMAAABkAAQCAAAAAAIAAAAA").unwrap().streams_max, 100);
        assert_eq!(read("AAIAAAAB"), Ok(Settings::default()));
        assert_eq!(read("AAMAAAB"), Err(FieldError::Length(7)));
        assert_eq!(read("AAMA+ABk"), Err(FieldError::Byte(4)));
        assert_eq!(read("AAQ_____"), Ok(Settings { window_bytes: 0x3fff_ffff, ..Settings::default() }));
        assert_eq!(read("AAT_____"), Err(FieldError::Value(Fault::WindowOverflow)));
        assert_eq!(read("AAUAAAAA"), Err(FieldError::Value(Fault::Setting("MAX_FRAME_SIZE"))));
    }
}
