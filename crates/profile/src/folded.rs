//! Folded stacks: frames from root to leaf joined by `;`, each with the sum of its values.
//!
//! Invariants: a frame holds no `;` and no control character, and does not end in a number after a space (which readers
//! of the format would take for a value); no stack begins with `# `, a comment to those readers; a stack has at most [`DEPTH_MAX`] frames, a frame [`NAME_BYTES_MAX`] bytes,
//! a profile [`STACKS_MAX`] stacks; sums saturate; whatever is cut keeps its value and is counted in [`Cut`].

use schema::profile::ProfileUnit;
use schema::said;
use schema::said::Said;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Most different stacks of one profile.
pub const STACKS_MAX: usize = 50_000;
/// Most frames of a stack.
pub const DEPTH_MAX: usize = 256;
/// Most bytes of a frame's name.
pub const NAME_BYTES_MAX: usize = 240;
/// Most bytes that are put together into stacks, those counted that were there already: a bound on time, not on memory.
const WORK_MAX: usize = 256 << 20;
/// What the values of stacks beyond the limits are booked under.
const REST: &str = "[stacks beyond the limit]";
/// Stands for the frames nearest to the root where a stack is too deep.
const DEEPER: &str = "[deeper]";

/// What did not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Samples whose stack was not kept.
    pub stacks: u64,
    /// Samples whose stack was cut at the root.
    pub deep: u64,
    /// Names that were shortened.
    pub names: u64,
}

/// A profile as folded stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// What the values count.
    pub unit: ProfileUnit,
    stacks: BTreeMap<String, u64>,
    /// What did not fit.
    pub cut: Cut,
    work: usize,
}

impl Folded {
    /// No stacks yet.
    #[must_use]
    pub fn new(unit: ProfileUnit) -> Self {
        Self { unit, stacks: BTreeMap::new(), cut: Cut::default(), work: 0 }
    }

    /// Adds a value to the stack of `frames`, leaf first, as most profilers tell them. Nothing for a value of 0.
    pub fn add_leaf_first<'a>(&mut self, frames: impl IntoIterator<Item = &'a str>, value: u64) {
        let mut frames = frames.into_iter();
        let mut kept: Vec<&str> = frames.by_ref().take(DEPTH_MAX).collect();
        if frames.next().is_some() {
            self.cut.deep += 1;
            if let Some(root) = kept.last_mut() {
                *root = DEEPER;
            }
        }
        kept.reverse();
        self.add(&kept, value);
    }

    /// Adds a value to the stack of `frames`, root first. Nothing for a value of 0 or a stack without frames.
    pub fn add(&mut self, frames: &[&str], value: u64) {
        if value == 0 || frames.is_empty() {
            return;
        }
        if self.work > WORK_MAX {
            return self.add_rest(value);
        }
        let mut stack = String::new();
        let deep = frames.len() > DEPTH_MAX;
        if deep {
            self.cut.deep += 1;
            stack += DEEPER;
        }
        let from = if deep { frames.len() - DEPTH_MAX + 1 } else { 0 };
        for frame in &frames[from..] {
            if !stack.is_empty() {
                stack.push(';');
            }
            self.cut.names += u64::from(push_clean(&mut stack, frame));
        }
        self.work += stack.len();
        if self.stacks.len() >= STACKS_MAX && !self.stacks.contains_key(&stack) {
            return self.add_rest(value);
        }
        let sum = self.stacks.entry(stack).or_default();
        *sum = sum.saturating_add(value);
    }

    fn add_rest(&mut self, value: u64) {
        self.cut.stacks += 1;
        let sum = self.stacks.entry(REST.to_owned()).or_default();
        *sum = sum.saturating_add(value);
    }

    /// Every stack with its value, in the order of their texts.
    pub fn stacks(&self) -> impl Iterator<Item = (&str, u64)> {
        self.stacks.iter().map(|(stack, value)| (stack.as_str(), *value))
    }

    /// Different stacks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stacks.len()
    }

    /// Whether nothing was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// Sum of all values.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.stacks.values().fold(0, |sum, value| sum.saturating_add(*value))
    }

    /// One line a stack, as flame graph tools read them.
    #[must_use]
    pub fn text(&self) -> String {
        self.stacks().fold(String::new(), |mut text, (stack, value)| {
            let _ = writeln!(text, "{stack} {value}");
            text
        })
    }

    /// What was cut, in words; empty where nothing was.
    #[must_use]
    pub fn notes(&self) -> Vec<Said> {
        let Cut { stacks, deep, names } = self.cut;
        let told = [
            (
                stacks,
                said!(
                    "profile.cut_stacks",
                    "{samples} samples beyond {most} different stacks are shown as one",
                    samples = stacks,
                    most = STACKS_MAX
                ),
            ),
            (
                deep,
                said!(
                    "profile.cut_depth",
                    "{samples} samples were deeper than {most} frames and are cut at the root",
                    samples = deep,
                    most = DEPTH_MAX
                ),
            ),
            (
                names,
                said!(
                    "profile.cut_names",
                    "{names} names were longer than {most} bytes and are shortened",
                    names,
                    most = NAME_BYTES_MAX
                ),
            ),
        ];
        told.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect()
    }
}

/// Appends a frame's name; true where it had to be shortened.
fn push_clean(stack: &mut String, frame: &str) -> bool {
    let begin = stack.len();
    let mut shortened = false;
    // Of a text of any length only what can stay is looked at.
    let near = frame.char_indices().nth(4 * NAME_BYTES_MAX).map_or(frame, |(at, _)| &frame[..at]);
    for c in near.trim().chars() {
        if stack.len() - begin + c.len_utf8() > NAME_BYTES_MAX {
            shortened = true;
            break;
        }
        stack.push(match c {
            ';' => ':',
            // Not of XML 1.0, in which flame graphs are written.
            '\u{fffe}' | '\u{ffff}' => '?',
            c if is_hidden(c) && stack.len() == begin => continue,
            c if is_hidden(c) => ' ',
            c => c,
        });
    }
    // What is cut, or hidden, may leave spaces that a reader would take for the border.
    let end = stack.trim_end().len().max(begin);
    stack.truncate(end);
    if stack.len() == begin {
        *stack += "[unnamed]";
        return shortened;
    }
    // A name `f 12` before a value would read as a difference of two profiles.
    let last = stack[begin..].rfind(' ').map(|at| begin + at);
    if let Some(at) = last.filter(|at| stack[at + 1..].chars().all(|c| c.is_ascii_digit() || c == '.')) {
        stack.replace_range(at..=at, "_");
    }
    // A line that begins so is a comment to flame graph tools.
    if begin == 0 && (stack == "#" || stack.starts_with("# ")) {
        stack.replace_range(..1, "_");
    }
    shortened
}

/// Control characters, and those that turn or hide what stands beside them.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || c.is_whitespace()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A name as a frame has it, for what is shown beside stacks.
#[must_use]
pub fn clean(name: &str) -> String {
    let mut text = String::new();
    push_clean(&mut text, name);
    text
}

/// CPU times by stacks that are written with `;` between their frames.
#[cfg(test)]
pub(crate) fn folded(stacks: &[(&str, u64)]) -> Folded {
    let mut folded = Folded::new(ProfileUnit::CpuNs);
    stacks.iter().for_each(|(stack, value)| folded.add(&stack.split(';').collect::<Vec<_>>(), *value));
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_frames(stacks: &[(&[&str], u64)]) -> Folded {
        let mut folded = Folded::new(ProfileUnit::CpuNs);
        stacks.iter().for_each(|(frames, value)| folded.add(frames, *value));
        folded
    }

    #[test]
    fn equal_stacks_are_one_and_names_are_clean() {
        let all = of_frames(&[(&["a", "b"], 1), (&["a", "b"], 2), (&["x;y\n", "", "f 12"], 4), (&["z"], 0)]);
        assert_eq!(all.text(), "a;b 3\nx:y;[unnamed];f_12 4\n");
        assert_eq!(all.total(), 7);
        let comments = of_frames(&[(&["# a"], 1), (&["#"], 2), (&["#a", "# b"], 3)]);
        assert_eq!(comments.text(), "#a;# b 3\n_ 2\n_ a 1\n", "no line is a comment to inferno");
        assert_eq!(clean("a\u{202e}b\u{1b}[31m"), "a b [31m");
        assert_eq!((clean("\u{1}a\u{1}"), clean("\u{1b}")), ("a".to_owned(), "[unnamed]".to_owned()));
    }

    #[test]
    fn what_is_cut_keeps_its_value() {
        let deep = vec!["f"; DEPTH_MAX + 9];
        let mut all = of_frames(&[(&deep, 5)]);
        all.add_leaf_first(deep.iter().copied(), 6);
        let long = "n".repeat(NAME_BYTES_MAX + 1);
        all.add(&[&long], 7);
        assert_eq!((all.cut.deep, all.cut.names, all.total()), (2, 1, 18));
        let frames = all.stacks().map(|(stack, _)| stack.split(';').count()).max();
        assert_eq!(frames, Some(DEPTH_MAX));
        for n in 0..STACKS_MAX + 3 {
            all.add(&[&format!("s{n}")], 1);
        }
        assert!(all.len() <= STACKS_MAX + 1 && all.cut.stacks > 0);
        assert_eq!(all.total(), 18 + STACKS_MAX as u64 + 3);
        assert_eq!(all.notes().len(), 3);
        all.add(&["huge"], u64::MAX);
        assert_eq!(all.total(), u64::MAX);
    }
}
