//! RSA with OAEP and SHA-1, to the public key of a MySQL server: its only way without TLS to take a new password.
//!
//! Invariants: a key is of 512 to 4,096 bits and odd, else there is none; nothing here panics whatever the key.
//! Absent on purpose: constant time, since the key is public and the message is encrypted once for a login on this
//! host; decryption; any other use.

use super::digest::digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::SHA1_FOR_LEGACY_USE_ONLY;

/// Random bytes that an encryption takes: as many as SHA-1 gives.
pub(super) const SEED_BYTES: usize = 20;
const KEY_BYTES: std::ops::RangeInclusive<usize> = 64..=512;
const BIT_STRING: u8 = 3;
const INTEGER: u8 = 2;
const SEQUENCE: u8 = 0x30;

pub(super) struct PublicKey {
    modulus: Vec<u8>,
    exponent: Vec<u8>,
}

impl PublicKey {
    /// Of PEM, as SubjectPublicKeyInfo or as PKCS #1.
    pub(super) fn parse(pem: &[u8]) -> Option<Self> {
        let pem = std::str::from_utf8(pem).ok()?;
        let lines = pem.lines().map(str::trim).skip_while(|line| !line.starts_with("-----BEGIN"));
        let body: String = lines.skip(1).take_while(|line| !line.starts_with("-----END")).collect();
        let der = STANDARD.decode(body).ok()?;
        let (key, _) = element(SEQUENCE, &der)?;
        // What kind of key it is, then its bits; the first says how many are left over.
        let inner = element(SEQUENCE, key).and_then(|(_, rest)| element(BIT_STRING, rest));
        let numbers = match inner {
            Some((bits, _)) => element(SEQUENCE, bits.strip_prefix(&[0])?)?.0,
            None => key,
        };
        let (modulus, rest) = element(INTEGER, numbers)?;
        let (exponent, _) = element(INTEGER, rest)?;
        let (modulus, exponent) = (shortest(modulus), shortest(exponent));
        let is_sound = KEY_BYTES.contains(&modulus.len()) && modulus.last()? % 2 == 1 && exponent.len() <= 8;
        is_sound.then(|| Self { modulus: modulus.to_vec(), exponent: exponent.to_vec() })
    }

    /// None where the message is too long for the key.
    pub(super) fn encrypt(&self, message: &[u8], seed: [u8; SEED_BYTES]) -> Option<Vec<u8>> {
        let padded = padded(message, seed, self.modulus.len())?;
        Some(power(&padded, &self.exponent, &self.modulus))
    }
}

/// Content of a DER element of this tag, and what follows.
fn element(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = der.strip_prefix(&[tag])?.split_first()?;
    if first < 0x80 {
        return rest.split_at_checked(first.into());
    }
    let (length, rest) = rest.split_at_checked((first & 0x7f).into())?;
    let length =
        length.iter().try_fold(0_usize, |sum, byte| sum.checked_mul(256)?.checked_add((*byte).into()))?;
    rest.split_at_checked(length)
}

fn shortest(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

/// EME-OAEP (RFC 8017, 7.1.1) with an empty label.
fn padded(message: &[u8], seed: [u8; SEED_BYTES], key_bytes: usize) -> Option<Vec<u8>> {
    let zeros = key_bytes.checked_sub(message.len() + 2 * SEED_BYTES + 2)?;
    let label = digest(&SHA1_FOR_LEGACY_USE_ONLY, &[]);
    let block = [&label, vec![0; zeros].as_slice(), &[1], message].concat();
    let block = masked(&block, &seed);
    let seed = masked(&seed, &block);
    Some([&[0], seed.as_slice(), &block].concat())
}

/// Mixed with what MGF1 makes of the seed.
fn masked(bytes: &[u8], seed: &[u8]) -> Vec<u8> {
    let blocks = (0_u32..).flat_map(|at| digest(&SHA1_FOR_LEGACY_USE_ONLY, &[seed, &at.to_be_bytes()]));
    bytes.iter().zip(blocks).map(|(byte, mask)| byte ^ mask).collect()
}

/// `base` to the power of `exponent`, modulo an odd `modulus` that is greater than `base`; all are big-endian.
fn power(base: &[u8], exponent: &[u8], modulus: &[u8]) -> Vec<u8> {
    let (base, modulus_limbs) = (limbs(base, modulus.len()), limbs(modulus, modulus.len()));
    let mut product = limbs(&[1], modulus.len());
    for byte in exponent {
        for bit in (0..8).rev() {
            product = times(&product, &product, &modulus_limbs);
            if byte >> bit & 1 == 1 {
                product = times(&product, &base, &modulus_limbs);
            }
        }
    }
    let bytes: Vec<u8> = product.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    bytes[bytes.len() - modulus.len()..].to_vec()
}

/// The lowest first, with one to spare above `bytes`, so that a doubled number still fits.
fn limbs(number: &[u8], bytes: usize) -> Vec<u64> {
    let mut limbs = vec![0; bytes / 8 + 1];
    for (at, byte) in number.iter().rev().enumerate() {
        limbs[at / 8] |= u64::from(*byte) << (8 * (at % 8));
    }
    limbs
}

/// By doubling and adding, bit by bit: some milliseconds for a login.
fn times(one: &[u64], other: &[u64], modulus: &[u64]) -> Vec<u64> {
    let mut product = vec![0; modulus.len()];
    for limb in one.iter().rev() {
        for bit in (0..64).rev() {
            let doubled = product.clone();
            add(&mut product, &doubled, modulus);
            if limb >> bit & 1 == 1 {
                add(&mut product, other, modulus);
            }
        }
    }
    product
}

/// Both are less than the modulus, and so is the sum afterwards.
fn add(sum: &mut [u64], other: &[u64], modulus: &[u64]) {
    let mut carry = false;
    for (sum, other) in sum.iter_mut().zip(other) {
        (*sum, carry) = sum.carrying_add(*other, carry);
    }
    if sum.iter().rev().ge(modulus.iter().rev()) {
        let mut borrow = false;
        for (sum, modulus) in sum.iter_mut().zip(modulus) {
            (*sum, borrow) = sum.borrowing_sub(*modulus, borrow);
        }
    }
}

#[cfg(test)]
mod tests;
