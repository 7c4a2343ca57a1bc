//! What prony and its generator processes say to each other: one JSON object a line.

use super::ProcessError;
use crate::set_up::SetUp;
use engine::{Parcel, Part};
use plan::LoadJob;
use serde::{Deserialize, Serialize};

/// Version of the lines below. Both ends are the same program; a mismatch means that somebody else speaks.
pub(super) const VERSION: u32 = 2;

/// The first line to a generator process.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Spec {
    pub(super) version: u32,
    pub(super) job: LoadJob,
    pub(super) part: Part,
}

/// The lines after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) enum Order {
    /// The trial's origin on the machine's monotonic clock, and the first measured interval where it is known.
    /// The same moment of the wall clock is for rows.
    Begin { origin_ns: u64, origin_unix_ns: u64, measure_from: Option<u64> },
    /// The first measured interval.
    MeasureFrom(u64),
    /// End the load early.
    Stop,
}

/// What a generator process says.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Report {
    /// So many of its connections are open.
    Opening { opened: u64 },
    /// Its connections are set up.
    Ready(SetUp),
    /// An interval that all its workers have ended.
    Interval(Box<Parcel>),
    /// Its part of the load is over; its last word.
    Ended { peak_rss_bytes: u64, rows_error: Option<String> },
    /// It could not go on; its last word.
    Failed { missed_start: bool, cause: String },
}

/// Reads a report of process `pid`.
pub(super) fn report(pid: u32, line: &str) -> Result<Report, ProcessError> {
    serde_json::from_str(line).map_err(|error| ProcessError::Garbled { pid, cause: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::write_line;
    use engine::IntervalData;
    use schema::load::ErrorClass;

    #[test]
    fn orders_and_reports_survive_the_pipe() {
        for order in [
            Order::Begin { origin_ns: u64::MAX, origin_unix_ns: 0, measure_from: None },
            Order::Begin { origin_ns: 1, origin_unix_ns: u64::MAX, measure_from: Some(0) },
            Order::MeasureFrom(7),
            Order::Stop,
        ] {
            let mut line = Vec::new();
            write_line(&mut line, &order).unwrap();
            assert!(line.ends_with(b"\n") && line.iter().filter(|byte| **byte == b'\n').count() == 1);
            assert_eq!(serde_json::from_slice::<Order>(&line).unwrap(), order);
        }
        let mut data = IntervalData::default();
        data.counts.answers = 9;
        data.examples.insert(ErrorClass::Io, vec!["line\nbreak".to_owned()]);
        let mut line = Vec::new();
        write_line(&mut line, &Report::Interval(Box::new(Parcel::pack(&data)))).unwrap();
        let text = String::from_utf8(line).unwrap();
        let Ok(Report::Interval(parcel)) = report(1, text.trim_end()) else { panic!("{text}") };
        let there = parcel.unpack().unwrap();
        assert_eq!((there.counts, there.examples), (data.counts, data.examples));
    }

    #[test]
    fn what_is_no_report_is_an_error_with_the_process() {
        let error = report(4711, "{\"Ready\":").unwrap_err().to_string();
        assert!(error.contains("4711"), "{error}");
    }
}
