//! Folded stacks as text, one `a;b;c 12` a line: what phpspy, Excimer and most collapsers write.

use crate::{BYTES_MAX, Folded, ProfileError};
use schema::profile::ProfileUnit;

/// Reads folded stacks; each value is multiplied by `each`, for example the time that a sample stands for.
///
/// # Errors
/// Too many bytes, or lines none of which is a folded stack.
pub fn read(data: &[u8], unit: ProfileUnit, each: u64) -> Result<Folded, ProfileError> {
    if data.len() > BYTES_MAX {
        return Err(ProfileError::too_long(BYTES_MAX));
    }
    let text = String::from_utf8_lossy(data);
    let mut folded = Folded::new(unit);
    let mut strange = 0_u64;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.rsplit_once(' ').and_then(|(stack, value)| Some((stack, value.parse::<u64>().ok()?))) {
            Some((stack, value)) => {
                folded.add(&stack.split(';').collect::<Vec<_>>(), value.saturating_mul(each));
            }
            None => strange += 1,
        }
    }
    if folded.is_empty() && strange > 0 {
        return Err(ProfileError::new(
            format!("{strange} lines, none of which is a folded stack such as `main;work 12`"),
            "take the profile again; the raw file shows what came",
        ));
    }
    Ok(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_stacks_with_a_value() {
        let folded = read(b"a;b c;d 2\n\na 1\nnonsense\n", ProfileUnit::CpuNs, 10).unwrap();
        assert_eq!(folded.text(), "a 10\na;b c;d 20\n");
        assert!(read(b"nonsense\n", ProfileUnit::CpuNs, 1).unwrap_err().cause.contains("1 lines"));
        assert!(read(b"", ProfileUnit::CpuNs, 1).unwrap().is_empty());
        let most = read(b"a 18446744073709551615\n", ProfileUnit::CpuNs, 2).unwrap();
        assert_eq!(most.total(), u64::MAX);
    }
}
