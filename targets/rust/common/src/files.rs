//! The files of `/file/{name}`, read from the file system each time.
//!
//! Only regular files directly in the folder are served: a name with a slash is none, links are not followed,
//! and opening never waits for the other end of a pipe.
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use bytes::Bytes;
use futures_util::TryStreamExt;
use futures_util::stream::Stream;
use http::StatusCode;
use http_body::Frame;
use http_body_util::{Either, Full, StreamBody};
use rustix::fs::OFlags;
use tokio::io::AsyncReadExt;
use tokio_util::io::ReaderStream;

use crate::contract::Failure;

/// What is not longer is read in one go, longer files in pieces of this length.
const CHUNK_BYTES: usize = 64 << 10;

type Chunks = Pin<Box<dyn Stream<Item = io::Result<Frame<Bytes>>> + Send>>;

/// The bytes of a file.
pub type FileBody = Either<Full<Bytes>, StreamBody<Chunks>>;

/// A folder of files.
pub struct Files {
    folder: PathBuf,
}

enum Opened {
    Whole(Vec<u8>),
    Long(File, u64),
}

impl Files {
    /// `folder` need not exist; then it has no files.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The file of that name, and its length in bytes.
    ///
    /// # Errors
    /// Status 404 where the folder has no such file that can be read.
    pub async fn body(&self, name: &str) -> Result<(FileBody, u64), Failure> {
        let none = || Failure::new(StatusCode::NOT_FOUND, "no such file");
        if name.contains('/') {
            return Err(none());
        }
        let path = self.folder.join(name);
        // One hop to the threads that may block, however many calls opening takes.
        match tokio::task::spawn_blocking(move || open(&path)).await {
            Ok(Ok(Opened::Whole(bytes))) => {
                let length = bytes.len() as u64;
                Ok((Either::Left(Full::new(bytes.into())), length))
            }
            Ok(Ok(Opened::Long(file, length))) => Ok((Either::Right(chunks(file, length)), length)),
            _ => Err(none()),
        }
    }
}

fn open(path: &Path) -> io::Result<Opened> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    if about.len() > CHUNK_BYTES as u64 {
        return Ok(Opened::Long(file, about.len()));
    }
    let mut bytes = Vec::with_capacity(CHUNK_BYTES.min(about.len() as usize + 1));
    file.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(Opened::Whole(bytes))
}

/// A file that grows is sent as long as it was, one that shrinks breaks the connection.
fn chunks(file: File, length: u64) -> StreamBody<Chunks> {
    let reader = tokio::fs::File::from_std(file).take(length);
    StreamBody::new(Box::pin(ReaderStream::with_capacity(reader, CHUNK_BYTES).map_ok(Frame::data)))
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    /// A folder of its own that is gone after the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("prony-files-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[tokio::test]
    async fn files_around_the_length_of_a_chunk_arrive_whole() {
        let folder = Folder::new("length");
        for length in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES + 5] {
            let bytes: Vec<u8> = (0..length).map(|k| (k % 251) as u8).collect();
            std::fs::write(folder.0.join("file"), &bytes).unwrap();
            let (body, told) = Files::new(folder.0.clone()).body("file").await.unwrap();
            assert_eq!(told, length as u64);
            assert!(body.collect().await.unwrap().to_bytes() == bytes, "{length} bytes");
        }
    }

    #[tokio::test]
    async fn nothing_else_is_served() {
        let folder = Folder::new("outside");
        std::fs::create_dir_all(folder.0.join("inside/folder")).unwrap();
        std::fs::write(folder.0.join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(folder.0.join("secret"), folder.0.join("inside/link")).unwrap();
        let files = Files::new(folder.0.join("inside"));
        for name in ["", ".", "..", "../secret", "folder", "link", "none", "a\0b", "/etc/passwd"] {
            let failure = files.body(name).await.err().expect(name);
            assert_eq!(failure.status(), StatusCode::NOT_FOUND, "{name:?}");
        }
    }
}
