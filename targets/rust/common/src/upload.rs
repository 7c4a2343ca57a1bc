//! The body of `/upload`: read whole, as far as the contract allows, its length and checksum reported. It is not
//! kept.
use std::error::Error;
use std::pin::pin;

use bytes::Bytes;
use http::StatusCode;
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::contract::Failure;

/// The longest body, in bytes.
pub const BYTES_MAX: usize = 16 << 20;

/// The data of `/upload`.
#[derive(Debug, Serialize)]
pub struct Upload {
    bytes: usize,
    sha256: String,
}

/// Reads `body` to its end or to the first byte that is too much.
///
/// # Errors
/// Status 413 where it is too long, 400 where it cannot be read.
pub async fn sum<B>(body: B) -> Result<Upload, Failure>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut body = pin!(Limited::new(body, BYTES_MAX));
    let mut hash = Sha256::new();
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        // Trailers are no part of the body.
        if let Ok(data) = frame.map_err(failed)?.into_data() {
            hash.update(&data);
            bytes += data.len();
        }
    }
    Ok(Upload { bytes, sha256: hex::encode(hash.finalize()) })
}

fn failed(error: Box<dyn Error + Send + Sync>) -> Failure {
    if error.is::<LengthLimitError>() {
        return Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is longer than 16 MiB");
    }
    Failure::new(StatusCode::BAD_REQUEST, format!("the body cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    #[tokio::test]
    async fn the_longest_body_is_taken_and_one_byte_more_is_not() {
        let longest = Bytes::from(vec![0; BYTES_MAX]);
        assert_eq!(sum(Full::new(longest)).await.unwrap().bytes, BYTES_MAX);
        let longer = Bytes::from(vec![0; BYTES_MAX + 1]);
        assert_eq!(sum(Full::new(longer)).await.unwrap_err().status(), StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[tokio::test]
    async fn a_body_that_breaks_is_a_bad_request() {
        let broken = futures_util::stream::once(async { Err::<http_body::Frame<Bytes>, _>("planted") });
        let failure = sum(http_body_util::StreamBody::new(broken)).await.unwrap_err();
        assert_eq!(failure.status(), StatusCode::BAD_REQUEST);
        assert!(failure.to_string().contains("planted"), "{failure}");
    }
}
