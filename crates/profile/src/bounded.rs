//! Bytes up to a limit, and gzip without a bomb.

use crate::ProfileError;
use std::io::Read;

/// First bytes of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The bytes themselves, or what gzip made of them, where they are at most `limit`.
pub(crate) fn unzipped(data: &[u8], limit: usize) -> Result<Vec<u8>, ProfileError> {
    if data.len() > limit {
        return Err(ProfileError::too_long(limit));
    }
    if !data.starts_with(&GZIP) {
        return Ok(data.to_vec());
    }
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(data).take(limit as u64 + 1).read_to_end(&mut plain).map_err(|error| {
        ProfileError::new(format!("the profile is no whole gzip stream ({error})"), "take it again")
    })?;
    if plain.len() > limit { Err(ProfileError::too_long(limit)) } else { Ok(plain) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use std::io::Write;

    #[test]
    fn a_bomb_is_refused() {
        let mut zipper = flate2::write::GzEncoder::new(Vec::new(), Compression::best());
        zipper.write_all(&vec![0; 1 << 20]).unwrap();
        let bomb = zipper.finish().unwrap();
        assert_eq!(unzipped(&bomb, 1 << 20).unwrap().len(), 1 << 20);
        assert!(unzipped(&bomb, (1 << 20) - 1).unwrap_err().cause.contains("longer"));
        assert!(unzipped(&bomb[..bomb.len() / 2], 1 << 20).is_err());
    }
}
