//! Profiles: any bytes are folded stacks that can be tabled, drawn and read again, or an error with cause and remedy.
//!
//! Input: one byte that chooses the reader, counted from `0` in ASCII, then the profile. One reader for each input,
//! because six made it six times slower and five of them refuse at once.

use crate::Broken;
use profile::{
    Folded, ProfileError, bpf, cpuprofile, flame_graph, folded, jfr, perf_script, pprof, text, top,
};
use schema::profile::{ProfileKind, ProfileUnit};

/// Drawn only up to this size: a larger picture has no other kinds of text in it.
const DRAWN_BYTES_MAX: usize = 512;

/// Reads a profile, which may hold several kinds of values.
type Reader = fn(&[u8]) -> Result<Vec<Folded>, ProfileError>;

/// Every reader of the crate profile; new ones go to the end, so that kept inputs keep theirs.
const READERS: [Reader; 6] = [
    |bytes| pprof::read(bytes).map(|all| all.into_iter().map(|one| one.folded).collect()),
    |bytes| perf_script::read(bytes).map(|folded| vec![folded]),
    |bytes| jfr::read(bytes).map(|recorded| vec![recorded.samples, recorded.allocated, recorded.waits]),
    |bytes| cpuprofile::read(bytes).map(|folded| vec![folded]),
    |bytes| text::read(bytes, ProfileUnit::CpuNs, 1).map(|folded| vec![folded]),
    |bytes| {
        let trace = bpf::read(bytes, ProfileKind::OffCpu)?;
        Ok(vec![trace.folded(ProfileUnit::BlockedNs)])
    },
];
/// The choice of the first reader.
const FIRST: u8 = b'0';

/// What is shown of a profile.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Folded stacks.
    pub text: String,
    /// Sum of their values.
    pub total: u64,
    /// The flame graph, where it was drawn.
    pub svg: Option<String>,
}

/// The property of the target `profile`.
///
/// # Errors
/// Stacks that are too many, too deep or unclean, that do not read back, a picture with foreign markup, or an error
/// that does not help.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    let (choice, bytes) = input.split_first().map_or((FIRST, input), |(choice, bytes)| (*choice, bytes));
    let read = READERS[usize::from(choice.wrapping_sub(FIRST)) % READERS.len()];
    match read(bytes) {
        Ok(profiles) => profiles.iter().try_for_each(|profile| check_shown(&shown(profile)?)),
        Err(error) => {
            let helps = !error.cause.trim().is_empty() && !error.remedy.trim().is_empty();
            Broken::unless(helps, || format!("no cause or no remedy: {error:?}"))
        }
    }
}

fn shown(profile: &Folded) -> Result<Shown, Broken> {
    let shares = top(profile, 5).into_iter().flat_map(|one| [one.flat_share, one.cumulative_share]);
    for share in shares {
        Broken::unless((0.0..=1.0).contains(&share), || format!("a share of {share}"))?;
    }
    let text = profile.text();
    let is_drawn = !profile.is_empty() && text.len() <= DRAWN_BYTES_MAX;
    let draw = || flame_graph(profile, "fuzzed").map_err(|error| Broken(format!("not drawn: {error}")));
    let svg = is_drawn.then(draw).transpose()?.map(|svg| String::from_utf8_lossy(&svg).into_owned());
    Ok(Shown { text, total: profile.total(), svg })
}

/// What must hold of what is shown.
///
/// # Errors
/// As [`check`].
pub fn check_shown(shown: &Shown) -> Result<(), Broken> {
    let clean = !shown.text.chars().any(|c| c.is_control() && c != '\n');
    Broken::unless(clean, || format!("control characters: {:?}", shown.text))?;
    let stacks = shown.text.lines().count();
    Broken::unless(stacks <= folded::STACKS_MAX + 1, || format!("{stacks} stacks"))?;
    let depth = shown.text.lines().map(|line| line.split(';').count()).max().unwrap_or_default();
    Broken::unless(depth <= folded::DEPTH_MAX, || format!("{depth} frames"))?;
    let back =
        text::read(shown.text.as_bytes(), ProfileUnit::CpuNs, 1).map(|again| (again.text(), again.total()));
    let same = back.as_ref().is_ok_and(|(text, total)| *text == shown.text && *total == shown.total);
    Broken::unless(same, || format!("{:?} reads back as {back:?}", shown.text))?;
    let Some(svg) = &shown.svg else { return Ok(()) };
    Broken::unless(svg.matches("<script").count() == 1, || "foreign markup in the picture".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_files_choose_readers_that_understand_them() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/profile");
        let mut understood = std::collections::BTreeSet::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let input = std::fs::read(entry.unwrap().path()).unwrap();
            let read = READERS[usize::from(input[0] - FIRST)];
            if read(&input[1..]).is_ok_and(|all| all.iter().any(|folded| !folded.is_empty())) {
                understood.insert(input[0]);
            }
        }
        assert_eq!(understood.len(), READERS.len(), "{understood:?}");
    }

    #[test]
    fn unclean_stacks_and_pictures_are_caught() {
        for choice in b'0'..b'6' {
            assert_eq!(check(&[&[choice], &b"main;f 3\n"[..]].concat()), Ok(()));
        }
        assert_eq!(check(b""), Ok(()));
        let good =
            Shown { text: "a;b 3\n".to_owned(), total: 3, svg: Some("<svg><script/></svg>".to_owned()) };
        assert_eq!(check_shown(&good), Ok(()));
        let spoils: [fn(&mut Shown); 5] = [
            |shown| shown.text = "a\u{1b} 3\n".to_owned(),
            |shown| shown.total = 4,
            |shown| shown.text = "b 1\na 2\n".to_owned(),
            |shown| shown.text = format!("{} 3\n", vec!["a"; folded::DEPTH_MAX + 1].join(";")),
            |shown| shown.svg = Some("<svg><script/><script>alert(1)</script></svg>".to_owned()),
        ];
        for (index, spoil) in spoils.into_iter().enumerate() {
            let mut bad = good.clone();
            spoil(&mut bad);
            assert!(check_shown(&bad).is_err(), "{index}");
        }
    }
}
