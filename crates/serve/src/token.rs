//! The one token of a lab: read from a file that nobody else can read, or made; compared in constant time.

use crate::ServeError;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Shortest token that is accepted from a file.
pub const TOKEN_LENGTH_MIN: usize = 16;
const TOKEN_LENGTH_MAX: usize = 256;
/// Random bytes of a token that is made.
const MADE_BYTES: usize = 24;

/// A token of random bytes, in hexadecimal digits.
///
/// # Errors
/// The system gives no randomness.
pub fn made() -> Result<String, ServeError> {
    let mut bytes = [0_u8; MADE_BYTES];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| ServeError::System { what: "make a token", source: io::Error::from(error) })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The token in a file: its first line.
///
/// # Errors
/// The file cannot be read, others can read it, or the token is too short or holds what no header can.
pub fn read(path: &Path) -> Result<String, ServeError> {
    let wrong = |cause: String, remedy: &str| ServeError::Token {
        path: path.to_owned(),
        cause,
        remedy: remedy.to_owned(),
    };
    let remedy = "make one with `umask 077; openssl rand -hex 24 > FILE`";
    let found = fs::metadata(path).map_err(|error| wrong(error.to_string(), remedy))?;
    if !found.is_file() || found.len() > 64 * 1024 {
        return Err(wrong("it is no small ordinary file".to_owned(), remedy));
    }
    if found.mode() & 0o077 != 0 {
        return Err(wrong("other users can read or write the file".to_owned(), "chmod 600 the file"));
    }
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string(), remedy))?;
    let token = text.lines().next().unwrap_or_default().trim();
    if !(TOKEN_LENGTH_MIN..=TOKEN_LENGTH_MAX).contains(&token.len()) {
        return Err(wrong(format!("it has {} characters, 16 to 256 are wanted", token.len()), remedy));
    }
    if !token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)) {
        return Err(wrong("it holds other characters than A-Z a-z 0-9 - . _ ~".to_owned(), remedy));
    }
    Ok(token.to_owned())
}

/// Whether two tokens are the same; takes the same time wherever they differ.
pub(crate) fn is_same(given: &str, wanted: &str) -> bool {
    let differing = given.bytes().zip(wanted.bytes()).fold(0_u8, |differing, (a, b)| differing | (a ^ b));
    given.len() == wanted.len() && std::hint::black_box(differing) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn tokens_are_read_from_files_that_nobody_else_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let write = |text: &str, mode: u32| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        write("0123456789abcdef\n", 0o600);
        assert_eq!(read(&path).unwrap(), "0123456789abcdef");
        for (text, mode, cause) in [
            ("0123456789abcdef\n", 0o644, "other users"),
            ("short\n", 0o600, "5 characters"),
            ("0123456789 abcdef\n", 0o600, "other characters"),
        ] {
            write(text, mode);
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains(cause) && error.contains("remedy:"), "{error}");
        }
        assert!(read(&folder.path().join("none")).is_err());
    }

    #[test]
    fn made_tokens_differ_and_compare() {
        let (a, b) = (made().unwrap(), made().unwrap());
        assert!(a.len() == 48 && a != b);
        assert!(is_same(&a, &a) && !is_same(&a, &b) && !is_same("", &a) && !is_same(&a[..47], &a));
    }
}
