//! Whether what was really sent follows the arrivals that were asked for (METHOD §2).
//!
//! Time is first measured in intended arrivals, by the integral Λ of the rate: whatever the shape, the gaps of a Poisson
//! load are then exponential with mean 1, and those of the other laws follow their law with mean 1 (time-rescaling;
//! Brown et al., Neural Computation 14, 2002). What is random is held against its law; what is determined (constant,
//! recorded, an MMPP under a shape) against its intended times.
//!
//! The rules, for at least 100 gaps:
//! 1. *schedule*: the intended times themselves follow the plan. Constant: each lies at a whole Λ, one after the
//!    other. Recorded: each is one of the recorded times. Random laws: rules 2 to 4 on the intended times.
//! 2. *rate*: sent over intended count within 1 %, or within what chance does to so few.
//! 3. *law*: Kolmogorov-Smirnov D ≤ 0.02, or within what chance does to so few.
//! 4. *order*: Spearman lag 1 within 0.05 of the law's own, or within what chance does to so few.
//! 5. *lateness*: what breaks 2 to 4, or any determined arrival, is still allowed where 99 % of the requests were
//!    written within the allowed pacer lag (METHOD §1) of their intended time, a lag common to all taken out: the target
//!    then cannot tell, and at high rates no machine does better.
//!
//! Chance is that of one in a thousand. The gate goes by effect size because at large n any test rejects the grain of
//! timers; Anderson-Darling is reported with its limits, and decides nothing.
//! Absent on purpose: recording what was sent (the engine's work).

mod intensity;
mod law;
mod planned;

pub use intensity::Intensity;

use crate::stats::fit::{KOLMOGOROV_999, NORMAL_999, anderson_darling_exponential, ks_distance, lag_one};
use crate::trial::TrialFacts;
use crate::words::{duration, grouped, number, percent};
use law::GapLaw;
use schema::arrival::ArrivalPlan;
use schema::experiment::LoadModel;
use schema::load::{ArrivalCheck, ArrivalFit, ArrivalVerdict, Gate, SerialCorrelation};
use schema::plan::LoadPlan;
use schema::said;

/// Fewest gaps that anything is said about.
const GAPS_MIN: usize = 100;
/// Largest distance between the distributions that does not matter (METHOD §2).
const KS_EFFECT: f64 = 0.02;
/// Largest deviation of the rate that does not matter (METHOD §1, achieved over offered).
const RATE_EFFECT: f64 = 0.01;
/// Largest deviation of the lag-1 correlation that does not matter: it explains a quarter of a percent of the spread.
const SPEARMAN_EFFECT: f64 = 0.05;
/// Lag that is always allowed (METHOD §1).
pub const LAG_ALLOWED_NS: u64 = 100_000;

/// One request that was sent. Times since the begin of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When it was to be sent.
    pub intended_ns: u64,
    /// When it was written.
    pub written_ns: u64,
}

/// Checks windows of what was sent, each in any order but complete: every request of all workers whose intended time
/// lies between the first and the last of the window. `recorded` are the times of a recorded load, as read.
/// `lag_allowed_ns` is the pacer lag that METHOD §1 allows; see [`lag_allowed_ns`].
///
/// `None` for a closed load, and where there are fewer than 100 gaps.
#[must_use]
pub fn check(
    windows: &[Vec<Sent>],
    load: &LoadPlan,
    recorded: Option<&[u64]>,
    lag_allowed_ns: u64,
) -> Option<ArrivalCheck> {
    let gaps = windows.iter().map(|window| window.len().saturating_sub(1)).sum::<usize>();
    if load.model != LoadModel::Open || gaps < GAPS_MIN {
        return None;
    }
    let plan = load.arrivals.clone().unwrap_or_default();
    let rate_per_s = load.rate_per_s.filter(|rate| *rate > 0.0)?;
    let intensity = Intensity::of(load);
    let law = GapLaw::of(&plan, rate_per_s, load.shape.is_some());
    let sorted = |time: fn(&Sent) -> u64| -> Vec<Vec<u64>> {
        let one = |window: &Vec<Sent>| {
            let mut times: Vec<u64> = window.iter().map(time).collect();
            times.sort_unstable();
            times
        };
        windows.iter().map(one).collect()
    };
    let (intended, written) = (sorted(|sent| sent.intended_ns), sorted(|sent| sent.written_ns));
    let mut check = ArrivalCheck {
        requests: windows.iter().map(|window| window.len() as u64).sum(),
        windows: windows.len() as u64,
        gaps: gaps as u64,
        deviation_p99_ns: deviation_p99_ns(windows),
        deviation_allowed_ns: lag_allowed_ns,
        rate_ratio: None,
        rate_limit: None,
        fit: None,
        verdict: ArrivalVerdict::Passes,
    };
    let is_late = check.deviation_p99_ns > lag_allowed_ns;
    check.verdict = match law {
        None if !planned::follows(&intended, &plan, &intensity, recorded) => ArrivalVerdict::Schedule,
        None if is_late => ArrivalVerdict::Late,
        None => ArrivalVerdict::Passes,
        Some(law) => {
            let sent = measured(&written, &intensity, law)?;
            let found = verdict(&sent);
            let made = verdict(&measured(&intended, &intensity, law)?);
            check.rate_ratio = Some(sent.rate_ratio);
            check.rate_limit = Some(sent.rate_limit);
            check.fit = Some(sent.fit);
            match (made, found) {
                (ArrivalVerdict::Passes, found) if found != ArrivalVerdict::Passes && !is_late => {
                    ArrivalVerdict::WithinLag
                }
                (ArrivalVerdict::Passes, found) => found,
                _ => ArrivalVerdict::Schedule,
            }
        }
    };
    Some(check)
}

/// The pacer lag that METHOD §1 allows: the largest of 100 µs, 5 % of the median service time and 5 % of the 99th
/// percentile of response times, as far as they are known.
#[must_use]
pub fn lag_allowed_ns(facts: &TrialFacts) -> u64 {
    let share = |time: Option<u64>| time.unwrap_or_default() / 20;
    LAG_ALLOWED_NS.max(share(facts.service_p50_ns)).max(share(facts.response_p99_ns))
}

/// The gate `arrivals`.
#[must_use]
pub fn gate(check: &ArrivalCheck) -> Gate {
    let n = grouped(check.requests);
    let lag = said!(
        "gate.arrivals.lag",
        "99 % written within {deviation} of the intended time, {allowed} allowed",
        deviation = duration(check.deviation_p99_ns as f64),
        allowed = duration(check.deviation_allowed_ns as f64)
    );
    let (value, limit) = decisive(check);
    let ok = matches!(check.verdict, ArrivalVerdict::Passes | ArrivalVerdict::WithinLag);
    let remedy = said!(
        "gate.arrivals.remedy",
        "give the generator a core of its own (`pin`), more workers, more connections, or a lower rate"
    );
    let text = match (check.verdict, &check.fit) {
        (ArrivalVerdict::Passes, Some(fit)) => said!(
            "gate.arrivals.follow",
            "the gaps of {n} requests follow their law: D = {d}, {allowed} allowed, rate {rate} of the intended",
            n,
            d = number(fit.ks_d),
            allowed = number(fit.ks_limit),
            rate = percent(check.rate_ratio.unwrap_or(1.0))
        ),
        (ArrivalVerdict::Passes, None) => {
            said!("gate.arrivals.kept", "{n} requests kept their intended times: {lag}", n, lag)
        }
        (ArrivalVerdict::WithinLag, _) => said!(
            "gate.arrivals.within_lag",
            "the gaps of {n} requests follow their law up to the lag that is allowed: {lag}",
            n,
            lag
        ),
        (ArrivalVerdict::Schedule, _) => said!(
            "gate.arrivals.schedule",
            "the intended times of {n} requests are not those that were asked for: report this as a fault of prony",
            n
        ),
        (ArrivalVerdict::Rate, _) => said!(
            "gate.arrivals.rate",
            "{rate} of the intended rate was sent in {n} requests, within {allowed} allowed; {lag}: {remedy}",
            rate = percent(value),
            n,
            allowed = percent(limit),
            lag,
            remedy
        ),
        (ArrivalVerdict::Law, _) => said!(
            "gate.arrivals.law",
            "the gaps of {n} requests are not those of their law: D = {d}, {allowed} allowed; {lag}: {remedy}",
            n,
            d = number(value),
            allowed = number(limit),
            lag,
            remedy
        ),
        (ArrivalVerdict::Order, _) => said!(
            "gate.arrivals.order",
            "neighbouring gaps of {n} requests depend on each other: {apart} from the law's rank correlation, \
             {allowed} allowed; {lag}: {remedy}",
            n,
            apart = number(value),
            allowed = number(limit),
            lag,
            remedy
        ),
        (ArrivalVerdict::Late, _) => said!(
            "gate.arrivals.late",
            "{n} requests did not keep their intended times: {lag}: {remedy}",
            n,
            lag,
            remedy
        ),
    };
    crate::trial::gate("arrivals", ok, value, limit, text)
}

/// The number that decided, and its limit.
fn decisive(check: &ArrivalCheck) -> (f64, f64) {
    let lateness = (check.deviation_p99_ns as f64, check.deviation_allowed_ns as f64);
    match (check.verdict, check.fit) {
        (ArrivalVerdict::Passes | ArrivalVerdict::Law, Some(fit)) => (fit.ks_d, fit.ks_limit),
        (ArrivalVerdict::Rate, _) => {
            (check.rate_ratio.unwrap_or_default(), check.rate_limit.unwrap_or_default())
        }
        (ArrivalVerdict::Order, Some(ArrivalFit { spearman: Some(order), .. })) => {
            ((order.rho - order.expected).abs(), order.limit)
        }
        _ => lateness,
    }
}

/// What is found about gaps.
struct Measured {
    rate_ratio: f64,
    rate_limit: f64,
    fit: ArrivalFit,
}

fn measured(windows: &[Vec<u64>], intensity: &Intensity, law: GapLaw) -> Option<Measured> {
    let series: Vec<Vec<f64>> = windows.iter().map(|times| rescaled(times, intensity)).collect();
    let mut gaps: Vec<f64> = series.iter().flatten().copied().collect();
    gaps.sort_unstable_by(f64::total_cmp);
    let n = gaps.len() as f64;
    let elapsed: f64 = gaps.iter().sum();
    let chance = |deviate: f64, n: f64| deviate / n.max(1.0).sqrt();
    let resolution = elapsed / n * 1e-6;
    let spearman = law.spearman().and_then(|expected| {
        let found = lag_one(&series).ok()?;
        let limit = SPEARMAN_EFFECT.max(chance(NORMAL_999, found.n_effective as f64));
        Some(SerialCorrelation { expected, limit, ..found })
    });
    let is_exponential = matches!(law, GapLaw::Exponential);
    Some(Measured {
        rate_ratio: n / elapsed,
        rate_limit: RATE_EFFECT.max(chance(NORMAL_999, n) * law.dispersion().sqrt()),
        fit: ArrivalFit {
            ks_d: ks_distance(&gaps, |gap| law.cdf(gap)).ok()?,
            ks_limit: KS_EFFECT.max(chance(KOLMOGOROV_999, law.effective(n))),
            anderson_darling: is_exponential
                .then(|| anderson_darling_exponential(&gaps, resolution).ok())
                .flatten(),
            spearman,
        },
    })
}

/// Gaps in intended arrivals.
fn rescaled(times_ns: &[u64], intensity: &Intensity) -> Vec<f64> {
    let counts: Vec<f64> = times_ns.iter().map(|at_ns| intensity.count(*at_ns)).collect();
    counts.windows(2).map(|pair| (pair[1] - pair[0]).max(0.0)).collect()
}

/// Rules 2 to 4.
fn verdict(found: &Measured) -> ArrivalVerdict {
    // Not within, so that a number that is no number trips.
    let within = |value: f64, limit: f64| value.abs() <= limit;
    if !within(found.rate_ratio - 1.0, found.rate_limit) {
        return ArrivalVerdict::Rate;
    }
    if !within(found.fit.ks_d, found.fit.ks_limit) {
        return ArrivalVerdict::Law;
    }
    match found.fit.spearman {
        Some(order) if !within(order.rho - order.expected, order.limit) => ArrivalVerdict::Order,
        _ => ArrivalVerdict::Passes,
    }
}

/// 99th percentile of |lag − median lag|: a lag that all requests share moves them together and changes no gap.
fn deviation_p99_ns(windows: &[Vec<Sent>]) -> u64 {
    let lag = |sent: &Sent| i128::from(sent.written_ns) - i128::from(sent.intended_ns);
    let mut lags: Vec<i128> = windows.iter().flatten().map(lag).collect();
    lags.sort_unstable();
    let median = lags.get(lags.len() / 2).copied().unwrap_or_default();
    let mut deviations: Vec<u64> =
        lags.iter().map(|lag| u64::try_from((lag - median).abs()).unwrap_or(u64::MAX)).collect();
    deviations.sort_unstable();
    let rank = crate::stats::order::rank_of(0.99, deviations.len() as u64);
    deviations.get(rank as usize - 1).copied().unwrap_or_default()
}
