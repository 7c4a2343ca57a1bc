//! The gates of one trial: named checks, each with its number, its limit and its remedy (METHOD §0, §1, §9).
//!
//! Invariants: a gate that does not apply is absent; a gate whose number cannot be computed fails; numbers in gates
//! are finite. The generator is looked at before the target is blamed. What is not in [`GATES`] is no gate, and each
//! of them has its planted fault in `tests/it/gates.rs`.

use super::facts::{Residence, TrialFacts};
use super::failures::failures;
use super::fleet;
use super::gate::{count_requests, gate};
use super::lateness::worst_ns;
use super::server;
use crate::words::{Noun, count, duration, grouped, number, percent};
use schema::experiment::LoadModel;
use schema::load::{ErrorClass, Gate, LoadReport, Validity};
use schema::said;
use schema::said::Said;

/// Achieved over offered rate.
const OFFERED_LOW: f64 = 0.99;
const OFFERED_HIGH: f64 = 1.01;
/// From this share of busy time on, the generator is taken for the limit.
const BUSY_SHARE: f64 = 0.95;
/// Deviation from Little's law.
const LITTLE_DEVIATION: f64 = 0.02;
/// Fewest answers for Little's law.
const LITTLE_ANSWERS: u64 = 100;
/// From this share of busy connections on, requests wait for one often enough to change what is sent when.
const CONNECTIONS_BUSY: f64 = 0.25;
/// Deviation from the identity of residence: integer sums of the same stamps, so what is allowed is for looks at the
/// clock that came in another order.
const RESIDENCE_DEVIATION: f64 = 1e-4;
/// Stolen CPU time that voids a trial, and that is worth saying.
const STEAL_VOID: f64 = 0.05;
pub(crate) const STEAL_SAID: f64 = 0.01;
/// Share of the trial's CPUs that other processes used which is worth saying, and which voids. Up to a half the numbers
/// are those of a shared machine, and the report says so; beyond it others had more of the CPUs than the trial.
pub(crate) const COMPETING_SAID: f64 = 0.05;
const COMPETING_VOID: f64 = 0.5;
/// Drift of the fixed-work canary that is worth saying (METHOD §9), and that voids. METHOD lets more than 2 % be a
/// covariate *or* void: virtual machines pass 2 % often with trials that are sound, so it is said from there on, and
/// voids where it is beyond what any margin could take.
pub(crate) const CANARY_SAID: f64 = 0.02;
const CANARY_VOID: f64 = 0.10;
/// How far CLOCK_MONOTONIC may go from CLOCK_MONOTONIC_RAW, in ppm, before it is said and before it voids. Crystals of
/// computers are within 100 ppm, and NTP corrects no more than 500 (`MAXFREQ` of Linux's timex.h, `NTP_MAXFREQ` of
/// RFC 5905 §11.3): beyond, the clock is being moved to another time, which chrony does by up to 10 %, or is broken.
pub(crate) const CLOCK_RATE_SAID_PPM: f64 = 100.0;
const CLOCK_RATE_VOID_PPM: f64 = 500.0;
/// How far the wall clock may be set before it is said (access logs, which runs are compared with, have milliseconds),
/// and before it voids (life of tokens, caches and cookies is in whole seconds: the target itself behaves otherwise).
pub(crate) const CLOCK_STEP_SAID_NS: f64 = 1e6;
const CLOCK_STEP_VOID_NS: f64 = 1e9;

/// How a gate is checked; `None` where it does not apply.
type Check = fn(&LoadReport, &TrialFacts) -> Option<Gate>;

/// When a gate is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Always,
    /// Not where events disturb the load on purpose.
    OfSteadyLoad,
}

/// Every gate there is, in the order in which they are reported.
const GATES: [(&str, Asked, Check); 21] = [
    ("target_alive", Asked::Always, target_alive),
    ("answers", Asked::Always, answers),
    ("nothing_lost", Asked::Always, nothing_lost),
    ("residence", Asked::Always, residence),
    ("connections", Asked::Always, connections),
    // Before all that others make look like a fault of the generator.
    ("competing_cpu", Asked::Always, competing_cpu),
    ("generator_cpu", Asked::Always, generator_cpu),
    ("pacer_lag", Asked::Always, pacer_lag),
    ("arrivals", Asked::OfSteadyLoad, arrivals),
    ("offered_achieved", Asked::OfSteadyLoad, offered_achieved),
    ("littles_law", Asked::OfSteadyLoad, littles_law),
    ("server_counts", Asked::OfSteadyLoad, server::counts),
    ("server_p95", Asked::OfSteadyLoad, server::p95),
    ("steal", Asked::Always, steal),
    ("canary", Asked::Always, canary),
    ("clock_rate", Asked::Always, clock_rate),
    ("clock_step", Asked::Always, clock_step),
    ("fleet_share", Asked::OfSteadyLoad, fleet::share),
    ("fleet_clock", Asked::Always, fleet::clock),
    ("fleet_lag", Asked::Always, fleet::lag),
    ("fleet_steal", Asked::Always, fleet::steal),
];

/// Gates whose number is a reservation long before it voids.
const SAID: [(&str, f64); 6] = [
    ("competing_cpu", COMPETING_SAID),
    ("steal", STEAL_SAID),
    ("canary", CANARY_SAID),
    ("clock_rate", CLOCK_RATE_SAID_PPM),
    ("clock_step", CLOCK_STEP_SAID_NS),
    ("fleet_steal", STEAL_SAID),
];

/// The names of all gates, in the order in which they are reported.
pub fn gate_names() -> impl Iterator<Item = &'static str> {
    GATES.iter().map(|(name, ..)| *name)
}

/// Checks every gate that applies to a measured window.
#[must_use]
pub fn validity(report: &LoadReport, facts: &TrialFacts) -> Validity {
    let gates: Vec<Gate> = GATES
        .iter()
        .filter(|(_, asked, _)| *asked == Asked::Always || !facts.disturbed)
        .filter_map(|(_, _, check)| check(report, facts))
        .collect();
    let reasons: Vec<Gate> = gates.iter().filter(|gate| !gate.ok).cloned().collect();
    let reservations = gates.iter().filter(|gate| gate.ok && is_said(gate)).cloned().collect();
    Validity { ok: reasons.is_empty(), reasons, gates, reservations, failures: failures(report) }
}

/// Whether a gate that passed is close enough to its limit to be a reservation.
fn is_said(gate: &Gate) -> bool {
    SAID.iter().any(|(name, limit)| *name == gate.gate && gate.value > *limit)
}

fn target_alive(_: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let is_alive = facts.target_alive?;
    let text = if is_alive {
        said!("gate.target_alive.ok", "the target ran until the end")
    } else {
        said!(
            "gate.target_alive.failed",
            "the target ended before the load did: read target.log for its last words"
        )
    };
    Some(gate("target_alive", is_alive, f64::from(u8::from(is_alive)), 1.0, text))
}

fn answers(report: &LoadReport, _: &TrialFacts) -> Option<Gate> {
    let completed = report.requests.completed;
    let text = match (completed, report.errors.iter().max_by_key(|(_, count)| **count)) {
        (0, Some((class, _))) => said!(
            "gate.answers.errors",
            "no request was answered rightly, most failed as `{class}`: look at the error examples",
            class = class.key()
        ),
        (0, None) => said!(
            "gate.answers.none",
            "no request was answered rightly: lengthen the sample or raise the time-out"
        ),
        _ => said!("gate.answers.ok", "{requests} answered rightly", requests = count_requests(completed)),
    };
    Some(gate("answers", completed > 0, completed as f64, 1.0, text))
}

/// `scheduled = completed + failed + censored`, of requests and of messages on streams, and the classes of errors add up to
/// `failed` (METHOD §0.5).
fn nothing_lost(report: &LoadReport, _: &TrialFacts) -> Option<Gate> {
    let requests = &report.requests;
    let lost = left(requests.scheduled, [requests.completed, requests.failed, requests.censored]);
    let unclassed = left(requests.failed, report.errors.values().copied());
    let of_messages = report.messages.as_ref().map_or(0, |messages| {
        left(messages.scheduled, [messages.completed, messages.failed, messages.censored])
    });
    let messages = || grouped(report.messages.as_ref().map_or(0, |messages| messages.scheduled));
    let scheduled = count_requests(requests.scheduled);
    let text = match (lost, unclassed, of_messages) {
        (0, 0, 0) if report.messages.is_some() => said!(
            "gate.nothing_lost.ok_with_messages",
            "each of {requests} has exactly one outcome, and so has each of {messages} messages on streams",
            requests = scheduled,
            messages = messages()
        ),
        (0, 0, 0) => {
            said!("gate.nothing_lost.ok", "each of {requests} has exactly one outcome", requests = scheduled)
        }
        (0, 0, lost) => said!(
            "gate.nothing_lost.messages",
            "{lost} of {messages} messages on streams have no outcome or a double one: report this as a fault of prony",
            lost = lost.to_string(),
            messages = messages()
        ),
        (lost, unclassed, _) => said!(
            "gate.nothing_lost.failed",
            "{lost} of {requests} have no outcome or a double one, and {unclassed} failures have no class or a \
             double one: report this as a fault of prony",
            lost = lost.to_string(),
            requests = scheduled,
            unclassed = unclassed.to_string()
        ),
    };
    let worst = [lost, unclassed, of_messages].map(i128::abs).into_iter().max().unwrap_or(0);
    Some(gate("nothing_lost", worst == 0, worst as f64, 0.0, text))
}

/// What is left of a count without the parts that it should have.
fn left(count: u64, parts: impl IntoIterator<Item = u64>) -> i128 {
    i128::from(count) - parts.into_iter().map(i128::from).sum::<i128>()
}

/// METHOD §9: ∫ in-flight = Σ residence, here from the intended time on. Unlike Little's law for a window it has no
/// boundary and spares no failure, so that it holds but for what the clock moved between two looks at it.
fn residence(_: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let Residence { integral_ns, sum_ns } = facts.residence?;
    let value = relative_deviation(integral_ns, sum_ns);
    let ok = value <= RESIDENCE_DEVIATION;
    let found = said!(
        "gate.residence.ok",
        "all requests together were in the system for {by_number} by their number over time and {by_times} by their \
         own times, {apart} apart, {allowed} allowed",
        by_number = duration(integral_ns),
        by_times = duration(sum_ns),
        apart = percent(value),
        allowed = percent(RESIDENCE_DEVIATION)
    );
    let text = if ok { found } else { miscounted(found) };
    Some(gate("residence", ok, value, RESIDENCE_DEVIATION, text))
}

fn miscounted(found: Said) -> Said {
    said!(
        "gate.miscounted",
        "{found}: requests or time are miscounted; do not use the numbers, report this as a fault of prony",
        found
    )
}

fn connections(report: &LoadReport, _: &TrialFacts) -> Option<Gate> {
    let (asked, established) = (report.connections.asked, report.connections.established);
    let ok = asked == established;
    let found = said!(
        "gate.connections.ok",
        "{established} of {connections} open when the load began",
        established = grouped(established),
        connections = count(usize::try_from(asked).unwrap_or(usize::MAX), Noun::Connection)
    );
    let text = if ok {
        found
    } else {
        said!(
            "gate.connections.failed",
            "{found}: ask for fewer, or raise the limits on descriptors, ports and backlog (`prony doctor`)",
            found
        )
    };
    Some(gate("connections", ok, established as f64, asked as f64, text))
}

/// What others took of the CPUs of generator, target and services, METHOD §9: CPU queueing. Absent where prony did not
/// start the target.
fn competing_cpu(_: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let share = facts.competing_share?;
    let ok = share < COMPETING_VOID;
    let found = said!(
        "gate.competing_cpu.ok",
        "other processes used up to {share} of the trial's CPUs",
        share = percent(share)
    );
    let text = if ok && share <= COMPETING_SAID {
        found
    } else {
        said!(
            "gate.competing_cpu.failed",
            "{found}: end them, or give the trial CPUs that nobody else uses (`pin`, isolcpus)",
            found
        )
    };
    Some(gate("competing_cpu", ok, share, COMPETING_VOID, text))
}

fn generator_cpu(report: &LoadReport, _: &TrialFacts) -> Option<Gate> {
    let busy = report.generator.busy_share;
    let ok = busy < BUSY_SHARE;
    let share = percent(busy);
    let text = if ok {
        said!(
            "gate.generator_cpu.ok",
            "the busiest worker of the generator was busy {share} of the time",
            share
        )
    } else {
        said!(
            "gate.generator_cpu.failed",
            "the busiest worker was busy {share} of the time: the generator was the limit, these numbers measure \
             prony and not the target; give it more cores (`workers`) or lower the load",
            share
        )
    };
    Some(gate("generator_cpu", ok, busy, BUSY_SHARE, text))
}

/// METHOD §1; [`worst_ns`].
fn pacer_lag(_: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let (lag, limit) = worst_ns(facts)?;
    let ok = lag <= limit;
    let found = said!(
        "gate.pacer_lag.ok",
        "the generator itself was up to {lag} late (p99), {allowed} allowed",
        lag = duration(lag),
        allowed = duration(limit)
    );
    let text = if ok {
        found
    } else {
        said!(
            "gate.pacer_lag.failed",
            "{found}: give it a core of its own (`pin`), more workers, or a lower rate",
            found
        )
    };
    Some(gate("pacer_lag", ok, lag, limit, text))
}

/// METHOD §2. Absent where more than a quarter of the connections were busy on average: requests then wait for a
/// connection, and the times of sending are the target's doing; response times count from the intended ones.
fn arrivals(report: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let connections = report.plan.load.at_once() as f64;
    let waits = report.window.in_system_mean > CONNECTIONS_BUSY * connections
        || report.window.backlog_max as f64 > connections;
    facts.arrivals.as_ref().filter(|_| !waits).map(crate::arrivals::gate)
}

/// Open model below saturation: what was offered must have been tried and must have ended (METHOD §1).
///
/// Achieved counts every request that the target answered or failed, so that errors of the target do not void the
/// trial that shows them; requests that never ended, or failed for want of a port or descriptor here, are missing.
/// Both are counts over the same window, offered = scheduled / window, so the ratio needs no boundary allowance.
/// Below saturation: neither the backlog nor the mean number of requests in the system exceeded what the connections
/// carry at once.
fn offered_achieved(report: &LoadReport, _: &TrialFacts) -> Option<Gate> {
    let requests = &report.requests;
    let connections = report.plan.load.at_once();
    let saturated =
        report.window.backlog_max > connections || report.window.in_system_mean >= connections as f64;
    if report.plan.load.model != LoadModel::Open || saturated || requests.scheduled == 0 {
        return None;
    }
    let own = [ErrorClass::AddressNotAvailable, ErrorClass::DescriptorLimit, ErrorClass::NameResolution];
    let own: u64 =
        own.iter().filter_map(|class| report.errors.get(class)).fold(0, |a, b| a.saturating_add(*b));
    let ended = requests.completed.saturating_add(requests.failed).saturating_sub(own);
    let ended = ended.saturating_add(cut_short(report));
    let ratio = ended as f64 / requests.scheduled as f64;
    let ok = (OFFERED_LOW..=OFFERED_HIGH).contains(&ratio);
    let window_s = (report.window.duration_ns as f64 / 1e9).max(1e-9);
    let found = said!(
        "gate.offered_achieved.ok",
        "achieved {achieved} of {offered} requests per second offered ({share})",
        achieved = number(ended as f64 / window_s),
        offered = number(requests.scheduled as f64 / window_s),
        share = percent(ratio)
    );
    let text = if ok {
        found
    } else {
        said!(
            "gate.offered_achieved.failed",
            "{found} though the target was not saturated: look for lost answers, time-outs, ports and descriptors \
             (`prony doctor`)",
            found
        )
    };
    Some(gate("offered_achieved", ok, ratio, OFFERED_LOW, text))
}

/// Streams of messages that the end of the load cut: they last as long as their messages say, and the drain may be shorter.
/// In a steady load these are as many as are in the system on average, give or take three standard deviations of a count.
/// Streams that never end pile up, and are twice the average by the end: those beyond the limit count as missing.
fn cut_short(report: &LoadReport) -> u64 {
    let mean = report.window.in_system_mean;
    let most = (mean + 3.0 * mean.sqrt() + 1.0).ceil() as u64;
    report.messages.as_ref().map_or(0, |_| report.requests.censored.min(most))
}

/// Little's law L = X·W on the client's own numbers (Little, Operations Research 9, 1961; METHOD §6, §9).
///
/// L is the mean number in the system, X all outcomes per second, W the mean response time. In the closed model
/// without think time L is also the number of users: connections times the requests that each carries at once. The law is
/// exact over a whole busy period; a window cuts requests at both ends, each user's one and the backlog twice, which is the
/// boundary allowance: as many mean response times. A target that stands still at a border puts its longest ones there instead: what those could
/// explain is no miscount, and the gate says nothing, for [`residence`] holds the books together without a border. Nor
/// does it where the allowance reaches 100 %, or a response has no time because it failed or was censored.
fn littles_law(report: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let requests = &report.requests;
    let mean_ns = facts.response_mean_ns?;
    let window_ns = report.window.duration_ns as f64;
    let judged = requests.failed == 0 && requests.censored == 0 && facts.answered_all >= LITTLE_ANSWERS;
    if !judged || window_ns <= 0.0 {
        return None;
    }
    let load = &report.plan.load;
    let users = load.at_once() as f64;
    let answers = facts.answered_all as f64;
    let queue = if load.model == LoadModel::Open { 2.0 * report.window.backlog_max as f64 } else { 0.0 };
    let cut = (users + queue) / answers;
    let limit = LITTLE_DEVIATION + cut;
    if limit >= 1.0 {
        return None;
    }
    let in_system = report.window.in_system_mean;
    let by_law = answers * mean_ns / window_ns;
    // The pauses of a session, or of a script, leave its connection idle.
    let pauses = load.think.is_some()
        || report.plan.scenario.session.is_some()
        || report.plan.scenario.script.is_some();
    let never_idle = load.model == LoadModel::Closed && !pauses && report.plan.requests_max.is_none();
    let from_users = if never_idle { relative_deviation(in_system, users) } else { 0.0 };
    let from_law = relative_deviation(in_system, by_law);
    let value = worse(from_law, from_users);
    let ok = value <= limit;
    let longest = facts.response_max_ns.map_or(1.0, |longest_ns| longest_ns as f64 / mean_ns);
    // How many users wait for an answer has no border: a deviation there is never excused.
    if !ok && from_users <= limit && from_law <= LITTLE_DEVIATION + cut * longest {
        return None;
    }
    let (in_system, law) = (number(in_system), number(by_law));
    let (apart, allowed) = (percent(value), percent(limit));
    let found = if never_idle && users > f64::from(load.connections) {
        said!(
            "gate.littles_law.ok_with_users",
            "Little's law: {in_system} requests in the system against throughput x response time = {law} and \
             {users} users, {apart} apart, {allowed} allowed",
            in_system,
            law,
            users = number(users),
            apart,
            allowed
        )
    } else if never_idle {
        said!(
            "gate.littles_law.ok_with_connections",
            "Little's law: {in_system} requests in the system against throughput x response time = {law} and \
             {connections} connections, {apart} apart, {allowed} allowed",
            in_system,
            law,
            connections = number(users),
            apart,
            allowed
        )
    } else {
        said!(
            "gate.littles_law.ok",
            "Little's law: {in_system} requests in the system against throughput x response time = {law}, {apart} \
             apart, {allowed} allowed",
            in_system,
            law,
            apart,
            allowed
        )
    };
    let text = if ok { found } else { miscounted(found) };
    Some(gate("littles_law", ok, value, limit, text))
}

/// |a − b| over the larger of the two; NaN where one is NaN, so that the gate fails.
pub(super) fn relative_deviation(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() / (if a > b { a } else { b }).abs() }
}

/// The larger of two; NaN where one is NaN, which `f64::max` would drop.
fn worse(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

/// METHOD §9: more than 1 % is said, more than 5 % voids.
fn steal(_: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let share = facts.host_steal_share?;
    let ok = share <= STEAL_VOID;
    let found = said!(
        "gate.steal.ok",
        "{share} of this host's CPU time was stolen by its hypervisor",
        share = percent(share)
    );
    let text = if ok && share <= STEAL_SAID {
        found
    } else {
        said!(
            "gate.steal.failed",
            "{found}: use a host with dedicated cores, or run when its neighbours are quiet",
            found
        )
    };
    Some(gate("steal", ok, share, STEAL_VOID, text))
}

/// METHOD §9: a CPU that does the same work in another time than before the load measured with two speeds.
fn canary(_: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let drift = facts.canary_drift?;
    let ok = drift.abs() <= CANARY_VOID;
    let (change, allowed) = (percent(drift.abs()), percent(CANARY_VOID));
    let found = if drift < 0.0 {
        said!(
            "gate.canary.less",
            "a fixed amount of work took {change} less time after the load than before it, {allowed} allowed",
            change,
            allowed
        )
    } else {
        said!(
            "gate.canary.more",
            "a fixed amount of work took {change} more time after the load than before it, {allowed} allowed",
            change,
            allowed
        )
    };
    let text = if drift.abs() <= CANARY_SAID {
        found
    } else if facts.competing_share.is_some_and(|share| share > COMPETING_SAID) {
        said!(
            "gate.canary.others",
            "{found}: other processes had the CPU for a part of it; end them, then look again",
            found
        )
    } else {
        said!(
            "gate.canary.speed",
            "{found}: the CPU changed its speed; fix its clock (`prony doctor`), or use a host with dedicated cores",
            found
        )
    };
    Some(gate("canary", ok, drift.abs(), CANARY_VOID, text))
}

/// The clock of all times against one that nobody corrects. What the looks themselves may be off by is taken off.
fn clock_rate(_: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let clocks = facts.clocks?;
    let beyond_ppm = clocks.rate_ppm.abs() - clocks.rate_error_ppm;
    let ok = beyond_ppm <= CLOCK_RATE_VOID_PPM;
    // `max` would make a number of what is none.
    let value = if beyond_ppm < 0.0 { 0.0 } else { beyond_ppm };
    let (ppm, allowed) = (number(clocks.rate_ppm.abs()), number(CLOCK_RATE_VOID_PPM));
    let found = if clocks.rate_ppm < 0.0 {
        said!(
            "gate.clock_rate.slower",
            "the clock went {ppm} ppm slower than the raw counter behind it, {allowed} allowed",
            ppm,
            allowed
        )
    } else {
        said!(
            "gate.clock_rate.faster",
            "the clock went {ppm} ppm faster than the raw counter behind it, {allowed} allowed",
            ppm,
            allowed
        )
    };
    let text = if ok && value <= CLOCK_RATE_SAID_PPM {
        found
    } else {
        said!(
            "gate.clock_rate.failed",
            "{found}: all times are wrong by as much; wait until NTP has the clock right (`chronyc tracking`, \
             `timedatectl timesync-status`), or look at the clock source (`prony doctor`)",
            found
        )
    };
    Some(gate("clock_rate", ok, value, CLOCK_RATE_VOID_PPM, text))
}

/// The wall clock against the clock of all times: it was set, or the host was suspended.
fn clock_step(_: &LoadReport, facts: &TrialFacts) -> Option<Gate> {
    let clocks = facts.clocks?;
    let step_ns = clocks.step_ns.unsigned_abs().saturating_sub(clocks.step_error_ns) as f64;
    let ok = step_ns <= CLOCK_STEP_VOID_NS;
    let (step, allowed) = (duration(clocks.step_ns.unsigned_abs() as f64), duration(CLOCK_STEP_VOID_NS));
    let found = if clocks.step_ns < 0 {
        said!(
            "gate.clock_step.back",
            "the wall clock was set back by {step} during the load, {allowed} allowed",
            step,
            allowed
        )
    } else {
        said!(
            "gate.clock_step.ahead",
            "the wall clock was set ahead by {step} during the load, {allowed} allowed",
            step,
            allowed
        )
    };
    let text = if ok && step_ns <= CLOCK_STEP_SAID_NS {
        said!("gate.clock_step.ok", "the wall clock was not set during the load")
    } else {
        said!(
            "gate.clock_step.failed",
            "{found}: durations are right, but logs, tokens and caches saw another time; keep the host awake and let \
             NTP set its clock before the run",
            found
        )
    };
    Some(gate("clock_step", ok, step_ns, CLOCK_STEP_VOID_NS, text))
}
