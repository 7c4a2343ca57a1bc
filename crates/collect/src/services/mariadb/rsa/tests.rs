//! A key made by OpenSSL for this test and for nothing else.

use super::*;

const KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
    MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAOgBDt29y7RDz5D+gACJ8Kt07litX+m0\n\
    CCx6YU5lP3AhYOsjfOL4JG9CUC6u3SfPlBCSKjWtuhpz9EuAS0AKaU8CAwEAAQ==\n\
    -----END PUBLIC KEY-----";
/// The same key as PKCS #1.
const OLDER: &str = "-----BEGIN RSA PUBLIC KEY-----\n\
    MEgCQQDoAQ7dvcu0Q8+Q/oAAifCrdO5YrV/ptAgsemFOZT9wIWDrI3zi+CRvQlAu\n\
    rt0nz5QQkio1rboac/RLgEtACmlPAgMBAAE=\n\
    -----END RSA PUBLIC KEY-----";
const PRIVATE_EXPONENT: &str = "64c0d8e0e964c69350580a7e323db55bf07af5ddcd3263f1ccc714ed03c14a03\
    11343c3b7c782868f59765e9f662499d9c3897f23b9902c859cbe7c6992bb3b9";
const SEED: [u8; SEED_BYTES] = *b"abcdefghijklmnopqrst";

fn decrypted(encrypted: &[u8], modulus: &[u8]) -> Vec<u8> {
    let bytes = PRIVATE_EXPONENT.as_bytes().chunks(2);
    let exponent: Vec<u8> =
        bytes.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect();
    let padded = power(encrypted, &exponent, modulus);
    let (seed, block) = padded[1..].split_at(SEED_BYTES);
    let block = masked(block, &masked(seed, block));
    let (label, rest) = block.split_at(SEED_BYTES);
    assert_eq!((padded[0], label), (0, &digest(&SHA1_FOR_LEGACY_USE_ONLY, &[])[..]));
    rest[rest.iter().position(|byte| *byte == 1).unwrap() + 1..].to_vec()
}

#[test]
fn who_has_the_private_key_reads_the_message() {
    for key in [KEY, OLDER] {
        let key = PublicKey::parse(key.as_bytes()).unwrap();
        assert_eq!((key.modulus.len(), key.exponent.as_slice()), (64, &[1, 0, 1][..]));
        let encrypted = key.encrypt(b"secret\0", SEED).unwrap();
        assert_eq!(decrypted(&encrypted, &key.modulus), b"secret\0");
        assert!(key.encrypt(&[0; 23], SEED).is_none(), "longer than the key can take");
    }
}

#[test]
fn powers_are_right() {
    // 3^5 mod 2^8 + 1 by hand, and numbers of the greatest length.
    assert_eq!(power(&[0, 3], &[5], &[1, 1]), [0, 243]);
    assert_eq!(power(&[0, 3], &[0], &[1, 1]), [0, 1]);
    let most = [0xff; 72];
    let mut less = most;
    less[71] = 0xfe;
    // (m - 1)^2 is 1 modulo m.
    assert_eq!(power(&less, &[2], &most)[71], 1);
}

#[test]
fn what_is_no_key_is_none() {
    let body = KEY.lines().nth(1).unwrap();
    let even = KEY.replace("aU8CAwEAAQ", "aUACAwEAAQ");
    assert_ne!(even, KEY);
    for text in ["", body, "-----BEGIN PUBLIC KEY-----\n!", "-----BEGIN PUBLIC KEY-----\nMEgCQQ==", &even] {
        assert!(PublicKey::parse(text.as_bytes()).is_none(), "{text}");
    }
    for end in 0..KEY.len() {
        let _ = PublicKey::parse(&KEY.as_bytes()[..end]);
    }
}
