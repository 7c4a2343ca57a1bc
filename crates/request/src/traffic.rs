//! All that one load sends and how its answers are judged, compiled: a program, its checks and its session.

use crate::{CallCheck, Check, Framed, Program, ProgramError};
use schema::arrival::{LengthPlan, ThinkPlan};
use schema::plan::{BodyExpectation, EntryPlan, ExpectPlan, RequestPlan, ScenarioPlan};
use schema::scenario::{OnFailure, UserConnection};
use std::sync::Arc;
use units::{Seed, Tracing};
use wire::{Framing, Http1};

/// What is sent. Clone one for each worker: checks hold scratch memory.
#[derive(Clone, Debug)]
pub struct Traffic {
    framed: Arc<Framed<Http1>>,
    checks: Vec<Check>,
    session: Option<Arc<SessionSettings>>,
}

/// How the steps of a session follow each other.
#[derive(Clone, Debug)]
pub struct SessionSettings {
    /// The pause before each step; the first one's is not used.
    pub thinks: Vec<Option<ThinkPlan>>,
    /// What happens after a failed request.
    pub on_failure: OnFailure,
    /// Which connection a user's requests take.
    pub connection: UserConnection,
    /// How many steps each session has; all of them where absent.
    pub length: Option<LengthPlan>,
    /// Whether each step is any of the requests, by weight.
    pub is_drawn: bool,
}

impl Traffic {
    /// Compiles a scenario for `host` (the value of the Host field). `bodies` holds, for each request that has one, the
    /// bytes that its answers must have besides what the plan says; it may be shorter than the scenario.
    ///
    /// # Errors
    /// A request, an expression, a feeder, a token or a check that cannot be: where, why, and what to do.
    pub fn new(
        plan: &ScenarioPlan,
        host: &str,
        seed: Seed,
        bodies: &[Option<Vec<u8>>],
    ) -> Result<Self, ProgramError> {
        Self::traced(plan, host, seed, bodies, None)
    }

    /// As [`Traffic::new`], with a header `traceparent` in every request.
    ///
    /// # Errors
    /// As [`Traffic::new`], and as [`Program::traced`].
    pub fn traced(
        plan: &ScenarioPlan,
        host: &str,
        seed: Seed,
        bodies: &[Option<Vec<u8>>],
        tracing: Option<Tracing>,
    ) -> Result<Self, ProgramError> {
        let program = Program::traced(plan, host, seed.0, tracing)?;
        let session = plan.session.as_ref().map(|session| SessionSettings {
            thinks: session
                .steps
                .iter()
                .map(|step| plan.requests[*step as usize].think.or(session.think))
                .collect(),
            on_failure: session.on_failure,
            connection: session.connection,
            length: session.length,
            is_drawn: session.is_drawn,
        });
        let keeps_cookies = plan.session.as_ref().is_some_and(|session| session.cookies);
        let checks = plan
            .requests
            .iter()
            .enumerate()
            .map(|(place, entry)| {
                let body = bodies.get(place).cloned().flatten();
                check(entry, place, body, &program, keeps_cookies, seed)
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { framed: Framed::new(&Arc::new(program))?, checks, session: session.map(Arc::new) })
    }

    /// One request whose bytes are always the same.
    ///
    /// # Errors
    /// Where a part of the request would break its framing.
    pub fn single(plan: &RequestPlan, host: &str, check: Check) -> Result<Self, ProgramError> {
        let scenario = ScenarioPlan::single("request", plan.clone(), ExpectPlan::default());
        let program = Program::compile(&scenario, host, 0)?;
        Ok(Self { framed: Framed::new(&Arc::new(program))?, checks: vec![check], session: None })
    }

    /// What is sent.
    #[must_use]
    pub fn program(&self) -> &Program {
        self.framed.program()
    }

    /// What is sent, as HTTP/1.1 writes it.
    #[must_use]
    pub const fn framed(&self) -> &Arc<Framed<Http1>> {
        &self.framed
    }

    /// What is sent, as another protocol writes it. Made with each call, once for all workers.
    ///
    /// # Errors
    /// The fixed requests exceed 4 GiB together.
    pub fn framed_by<F: Framing>(&self) -> Result<Arc<Framed<F>>, ProgramError> {
        Framed::new(self.framed.shared())
    }

    /// The judgement of each request's answers.
    #[must_use]
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// How requests follow each other, where one virtual user sends them.
    #[must_use]
    pub fn session(&self) -> Option<&SessionSettings> {
        self.session.as_deref()
    }

    /// Requests that have results of their own; 0 for a scenario of one.
    #[must_use]
    pub fn results(&self) -> usize {
        if self.checks.len() > 1 { self.checks.len() } else { 0 }
    }
}

fn check(
    entry: &EntryPlan,
    place: usize,
    seen: Option<Vec<u8>>,
    program: &Program,
    keeps_cookies: bool,
    seed: Seed,
) -> Result<Check, ProgramError> {
    let body = match &entry.expect.body {
        BodyExpectation::Exact(text) => Some(text.clone().into_bytes()),
        BodyExpectation::Json(_) | BodyExpectation::Any => seen,
    };
    // Each name that an entry captures is known to the program, which was compiled from the same plan.
    let index = |name: &str| program.captures().iter().position(|have| have == name).unwrap_or(usize::MAX);
    Check::compile(&entry.expect, body, &entry.capture, &index, keeps_cookies)
        .map(|check| check.with_seed(seed.derive("check", place as u64)))
        .map(|check| match &entry.grpc {
            Some(call) => check.of_call(CallCheck::of_plan(call, &index)),
            None => check,
        })
        .map_err(|error| ProgramError {
            key: format!("requests.{place}.{}", error.key),
            cause: error.cause,
            remedy: error.remedy,
        })
}
