//! Gives back the pages of the program that only its start needed: readers of arguments and files, checks, plans. They
//! are most of what a generator of few connections would keep in memory.
//!
//! Invariant: only mappings of files that are not writable and have no page of their own (`Anonymous: 0 kB`) are given
//! back, so that the kernel reads the same bytes again when one is needed.

use rustix::mm::{Advice, madvise};
use std::ops::Range;

/// Gives back what can be read again from the program's files. To be called before a load begins, never while one runs:
/// each page costs a fault of about 0.5 µs when it is next used, sixteen pages at a time.
pub fn give_back_pages() {
    let Ok(maps) = std::fs::read_to_string("/proc/self/smaps") else { return };
    for range in unchanged(&maps) {
        #[expect(unsafe_code, reason = "advice about memory that was not allocated has no safe wrapper")]
        // SAFETY: the range is a mapping of a file, not writable, of which every page is as in the file: nobody has
        // changed one, and nobody can. What this forgets the kernel reads from the file again at the next use. That the
        // file has not changed is what running it relies on anyway.
        let result = unsafe { madvise(range.start as *mut _, range.len(), Advice::LinuxDontNeed) };
        // A kernel that refuses leaves all as it was.
        let _ = result;
    }
}

/// Address ranges of the mappings in a text of `/proc/PID/smaps` that are of files, not writable, and unchanged.
fn unchanged(smaps: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open = None;
    for line in smaps.lines() {
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some("Anonymous:"), Some("0")) => found.extend(open.take()),
            (Some(range), Some(rights)) if !range.ends_with(':') => {
                let is_file = words.nth(3).is_some_and(|path| path.starts_with('/'));
                open = (is_file && rights.starts_with('r') && !rights.contains('w'))
                    .then(|| ends(range))
                    .flatten();
            }
            _ => {}
        }
    }
    found
}

/// `5581e0a00000-5581e0b00000`.
fn ends(range: &str) -> Option<Range<usize>> {
    let (start, end) = range.split_once('-')?;
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unchanged_mappings_of_files_are_given_back() {
        let smaps = "\
1000-3000 r--p 00000000 fe:00 1 /usr/bin/prony\nRss: 8 kB\nAnonymous:             0 kB\nVmFlags: rd\n\
3000-5000 r-xp 00002000 fe:00 1 /usr/bin/prony\nRss: 8 kB\nAnonymous:             0 kB\n\
5000-6000 r--p 00004000 fe:00 1 /usr/bin/prony\nRss: 4 kB\nAnonymous:             4 kB\n\
6000-7000 rw-p 00005000 fe:00 1 /usr/bin/prony\nAnonymous:             0 kB\n\
7000-8000 rw-p 00000000 00:00 0 [heap]\nAnonymous:             0 kB\n\
8000-9000 r-xp 00000000 00:00 0 [vdso]\nAnonymous:             0 kB\n\
9000-a000 ---p 00000000 fe:00 1 /usr/lib/libm.so.6\nAnonymous:             0 kB\n\
a000-b000 r--p 00000000 00:00 0\nAnonymous:             0 kB\n";
        assert_eq!(unchanged(smaps), [0x1000..0x3000, 0x3000..0x5000]);
    }

    #[test]
    fn the_program_goes_on_with_what_it_read_before() {
        let mapped = || -> u64 {
            let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let ranges = unchanged(&smaps);
            assert!(!ranges.is_empty(), "this program is mapped from a file");
            let mut within = false;
            let mut kib = 0;
            for line in smaps.lines() {
                match line.split_ascii_whitespace().collect::<Vec<_>>()[..] {
                    ["Rss:", size, ..] if within => kib += size.parse::<u64>().unwrap(),
                    [range, ..] if !range.ends_with(':') => {
                        within = ends(range).is_some_and(|r| ranges.contains(&r));
                    }
                    _ => {}
                }
            }
            kib
        };
        let before = mapped();
        give_back_pages();
        let after = mapped();
        assert!(after < before, "{before} KiB before, {after} KiB after");
    }
}
