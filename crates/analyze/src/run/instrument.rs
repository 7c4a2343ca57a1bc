//! What the instrument's own error does to the interval of a time of a cell (ADR 0027).
//!
//! An interval over trials knows what differs between them. What the instrument adds to all of them alike it cannot see:
//! the step of the clock and the time of a reading, the share by which a histogram rounds, and how late requests are
//! sent, which the response time counts from its intended moment. A calibration bounds each, and bounds add linearly:
//! they are no noise that averages out (JCGM 100:2008, F.2.4.5; Eisenhart, J. Res. NBS 67C, 1963).
//!
//! Invariants: nothing is added without a calibration of a quiet host, nor where the load asks for more than was
//! calibrated; lateness only lengthens, so it moves the lower end alone.
//! Absent on purpose: comparisons. Both sides carry the same error, which draws their ratio towards 1: it may hide a
//! difference, and neither makes nor turns one.

use super::data::RunData;
use crate::measure::Measure;
use crate::words::{duration, percent};
use schema::analysis::{CellSummary, InstrumentPart};
use schema::calibration::{CalibrationSummary, InstrumentError};
use schema::experiment::LoadModel;
use schema::metric::Metric;
use schema::plan::LoadPlan;
use schema::said;
use schema::said::Said;

/// Up to this share of half of an interval's width an error is negligible: intervals are shown with three digits of
/// the value and one or two of the width.
pub(super) const NEGLIGIBLE: f64 = 0.05;

/// How far a recorded time may be from the true one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bound {
    /// Either way, nanoseconds.
    clock_ns: f64,
    /// Either way, a share of the value.
    share: f64,
    /// Too long by at most this, nanoseconds.
    late_ns: f64,
}

/// The interval of a time of a cell with what the instrument may add, and how much that is; as it was where nothing is
/// known of the instrument, or of how it measures this metric.
pub(super) fn widened<'m>(
    data: &RunData<'_>,
    cell: &str,
    measure: impl Into<Measure<'m>>,
    (low, high): (f64, f64),
) -> ((f64, f64), Option<InstrumentPart>) {
    let found = data.error.zip(data.cell(cell)).zip(measure.into().metric());
    let Some(bound) = found.and_then(|((error, cell), metric)| bound(error, &cell.load, metric)) else {
        return ((low, high), None);
    };
    let low_ns = low.abs() * bound.share + bound.clock_ns + bound.late_ns;
    let high_ns = high.abs() * bound.share + bound.clock_ns;
    let (low_ns, high_ns) = (low_ns.min(low.max(0.0)), high_ns);
    if !(low_ns.is_finite() && high_ns.is_finite()) {
        return ((low, high), None);
    }
    let added = low_ns.max(high_ns) > NEGLIGIBLE * (high - low) / 2.0;
    let part = InstrumentPart { low_ns, high_ns, added };
    (if added { (low - low_ns, high + high_ns) } else { (low, high) }, Some(part))
}

/// `value` of a time of a cell in nanoseconds, less what the instrument may have made it too long by, and plus what it may
/// have made it too short by; the value itself twice where nothing is known of the instrument or it is no time.
pub(super) fn ends_of(data: &RunData<'_>, cell: &str, metric: Metric, value: f64) -> (f64, f64) {
    let found = data.error.zip(data.cell(cell));
    let Some(bound) = found.and_then(|(error, cell)| bound(error, &cell.load, metric)) else {
        return (value, value);
    };
    let either = value.abs() * bound.share + bound.clock_ns;
    // A thousandth is left, so that a time that may be all lateness stays a time.
    ((value - either - bound.late_ns).max(value * 1e-3), value + either)
}

/// `None` where the metric is no time of requests, or the calibration does not reach the load.
fn bound(error: &InstrumentError, load: &LoadPlan, metric: Metric) -> Option<Bound> {
    // A late request moves a percentile by its lateness at most; at most one of a hundred is later than p99, so beyond
    // p99 only the longest lateness is a bound.
    let is_tail = metric == Metric::P999;
    if !is_time(metric) {
        return None;
    }
    let late_ns = match (load.model, load.think.is_some()) {
        // The next request begins when the answer to the last is there: there is no time to be late for.
        (LoadModel::Closed, false) => 0.0,
        (LoadModel::Closed, true) if is_tail => return None,
        (LoadModel::Closed, true) => error.wake_p99_ns,
        (LoadModel::Open, _) => {
            let late = error.late?;
            match metric {
                Metric::Mean => late.mean_ns,
                _ if is_tail => late.max_ns,
                _ => late.p99_ns,
            }
        }
    };
    Some(Bound { clock_ns: error.clock_ns, share: error.histogram_share, late_ns })
}

/// What became of the instrument's error in the intervals of times, in a sentence; why nothing did.
pub(super) fn sentence(
    data: &RunData<'_>,
    calibration: Option<&CalibrationSummary>,
    cells: &[CellSummary],
) -> Said {
    if calibration.is_none() {
        return said!("instrument.error_unknown", "the instrument's own error is unknown and in no interval");
    }
    let Some(error) = data.error else {
        return said!(
            "instrument.error_not_usable",
            "the instrument's own error is in no interval: the host was busy when it was calibrated, or an earlier prony \
             wrote down what it found"
        );
    };
    let times = || {
        cells.iter().flat_map(|cell| &cell.metrics).filter(|of| is_time(of.metric) && of.interval.is_some())
    };
    let parts = |is_added: bool| {
        times().filter(|of| of.instrument.is_some_and(|part| part.added == is_added)).count()
    };
    said!(
        "instrument.error_in_intervals",
        "its own error (clock {clock}, histograms {histogram}{late}) is in {added} of {all} intervals of response times, and \
         negligible in {small} (at most {negligible} of half the width); comparisons have it on both sides, so it can hide a \
         difference but not make one",
        clock = duration(error.clock_ns),
        histogram = percent(error.histogram_share),
        late = lateness(data, error),
        added = parts(true),
        all = times().count(),
        small = parts(false),
        negligible = percent(NEGLIGIBLE)
    )
}

/// `, sent up to 23.1 µs late`: of open loads.
fn lateness(data: &RunData<'_>, error: &InstrumentError) -> Said {
    if data.plan.cells.iter().all(|cell| cell.load.model == LoadModel::Closed) {
        return Said::default();
    }
    match error.late {
        Some(late) => {
            said!("instrument.sent_late", ", sent up to {late} late (p99)", late = duration(late.p99_ns))
        }
        None => said!("instrument.sent_late_unknown", ", open loads beyond what was calibrated"),
    }
}

const fn is_time(metric: Metric) -> bool {
    matches!(metric, Metric::Mean | Metric::P50 | Metric::P90 | Metric::P95 | Metric::P99 | Metric::P999)
}
