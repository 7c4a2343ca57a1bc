//! A hash of parts that follow each other, for logins and for OAEP.

use ring::digest::{Algorithm, Context};

pub(super) fn digest(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Vec<u8> {
    let mut context = Context::new(algorithm);
    for part in parts {
        context.update(part);
    }
    context.finish().as_ref().to_vec()
}
