//! What applies to a sampler because of where it stands: defaults, header fields, timers, assertions, extractors.
//!
//! An element applies to all samplers of its `hashTree` and below; of two that set the same, the nearer one counts.

use super::captures;
use super::element::Element;
use super::feeders;
use super::pause::Timer;
use super::plan::Context;
use crate::error::Problem;
use schema::scenario::Feeder;
use std::collections::BTreeMap;

/// What applies at a place of the plan.
#[derive(Clone, Default)]
pub(super) struct Scope<'a> {
    /// Elements with defaults of requests, the nearest last.
    pub(super) defaults: Vec<Element<'a>>,
    /// Elements with header fields, the nearest last.
    pub(super) headers: Vec<Element<'a>>,
    pub(super) timers: Vec<Timer>,
    pub(super) assertions: Vec<Element<'a>>,
    pub(super) extractors: Vec<Element<'a>>,
}

/// What a plan has beside its requests.
#[derive(Default)]
pub(super) struct Beside {
    pub(super) feeders: BTreeMap<String, Feeder>,
    /// Expressions by the name of their variable.
    pub(super) vars: BTreeMap<String, String>,
    /// Whether there is a cookie manager.
    pub(super) keeps_cookies: bool,
    /// Samples a minute that a throughput timer allows, and whether for each thread.
    pub(super) per_minute: Option<(f64, bool)>,
    /// Points in time and samples a second of a throughput shaping timer.
    pub(super) shape: Vec<(f64, f64)>,
}

impl<'a> Scope<'a> {
    /// This scope with what a `hashTree` adds to it.
    pub(super) fn with(
        &self,
        tree: impl Iterator<Item = Element<'a>>,
        beside: &mut Beside,
        context: &mut Context<'_>,
    ) -> Result<Self, Problem> {
        let mut scope = self.clone();
        for element in tree {
            scope.add(&element, beside, context)?;
        }
        Ok(scope)
    }

    fn add(
        &mut self,
        element: &Element<'a>,
        beside: &mut Beside,
        context: &mut Context<'_>,
    ) -> Result<(), Problem> {
        match element.kind() {
            "ConfigTestElement" if element.window() == "HttpDefaultsGui" => self.defaults.push(*element),
            "HeaderManager" => self.headers.push(*element),
            "CookieManager" => {
                beside.keeps_cookies = true;
                if !element.is("CookieManager.clearEachIteration") {
                    let how = "each session begins without cookies, as a new user";
                    context.change(element, how);
                }
                if element.properties().items("CookieManager.cookies").next().is_some() {
                    context.change(
                        element,
                        "cookies that it sets before the first request are not sent: add a Cookie field",
                    );
                }
            }
            "AuthManager" => context.leave_out(element, "add an Authorization field for its login"),
            "CacheManager" => {
                context.leave_out(element, "prony asks for everything, as a client without a cache");
            }
            "CSVDataSet" => feeders::add(element, &mut beside.feeders, context)?,
            "CounterConfig" => counter(element, beside, context)?,
            "RandomVariableConfig" => random(element, beside, context)?,
            // Read before all else.
            "Arguments" => {}
            kind if kind.ends_with("Assertion") => self.assertions.push(*element),
            _ if captures::is_extractor(element) => self.extractors.push(*element),
            kind if kind.ends_with("Timer") => self.timer(element, beside, context)?,
            kind if is_listener(kind) => {
                context.notes.count("listeners left out, which send nothing");
            }
            _ if !is_sender(element) => context.leave_out(element, "prony has nothing like it"),
            _ => {}
        }
        Ok(())
    }

    fn timer(
        &mut self,
        element: &Element<'a>,
        beside: &mut Beside,
        context: &mut Context<'_>,
    ) -> Result<(), Problem> {
        let mut number = |key| context.number(element, key).map(Option::unwrap_or_default);
        let timer = match element.kind() {
            "ConstantTimer" => Timer::Constant { ms: number("ConstantTimer.delay")? },
            "UniformRandomTimer" => {
                let (offset, range) = (number("ConstantTimer.delay")?, number("RandomTimer.range")?);
                Timer::Uniform { from_ms: offset, to_ms: offset + range.max(0.0) }
            }
            "GaussianRandomTimer" => {
                let (offset, deviation) = (number("ConstantTimer.delay")?, number("RandomTimer.range")?);
                Timer::Normal { mean_ms: offset, sd_ms: deviation.abs() }
            }
            "PoissonRandomTimer" => {
                Timer::poisson(number("ConstantTimer.delay")?, number("RandomTimer.range")?)
            }
            "ConstantThroughputTimer" => {
                let per_minute = number("throughput")?;
                // 0 is "this thread only"; the others are for all threads together.
                let mode = number("calcMode")?;
                return throughput(element, (per_minute, mode == 0.0), beside, context);
            }
            "PreciseThroughputTimer" => {
                let (samples, period_s) = (number("throughput")?, number("throughputPeriod")?);
                return throughput(element, (samples * 60.0 / period_s.max(1e-3), false), beside, context);
            }
            "VariableThroughputTimer" => return shaped(element, beside, context),
            _ => {
                context.leave_out(element, "prony has no such timer");
                return Ok(());
            }
        };
        self.timers.push(timer);
        Ok(())
    }
}

fn throughput(
    element: &Element<'_>,
    found: (f64, bool),
    beside: &mut Beside,
    context: &mut Context<'_>,
) -> Result<(), Problem> {
    if found.0 > 0.0 && found.0.is_finite() && beside.per_minute.is_none() && beside.shape.is_empty() {
        beside.per_minute = Some(found);
    } else {
        context.leave_out(element, "a load has one rate, above 0");
    }
    Ok(())
}

/// The rows of a throughput shaping timer: samples a second at begin and end, and seconds.
fn shaped(element: &Element<'_>, beside: &mut Beside, context: &mut Context<'_>) -> Result<(), Problem> {
    let rows: Vec<Vec<&str>> =
        element.properties().items("load_profile").map(|row| row.texts().collect()).collect();
    let mut at_s = 0.0;
    let mut points = Vec::new();
    for row in &rows {
        let mut numbers = Vec::new();
        for text in row {
            numbers.push(context.values.number(text, context.notes)?.filter(|number| *number >= 0.0));
        }
        let [Some(from), Some(to), Some(length_s)] = numbers[..] else {
            context.leave_out(element, "a row of it is not three numbers that are known before the load");
            return Ok(());
        };
        points.push((at_s, from));
        at_s += length_s;
        points.push((at_s, to));
    }
    let is_usable = at_s > 0.0 && points.iter().any(|(_, rate)| *rate > 0.0);
    if is_usable && beside.per_minute.is_none() && beside.shape.is_empty() {
        beside.shape = points;
    } else {
        context.leave_out(element, "a load has one rate, above 0");
    }
    Ok(())
}

/// A counter of iterations is the number of the session.
fn counter(element: &Element<'_>, beside: &mut Beside, context: &mut Context<'_>) -> Result<(), Problem> {
    let Some(name) = element.value("CounterConfig.name") else {
        context.leave_out(element, "it names no variable");
        return Ok(());
    };
    if element.is("CounterConfig.per_user") || element.value("CounterConfig.format").is_some() {
        context.leave_out(element, "prony counts for the whole load, and without a format");
        return Ok(());
    }
    let mut whole = |key, default: f64| -> Result<i64, Problem> {
        let number = context.number(element, key)?.unwrap_or(default);
        Ok(number.clamp(-1e15, 1e15) as i64)
    };
    let (start, step) = (whole("CounterConfig.start", 0.0)?, whole("CounterConfig.incr", 1.0)?);
    let end = whole("CounterConfig.end", 1e15)?;
    let values = end.saturating_sub(start).checked_div(step).unwrap_or_default().saturating_add(1);
    let number = if values > 0 && end < 1_000_000_000_000_000 {
        format!("session() % {values}")
    } else {
        "session()".to_owned()
    };
    set(name, format!("{start} + {step} * ({number})"), beside, context);
    Ok(())
}

fn random(element: &Element<'_>, beside: &mut Beside, context: &mut Context<'_>) -> Result<(), Problem> {
    let (low, high) = (context.number(element, "minimumValue")?, context.number(element, "maximumValue")?);
    match (element.value("variableName"), low, high) {
        (Some(name), Some(low), Some(high)) if element.value("outputFormat").is_none() && low <= high => {
            context.change(element, "it is drawn for each request, not for each iteration");
            let whole = |number: f64| number.clamp(-1e15, 1e15) as i64;
            set(name, format!("uniform({}, {})", whole(low), whole(high)), beside, context);
        }
        _ => context
            .leave_out(element, "it needs a name, two numbers that are known before the load, and no format"),
    }
    Ok(())
}

/// A variable of the scenario.
fn set(name: &str, expression: String, beside: &mut Beside, context: &mut Context<'_>) {
    let identifier = context.values.fresh(name);
    beside.vars.insert(identifier.clone(), expression);
    context.values.expressions.insert(name.to_owned(), identifier);
}

/// What looks at results and changes nothing.
fn is_listener(kind: &str) -> bool {
    kind == "ResultCollector"
        || kind.ends_with("Listener")
        || kind.ends_with("Visualizer")
        || kind == "Summariser"
}

/// What the walk looks at: samplers and controllers, which come in their turn.
pub(super) fn is_sender(element: &Element<'_>) -> bool {
    let kind = element.kind();
    kind.ends_with("Sampler")
        || kind.starts_with("HTTPSampler")
        || kind == "RunTime"
        || kind.ends_with("Controller")
        || kind.ends_with("Control")
        || kind.ends_with("ThreadGroup")
        || kind.ends_with("Action")
}
