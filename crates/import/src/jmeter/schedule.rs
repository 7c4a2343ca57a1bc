//! The schedule of JMeter's open model thread group: `rate(10/sec) random_arrivals(1 min) pause(10 s) …`.
//!
//! Between `rate(a) … arrivals(t) rate(b)` the rate goes along a straight line; without a second rate it holds.

/// Sessions a second over time.
#[derive(Debug, PartialEq)]
pub(super) struct Schedule {
    /// Seconds and rates.
    pub(super) points: Vec<(f64, f64)>,
    /// Whether arrivals are random (Poisson), not even.
    pub(super) is_random: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Rate(f64),
    Arrivals { seconds: f64, is_random: bool },
    Pause(f64),
}

/// Most steps; more than anybody writes.
const STEPS_MAX: usize = 1000;

/// Reads a schedule; `None` where it is not understood, or sends nothing.
pub(super) fn parse(text: &str) -> Option<Schedule> {
    let mut steps = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('(')?;
        let (argument, after) = after.split_once(')')?;
        steps.push(step(name.trim(), argument.trim())?);
        rest = after.trim_start_matches([' ', '\t', '\r', '\n', ';', ',']);
        if steps.len() > STEPS_MAX {
            return None;
        }
    }
    let (mut at_s, mut rate, mut is_random) = (0.0, 0.0, false);
    let mut points = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        match *step {
            Step::Rate(next) => rate = next,
            Step::Arrivals { seconds, is_random: random } => {
                let to = match steps.get(place + 1) {
                    Some(Step::Rate(next)) => *next,
                    _ => rate,
                };
                is_random |= random;
                points.push((at_s, rate));
                at_s += seconds;
                points.push((at_s, to));
            }
            Step::Pause(seconds) => {
                points.push((at_s, 0.0));
                at_s += seconds;
                points.push((at_s, 0.0));
            }
        }
    }
    let sends = points.iter().any(|(_, rate)| *rate > 0.0) && at_s > 0.0;
    sends.then_some(Schedule { points, is_random })
}

fn step(name: &str, argument: &str) -> Option<Step> {
    match name {
        "rate" => {
            let (count, unit) = argument.split_once('/')?;
            let count: f64 = count.trim().parse().ok()?;
            (count.is_finite() && count >= 0.0).then_some(Step::Rate(count / unit_s(unit.trim())?))
        }
        "random_arrivals" => seconds(argument).map(|seconds| Step::Arrivals { seconds, is_random: true }),
        "even_arrivals" => seconds(argument).map(|seconds| Step::Arrivals { seconds, is_random: false }),
        "pause" => seconds(argument).map(Step::Pause),
        _ => None,
    }
}

fn seconds(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let count: f64 = text[..end].parse().ok()?;
    let seconds = count * unit_s(text[end..].trim())?;
    (0.0..=31.0 * 86_400.0).contains(&seconds).then_some(seconds)
}

fn unit_s(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" => 1e-3,
        "s" | "sec" | "second" | "seconds" => 1.0,
        "m" | "min" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_rates_over_time() {
        let found = parse(
            "rate(60/min) random_arrivals(10 min) pause(30 s) rate(5/s) even_arrivals(1 min) rate(10/sec)",
        );
        let points = vec![(0.0, 1.0), (600.0, 1.0), (600.0, 0.0), (630.0, 0.0), (630.0, 5.0), (690.0, 10.0)];
        assert_eq!(found, Some(Schedule { points, is_random: true }));
        for text in [
            "",
            "rate(1/fortnight)",
            "rate(x/s)",
            "rate(1/s)",
            "random_arrivals(5 min)",
            "leap(1 s)",
            "rate(1",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
