//! Profiles: any bytes are folded stacks that can be tabled, drawn and read again, or an error with cause and remedy.

use crate::Broken;
use profile::{
    Folded, ProfileError, bpf, cpuprofile, flame_graph, folded, jfr, perf_script, pprof, text, top,
};
use schema::profile::{ProfileKind, ProfileUnit};

/// Drawn only up to this size: a larger picture has no other kinds of text in it.
const DRAWN_BYTES_MAX: usize = 512;

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
    let types = |read: Result<Vec<pprof::SampleType>, ProfileError>| {
        read.map(|all| all.into_iter().map(|one| one.folded).collect::<Vec<Folded>>())
    };
    let one = |read: Result<Folded, ProfileError>| read.map(|folded| vec![folded]);
    let traced = bpf::read(input, ProfileKind::OffCpu).map(|trace| trace.folded(ProfileUnit::BlockedNs));
    let all = [
        types(pprof::read(input)),
        one(perf_script::read(input)),
        jfr::read(input).map(|recorded| vec![recorded.samples, recorded.allocated, recorded.waits]),
        one(cpuprofile::read(input)),
        one(text::read(input, ProfileUnit::CpuNs, 1)),
        one(traced),
    ];
    all.into_iter().try_for_each(|read| match read {
        Ok(profiles) => profiles.iter().try_for_each(|profile| check_shown(&shown(profile)?)),
        Err(error) => {
            let helps = !error.cause.trim().is_empty() && !error.remedy.trim().is_empty();
            Broken::unless(helps, || format!("no cause or no remedy: {error:?}"))
        }
    })
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
    fn unclean_stacks_and_pictures_are_caught() {
        assert_eq!(check(b"main;f 3\n"), Ok(()));
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
