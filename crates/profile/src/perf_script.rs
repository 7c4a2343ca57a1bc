//! The text of `perf script`, folded by inferno's collapser.
//!
//! Invariant: inferno indexes lines by what it expects of perf; comm and symbol names are the target's, so a panic of
//! it is caught and becomes an error like any other malformed text.

use crate::{BYTES_MAX, Folded, ProfileError, text};
use inferno::collapse::Collapse;
use inferno::collapse::perf::{Folder, Options};
use schema::profile::ProfileUnit;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reads samples of the event `cpu-clock`, whose period is CPU time in nanoseconds. The outermost frame is the name of
/// the thread.
///
/// # Errors
/// Too many bytes, or text that is not perf's.
pub fn read(data: &[u8]) -> Result<Folded, ProfileError> {
    if data.len() > BYTES_MAX {
        return Err(ProfileError::too_long(BYTES_MAX));
    }
    let mut options = Options::default();
    // More threads would only be more of the generator's CPUs.
    options.nthreads = 1;
    let collapsed = catch_unwind(AssertUnwindSafe(|| {
        let mut out = Vec::new();
        Folder::from(options).collapse(data, &mut out).map(|()| out)
    }));
    match collapsed {
        Ok(Ok(out)) => text::read(&out, ProfileUnit::CpuNs, 1),
        Ok(Err(error)) => Err(malformed(&error.to_string())),
        Err(_) => Err(malformed("a line is not as perf writes it")),
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
}
