//! A number as people print it, and the range of values that are printed so.
//!
//! Read are thousands separators (`1,234`, `1 234`, `1'234`), decimal commas, signs, exponents, full-width digits, what
//! stands around a number (`~12`, `<1`, `12 ± 3`, `5 (0.1 %)`), and the text behind it, which is its unit.
//! Invariants: a number is finite and at most 10¹⁸ in size; the step of its last digit is known; no text panics.
//! Absent on purpose: the meaning of units (`unit`).

/// Largest size of a number; what is larger is no measurement.
const SIZE_MAX: f64 = 1e18;
/// Longest cell that is read as a number.
const CHARS_MAX: usize = 60;

/// What a cell holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Nothing, or a mark for nothing such as `-` or `N/A`.
    Empty,
    /// NaN or infinity, in words.
    NotFinite,
    /// A text.
    Text,
    /// A number.
    Number(Number),
}

/// A printed number without the meaning of its unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    /// What one more in the last digit adds.
    pub(crate) step: f64,
    /// The same for the last digit that is not zero, where the number is whole.
    pub(crate) coarse_step: f64,
    /// Digits from the first that is not zero to the last.
    pub(crate) digits: u32,
    /// What stands behind the number.
    pub(crate) unit: String,
    pub(crate) bound: Bound,
}

/// What is said about the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Equal,
    /// `<5`: it is at most this.
    AtMost,
    /// `>5`: it is at least this.
    AtLeast,
}

/// Reads a cell; `decimal_comma` says that a comma separates decimals and a point thousands.
pub(crate) fn read(text: &str, decimal_comma: bool) -> Cell {
    let text = narrow(text.trim());
    let text = text.trim();
    if is_nothing(text) {
        return Cell::Empty;
    }
    if text.chars().nth(CHARS_MAX).is_some() {
        return Cell::Text;
    }
    let (bound, rest) = bound(text);
    if is_not_finite(text) || is_not_finite(rest) {
        return Cell::NotFinite;
    }
    let number = digits(rest, decimal_comma).and_then(|(digits, after)| {
        // `10NaN`: digits that run into a word for no number are none either.
        let unit = unit_of(after).filter(|_| !is_not_finite(after.trim_start()))?;
        number(&digits, unit, bound)
    });
    number.map_or(Cell::Text, Cell::Number)
}

/// Whether a text holds a comma that can only separate decimals: `12,5`, `0,125`.
pub(crate) fn has_decimal_comma(text: &str) -> bool {
    let text = narrow(text);
    let mut parts = text.trim().split(',');
    let (Some(whole), Some(rest), None) = (parts.next(), parts.next(), parts.next()) else { return false };
    let is_whole = !whole.is_empty() && whole.len() <= 12 && whole.bytes().all(|b| b.is_ascii_digit());
    let decimals = rest.bytes().take_while(u8::is_ascii_digit).count();
    is_whole && decimals > 0 && (decimals != 3 || whole == "0") && !rest.contains('.')
}

/// Full-width forms and look-alikes as ASCII.
pub(crate) fn narrow(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
            '\u{3000}' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\u{2007}' => ' ',
            '−' | '–' | '—' => '-',
            'μ' => 'µ',
            '。' => '.',
            c => c,
        })
        .collect()
}

fn is_nothing(text: &str) -> bool {
    const NOTHING: [&str; 14] =
        ["", "-", "--", "---", "n/a", "na", "nil", "null", "none", "/", "?", "…", "...", "无"];
    NOTHING.contains(&text.to_lowercase().as_str())
}

fn is_not_finite(text: &str) -> bool {
    const WORDS: [&str; 8] = ["nan", "inf", "infinity", "∞", "1.#inf", "1.#qnan", "#div/0!", "#num!"];
    let text = text.trim_start_matches(['+', '-']).to_lowercase();
    let text = text.trim_end_matches(|c: char| "%µ".contains(c) || c == ' ');
    WORDS.iter().any(|word| {
        text.strip_prefix(word)
            .is_some_and(|rest| matches!(rest.trim(), "" | "ms" | "s" | "us" | "ns" | "/s"))
    })
}

fn bound(text: &str) -> (Bound, &str) {
    let marks: [(&str, Bound); 12] = [
        ("<=", Bound::AtMost),
        (">=", Bound::AtLeast),
        ("<", Bound::AtMost),
        (">", Bound::AtLeast),
        ("≤", Bound::AtMost),
        ("≥", Bound::AtLeast),
        ("~", Bound::Equal),
        ("≈", Bound::Equal),
        ("约", Bound::Equal),
        ("ca.", Bound::Equal),
        ("=", Bound::Equal),
        ("#", Bound::Equal),
    ];
    let found = marks.iter().find_map(|(mark, bound)| Some((*bound, text.strip_prefix(mark)?.trim_start())));
    found.unwrap_or((Bound::Equal, text))
}

/// The digits of a number in the form `-123.45e6`, and what is left of the text.
fn digits(text: &str, decimal_comma: bool) -> Option<(String, &str)> {
    let (decimal, group) = if decimal_comma { (',', '.') } else { ('.', ',') };
    let mut plain = String::new();
    let mut rest = text;
    if let Some(after) = rest.strip_prefix(['-', '+']) {
        if rest.starts_with('-') {
            plain.push('-');
        }
        rest = after;
    }
    rest = whole_part(rest, group, &mut plain);
    let has_whole = plain.ends_with(|c: char| c.is_ascii_digit());
    if let Some(after) = rest.strip_prefix(decimal)
        && after.starts_with(|c: char| c.is_ascii_digit())
    {
        if !has_whole {
            plain.push('0');
        }
        plain.push('.');
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        plain.push_str(&after[..end]);
        rest = &after[end..];
    } else if !has_whole {
        return None;
    }
    Some((plain, rest)).map(|(plain, rest)| exponent(plain, rest))
}

/// Digits, with separators before groups of exactly three.
fn whole_part<'a>(text: &'a str, group: char, plain: &mut String) -> &'a str {
    let run = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let first = run(text);
    plain.push_str(&text[..first]);
    let mut rest = &text[first..];
    while (1..=3).contains(&first) {
        let Some(after) = rest.strip_prefix([group, '\'', '’', '_', ' ']) else { break };
        if run(after) != 3 {
            break;
        }
        plain.push_str(&after[..3]);
        rest = &after[3..];
    }
    rest
}

fn exponent(mut plain: String, rest: &str) -> (String, &str) {
    let Some(after) = rest.strip_prefix(['e', 'E']) else { return (plain, rest) };
    let digits = after.strip_prefix(['+', '-']).unwrap_or(after);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 || count > 2 {
        return (plain, rest);
    }
    let end = after.len() - digits.len() + count;
    plain.push('e');
    plain.push_str(after[..end].trim_start_matches('+'));
    (plain, &after[end..])
}

/// The unit in what stands behind a number; a spread or a remark in brackets is dropped. Nothing where it is no unit.
fn unit_of(after: &str) -> Option<String> {
    let after = after.trim();
    let after = after.split(['(', '[']).next().unwrap_or_default().trim();
    let unit = match after.split_once('±').or_else(|| after.split_once("+/-")) {
        Some((before, spread)) if before.trim().is_empty() => {
            spread.trim_start_matches(|c: char| c.is_ascii_digit() || " .,".contains(c))
        }
        Some((before, _)) => before,
        None => after,
    };
    let unit = unit.trim().trim_start_matches('*').trim();
    (!unit.chars().any(|c| c.is_ascii_digit() || "-:+=".contains(c))).then(|| unit.to_owned())
}

fn number(plain: &str, unit: String, bound: Bound) -> Option<Number> {
    let value: f64 = plain.parse().ok()?;
    if !value.is_finite() || value.abs() > SIZE_MAX {
        return None;
    }
    let (mantissa, exponent) = plain.split_once('e').unwrap_or((plain, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    let mantissa = mantissa.trim_start_matches('-');
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let step = 10_f64.powi(exponent.saturating_sub(i32::try_from(decimals.len()).ok()?));
    let zeros = match decimals {
        "" if value != 0.0 => whole.len() - whole.trim_end_matches('0').len(),
        _ => 0,
    };
    let significant = [whole, decimals].concat();
    let digits = significant.trim_start_matches('0').len();
    let coarse_step = step * 10_f64.powi(i32::try_from(zeros).ok()?);
    let digits = u32::try_from(digits.saturating_sub(zeros)).ok()?;
    (step.is_finite() && coarse_step.is_finite()).then_some(Number {
        value,
        step,
        coarse_step,
        digits,
        unit,
        bound,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, value: f64, step: f64, unit: &str) {
        match read(text, false) {
            Cell::Number(number) => {
                assert_eq!((number.value, number.unit.as_str()), (value, unit), "for {text}");
                assert!((number.step / step - 1.0).abs() < 1e-9, "{text}: step {}", number.step);
            }
            other => panic!("{text} gave {other:?}"),
        }
    }

    #[test]
    fn numbers_are_read_as_people_print_them() {
        check("1,234", 1234.0, 1.0, "");
        check("1,234,567.8", 1_234_567.8, 0.1, "");
        check("1 234", 1234.0, 1.0, "");
        check("1'234", 1234.0, 1.0, "");
        check("1.2k", 1.2, 0.1, "k");
        check("12.30 ms", 12.3, 0.01, "ms");
        check("  98% ", 98.0, 1.0, "%");
        check("~5s", 5.0, 1.0, "s");
        check(".5", 0.5, 0.1, "");
        check("-3", -3.0, 1.0, "");
        check("１２３ms", 123.0, 1.0, "ms");
        check("1.5e3", 1500.0, 100.0, "");
        check("12 ± 3 ms", 12.0, 1.0, "ms");
        check("12ms ± 3ms", 12.0, 1.0, "ms");
        check("12(0.50%)", 12.0, 1.0, "");
        check("1.2万", 1.2, 0.1, "万");
        check("100 并发", 100.0, 1.0, "并发");
        check("411.5/s", 411.5, 0.1, "/s");
        check("0.004", 0.004, 0.001, "");
    }

    #[test]
    fn bounds_nothing_and_what_is_no_number() {
        let Cell::Number(number) = read("<1 ms", false) else { panic!("a number") };
        assert_eq!((number.value, number.bound), (1.0, Bound::AtMost));
        for text in ["", "-", "N/A", " — ", "--", "无"] {
            assert_eq!(read(text, false), Cell::Empty, "{text}");
        }
        for text in ["NaN", "inf", "-Inf", "∞", "NaN ms", "#DIV/0!"] {
            assert_eq!(read(text, false), Cell::NotFinite, "{text}");
        }
        for text in [
            "gin",
            "10NaN",
            "5 inf/s",
            "10-20",
            "2024-01-01",
            "12:30",
            "1/3",
            "v1.2.3",
            "1e999",
            "9e99",
            &"9".repeat(400),
        ] {
            assert_eq!(read(text, false), Cell::Text, "{text}");
        }
    }

    #[test]
    fn decimal_commas_are_told_from_thousands() {
        assert!(has_decimal_comma("12,5") && has_decimal_comma("0,125 ms") && has_decimal_comma("3,14159"));
        assert!(!has_decimal_comma("12,345") && !has_decimal_comma("1,234,567") && !has_decimal_comma("a,b"));
        let Cell::Number(number) = read("1.234,5", true) else { panic!("a number") };
        assert_eq!((number.value, number.step), (1234.5, 0.1));
    }

    #[test]
    fn trailing_zeros_may_be_rounding() {
        let Cell::Number(number) = read("12,000", false) else { panic!("a number") };
        assert_eq!((number.step, number.coarse_step, number.digits), (1.0, 1000.0, 2));
        let Cell::Number(number) = read("12.50", false) else { panic!("a number") };
        assert_eq!((number.step, number.coarse_step, number.digits), (0.01, 0.01, 4));
        let Cell::Number(number) = read("0", false) else { panic!("a number") };
        assert_eq!((number.step, number.coarse_step, number.digits), (1.0, 1.0, 0));
    }
}
