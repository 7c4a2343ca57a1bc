//! Frames as a server writes them, and as a test reads those of the client.

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;
pub(crate) const PRIORITIZED: u8 = 0x20;

/// Any frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

pub(crate) fn settings(entries: &[(u16, u32)]) -> Vec<u8> {
    let entry = |(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(SETTINGS, 0, 0, &entries.iter().flat_map(entry).collect::<Vec<u8>>())
}

/// A header block of literals in plain bytes, which changes no table.
pub(crate) fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        text(name, &mut block);
        text(value, &mut block);
    }
    block
}

/// As [`block`], but its fields enter the table.
pub(crate) fn entering_block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0x40);
        text(name, &mut block);
        text(value, &mut block);
    }
    block
}

fn text(text: &str, block: &mut Vec<u8>) {
    assert!(text.len() < 127 + 128);
    if text.len() < 127 {
        block.push(text.len() as u8);
    } else {
        block.extend([127, (text.len() - 127) as u8]);
    }
    block.extend(text.as_bytes());
}

pub(crate) fn end(ends: bool) -> u8 {
    if ends { END_STREAM } else { 0 }
}

pub(crate) fn headers(stream: u32, ends: bool, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | end(ends), stream, &block(fields))
}

pub(crate) fn data(stream: u32, ends: bool, body: &[u8]) -> Vec<u8> {
    frame(DATA, end(ends), stream, body)
}

pub(crate) fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

pub(crate) fn window_update(stream: u32, by: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &by.to_be_bytes())
}

pub(crate) fn goaway(last: u32, code: u32, text: &str) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[&last.to_be_bytes()[..], &code.to_be_bytes(), text.as_bytes()].concat())
}

/// A frame that a test reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    pub(crate) fn new(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Self {
        Self { kind, flags, stream, payload: payload.to_vec() }
    }
}

/// All frames of what a client wrote; it must be whole frames.
pub(crate) fn read(mut bytes: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let length = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]) as usize;
        let stream = u32::from_be_bytes([bytes[5], bytes[6], bytes[7], bytes[8]]);
        frames.push(Frame::new(bytes[3], bytes[4], stream, &bytes[9..9 + length]));
        bytes = &bytes[9 + length..];
    }
    frames
}
