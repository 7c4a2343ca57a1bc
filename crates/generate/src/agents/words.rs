//! What a program that leads to an agent writes on standard error: shown as it comes, and its last lines kept as the cause
//! for the end of the link. ssh says nowhere else why it ended.
//!
//! Invariants: a line is bounded and has no control characters, because another host may have written it; nobody waits
//! long for more of it, because a program in the background may keep the stream open.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longest line that is taken whole.
const LINE_BYTES_MAX: u64 = 1024;
/// ssh says what it saw in one line and that it ends in another.
const KEPT: usize = 2;
/// Time in which the rest comes once the program's standard output has ended.
const REST_MAX: Duration = Duration::from_millis(500);
const REST_POLL: Duration = Duration::from_millis(5);

/// The last lines, while a thread reads.
#[derive(Debug)]
pub(super) struct Words {
    kept: Arc<Mutex<Vec<String>>>,
    thread: JoinHandle<()>,
}

impl Words {
    /// Begins to read.
    pub(super) fn follow(from: impl Read + Send + 'static) -> Self {
        let kept = Arc::<Mutex<Vec<String>>>::default();
        let shared = kept.clone();
        let thread = std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            while let Some(line) = next(&mut from) {
                // Nobody may be there to read it.
                let _ = writeln!(std::io::stderr(), "{line}");
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if !line.trim().is_empty() {
                    kept.push(line.trim().to_owned());
                }
                let surplus = kept.len().saturating_sub(KEPT);
                kept.drain(..surplus);
            }
        });
        Self { kept, thread }
    }

    /// The last lines in one, once all is read or a moment has passed.
    pub(super) fn last(&self) -> Option<String> {
        let since = Instant::now();
        while !self.thread.is_finished() && since.elapsed() < REST_MAX {
            std::thread::sleep(REST_POLL);
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        (!kept.is_empty()).then(|| kept.join("; "))
    }
}

/// The next line without its end, or the next part of one that is too long.
fn next(from: &mut impl std::io::BufRead) -> Option<String> {
    let mut line = Vec::new();
    let bytes = from.take(LINE_BYTES_MAX).read_until(b'\n', &mut line).ok()?;
    let text = String::from_utf8_lossy(&line);
    (bytes > 0).then(|| text.chars().filter(|c| !c.is_control()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_bounded_and_without_control_characters() {
        let long = "x".repeat(3000);
        let text = format!("one\n{long}\n\x1b[2JHost key verification failed.\r\n\n");
        let words = Words::follow(std::io::Cursor::new(text.into_bytes()));
        let last = words.last().unwrap();
        let (before, end) = last.split_once("; ").unwrap();
        assert!(before.bytes().all(|byte| byte == b'x') && before.len() <= 1024, "{last}");
        assert_eq!(end, "[2JHost key verification failed.");
        assert!(Words::follow(std::io::empty()).last().is_none());
    }

    #[test]
    fn a_stream_that_stays_open_holds_nobody_up() {
        let (here, mut there) = std::os::unix::net::UnixStream::pair().unwrap();
        there.write_all(b"gone\n").unwrap();
        assert_eq!(Words::follow(here).last().as_deref(), Some("gone"));
    }
}
