//! Running `ip`, `tc` and `nft`: the system's own programs, which know what the kernel at hand understands.
//!
//! Invariants: a missing program is named with the package that has it; each is ended after a time; what it says is
//! bounded and cleaned before it is shown.

use crate::program;
use crate::tail::clean;
use std::io::{ErrorKind, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// They take milliseconds; a stuck one must not hold the guard.
const TIMEOUT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);
const OUTPUT_BYTES: u64 = 1 << 20;
/// Where they are when PATH leaves the places for administrators out.
const PATH: &str = "/usr/sbin:/sbin:/usr/bin:/bin";

/// Program and the Debian package that has it.
const PACKAGES: [(&str, &str); 3] = [("ip", "iproute2"), ("tc", "iproute2"), ("nft", "nftables")];

/// Whether a program is installed.
pub(super) fn is_there(name: &str) -> bool {
    program::find(name, None, Some(PATH)).is_some()
}

/// Runs a program with words from a line, separated by spaces, and `input` on its standard input; its output.
///
/// # Errors
/// It is missing, takes too long, or says no; with its words.
pub(super) fn run(name: &str, words: &str, input: &str) -> Result<String, String> {
    let file = program::find(name, None, Some(PATH)).ok_or_else(|| missing(name))?;
    let mut child = Command::new(file)
        .args(words.split_ascii_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{name}` cannot be started: {error}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // What is sent is far below a pipe's capacity; a program that ended already says why below.
        let _ = stdin.write_all(input.as_bytes());
    }
    let read = |stream: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(stream) = stream {
                let _ = stream.take(OUTPUT_BYTES).read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = read(child.stdout.take().map(|stream| Box::new(stream) as _));
    let err = read(child.stderr.take().map(|stream| Box::new(stream) as _));
    let deadline = Instant::now() + TIMEOUT;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(PAUSE),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("`{name} {words}` did not end within {TIMEOUT:?}"));
            }
        }
    };
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    if status.success() {
        Ok(out)
    } else {
        Err(format!("`{name} {words}` failed: {}", clean(err.trim(), 300)))
    }
}

fn missing(name: &str) -> String {
    let package = PACKAGES.iter().find(|(program, _)| *program == name).map_or(name, |(_, package)| package);
    format!("the program `{name}` is missing (apt install {package})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_input_and_failure() {
        assert_eq!(run("cat", "-", "a b").as_deref(), Ok("a b"));
        let error = run("ls", "/nonexistent-of-prony", "").unwrap_err();
        assert!(error.starts_with("`ls /nonexistent-of-prony` failed: "), "{error}");
    }

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        assert_eq!(missing("tc"), "the program `tc` is missing (apt install iproute2)");
        assert!(run("prony-has-no-such-tool", "", "").unwrap_err().contains("is missing"));
    }
}
