//! Java Flight Recorder: what `take/JfrFolded.java` writes of a recording, a stack a line: what its value counts, the
//! value, and the frames from root to leaf with semicolons between, separated by tabs.
//!
//! A sample is one thread that was running Java code when the sampler looked; the sampler looks at few threads at a
//! time, so samples are shares and not CPU time. Waits are those for monitors and locks, each with its whole length.

use crate::{BYTES_MAX, Folded, ProfileError};
use schema::profile::ProfileUnit;

/// The stacks of one recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Threads that were seen running.
    pub samples: Folded,
    /// Bytes allocated, extrapolated from sampled allocations; the leaf is the class.
    pub allocated: Folded,
    /// Time that threads waited for monitors and locks; the leaf is the class of what they waited for.
    pub waits: Folded,
}

/// Reads the stacks of a recording.
///
/// # Errors
/// Too many bytes, or a line that is none of a stack.
pub fn read(data: &[u8]) -> Result<Recorded, ProfileError> {
    if data.len() > BYTES_MAX {
        return Err(ProfileError::too_long(BYTES_MAX));
    }
    let mut recorded = Recorded {
        samples: Folded::new(ProfileUnit::Samples),
        allocated: Folded::new(ProfileUnit::Bytes),
        waits: Folded::new(ProfileUnit::BlockedNs),
    };
    for (k, line) in String::from_utf8_lossy(data).lines().enumerate() {
        add(&mut recorded, line).ok_or_else(|| {
            ProfileError::new(
                format!("line {} is no stack of a recording", k + 1),
                "take it again with --kind jfr",
            )
        })?;
    }
    Ok(recorded)
}

fn add(recorded: &mut Recorded, line: &str) -> Option<()> {
    let mut fields = line.splitn(3, '\t');
    let folded = match fields.next()? {
        "samples" => &mut recorded.samples,
        "bytes" => &mut recorded.allocated,
        "waits" => &mut recorded.waits,
        _ => return None,
    };
    let value: u64 = fields.next()?.parse().ok()?;
    folded.add(&fields.next()?.split(';').collect::<Vec<_>>(), value);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_goes_to_what_it_counts() {
        let recorded =
            read(b"samples\t2\ta.B.root;a.B.leaf\nbytes\t64\ta.B.root;byte[]\nwaits\t7\ta.B.root\n").unwrap();
        assert_eq!(recorded.samples.text(), "a.B.root;a.B.leaf 2\n");
        assert_eq!(recorded.allocated.text(), "a.B.root;byte[] 64\n");
        assert_eq!(
            (recorded.waits.text().as_str(), recorded.waits.unit),
            ("a.B.root 7\n", ProfileUnit::BlockedNs)
        );
    }

    #[test]
    fn what_is_no_stack_is_named_by_its_line() {
        for line in ["", "cpu\t1\ta", "samples\tone\ta", "samples\t-1\ta", "samples\t1"] {
            let wrong = read(format!("samples\t1\ta\n{line}\n").as_bytes()).unwrap_err();
            assert!(wrong.cause.contains("line 2"), "{line}: {}", wrong.cause);
        }
        assert!(read(b"").unwrap().samples.is_empty());
    }
}
