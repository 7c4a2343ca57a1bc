//! Frames of HTTP/2 written by hand (RFC 9113 §6).

/// Types of frames.
pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PUSH_PROMISE: u8 = 5;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
}

/// Flags of frames.
pub(crate) mod flag {
    pub(crate) const ACK: u8 = 1;
    pub(crate) const END_STREAM: u8 = 1;
    pub(crate) const END_HEADERS: u8 = 4;
    pub(crate) const PADDED: u8 = 8;
    pub(crate) const PRIORITY: u8 = 0x20;
}

/// Identifiers of settings (RFC 9113 §6.5.2).
pub(crate) mod setting {
    pub(crate) const CONCURRENT_STREAMS: u16 = 3;
    pub(crate) const INITIAL_WINDOW: u16 = 4;
}

/// `:status: 200` of the static table (RFC 7541, appendix A).
pub(crate) const STATUS_200: u8 = 0x88;

/// A frame of this type, with these flags, on this stream.
#[must_use]
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A SETTINGS frame of these identifiers and values.
#[must_use]
pub fn settings(entries: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> = entries
        .iter()
        .flat_map(|(id, value)| [id.to_be_bytes().as_slice(), value.to_be_bytes().as_slice()].concat())
        .collect();
    frame(kind::SETTINGS, 0, 0, &payload)
}

/// A field as a header block has it: with a new name, not indexed, in plain bytes. Name and value are shorter than 127 bytes.
#[must_use]
pub fn field(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

/// The answer to a call of gRPC on a stream: this message, and this status.
#[must_use]
pub fn call_answer(stream: u32, message: &[u8], status: &str) -> Vec<u8> {
    let head = [vec![STATUS_200], field("content-type", "application/grpc")].concat();
    let length = (message.len() as u32).to_be_bytes();
    let body = [&[0], &length[..], message].concat();
    let trailers = field("grpc-status", status);
    [
        frame(kind::HEADERS, flag::END_HEADERS, stream, &head),
        frame(kind::DATA, 0, stream, &body),
        frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, stream, &trailers),
    ]
    .concat()
}
