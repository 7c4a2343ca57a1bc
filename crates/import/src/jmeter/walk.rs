//! From controllers and samplers to the steps of a session, or to a mix.
//!
//! The samplers of a thread group are the steps of its users' session, in order. A group that does nothing but draw
//! one sampler at a time (a random, interleave or weighted switch controller, or throughput controllers by percent) is
//! a mix by weight instead. What depends on values that are known only during the load (if, while, switch and the like)
//! is left out with all below it, and named.

use super::captures;
use super::element::Element;
use super::names::Names;
use super::pause::Timer;
use super::plan::{Context, called};
use super::sampler::{self, Made};
use super::scope::{Beside, Scope, is_sender};
use crate::assemble::{REQUESTS_MAX, STEPS_MAX};
use crate::error::Problem;
use crate::imported::Options;
use crate::url::Origin;
use schema::scenario::NamedRequest;
use std::collections::HashMap;

/// Longest name of a request.
const NAME_CHARS_MAX: usize = 80;

/// What was found on the way.
pub(super) struct Walk<'o, 'c, 'n> {
    pub(super) context: &'c mut Context<'n>,
    pub(super) beside: Beside,
    pub(super) requests: Vec<NamedRequest>,
    /// Places in `requests`.
    pub(super) steps: Vec<usize>,
    /// Whether requests are drawn by weight.
    pub(super) is_mix: bool,
    pub(super) origin: Option<Origin>,
    /// Whether redirects are followed, by request.
    pub(super) follows: Vec<bool>,
    pub(super) keeps_alive: Vec<bool>,
    options: &'o Options,
    names: Names,
    /// Pauses of flow control actions, for the next sampler.
    waiting: Vec<Timer>,
}

impl<'o, 'c, 'n> Walk<'o, 'c, 'n> {
    pub(super) fn new(options: &'o Options, context: &'c mut Context<'n>) -> Result<Self, Problem> {
        Ok(Self {
            context,
            beside: Beside::default(),
            requests: Vec::new(),
            steps: Vec::new(),
            is_mix: false,
            origin: options.origin.as_deref().map(Origin::parse).transpose()?,
            follows: Vec::new(),
            keeps_alive: Vec::new(),
            options,
            names: Names::default(),
            waiting: Vec::new(),
        })
    }

    /// The steps of a thread group; `outer` is the scope of the plan around it.
    pub(super) fn group<'a>(&mut self, group: &Element<'a>, outer: &Scope<'a>) -> Result<(), Problem> {
        let scope = self.scope(group, outer)?;
        let senders: Vec<Element<'a>> = group.below().filter(is_sender).collect();
        match &senders[..] {
            [only]
                if matches!(
                    only.kind(),
                    "RandomController" | "InterleaveControl" | "WeightedSwitchController"
                ) =>
            {
                let scope = self.scope(only, &scope)?;
                let weights = weights_of(only);
                for entry in only.below().filter(is_sender) {
                    let weight =
                        weights.as_ref().map_or(Some(1.0), |weights| weights.get(entry.name()).copied());
                    if weight.is_none() {
                        self.context.change(&entry, "its weight is not in the table: 1 is taken");
                    }
                    self.entry(&entry, weight.unwrap_or(1.0), &scope)?;
                }
            }
            [_, ..] if senders.iter().all(|sender| percent_of(sender).is_some()) => {
                self.context.change(
                    group,
                    "its shares by percent are the weights of a mix: one is drawn, not each by itself",
                );
                for sender in &senders {
                    self.entry(sender, percent_of(sender).unwrap_or_default(), &scope)?;
                }
            }
            _ => {
                for sender in &senders {
                    self.sender(sender, &scope)?;
                }
                if !self.waiting.is_empty() {
                    self.context
                        .notes
                        .count("pauses at the end of a session left out: give them to the load as --think");
                }
            }
        }
        Ok(())
    }

    /// The scope below an element.
    pub(super) fn scope<'a>(
        &mut self,
        element: &Element<'a>,
        outer: &Scope<'a>,
    ) -> Result<Scope<'a>, Problem> {
        for _ in element.all_below().filter(|below| !below.is_enabled()) {
            self.context.notes.count("disabled elements left out, with all below them");
        }
        outer.with(element.below(), &mut self.beside, self.context)
    }

    /// One entry of a mix.
    fn entry<'a>(&mut self, entry: &Element<'a>, weight: f64, scope: &Scope<'a>) -> Result<(), Problem> {
        self.is_mix = true;
        let before = self.steps.len();
        self.sender_of_mix(entry, scope)?;
        match self.steps.len() - before {
            0 => {}
            1 => {
                let place = self.steps[before];
                self.requests[place].weight = Some(weight);
            }
            _ => {
                // Their weights would be drawn one by one, not together.
                self.context.leave_out(entry, "several requests at one draw: give each its own weight");
                self.steps.truncate(before);
                self.requests.truncate(before);
                self.follows.truncate(before);
                self.keeps_alive.truncate(before);
            }
        }
        Ok(())
    }

    fn sender_of_mix<'a>(&mut self, entry: &Element<'a>, scope: &Scope<'a>) -> Result<(), Problem> {
        if percent_of(entry).is_some() { self.below(entry, scope) } else { self.sender(entry, scope) }
    }

    /// All senders below an element, in order.
    fn below<'a>(&mut self, element: &Element<'a>, scope: &Scope<'a>) -> Result<(), Problem> {
        let scope = self.scope(element, scope)?;
        element.below().filter(is_sender).try_for_each(|sender| self.sender(&sender, &scope))
    }

    fn sender<'a>(&mut self, sender: &Element<'a>, scope: &Scope<'a>) -> Result<(), Problem> {
        match sender.kind() {
            "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2" => self.sampler(sender, scope),
            "GenericController" | "RecordingController" | "CriticalSectionController" => {
                self.below(sender, scope)
            }
            "TransactionController" => {
                self.context.notes.count("transaction controllers: results are by request and by session");
                self.below(sender, scope)
            }
            "OnceOnlyController" => {
                self.context.change(sender, "it is sent in every session, not once for each user");
                self.below(sender, scope)
            }
            "RandomOrderController" => {
                self.context.change(sender, "its requests come in the order of the plan");
                self.below(sender, scope)
            }
            "LoopController" => self.repeated(sender, scope),
            "TestAction" => self.action(sender, scope),
            kind => {
                let count = samplers_below(sender);
                let why = match kind {
                    "IfController" | "WhileController" | "SwitchController" | "ForeachController"
                    | "RunTime" => "a session has no conditions",
                    "RandomController"
                    | "InterleaveControl"
                    | "WeightedSwitchController"
                    | "ThroughputController" => {
                        "a session has no choice between steps; alone in its thread group it would be a mix"
                    }
                    "ModuleController" | "IncludeController" => "import what it points to",
                    _ if kind.ends_with("Controller") => "prony has no such controller",
                    _ => "prony sends HTTP only",
                };
                let below = match count {
                    0 => String::new(),
                    1 => ", with the request below it".to_owned(),
                    count => format!(", with the {count} requests below it"),
                };
                self.context.leave_out(sender, &format!("{why}{below}"));
                Ok(())
            }
        }
    }

    fn repeated<'a>(&mut self, controller: &Element<'a>, scope: &Scope<'a>) -> Result<(), Problem> {
        let times = self.context.number(controller, "LoopController.loops")?.unwrap_or(1.0);
        let is_endless = times < 0.0 || controller.is("LoopController.continue_forever") && times <= 0.0;
        let times = if is_endless {
            self.context.change(controller, "it loops for ever: its requests are sent once in each session");
            1
        } else {
            times.min(1e9) as usize
        };
        let begin = self.steps.len();
        if times == 0 {
            self.context.leave_out(controller, "it loops no times");
            return Ok(());
        }
        let is_of_a_turn = |element: &Element<'_>| matches!(element.kind(), "CSVDataSet" | "CounterConfig");
        for element in controller.below().filter(is_of_a_turn) {
            self.context.change(&element, "it goes on with each session, not with each turn of the loop");
        }
        self.below(controller, scope)?;
        let body = self.steps[begin..].to_vec();
        if body.len().saturating_mul(times).saturating_add(begin) > STEPS_MAX {
            return Err(Problem::new(
                format!("{} makes a session of more than {STEPS_MAX} steps", called(controller)),
                "give it fewer loops, and the thread group more",
            )
            .at(controller.line()));
        }
        for _ in 1..times {
            self.steps.extend(&body);
        }
        Ok(())
    }

    /// A flow control action that pauses: its time and timers come before the next sampler.
    fn action<'a>(&mut self, action: &Element<'a>, scope: &Scope<'a>) -> Result<(), Problem> {
        // 1 is a pause; the others stop threads or go to another place.
        if action.value("ActionProcessor.action").unwrap_or("1") != "1" {
            self.context.leave_out(action, "only pauses are known");
            return Ok(());
        }
        let ms = self.context.number(action, "ActionProcessor.duration")?.unwrap_or_default();
        let timers = self.scope(action, scope)?.timers;
        self.waiting.extend(timers);
        self.waiting.push(Timer::Constant { ms: ms.max(0.0) });
        Ok(())
    }

    fn sampler<'a>(&mut self, element: &Element<'a>, outer: &Scope<'a>) -> Result<(), Problem> {
        let mut scope = self.scope(element, outer)?;
        scope.timers.append(&mut self.waiting);
        let Some(made) = sampler::made(element, &scope, self.origin.as_ref(), self.context)? else {
            return Ok(());
        };
        let captures = !made.request.capture.is_empty();
        if !self.add(element, made)? {
            return Ok(());
        }
        if !self.is_mix {
            self.know_captured(&scope, outer.extractors.len());
        } else if captures {
            self.context.change(element, "its extractors are left out: a mix has no later step");
        }
        Ok(())
    }

    /// Captured values are known from here on, as in JMeter. The first `inherited` extractors are those of several
    /// samplers.
    fn know_captured(&mut self, scope: &Scope<'_>, inherited: usize) {
        for (place, extractor) in scope.extractors.iter().enumerate() {
            for (name, found) in captures::places(extractor) {
                let Ok(capture) = found else { continue };
                let captured = self.context.values.captured(name);
                self.context.values.expressions.insert(name.to_owned(), captured);
                if place < inherited && capture.default.is_none() {
                    let how = "each request that it applies to fails where its answer has no such value";
                    self.context.change(extractor, how);
                }
            }
        }
    }

    /// Adds a step; false where its origin is not that of the others.
    fn add(&mut self, element: &Element<'_>, made: Made) -> Result<bool, Problem> {
        let Made { origin, mut request, follows, keeps_alive } = made;
        let known = self.origin.get_or_insert_with(|| origin.clone());
        if *known != origin {
            // The user of a session has one connection.
            if !self.options.all_origins || !self.is_mix {
                self.context.notes.other_origin(origin);
                return Ok(false);
            }
            request.origin = Some(origin.to_string());
        }
        if self.requests.len() == REQUESTS_MAX {
            return Err(Problem::new(
                format!(
                    "there are more than {REQUESTS_MAX} samplers, each of which would have results of its own"
                ),
                "import a thread group with fewer, or put the paths into a CSV file",
            )
            .at(element.line()));
        }
        if self.is_mix {
            request.capture.clear();
        }
        let method = request.method.as_deref().unwrap_or("GET");
        let path = request.path.split('?').next().unwrap_or_default();
        request.name = self.names.fresh(readable(element.name(), &format!("{method} {path}")), ' ');
        self.steps.push(self.requests.len());
        if self.steps.len() > STEPS_MAX {
            return Err(Problem::new(
                format!("the session has more than {STEPS_MAX} steps"),
                "give its loops fewer turns, and the thread group more",
            )
            .at(element.line()));
        }
        self.requests.push(request);
        self.follows.push(follows);
        self.keeps_alive.push(keeps_alive);
        Ok(true)
    }
}

/// HTTP samplers at any depth below an element, enabled or not.
fn samplers_below(element: &Element<'_>) -> usize {
    let below = element.all_below();
    below.map(|child| usize::from(child.kind().starts_with("HTTPSampler")) + samplers_below(&child)).sum()
}

/// The share of a throughput controller that counts by percent.
fn percent_of(element: &Element<'_>) -> Option<f64> {
    let is_percent =
        element.kind() == "ThroughputController" && element.value("ThroughputController.style") == Some("1");
    let text = element.value("ThroughputController.percentThroughput").filter(|_| is_percent)?;
    text.parse().ok().filter(|percent: &f64| (0.0..=100.0).contains(percent))
}

/// Weights by the names of what lies below; `None` where all are alike.
fn weights_of<'a>(element: &Element<'a>) -> Option<HashMap<&'a str, f64>> {
    if element.kind() != "WeightedSwitchController" {
        return None;
    }
    let row = |row: super::element::Properties<'a>| {
        let mut texts = row.texts();
        let name = texts.next()?.trim();
        let weight: f64 = texts.next()?.trim().parse().ok()?;
        (weight.is_finite() && weight >= 0.0).then_some((name, weight))
    };
    Some(element.properties().items("Weights").filter_map(row).collect())
}

/// A name for people: `name`, or `other` where there is none.
fn readable(name: &str, other: &str) -> String {
    let name = name.replace(|c: char| c.is_control(), " ");
    let name = if name.trim().is_empty() { other } else { name.trim() };
    name.chars().take(NAME_CHARS_MAX).collect()
}
