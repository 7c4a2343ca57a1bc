//! Reading `latency.hlog` back: all histograms of one tag, merged, or one by one.
//!
//! A long run has tens of thousands of histograms, each with room for every time up to an hour, of which it uses few.
//! Therefore their counts are added up as they are decoded, without a histogram for each; the sum is the same, which a
//! test holds against the library's own reader. Format: HdrHistogram V2, compressed (METHOD §10); a header of cookie,
//! length, normalising offset, digits, lowest, highest and ratio, then ZigZag LEB128 counts in which a negative number
//! is a run of zeros.
//!
//! Invariants: a damaged or hostile log is an error with its line; memory is bounded by [`PAYLOAD_BYTES_MAX`] and
//! [`COUNTS_MAX`] whatever the log says of itself.

use crate::RecordError;
use crate::hlog::new_histogram;
use crate::tail::Tail;
use analyze::HeatMaker;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Decompress, FlushDecompress, Status};
use hdrhistogram::Histogram;
use schema::page::Heat;
use std::path::Path;

const COMPRESSED_COOKIE: u32 = 0x1c84_9314;
const PLAIN_COOKIE: u32 = 0x1c84_9313;
/// Header of the decompressed form.
const HEADER_BYTES: usize = 40;
/// Longest decompressed histogram. One of prony's, with every bucket full, has a tenth of it.
const PAYLOAD_BYTES_MAX: usize = 4 << 20;
/// Room for one to begin with.
const PAYLOAD_BYTES_USUAL: usize = 64 << 10;
/// Most buckets: 64 powers of two of the finest resolution that the format has.
const COUNTS_MAX: usize = 64 << 17;
/// The log keeps times in milliseconds; half of one is less than any interval.
const ROUNDING_S: f64 = 0.0005;

/// The histograms tagged `tag` of all intervals that begin at `from_ns` or later, merged; `None` without values.
pub(crate) fn read_merged(
    path: &Path,
    tag: &str,
    from_ns: u64,
) -> Result<Option<Histogram<u64>>, RecordError> {
    let from_s = from_ns as f64 / 1e9 - ROUNDING_S;
    let mut merger = Merger::new();
    each_row(path, tag, |row| if row.start_s >= from_s { merger.add(row.histogram) } else { Ok(()) })?;
    Ok(merger.finish())
}

/// Every histogram tagged `tag` by itself, counted into a map of response times over time; `None` without values.
pub(crate) fn read_heat(path: &Path, tag: &str) -> Result<Option<Heat>, RecordError> {
    let mut merger = Merger::new();
    let mut heat = HeatMaker::new();
    each_row(path, tag, |row| {
        merger.add(row.histogram)?;
        heat.interval(nanos(row.start_s), nanos(row.start_s + row.length_s));
        merger.drain(|value, count| heat.count(value, count));
        Ok(())
    })?;
    Ok(heat.finish())
}

/// A log that grows, read row by row as they come.
pub struct GrowingLog {
    tail: Tail,
    merger: Merger,
}

impl std::fmt::Debug for GrowingLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GrowingLog").field("tail", &self.tail).finish_non_exhaustive()
    }
}

impl GrowingLog {
    /// Begins at the begin of a log, whether it is there yet or not.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { tail: Tail::whole(path), merger: Merger::new() }
    }

    /// The rows tagged `tag` that no look gave before. A row that is damaged is passed over.
    pub fn look(&mut self, tag: &str) -> NewRows {
        let mut new = NewRows::default();
        loop {
            let found = self.tail.look();
            if found.begins {
                new = NewRows { begins: true, ..NewRows::default() };
            }
            let rows = found.lines.iter().filter_map(|line| self.row(line, tag));
            new.rows.extend(rows);
            if !found.more {
                return new;
            }
        }
    }

    fn row(&mut self, line: &[u8], tag: &str) -> Option<TimedRow> {
        let row = row(line.strip_suffix(b"\n").unwrap_or(line)).ok().flatten()?;
        if row.tag != tag.as_bytes() {
            return None;
        }
        let added = self.merger.add(row.histogram);
        let mut times_ns = Vec::new();
        // Also after an error: what was added before it is no row.
        self.merger.drain(|value, count| times_ns.push((value, count)));
        added.ok().map(|()| TimedRow { start_ns: nanos(row.start_s), times_ns })
    }
}

/// What one look at a growing log found.
#[derive(Debug, Default)]
pub struct NewRows {
    /// Whether they begin another log than the rows before them.
    pub begins: bool,
    /// In the order of the log.
    pub rows: Vec<TimedRow>,
}

/// One interval of a log.
#[derive(Debug)]
pub struct TimedRow {
    /// Its begin, rounded to a millisecond as the log has it.
    pub start_ns: u64,
    /// Times, the lowest of each bucket, and how often they came.
    pub times_ns: Vec<(u64, u64)>,
}

/// Seconds of the log, which are whole milliseconds; what is no time is none.
fn nanos(seconds: f64) -> u64 {
    // A cast of a float saturates.
    ((seconds * 1e3).round() as u64).saturating_mul(1_000_000)
}

/// Calls `act` for each row tagged `tag`, in order.
fn each_row(
    path: &Path,
    tag: &str,
    mut act: impl FnMut(&Row<'_>) -> Result<(), &'static str>,
) -> Result<(), RecordError> {
    let bytes = std::fs::read(path).map_err(RecordError::io("read", path))?;
    for (index, line) in parts(&bytes, b'\n').enumerate() {
        let done = match row(line) {
            Ok(Some(row)) if row.tag == tag.as_bytes() => act(&row),
            Ok(_) => Ok(()),
            Err(cause) => Err(cause),
        };
        done.map_err(|cause| RecordError::Damaged {
            path: path.to_owned(),
            what: "an HdrHistogram log",
            cause: format!("line {}: {cause}", index + 1),
        })?;
    }
    Ok(())
}

/// As `split`, but not byte by byte: nearly all of a log is base64.
fn parts(bytes: &[u8], at: u8) -> impl Iterator<Item = &[u8]> {
    let ends = memchr::memchr_iter(at, bytes).chain([bytes.len()]);
    ends.scan(0, |from, end| {
        let part = &bytes[*from..end];
        *from = end + 1;
        Some(part)
    })
}

/// A row of the log, its histogram still in base64.
struct Row<'a> {
    tag: &'a [u8],
    start_s: f64,
    length_s: f64,
    histogram: &'a [u8],
}

/// `Tag=name,start,length,max,histogram`, the tag optional; `None` for comments, the legend and empty lines.
fn row(line: &[u8]) -> Result<Option<Row<'_>>, &'static str> {
    if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"\"") {
        return Ok(None);
    }
    let mut fields = parts(line, b',').peekable();
    let tag = fields.next_if(|field| field.starts_with(b"Tag=")).map_or(&b""[..], |field| &field[4..]);
    let mut seconds = || fields.next().and_then(|field| std::str::from_utf8(field).ok()?.parse().ok());
    let is_time = |seconds: &f64| seconds.is_finite();
    let start_s: f64 = seconds().filter(is_time).ok_or("it does not begin with a time")?;
    let length_s: f64 = seconds().filter(is_time).ok_or("it has no length")?;
    match (fields.next(), fields.next(), fields.next()) {
        (Some(_), Some(histogram), None) => Ok(Some(Row { tag, start_s, length_s, histogram })),
        _ => Err("a row has start, length, maximum and histogram"),
    }
}

/// What bucket numbers mean, from the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// Power of two of the smallest unit.
    unit_log2: u32,
    /// Power of two of the buckets that one doubling has.
    half_log2: u32,
}

impl Layout {
    /// As HdrHistogram defines it: 2·10^digits values are distinguished, rounded up to a power of two.
    fn new(digits: u32, lowest: u64) -> Option<Self> {
        if digits > 5 || lowest == 0 {
            return None;
        }
        let told_apart = 2 * 10_u64.pow(digits);
        Some(Self { unit_log2: lowest.ilog2(), half_log2: told_apart.next_power_of_two().ilog2() - 1 })
    }

    /// How many buckets there are: those whose lowest value fits 64 bits.
    fn buckets(self) -> usize {
        let buckets = match 64_u32.checked_sub(self.unit_log2 + self.half_log2) {
            Some(doublings) => (doublings as usize + 1) << self.half_log2,
            None => 1 << (64 - self.unit_log2),
        };
        buckets.min(COUNTS_MAX)
    }

    /// The lowest value of a bucket; `None` beyond 64 bits.
    fn value(self, index: usize) -> Option<u64> {
        let half = 1_usize << self.half_log2;
        let (shift, part) = match index >> self.half_log2 {
            0 => (0, index),
            bucket => (u32::try_from(bucket - 1).ok()?, (index & (half - 1)) + half),
        };
        let shift = shift.checked_add(self.unit_log2)?;
        let value = (part as u64).checked_shl(shift)?;
        (value >> shift == part as u64).then_some(value)
    }
}

/// The sum so far: counts of one layout, and what other layouts left.
struct Merger {
    sum: Histogram<u64>,
    layout: Option<Layout>,
    counts: Vec<u64>,
    encoded: Vec<u8>,
    /// Grows to the longest histogram met; initialised once, as clearing megabytes a histogram took half of the time.
    plain: Vec<u8>,
    inflate: Decompress,
}

impl Merger {
    fn new() -> Self {
        Self {
            sum: new_histogram(),
            layout: None,
            counts: Vec::new(),
            encoded: Vec::new(),
            plain: vec![0; PAYLOAD_BYTES_USUAL],
            inflate: Decompress::new(true),
        }
    }

    fn finish(mut self) -> Option<Histogram<u64>> {
        self.settle();
        (!self.sum.is_empty()).then_some(self.sum)
    }

    /// Records the counts under their values. All of them have one, as they were taken in.
    fn settle(&mut self) {
        let mut sum = std::mem::replace(&mut self.sum, new_histogram());
        self.drain(|value, count| sum.saturating_record_n(value, count));
        self.sum = sum;
    }

    /// Gives the counts of the present layout away, each with its value, and starts over.
    fn drain(&mut self, mut take: impl FnMut(u64, u64)) {
        let Some(layout) = self.layout else { return };
        for (index, count) in self.counts.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            if let Some(value) = layout.value(index) {
                take(value, *count);
            }
            *count = 0;
        }
    }

    /// Adds one histogram in base64.
    fn add(&mut self, base64: &[u8]) -> Result<(), &'static str> {
        self.encoded.clear();
        STANDARD.decode_vec(base64, &mut self.encoded).map_err(|_| "the histogram is not base64")?;
        let length = self.decompress()?;
        let (header, counts) = self.plain[..length]
            .split_at_checked(HEADER_BYTES)
            .ok_or("the histogram ends within its header")?;
        if u32_at(header, 0) != PLAIN_COOKIE
            || u32_at(header, 8) != 0
            || u64_at(header, 32) != 1_f64.to_bits()
        {
            return Err("the histogram is in another format than V2");
        }
        let layout = Layout::new(u32_at(header, 12), u64_at(header, 16))
            .ok_or("the histogram has no such resolution")?;
        if u32_at(header, 4) as usize != counts.len() {
            return Err("the histogram is cut short, or longer than it says");
        }
        if self.layout != Some(layout) {
            self.settle();
            self.layout = Some(layout);
        }
        add_counts(&self.plain[HEADER_BYTES..length], layout, &mut self.counts)
    }

    /// Inflates into `plain`; how much of it is filled.
    fn decompress(&mut self) -> Result<usize, &'static str> {
        let header = self.encoded.get(..8).ok_or("the histogram ends within its header")?;
        if u32_at(header, 0) != COMPRESSED_COOKIE {
            return Err("the histogram is in another format than V2, compressed");
        }
        self.inflate.reset(true);
        loop {
            let (read, written) = (self.inflate.total_in() as usize, self.inflate.total_out() as usize);
            let (from, to) = (&self.encoded[8 + read..], &mut self.plain[written..]);
            let status = self.inflate.decompress(from, to, FlushDecompress::Finish);
            let written = self.inflate.total_out() as usize;
            match status {
                Ok(Status::StreamEnd) => return Ok(written),
                Ok(_) if written == self.plain.len() && written < PAYLOAD_BYTES_MAX => {
                    self.plain.resize((2 * written).min(PAYLOAD_BYTES_MAX), 0);
                }
                Ok(_) => return Err("the histogram is cut short, or longer than any"),
                Err(_) => return Err("the histogram cannot be decompressed"),
            }
        }
    }
}

/// Big-endian numbers of a header that is known to be long enough.
fn u32_at(header: &[u8], at: usize) -> u32 {
    header[at..at + 4].iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

fn u64_at(header: &[u8], at: usize) -> u64 {
    u64::from(u32_at(header, at)) << 32 | u64::from(u32_at(header, at + 4))
}

/// Decodes counts and runs of zeros, and adds the counts to those at the same index.
fn add_counts(mut coded: &[u8], layout: Layout, counts: &mut Vec<u64>) -> Result<(), &'static str> {
    let buckets = layout.buckets();
    let mut index = 0_usize;
    while !coded.is_empty() {
        let (number, rest) = zigzag(coded).ok_or("the histogram ends within a count")?;
        coded = rest;
        if number < 0 {
            let zeros = usize::try_from(number.unsigned_abs()).ok().filter(|zeros| *zeros <= COUNTS_MAX);
            index = index.saturating_add(zeros.ok_or("the histogram has more buckets than any")?);
            continue;
        }
        if number > 0 {
            if index >= buckets {
                return Err("the histogram has more buckets than any");
            }
            if counts.len() <= index {
                counts.resize(index + 1, 0);
            }
            counts[index] = counts[index].saturating_add(number.unsigned_abs());
        }
        index += 1;
    }
    Ok(())
}

/// ZigZag LEB128 of at most 9 bytes, the last of which is whole.
fn zigzag(coded: &[u8]) -> Option<(i64, &[u8])> {
    // Most counts, and most runs of zeros, are below 64.
    if let [byte @ 0..0x80, rest @ ..] = coded {
        let value = i64::from(*byte);
        return Some(((value >> 1) ^ -(value & 1), rest));
    }
    let mut value = 0_u64;
    for (place, byte) in coded.iter().enumerate().take(9) {
        let is_last = place == 8 || byte & 0x80 == 0;
        let bits = if place == 8 { *byte } else { byte & 0x7f };
        value |= u64::from(bits) << (7 * place);
        if is_last {
            let number = (value >> 1).cast_signed() ^ -(value & 1).cast_signed();
            return Some((number, &coded[place + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
    use std::fmt::Write as _;
    use units::Seed;

    fn encoded(histogram: &Histogram<u64>) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(histogram, &mut bytes).unwrap();
        STANDARD.encode(bytes)
    }

    fn merged(log: &str, from_ns: u64) -> Result<Option<Histogram<u64>>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("latency.hlog");
        std::fs::write(&path, log).unwrap();
        read_merged(&path, "response", from_ns).map_err(|error| error.to_string())
    }

    #[test]
    fn the_number_of_buckets_is_that_of_the_values() {
        for (digits, lowest) in [(0, 1), (1, 1), (3, 1), (3, 1_000), (5, 1), (5, 1 << 40), (5, 1 << 62)] {
            let layout = Layout::new(digits, lowest).unwrap();
            let found = (0..COUNTS_MAX).find(|index| layout.value(*index).is_none()).unwrap_or(COUNTS_MAX);
            assert_eq!(layout.buckets(), found, "{digits} {lowest}");
        }
    }

    /// The library adds what the library wrote; bytes of the sum must be equal.
    #[test]
    fn the_sum_is_that_of_the_library() {
        for (digits, lowest, highest) in
            [(3, 1, 3_600_000_000_000), (3, 1000, 60_000_000_000), (1, 1, u64::MAX / 4), (5, 7, 1 << 40)]
        {
            let mut rng = Seed(7).derive("hlog", digits).rng();
            let mut expected = new_histogram();
            let mut log = "#[a comment]\n\"StartTimestamp\",\"a legend\"\n".to_owned();
            for second in 0..20 {
                let mut part =
                    Histogram::new_with_bounds(lowest, highest, u8::try_from(digits).unwrap()).unwrap();
                for _ in 0..500 {
                    part.saturating_record((1e6 * (rng.normal() * 3.0).exp()) as u64);
                }
                part.saturating_record_n(0, 1 << 40);
                part.saturating_record(highest);
                let _ = writeln!(log, "Tag=response,{second}.000,1.000,9.9,{}", encoded(&part));
                let _ = writeln!(log, "Tag=service,{second}.000,1.000,9.9,not looked at");
                if second >= 5 {
                    // Across layouts the library adds each bucket at its lowest value, which saturates at an hour.
                    part.iter_recorded().for_each(|bucket| {
                        expected.saturating_record_n(
                            part.lowest_equivalent(bucket.value_iterated_to()),
                            bucket.count_at_value(),
                        );
                    });
                }
            }
            let found = merged(&log, 5_000_000_000).unwrap().unwrap();
            assert_eq!(encoded(&found), encoded(&expected), "{digits} digits from {lowest}");
            assert_eq!(
                (found.len(), found.max(), found.min()),
                (expected.len(), expected.max(), expected.min())
            );
        }
    }

    #[test]
    fn layouts_may_differ_from_row_to_row() {
        let mut fine = Histogram::<u64>::new_with_bounds(1, 1 << 40, 4).unwrap();
        let mut coarse = Histogram::<u64>::new_with_bounds(1, 1 << 40, 2).unwrap();
        fine.record(1000).unwrap();
        coarse.record(5).unwrap();
        let log = format!(
            "Tag=response,0,1,1,{}\nTag=response,1,1,1,{}\nTag=response,2,1,1,{}",
            encoded(&fine),
            encoded(&coarse),
            encoded(&fine)
        );
        let found = merged(&log, 0).unwrap().unwrap();
        assert_eq!((found.len(), found.count_at(1000), found.count_at(5)), (3, 2, 1));
        assert_eq!(merged("", 0).unwrap(), None);
    }

    #[test]
    fn each_interval_is_a_row_of_the_map() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("latency.hlog");
        let histogram = |times: &[u64]| {
            let mut histogram = new_histogram();
            times.iter().for_each(|time| histogram.record(*time).unwrap());
            encoded(&histogram)
        };
        let log = format!(
            "Tag=response,0.500,1.000,1,{}\nTag=service,0.500,1.000,1,-\nTag=response,1.500,0.500,1,{}\n",
            histogram(&[2_000_000, 2_000_000, 90_000_000]),
            histogram(&[3_000_000]),
        );
        std::fs::write(&path, log).unwrap();
        let heat = read_heat(&path, "response").unwrap().unwrap();
        assert_eq!((heat.start_ns, &heat.t_ns[..]), (500_000_000, &[1_500_000_000, 2_000_000_000][..]));
        let sums: Vec<u64> = heat.rows.iter().map(|row| row.iter().sum()).collect();
        assert_eq!((sums, heat.count_max), (vec![3, 1], 2));
        assert_eq!(read_heat(&path, "connect").unwrap(), None);
    }

    #[test]
    fn damage_is_told_with_its_line() {
        let mut histogram = new_histogram();
        (1..2000_u64).for_each(|value| histogram.record(value * value).unwrap());
        let whole = encoded(&histogram);
        let bytes = STANDARD.decode(&whole).unwrap();
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = bytes.clone();
            change(&mut bytes);
            format!("Tag=response,0,1,1,{}", STANDARD.encode(bytes))
        };
        for (log, expected) in [
            ("Tag=response,0,1,1,%".to_owned(), "not base64"),
            ("Tag=response,0,1,1,".to_owned(), "ends within its header"),
            ("Tag=response,0,1,1".to_owned(), "a row has start"),
            ("Tag=response,0,1,1,a,b".to_owned(), "a row has start"),
            ("Tag=response,x,1,1,a".to_owned(), "does not begin with a time"),
            ("Tag=response,1,inf,1,a".to_owned(), "no length"),
            ("\u{0}\u{1}".to_owned(), "does not begin with a time"),
            (with(&|bytes| bytes[0] = 0), "another format"),
            (with(&|bytes| bytes.truncate(bytes.len() / 2)), "cut short"),
            (with(&|bytes| bytes[20] ^= 0xff), "histogram"),
        ] {
            let text = merged(&format!("#\n{log}"), 0).unwrap_err();
            assert!(text.contains("line 2") && text.contains(expected), "{text}, not {expected}");
        }
    }

    /// Headers that promise what is not there, and counts beyond all buckets.
    #[test]
    fn what_a_histogram_says_of_itself_is_not_believed() {
        let layout = Layout::new(3, 1).unwrap();
        let mut counts = Vec::new();
        // A run of 2^62 zeros, twice; then one count.
        let zeros = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        let coded: Vec<u8> = [&zeros[..], &zeros[..], &[2]].concat();
        assert!(add_counts(&coded, layout, &mut counts).is_err());
        assert!(add_counts(&[0x80], layout, &mut counts).is_err());
        assert!(counts.is_empty());
        assert_eq!(Layout::new(6, 1), None);
        assert_eq!(Layout::new(3, 0), None);
        assert_eq!(Layout::new(0, u64::MAX).unwrap().value(9), None);
    }
}
