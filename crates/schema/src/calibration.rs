//! What the instrument itself can do on a host: the file that `prony calibrate` keeps, the short form of it that every
//! run stores and quotes, and the fixed-work canary of a trial (METHOD §9).
//!
//! All loads of a calibration are made by one worker; what N workers can do is derived where it is needed.

use crate::plan::{DriverChoice, PinPlan};
use crate::said::Said;
use crate::version::CalibrationVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One calibration of the instrument on one host.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CalibrationFile {
    /// Format and version.
    pub schema: CalibrationVersion,
    /// Where it holds.
    pub host: HostIdentity,
    /// When it was begun, RFC 3339 in UTC.
    pub measured_wall: String,
    /// How long it took.
    pub took_ns: u64,
    /// CPUs of the generator and of the reference target.
    pub pin: PinPlan,
    /// Measurements of every point, in an order drawn again for each.
    pub repeats: u32,
    /// Seed of that order.
    pub seed: u64,
    /// The clock, and how late waits wake.
    pub clock: ClockLimits,
    /// What a histogram makes of a known value.
    pub histogram: HistogramError,
    /// Noise of a fixed amount of work on the generator's CPU.
    pub fixed_work: FixedWork,
    /// What else the host did while they were measured; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_state: Option<HostState>,
    /// Why these limits may be too low: something else took CPU time while they were measured.
    pub disturbed: Option<Said>,
    /// One entry a driver that this kernel can use.
    pub drivers: Vec<DriverLimits>,
}

/// What must be the same for a calibration to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct HostIdentity {
    /// 16 hexadecimal digits over host name, architecture, CPU model and virtualisation; names the file.
    pub fingerprint: String,
    /// Name of the host.
    pub name: String,
    /// Architecture, for example `x86_64`.
    pub machine: String,
    /// As the kernel names it; absent where it cannot be read.
    pub cpu_model: Option<String>,
    /// Whether it is a virtual machine; absent where it cannot be read.
    pub is_virtual: Option<bool>,
    /// CPUs that prony may use.
    pub cpus: u32,
    /// Kernel release.
    pub kernel: String,
    /// prony's own version.
    pub prony: String,
}

/// The median of the repeats with their smallest and largest: too few for an interval (METHOD §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

/// What a host did beside a calibration. What cannot be read is null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct HostState {
    /// Load average over a minute before it began.
    pub load_1m: Option<f64>,
    /// Share of the usable CPUs that processes other than prony's used, 0 to 1.
    pub competing_share: Option<f64>,
    /// Share of the host's CPU time that its hypervisor gave to others, 0 to 1.
    pub steal_share: Option<f64>,
}

/// The clock, and how late timed waits of 100 µs wake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ClockLimits {
    /// Smallest step between two readings.
    pub step_ns: Spread,
    /// Time that one reading takes.
    pub read_ns: Spread,
    /// Lateness of a wait, median.
    pub wake_late_p50_ns: Spread,
    /// Lateness of a wait, 99th percentile.
    pub wake_late_p99_ns: Spread,
}

/// Known values from 1 µs to 1 h, recorded and read back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct HistogramError {
    /// Values recorded.
    pub values: u64,
    /// Largest |read − known| / known.
    pub relative_max: f64,
    /// The value at which it was.
    pub at_ns: u64,
}

/// A fixed amount of integer work, done over and over: METHOD §9's canary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct FixedWork {
    /// How often it was done.
    pub runs: u32,
    /// Mean time of one, interruptions included; 0 in files of older versions.
    #[serde(default)]
    pub mean_ns: f64,
    /// Median time of one.
    pub median_ns: f64,
    /// Standard deviation over mean.
    pub variation: f64,
    /// 99th percentile over median.
    pub p99_over_median: f64,
}

/// The clocks of the host against each other over a load, warm-up and drain included. All times of prony come from CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ClockCheck {
    /// From the first look to the second, by CLOCK_MONOTONIC.
    pub span_ns: u64,
    /// How much faster CLOCK_MONOTONIC went than CLOCK_MONOTONIC_RAW, in parts per million; below 0 slower.
    pub rate_ppm: f64,
    /// By how much `rate_ppm` may be off.
    pub rate_error_ppm: f64,
    /// How far CLOCK_REALTIME was set ahead of CLOCK_MONOTONIC meanwhile; below 0 back.
    pub step_ns: i64,
    /// By how much `step_ns` may be off.
    pub step_error_ns: u64,
}

/// The canary before and after the load of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Canary {
    /// Before the first request.
    pub before: FixedWork,
    /// After the drain.
    pub after: FixedWork,
    /// Median after over median before, less 1: above 0 the CPU became slower.
    pub drift: f64,
}

/// What one driver can do with one worker.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct DriverLimits {
    /// Which; never `auto`.
    pub driver: DriverChoice,
    /// Closed load without think time, by connections, ascending.
    pub max_rate_by_connections: Vec<MaxRate>,
    /// Open load, by rate, ascending.
    pub lag_by_rate: Vec<LagAtRate>,
    /// Low rate, by known service time, ascending.
    pub overhead_per_request: Vec<Overhead>,
}

/// The most that one worker did over some connections.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct MaxRate {
    /// Connections of the worker.
    pub connections: u32,
    /// Answers per second.
    pub rate_per_s: Spread,
    /// CPU time of the worker per answer.
    pub cpu_per_request_ns: Spread,
    /// Share of the worker's time in which it did something other than wait, 0 to 1.
    pub busy_share: Spread,
    /// The worker was less than 90 % busy: something else, most likely the reference target, was the limit.
    pub server_limited: bool,
    /// What the worker can do: `rate_per_s`, or where the server was the limit, 1 s over the CPU time per answer.
    pub limit_per_s: f64,
}

/// How late one worker is at some rate, over 64 connections.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LagAtRate {
    /// Offered requests per second, evenly spaced.
    pub rate_per_s: f64,
    /// Requests of one repeat; a p99 of fewer than 368 has no upper bound (METHOD §4).
    pub requests: u64,
    /// Median of dispatched − intended.
    pub lag_p50_ns: Spread,
    /// 99th percentile.
    pub lag_p99_ns: Spread,
    /// Largest.
    pub lag_max_ns: Spread,
    /// Requests that ended over requests offered.
    pub achieved_share: Spread,
}

/// What prony, the loopback and the reference target add to a known service time.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Overhead {
    /// The reference target's service time, constant.
    pub known_service_ns: u64,
    /// Offered requests per second: low, so that none waits for another.
    pub rate_per_s: f64,
    /// Median service time as recorded.
    pub service_p50_ns: Spread,
    /// `service_p50_ns` less `known_service_ns`.
    pub overhead_ns: Spread,
}

/// The limits that matter for one run or load: stored with it and quoted in its report.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CalibrationSummary {
    /// Fingerprint of the host of the calibration.
    pub fingerprint: String,
    /// When it was measured, RFC 3339 in UTC.
    pub measured_wall: String,
    /// The driver it speaks of.
    pub driver: DriverChoice,
    /// Workers of the load.
    pub workers: u32,
    /// Connections of the load; where there are several loads, the most.
    pub connections: u32,
    /// What these workers can offer over these connections.
    pub max_rate_per_s: Option<f64>,
    /// It was derived from CPU time, because the reference target was the limit when it was measured.
    pub max_rate_derived: bool,
    /// The rate of `lag_p99_ns`, all workers together: the highest asked for, else the highest that was kept.
    pub lag_rate_per_s: Option<f64>,
    /// 99th percentile of pacer lag at that rate.
    pub lag_p99_ns: Option<f64>,
    /// How far off a time may be that the instrument records; absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<InstrumentError>,
    /// Why the limits may be too low: something else took CPU time while they were measured.
    pub disturbed: Option<Said>,
    /// What has changed since: the limits are then only a hint.
    pub stale: Vec<Said>,
    /// Where more is asked for than the instrument can give.
    pub shortfalls: Vec<Shortfall>,
}

/// How far off a time may be that the instrument records: bounds, of which none averages out over requests or trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct InstrumentError {
    /// Step of the clock and the time of one reading: so far off is the difference of two stamps, either way.
    pub clock_ns: f64,
    /// Largest share by which a value read from a histogram is off, either way: 0 to 1.
    pub histogram_share: f64,
    /// 99th percentile of how late a timed wait wakes: what think times are late by.
    pub wake_p99_ns: f64,
    /// How late the requests of open loads are sent at the highest rate asked for; absent beyond the calibrated rates,
    /// and where no open load is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<Lateness>,
}

/// Lateness of requests, dispatched − intended, at one rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Lateness {
    /// The most that the mean may be: half of the requests at the median, 49 % at p99, the rest at the longest.
    pub mean_ns: f64,
    /// 99th percentile.
    pub p99_ns: f64,
    /// Longest.
    pub max_ns: f64,
}

/// More is asked for than the instrument can give.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Shortfall {
    /// What is asked for, what there is, and by how much it falls short.
    pub text: Said,
    /// What would cure it.
    pub remedy: Said,
}
