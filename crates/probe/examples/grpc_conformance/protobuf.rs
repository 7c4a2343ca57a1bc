//! The little of protobuf's encoding that the runner's messages need: fields by number.

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Fields in order; `None` where the bytes are no message.
pub(crate) fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, Value<'_>)>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut bytes)?),
            1 => Value::Bytes(take(&mut bytes, 8)?),
            2 => {
                let length = varint(&mut bytes)?;
                Value::Bytes(take(&mut bytes, usize::try_from(length).ok()?)?)
            }
            5 => Value::Bytes(take(&mut bytes, 4)?),
            _ => return None,
        };
        found.push((tag >> 3, value));
    }
    Some(found)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a number.
pub(crate) fn put_number(field: u64, value: u64, out: &mut Vec<u8>) {
    put_varint(field << 3, out);
    put_varint(value, out);
}

/// Appends a text, bytes or a message.
pub(crate) fn put_bytes(field: u64, value: &[u8], out: &mut Vec<u8>) {
    put_varint(field << 3 | 2, out);
    put_varint(value.len() as u64, out);
    out.extend_from_slice(value);
}
