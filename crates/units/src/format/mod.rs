//! How numbers are shown to people: the one home of number formatting.
//!
//! There are four styles, because a table, a sentence and a picture want different ones:
//!
//! - [`table`]: three significant digits throughout, so that columns align: `2.00 ms`
//! - [`sentence`]: as short as it can be said: `2 ms`
//! - [`published`]: numbers of somebody's table, never more digits than were printed there: `97.5 … 98.5 ms`
//! - [`picture`]: at most nine characters for the margin of a picture: `1.5k/s`
//!
//! Invariants: no function writes `NaN` or `inf`; thousands are grouped by commas; sizes are in powers of 1024;
//! `cases/numbers.json` holds what each function gives, for the tests here and those of the page (`ui/src/format.ts`).
//! Absent on purpose: locales (numbers look the same in each language), and machine-readable numbers.

pub mod narrow;
pub mod picture;
pub mod published;
pub mod sentence;
pub mod table;

#[cfg(test)]
mod tests;

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;
const TIB: f64 = 1_099_511_627_776.0;

/// A whole number with its thousands grouped: `30,000`.
#[must_use]
pub fn grouped(number: u64) -> String {
    thousands(&number.to_string())
}

/// A number of things with their noun, which takes an s: `1 worker`, `64 connections`, `30,000 requests`.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Things one after the other: nothing, `1`, `1 and 2`, `1, 2 and 5`.
#[must_use]
pub fn listed(all: &[impl ToString]) -> String {
    let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
    match texts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => texts.concat(),
    }
}

/// As [`listed`]; of more than `most`, at least 1, the first and how many are left: `1, 2 and 40 more`.
#[must_use]
pub fn listed_some(all: &[impl ToString], most: usize) -> String {
    match all.split_at_checked(most) {
        Some((first, rest)) if !rest.is_empty() => {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            format!("{} and {} more", first.join(", "), grouped(rest.len() as u64))
        }
        _ => listed(all),
    }
}

/// Numbers with neighbours joined into ranges: `0-3,5`. They are ascending.
#[must_use]
pub fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let shown = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        [only] => only.to_string(),
        [] => String::new(),
    });
    shown.collect::<Vec<_>>().join(",")
}

/// Groups the digits before the point in threes; what stands before the first digit stays.
fn thousands(number: &str) -> String {
    let begin = number.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let end = number.find('.').unwrap_or(number.len());
    let mut text = number[..begin].to_owned();
    for (index, digit) in number[begin..end].char_indices() {
        if index > 0 && (end - begin - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + &number[end..]
}

/// Without zeros, and a point, at the end of a decimal fraction; whole numbers stay.
fn trimmed(text: &str) -> &str {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.')
}

/// A real minus sign, as wide as a digit.
fn signed(number: String) -> String {
    match number.strip_prefix('-') {
        Some(rest) => format!("−{rest}"),
        None => number,
    }
}
