//! Flame graphs by the crate inferno: one profile, or the difference of two.
//!
//! Invariants: the same stacks give the same picture; every text is escaped by inferno's XML writer and cleaned by
//! [`crate::folded`] before; values are scaled down where their sum would overflow inferno's arithmetic.

use crate::{Folded, ProfileError};
use inferno::differential;
use inferno::flamegraph::{Options, from_lines, from_reader};
use std::fmt::Write as _;

/// Largest sum that is drawn as it is; beyond it all values are divided alike.
const SUM_MAX: u64 = 1 << 52;
/// Frames narrower than this share of the width, in percent, are left out: nobody sees them, and they bound the file.
const NARROWEST_PERCENT: f64 = 0.02;

/// An SVG file with `title` over it.
///
/// # Errors
/// A profile without stacks.
pub fn flame_graph(folded: &Folded, title: &str) -> Result<Vec<u8>, ProfileError> {
    if folded.is_empty() {
        return Err(nothing());
    }
    let lines = lines(folded);
    let mut options = options(title, folded);
    let mut svg = Vec::new();
    from_lines(&mut options, lines.lines(), &mut svg).map_err(|error| wrong(&error))?;
    Ok(svg)
}

/// An SVG file of `other`, in which what has a larger share than in `base` is red and what has a smaller one is blue.
///
/// # Errors
/// A profile without stacks.
pub fn differential(base: &Folded, other: &Folded, title: &str) -> Result<Vec<u8>, ProfileError> {
    if base.is_empty() || other.is_empty() {
        return Err(nothing());
    }
    let (before, after) = (lines(base), lines(other));
    let mut both = Vec::new();
    let normalised = differential::Options { normalize: true, ..differential::Options::default() };
    differential::from_readers(normalised, before.as_bytes(), after.as_bytes(), &mut both)
        .map_err(|error| wrong(&error))?;
    // The order of its hash table is none.
    let both = String::from_utf8_lossy(&both);
    let mut sorted: Vec<&str> = both.lines().collect();
    sorted.sort_unstable();
    let mut options = options(title, other);
    let mut svg = Vec::new();
    from_reader(&mut options, sorted.join("\n").as_bytes(), &mut svg).map_err(|error| wrong(&error))?;
    Ok(svg)
}

fn options(title: &str, folded: &Folded) -> Options<'static> {
    let mut options = Options::default();
    options.title = crate::folded::clean(title);
    options.count_name = folded.unit.words().to_owned();
    options.deterministic = true;
    options.min_width = NARROWEST_PERCENT;
    options
}

/// Folded lines whose sum inferno can hold.
fn lines(folded: &Folded) -> String {
    let divisor = folded.total() / SUM_MAX + 1;
    folded.stacks().filter(|(_, value)| value / divisor > 0).fold(
        String::new(),
        |mut text, (stack, value)| {
            let _ = writeln!(text, "{stack} {}", value / divisor);
            text
        },
    )
}

fn nothing() -> ProfileError {
    ProfileError::new(
        "the profile has no stacks: the target did nothing that it counts",
        "load the target harder, or take it over a longer time: --seconds",
    )
}

fn wrong(error: &impl std::fmt::Display) -> ProfileError {
    ProfileError::new(
        format!("the flame graph could not be drawn: {error}"),
        "read the folded stacks instead",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded::folded;

    #[test]
    fn hostile_names_are_only_text() {
        let bad = folded(&[("main;<script>alert(1)</script>\"'&]]>", 3), ("main;\u{0}\u{7}]]>", 2)]);
        let svg = flame_graph(&bad, "<img onerror=x> \"\u{1b}[2J").unwrap();
        let text = String::from_utf8(svg.clone()).unwrap();
        assert!(!text.contains("<img") && !text.contains("alert(1)</script>\"'"), "{text}");
        assert_eq!(text.matches("<script").count(), 1, "inferno's own");
        assert!(!text.contains(['\u{0}', '\u{7}', '\u{1b}']));
        assert_eq!(svg, flame_graph(&bad, "<img onerror=x> \"\u{1b}[2J").unwrap(), "the same every time");
    }

    #[test]
    fn differences_are_of_shares() {
        let base = folded(&[("a;b", 10), ("a;c", 10)]);
        let svg = |other: &[(&str, u64)]| {
            String::from_utf8(differential(&base, &folded(other), "b against a").unwrap()).unwrap()
        };
        let same = svg(&[("a;b", 500), ("a;c", 500)]);
        assert!(!same.contains("fill=\"rgb(255,0,0)\""), "nothing moved");
        let moved = svg(&[("a;b", 100), ("a;c", 900)]);
        assert!(moved.contains("+40.00%"), "{moved}");
        assert_eq!(moved, svg(&[("a;b", 100), ("a;c", 900)]));
    }

    #[test]
    fn empty_and_huge_profiles_are_told_and_drawn() {
        assert!(flame_graph(&folded(&[]), "x").unwrap_err().remedy.contains("--seconds"));
        assert!(differential(&folded(&[("a", 1)]), &folded(&[]), "x").is_err());
        let huge = folded(&[("a", u64::MAX), ("b", u64::MAX), ("c", 1)]);
        assert!(flame_graph(&huge, "x").is_ok());
        assert!(differential(&huge, &folded(&[("a", 1)]), "x").is_ok());
    }
}
