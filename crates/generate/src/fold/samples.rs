//! A summary of each sample. Histograms of one sample are kept at a time, so that a soak of days takes no memory.

use super::rate::per_second;
use analyze::Of;
use engine::{IntervalData, LazyHistogram};
use schema::load::{LatencySummary, Time};
use schema::trial::{IntervalLine, SampleSummary};

/// Samples that are whole, and the one that is not.
pub(super) struct Samples {
    whole: Vec<SampleSummary>,
    open: Option<OpenSample>,
    planned: u32,
}

struct OpenSample {
    number: u32,
    duration_ns: u64,
    answers: u64,
    failed: u64,
    response: LazyHistogram,
}

impl Samples {
    pub(super) const fn new(planned: u32) -> Self {
        Self { whole: Vec::new(), open: None, planned }
    }

    pub(super) fn add(&mut self, line: &IntervalLine, data: &IntervalData) {
        let number = line.sample.unwrap_or(1).min(self.planned.max(1));
        if self.open.as_ref().is_some_and(|open| open.number != number) {
            self.close();
        }
        let sample = self.open.get_or_insert_with(|| OpenSample::new(number));
        sample.duration_ns += data.counts.end_ns.saturating_sub(data.counts.start_ns);
        sample.answers += data.counts.answers;
        sample.failed += line.failed.values().sum::<u64>();
        let times = &data.times[Time::Response];
        sample.response.add(times).expect("all time histograms have the same bounds");
    }

    /// Ends the open sample, which is empty where there is none.
    pub(super) fn close(&mut self) -> &SampleSummary {
        let number = self.whole.len() as u32 + 1;
        let open = self.open.take().unwrap_or_else(|| OpenSample::new(number));
        self.whole.push(open.summary());
        self.whole.last().expect("it was pushed")
    }

    /// All of them, the one that is open included.
    pub(super) fn finish(mut self) -> Vec<SampleSummary> {
        if self.open.is_some() {
            self.close();
        }
        self.whole
    }
}

impl OpenSample {
    fn new(number: u32) -> Self {
        Self { number, duration_ns: 0, answers: 0, failed: 0, response: LazyHistogram::default() }
    }

    fn summary(&self) -> SampleSummary {
        let times: LatencySummary = analyze::latency(&self.response, 0, Of::Requests);
        SampleSummary {
            sample: self.number,
            throughput_per_s: per_second(self.answers, self.duration_ns),
            answers: self.answers,
            failed: self.failed,
            mean_ns: times.mean,
            p50_ns: times.p50,
            p99_ns: times.p99,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::line;
    use schema::trial::Phase;

    #[test]
    fn of_samples_only_summaries_and_one_histogram_are_kept() {
        let mut samples = Samples::new(20);
        for index in 0..2_000_u64 {
            let mut data = IntervalData::default();
            data.counts.index = index;
            data.counts.end_ns = 1_000;
            data.counts.answers = 3;
            data.times[Time::Response].record(1_000 + index).unwrap();
            let sample = u32::try_from(index / 100).unwrap() + 1;
            samples.add(&line(&data, (Phase::Sample, Some(sample)), &[], None), &data);
            if index % 100 == 99 {
                assert_eq!(samples.close().answers, 300);
            }
            assert_eq!(samples.whole.len() as u64, (index + 1) / 100);
            assert_eq!(samples.open.is_some(), index % 100 != 99, "at most one sample is open");
        }
        let numbers: Vec<u32> = samples.finish().iter().map(|sample| sample.sample).collect();
        assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
    }
}
