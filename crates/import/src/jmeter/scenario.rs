//! Puts the scenario of a thread group together, with the arguments of its load.
//!
//! One request alone, without cookies and captured values, needs no session.

use super::element::Element;
use super::load::Load;
use super::plan::{Context, called};
use super::scope::Beside;
use super::walk::Walk;
use crate::error::Problem;
use crate::imported::Imported;
use schema::arrival::Think;
use schema::scenario::{NamedRequest, OnFailure, ScenarioFile, Session};
use units::Nanos;

/// Redirects that JMeter follows for a request.
const REDIRECTS_MAX: u32 = 20;

/// What becomes of a thread group; its notes are still those of the walk.
pub(super) fn whole(
    name: &str,
    description: String,
    group: &Element<'_>,
    walk: Walk<'_, '_, '_>,
    load: &Load,
) -> Result<Imported, Problem> {
    let Walk { context, beside, requests, steps, is_mix, origin, follows, keeps_alive, .. } = walk;
    let Some(origin) = origin.filter(|_| !steps.is_empty()) else { return Err(nothing(group, context)) };
    let mut sent = Sent { requests, steps, beside };
    let is_session = !is_mix && sent.needs_a_session();
    let first_think = sent.first().think.clone();
    if !is_session {
        sent.without_users(is_mix, context);
    }
    let steps_of_each = if is_session { sent.steps.len() } else { 1 };
    let mut arguments = load.arguments(&sent.beside, steps_of_each, first_think.as_ref(), context);
    if is_session && first_think.is_some() {
        note_first_think(&arguments, context);
    }
    arguments.extend(of_connections(&follows, &keeps_alive, context));
    let think = is_session.then(|| sent.thinks());
    let session = is_session.then(|| sent.session(group, context));
    let scenario = ScenarioFile {
        name: name.to_owned(),
        description: Some(description),
        requests: sent.requests,
        vars: sent.beside.vars,
        feeders: sent.beside.feeders,
        session,
        ..ScenarioFile::default()
    };
    Ok(Imported {
        scenario,
        origin: origin.to_string(),
        bodies: Vec::new(),
        notes: Vec::new(),
        think,
        load: arguments,
    })
}

/// The problem of a group that sends nothing.
fn nothing(group: &Element<'_>, context: &Context<'_>) -> Problem {
    let remedy = match context.notes.commonest_origin() {
        Some(other) => format!("give its server: --origin {other}"),
        None => "enable its HTTP requests in JMeter, and give their server, or --origin; what stands under if, while \
                 and the like is not taken over"
            .to_owned(),
    };
    Problem::new(format!("no request of {} can be sent", called(group)), remedy).at(group.line())
}

/// The requests, their order, and what they need.
struct Sent {
    /// At least one.
    requests: Vec<NamedRequest>,
    /// Places in `requests`; at least one.
    steps: Vec<usize>,
    beside: Beside,
}

impl Sent {
    fn first(&self) -> &NamedRequest {
        &self.requests[self.steps[0]]
    }

    /// Whether something lives longer than a request.
    fn needs_a_session(&self) -> bool {
        let counts_sessions = self.beside.vars.values().any(|expression| expression.contains("session()"));
        self.steps.len() > 1
            || !self.first().capture.is_empty()
            || self.beside.keeps_cookies
            || counts_sessions
    }

    /// Takes out what only sessions have.
    fn without_users(&mut self, is_mix: bool, context: &mut Context<'_>) {
        let first = self.first().think.clone();
        if self.requests.iter().any(|request| request.think != first) {
            context
                .notes
                .count("pauses that differ between the requests of a mix: the load has that of the first");
        }
        self.requests.iter_mut().for_each(|request| request.think = None);
        if is_mix && self.beside.keeps_cookies {
            context.notes.count("cookies of a mix are not kept: its requests belong to no user");
        }
        for expression in self.beside.vars.values_mut() {
            *expression = expression.replace("session()", "counter()");
        }
    }

    /// The mean pause before each step.
    fn thinks(&self) -> Vec<Nanos> {
        let mean = |place: &usize| self.requests[*place].think.as_ref().map_or(Nanos::ZERO, mean_of);
        self.steps.iter().map(mean).collect()
    }

    fn session(&self, group: &Element<'_>, context: &mut Context<'_>) -> Session {
        let is_plain = self.steps.iter().copied().eq(0..self.requests.len());
        let names = || self.steps.iter().map(|step| self.requests[*step].name.clone()).collect();
        Session {
            steps: (!is_plain).then(names),
            cookies: (!self.beside.keeps_cookies).then_some(false),
            on_failure: on_failure(group, context),
            ..Session::default()
        }
    }
}

/// A session begins with its first request, so a pause before that is the load's.
fn note_first_think(arguments: &[String], context: &mut Context<'_>) {
    context.notes.count(if arguments.iter().any(|argument| argument.starts_with("--think")) {
        "pauses before the first request of a session: they are --think of the load, between sessions"
    } else {
        "pauses before the first request of a session left out: the rate of the load says when sessions begin"
    });
}

/// Arguments for connections and redirects, which are those of the whole load.
fn of_connections(follows: &[bool], keeps_alive: &[bool], context: &mut Context<'_>) -> Vec<String> {
    let mut arguments = Vec::new();
    if follows.contains(&true) {
        arguments.push(format!("--follow={REDIRECTS_MAX}"));
        if follows.contains(&false) {
            context.notes.count("requests that follow no redirects: a load follows those of all, or of none");
        }
    }
    if !keeps_alive.contains(&true) {
        arguments.push("--disable-keepalive".to_owned());
    } else if keeps_alive.contains(&false) {
        context.notes.count("requests without keep-alive: a load keeps all connections, or none");
    }
    arguments
}

/// What a failed request does to the rest of the session.
fn on_failure(group: &Element<'_>, context: &mut Context<'_>) -> OnFailure {
    match group.value("ThreadGroup.on_sample_error") {
        None | Some("continue") => OnFailure::GoOn,
        Some("startnextloop") => OnFailure::End,
        Some(_) => {
            context.change(
                group,
                "a failed request ends its session, and not the thread or the test: see --fail",
            );
            OnFailure::End
        }
    }
}

fn mean_of(think: &Think) -> Nanos {
    match think {
        Think::Constant { mean }
        | Think::Exponential { mean }
        | Think::Normal { mean, .. }
        | Think::Lognormal { mean, .. }
        | Think::Weibull { mean, .. }
        | Think::Gamma { mean, .. } => *mean,
        Think::Uniform { from, to } => Nanos(u64::midpoint(from.unwrap_or_default().0, to.0)),
    }
}
