//! A thread group's threads, ramp-up, loops and duration as arguments of `prony load`.
//!
//! A scenario says what is sent and not how much, so this is for the user to type, and stands in a comment. Connections
//! are opened before the load, so the time of a ramp-up becomes warm-up, which is kept out of the results.

use super::element::Element;
use super::pause;
use super::plan::Context;
use super::schedule;
use super::scope::Beside;
use crate::error::Problem;
use schema::arrival::Think;

/// How much is sent, as far as the plan says so.
#[derive(Debug, Default)]
pub(super) struct Load {
    threads: Option<u64>,
    ramp_s: f64,
    /// With the ramp-up in it.
    duration_s: Option<f64>,
    /// Iterations of each thread.
    loops: Option<u64>,
    /// Arrivals of sessions a second at points in time, in seconds; of a plugin's thread group.
    arrivals: Vec<(f64, f64)>,
    is_random: bool,
}

/// Largest numbers that are taken over.
const THREADS_MAX: f64 = 1e6;
const SECONDS_MAX: f64 = 31.0 * 86_400.0;

/// Reads a thread group.
pub(super) fn read(group: &Element<'_>, context: &mut Context<'_>) -> Result<Load, Problem> {
    match group.kind() {
        "ThreadGroup" => threads(group, context),
        "ConcurrencyThreadGroup" | "ArrivalsThreadGroup" => plugin(group, context),
        "OpenModelThreadGroup" => {
            let text = group.value("OpenModelThreadGroup.schedule").unwrap_or_default();
            let text = context.plain(group, text)?.unwrap_or_default();
            match schedule::parse(&text) {
                Some(found) => {
                    let duration_s = found.points.last().map(|(at_s, _)| *at_s);
                    let (arrivals, is_random) = (found.points, found.is_random);
                    Ok(Load { arrivals, is_random, duration_s, ..Load::default() })
                }
                None => {
                    context
                        .change(group, "its schedule is not understood: say how much by -R, -d and --shape");
                    Ok(Load::default())
                }
            }
        }
        _ => {
            context.change(
                group,
                "its numbers of threads over time are not translated: say how much by -c or -R",
            );
            Ok(Load::default())
        }
    }
}

fn threads(group: &Element<'_>, context: &mut Context<'_>) -> Result<Load, Problem> {
    let mut load = Load {
        threads: context.number(group, "ThreadGroup.num_threads")?.map(|n| n.clamp(1.0, THREADS_MAX) as u64),
        ramp_s: context.number(group, "ThreadGroup.ramp_time")?.unwrap_or_default().clamp(0.0, SECONDS_MAX),
        ..Load::default()
    };
    if group.is("ThreadGroup.scheduler") {
        let duration = context.number(group, "ThreadGroup.duration")?;
        load.duration_s = duration.filter(|seconds| *seconds > 0.0).map(|seconds| seconds.min(SECONDS_MAX));
        if context.number(group, "ThreadGroup.delay")?.is_some_and(|seconds| seconds > 0.0) {
            context.change(group, "its start-up delay is left out");
        }
    }
    let controller = group.properties().part("ThreadGroup.main_controller");
    let loops = controller.and_then(|part| part.value("LoopController.loops")).map(str::trim).unwrap_or("1");
    let loops = context.values.number(loops, context.notes).map_err(|problem| problem.at(group.line()))?;
    load.loops = loops.filter(|loops| *loops >= 1.0).map(|loops| loops.min(1e12) as u64);
    if load.ramp_s > 0.0 {
        context.change(group, "its ramp-up becomes warm-up: prony opens all connections before it sends");
    }
    if load.duration_s.is_none() && load.loops.is_none() {
        context.change(group, "it runs until it is stopped: say how long by -d");
    }
    Ok(load)
}

/// Groups of the plugin "Custom Thread Groups": a level, a ramp-up and a time to hold it, in minutes or seconds.
fn plugin(group: &Element<'_>, context: &mut Context<'_>) -> Result<Load, Problem> {
    let unit_s = if group.value("Unit") == Some("S") { 1.0 } else { 60.0 };
    let level = context.number(group, "TargetLevel")?.unwrap_or(1.0).clamp(0.0, THREADS_MAX);
    let ramp_s = (context.number(group, "RampUp")?.unwrap_or_default() * unit_s).clamp(0.0, SECONDS_MAX);
    let hold_s = (context.number(group, "Hold")?.unwrap_or_default() * unit_s).clamp(0.0, SECONDS_MAX);
    if ramp_s > 0.0 {
        context.change(group, "its ramp-up becomes warm-up");
    }
    for (key, what) in [
        ("Iterations", "its limit of iterations is left out"),
        ("ConcurrencyLimit", "its limit of threads is left out: see -c"),
    ] {
        if group.value(key).is_some() {
            context.change(group, what);
        }
    }
    if hold_s == 0.0 {
        context.change(group, "it holds its level for no time: say how long by -d");
    }
    let duration_s = (hold_s > 0.0).then_some(ramp_s + hold_s);
    if group.kind() == "ArrivalsThreadGroup" {
        let per_s = level / unit_s;
        let arrivals = vec![(0.0, per_s), (hold_s.max(1.0), per_s)];
        return Ok(Load { ramp_s, duration_s, arrivals, is_random: true, ..Load::default() });
    }
    Ok(Load { threads: Some(level.max(1.0) as u64), ramp_s, duration_s, ..Load::default() })
}

impl Load {
    /// The arguments. `steps` are those of a session, 1 for a mix; `think` is the pause before the first.
    pub(super) fn arguments(
        &self,
        beside: &Beside,
        steps: usize,
        think: Option<&Think>,
        context: &mut Context<'_>,
    ) -> Vec<String> {
        let has_timers = !beside.shape.is_empty() || beside.per_minute.is_some();
        if has_timers {
            context.notes.count(if self.arrivals.is_empty() {
                "throughput timers: they become the rate of an open load, which does not sink where answers are slow"
            } else {
                "throughput timers left out: the thread group says itself how often sessions begin"
            });
        }
        let mut arguments: Vec<String> =
            self.threads.map(|threads| format!("-c {threads}")).into_iter().collect();
        let rate = self.rate(&self.points(beside, steps.max(1) as f64));
        if rate.is_empty() {
            arguments.extend(think.map(|think| format!("--think '{}'", pause::argument(think))));
        }
        arguments.extend(rate);
        // A throughput shaping timer says how long, too.
        let end_s = beside.shape.last().map(|(at_s, _)| *at_s).filter(|_| self.arrivals.is_empty());
        let warmup_s = if end_s.is_some() { 0.0 } else { self.ramp_s };
        if warmup_s > 0.0 {
            arguments.push(format!("--warmup {}s", digits(warmup_s)));
        }
        if let Some(duration_s) = end_s.or(self.duration_s.map(|whole_s| (whole_s - warmup_s).max(1.0))) {
            arguments.push(format!("-d {}s", digits(duration_s)));
        }
        // Sessions, or requests of a mix.
        if let (Some(loops), None) = (self.loops, end_s) {
            arguments.push(format!("-n {}", loops.saturating_mul(self.threads.unwrap_or(1))));
        }
        arguments
    }

    /// Sessions a second at points in time; none in a closed load.
    fn points(&self, beside: &Beside, steps: f64) -> Vec<(f64, f64)> {
        match (&self.arrivals[..], &beside.shape[..], beside.per_minute) {
            ([_, ..], _, _) => self.arrivals.clone(),
            (_, [_, ..], _) => beside.shape.iter().map(|(at_s, rate)| (*at_s, rate / steps)).collect(),
            (_, _, Some((per_minute, is_each))) => {
                let threads = if is_each { self.threads.unwrap_or(1) as f64 } else { 1.0 };
                vec![(0.0, per_minute * threads / 60.0 / steps)]
            }
            _ => Vec::new(),
        }
    }

    /// The arguments of an open load.
    fn rate(&self, points: &[(f64, f64)]) -> Vec<String> {
        let Some((_, first)) = points.iter().find(|(_, rate)| *rate > 0.0) else { return Vec::new() };
        let mut arguments = vec![format!("-R {}", digits(*first))];
        if self.is_random {
            arguments.push("--arrivals poisson".to_owned());
        }
        if points.iter().any(|(_, rate)| rate != first) {
            let texts = points.iter().map(|(at_s, rate)| format!("{}s@{}", digits(*at_s), digits(*rate)));
            arguments.push(format!("--shape 'piecewise:{}'", texts.collect::<Vec<_>>().join(",")));
        }
        arguments
    }
}

/// A number as people write it.
fn digits(number: f64) -> String {
    let rounded: f64 = format!("{number:.5e}").parse().unwrap_or(number);
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jmeter::values::Values;
    use crate::notes::Notes;
    use units::Nanos;

    fn check(load: &Load, beside: &Beside, steps: usize, wanted: &str) {
        let mut notes = Notes::default();
        let mut context = Context { values: Values::default(), notes: &mut notes };
        let think = Think::Constant { mean: Nanos::from_millis(300) };
        assert_eq!(load.arguments(beside, steps, Some(&think), &mut context).join(" "), wanted, "{load:?}");
    }

    #[test]
    fn groups_become_arguments() {
        let threads = || Load { threads: Some(50), ramp_s: 30.0, ..Load::default() };
        let plain = Beside::default();
        check(&Load { loops: Some(10), ..threads() }, &plain, 3, "-c 50 --think '300ms' --warmup 30s -n 500");
        let timed = Load { duration_s: Some(330.0), ..threads() };
        check(&timed, &plain, 3, "-c 50 --think '300ms' --warmup 30s -d 300s");
        let throttled = Beside { per_minute: Some((1200.0, false)), ..Beside::default() };
        check(&timed, &throttled, 4, "-c 50 -R 5 --warmup 30s -d 300s");
        let each = Beside { per_minute: Some((12.0, true)), ..Beside::default() };
        check(&timed, &each, 1, "-c 50 -R 10 --warmup 30s -d 300s");
        let shaped = Beside {
            shape: vec![(0.0, 10.0), (60.0, 100.0), (60.0, 100.0), (120.0, 100.0)],
            ..Beside::default()
        };
        check(&timed, &shaped, 2, "-c 50 -R 5 --shape 'piecewise:0s@5,60s@50,60s@50,120s@50' -d 120s");
        let schedule = "rate(2/s) random_arrivals(10 min) rate(4/s)";
        let text = format!(
            "<OpenModelThreadGroup><stringProp name=\"OpenModelThreadGroup.schedule\">{schedule}</stringProp>\
             </OpenModelThreadGroup>"
        );
        let tree = crate::jmeter::xml::parse(&format!("<hashTree>{text}</hashTree>")).unwrap();
        let group = crate::jmeter::element::elements(&tree).next().unwrap();
        let mut notes = Notes::default();
        let mut context = Context { values: Values::default(), notes: &mut notes };
        let open = read(&group, &mut context).unwrap();
        check(&open, &plain, 7, "-R 2 --arrivals poisson --shape 'piecewise:0s@2,600s@4' -d 600s");
    }
}
