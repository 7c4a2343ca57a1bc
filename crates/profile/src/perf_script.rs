//! The text of `perf script`, folded by inferno's collapser.
//!
//! Invariant: inferno indexes lines by what it expects of perf; comm and symbol names are the target's. What is known
//! to make it panic is kept from it, and any other panic is caught and becomes an error like other malformed text.

use crate::{BYTES_MAX, Folded, ProfileError, text};
use inferno::collapse::Collapse;
use inferno::collapse::perf::{Folder, Options};
use schema::profile::ProfileUnit;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The event that is sampled, as perf names it before its modifiers.
const EVENT: &str = "cpu-clock";
/// 1000 s in nanoseconds has one digit more.
const PERIOD_DIGITS_MAX: usize = 12;

/// Reads samples of the event `cpu-clock`, whose period is CPU time in nanoseconds. The outermost frame is the name of
/// the thread.
///
/// # Errors
/// Too many bytes, or text that is not perf's.
pub fn read(data: &[u8]) -> Result<Folded, ProfileError> {
    if data.len() > BYTES_MAX {
        return Err(ProfileError::too_long(BYTES_MAX));
    }
    check_periods(data)?;
    let mut options = Options::default();
    // Named, because inferno asserts that the first lines name an event, which text that is not perf's need not do.
    options.event_filter = Some(EVENT.to_owned());
    // More threads would only be more of the generator's CPUs.
    options.nthreads = 1;
    let data = as_ascii(data);
    let collapsed = catch_unwind(AssertUnwindSafe(|| {
        let mut out = Vec::new();
        Folder::from(options).collapse(&*data, &mut out).map(|()| out)
    }));
    match collapsed {
        Ok(Ok(out)) => text::read(&from_ascii(&out), ProfileUnit::CpuNs, 1),
        Ok(Err(error)) => Err(malformed(&error.to_string())),
        Err(_) => Err(malformed("a line is not as perf writes it")),
    }
}

/// Begins a byte that [`as_ascii`] wrote as two hexadecimal digits.
const MARK: u8 = 1;

/// The text with every byte beyond ASCII written out: inferno cuts symbols by bytes where it looks for the hash of a
/// Rust symbol, which panics within a character.
fn as_ascii(data: &[u8]) -> Cow<'_, [u8]> {
    let is_written_out = |byte: &u8| !byte.is_ascii() || *byte == MARK;
    if !data.iter().any(is_written_out) {
        return Cow::Borrowed(data);
    }
    let mut text = Vec::with_capacity(data.len() + data.len() / 2);
    for byte in data {
        if is_written_out(byte) {
            text.push(MARK);
            text.extend([byte >> 4, byte & 0xf].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
        } else {
            text.push(*byte);
        }
    }
    Cow::Owned(text)
}

/// Undoes [`as_ascii`].
fn from_ascii(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&MARK) {
        return Cow::Borrowed(text);
    }
    let digit = |byte: &u8| (*byte as char).to_digit(16);
    let (mut data, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let written_out = match after {
            [high, low, after @ ..] if *first == MARK => {
                digit(high).zip(digit(low)).map(|pair| (pair, after))
            }
            _ => None,
        };
        match written_out {
            Some(((high, low), after)) => {
                data.push((high << 4 | low) as u8);
                rest = after;
            }
            None => data.push(*first),
        }
    }
    Cow::Owned(data)
}

/// Refuses periods that inferno's sum, which has 64 bits and no check, might not hold: the samples of all lines that
/// fit into [`BYTES_MAX`] do hold.
fn check_periods(data: &[u8]) -> Result<(), ProfileError> {
    let is_long = |word: &[u8]| {
        let digits = word.strip_prefix(b"+").unwrap_or(word).trim_ascii();
        digits.len() > PERIOD_DIGITS_MAX && digits.iter().all(u8::is_ascii_digit)
    };
    // The period stands between two colons, before the name of the event.
    let segments =
        data.split(|byte| *byte == b'\n').flat_map(|line| line.split(|byte| *byte == b':').skip(1));
    match segments.flat_map(|segment| segment.split(|byte| *byte == b' ')).any(is_long) {
        true => Err(malformed("a period is longer than 1000 s")),
        false => Ok(()),
    }
}

fn malformed(cause: &str) -> ProfileError {
    ProfileError::new(
        format!("no text of perf script: {cause}"),
        "look at the raw file; take the profile again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_cpu_time_under_the_thread() {
        let script = "server  77  1.000000:    5025125 cpu-clock:pppH: \n\
                      \t          401000 inner+0x10 (/bin/server)\n\
                      \t          400000 main+0x10 (/bin/server)\n\n\
                      server  77  1.100000:    5025125 cpu-clock:pppH: \n\
                      \t          400000 main+0x10 (/bin/server)\n\n";
        let folded = read(script.as_bytes()).unwrap();
        assert_eq!(folded.text(), "server;main 5025125\nserver;main;inner 5025125\n");
        assert!(read(b"").unwrap().is_empty());
        let _ = read(b"1: x:\n\t\xff\n");
    }

    #[test]
    fn inferno_is_kept_from_what_makes_it_panic() {
        // A panic that is caught still reaches the hook, and libFuzzer ends there.
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|info| {
            if std::thread::current().name() == Some("inferno") {
                eprintln!("{info}");
                std::process::abort();
            }
        }));
        let texts = [
            "no event\n\nanother 1 2.0: 3 cpu-clock: \n\t1 f (m)\n".to_owned(),
            "\n\n\n".to_owned(),
            "s 7 1.0: 18446744073709551615 cpu-clock: \n\t1 f (m)\n\n".repeat(2),
            // The last 17 bytes of the symbol begin within its first character.
            "s 7 1.0: 3 cpu-clock: \n\t1 äüöüöüöüöü+0x1 (m)\n\n".to_owned(),
        ];
        let thread = std::thread::Builder::new().name("inferno".to_owned());
        let results =
            thread.spawn(move || texts.map(|text| read(text.as_bytes()).map(|folded| folded.text())));
        let results = results.unwrap().join().unwrap();
        std::panic::set_hook(quiet);
        assert_eq!(results[0].as_deref(), Ok("another;f 3\n"));
        assert_eq!(results[1].as_deref(), Ok(""));
        assert!(results[2].as_ref().unwrap_err().to_string().contains("1000 s"));
        assert_eq!(results[3].as_deref(), Ok("s;äüöüöüöüöü 3\n"));
    }
}
