//! `latency.hlog`: the HdrHistogram interval log of a trial (METHOD §10), one histogram per interval and tag. It is read
//! back by `hlog_merge`.

use crate::RecordError;
use crate::deflate::Deflate;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Values are nanoseconds; the log's "max" column is shown in milliseconds.
const MAX_VALUE_DIVISOR: f64 = 1e6;
/// Head of the log as the Java tools write it; the library leaves version and legend out.
const HEAD: &str = "#[prony: times in nanoseconds, from the trial's origin; max in milliseconds]\n\
    #[Histogram log format version 1.3]\n\
    #[MaxValueDivisor: 1000000.0]\n\
    \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// Appends intervals to a log, flushed one by one so that a crash loses at most the one in progress.
pub struct Writer {
    path: PathBuf,
    file: File,
    serializer: Deflate,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Writer {
    /// Begins a log with its head.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        let mut file = File::create(path).map_err(RecordError::io("create", path))?;
        file.write_all(HEAD.as_bytes()).map_err(RecordError::io("write", path))?;
        Ok(Self { path: path.to_owned(), file, serializer: Deflate::new() })
    }

    /// Appends every histogram of an interval that has a value, under its tag. `span_ns` is the interval, in nanoseconds
    /// from the trial's origin. Encoding one takes long for a core under load, so `pause` is called between its steps.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(
        &mut self,
        span_ns: Range<u64>,
        tagged: &[(&str, &Histogram<u64>)],
        pause: fn(),
    ) -> Result<(), RecordError> {
        self.serializer.pause = pause;
        let text = self.render(span_ns, tagged, pause).map_err(RecordError::io("write", &self.path))?;
        self.file.write_all(&text).map_err(RecordError::io("write", &self.path))
    }

    fn render(
        &mut self,
        span_ns: Range<u64>,
        tagged: &[(&str, &Histogram<u64>)],
        pause: fn(),
    ) -> std::io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut builder = IntervalLogWriterBuilder::new();
        builder.with_max_value_divisor(MAX_VALUE_DIVISOR);
        let mut log = builder.begin_log_with(&mut text, &mut self.serializer)?;
        let start = Duration::from_nanos(span_ns.start);
        let length = Duration::from_nanos(span_ns.end.saturating_sub(span_ns.start));
        for (tag, histogram) in tagged {
            if !histogram.is_empty() {
                log.write_histogram(histogram, start, length, Tag::new(tag))
                    .map_err(|error| std::io::Error::other(error.to_string()))?;
                pause();
            }
        }
        // The library writes comments each time; the head has them.
        let is_row = |line: &&[u8]| !line.starts_with(b"#");
        let mut rows = Vec::with_capacity(text.len());
        text.split_inclusive(|byte| *byte == b'\n')
            .filter(is_row)
            .for_each(|row| rows.extend_from_slice(row));
        Ok(rows)
    }
}

/// An empty histogram of METHOD §10: 3 significant digits, 1 ns to 1 h.
///
/// # Panics
/// Never: the bounds are valid.
#[must_use]
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, units::TIME_NS_MAX, units::TIME_DIGITS).expect("the bounds are valid")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlog_merge::read_merged;

    #[test]
    fn what_is_written_is_read_back_by_tag_and_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("latency.hlog");
        let mut writer = Writer::create(&path).unwrap();
        for second in 0..3_u64 {
            let (mut response, mut connect) = (new_histogram(), new_histogram());
            response.record(1_000_000 * (second + 1)).unwrap();
            connect.record(5).unwrap();
            let span_ns = second * 1_000_000_000..(second + 1) * 1_000_000_000;
            let all = [("response", &response), ("service", &new_histogram()), ("connect", &connect)];
            writer.append(span_ns, &all, || {}).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with('"')).count(), 1, "one legend");
        let all = read_merged(&path, "response", 0).unwrap().unwrap();
        assert_eq!((all.len(), all.max() / 1_000_000), (3, 3));
        let late = read_merged(&path, "response", 1_000_000_000).unwrap().unwrap();
        assert_eq!(late.len(), 2);
        assert!(read_merged(&path, "service", 0).unwrap().is_none());
    }

    #[test]
    fn a_histogram_that_grew_is_written_byte_by_byte_as_one_of_an_hour() {
        let folder = tempfile::tempdir().unwrap();
        let mut grown = Histogram::new(units::TIME_DIGITS).unwrap();
        let mut whole = new_histogram();
        let mut longest = grown.clone();
        for time_ns in [3, 70_000, 9_000_000] {
            for one in [&mut grown, &mut longest, &mut whole] {
                one.record(time_ns).unwrap();
            }
        }
        let text = |name: &str, histogram: &Histogram<u64>| {
            let path = folder.path().join(name);
            let mut writer = Writer::create(&path).unwrap();
            for _ in 0..2 {
                writer.append(0..1_000_000_000, &[("response", histogram)], || {}).unwrap();
            }
            std::fs::read(path).unwrap()
        };
        assert!(grown.high() < whole.high(), "they differ in what they could hold");
        assert!(text("grown", &grown) == text("whole", &whole));
        for one in [&mut longest, &mut whole] {
            one.record(units::TIME_NS_MAX).unwrap();
        }
        assert!(text("longest", &longest) == text("with an hour", &whole));
    }

    #[test]
    fn a_damaged_log_is_an_error_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("latency.hlog");
        std::fs::write(&path, "Tag=response,0.0,1.0,1.0,!!!notbase64\n").unwrap();
        let error = read_merged(&path, "response", 0).unwrap_err().to_string();
        assert!(error.contains("latency.hlog"), "{error}");
    }
}
