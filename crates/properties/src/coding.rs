//! Content codings (gzip, deflate, br, zstd): what a body decodes to is bounded and the same in any split, and a coded
//! text comes back whole.
//!
//! Input: one byte that chooses the coding and by its highest bit the property, one that chooses the split, then the
//! coded body, or a text, which is coded by the stored form of the format; those small encoders share nothing with
//! the decoders.

use crate::Broken;
use crate::read::cuts;
use request::{Answer, Check, Judged, Notes, decoded};
use std::borrow::Cow;
use wire::{Header, Visit as _};

/// The limits of `request`.
const DECODED_BYTES_MAX: usize = 64 << 20;
const RATIO_MAX: usize = 256;
const PIECE_BYTES: usize = 4 << 10;
/// Longer ones are decoded once, not in several splits: `request`'s own tests do that.
const SPLIT_BYTES_MAX: usize = 64 << 10;
/// Of the first byte: the rest is a text.
const IS_TEXT: u8 = 0x80;
/// So many bytes are also given one by one; headers of formats are shorter.
const SINGLE_BYTES: usize = 24;
/// The stored forms below hold a text in one block.
const TEXT_BYTES_MAX: usize = 32 << 10;

/// Codes a text without making it shorter.
type Encoder = fn(&[u8]) -> Vec<u8>;
/// Codings by name, each with its stored form; `deflate` means two formats.
const CODINGS: [(&str, Encoder); 5] =
    [("gzip", gzip), ("deflate", zlib), ("deflate", bare_deflate), ("br", brotli), ("zstd", zstd)];

/// Decodes a whole body, as [`decoded()`] does; borrowed where it cannot be decoded.
pub type WholeDecoder = dyn for<'a> Fn(&[Header<'_>], &'a [u8]) -> Cow<'a, [u8]>;

/// The property of the target `coding`.
///
/// # Errors
/// The result depends on the split, is larger than it may be, or a coded text does not come back.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &|fields, body| decoded(fields, body))
}

/// [`check`] of any decoder of whole bodies, held against the one that judges bodies in pieces.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], decoder: &WholeDecoder) -> Result<(), Broken> {
    let [choice, seed, body @ ..] = input else { return Ok(()) };
    let (name, encode) = CODINGS[usize::from(choice & !IS_TEXT) % CODINGS.len()];
    let fields = [Header { name: "Content-Encoding", value: name.as_bytes() }];
    if choice & IS_TEXT == 0 {
        return same_in_any_split(&fields, body, *seed, decoder);
    }
    let text = &body[..body.len().min(TEXT_BYTES_MAX)];
    comes_back(&fields, text, encode(text), decoder)
}

fn same_in_any_split(
    fields: &[Header<'_>],
    body: &[u8],
    seed: u8,
    decoder: &WholeDecoder,
) -> Result<(), Broken> {
    let whole = decoder(fields, body);
    let is_decoded = matches!(whole, Cow::Owned(_));
    let bytes_max = DECODED_BYTES_MAX.min(body.len().next_multiple_of(PIECE_BYTES) * RATIO_MAX);
    let bytes = whole.len();
    Broken::unless(!is_decoded || bytes <= bytes_max, || format!("{bytes} bytes from {}", body.len()))?;
    if is_decoded && bytes > SPLIT_BYTES_MAX {
        return Ok(());
    }
    let check = Check::new(&[200], Some(whole.into_owned()));
    let single = body.len().min(SINGLE_BYTES);
    let split = (0..single).chain(cuts(body.len(), seed).into_iter().filter(|cut| *cut >= single)).collect();
    let splits = [Vec::new(), split];
    let judged = splits.map(|cuts| judged(&check, fields, body, &cuts));
    Broken::unless(judged.iter().all(|one| *one == judged[0]), || format!("by split: {judged:?}"))?;
    let is_failure = matches!(judged[0], Judged::Failed(_));
    let agrees = if is_decoded || body.is_empty() { judged[0] == Judged::Right } else { is_failure };
    Broken::unless(agrees, || {
        format!("whole, it is decoded: {is_decoded} ({bytes} bytes); in pieces: {:?}", judged[0])
    })
}

fn judged(check: &Check, fields: &[Header<'_>], body: &[u8], cuts: &[usize]) -> Judged {
    let (mut answer, mut notes) = (Answer::to(0), Notes::default());
    let mut judge = answer.judge(check, &mut notes);
    judge.head(200, fields);
    let mut from = 0;
    for to in cuts.iter().copied().chain([body.len()]) {
        judge.body(&body[from..to]);
        from = to;
    }
    answer.finish(check, &mut notes)
}

/// A stored text is decoded, and is refused with a byte less or more.
fn comes_back(
    fields: &[Header<'_>],
    text: &[u8],
    mut stored: Vec<u8>,
    decoder: &WholeDecoder,
) -> Result<(), Broken> {
    let decoded_to = |coded: &[u8]| match decoder(fields, coded) {
        Cow::Owned(plain) => Some(plain),
        Cow::Borrowed(_) => None,
    };
    let back = decoded_to(&stored);
    Broken::unless(back.as_deref() == Some(text), || format!("{text:?} came back as {back:?}"))?;
    // An empty body needs no decoding.
    let short = Some(&stored[..stored.len() - 1]).filter(|short| !short.is_empty()).and_then(decoded_to);
    Broken::unless(short.is_none(), || format!("without its last byte: {short:?}"))?;
    stored.push(0);
    let long = decoded_to(&stored);
    Broken::unless(long.is_none(), || format!("with a byte behind it: {long:?}"))
}

/// RFC 1952.
fn gzip(text: &[u8]) -> Vec<u8> {
    let mut coded = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    coded.extend(bare_deflate(text));
    coded.extend(crc32(text).to_le_bytes());
    coded.extend((text.len() as u32).to_le_bytes());
    coded
}

/// RFC 1950.
fn zlib(text: &[u8]) -> Vec<u8> {
    let sums = text.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (a + b) % 65_521)
    });
    let mut coded = vec![0x78, 0x01];
    coded.extend(bare_deflate(text));
    coded.extend((sums.1 << 16 | sums.0).to_be_bytes());
    coded
}

/// RFC 1951 §3.2.4: one last block, stored.
fn bare_deflate(text: &[u8]) -> Vec<u8> {
    let length = text.len() as u16;
    let mut coded = vec![1];
    coded.extend(length.to_le_bytes());
    coded.extend((!length).to_le_bytes());
    coded.extend(text);
    coded
}

fn crc32(text: &[u8]) -> u32 {
    !text.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
    })
}

/// RFC 7932 §9: a window of 64 KiB, one uncompressed meta-block where there is text, an empty last one.
fn brotli(text: &[u8]) -> Vec<u8> {
    if text.is_empty() {
        return vec![0b110];
    }
    let head = (text.len() as u32 - 1) << 4 | 1 << 20;
    let mut coded = head.to_le_bytes()[..3].to_vec();
    coded.extend(text);
    coded.push(0b11);
    coded
}

/// RFC 8878 §3.1.1: a window of 1 MiB, one last block, raw.
fn zstd(text: &[u8]) -> Vec<u8> {
    let mut coded = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 10 << 3];
    coded.extend(&((text.len() as u32) << 3 | 1).to_le_bytes()[..3]);
    coded.extend(text);
    coded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_texts_hold_for_every_coding() {
        for choice in 0..CODINGS.len() as u8 {
            for text in [&b""[..], b"a", b"hello, hello, hello", &[b'x'; TEXT_BYTES_MAX + 9]] {
                let (_, encode) = CODINGS[usize::from(choice)];
                assert_eq!(check(&[&[choice | IS_TEXT, 7], text].concat()), Ok(()), "{choice}");
                let stored = encode(&text[..text.len().min(TEXT_BYTES_MAX)]);
                assert_eq!(check(&[&[choice, 7], &stored[..]].concat()), Ok(()), "{choice}");
            }
        }
    }

    #[test]
    fn lax_and_lossy_decoders_are_caught() {
        let coded = gzip(b"hello");
        let usual = [&[0, 3], &coded[..]].concat();
        let damaged = [&[0, 3], &coded[..coded.len() - 1]].concat();
        let lax: &WholeDecoder = &|_, _| Cow::Owned(b"hello".to_vec());
        let lossy: &WholeDecoder = &|fields, body| match decoded(fields, body) {
            Cow::Owned(mut plain) => {
                plain.pop();
                Cow::Owned(plain)
            }
            borrowed => borrowed,
        };
        let bomb: &WholeDecoder = &|_, _| Cow::Owned(vec![0; (1 << 20) + 1]);
        let text = [&[IS_TEXT, 3], &b"hello!"[..]].concat();
        for (input, decoder) in
            [(&damaged, lax), (&usual, lossy), (&usual, bomb), (&text, lax), (&text, lossy)]
        {
            assert_eq!(check(input), Ok(()));
            assert!(check_with(input, decoder).is_err());
        }
    }
}
