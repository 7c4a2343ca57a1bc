//! Times of access logs, read by hand: `10/Oct/2000:13:55:36 -0700`, ISO 8601, and seconds since 1970.
//!
//! Invariants: no allocation; what is out of range is `None`; results are nanoseconds since 1970 in UTC.
//! Absent on purpose: time zones by name, leap seconds (a 60th second counts as the 59th), times before 1970.

/// Nanoseconds of a second.
pub(crate) const SECOND_NS: u64 = 1_000_000_000;
/// Length of `10/Oct/2000:13:55:36 -0700`.
const STAMP_BYTES: usize = 26;

/// Reads stamps of the common log format; lines of one second mostly follow each other, so the last one is kept.
#[derive(Debug, Default)]
pub(crate) struct StampReader {
    last: [u8; STAMP_BYTES],
    last_ns: Option<u64>,
}

impl StampReader {
    /// The time at the begin of `text`, which must be as long as a stamp.
    pub(crate) fn read(&mut self, text: &[u8]) -> Option<u64> {
        let stamp: &[u8; STAMP_BYTES] = text.first_chunk()?;
        if *stamp == self.last && self.last_ns.is_some() {
            return self.last_ns;
        }
        let time_ns = stamp_ns(stamp)?;
        (self.last, self.last_ns) = (*stamp, Some(time_ns));
        Some(time_ns)
    }
}

/// Bytes that a stamp takes.
pub(crate) const fn stamp_len() -> usize {
    STAMP_BYTES
}

fn stamp_ns(s: &[u8; STAMP_BYTES]) -> Option<u64> {
    if (s[2], s[6], s[11], s[14], s[17], s[20]) != (b'/', b'/', b':', b':', b':', b' ') {
        return None;
    }
    let month = match &s[3..6] {
        b"Jan" => 1,
        b"Feb" => 2,
        b"Mar" => 3,
        b"Apr" => 4,
        b"May" => 5,
        b"Jun" => 6,
        b"Jul" => 7,
        b"Aug" => 8,
        b"Sep" => 9,
        b"Oct" => 10,
        b"Nov" => 11,
        b"Dec" => 12,
        _ => return None,
    };
    let day = days(digits(&s[7..11])?, month, digits(&s[..2])?)?;
    let clock = clock_s(digits(&s[12..14])?, digits(&s[15..17])?, digits(&s[18..20])?)?;
    let offset = offset_s(s[21], digits(&s[22..24])?, digits(&s[24..26])?)?;
    to_ns(day * 86_400 + clock - offset)
}

/// ISO 8601 with offset or `Z`, seconds perhaps with a fraction: `2026-11-21T09:30:00.25+01:00`. Without any offset
/// the time counts as UTC.
pub(crate) fn iso_ns(text: &[u8]) -> Option<u64> {
    let s: &[u8; 19] = text.first_chunk()?;
    if (s[4], s[7], s[13], s[16]) != (b'-', b'-', b':', b':') || !matches!(s[10], b'T' | b't' | b' ') {
        return None;
    }
    let day = days(digits(&s[..4])?, digits(&s[5..7])?, digits(&s[8..10])?)?;
    let clock = clock_s(digits(&s[11..13])?, digits(&s[14..16])?, digits(&s[17..19])?)?;
    let mut rest = &text[19..];
    let mut fraction_ns = 0;
    if let [b'.' | b',', tail @ ..] = rest {
        let len = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
        fraction_ns = fraction(&tail[..len])?;
        rest = &tail[len..];
    }
    let offset = match rest {
        [] | [b'Z' | b'z'] => 0,
        [sign, h1, h2, b':', m1, m2] | [sign, h1, h2, m1, m2] => {
            offset_s(*sign, digits(&[*h1, *h2])?, digits(&[*m1, *m2])?)?
        }
        _ => return None,
    };
    to_ns(day * 86_400 + clock - offset)?.checked_add(fraction_ns)
}

/// Seconds since 1970 as a decimal text, exact to the nanosecond: nginx's `$msec`. Whole numbers above 10^11 are
/// milliseconds, above 10^14 microseconds, above 10^17 nanoseconds.
pub(crate) fn epoch_ns(text: &[u8]) -> Option<u64> {
    let dot = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let whole = number(&text[..dot])?;
    if dot == text.len() {
        return whole.checked_mul(epoch_unit_ns(whole));
    }
    whole.checked_mul(SECOND_NS)?.checked_add(fraction(&text[dot + 1..])?)
}

/// As [`epoch_ns`] for a JSON number; a double holds present times to a microsecond.
pub(crate) fn epoch_ns_of_f64(value: f64) -> Option<u64> {
    if !value.is_finite() || !(0.0..1e18).contains(&value) {
        return None;
    }
    if value >= 1e11 {
        return (value.trunc() as u64).checked_mul(epoch_unit_ns(value as u64));
    }
    Some((value * 1e6).round() as u64 * 1000)
}

/// The unit that a whole number of this size must be in.
const fn epoch_unit_ns(whole: u64) -> u64 {
    match whole {
        0..100_000_000_000 => SECOND_NS,
        100_000_000_000..100_000_000_000_000 => 1_000_000,
        100_000_000_000_000..100_000_000_000_000_000 => 1_000,
        _ => 1,
    }
}

/// Nanoseconds of a decimal fraction's digits; those after the ninth are dropped.
fn fraction(digits_text: &[u8]) -> Option<u64> {
    if digits_text.is_empty() || !digits_text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let kept = &digits_text[..digits_text.len().min(9)];
    Some(number(kept)? * 10_u64.pow(9 - kept.len() as u32))
}

/// A plain decimal number.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    text.iter().try_fold(0_u64, |sum, byte| {
        byte.is_ascii_digit().then(|| sum.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')))
    })
}

fn digits(text: &[u8]) -> Option<i64> {
    number(text).map(|value| value as i64)
}

fn clock_s(hour: i64, minute: i64, second: i64) -> Option<i64> {
    (hour < 24 && minute < 60 && second <= 60).then(|| hour * 3600 + minute * 60 + second.min(59))
}

fn offset_s(sign: u8, hours: i64, minutes: i64) -> Option<i64> {
    let seconds = (hours < 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms", 2013).
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=2262).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if day > longest {
        return None;
    }
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted / 400;
    let year_of_era = shifted % 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

fn to_ns(seconds: i64) -> Option<u64> {
    u64::try_from(seconds).ok()?.checked_mul(SECOND_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jiff_ns(text: &str) -> u64 {
        u64::try_from(text.parse::<jiff::Timestamp>().unwrap().as_nanosecond()).unwrap()
    }

    #[test]
    fn stamps_agree_with_a_calendar_library_on_every_month_and_leap_day() {
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let mut reader = StampReader::default();
        for year in [1971, 1999, 2000, 2024, 2026, 2100] {
            for (index, month) in MONTHS.iter().enumerate() {
                for day in [1, 28, 29, 30, 31] {
                    let stamp = format!("{day:02}/{month}/{year}:23:59:58 -0730");
                    let iso = format!("{year}-{:02}-{day:02}T23:59:58-07:30", index + 1);
                    let wanted = iso.parse::<jiff::Timestamp>().ok();
                    let wanted = wanted.map(|time| u64::try_from(time.as_nanosecond()).unwrap());
                    assert_eq!(reader.read(stamp.as_bytes()), wanted, "{stamp}");
                    assert_eq!(iso_ns(iso.as_bytes()), wanted, "{iso}");
                }
            }
        }
    }

    #[test]
    fn fractions_and_units_are_exact() {
        let text = "2026-11-21T09:30:00.123456789+01:00";
        assert_eq!(iso_ns(text.as_bytes()), Some(jiff_ns(text)));
        assert_eq!(iso_ns(b"2026-11-21 09:30:00Z"), Some(jiff_ns("2026-11-21T09:30:00Z")));
        assert_eq!(epoch_ns(b"1763717400.123"), Some(1_763_717_400_123_000_000));
        assert_eq!(epoch_ns(b"1763717400"), Some(1_763_717_400_000_000_000));
        assert_eq!(epoch_ns(b"1763717400123"), Some(1_763_717_400_123_000_000));
        assert_eq!(epoch_ns_of_f64(1_763_717_400.123), Some(1_763_717_400_123_000_000));
        assert_eq!(epoch_ns_of_f64(1_763_717_400_123.0), Some(1_763_717_400_123_000_000));
    }

    #[test]
    fn what_is_no_time_is_none() {
        let mut reader = StampReader::default();
        for text in ["", "10/Oct/2000:13:55:36", "32/Oct/2000:13:55:36 -0700", "10/Okt/2000:13:55:36 -0700"] {
            assert_eq!(reader.read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(reader.read(b"10/Oct/2000:24:55:36 -0700"), None);
        assert_eq!(reader.read(b"01/Jan/1970:00:00:00 +0100"), None);
        for text in ["", "2026-11-21", "2026-11-21T09:30:00.+01:00", "2026-13-21T09:30:00Z"] {
            assert_eq!(iso_ns(text.as_bytes()), None, "{text}");
        }
        assert_eq!(epoch_ns(b"99999999999999999999"), None);
        assert_eq!(epoch_ns(b"1."), None);
        assert_eq!(epoch_ns_of_f64(f64::NAN), None);
    }
}
