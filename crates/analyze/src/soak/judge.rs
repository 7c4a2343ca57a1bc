//! One counter in one segment: whether it leaks, fills up, or is steady (METHOD §8).
//!
//! A leak needs all of: a rising trend (Mann–Kendall with Hamed and Rao's correction); the lower end of the Theil–Sen
//! slope reaching the limit within the horizon; and a line that beats, by ΔBIC > 6 each, every harmless shape: a curve
//! that levels off below the limit, up to three steps, and a slow wave. What has stepped is judged by the stretch after
//! its last step. A regular wave of which two periods are seen (a daily load) is subtracted first.
//! Steady needs evidence too: no significant trend, and the upper end of the slope must stay below the limit within the
//! horizon. It says the smallest leak that would have been seen. A significant trend that reaches the limit only after
//! the horizon rises: the horizon decides what is a leak, not what is steady.

use super::segment::SegmentData;
use super::terms::{Terms, WINDOWS_MIN};
use crate::stats::order::median;
use crate::stats::shapes::{self, Shapes, ends, regular_wave};
use crate::stats::trend::{mann_kendall, theil_sen};
use schema::said::Said;
use schema::soak::{SoakClass, SoakCounter, SoakLimit, SoakLine, SoakPoint, SoakTrend};
use statrs::distribution::{ContinuousCDF, Normal};

/// BIC difference from which a shape is better than another (METHOD §8; "strong", Kass & Raftery, JASA 90, 1995).
const BIC_DECISIVE: f64 = 6.0;
/// A trend of throughput or latency by less than this over the segment does not matter (METHOD §5).
const MATERIAL: f64 = 0.01;
/// A step less high than this share of the span of all levels is none.
const STEP_SHARE: f64 = 0.25;
const HOUR_NS: f64 = 3.6e12;
/// How often the smallest leak that is said would have been seen.
const POWER: f64 = 0.95;

/// The windows of one segment in which a counter was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    pub(super) trial: u32,
    pub(super) counter: Option<SoakCounter>,
    /// Ends of the windows, rising.
    pub(super) ends_ns: Vec<u64>,
    pub(super) values: Vec<f64>,
    pub(super) limit: Option<SoakLimit>,
}

impl Series {
    /// What is no finite number, or goes back in time, is left out: it was not measured.
    pub(super) fn of(segment: &SegmentData, counter: SoakCounter) -> Self {
        let mut series = Self {
            trial: segment.file.trial,
            counter: Some(counter),
            limit: segment.file.limits.get(&counter).filter(|limit| limit.value.is_finite()).cloned(),
            ..Self::default()
        };
        for line in &segment.windows {
            let value = line.value(counter).filter(|value| value.is_finite() && *value >= 0.0);
            let is_later = series.ends_ns.last().is_none_or(|last| line.end_ns > *last);
            if let Some(value) = value.filter(|_| is_later) {
                series.ends_ns.push(line.end_ns);
                series.values.push(value);
            }
        }
        series
    }

    /// The part from `begin` on.
    fn after(&self, begin: usize) -> Self {
        Self {
            ends_ns: self.ends_ns[begin..].to_vec(),
            values: self.values[begin..].to_vec(),
            ..self.clone()
        }
    }

    fn hours(&self) -> Vec<f64> {
        let first = self.ends_ns.first().copied().unwrap_or_default();
        self.ends_ns.iter().map(|end_ns| (end_ns - first) as f64 / HOUR_NS).collect()
    }
}

/// What was found out about a series.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) class: SoakClass,
    pub(super) why: Why,
    pub(super) windows: usize,
    pub(super) slope: Option<Slope>,
    pub(super) shapes: Option<Shapes>,
    /// Values without a regular wave, at the begin and at the end.
    pub(super) ends: Option<(f64, f64)>,
    /// Windows before the stretch that is judged.
    pub(super) after_steps: usize,
    /// Of what is steady: the smallest rise an hour that would have been seen.
    pub(super) smallest_seen_per_h: Option<f64>,
}

/// The slope per hour and the test of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slope {
    pub(super) per_h: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) p_value: f64,
    pub(super) factor: f64,
    pub(super) line: Option<SoakLine>,
}

/// What decided the class.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Why {
    /// Fewer than the windows needed.
    TooShort,
    /// A statistic was refused.
    Refused(Said),
    /// All values are equal.
    Constant,
    /// No trend, and none that the interval leaves room for would matter.
    NoTrend,
    /// No trend is shown, but one that matters is not excluded either.
    TooUncertain,
    /// A trend that reaches the limit only after the horizon.
    TooSlow,
    /// A trend that may or may not reach the limit within the horizon.
    MayReach,
    /// A trend, and no limit to hold it against.
    NoLimit,
    /// A trend that reaches the limit, of a shape that may be harmless.
    ShapeOpen,
    /// The three conditions of a leak.
    Line,
    /// A curve that levels off.
    LevelsOff,
    /// Several steps up, the last stretch level: more may come.
    Staircase,
    /// Of throughput and latency.
    Drift,
}

impl Judged {
    pub(super) fn too_short(series: &Series) -> Self {
        let ends = ends(&series.values);
        Self { ends, ..Self::open(Why::TooShort, series.values.len()) }
    }

    fn open(why: Why, windows: usize) -> Self {
        let class = SoakClass::CannotTell;
        let (slope, shapes, ends, smallest_seen_per_h) = (None, None, None, None);
        Self { class, why, windows, slope, shapes, ends, after_steps: 0, smallest_seen_per_h }
    }

    /// Time from the last window to the limit at a slope; `None` where it is never reached.
    pub(super) fn hours_to(&self, limit: Option<&SoakLimit>, slope: f64) -> Option<f64> {
        let left = (limit?.value - self.ends?.1).max(0.0);
        (slope > 0.0).then(|| left / slope).filter(|hours| hours.is_finite())
    }

    pub(super) fn into_trend(
        self,
        counter: SoakCounter,
        series: &Series,
        text: Said,
        points: Vec<SoakPoint>,
    ) -> SoakTrend {
        let limit = series.limit.as_ref().filter(|_| counter.is_resource());
        let rises = matches!(self.class, SoakClass::Leak)
            || matches!(self.why, Why::TooSlow | Why::MayReach | Why::ShapeOpen);
        let time = |slope: fn(&Slope) -> f64| {
            let hours = self.hours_to(limit, slope(self.slope.as_ref().filter(|_| rises)?))?;
            Some((hours * HOUR_NS).min(u64::MAX as f64) as u64)
        };
        let (exhausted_in_ns, low, high) = (time(|s| s.per_h), time(|s| s.high), time(|s| s.low));
        let curve =
            self.shapes.as_ref().map(|shapes| shapes.curve).filter(|_| self.class == SoakClass::Filling);
        let bic = |of: fn(&Shapes) -> f64| self.shapes.as_ref().map(of).filter(|bic| bic.is_finite());
        SoakTrend {
            counter,
            class: self.class,
            text,
            trial: series.trial,
            windows: u32::try_from(self.windows).unwrap_or(u32::MAX),
            first: self.ends.map(|ends| ends.0),
            last: self.ends.map(|ends| ends.1),
            slope_per_h: self.slope.map(|slope| slope.per_h),
            slope_low_per_h: self.slope.map(|slope| slope.low),
            slope_high_per_h: self.slope.map(|slope| slope.high),
            line: self.slope.and_then(|slope| slope.line),
            p_value: self.slope.map(|slope| slope.p_value),
            smallest_seen_per_h: self.smallest_seen_per_h.filter(|_| self.class == SoakClass::Steady),
            variance_factor: self.slope.map(|slope| slope.factor),
            limit: limit.cloned(),
            exhausted_in_ns,
            exhausted_in_low_ns: low,
            exhausted_in_high_ns: high,
            bic_filling: bic(|shapes| shapes.filling),
            bic_steps: bic(|shapes| shapes.steps),
            bic_wave: bic(|shapes| shapes.wave),
            plateau: curve.map(|curve| curve.plateau()),
            time_constant_ns: curve.map(|curve| (curve.time_constant * HOUR_NS) as u64),
            series: points,
        }
    }
}

/// The class of a series of at least [`WINDOWS_MIN`] windows, with a trend from `alpha` on.
pub(super) fn judge(series: &Series, terms: &Terms, alpha: f64) -> Judged {
    let is_resource = series.counter.is_none_or(SoakCounter::is_resource);
    let windows = series.values.len();
    if series.values.windows(2).all(|pair| pair[0] == pair[1]) {
        let (class, ends) = (SoakClass::Steady, ends(&series.values));
        let smallest_seen_per_h = one_unit_per_h(series).filter(|_| is_resource);
        return Judged { class, ends, smallest_seen_per_h, ..Judged::open(Why::Constant, windows) };
    }
    let smooth = without_wave(series);
    let slope = match slope_of(&smooth, terms.confidence) {
        Ok(slope) => slope,
        Err(why) => return Judged { ends: ends(&smooth.values), ..Judged::open(Why::Refused(why), windows) },
    };
    let found = Judged {
        slope: Some(slope),
        ends: ends(&smooth.values),
        smallest_seen_per_h: smallest_seen(slope, terms.confidence, alpha, windows).filter(|_| is_resource),
        ..Judged::open(Why::TooShort, windows)
    };
    if !is_resource {
        return drift(found, &smooth, alpha);
    }
    let ceiling = series.limit.as_ref().map(|limit| limit.value);
    let shapes = match shapes::shapes(&smooth.hours(), &smooth.values, ceiling) {
        Ok(shapes) => shapes,
        Err(refusal) => return Judged { why: Why::Refused(refusal.said()), ..found },
    };
    let stepped = shapes.steps < -BIC_DECISIVE && shapes.steps < shapes.filling && shapes.steps < shapes.wave;
    let steps = if stepped { real_steps(&smooth.values, &shapes.step_at) } else { Vec::new() };
    match steps.last() {
        Some((last, _)) => after_steps(series, &shapes, *last, &steps, found, terms, alpha),
        None => by_slope_and_shape(Judged { shapes: Some(shapes), ..found }, series, terms, alpha),
    }
}

/// The steps that are at least [`STEP_SHARE`] of the span of all levels, each with its height: the others follow noise.
fn real_steps(values: &[f64], step_at: &[usize]) -> Vec<(usize, f64)> {
    let begins: Vec<usize> = std::iter::once(0).chain(step_at.iter().copied()).collect();
    let ends = step_at.iter().copied().chain([values.len()]);
    let levels: Vec<f64> =
        begins.iter().zip(ends).filter_map(|(begin, end)| median(values.get(*begin..end)?)).collect();
    let (low, high) = levels
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), level| (low.min(*level), high.max(*level)));
    let heights = levels.windows(2).map(|pair| pair[1] - pair[0]);
    let steps = step_at.iter().copied().zip(heights);
    steps.filter(|(_, height)| height.abs() >= STEP_SHARE * (high - low)).collect()
}

/// The class by slope, limit and shape.
fn by_slope_and_shape(found: Judged, series: &Series, terms: &Terms, alpha: f64) -> Judged {
    let (Some(slope), Some(shapes)) = (found.slope, found.shapes.as_ref()) else { return found };
    let horizon_h = terms.plan.horizon_ns as f64 / HOUR_NS;
    let limit = series.limit.as_ref();
    let reaches = |slope: f64| found.hours_to(limit, slope).is_some_and(|hours| hours <= horizon_h);
    // Noise of long memory passes the trend test too often; then no line through it is better than a level or a wave.
    let has_line = shapes.level > BIC_DECISIVE && shapes.wave > -BIC_DECISIVE;
    let has_trend = slope.p_value < alpha && has_line;
    let (rises, falls) = (has_trend && slope.per_h > 0.0, has_trend && slope.per_h < 0.0);
    let levels_off = shapes.filling < -BIC_DECISIVE
        && shapes.filling < shapes.level - BIC_DECISIVE
        && shapes.filling <= shapes.wave
        && shapes.curve.rise > 0.0;
    let line_is_best = shapes.filling.min(shapes.steps).min(shapes.wave) > BIC_DECISIVE;
    let (class, why) = match (rises, limit) {
        _ if levels_off => (SoakClass::Filling, Why::LevelsOff),
        _ if falls => (SoakClass::Falling, Why::Drift),
        (false, None) => (SoakClass::Steady, Why::NoTrend),
        (false, Some(_)) if reaches(slope.high) => (SoakClass::CannotTell, Why::TooUncertain),
        (false, Some(_)) => (SoakClass::Steady, Why::NoTrend),
        (true, None) => (SoakClass::CannotTell, Why::NoLimit),
        (true, Some(_)) if reaches(slope.low) && line_is_best => (SoakClass::Leak, Why::Line),
        (true, Some(_)) if reaches(slope.low) => (SoakClass::CannotTell, Why::ShapeOpen),
        (true, Some(_)) if reaches(slope.high) => (SoakClass::CannotTell, Why::MayReach),
        (true, Some(_)) => (SoakClass::Rising, Why::TooSlow),
    };
    Judged { class, why, ..found }
}

/// What has stepped is judged by what came after its last step. Of several steps up more may come.
fn after_steps(
    series: &Series,
    shapes: &Shapes,
    last: usize,
    steps: &[(usize, f64)],
    found: Judged,
    terms: &Terms,
    alpha: f64,
) -> Judged {
    let rest = series.after(last);
    if rest.values.len() < WINDOWS_MIN {
        return Judged { why: Why::ShapeOpen, shapes: Some(shapes.clone()), ..found };
    }
    // What is left is shorter at every turn, so this ends.
    let judged = judge(&rest, terms, alpha);
    let is_staircase = steps.iter().filter(|(_, height)| *height > 0.0).count() > 1;
    let after_steps = last + judged.after_steps;
    match judged.class {
        SoakClass::Steady if is_staircase => {
            Judged { why: Why::Staircase, shapes: Some(shapes.clone()), after_steps, ..found }
        }
        _ => Judged { after_steps, ..judged },
    }
}

/// Throughput and latency: a trend that is significant and material (METHOD §5).
fn drift(found: Judged, smooth: &Series, alpha: f64) -> Judged {
    let (Some(slope), Some((first, _))) = (found.slope, found.ends) else { return found };
    let length_h = smooth.hours().last().copied().unwrap_or_default();
    let is_material = (slope.per_h * length_h).abs() > MATERIAL * first.abs();
    let class = match slope.p_value < alpha && is_material {
        true if slope.per_h > 0.0 => SoakClass::Rising,
        true => SoakClass::Falling,
        false => SoakClass::Steady,
    };
    let why = if class == SoakClass::Steady { Why::NoTrend } else { Why::Drift };
    Judged { class, why, ..found }
}

fn without_wave(series: &Series) -> Series {
    let mut smooth = series.clone();
    if let Some(wave) = regular_wave(&series.hours(), &series.values) {
        smooth.values.iter_mut().zip(wave).for_each(|(value, wave)| *value -= wave);
    }
    smooth
}

/// Trend test and slope. The interval of the slope is widened as the variance of the test is: its normal deviate times
/// the root of the factor, so that both speak of the same evidence.
fn slope_of(series: &Series, confidence: f64) -> Result<Slope, Said> {
    let test = mann_kendall(&series.values).map_err(|refusal| refusal.said())?;
    let factor = test.factor.max(1.0);
    let normal = Normal::standard();
    let deviate = normal.inverse_cdf(f64::midpoint(1.0, confidence)) * factor.sqrt();
    let widened = 2.0 * normal.cdf(deviate) - 1.0;
    let line = theil_sen(&series.hours(), &series.values, widened.min(1.0 - 1e-12))
        .map_err(|refusal| refusal.said())?;
    Ok(Slope {
        per_h: line.slope,
        low: line.low,
        high: line.high,
        p_value: test.corrected_p_value,
        factor: test.factor,
        line: drawn(series, [line.slope, line.low, line.high]),
    })
}

/// The smallest rise an hour that the trend test sees with a probability of [`POWER`]: the standard error of the slope,
/// from its interval, times the normal deviates of test and power (Cohen 1988, one slope). The line must also beat a level
/// by [`BIC_DECISIVE`], which takes a deviate of √(ΔBIC + ln n).
fn smallest_seen(slope: Slope, confidence: f64, alpha: f64, windows: usize) -> Option<f64> {
    let normal = Normal::standard();
    let error = (slope.high - slope.low) / (2.0 * normal.inverse_cdf(f64::midpoint(1.0, confidence)));
    let line = (BIC_DECISIVE + (windows.max(1) as f64).ln()).sqrt();
    let seen = error * (normal.inverse_cdf(1.0 - alpha / 2.0).max(line) + normal.inverse_cdf(POWER));
    Some(seen).filter(|seen| seen.is_finite() && *seen > 0.0)
}

/// One unit of the counter over the whole series: the smallest rise of a counter that never moved.
fn one_unit_per_h(series: &Series) -> Option<f64> {
    const PAGE_BYTES: f64 = 4096.0;
    let unit = match series.counter? {
        SoakCounter::Memory | SoakCounter::Heap => PAGE_BYTES,
        _ => 1.0,
    };
    let length_h = series.hours().last().copied().filter(|hours| *hours > 0.0)?;
    Some(unit / length_h)
}

/// A slope and its ends as lines over a series.
fn drawn(series: &Series, slopes: [f64; 3]) -> Option<SoakLine> {
    let hours = series.hours();
    let length_h = *hours.last()?;
    let at_ns = [*series.ends_ns.first()?, *series.ends_ns.last()?];
    let line = |slope: f64| {
        let left: Vec<f64> =
            hours.iter().zip(&series.values).map(|(hour, value)| value - slope * hour).collect();
        let begin = median(&left)?;
        let ends = [begin, begin + slope * length_h];
        ends.iter().all(|end| end.is_finite()).then_some(ends)
    };
    let [slope, low, high] = slopes.map(line);
    Some(SoakLine { at_ns, slope: slope?, low: low?, high: high? })
}
